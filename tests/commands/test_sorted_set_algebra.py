"""ZUNION, ZINTER, ZDIFF and those that store or count."""

import pytest

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis

SYNTAX = Failure("ERR syntax error")


@pytest.fixture
def filled(redis: Redis) -> Redis:
    redis("ZADD", "a", 1, "x", 2, "y", 3, "z")
    redis("ZADD", "b", 10, "y", 20, "z", 30, "w")
    redis("SADD", "plain", "z", "v")
    return redis


def test_a_union_adds_scores_and_sorts_by_the_sums(filled: Redis) -> None:
    assert filled("ZUNION", 2, "a", "b") == [b"x", b"y", b"z", b"w"]
    assert filled.pairs("ZUNION", 2, "b", "a", "WITHSCORES") == [
        (b"x", b"1"), (b"y", b"12"), (b"z", b"23"), (b"w", b"30")
    ]  # fmt: skip


def test_members_of_plain_sets_count_as_one(filled: Redis) -> None:
    assert filled.pairs("ZUNION", 2, "a", "plain", "withscores") == [
        (b"v", b"1"), (b"x", b"1"), (b"y", b"2"), (b"z", b"4")
    ]  # fmt: skip
    assert filled.pairs("ZINTER", 2, "plain", "a", "WEIGHTS", 5, 1, "WITHSCORES") == [(b"z", b"8")]
    assert filled("ZDIFF", 2, "plain", "a") == [b"v"]


def test_weights_and_aggregates(filled: Redis) -> None:
    assert filled.pairs("ZINTER", 2, "a", "b", "WEIGHTS", 10, -1, "AGGREGATE", "min", "WITHSCORES") == [
        (b"z", b"-20"), (b"y", b"-10")
    ]  # fmt: skip
    assert filled.pairs("ZINTER", 2, "a", "b", "AGGREGATE", "MAX", "WEIGHTS", 10, 1, "WITHSCORES") == [
        (b"y", b"20"), (b"z", b"30")
    ]  # fmt: skip


def test_the_same_input_may_come_twice(filled: Redis) -> None:
    assert filled.pairs("ZUNION", 2, "a", "a", "WITHSCORES")[0] == (b"x", b"2")
    assert filled.pairs("ZINTER", 2, "a", "a", "WEIGHTS", 1, 5, "WITHSCORES")[0] == (b"x", b"6")
    assert filled("ZDIFF", 2, "a", "a") == []


def test_a_sum_that_would_be_nan_is_zero(redis: Redis) -> None:
    redis("ZADD", "a", "inf", "m", 1, "n")
    redis("ZADD", "b", "-inf", "m", 5, "n")
    assert redis.pairs("ZUNION", 2, "a", "b", "WITHSCORES") == [(b"m", b"0"), (b"n", b"6")]
    assert redis.pairs("ZUNION", 2, "a", "b", "WEIGHTS", 0, 0, "WITHSCORES") == [(b"m", b"0"), (b"n", b"0")]
    assert redis.pairs("ZINTER", 2, "a", "b", "WEIGHTS", 1, 0, "WITHSCORES") == [(b"m", b"0"), (b"n", b"1")]
    redis("ZADD", "c", 7, "m")
    assert redis.pairs("ZUNION", 2, "c", "a", "WEIGHTS", 1, 0, "WITHSCORES") == [(b"n", b"0"), (b"m", b"7")]
    assert redis.pairs("ZINTER", 2, "c", "a", "WEIGHTS", 1, 0, "WITHSCORES") == [(b"m", b"0")]


def test_a_missing_key_is_an_empty_set(filled: Redis) -> None:
    assert filled("ZUNION", 2, "missing", "plain") == [b"v", b"z"]
    assert filled("ZINTER", 2, "missing", "a") == []
    assert filled("ZDIFF", 2, "a", "missing") == [b"x", b"y", b"z"]
    assert filled("ZINTERCARD", 2, "a", "missing") == 0


def test_zintercard_stops_at_its_limit(filled: Redis) -> None:
    assert filled("ZINTERCARD", 2, "a", "b") == 2
    assert filled("ZINTERCARD", 2, "a", "b", "LIMIT", 1) == 1
    assert filled("ZINTERCARD", 2, "a", "b", "LIMIT", 0) == 2
    assert filled("ZINTERCARD", 2, "a", "b", "LIMIT", -1) == Failure("ERR LIMIT can't be negative")
    assert filled("ZINTERCARD", 2, "a", "b", "LIMIT", "x") == Failure("ERR LIMIT can't be negative")


def test_results_can_be_stored_over_anything(filled: Redis) -> None:
    filled("SET", "dst", "text", "EX", 100)
    assert filled("ZUNIONSTORE", "dst", 2, "a", "b", "AGGREGATE", "MAX") == 4
    assert filled("TTL", "dst") == -1
    assert filled("ZINTERSTORE", "a", 2, "a", "b") == 2
    assert filled.pairs("ZRANGE", "a", 0, -1, "WITHSCORES") == [(b"y", b"12"), (b"z", b"23")]
    assert filled("ZDIFFSTORE", "dst", 2, "b", "a") == 1
    assert filled("ZRANGE", "dst", 0, -1) == [b"w"]
    assert filled("ZDIFFSTORE", "dst", 2, "a", "b") == 0
    assert filled("EXISTS", "dst") == 0


def test_stored_results_are_announced(filled: Redis) -> None:
    listener = Listener(filled)
    filled("ZUNIONSTORE", "dst", 1, "a")
    filled("ZINTERSTORE", "dst", 2, "a", "b")
    filled("ZDIFFSTORE", "dst", 1, "a")
    filled("ZDIFFSTORE", "dst", 1, "missing")
    filled("ZDIFFSTORE", "dst", 1, "missing")
    assert listener.heard(4) == ["zunionstore dst", "zinterstore dst", "zdiffstore dst", "del dst"]
    assert listener.silent()


def test_bad_arguments_come_in_the_order_of_the_checks(filled: Redis) -> None:
    filled("SET", "text", "x")
    wrongtype = Failure("WRONGTYPE Operation against a key holding the wrong kind of value")
    assert filled("ZUNION", "x", "a") == Failure("ERR value is not an integer or out of range")
    assert filled("ZUNION", 0, "a") == Failure("ERR at least 1 input key is needed for 'zunion' command")
    assert filled("ZINTERSTORE", "d", -1, "a") == Failure(
        "ERR at least 1 input key is needed for 'zinterstore' command"
    )
    assert filled("ZUNION", 3, "a", "b") == SYNTAX
    assert filled("ZUNION", 1, "text", "FOO") == wrongtype
    assert filled("ZUNION", 2, "a", "b", "WEIGHTS", 1) == SYNTAX
    assert filled("ZUNION", 2, "a", "b", "WEIGHTS", 1, "x") == Failure("ERR weight value is not a float")
    assert filled("ZUNION", 2, "a", "b", "AGGREGATE", "AVG") == SYNTAX
    assert filled("ZDIFF", 2, "a", "b", "WEIGHTS", 1, 1) == SYNTAX
    assert filled("ZUNIONSTORE", "d", 1, "a", "WITHSCORES") == SYNTAX
    assert filled("ZINTERCARD", 1, "a", "WITHSCORES") == SYNTAX
