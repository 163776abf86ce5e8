"""Ranges by rank, score and member; counting and removing them."""

import pytest

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis

NOT_A_FLOAT = Failure("ERR min or max is not a float")
NOT_LEX = Failure("ERR min or max not valid string range item")
SYNTAX = Failure("ERR syntax error")


@pytest.fixture(params=[128, 0], ids=["compact", "large"])
def filled(redis: Redis, request: pytest.FixtureRequest) -> Redis:
    """Two sets in one encoding or the other: `k` with scores 1 to 5, `lex` with equal ones."""
    redis.config("zset-max-listpack-entries", request.param)
    redis("ZADD", "k", 1, "a", 2, "b", 3, "c", 4, "d", 5, "e")
    redis("ZADD", "lex", *[item for member in "abcde" for item in (0, member)])
    return redis


def words(text: str) -> list[bytes]:
    return [letter.encode() for letter in text]


def test_ranks_count_from_either_end(filled: Redis) -> None:
    for start, stop, expected in ((0, -1, "abcde"), (1, 2, "bc"), (-2, -1, "de"), (-100, 0, "a"), (3, 100, "de"),
                                  (2, 1, ""), (5, 9, ""), (0, -6, "")):  # fmt: skip
        assert filled("ZRANGE", "k", start, stop) == words(expected)
        assert filled("ZREVRANGE", "k", start, stop) == filled("ZRANGE", "k", start, stop, "REV")
    assert filled("ZRANGE", "k", 0, 1, "REV") == words("ed")


def test_with_scores_is_flat_in_resp2_and_nested_in_resp3(filled: Redis) -> None:
    reply = b"*1\r\n*2\r\n$1\r\na\r\n,1\r\n" if filled.resp == 3 else b"*2\r\n$1\r\na\r\n$1\r\n1\r\n"
    assert filled.raw("ZRANGE", "k", 0, 0, "WITHSCORES") == reply
    assert filled.raw("ZRANGEBYSCORE", "k", "-inf", 1, "withscores") == reply
    assert filled.raw("ZRANGE", "missing", 0, 0, "WITHSCORES") == b"*0\r\n"


def test_score_bounds_may_be_open_or_infinite(filled: Redis) -> None:
    for least, greatest, expected in ((2, 4, "bcd"), ("(2", 4, "cd"), (2, "(4", "bc"), ("(2", "(2", ""),
                                      ("-inf", "+inf", "abcde"), ("(1", "inf", "bcde"), (4, 2, "")):  # fmt: skip
        assert filled("ZRANGEBYSCORE", "k", least, greatest) == words(expected)
        assert filled("ZREVRANGEBYSCORE", "k", greatest, least) == words(expected[::-1])
        assert filled("ZRANGE", "k", least, greatest, "BYSCORE") == words(expected)
        assert filled("ZRANGE", "k", greatest, least, "BYSCORE", "REV") == words(expected[::-1])
        assert filled("ZCOUNT", "k", least, greatest) == len(expected)


def test_lex_bounds_may_be_open_closed_or_absent(filled: Redis) -> None:
    for least, greatest, expected in (("-", "+", "abcde"), ("[b", "[d", "bcd"), ("(b", "(d", "c"), ("[bb", "+", "cde"),
                                      ("-", "[", ""), ("+", "-", ""), ("[d", "[b", "")):  # fmt: skip
        assert filled("ZRANGEBYLEX", "lex", least, greatest) == words(expected)
        assert filled("ZREVRANGEBYLEX", "lex", greatest, least) == words(expected[::-1])
        assert filled("ZRANGE", "lex", greatest, least, "BYLEX", "REV") == words(expected[::-1])
        assert filled("ZLEXCOUNT", "lex", least, greatest) == len(expected)


def test_limit_counts_from_where_the_reply_begins(filled: Redis) -> None:
    assert filled("ZRANGEBYSCORE", "k", 1, 5, "LIMIT", 1, 2) == words("bc")
    assert filled("ZREVRANGEBYSCORE", "k", 5, 1, "LIMIT", 1, 2) == words("dc")
    assert filled("ZRANGE", "k", 1, 5, "BYSCORE", "LIMIT", 3, -1) == words("de")
    assert filled("ZRANGE", "lex", "-", "+", "BYLEX", "LIMIT", 0, 0) == []
    assert filled("ZRANGE", "lex", "-", "+", "BYLEX", "LIMIT", 9, 1) == []


