"""Long doubles as INCRBYFLOAT computes with them. The expected texts are redis-server 7.0.15's."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redouble.protocol.longdouble import LongDouble, add_long_doubles, format_long_double, try_long_double


def add(first: bytes, second: bytes) -> bytes | None:
    a = try_long_double(first)
    b = try_long_double(second)
    assert a is not None
    assert b is not None
    total = add_long_doubles(a, b)
    return None if total is None else format_long_double(total)


@pytest.mark.parametrize(
    ("first", "second", "total"),
    [
        (b"0.1", b"0.2", b"0.3"),
        (b"10.5", b"0.1", b"10.6"),
        (b"5.0e3", b"200", b"5200"),
        (b"3", b"1.1", b"4.1"),
        (b"1", b"1e-17", b"1.00000000000000001"),
        (b"1", b"1e-18", b"1"),
        (b"-0", b"-0", b"0"),
        (b"1e-20", b"0", b"0"),
        (b"-1e-20", b"0", b"0"),
        (b"0x1.8p1", b".5", b"3.5"),
        (b"9007199254740993", b"0", b"9007199254740993"),
        (b"18446744073709551617", b"0", b"18446744073709551616"),
        (b"1e25", b"1", b"10000000000000000000000000"),
    ],
)
def test_sums_have_the_digits_of_an_extended_double(first: bytes, second: bytes, total: bytes) -> None:
    assert add(first, second) == total


@pytest.mark.parametrize(
    "text",
    [b"", b" 1", b"1 ", b"nan", b"1e", b"0x", b"1_0", b"--1", b"1.2.3", b"1\0", b"e5", b"1e5000", b"1e-5000",
     b"1" * 5120],
)  # fmt: skip
def test_what_is_no_number(text: bytes) -> None:
    assert try_long_double(text) is None


def test_infinities_are_numbers_but_sums_with_them_are_not() -> None:
    assert add(b"inf", b"1") is None
    assert add(b"-Infinity", b"inf") is None


def test_the_largest_number_cannot_be_doubled() -> None:
    largest = b"1.18973149535723176502e+4932"
    assert add(largest, b"0") is not None
    assert add(largest, largest) is None


def test_numbers_of_thousands_of_digits_survive() -> None:
    text = add(b"1e4900", b"0")
    assert text is not None
    assert len(text) == 4901
    number = try_long_double(text)
    again = try_long_double(b"1e4900")
    assert number is not None
    assert again is not None
    assert (number.mantissa, number.exponent) == (again.mantissa, again.exponent)


def _value(number: LongDouble) -> Fraction:
    return Fraction(number.mantissa) * Fraction(2) ** number.exponent


@given(st.integers(-(10**40), 10**40), st.integers(-60, 20))
def test_a_text_is_read_as_the_nearest_number(digits: int, power: int) -> None:
    number = try_long_double(b"%de%d" % (digits, power))
    assert number is not None
    exact = Fraction(digits) * Fraction(10) ** power
    assert abs(number.mantissa).bit_length() <= 64
    if exact:
        assert abs(_value(number) - exact) <= abs(exact) / 2**64


@given(st.integers(-(2**64), 2**64), st.integers(-80, 10))
def test_what_is_printed_is_within_half_of_the_last_decimal(mantissa: int, exponent: int) -> None:
    text = format_long_double(LongDouble(mantissa, exponent))
    assert abs(Fraction(text.decode()) - Fraction(mantissa) * Fraction(2) ** exponent) <= Fraction(1, 2 * 10**17)
