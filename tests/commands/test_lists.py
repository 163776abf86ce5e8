"""LPUSH, RPOP, LRANGE and what else works on lists without waiting."""

import pytest

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis, Status

WRONGTYPE = Failure("WRONGTYPE Operation against a key holding the wrong kind of value")
SYNTAX = Failure("ERR syntax error")
NOT_AN_INTEGER = Failure("ERR value is not an integer or out of range")
NOT_POSITIVE = Failure("ERR value is out of range, must be positive")


def test_lpush_counts_from_the_left(redis: Redis) -> None:
    assert redis("LPUSH", "k", "a", "b") == 2
    assert redis("RPUSH", "k", "c", "d") == 4
    assert redis("LRANGE", "k", 0, -1) == [b"b", b"a", b"c", b"d"]


def test_the_pushes_with_x_create_nothing(redis: Redis) -> None:
    assert redis("LPUSHX", "k", "a") == 0
    assert redis("RPUSHX", "k", "a") == 0
    assert redis("EXISTS", "k") == 0
    redis("LPUSH", "k", "a")
    assert redis("LPUSHX", "k", "b", "c") == 3
    assert redis("RPUSHX", "k", "d") == 4


def test_a_pop_without_count_answers_null_and_with_count_a_null_array(redis: Redis) -> None:
    null = b"_\r\n" if redis.resp == 3 else b"$-1\r\n"
    null_array = b"_\r\n" if redis.resp == 3 else b"*-1\r\n"
    assert redis.raw("LPOP", "none") == null
    assert redis.raw("RPOP", "none", 2) == null_array
    assert redis.raw("LPOP", "none", 0) == null_array
    redis("RPUSH", "k", "a")
    assert redis.raw("LPOP", "k", 0) == b"*0\r\n"


def test_a_pop_with_count_takes_from_its_end_inwards(redis: Redis) -> None:
    redis("RPUSH", "k", *"abcdef")
    assert redis("LPOP", "k", 2) == [b"a", b"b"]
    assert redis("RPOP", "k", 3) == [b"f", b"e", b"d"]
    assert redis("RPOP", "k", 3) == [b"c"]
    assert redis("EXISTS", "k") == 0


def test_a_pop_checks_its_count_before_the_key(redis: Redis) -> None:
    redis("SET", "s", "x")
    assert redis("LPOP", "s", -1) == NOT_POSITIVE
    assert redis("LPOP", "s", "x") == NOT_POSITIVE
    assert redis("LPOP", "s", 1) == WRONGTYPE
    assert redis("RPOP", "s", 1, 1) == Failure("ERR wrong number of arguments for 'rpop' command")


def test_ranges_are_cut_to_the_list(redis: Redis) -> None:
    redis("RPUSH", "k", *"abcde")
    assert redis("LRANGE", "k", -3, 100) == [b"c", b"d", b"e"]
    assert redis("LRANGE", "k", -100, 1) == [b"a", b"b"]
    assert redis("LRANGE", "k", 3, 2) == []
    assert redis("LRANGE", "k", 5, 9) == []
    assert redis("LRANGE", "k", 0, -9) == []
    assert redis("LRANGE", "none", "x", 1) == NOT_AN_INTEGER


def test_lindex_looks_the_key_up_before_it_reads_the_index(redis: Redis) -> None:
    assert redis("LINDEX", "none", "x") is None
    redis("RPUSH", "k", "a", "b")
    assert redis("LINDEX", "k", "x") == NOT_AN_INTEGER
    assert redis("LINDEX", "k", -1) == b"b"
    assert redis("LINDEX", "k", 2) is None


def test_lset_replaces_or_complains(redis: Redis) -> None:
    assert redis("LSET", "none", "x", "v") == Failure("ERR no such key")
    redis("RPUSH", "k", "a", "b")
    assert redis("LSET", "k", -2, "c") == Status("OK")
    assert redis("LSET", "k", 2, "c") == Failure("ERR index out of range")
    assert redis("LSET", "k", "x", "c") == NOT_AN_INTEGER
    assert redis("LRANGE", "k", 0, -1) == [b"c", b"b"]


