"""How much memory one connection takes in Redis: for CLIENT LIST, INFO and `maxmemory-clients`.

The figures are Redis' own (64 bits): a client is a struct with a query buffer, a reply buffer, a list of
replies that did not fit there, the arguments read so far, the queue of a MULTI, and a few bytes for each
watched key, subscription and tracking prefix. Our connections have no such buffers, so they are told from
what the client does: one that has been silent for some time has had its buffers cut, as Redis cuts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f
from redouble.engine.sizes import block

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command

REPLY_BUFFER: Final = 16384
_CUT_REPLY_BUFFER: Final = 1024
#: What a query buffer holds at first, and the header of its string.
_QUERY_BUFFER: Final = 20474
#: An argument that is so long is read into a buffer of its own, which becomes the argument.
LARGE: Final = 32768
_HEADER: Final = 6
#: After so long a silence (ms) the buffers are cut: of requests, of replies.
_QUERY_PATIENCE: Final = 3000
_REPLY_PATIENCE: Final = 500
_STRUCT: Final = 768
_POINTER: Final = 8
_QUEUED: Final = 24
_WATCHED: Final = 56
_LIST_NODE: Final = 24
_REPLY_NODE: Final = 40
_PREFIX: Final = 36


@final
class QueueSize:
    """The size of a MULTI's queue, which only grows: each command is measured once, when somebody asks."""

    __slots__ = ("queue", "_counted", "_size")

    def __init__(self, queue: list[tuple[Command, list[bytes]]]) -> None:
        self.queue: list[tuple[Command, list[bytes]]] = queue
        self._counted: int = 0
        self._size: int = 0

    def measure(self) -> int:
        """The arguments and the pointers to them. O(new commands)."""
        for at in range(self._counted, len(self.queue)):
            argv = self.queue[at][1]
            self._size += len(argv) * _POINTER + sum([len(arg) for arg in argv])
        self._counted = len(self.queue)
        return self._size


def request_size(request: list[bytes]) -> int:
    """How many bytes a request was on the wire. O(arguments)."""
    if not request:
        return 0
    size = 3 + len(b"%d" % len(request))
    for arg in request:
        size += 5 + len(arg) + len(b"%d" % len(arg))
    return size


def requests_size(requests: list[list[bytes]]) -> int:
    """How many bytes some requests were on the wire. O(arguments)."""
    return sum([request_size(request) for request in requests])


def query_bytes(client: Client) -> int:
    """The bytes of requests that have come and not been looked at. O(1)."""
    return client.parser.buffered + client.waiting


def query_room(client: Client, pending: int) -> int:
    """What is left of a query buffer that holds `pending` bytes. It has room for a large argument at once. O(1)."""
    announced = client.parser.announced
    if announced >= LARGE:
        return max(0, announced - pending)
    if pending >= _QUERY_BUFFER:
        return block(pending + _HEADER) - _HEADER - pending
    if client.engine.space.now - client.active >= _QUERY_PATIENCE or not client.bytes_in:
        return 0
    return _QUERY_BUFFER - pending


def reply_room(client: Client, unread: int) -> int:
    """The size of the reply buffer. O(1)."""
    if unread < _CUT_REPLY_BUFFER and client.engine.space.now - client.active >= _REPLY_PATIENCE:
        return _CUT_REPLY_BUFFER
    return REPLY_BUFFER


def unread_bytes(client: Client) -> int:
    """The bytes of replies that have not left. O(replies of this batch)."""
    if not client.out:
        return client.unread
    return client.unread + sum([len(data) for data in client.out])


def reply_nodes(unread: int) -> int:
    """In how many pieces replies wait that no longer fit in the reply buffer. O(1)."""
    return 0 if unread <= REPLY_BUFFER else (unread + REPLY_BUFFER - 1) // REPLY_BUFFER


def overflow(unread: int) -> int:
    """The memory of those pieces. O(1)."""
    return 0 if unread <= REPLY_BUFFER else unread + reply_nodes(unread) * _REPLY_NODE


def argument_bytes(client: Client, request: list[bytes]) -> int:
    """The arguments of the request that runs, waits for a key, or has not come whole. O(arguments)."""
    return client.parser.held + sum([len(arg) for arg in _running(client, request)])


def _running(client: Client, request: list[bytes]) -> list[bytes]:
    """The request that runs, or waits for a key."""
    return request if request or client.parked is None else client.parked.argv


def queue_bytes(client: Client) -> int:
    """The arguments of the commands that MULTI has queued. O(those that are new since it was asked last)."""
    size = client.queue_size
    if size is None or size.queue is not client.queue:
        size = client.queue_size = QueueSize(client.queue)
    return size.measure()


def footprint(client: Client, request: list[bytes]) -> int:
    """All that a connection takes; `request` is what it runs just now, if anything. O(arguments + replies)."""
    unread = unread_bytes(client)
    pending = query_bytes(client)
    size = _STRUCT + reply_room(client, unread) + overflow(unread)
    room = pending + query_room(client, pending)
    size += block(room + _HEADER) if room else 0
    running = _running(client, request)
    if running or client.parser.held:
        size += argument_bytes(client, running) + (len(running) + client.parser.items) * _POINTER
    if client.flags & f.IN_MULTI:
        size += queue_bytes(client) + len(client.queue) * _QUEUED
    if client.watch.keys:
        size += len(client.watch.keys) * _WATCHED
    if client.flags & f.SUBSCRIBER:
        size += len(client.patterns) * _LIST_NODE + _table(len(client.channels)) + _table(len(client.shard_channels))
    if client.tracking is not None:
        size += len(client.tracking.prefixes) * _PREFIX
    return size


def _table(count: int) -> int:
    """A hash table of so many names."""
    return count * _LIST_NODE + (_POINTER << max(2, (count - 1).bit_length()) if count else 0)
