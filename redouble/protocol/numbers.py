"""Numbers as Redis reads and writes them.

Redis is stricter than Python: no white space, no plus sign, no leading zeros, no underscores, and
integers end at 64 bits. Doubles have a page of their own, `doubles.py`.
"""

import re
from typing import Final

from redouble.doubles import parse_double
from redouble.errors import NOT_A_FLOAT, NOT_AN_INTEGER, CommandError

INT64_MAX: Final = 9223372036854775807
INT64_MIN: Final = -9223372036854775808

#: The texts of frequent numbers (counts, indexes, young counters): looking one up is a third of reading it.
_KNOWN: Final[dict[bytes, int]] = {b"%d" % number: number for number in range(-1, 4096)}
_INTEGER: Final = re.compile(rb"(?:0|-?[1-9][0-9]{0,18})\Z")


def try_integer(data: bytes) -> int | None:
    """The signed 64-bit integer that `data` spells canonically, or None. O(len)."""
    known = _KNOWN.get(data)
    if known is not None:
        return known
    size = len(data)
    if size < 19 and data.isdigit():
        if size == 1 or data[0] != 48:
            return int(data)
        return None
    if _INTEGER.match(data) is None:
        return None
    value = int(data)
    if value > INT64_MAX or value < INT64_MIN:
        return None
    return value


def integer(data: bytes, error: bytes = NOT_AN_INTEGER) -> int:
    """As `try_integer`, but raises `CommandError(error)`."""
    value = try_integer(data)
    if value is None:
        raise CommandError(error)
    return value


def integer_from(least: int, data: bytes, error: bytes) -> int:
    """The integer, which must not be less than `least`; else raises `CommandError(error)`."""
    value = try_integer(data)
    if value is None or value < least:
        raise CommandError(error)
    return value


def negatable_integer(data: bytes) -> int:
    """The integer, which must not be the one that has no positive counterpart."""
    value = integer(data)
    if value == INT64_MIN:
        raise CommandError(b"ERR value is out of range, value must between %d and %d" % (-INT64_MAX, INT64_MAX))
    return value


def double(data: bytes, error: bytes = NOT_A_FLOAT) -> float:
    """As `parse_double`, but raises `CommandError(error)`. O(len)."""
    value = parse_double(data)
    if value is None:
        raise CommandError(error)
    return value
