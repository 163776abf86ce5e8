"""Numbers as Redis reads and writes them.

Redis is stricter than Python: no white space, no plus sign, no leading zeros, no underscores, and
integers end at 64 bits. A float may be written as C's `strtod` reads it (hexadecimal too), but not
with spaces around it and not as NaN. How a double is *written* depends on the version: up to 7.0
with 17 significant digits, from 7.2 with the fewest digits that read back the same.
"""

import math
import re
from typing import Final

from redouble.errors import NOT_A_FLOAT, NOT_AN_INTEGER, CommandError

INT64_MAX: Final = 9223372036854775807
INT64_MIN: Final = -9223372036854775808

_INTEGER: Final = re.compile(rb"(?:0|-?[1-9][0-9]{0,18})\Z")
_DECIMAL: Final = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
_HEX: Final = re.compile(rb"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?\Z")
_INFINITY: Final = re.compile(rb"[+-]?inf(?:inity)?\Z", re.IGNORECASE)


def try_integer(data: bytes) -> int | None:
    """The signed 64-bit integer that `data` spells canonically, or None. O(len)."""
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


def try_double(data: bytes) -> float | None:
    """The double that `data` spells, infinities included, or None. O(len)."""
    if _DECIMAL.match(data) is not None:
        return float(data)
    if _INFINITY.match(data) is not None:
        return -math.inf if data[0] == 45 else math.inf
    if _HEX.match(data) is not None:
        try:
            return float.fromhex(data.decode())
        except OverflowError:
            return None
    return None


def double(data: bytes, error: bytes = NOT_A_FLOAT) -> float:
    """As `try_double`, but raises `CommandError(error)`."""
    value = try_double(data)
    if value is None:
        raise CommandError(error)
    return value


def format_double(value: float, long: bool) -> bytes:
    """A double's text: `long` as up to Redis 7.0 (17 digits), else the shortest exact one."""
    if value == math.inf:
        return b"inf"
    if value == -math.inf:
        return b"-inf"
    if value != value:
        return b"nan"
    if long:
        return b"%.17g" % value
    if value == 0.0:
        return b"-0" if math.copysign(1.0, value) < 0 else b"0"
    if -1e17 < value < 1e17 and value == int(value):
        return b"%d" % int(value)
    return _shortest(value)


def _shortest(value: float) -> bytes:
    """The shortest digits that read back as `value`, laid out as C's %.17g would."""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0)
    if whole == "0":
        point -= len(fraction) - len(fraction.lstrip("0")) + 1
    digits = digits.rstrip("0") or "0"
    sign = "-" if value < 0 else ""
    return (sign + _layout(digits, point)).encode()


def _layout(digits: str, point: int) -> str:
    """Digits with the decimal point after `point` of them; an exponent where that is shorter."""
    size = len(digits)
    exponent = point - 1
    if 0 <= point - size and exponent < size + 7:
        return digits + "0" * (point - size)
    if -7 < exponent < 18:
        if point <= 0:
            return "0." + "0" * -point + digits
        return digits[:point] + "." + digits[point:]
    mark = "-" if exponent < 0 else "+"
    head = digits[0] + ("." + digits[1:] if size > 1 else "")
    return f"{head}e{mark}{abs(exponent)}"