def test_linsert_finds_the_first_pivot(redis: Redis) -> None:
    redis("RPUSH", "k", "a", "b", "a")
    assert redis("LINSERT", "k", "before", "a", "x") == 4
    assert redis("LINSERT", "k", "AFTER", "b", "y") == 5
    assert redis("LRANGE", "k", 0, -1) == [b"x", b"a", b"b", b"y", b"a"]
    assert redis("LINSERT", "k", "AFTER", "none", "y") == -1
    assert redis("LINSERT", "none", "AFTER", "a", "y") == 0
    assert redis("LINSERT", "none", "at", "a", "y") == SYNTAX


def test_lrem_goes_from_the_side_that_the_sign_says(redis: Redis) -> None:
    redis("RPUSH", "k", *"abacada")
    assert redis("LREM", "k", 1, "a") == 1
    assert redis("LREM", "k", -2, "a") == 2
    assert redis("LRANGE", "k", 0, -1) == [b"b", b"a", b"c", b"d"]
    assert redis("LREM", "k", 0, "x") == 0
    assert redis("LREM", "none", 0, "x") == 0


@pytest.mark.since("7.4.0")
def test_the_smallest_integer_has_no_counterpart(redis: Redis) -> None:
    error = Failure("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807")
    assert redis("LREM", "k", -(2**63), "a") == error
    assert redis("LPOS", "k", "a", "RANK", -(2**63)) == error


def test_ltrim_removes_the_key_with_the_last_element(redis: Redis) -> None:
    redis("RPUSH", "k", *"abcde")
    assert redis("LTRIM", "k", 1, -2) == Status("OK")
    assert redis("LRANGE", "k", 0, -1) == [b"b", b"c", b"d"]
    assert redis("LTRIM", "k", 5, 9) == Status("OK")
    assert redis("EXISTS", "k") == 0
    assert redis("LTRIM", "k", 0, 1) == Status("OK")


def test_lpos_counts_ranks_from_either_end(redis: Redis) -> None:
    redis("RPUSH", "k", *"abc123ccd")
    assert redis("LPOS", "k", "c") == 2
    assert redis("LPOS", "k", "c", "RANK", 2) == 6
    assert redis("LPOS", "k", "c", "RANK", -1) == 7
    assert redis("LPOS", "k", "c", "RANK", 4) is None
    assert redis("LPOS", "k", "c", "COUNT", 0) == [2, 6, 7]
    assert redis("LPOS", "k", "c", "COUNT", 2, "RANK", -2) == [6, 2]
    assert redis("LPOS", "k", "c", "COUNT", 0, "MAXLEN", 7) == [2, 6]
    assert redis("LPOS", "k", "c", "COUNT", 0, "MAXLEN", 2, "RANK", -1) == [7]


def test_lpos_finds_nothing_as_null_or_as_an_empty_list(redis: Redis) -> None:
    assert redis("LPOS", "none", "a") is None
    assert redis("LPOS", "none", "a", "COUNT", 2) == []
    redis("RPUSH", "k", "b")
    assert redis("LPOS", "k", "a", "COUNT", 2) == []


def test_lpos_checks_its_options_in_order(redis: Redis) -> None:
    assert redis("LPOS", "k", "a", "RANK", 0) == Failure(
        "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start "
        "from the end of the list"
    )
    assert redis("LPOS", "k", "a", "COUNT", -1) == Failure("ERR COUNT can't be negative")
    assert redis("LPOS", "k", "a", "MAXLEN", "x") == Failure("ERR MAXLEN can't be negative")
    assert redis("LPOS", "k", "a", "COUNT") == SYNTAX


def test_lmove_within_one_list_turns_it(redis: Redis) -> None:
    redis("RPUSH", "k", "a", "b", "c")
    assert redis("LMOVE", "k", "k", "left", "RIGHT") == b"a"
    assert redis("RPOPLPUSH", "k", "k") == b"a"
    assert redis("LRANGE", "k", 0, -1) == [b"a", b"b", b"c"]
    redis("RPUSH", "one", "x")
    assert redis("LMOVE", "one", "one", "LEFT", "LEFT") == b"x"
    assert redis("LLEN", "one") == 1


