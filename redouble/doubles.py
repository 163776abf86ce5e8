"""Doubles as text: what Redis accepts from a client, and what it prints.

Reading. Redis calls C's `strtod`, which takes decimal and hexadecimal numbers, `inf` and `infinity`
in any case, and leading white space. A score (`parse_double`) must be the whole argument, without
white space, and neither overflow nor underflow to nothing. The bound of a range (`parse_bound`) is
judged more leniently: white space before it, overflow, underflow and even an empty text (zero) will
do, and it ends at the first NUL, because nobody looks at its length. NaN is refused by both. Python's
`float` agrees with `strtod` but for underscores, white space at the end, and hexadecimals.

Printing. Up to 7.0 Redis prints scores with `%.17g` (0.1 as 0.10000000000000001). Since 7.2 a whole
number within plus or minus 2**62 is printed as an integer, and the rest by Grisu2 (F. Loitsch,
"Printing Floating-Point Numbers Quickly and Accurately with Integers", 2010): digits are drawn from
the upper end of the interval of numbers that read back as this one, and stop as soon as what is left
lies within. It works with 64 bits of precision and a table of powers of ten, so about once in a
thousand its digits are not the shortest or the nearest, and `repr` would give others. Time stamps
with microseconds show it, hence the real algorithm here. Python's integers are exact; only `_scaled`
and the table round, to 64 bits, as the algorithm does.

The powers of ten are calculated when the module is loaded. Pure functions; nothing else to touch.
"""

from math import copysign, frexp, inf, isinf
from typing import Final

INTEGERS: Final = 4611686018427387904.0  # 2**62: whole numbers up to here print as integers
FIRST_POWER: Final = -348
POWER_STEP: Final = 8
POWERS: Final = 87
LOG10_OF_2: Final = 0.30102999566398114
HEX_PREFIXES: Final = (b"0x", b"+0x", b"-0x")
SAFE_DIGITS: Final = 300  # so many digits don't overflow


def parse_double(text: bytes) -> float | None:
    """A score, increment or coordinate; None if Redis would call it no valid float."""
    if text.isdigit() and len(text) <= SAFE_DIGITS:
        return float(text)  # as nearly all scores are
    if not text or text[0] <= 32:
        return None
    value = _strtod(text)
    if value is None or value != value:
        return None
    if isinf(value) and b"n" not in text.lower():
        return None
    if value == 0.0 and _mantissa(text).strip(b"+-0."):
        return None
    return value


def parse_bound(text: bytes) -> float | None:
    """One end of a range of scores, without its parenthesis; None if it is no float."""
    end = text.find(b"\0")
    if end >= 0:
        text = text[:end]
    if not text:
        return 0.0
    value = _strtod(text)
    return None if value is None or value != value else value


def _strtod(text: bytes) -> float | None:
    """The double that the whole of a text that is not empty stands for."""
    if text[-1] <= 32 or text.find(b"_") >= 0:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    lower = text.lstrip(b" \t\n\v\f\r").lower()
    if lower.startswith(HEX_PREFIXES):
        try:
            return float.fromhex(lower.decode("latin-1"))
        except ValueError:
            return None
        except OverflowError:
            return -inf if lower.startswith(b"-") else inf
    return None


def _mantissa(text: bytes) -> bytes:
    """The part of a number before its exponent, without the hexadecimal prefix."""
    lower = text.lower()
    mark = lower.find(b"x")
    if mark >= 0:
        return lower[mark + 1 :].partition(b"p")[0]
    return lower.partition(b"e")[0]


def format_double(value: float, shortest: bool = True) -> bytes:
    """A score as Redis prints it: since 7.2, or (`shortest` false) before."""
    if value != value:
        return b"nan" if shortest else format_nan(value)
    if not shortest:
        return b"%.17g" % value
    if -INTEGERS <= value <= INTEGERS:
        whole = int(value)
        if whole == value and whole:
            return b"%d" % whole
    return format_shortest(value)


def format_shortest(value: float) -> bytes:
    """A double as Redis prints it since 7.2 where it does not care for whole numbers: 5000000000 is 5e+9."""
    if isinf(value):
        return b"inf" if value > 0 else b"-inf"
    if value == 0.0:
        return b"-0" if copysign(1.0, value) < 0 else b"0"
    number, exponent = _grisu2(abs(value))
    digits = b"%d" % number
    if value < 0:
        return b"-" + _place_point(digits, exponent, 17)
    return _place_point(digits, exponent, 18)


def format_nan(value: float) -> bytes:
    """What is no number, with its sign, as C prints it. Only a script can make one."""
    return b"-nan" if copysign(1.0, value) < 0 else b"nan"


def format_fixed(value: float, places: int) -> bytes:
    """So many places after the point, as Redis prints a distance: scaled first, then rounded."""
    whole = round(value * 10.0**places)
    digits = b"%0*d" % (places + 1, abs(whole))
    return (b"-" if whole < 0 else b"") + digits[:-places] + b"." + digits[-places:]


