"""The elements of RDB data as bytes: lengths, strings, times, doubles.

A length takes 1, 2, 5 or 9 bytes, told apart by its first two bits; with both set it is no length but a
string in a special form: an integer of up to 32 bits, or compressed by LZF.
"""

from struct import pack
from typing import Final, final

from redouble.datatypes.listpack import spells_int64
from redouble.persistence import format as rdb
from redouble.persistence.lzf import Compressor

#: Shorter strings are not worth compressing, and LZF must save so many bytes.
_LEAST_COMPRESSED: Final = 21
_LEAST_SAVED: Final = 4
#: No integer of 32 bits is longer.
_LONGEST_INTEGER: Final = 11


@final
class Writer:
    """Collects the bytes. `version` is the format's; without a compressor no string is compressed."""

    __slots__ = ("data", "version", "compressor")

    def __init__(self, version: int, compressor: Compressor | None) -> None:
        self.data: bytearray = bytearray()
        self.version: int = version
        self.compressor: Compressor | None = compressor

    def byte(self, number: int) -> None:
        """A type, an opcode, or another small number."""
        self.data.append(number)

    def length(self, number: int) -> None:
        """A length, or any other number of up to 64 bits without sign."""
        data = self.data
        if number < 64:
            data.append(number)
        elif number < 16384:
            data.append(0x40 | number >> 8)
            data.append(number & 255)
        elif number < 1 << 32:
            data.append(0x80)
            data += number.to_bytes(4, "big")
        else:
            data.append(0x81)
            data += number.to_bytes(8, "big")

    def text(self, value: bytes) -> None:
        """A string in its shortest form. O(len)."""
        size = len(value)
        if size <= _LONGEST_INTEGER and spells_int64(value) and self._integer(int(value)):
            return
        if size >= _LEAST_COMPRESSED and self.compressor is not None:
            squeezed = self.compressor.compress(value, size - _LEAST_SAVED)
            if squeezed is not None:
                self.data.append(0xC0 | rdb.LZF)
                self.length(len(squeezed))
                self.length(size)
                self.data += squeezed
                return
        self.length(size)
        self.data += value

    def _integer(self, number: int) -> bool:
        """A string that spells this number, if it has 32 bits at most."""
        if -0x80 <= number < 0x80:
            form, width = rdb.INT8, 1
        elif -0x8000 <= number < 0x8000:
            form, width = rdb.INT16, 2
        elif -0x80000000 <= number < 0x80000000:
            form, width = rdb.INT32, 4
        else:
            return False
        self.data.append(0xC0 | form)
        self.data += number.to_bytes(width, "little", signed=True)
        return True

    def time(self, milliseconds: int) -> None:
        """A time, Unix time in ms; -1 for none."""
        self.data += milliseconds.to_bytes(8, "little", signed=True)

    def stream_id(self, id: int) -> None:
        """An ID as 16 bytes that sort."""
        self.data += id.to_bytes(16, "big")

    def stream_id_parts(self, id: int) -> None:
        """An ID as two numbers."""
        self.length(id >> 64)
        self.length(id & rdb.UINT64)

    def double(self, value: float) -> None:
        """A double as the machine keeps it."""
        self.data += pack("<d", value)
