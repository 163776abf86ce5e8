"""Replies as they came over a wire: every type kept, and the bytes beside it.

Two servers agree surely when their bytes are equal. Where they are not, rules look at the values, so
nothing may be lost on the way: a simple string is no bulk string, a null array no null bulk, a set no
array. Client libraries (and hiredis' reader) forget such things, so this reader is our own. It is written
for tests: a reply that comes in many pieces is read again from its beginning with each.

Attributes, which may stand before a reply, are kept in the bytes and left out of the value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: Marks of replies that hold others; a map holds two for each one that it counts.
AGGREGATES: Final = "*~%>"
_BULKS: Final = "$=!"
_LINES: Final = "+-:,#(_"


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply: its mark as RESP has it, then its text, its items, or that it is null."""

    mark: str
    text: bytes = b""
    items: tuple[Reply, ...] = ()
    null: bool = False

    @property
    def is_error(self) -> bool:
        """Whether it is an error."""
        return self.mark in "-!"

    def number(self) -> int | None:
        """Its value, where it is an integer."""
        return int(self.text) if self.mark == ":" else None


#: What stands for a reply of a server that has hung up instead.
CLOSED: Final = Reply("x", b"connection closed")


def encode_request(argv: list[bytes]) -> bytes:
    """A request as clients send it. O(size)."""
    return b"*%d\r\n" % len(argv) + b"".join([b"$%d\r\n%b\r\n" % (len(word), word) for word in argv])


class _Incomplete(Exception):
    """More bytes are needed."""


class ReplyReader:
    """Takes bytes, gives replies, each with its bytes."""

    def __init__(self) -> None:
        self._buffer = b""

    def feed(self, data: bytes) -> list[tuple[Reply, bytes]]:
        """The replies that these bytes complete. Raises `ValueError` for what is no RESP."""
        self._buffer += data
        found: list[tuple[Reply, bytes]] = []
        start = 0
        while start < len(self._buffer):
            try:
                reply, end = self._read(start)
            except _Incomplete:
                break
            found.append((reply, self._buffer[start:end]))
            start = end
        self._buffer = self._buffer[start:]
        return found

    def _read(self, at: int) -> tuple[Reply, int]:
        end = self._buffer.find(b"\r\n", at)
        if end < 0:
            raise _Incomplete
        mark, rest, at = chr(self._buffer[at]), self._buffer[at + 1 : end], end + 2
        if mark in _LINES:
            return Reply(mark, rest, null=mark == "_"), at
        size = int(rest)
        if size < 0:
            return Reply(mark, null=True), at
        if mark in _BULKS:
            if len(self._buffer) < at + size + 2:
                raise _Incomplete
            return Reply(mark, self._buffer[at : at + size]), at + size + 2
        if mark == "|":
            _, at = self._items(size * 2, at)
            return self._read(at)
        if mark not in AGGREGATES:
            raise ValueError(f"{mark!r} begins no reply")
        items, at = self._items(size * 2 if mark == "%" else size, at)
        return Reply(mark, items=items), at

    def _items(self, count: int, at: int) -> tuple[tuple[Reply, ...], int]:
        items: list[Reply] = []
        for _ in range(count):
            item, at = self._read(at)
            items.append(item)
        return tuple(items), at