def test_to_turn_a_list_does_not_change_its_encoding(redis: Redis) -> None:
    redis("CONFIG", "SET", "list-max-listpack-size", 3)
    redis("RPUSH", "k", "a", "b", "c", "d")
    redis("LPOP", "k", 2)
    encoding = redis("OBJECT", "ENCODING", "k")
    for _ in range(3):
        redis("RPOPLPUSH", "k", "k")
        assert redis("OBJECT", "ENCODING", "k") == encoding == b"quicklist"
    redis("CONFIG", "SET", "list-max-listpack-size", -2)


def test_lmove_to_a_wrong_type_moves_nothing(redis: Redis) -> None:
    redis("RPUSH", "k", "a")
    redis("SET", "s", "x")
    assert redis("LMOVE", "k", "s", "LEFT", "LEFT") == WRONGTYPE
    assert redis("RPOPLPUSH", "none", "s") is None
    assert redis("RPOPLPUSH", "s", "k") == WRONGTYPE
    assert redis("LMOVE", "k", "k", "LEFT", "up") == SYNTAX
    assert redis("LRANGE", "k", 0, -1) == [b"a"]


@pytest.mark.since("7.0.0")
def test_lmpop_takes_from_the_first_list_that_has_any(redis: Redis) -> None:
    redis("RPUSH", "b", "1", "2", "3")
    assert redis("LMPOP", 2, "a", "b", "RIGHT", "COUNT", 2) == [b"b", [b"3", b"2"]]
    assert redis("LMPOP", 2, "a", "b", "left") == [b"b", [b"1"]]
    null_array = b"_\r\n" if redis.resp == 3 else b"*-1\r\n"
    assert redis.raw("LMPOP", 2, "a", "b", "LEFT") == null_array


def test_lmpop_checks_its_arguments_in_order(redis: Redis) -> None:
    assert redis("LMPOP", 0, "a", "x") == Failure("ERR numkeys should be greater than 0")
    assert redis("LMPOP", "x", "a", "LEFT") == Failure("ERR numkeys should be greater than 0")
    assert redis("LMPOP", 2, "a", "LEFT") == SYNTAX
    assert redis("LMPOP", 1, "a", "up") == SYNTAX
    assert redis("LMPOP", 1, "a", "LEFT", "COUNT", 0) == Failure("ERR count should be greater than 0")
    assert redis("LMPOP", 1, "a", "LEFT", "COUNT", 1, "COUNT", 1) == SYNTAX
    assert redis("LMPOP", 1, "a", "LEFT", "COUNT") == SYNTAX


def test_events_name_what_was_done_to_which_key(redis: Redis) -> None:
    listener = Listener(redis)
    redis("RPUSH", "k", "a", "b")
    redis("LMOVE", "k", "j", "LEFT", "RIGHT")
    redis("RPOPLPUSH", "k", "j")
    assert listener.heard(6) == ["rpush k", "rpush j", "lpop k", "lpush j", "rpop k", "del k"]
    redis("LINSERT", "j", "BEFORE", "b", "x")
    redis("LSET", "j", 0, "y")
    redis("LTRIM", "j", 0, -1)
    redis("LREM", "j", 0, "none")
    redis("LREM", "j", 0, "y")
    redis("LTRIM", "j", 9, 9)
    assert listener.heard(6) == ["linsert j", "lset j", "ltrim j", "lrem j", "ltrim j", "del j"]


@pytest.mark.since("7.2.0")
def test_a_short_list_is_a_listpack(redis: Redis) -> None:
    redis("RPUSH", "k", "a")
    assert redis("OBJECT", "ENCODING", "k") == b"listpack"
    redis("RPUSH", "k", "x" * 9000)
    assert redis("OBJECT", "ENCODING", "k") == b"quicklist"
    redis("RPOP", "k")
    assert redis("OBJECT", "ENCODING", "k") == b"listpack"
