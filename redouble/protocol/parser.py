"""Bytes to requests: RESP arrays of bulk strings, and inline commands.

Two ways lead through this file, and both give the same requests.

*The fast way.* Nearly every read holds whole requests and nothing else. hiredis parses those in C.
But hiredis reads replies: it also accepts integers, nested arrays and nulls where Redis wants bulk
strings, and it says little about an error. So the fast way only believes what it can prove: every
item is `bytes`, and the sizes of the canonical encoding add up to the very number of bytes read. A
request that cheats in any way has another size.

*The exact way.* Everything else (a request cut in two, inline commands, errors, odd spellings) goes
through a plain state machine with Redis' own limits and error texts. It remembers where it stood, so
a large value that comes in many pieces is not scanned again.

A protocol error ends the connection. The requests before it are still returned; `error` then holds
the text that Redis sends before it hangs up.
"""

import re
from typing import Any, Final, final

import hiredis

from redouble.protocol.inline import split_inline
from redouble.protocol.numbers import try_integer

INLINE_MAX: Final = 64 * 1024
_COUNT_MAX: Final = 2147483647
_AUTH_COUNT_MAX: Final = 10
_AUTH_BULK_MAX: Final = 16384
_HUGE: Final = re.compile(rb"\*?[0-9]{6}")
#: hiredis moves what is left of its buffer after each KB, so it gets no more than this at a time.
_PIECE: Final = 4096
_CR: Final = 13
_STAR: Final = 42
_NO_REQUEST: Final = -(1 << 60)
_DOLLAR: Final = 36


def _claims_much(data: bytes) -> bool:
    """Whether a header may announce 100,000 items or more: hiredis would make room for all before they have come.

    A header begins the data, or follows a line break.
    """
    if _is_huge(data, 2):
        return True
    if data.find(b"*", 1) < 0:
        return False  # the usual read: one request
    return any([_is_huge(piece, 1) for piece in data.split(b"\n*")[1:]])


def _is_huge(header: bytes, at: int) -> bool:
    """Whether a header's number is long. As a rule its line ends after one or two digits, at or behind `at`."""
    return len(header) > at + 1 and header[at] != _CR and header[at + 1] != _CR and _HUGE.match(header) is not None


def _digits(number: int) -> int:
    if number < 10:
        return 1
    if number < 100:
        return 2
    if number < 1000:
        return 3
    return len(b"%d" % number)


def _canonical_size(request: Any) -> int:
    """How many bytes the usual spelling of a request has; if it is none, so few that no sum will do. O(arguments)."""
    if type(request) is not list or not request:
        return _NO_REQUEST
    items: list[Any] = request
    size = 3 + _digits(len(items))
    for item in items:
        if type(item) is not bytes:
            return _NO_REQUEST
        length = len(item)
        size += 5 + length + _digits(length)
    return size


