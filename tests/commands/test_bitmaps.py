"""The bitmap group."""

import random

import pytest

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis

BAD_OFFSET = Failure("ERR bit offset is not an integer or out of range")
SYNTAX = Failure("ERR syntax error")


# -- SETBIT, GETBIT -------------------------------------------------------------------------


def test_setbit_gives_the_old_bit_and_grows_the_string(redis: Redis) -> None:
    assert redis("SETBIT", "k", 9, 1) == 0
    assert redis("GET", "k") == b"\0\x40"
    assert redis("SETBIT", "k", 9, 0) == 1
    assert redis("GETBIT", "k", 9) == 0
    assert redis("GETBIT", "k", 1000) == 0
    assert redis("STRLEN", "k") == 2


def test_setbit_of_a_number_works_on_its_digits(redis: Redis) -> None:
    redis("SET", "k", "1")
    assert redis("SETBIT", "k", 6, 1) == 0
    assert redis("GET", "k") == b"3"


def test_a_bit_that_stays_as_it_is_announces_nothing(redis: Redis) -> None:
    listener = Listener(redis)
    redis("SETBIT", "k", 3, 0)
    redis("SETBIT", "k", 3, 0)
    redis("SETBIT", "k", 8, 0)
    redis("BITFIELD", "k", "SET", "u8", 0, 0, "GET", "u8", 0)
    redis("BITFIELD", "k", "SET", "u8", 0, 1, "INCRBY", "u8", 0, 1)
    assert listener.heard(3) == ["setbit k", "setbit k", "setbit k"]
    assert listener.silent()


@pytest.mark.parametrize("offset", ["-1", "4294967296", "abc", "1.5", "9223372036854775807"])
def test_offsets_end_with_the_longest_string(redis: Redis, offset: str) -> None:
    assert redis("SETBIT", "k", offset, 1) == BAD_OFFSET
    assert redis("GETBIT", "k", offset) == BAD_OFFSET


def test_bits_are_0_or_1(redis: Redis) -> None:
    assert redis("SETBIT", "k", 0, 2) == Failure("ERR bit is not an integer or out of range")
    assert redis("SETBIT", "k", 0, "x") == Failure("ERR bit is not an integer or out of range")


# -- BITCOUNT, BITPOS -----------------------------------------------------------------------


def test_bitcount_counts_bytes_or_bits(redis: Redis) -> None:
    redis("SET", "k", "foobar")
    assert redis("BITCOUNT", "k") == 26
    assert redis("BITCOUNT", "k", 0, 0) == 4
    assert redis("BITCOUNT", "k", 1, -2) == 18
    assert redis("BITCOUNT", "k", 5, 30, "BIT") == 17
    assert redis("BITCOUNT", "k", 1, 1, "byte") == 6
    assert redis("BITCOUNT", "k", -1, -5) == 0
    assert redis("BITCOUNT", "absent") == 0
    assert redis("BITCOUNT", "k", 0) == SYNTAX
    assert redis("BITCOUNT", "k", 0, 1, "FOO") == SYNTAX


def test_bitcount_and_bitpos_against_a_string_of_digits(redis: Redis) -> None:
    rng = random.Random(1)
    for _ in range(40):
        data = rng.randbytes(rng.randrange(1, 6)) if rng.random() < 0.7 else rng.choice([b"\0\0\0", b"\xff\xff"])
        redis("SET", "k", data)
        digits = "".join(f"{byte:08b}" for byte in data)
        start, end = sorted((rng.randrange(len(digits)), rng.randrange(len(digits))))
        assert redis("BITCOUNT", "k", start, end, "BIT") == digits[start : end + 1].count("1")
        for bit in "01":
            assert redis("BITPOS", "k", bit, start, end, "BIT") == digits.find(bit, start, end + 1)


def test_without_an_end_a_clear_bit_is_found_behind_the_string(redis: Redis) -> None:
    redis("SET", "k", b"\xff\xff")
    assert redis("BITPOS", "k", 0) == 16
    assert redis("BITPOS", "k", 0, 1) == 16
    assert redis("BITPOS", "k", 0, 0, -1) == -1
    assert redis("BITPOS", "k", 0, 5) == -1
    assert redis("BITPOS", "absent", 0) == 0
    assert redis("BITPOS", "absent", 1) == -1


def test_bitpos_looks_beyond_its_first_window(redis: Redis) -> None:
    redis("SETBIT", "k", 100_000, 1)
    assert redis("BITPOS", "k", 1) == 100_000
    assert redis("BITPOS", "k", 1, 100_000, -1, "BIT") == 100_000
    assert redis("BITPOS", "k", 1, 100_001, -1, "BIT") == -1


