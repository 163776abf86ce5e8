"""The string group."""

import pytest

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis, Status

WRONGTYPE = Failure("WRONGTYPE Operation against a key holding the wrong kind of value")
NOT_AN_INTEGER = Failure("ERR value is not an integer or out of range")
SYNTAX = Failure("ERR syntax error")


# -- SET and its kin ------------------------------------------------------------------------


def test_set_replaces_any_type_and_its_deadline(redis: Redis) -> None:
    redis("LPUSH", "k", "a")
    redis("EXPIRE", "k", 100)
    assert redis("SET", "k", "v") == Status("OK")
    assert redis("GET", "k") == b"v"
    assert redis("TTL", "k") == -1


def test_set_with_nx_and_xx(redis: Redis) -> None:
    assert redis("SET", "k", "1", "XX") is None
    assert redis("SET", "k", "1", "nx") == Status("OK")
    assert redis("SET", "k", "2", "NX") is None
    assert redis("SET", "k", "3", "XX") == Status("OK")
    assert redis("GET", "k") == b"3"


def test_set_with_get_gives_the_old_value_whether_it_sets_or_not(redis: Redis) -> None:
    assert redis("SET", "k", "1", "GET") is None
    assert redis("SET", "k", "2", "GET") == b"1"
    assert redis("SET", "k", "3", "NX", "GET") == b"2"
    assert redis("SET", "absent", "3", "XX", "GET") is None
    assert redis("GET", "k") == b"2"


def test_set_with_get_of_another_type_changes_nothing(redis: Redis) -> None:
    redis("LPUSH", "k", "a")
    assert redis("SET", "k", "v", "GET") == WRONGTYPE
    assert redis("TYPE", "k") == Status("list")


def test_keepttl_keeps_the_deadline(redis: Redis) -> None:
    redis("SET", "k", "1", "EX", 100)
    redis("SET", "k", "2", "KEEPTTL")
    assert redis("TTL", "k") == 100
    assert redis("GET", "k") == b"2"


@pytest.mark.parametrize(
    "options",
    [("NX", "XX"), ("EX", "10", "PX", "10"), ("EX", "10", "KEEPTTL"), ("KEEPTTL", "EX", "10"), ("EX",), ("FOO",),
     ("PERSIST",), ("EXAT", "10", "EX", "10")],
)  # fmt: skip
def test_set_refuses_options_that_contradict_each_other(redis: Redis, options: tuple[str, ...]) -> None:
    assert redis("SET", "k", "v", *options) == SYNTAX
    assert redis("EXISTS", "k") == 0


@pytest.mark.parametrize(
    "options",
    [("EX", "0"), ("PX", "-1"), ("EX", "9223372036854775807"), ("PX", "9223372036854775807"),
     ("EXAT", "9223372036854776")],
)  # fmt: skip
def test_set_refuses_times_that_cannot_be(redis: Redis, options: tuple[str, str]) -> None:
    assert redis("SET", "k", "v", *options) == Failure("ERR invalid expire time in 'set' command")


def test_the_text_of_a_time_is_checked_before_its_value(redis: Redis) -> None:
    assert redis("SET", "k", "v", "EX", "1.5") == NOT_AN_INTEGER
    assert redis("SETEX", "k", "0", "v") == Failure("ERR invalid expire time in 'setex' command")
    assert redis("PSETEX", "k", "-5", "v") == Failure("ERR invalid expire time in 'psetex' command")


def test_a_time_may_be_given_twice_the_same_way(redis: Redis) -> None:
    assert redis("SET", "k", "v", "EX", "10", "EX", "20") == Status("OK")
    assert redis("TTL", "k") == 20


def test_a_time_in_the_past_is_taken_and_the_key_is_gone(redis: Redis) -> None:
    assert redis("SET", "k", "v", "PXAT", "1") == Status("OK")
    assert redis("GET", "k") is None


def test_set_announces_set_and_expire(redis: Redis) -> None:
    listener = Listener(redis)
    redis("SET", "k", "v", "EX", 100)
    redis("SETNX", "k", "w")
    redis("GETEX", "k", "PERSIST")
    redis("GETEX", "k", "PERSIST")
    redis("GETEX", "k", "PXAT", 1)
    redis("MSET", "k", "1", "k", "2")
    redis("GETDEL", "k")
    assert listener.heard(7) == ["set k", "expire k", "persist k", "del k", "set k", "set k", "del k"]


def test_setnx_and_getset(redis: Redis) -> None:
    assert redis("SETNX", "k", "1") == 1
    assert redis("SETNX", "k", "2") == 0
    assert redis("GETSET", "k", "3") == b"1"
    assert redis("GETSET", "new", "x") is None


