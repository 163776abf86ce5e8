"""How many bytes Redis' compact encoding, the listpack, takes for a value.

Nothing here is stored that way; but the point at which a list stops being a `listpack` for OBJECT
ENCODING depends on these sizes, so they must be exact. An entry is a header that also tells the
length, the data, and the entry's length once more for walking backwards. A value that spells a
64-bit integer canonically is kept as a number of 1 to 9 bytes, header included.
"""

from collections.abc import Iterable
from typing import Final

#: The bytes of a listpack without entries.
EMPTY_LISTPACK: Final = 7
#: No entry takes more than its value's length and this.
MOST_OVERHEAD: Final = 10

_INT64_MAX: Final = 9223372036854775807
#: Entries that hold numbers: the bytes before the length at the end, and the numbers they reach to.
_NUMBERS: Final[list[tuple[int, int]]] = [(2, 1 << 12), (3, 1 << 15), (4, 1 << 23), (5, 1 << 31)]
#: How many bytes the length at the end takes, and up to which length.
_LENGTHS: Final[list[tuple[int, int]]] = [(1, 127), (2, 16382), (3, 2097150), (4, 268435454)]


def spells_int64(value: bytes) -> bool:
    """Whether `value` is a signed 64-bit integer written as Redis would write it. O(len)."""
    size = len(value)
    if size == 0 or size > 20:
        return False
    digits = value[1:] if value[0] == 45 else value
    if not digits.isdigit():
        return False
    if digits[0] == 48:
        return size == 1
    return size < 19 or -_INT64_MAX - 1 <= int(value) <= _INT64_MAX


def entry_bytes(value: bytes) -> int:
    """The bytes of the listpack entry for `value`. O(1), O(len) for what may be a number."""
    size = len(value)
    if size <= 20 and spells_int64(value):
        return _number_bytes(int(value)) + 1
    size += 1 if size < 64 else 2 if size < 4096 else 5
    for width, most in _LENGTHS:
        if size <= most:
            return size + width
    return size + 5


def _number_bytes(number: int) -> int:
    if 0 <= number < 128:
        return 1
    for width, reach in _NUMBERS:
        if -reach <= number < reach:
            return width
    return 9


def listpack_bytes(values: Iterable[bytes]) -> int:
    """The bytes of a listpack of `values`. O(n)."""
    total = EMPTY_LISTPACK
    for value in values:
        total += entry_bytes(value)
    return total