def test_bitpos_errors(redis: Redis) -> None:
    redis("SET", "k", "a")
    assert redis("BITPOS", "k", 2) == Failure("ERR The bit argument must be 1 or 0.")
    assert redis("BITPOS", "k", 1, 0, 1, "BITS") == SYNTAX


# -- BITOP ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "result"),
    [("AND", b"\x01\0\0"), ("OR", b"\x0f\xff\x03"), ("XOR", b"\x0e\xff\x03")],
)
def test_bitop_pads_shorter_strings_with_zeros(redis: Redis, operation: str, result: bytes) -> None:
    redis("MSET", "a", b"\x07\xff\x03", "b", b"\x09")
    assert redis("BITOP", operation, "to", "a", "b") == 3
    assert redis("GET", "to") == result
    assert redis("BITOP", operation, "to", "b", "a") == 3
    assert redis("GET", "to") == result


def test_bitop_not(redis: Redis) -> None:
    redis("SET", "a", b"\xaa\x00")
    assert redis("BITOP", "not", "a", "a") == 2
    assert redis("GET", "a") == b"\x55\xff"
    single = "ERR BITOP NOT must be called with a single source key."
    assert redis("BITOP", "NOT", "to", "a", "b") == Failure(single)


def test_bitop_of_nothing_deletes_the_destination(redis: Redis) -> None:
    listener = Listener(redis)
    redis("SET", "to", "x")
    assert redis("BITOP", "OR", "to", "none", "neither") == 0
    assert redis("EXISTS", "to") == 0
    assert listener.heard(2) == ["set to", "del to"]


# -- BITFIELD -------------------------------------------------------------------------------


def test_bitfield_set_gives_the_old_value_and_incrby_the_new(redis: Redis) -> None:
    assert redis("BITFIELD", "k", "SET", "u8", 0, 200, "INCRBY", "u8", 0, 50, "GET", "u8", 0) == [0, 250, 250]
    assert redis("BITFIELD", "k", "GET", "i8", 0, "GET", "u4", "#1", "GET", "u8", 100) == [-6, 10, 0]


@pytest.mark.parametrize(
    ("overflow", "width", "start", "change", "result"),
    [("WRAP", "u8", 250, 10, 4), ("SAT", "u8", 250, 10, 255), ("FAIL", "u8", 250, 10, None),
     ("WRAP", "i8", 120, 10, -126), ("SAT", "i8", -120, -10, -128), ("FAIL", "i8", -120, -10, None),
     ("SAT", "u8", 5, -10, 0), ("WRAP", "u8", 5, -10, 251), ("WRAP", "i64", 2**63 - 1, 1, -(2**63)),
     ("SAT", "u63", 2**63 - 1, 1, 2**63 - 1)],
)  # fmt: skip
def test_bitfield_overflow(
    redis: Redis, overflow: str, width: str, start: int, change: int, result: int | None
) -> None:
    redis("BITFIELD", "k", "SET", width, 5, start)
    assert redis("BITFIELD", "k", "OVERFLOW", overflow, "INCRBY", width, 5, change) == [result]
    assert redis("BITFIELD", "k", "GET", width, 5) == [start if result is None else result]


def test_a_negative_number_set_into_an_unsigned_field_saturates_at_the_top(redis: Redis) -> None:
    assert redis("BITFIELD", "k", "OVERFLOW", "SAT", "SET", "u4", 0, -1, "GET", "u4", 0) == [0, 15]
    assert redis("BITFIELD", "k", "SET", "u4", 0, -3, "GET", "u4", 0) == [15, 13]


@pytest.mark.parametrize("width", ["u64", "i65", "u0", "x8", "8", "u08", "u"])
def test_bitfield_types(redis: Redis, width: str) -> None:
    text = "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."
    assert redis("BITFIELD", "k", "GET", width, 0) == Failure(text)


def test_bitfield_errors_change_nothing(redis: Redis) -> None:
    assert redis("BITFIELD", "k", "SET", "u8", 0, 1, "GET", "u8") == SYNTAX
    assert redis("BITFIELD", "k", "SET", "u8", "-1", 1) == BAD_OFFSET
    assert redis("BITFIELD", "k", "OVERFLOW", "NO") == Failure("ERR Invalid OVERFLOW type specified")
    read_only = "ERR BITFIELD_RO only supports the GET subcommand"
    assert redis("BITFIELD_RO", "k", "SET", "u8", 0, 1) == Failure(read_only)
    assert redis("EXISTS", "k") == 0


def test_bitfield_without_operations(redis: Redis) -> None:
    assert redis("BITFIELD", "k") == []
    assert redis("BITFIELD_RO", "k") == []
    assert redis("EXISTS", "k") == 0