def test_getex_changes_the_deadline_only(redis: Redis) -> None:
    redis("SET", "k", "v")
    assert redis("GETEX", "k", "EX", 100) == b"v"
    assert redis("TTL", "k") == 100
    assert redis("GETEX", "k") == b"v"
    assert redis("TTL", "k") == 100
    assert redis("GETEX", "k", "PERSIST") == b"v"
    assert redis("TTL", "k") == -1
    assert redis("GETEX", "k", "KEEPTTL") == SYNTAX
    assert redis("GETEX", "absent", "EX", "0") is None
    assert redis("GETEX", "k", "EX", "0") == Failure("ERR invalid expire time in 'getex' command")


def test_getdel(redis: Redis) -> None:
    redis("SET", "k", "v")
    assert redis("GETDEL", "k") == b"v"
    assert redis("GETDEL", "k") is None
    redis("LPUSH", "l", "a")
    assert redis("GETDEL", "l") == WRONGTYPE


def test_mget_gives_null_for_what_is_no_string(redis: Redis) -> None:
    redis("MSET", "a", "1", "b", "2")
    redis("LPUSH", "l", "x")
    assert redis("MGET", "a", "l", "none", "b") == [b"1", None, None, b"2"]


def test_mset_needs_pairs(redis: Redis) -> None:
    assert redis("MSET", "a", "1", "b") == Failure("ERR wrong number of arguments for 'mset' command")
    assert redis("MSETNX", "a", "1", "b") == Failure("ERR wrong number of arguments for 'msetnx' command")
    assert redis("EXISTS", "a") == 0


def test_msetnx_sets_all_or_nothing(redis: Redis) -> None:
    redis("SET", "b", "0")
    assert redis("MSETNX", "a", "1", "b", "2") == 0
    assert redis("EXISTS", "a") == 0
    assert redis("MSETNX", "c", "1", "c", "2") == 1
    assert redis("GET", "c") == b"2"


# -- counting -------------------------------------------------------------------------------


def test_incr_counts_from_zero_and_keeps_the_deadline(redis: Redis) -> None:
    assert redis("INCR", "n") == 1
    redis("EXPIRE", "n", 100)
    assert redis("INCRBY", "n", 41) == 42
    assert redis("DECR", "n") == 41
    assert redis("DECRBY", "n", -1) == 42
    assert redis("TTL", "n") == 100
    assert redis("GET", "n") == b"42"


@pytest.mark.parametrize("value", ["", " 1", "1 ", "01", "+1", "-0", "1.0", "abc", "9223372036854775808"])
def test_incr_refuses_what_is_no_canonical_integer(redis: Redis, value: str) -> None:
    redis("SET", "n", value)
    assert redis("INCR", "n") == NOT_AN_INTEGER


def test_counters_do_not_wrap(redis: Redis) -> None:
    overflow = Failure("ERR increment or decrement would overflow")
    redis("SET", "n", "9223372036854775807")
    assert redis("INCR", "n") == overflow
    redis("SET", "n", "-9223372036854775808")
    assert redis("DECR", "n") == overflow
    assert redis("DECRBY", "n", "-9223372036854775808") == Failure("ERR decrement would overflow")
    assert redis("INCRBY", "n", "9223372036854775807") == -1


def test_incr_of_another_type(redis: Redis) -> None:
    redis("LPUSH", "l", "a")
    assert redis("INCR", "l") == WRONGTYPE
    assert redis("INCRBYFLOAT", "l", 1) == WRONGTYPE


def test_incrbyfloat_shows_up_to_17_decimals(redis: Redis) -> None:
    assert redis("INCRBYFLOAT", "x", "0.1") == b"0.1"
    assert redis("INCRBYFLOAT", "x", "0.2") == b"0.3"
    assert redis("INCRBYFLOAT", "x", "1e3") == b"1000.29999999999999999"
    redis("SET", "x", "3.5")
    assert redis("INCRBYFLOAT", "x", "-5e-1") == b"3"
    assert redis("INCRBYFLOAT", "x", "1e-17") == b"3.00000000000000001"
    redis("SET", "y", "17179869184")
    assert redis("INCRBYFLOAT", "y", "1.5") == b"17179869185.5"


def test_incrbyfloat_errors(redis: Redis) -> None:
    not_a_float = Failure("ERR value is not a valid float")
    redis("SET", "x", " 1")
    assert redis("INCRBYFLOAT", "x", "1") == not_a_float
    assert redis("INCRBYFLOAT", "y", "nan") == not_a_float
    assert redis("INCRBYFLOAT", "y", "inf") == Failure("ERR increment would produce NaN or Infinity")
    assert redis("EXISTS", "y") == 0