def format_human(value: float) -> bytes:
    """Up to 17 places after the point and no exponent, as Redis prints a coordinate."""
    text = (b"%.17f" % value).rstrip(b"0").rstrip(b".")
    return b"0" if text == b"-0" else text


def _place_point(digits: bytes, exponent: int, most: int) -> bytes:
    """The number `digits` times ten to the `exponent`; scientific notation shows `most` digits."""
    length = len(digits)
    magnitude = abs(exponent + length - 1)
    if exponent >= 0 and magnitude < length + 7:
        return digits + b"0" * exponent
    if exponent < 0 and (exponent > -7 or magnitude < 4):
        whole = length + exponent
        if whole <= 0:
            return b"0." + b"0" * -whole + digits
        return digits[:whole] + b"." + digits[whole:]
    digits = digits[:most]
    if len(digits) > 1:
        digits = digits[:1] + b"." + digits[1:]
    # The sign follows the length that is shown, the size of the exponent the full one, as in Redis.
    sign = b"-" if exponent + min(length, most) - 1 < 0 else b"+"
    return digits + b"e" + sign + b"%d" % magnitude


def _powers() -> list[tuple[int, int]]:
    """Every eighth power of ten, as 64 bits (the first one set) and an exponent of two."""
    table: list[tuple[int, int]] = []
    for power in range(FIRST_POWER, FIRST_POWER + POWERS * POWER_STEP, POWER_STEP):
        if power >= 0:
            numerator, denominator = 10**power, 1
        else:
            numerator, denominator = 1, 10**-power
        exponent = numerator.bit_length() - denominator.bit_length() - 64
        if exponent >= 0:
            denominator <<= exponent
        else:
            numerator <<= -exponent
        fraction, rest = divmod(numerator, denominator)
        if fraction >> 64:
            exponent += 1
            denominator *= 2
            fraction, rest = divmod(numerator, denominator)
        table.append((fraction + (1 if rest * 2 >= denominator else 0), exponent))
    return table


TEN_POWERS: Final = _powers()


def _power_for(exponent: int) -> int:
    """The index of the power that brings a 64-bit number times 2**exponent below 2**32."""
    index = (int(-((exponent + POWERS) * LOG10_OF_2)) - FIRST_POWER) // POWER_STEP
    while True:
        shifted = exponent + TEN_POWERS[index][1] + 64
        if shifted < -60:
            index += 1
        elif shifted > -32:
            index -= 1
        else:
            return index


def _grisu2(value: float) -> tuple[int, int]:
    """Digits, as one integer, and the power of ten they count. `value` is positive, finite."""
    mantissa, exponent = frexp(value)
    exponent -= 53
    fraction = int(mantissa * 9007199254740992.0)  # 2**53
    # Half the way to the neighbours. A subnormal's are further away than its 53 bits pretend, and a
    # power of two has its lower one at half the distance.
    unit = 1 << (10 + max(0, -1074 - exponent))
    below = unit // 2 if fraction == 1 << 52 and exponent >= -1074 else unit
    index = _power_for(exponent - 11)
    power, binary = TEN_POWERS[index]
    centre = _scaled(fraction << 11, power)
    # One is given away at both ends, so that the rounding of the products can't lead outside.
    upper = _scaled((fraction << 11) + unit, power) - 1
    lower = _scaled((fraction << 11) - below, power) + 1
    number, kappa = _digits(centre, upper, upper - lower, -(exponent - 11 + binary + 64))
    return number, kappa - (FIRST_POWER + index * POWER_STEP)


def _scaled(fraction: int, power: int) -> int:
    """The product of two 64-bit fractions, rounded to 64 bits."""
    return (fraction * power + (1 << 63)) >> 64


def _digits(centre: int, upper: int, delta: int, point: int) -> tuple[int, int]:
    """The fewest leading digits of `upper` that leave less than `delta`, drawn towards `centre`.

    All are fixed-point numbers with `point` bits after the point. Returns the digits as an integer,
    and the power of ten that they count.
    """
    wanted = upper - centre
    one = 1 << point
    rest = upper % one
    kappa = 0
    if rest <= delta:
        unit = one
        while upper % (unit * 10) <= delta:
            unit *= 10
            kappa += 1
        return _nearest(upper // unit, upper % unit, delta, unit, wanted), kappa
    number = upper // one
    while rest >= delta:
        rest *= 10
        delta *= 10
        wanted *= 10
        kappa -= 1
        number = number * 10 + rest // one
        rest %= one
    return _nearest(number, rest, delta, one, wanted), kappa


def _nearest(number: int, rest: int, delta: int, unit: int, wanted: int) -> int:
    """Count the last digit down while that comes nearer to the wanted distance from the top."""
    while rest < wanted and delta - rest >= unit and (rest + unit < wanted or wanted - rest > rest + unit - wanted):
        number -= 1
        rest += unit
    return number