def test_options_that_do_not_go_together_are_refused(filled: Redis) -> None:
    assert filled("ZRANGE", "k", 0, 1, "LIMIT", 0, 1) == Failure(
        "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
    )
    assert filled("ZRANGE", "k", 0, 1, "LIMIT", 0, -1) == words("ab")
    assert filled("ZRANGE", "k", "-", "+", "BYLEX", "WITHSCORES") == Failure(
        "ERR syntax error, WITHSCORES not supported in combination with BYLEX"
    )
    assert filled("ZRANGE", "k", "-", "+", "BYLEX", "BYSCORE") == SYNTAX
    assert filled("ZRANGE", "k", 0, 1, "REV", "REV") == SYNTAX
    assert filled("ZREVRANGE", "k", 0, 1, "REV") == SYNTAX
    assert filled("ZRANGEBYSCORE", "k", 0, 1, "BYSCORE") == SYNTAX
    assert filled("ZRANGEBYSCORE", "k", 0, 1, "LIMIT", 1) == SYNTAX
    assert filled("ZRANGESTORE", "x", "k", 0, 1, "WITHSCORES") == SYNTAX


def test_options_are_read_before_bounds_and_bounds_before_the_key(redis: Redis) -> None:
    redis("SET", "s", "x")
    assert redis("ZRANGE", "s", "x", "y", "FOO") == SYNTAX
    assert redis("ZRANGE", "s", 0, "y") == Failure("ERR value is not an integer or out of range")
    assert redis("ZRANGE", "s", "x", 1, "BYSCORE") == NOT_A_FLOAT
    assert redis("ZCOUNT", "s", "nan", 1) == NOT_A_FLOAT
    assert redis("ZLEXCOUNT", "s", "a", "[b") == NOT_LEX
    assert redis("ZREMRANGEBYLEX", "s", "[a", "b") == NOT_LEX
    assert redis("ZREMRANGEBYSCORE", "s", "x", 1) == NOT_A_FLOAT
    assert redis("ZRANGE", "s", 0, 1) == Failure("WRONGTYPE Operation against a key holding the wrong kind of value")


def test_zrangestore_forgets_the_sign_of_zeros_that_come_before_the_set_is_large(redis: Redis) -> None:
    redis("ZADD", "k", 1, "l" * 65, "-0", "zero", 2, "x")
    redis("ZRANGESTORE", "x", "k", 0, -1)
    redis("ZRANGESTORE", "y", "k", "-inf", "+inf", "BYSCORE")
    redis("ZRANGESTORE", "z", "k", 0, -1, "REV")
    redis("ZUNIONSTORE", "u", 1, "k")
    assert [b"-0" in redis.raw("ZSCORE", key, "zero") for key in "kxyzu"] == [True, False, False, True, True]


def test_zrangestore_replaces_the_destination_with_its_deadline(filled: Redis) -> None:
    filled("SET", "x", "text", "EX", 100)
    assert filled("ZRANGESTORE", "x", "k", "(1", 4, "BYSCORE", "LIMIT", 1, 5) == 2
    assert filled.pairs("ZRANGE", "x", 0, -1, "WITHSCORES") == [(b"c", b"3"), (b"d", b"4")]
    assert filled("TTL", "x") == -1
    assert filled("ZRANGESTORE", "k", "k", 0, 0, "REV") == 1
    assert filled("ZRANGE", "k", 0, -1) == [b"e"]


def test_storing_nothing_removes_the_destination(filled: Redis) -> None:
    filled("SET", "x", "text")
    assert filled("ZRANGESTORE", "x", "k", 7, 9) == 0
    assert filled("EXISTS", "x") == 0
    filled("SET", "x", "text")
    assert filled("ZRANGESTORE", "x", "missing", 0, -1) == 0
    assert filled("EXISTS", "x") == 0


def test_ranges_can_be_removed(filled: Redis) -> None:
    assert filled("ZREMRANGEBYRANK", "k", -2, -1) == 2
    assert filled("ZREMRANGEBYSCORE", "k", "(1", 2) == 1
    assert filled("ZRANGE", "k", 0, -1) == words("ac")
    assert filled("ZREMRANGEBYLEX", "lex", "(a", "[c") == 2
    assert filled("ZRANGE", "lex", 0, -1) == words("ade")
    assert filled("ZREMRANGEBYLEX", "lex", "-", "+") == 3
    assert filled("EXISTS", "lex") == 0
    assert filled("ZREMRANGEBYRANK", "missing", 0, -1) == 0


def test_stored_and_removed_ranges_are_announced(filled: Redis) -> None:
    listener = Listener(filled)
    filled("ZRANGESTORE", "x", "k", 0, 1)
    filled("ZRANGESTORE", "x", "missing", 0, 1)
    filled("ZRANGESTORE", "x", "missing", 0, 1)
    filled("ZREMRANGEBYRANK", "k", 7, 9)
    filled("ZREMRANGEBYRANK", "k", 0, 0)
    filled("ZREMRANGEBYSCORE", "k", "-inf", "inf")
    assert listener.heard(5) == ["zrangestore x", "del x", "zremrangebyrank k", "zremrangebyscore k", "del k"]
    assert listener.silent()