@final
class RequestParser:
    """The requests of one connection.

    `bulk_max` is proto-max-bulk-len. While `trusted` is false (the client has still to
    authenticate) Redis' tighter limits hold.
    """

    __slots__ = ("bulk_max", "trusted", "error", "_reader", "_buffer", "_pos", "_argv", "_missing", "_bulk", "held")

    def __init__(self, bulk_max: int) -> None:
        self.bulk_max: int = bulk_max
        self.trusted: bool = True
        self.error: bytes | None = None
        self._reader = hiredis.Reader()
        self._buffer: bytearray = bytearray()
        self._pos: int = 0
        self._argv: list[bytes] = []
        self._missing: int = 0
        self._bulk: int = -1
        #: How long the arguments read so far of an incomplete request are, together.
        self.held: int = 0

    @property
    def buffered(self) -> int:
        """How many bytes wait for the rest of their request."""
        return len(self._buffer) - self._pos

    @property
    def announced(self) -> int:
        """How long the argument is whose rest is awaited; 0 if none is."""
        return max(self._bulk, 0)

    @property
    def items(self) -> int:
        """How many arguments have been read of a request that is not complete."""
        return len(self._argv)

    def feed(self, data: bytes) -> list[list[bytes]]:
        """The requests that `data` completes, in order. O(len(data))."""
        if not self._buffer and self.trusted and data[0] == _STAR and data[-1] == 10 and not _claims_much(data):
            requests = self._proven(data)
            if requests is not None:
                return requests
        if self.error is not None:
            return []
        self._buffer += data
        return self._exact()

    def _proven(self, data: bytes) -> list[list[bytes]] | None:
        """All requests of `data` by hiredis, or None when they can't be proven to be just those."""
        reader = self._reader
        requests: list[list[bytes]] = []
        size = 0
        try:
            for start in range(0, len(data), _PIECE):
                reader.feed(data[start : start + _PIECE])
                request = reader.gets()
                while request is not False:
                    size += _canonical_size(request)
                    requests.append(request)
                    request = reader.gets()
        except (hiredis.ProtocolError, hiredis.ReplyError):
            size = _NO_REQUEST
        if size == len(data):
            return requests
        self._reader = hiredis.Reader()
        return None

    def _exact(self) -> list[list[bytes]]:
        requests: list[list[bytes]] = []
        while self.error is None and self._pos < len(self._buffer):
            if self._missing == 0:
                if self._buffer[self._pos] == _STAR:
                    advanced = self._count()
                else:
                    advanced = self._inline()
            else:
                advanced = self._item()
            if not advanced:
                break
            if self._missing == 0 and self._argv:
                requests.append(self._argv)
                self._argv = []
                self.held = 0
        if self._pos:
            del self._buffer[: self._pos]
            self._pos = 0
        return requests

    def _fail(self, text: bytes) -> bool:
        self.error = b"ERR Protocol error: " + text
        return False

    def _header(self, too_big: bytes) -> bytes | None:
        """The text of a header line after its mark, or None when it is not complete (or too long)."""
        end = self._buffer.find(b"\r", self._pos)
        if end < 0:
            if len(self._buffer) - self._pos > INLINE_MAX:
                self._fail(too_big)
            return None
        if end + 2 > len(self._buffer):
            return None
        text = bytes(self._buffer[self._pos + 1 : end])
        self._pos = end + 2
        return text

    def _count(self) -> bool:
        text = self._header(b"too big mbulk count string")
        if text is None:
            return False
        count = try_integer(text)
        if count is None or count > _COUNT_MAX:
            return self._fail(b"invalid multibulk length")
        if count > _AUTH_COUNT_MAX and not self.trusted:
            return self._fail(b"unauthenticated multibulk length")
        self._missing = max(count, 0)
        self._bulk = -1
        return True

    def _item(self) -> bool:
        if self._bulk < 0:
            mark = self._buffer[self._pos]
            start = self._pos
            text = self._header(b"too big bulk count string")
            if text is None:
                return False
            if mark != _DOLLAR:
                self._pos = start
                return self._fail(b"expected '$', got '%c'" % mark)
            size = try_integer(text)
            if size is None or size < 0 or size > self.bulk_max:
                return self._fail(b"invalid bulk length")
            if size > _AUTH_BULK_MAX and not self.trusted:
                return self._fail(b"unauthenticated bulk length")
            self._bulk = size
        end = self._pos + self._bulk
        if end + 2 > len(self._buffer):
            return False
        self._argv.append(bytes(self._buffer[self._pos : end]))
        self._pos = end + 2
        self.held += self._bulk
        self._bulk = -1
        self._missing -= 1
        return True

    def _inline(self) -> bool:
        end = self._buffer.find(b"\n", self._pos)
        if end < 0:
            if len(self._buffer) - self._pos > INLINE_MAX:
                self._fail(b"too big inline request")
            return False
        line = bytes(self._buffer[self._pos : end])
        self._pos = end + 1
        if line.endswith(b"\r"):
            line = line[:-1]
        words = split_inline(line)
        if words is None:
            return self._fail(b"unbalanced quotes in request")
        self._argv = words
        return True
