"""RESP replies with every type kept, as no client library keeps them.

Tests must tell `+OK` from `$2 OK`, a null bulk from a null array, a set from an array. So this reader
is ours; everything else in the tests that speaks to a server is a real client.
"""

from __future__ import annotations

from typing import Any


class Status(bytes):
    """A simple string."""

    def __new__(cls, text: str | bytes) -> Status:
        return super().__new__(cls, text.encode() if isinstance(text, str) else text)

    def __eq__(self, other: object) -> bool:
        return type(other) is Status and bytes(self) == bytes(other)

    __hash__ = bytes.__hash__

    def __repr__(self) -> str:
        return f"Status({bytes(self)!r})"


class Failure(Status):
    """An error reply."""

    def __eq__(self, other: object) -> bool:
        return type(other) is Failure and bytes(self) == bytes(other)

    __hash__ = bytes.__hash__

    def __repr__(self) -> str:
        return f"Failure({bytes(self)!r})"


class Flat(list[Any]):
    """A map (flattened), a set or a push of RESP3."""

    def __init__(self, items: list[Any], mark: bytes) -> None:
        super().__init__(items)
        self.mark = mark


def encode(*args: object) -> bytes:
    """A request as clients send it."""
    words = [arg if isinstance(arg, bytes) else str(arg).encode() for arg in args]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)


class Incomplete(Exception):
    """More bytes are needed."""


class Replies:
    """Takes bytes, gives replies."""

    def __init__(self) -> None:
        self.buffer = b""

    def feed(self, data: bytes) -> None:
        """More bytes have come."""
        self.buffer += data

    def next(self) -> tuple[Any, bytes]:
        """The next reply and its bytes. Raises `Incomplete`."""
        value, end = self._read(0)
        raw, self.buffer = self.buffer[:end], self.buffer[end:]
        return value, raw

    def _line(self, pos: int) -> tuple[bytes, int]:
        end = self.buffer.find(b"\r\n", pos)
        if end < 0:
            raise Incomplete
        return self.buffer[pos:end], end + 2

    def _read(self, pos: int) -> tuple[Any, int]:
        line, pos = self._line(pos)
        mark, rest = line[:1], line[1:]
        if mark == b"+":
            return Status(rest), pos
        if mark == b"-":
            return Failure(rest), pos
        if mark == b":":
            return int(rest), pos
        if mark in b",(":
            return rest, pos
        if mark == b"#":
            return int(rest == b"t"), pos
        if mark == b"_":
            return None, pos
        size = int(rest)
        if mark in b"$=":
            return self._bulk(mark, size, pos)
        if size < 0:
            return None, pos
        items = []
        for _ in range(size * 2 if mark == b"%" else size):
            item, pos = self._read(pos)
            items.append(item)
        return (items if mark == b"*" else Flat(items, mark)), pos

    def _bulk(self, mark: bytes, size: int, pos: int) -> tuple[bytes | None, int]:
        if size < 0:
            return None, pos
        if len(self.buffer) < pos + size + 2:
            raise Incomplete
        assert self.buffer[pos + size : pos + size + 2] == b"\r\n"
        start = pos + 4 if mark == b"=" else pos
        return self.buffer[start : pos + size], pos + size + 2
