"""Long doubles: the numbers that INCRBYFLOAT and HINCRBYFLOAT compute with.

Redis uses C's `long double`, on x86-64 a float with 64 bits of mantissa and 15 of exponent, and prints
it with 17 decimals. No such type exists in Python, and a double shows other digits (0.1 + 0.2). So a
number is kept as an integer times a power of two. Sums and decimal texts are exact in integers and
rounded once, to the nearest and to even on a tie, as the hardware and the C library do.

Python refuses to convert more than 4300 digits at once, and these numbers can have more; so both
directions cut long numbers in two.

Simplified: hexadecimal texts are rounded like others, but their exponents must have at most six digits.
"""

import re
from typing import Final, final

_MANTISSA_BITS: Final = 64
#: Smaller exponents than this do not exist: numbers near zero lose mantissa bits instead.
_LEAST_EXPONENT: Final = -16445
#: Numbers of this many bits (before the point) are too large.
_MOST_BITS: Final = 16384
#: Texts as long as this are no numbers to Redis, whatever they spell.
_TEXT_LIMIT: Final = 5120
_CHUNK: Final = 4000
_CHUNK_POWER: Final = 10**_CHUNK
_DECIMALS: Final = 17
_SCALE: Final = 10**_DECIMALS
#: Beyond these powers of ten everything is too large, or nothing.
_MOST_POWER: Final = 4940
_LEAST_POWER: Final = -5000

_NUMBER: Final = re.compile(rb"([+-]?)(?:([0-9]+)\.?([0-9]*)|\.([0-9]+))(?:[eE]([+-]?[0-9]+))?\Z")
_HEX: Final = re.compile(
    rb"([+-]?)0[xX](?:([0-9a-fA-F]+)\.?([0-9a-fA-F]*)|\.([0-9a-fA-F]+))(?:[pP]([+-]?[0-9]{1,6}))?\Z"
)
_INFINITY: Final = re.compile(rb"[+-]?inf(?:inity)?\Z", re.IGNORECASE)


@final
class LongDouble:
    """A number `mantissa * 2 ** exponent`, or an infinity with the sign of its mantissa."""

    __slots__ = ("mantissa", "exponent", "infinite")

    def __init__(self, mantissa: int, exponent: int, infinite: bool = False) -> None:
        self.mantissa: int = mantissa
        self.exponent: int = exponent
        self.infinite: bool = infinite


def try_long_double(text: bytes) -> LongDouble | None:
    """The number that `text` spells, infinities included, or None. O(len^1.6)."""
    if len(text) >= _TEXT_LIMIT:
        return None
    number = _NUMBER.match(text)
    if number is not None:
        return _read_decimal(number)
    number = _HEX.match(text)
    if number is not None:
        return _read_hex(number)
    if _INFINITY.match(text) is not None:
        return LongDouble(-1 if text[0] == 45 else 1, 0, True)
    return None


def add_long_doubles(a: LongDouble, b: LongDouble) -> LongDouble | None:
    """The sum, or None where it is infinite or not a number."""
    if a.infinite or b.infinite:
        return None
    exponent = min(a.exponent, b.exponent)
    total = (a.mantissa << (a.exponent - exponent)) + (b.mantissa << (b.exponent - exponent))
    return _rounded(total, 1, exponent)


def format_long_double(number: LongDouble) -> bytes:
    """A finite number with up to 17 decimals and no zeros at the end."""
    mantissa = abs(number.mantissa)
    if number.exponent >= 0:
        scaled = (mantissa << number.exponent) * _SCALE
    else:
        scaled = _half_even(mantissa * _SCALE, 1 << -number.exponent)
    if scaled == 0:
        return b"0"
    whole, fraction = divmod(scaled, _SCALE)
    text = _digits(whole)
    if fraction:
        text += "." + f"{fraction:017d}".rstrip("0")
    return ("-" + text if number.mantissa < 0 else text).encode()


def _read_decimal(number: re.Match[bytes]) -> LongDouble | None:
    whole = number.group(2) or b""
    fraction = number.group(3) or number.group(4) or b""
    digits = (whole + fraction).lstrip(b"0")
    if not digits:
        return LongDouble(0, 0)
    power = _power(number.group(5)) - len(fraction)
    if len(digits) + power > _MOST_POWER or len(digits) + power < _LEAST_POWER:
        return None
    mantissa = _integer(digits)
    if number.group(1) == b"-":
        mantissa = -mantissa
    if power >= 0:
        result = _rounded(mantissa * 10**power, 1, 0)
    else:
        result = _rounded(mantissa, 10**-power, 0)
    return _not_vanished(result)


def _read_hex(number: re.Match[bytes]) -> LongDouble | None:
    fraction = number.group(3) or number.group(4) or b""
    mantissa = int((number.group(2) or b"") + fraction, 16)
    if mantissa == 0:
        return LongDouble(0, 0)
    exponent = int(number.group(5) or b"0") - 4 * len(fraction)
    if number.group(1) == b"-":
        mantissa = -mantissa
    return _not_vanished(_rounded(mantissa, 1, exponent))


def _not_vanished(number: LongDouble | None) -> LongDouble | None:
    """None for a text that is not zero but too small to be anything else: C calls it out of range."""
    return None if number is None or number.mantissa == 0 else number


def _power(text: bytes | None) -> int:
    """A decimal exponent; one that is absurdly long is merely large."""
    if text is None:
        return 0
    if len(text) > 9:
        digits = text.lstrip(b"+-").lstrip(b"0")
        if len(digits) > 8:
            digits = b"99999999"
        return -int(digits or b"0") if text[0] == 45 else int(digits or b"0")
    return int(text)


def _rounded(numerator: int, denominator: int, exponent: int) -> LongDouble | None:
    """`numerator / denominator * 2 ** exponent` rounded to 64 bits; None if it is too large."""
    if numerator == 0:
        return LongDouble(0, 0)
    size = abs(numerator)
    # The quotient has `bits` or `bits + 1` bits; one too many or too few is put right below.
    bits = size.bit_length() - denominator.bit_length()
    shift = bits - _MANTISSA_BITS
    if denominator == 1:
        shift += 1
    if exponent + shift < _LEAST_EXPONENT:
        shift = _LEAST_EXPONENT - exponent
    mantissa = _shifted(size, denominator, shift)
    if mantissa.bit_length() > _MANTISSA_BITS:
        shift += 1
        mantissa = _shifted(size, denominator, shift)
    exponent += shift
    if mantissa.bit_length() + exponent > _MOST_BITS:
        return None
    return LongDouble(-mantissa if numerator < 0 else mantissa, exponent)


def _shifted(numerator: int, denominator: int, shift: int) -> int:
    if shift <= 0:
        return _half_even(numerator << -shift, denominator)
    return _half_even(numerator, denominator << shift)


def _half_even(numerator: int, denominator: int) -> int:
    quotient, rest = divmod(numerator, denominator)
    rest *= 2
    if rest > denominator or (rest == denominator and quotient & 1):
        quotient += 1
    return quotient


def _integer(digits: bytes) -> int:
    if len(digits) <= _CHUNK:
        return int(digits)
    return int(digits[:-_CHUNK]) * _CHUNK_POWER + int(digits[-_CHUNK:])


def _digits(number: int) -> str:
    if number < _CHUNK_POWER:
        return str(number)
    high, low = divmod(number, _CHUNK_POWER)
    return str(high) + str(low).zfill(_CHUNK)