# -- parts ----------------------------------------------------------------------------------


def test_append_creates_and_extends(redis: Redis) -> None:
    assert redis("APPEND", "k", "12") == 2
    assert redis("OBJECT", "ENCODING", "k") == b"int"
    assert redis("APPEND", "k", "34") == 4
    assert redis("OBJECT", "ENCODING", "k") == b"raw"
    assert redis("INCR", "k") == 1235
    assert redis("OBJECT", "ENCODING", "k") == b"int"


def test_a_value_that_was_read_does_not_change_with_the_key(redis: Redis) -> None:
    redis("APPEND", "k", "ab")
    redis("APPEND", "k", "cd")
    redis("MULTI")
    redis("GET", "k")
    redis("APPEND", "k", "ef")
    redis("GETRANGE", "k", 0, 1)
    redis("SETRANGE", "k", 0, "XY")
    redis("MGET", "k")
    assert redis("EXEC") == [b"abcd", 6, b"ab", 6, [b"XYcdef"]]


def test_setrange_fills_gaps_with_zeros(redis: Redis) -> None:
    assert redis("SETRANGE", "k", 3, "ab") == 5
    assert redis("GET", "k") == b"\0\0\0ab"
    assert redis("SETRANGE", "k", 0, "xy") == 5
    assert redis("GET", "k") == b"xy\0ab"


def test_setrange_of_nothing_does_nothing(redis: Redis) -> None:
    assert redis("SETRANGE", "k", 10, "") == 0
    assert redis("EXISTS", "k") == 0
    redis("SET", "k", "abc")
    assert redis("SETRANGE", "k", 10, "") == 3
    assert redis("OBJECT", "ENCODING", "k") == b"embstr"
    assert redis("SETRANGE", "k", -1, "") == Failure("ERR offset is out of range")


def test_strings_have_a_greatest_length(redis: Redis) -> None:
    too_long = Failure("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
    assert redis("SETRANGE", "k", 536870911, "ab") == too_long
    assert redis("SETRANGE", "k", "9223372036854775807", "ab") == too_long
    assert redis("EXISTS", "k") == 0


@pytest.mark.parametrize(
    ("start", "end", "part"),
    [(0, 4, b"Hello"), (0, -1, b"Hello World"), (-5, -1, b"World"), (-5, -7, b""), (20, 30, b""), (3, 1, b""),
     (-100, 2, b"Hel"), (0, -100, b"H"), (-100, -101, b""), (4, 4, b"o")],
)  # fmt: skip
def test_getrange(redis: Redis, start: int, end: int, part: bytes) -> None:
    redis("SET", "k", "Hello World")
    assert redis("GETRANGE", "k", start, end) == part
    assert redis("SUBSTR", "k", start, end) == part


def test_strlen_counts_bytes(redis: Redis) -> None:
    redis("SET", "k", "ä")
    assert redis("STRLEN", "k") == 2
    assert redis("STRLEN", "absent") == 0


# -- LCS ------------------------------------------------------------------------------------


def test_lcs_gives_the_subsequence_or_its_length(redis: Redis) -> None:
    redis("MSET", "a", "ohmytext", "b", "mynewtext")
    assert redis("LCS", "a", "b") == b"mytext"
    assert redis("LCS", "a", "b", "LEN") == 6
    assert redis("LCS", "a", "absent") == b""


def test_lcs_gives_the_ranges_from_the_end(redis: Redis) -> None:
    redis("MSET", "a", "ohmytext", "b", "mynewtext")
    assert redis("LCS", "a", "b", "IDX") == [b"matches", [[[4, 7], [5, 8]], [[2, 3], [0, 1]]], b"len", 6]
    assert redis("LCS", "a", "b", "IDX", "MINMATCHLEN", 4, "WITHMATCHLEN") == [
        b"matches", [[[4, 7], [5, 8], 4]], b"len", 6,
    ]  # fmt: skip


def test_lcs_errors(redis: Redis) -> None:
    redis("LPUSH", "l", "a")
    assert redis("LCS", "l", "b") == Failure("ERR The specified keys must contain string values")
    both = "ERR If you want both the length and indexes, please just use IDX."
    assert redis("LCS", "a", "b", "LEN", "IDX") == Failure(both)
    assert redis("LCS", "a", "b", "MINMATCHLEN") == SYNTAX
    assert redis("LCS", "a", "b", "MINMATCHLEN", "x") == NOT_AN_INTEGER
