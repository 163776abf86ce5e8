"""The checksum of RDB data: CRC-64 with the polynomial of D. T. Jones, bits reversed, no final complement.

One table of 256 entries, one step per byte (D. V. Sarwate, "Computation of cyclic redundancy checks via
table look-up", 1988). The library that has this checksum (fastcrc) is compiled Rust and would be
Redouble's only need of it; these few lines, compiled, are fast enough.

Numbers are kept signed, within the 64 bits of the machine, so that compiled code needs no big integers.
"""

from typing import Final

from mypy_extensions import i64

_POLYNOMIAL: Final = 0x95AC9329AC4BC9B5


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def _table() -> list[int]:
    table: list[int] = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
        table.append(_signed(crc))
    return table


_TABLE: Final[list[int]] = _table()


def crc64(data: bytes, start: int = 0) -> int:
    """The checksum of `data`, an unsigned number; `start` is the checksum of what stands before it. O(len)."""
    table = _TABLE
    crc: i64 = _signed(start)
    step: i64
    byte: i64
    for place in range(len(data)):
        byte = data[place]
        step = table[(crc ^ byte) & 255]
        crc = step ^ ((crc >> 8) & 0x00FFFFFFFFFFFFFF)
    checksum: int = crc
    return checksum & 0xFFFFFFFFFFFFFFFF
