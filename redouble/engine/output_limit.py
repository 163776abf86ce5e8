"""The hard limit of output, looked at before a large reply is made and not only when it is sent.

Redis measures its output buffer at each piece of a reply. Here a reply is a value that is encoded as a
whole, so there are two places. A command that can answer much more than it was sent and than there is
(-N random picks) asks a `Budget` as it goes on, which tells from the first portion where that will end. And
while ordinary clients have a hard limit, `Engine._observe` shows each reply to `check`, before a byte of it
is encoded; without such a limit nothing looks.

Simplified: where Redis has no limit it goes on until the machine has no memory left; a `Budget` ends at
`MOST`, and closes the client then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from redouble.engine import flags as f
from redouble.engine.footprint import unread_bytes
from redouble.errors import CommandError
from redouble.protocol.reply import (
    Attributed,
    Bulks,
    Deep,
    Encoded,
    Map,
    PairMap,
    Pairs,
    Push,
    Reply,
    SetReply,
    Several,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redouble.engine.client import Client
    from redouble.engine.context import Context

#: The largest reply of picks that nobody has limited. Bytes.
MOST: Final = 64 * 1024 * 1024
#: A bulk string is longer than its content, on the wire, by about so much.
_FRAME: Final = 6
_PORTION: Final = 4096
#: Replies below this are left to the flush.
_SMALL: Final = 1024
TOO_LARGE: Final = b"ERR the reply is too large"


@final
class Budget:
    """How much a command may still answer that makes `count` steps."""

    __slots__ = ("_ctx", "_room", "_steps")

    def __init__(self, ctx: Context, count: int) -> None:
        self._ctx: Context = ctx
        self._room: int = MOST
        #: How many portions follow the first, until that has been seen.
        self._steps: int = (count - 1) // _PORTION
        hard = ctx.engine.config.edge.output_limit(ctx.client).hard
        if hard and not ctx.flags & f.IN_SCRIPT:
            self._room = hard - unread_bytes(ctx.client)

    def spend(self, items: list[bytes]) -> None:
        """A portion is added to the reply. Too much closes the client, and ends the command. O(items)."""
        size = sum([len(item) for item in items]) + len(items) * _FRAME
        expected = size * self._steps * 3 // 4
        self._steps = 0
        self._room -= size
        if self._room < 0 or expected > self._room:
            if not self._ctx.flags & f.IN_SCRIPT:
                close_greedy(self._ctx.client)
            raise CommandError(TOO_LARGE)


def portions(count: int) -> Iterator[int]:
    """`count` in pieces, between which a `Budget` is asked."""
    while count > 0:
        yield min(count, _PORTION)
        count -= _PORTION


def close_greedy(client: Client) -> None:
    """Close a client that has reached its limit of output."""
    client.engine.stats.output_limit_closes += 1
    client.engine.kill(client)


def check(ctx: Context, reply: Reply) -> None:
    """Close a client whose reply is too large for it. O(reply)."""
    client = ctx.client
    if ctx.flags & f.IN_SCRIPT or client.flags & f.CLOSING:
        return
    size = _size(reply)
    if size > _SMALL:
        hard = ctx.engine.config.edge.output_limit(client).hard
        if hard and size + unread_bytes(client) > hard:
            close_greedy(client)


def _size(reply: Reply) -> int:
    """The bytes of a reply, roughly. O(size), whatever its depth."""
    if isinstance(reply, bytes):
        return len(reply)
    size = 0
    rest: list[Any] = [reply]
    while rest:
        value = rest.pop()
        size += _FRAME
        if isinstance(value, bytes):
            size += len(value)
        elif isinstance(value, Bulks):
            size += sum([len(item) for item in value.items]) + len(value.items) * _FRAME
        elif isinstance(value, list):
            rest.extend(value)
        elif isinstance(value, (Map, Pairs, PairMap, SetReply, Push, Several)):
            rest.extend(value.items)
        elif isinstance(value, Encoded):
            size += len(value.data)
        elif isinstance(value, Deep):
            rest.append(value.value)
        elif isinstance(value, Attributed):
            rest += [value.attributes, value.reply]
    return size
