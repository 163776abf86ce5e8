"""Reply values to bytes. The only place that knows RESP2 from RESP3.

`Encoder.encode` is on the path of every command, so the frequent shapes come first and small
headers are made once. An array of plain bulk strings is one join (compiled or not, that takes half
the time of hiredis' `pack_command`). Everything else walks the value and joins the parts.

A line break within a simple string or an error would break the framing, so it becomes a space.
"""

from typing import Any, Final, final

from redouble.doubles import format_double, format_human
from redouble.protocol.reply import (
    OK,
    Attributed,
    BigNumber,
    Boolean,
    Bulks,
    Deep,
    Double,
    Encoded,
    ErrorReply,
    HumanDouble,
    Map,
    NoReply,
    NullArray,
    PairMap,
    Pairs,
    Push,
    Reply,
    SetReply,
    Several,
    Simple,
    Verbatim,
)

_CRLF: Final = b"\r\n"
_OK_LINE: Final = b"+OK\r\n"
_SMALL: Final = 1024
_BULK_HEADS: Final[list[bytes]] = [b"$%d\r\n" % n for n in range(_SMALL)]
_ARRAYS: Final[list[bytes]] = [b"*%d\r\n" % n for n in range(_SMALL)]
_INTEGERS: Final[list[bytes]] = [b":%d\r\n" % n for n in range(_SMALL)]
_NEXT_BULK: Final[list[bytes]] = [b"\r\n$%d\r\n" % n for n in range(_SMALL)]


def _bulk(data: bytes) -> bytes:
    size = len(data)
    if size < _SMALL:
        return _BULK_HEADS[size] + data + _CRLF
    return b"$%d\r\n%b\r\n" % (size, data)


def _pack(items: list[bytes]) -> bytes:
    """An array of bulk strings: the items are joined with what stands between them."""
    out = [b"*%d" % len(items)]
    for item in items:
        size = len(item)
        out.append(_NEXT_BULK[size] if size < _SMALL else b"\r\n$%d\r\n" % size)
        out.append(item)
    out.append(_CRLF)
    return b"".join(out)


def _line(mark: bytes, text: bytes) -> bytes:
    if b"\n" in text or b"\r" in text:
        text = text.replace(b"\r", b" ").replace(b"\n", b" ")
    return mark + text + _CRLF


