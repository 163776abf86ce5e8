"""The elements of RDB data read back: the counterpart of `writer.py`. What is wrong raises `CorruptData`."""

from struct import unpack_from
from typing import Final, final

from redouble.persistence import format as rdb
from redouble.persistence import lzf
from redouble.persistence.format import CorruptData

_INFINITE: Final = 254
_MINUS_INFINITE: Final = 255
_NOT_A_NUMBER: Final = 253
_WIDTHS: Final[dict[int, int]] = {rdb.INT8: 1, rdb.INT16: 2, rdb.INT32: 4}


@final
class Reader:
    """Walks over bytes. `at` is where it stands; `end` is where the data ends."""

    __slots__ = ("data", "at", "end")

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data: bytes = data
        self.at: int = at
        self.end: int = len(data)

    def raw(self, size: int) -> bytes:
        """The next `size` bytes."""
        at = self.at
        if size > self.end - at:
            raise CorruptData("unexpected end")
        self.at = at + size
        return self.data[at : at + size]

    def byte(self) -> int:
        """A type, an opcode, or another small number."""
        at = self.at
        if at >= self.end:
            raise CorruptData("unexpected end")
        self.at = at + 1
        return self.data[at]

    def _number(self, width: int) -> int:
        return int.from_bytes(self.raw(width), "big")

    def _length_after(self, first: int) -> int:
        """The length that begins with this byte."""
        if first < 0x40:
            return first
        if first < 0x80:
            return (first & 63) << 8 | self.byte()
        if first == 0x80:
            return self._number(4)
        if first == 0x81:
            return self._number(8)
        raise CorruptData("wrong length")

    def length(self) -> int:
        """A length, or any other number of up to 64 bits without sign."""
        return self._length_after(self.byte())

    def count(self) -> int:
        """The number of elements that follow; each has a byte at least, so it can't exceed what is left."""
        count = self.length()
        if count > self.end - self.at:
            raise CorruptData("unexpected end")
        return count

    def text(self) -> bytes:
        """A string in whatever form. O(len)."""
        first = self.byte()
        if first < 0xC0:
            return self.raw(self._length_after(first))
        form = first & 63
        if form == rdb.LZF:
            packed = self.length()
            size = self.length()
            value = lzf.decompress(self.raw(packed), size)
            if value is None:
                raise CorruptData("wrong compressed string")
            return value
        width = _WIDTHS.get(form, 0)
        if width == 0:
            raise CorruptData("unknown form of string")
        return b"%d" % int.from_bytes(self.raw(width), "little", signed=True)

    def time(self) -> int:
        """A time, Unix time in ms; -1 for none."""
        return int.from_bytes(self.raw(8), "little", signed=True)

    def stream_id(self) -> int:
        """An ID of 16 bytes."""
        return int.from_bytes(self.raw(16), "big")

    def stream_id_parts(self) -> int:
        """An ID of two numbers."""
        high = self.length()
        return high << 64 | self.length()

    def double(self) -> float:
        """A double as the machine keeps it."""
        at = self.at
        if self.end - at < 8:
            raise CorruptData("unexpected end")
        self.at = at + 8
        value: float = unpack_from("<d", self.data, at)[0]
        return value

    def text_double(self) -> float:
        """A double as text, as it was kept long ago."""
        size = self.byte()
        if size == _MINUS_INFINITE:
            return float("-inf")
        if size == _INFINITE:
            return float("inf")
        if size == _NOT_A_NUMBER:
            return float("nan")
        try:
            return float(self.raw(size))
        except ValueError:
            raise CorruptData("no number") from None