@final
class Encoder:
    """Encodes reply values for one protocol version.

    `resp3` chooses the protocol, `short_doubles` the text of doubles (since 7.2, see `doubles.py`).
    """

    __slots__ = ("resp3", "short_doubles", "_nothing")

    def __init__(self, resp3: bool, short_doubles: bool) -> None:
        self.resp3: bool = resp3
        self.short_doubles: bool = short_doubles
        self._nothing: bytes = b"_\r\n" if resp3 else b"$-1\r\n"

    def encode(self, value: Reply) -> bytes:
        """The bytes of one reply value. O(size). Raises `TypeError` for a type that is none."""
        if isinstance(value, bytes):
            size = len(value)
            if size < _SMALL:
                return _BULK_HEADS[size] + value + _CRLF
            return b"$%d\r\n%b\r\n" % (size, value)
        if value is OK:
            return _OK_LINE
        if value is None:
            return self._nothing
        if type(value) is int:
            if 0 <= value < _SMALL:
                return _INTEGERS[value]
            return b":%d\r\n" % value
        if isinstance(value, Bulks):
            return _pack(value.items)
        out: list[bytes] = []
        self._walk(value, out)
        return b"".join(out)

    def _walk(self, value: Any, out: list[bytes]) -> None:
        if isinstance(value, bytes):
            out.append(_bulk(value))
        elif value is None:
            out.append(self._nothing)
        elif type(value) is int:
            out.append(b":%d\r\n" % value)
        elif isinstance(value, list):
            size = len(value)
            out.append(_ARRAYS[size] if size < _SMALL else b"*%d\r\n" % size)
            self._items(value, out)
        elif isinstance(value, Bulks):
            out.append(_pack(value.items))
        elif isinstance(value, Simple):
            out.append(_line(b"+", value.text))
        elif isinstance(value, ErrorReply):
            out.append(_line(b"-", value.text))
        elif isinstance(value, Several):
            for item in value.items:
                self._walk(item, out)
        else:
            self._walk_typed(value, out)

    def _walk_typed(self, value: Any, out: list[bytes]) -> None:
        """The types that differ between the protocols."""
        resp3 = self.resp3
        if isinstance(value, Double):
            text = format_double(value.value, self.short_doubles)
            out.append(b"," + text + _CRLF if resp3 else _bulk(text))
        elif isinstance(value, Map):
            items = value.items
            out.append(b"%%%d\r\n" % (len(items) // 2) if resp3 else b"*%d\r\n" % len(items))
            self._items(items, out)
        elif isinstance(value, Pairs):
            self._pairs(value.items, resp3, out)
        elif isinstance(value, PairMap):
            if resp3:
                self._walk_typed(Map(value.items), out)
            else:
                self._pairs(value.items, True, out)
        elif isinstance(value, SetReply):
            self._collection(b"~%d\r\n" if resp3 else b"*%d\r\n", value.items, out)
        elif isinstance(value, Push):
            self._collection(b">%d\r\n" if resp3 else b"*%d\r\n", value.items, out)
        elif isinstance(value, Attributed):
            if resp3:
                out.append(b"|%d\r\n" % (len(value.attributes) // 2))
                self._items(value.attributes, out)
            self._walk(value.reply, out)
        elif isinstance(value, NullArray):
            out.append(b"_\r\n" if resp3 else b"*-1\r\n")
        elif isinstance(value, Boolean):
            if resp3:
                out.append(b"#t\r\n" if value.value else b"#f\r\n")
            else:
                out.append(b":1\r\n" if value.value else b":0\r\n")
        elif isinstance(value, Verbatim):
            text = value.text
            out.append(b"=%d\r\n%b:%b\r\n" % (len(text) + 4, value.format, text) if resp3 else _bulk(text))
        elif isinstance(value, HumanDouble):
            text = format_human(value.value)
            out.append(b"," + text + _CRLF if resp3 else _bulk(text))
        elif isinstance(value, BigNumber):
            out.append(b"(" + value.digits + _CRLF if resp3 else _bulk(value.digits))
        elif isinstance(value, Deep):
            self._deep(value.value, out)
        elif isinstance(value, Encoded):
            out.append(value.data)
        elif not isinstance(value, NoReply):
            raise TypeError(f"not a reply value: {type(value).__name__}")

    def _deep(self, value: Any, out: list[bytes]) -> None:
        """Collections within collections, without recursion."""
        rest = [value]
        while rest:
            value = rest.pop()
            if isinstance(value, list):
                out.append(b"*%d\r\n" % len(value))
                rest.extend(reversed(value))
            elif isinstance(value, Map):
                count = len(value.items)
                out.append(b"%%%d\r\n" % (count // 2) if self.resp3 else b"*%d\r\n" % count)
                rest.extend(reversed(value.items))
            elif isinstance(value, SetReply):
                out.append((b"~%d\r\n" if self.resp3 else b"*%d\r\n") % len(value.items))
                rest.extend(reversed(value.items))
            else:
                self._walk(value, out)

    def _pairs(self, items: list[Any], nested: bool, out: list[bytes]) -> None:
        """A flat list of pairs, as it is or with an array around each pair."""
        if not nested:
            self._collection(b"*%d\r\n", items, out)
            return
        out.append(b"*%d\r\n" % (len(items) // 2))
        for index, item in enumerate(items):
            if index % 2 == 0:
                out.append(b"*2\r\n")
            self._walk(item, out)

    def _collection(self, head: bytes, items: list[Any], out: list[bytes]) -> None:
        out.append(head % len(items))
        self._items(items, out)

    def _items(self, items: list[Any], out: list[bytes]) -> None:
        for item in items:
            if isinstance(item, bytes):
                size = len(item)
                out.append(_BULK_HEADS[size] if size < _SMALL else b"$%d\r\n" % size)
                out.append(item)
                out.append(_CRLF)
            else:
                self._walk(item, out)
