"""SADD, SPOP, SINTER and what else works on sets."""

import pytest

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis

WRONGTYPE = Failure("WRONGTYPE Operation against a key holding the wrong kind of value")
SYNTAX = Failure("ERR syntax error")
NOT_AN_INTEGER = Failure("ERR value is not an integer or out of range")


def test_sadd_and_srem_count_what_changed(redis: Redis) -> None:
    assert redis("SADD", "s", "a", "b", "a") == 2
    assert redis("SADD", "s", "b", "c") == 1
    assert redis("SREM", "s", "a", "none", "a") == 1
    assert redis("SCARD", "s") == 2
    assert redis("SREM", "s", "b", "c", "c") == 2
    assert redis("EXISTS", "s") == 0


def test_a_missing_set_is_empty(redis: Redis) -> None:
    assert redis("SCARD", "s") == 0
    assert redis("SISMEMBER", "s", "a") == 0
    assert redis("SMISMEMBER", "s", "a", "b") == [0, 0]
    assert redis("SMEMBERS", "s") == []
    assert redis("SPOP", "s") is None
    assert redis("SRANDMEMBER", "s") is None
    assert redis("SRANDMEMBER", "s", 2) == []
    assert redis("SREM", "s", "a") == 0
    assert redis("SSCAN", "s", 0) == [b"0", []]


def test_integers_come_in_order_of_number(redis: Redis) -> None:
    redis("SADD", "s", "30", "-5", "4", "100", "9")
    assert redis("SMEMBERS", "s") == [b"-5", b"4", b"9", b"30", b"100"]
    assert redis("OBJECT", "ENCODING", "s") == b"intset"


def test_replies_are_sets_but_for_random_members(redis: Redis) -> None:
    redis("SADD", "s", "1")
    one = b"1\r\n$1\r\n1\r\n"
    mark = b"~" if redis.resp == 3 else b"*"
    assert redis.raw("SMEMBERS", "s") == mark + one
    assert redis.raw("SINTER", "s", "s") == mark + one
    assert redis.raw("SUNION", "s", "none") == mark + one
    assert redis.raw("SDIFF", "s", "none") == mark + one
    assert redis.raw("SRANDMEMBER", "s", 1) == b"*" + one
    assert redis.raw("SPOP", "s", 0) == mark + b"0\r\n"
    assert redis.raw("SPOP", "s", 1) == mark + one
    assert redis.raw("SPOP", "s", 1) == mark + b"0\r\n"
    assert redis.raw("SMEMBERS", "s") == mark + b"0\r\n"
    assert redis.raw("SRANDMEMBER", "s", 1) == b"*0\r\n"


def test_smove_moves_or_does_nothing(redis: Redis) -> None:
    redis("SADD", "a", "1", "x")
    redis("SADD", "b", "2")
    redis("SET", "text", "x")
    assert redis("SMOVE", "a", "b", "x") == 1
    assert redis("SMOVE", "a", "b", "x") == 0
    assert redis("SMOVE", "a", "a", "1") == 1
    assert redis("SMOVE", "a", "a", "none") == 0
    assert redis("SMOVE", "none", "text", "1") == 0
    assert redis("SMOVE", "a", "text", "none") == WRONGTYPE
    assert redis("SMOVE", "a", "b", "1") == 1
    assert redis("EXISTS", "a") == 0
    assert sorted(redis("SMEMBERS", "b")) == [b"1", b"2", b"x"]


def test_spop_takes_and_srandmember_does_not(redis: Redis) -> None:
    members = [b"m%d" % number for number in range(100)]
    redis("SADD", "s", *members)
    shown = redis("SRANDMEMBER", "s", 30)
    assert len(set(shown)) == 30
    assert len(redis("SRANDMEMBER", "s", -300)) == 300
    assert redis("SCARD", "s") == 100
    taken = [redis("SPOP", "s"), *redis("SPOP", "s", 40)]
    assert len(set(taken)) == 41
    assert sorted(taken + redis("SMEMBERS", "s")) == sorted(members)
    assert len(redis("SPOP", "s", 1000)) == 59
    assert redis("EXISTS", "s") == 0


def test_counts_are_checked_before_the_key(redis: Redis) -> None:
    redis("SET", "text", "x")
    assert redis("SPOP", "text", -1) == Failure("ERR value is out of range, must be positive")
    assert redis("SPOP", "text", 1, 1) == SYNTAX
    assert redis("SPOP", "text", 0) == WRONGTYPE
    assert redis("SRANDMEMBER", "text", "x") == NOT_AN_INTEGER
    assert redis("SRANDMEMBER", "text", 0) == WRONGTYPE


def test_an_intersection_with_nothing_is_empty_but_types_are_checked(redis: Redis) -> None:
    redis("SADD", "a", "1", "2", "3")
    redis("SADD", "b", "3", "2", "x")
    redis("SET", "text", "x")
    assert sorted(redis("SINTER", "a", "b")) == [b"2", b"3"]
    assert redis("SINTER", "a", "none", "b") == []
    assert redis("SINTER", "none", "text") == WRONGTYPE
    assert redis("SUNION", "none", "text") == WRONGTYPE
    assert redis("SDIFF", "none", "text") == WRONGTYPE


def test_difference_and_union(redis: Redis) -> None:
    redis("SADD", "a", "a", "b", "c", "d")
    redis("SADD", "b", "c")
    redis("SADD", "c", "a", "e")
    assert sorted(redis("SDIFF", "a", "b", "none", "c")) == [b"b", b"d"]
    assert redis("SDIFF", "none", "a") == []
    assert redis("SDIFF", "a", "b", "a") == []
    assert sorted(redis("SUNION", "b", "none", "c")) == [b"a", b"c", b"e"]


def test_a_stored_result_replaces_whatever_was_there(redis: Redis) -> None:
    redis("SADD", "a", "1", "2")
    redis("SADD", "b", "2", "3")
    redis("SET", "to", "text", "EX", 100)
    assert redis("SUNIONSTORE", "to", "a", "b") == 3
    assert redis("TTL", "to") == -1
    assert redis("SINTERSTORE", "to", "a", "b") == 1
    assert redis("SMEMBERS", "to") == [b"2"]
    assert redis("SDIFFSTORE", "a", "a", "b") == 1
    assert redis("SMEMBERS", "a") == [b"1"]


def test_an_empty_result_removes_the_destination(redis: Redis) -> None:
    redis("SADD", "a", "1")
    redis("SET", "to", "text")
    listener = Listener(redis)
    assert redis("SINTERSTORE", "to", "a", "none") == 0
    assert redis("EXISTS", "to") == 0
    assert redis("SDIFFSTORE", "to", "a", "a") == 0
    assert listener.heard(1) == ["del to"]
    assert listener.silent()


def test_an_intersection_of_integers_is_stored_as_integers(redis: Redis) -> None:
    redis("SADD", "a", "x", "1", "2")
    redis("SADD", "b", "y", "2", "1")
    redis("SINTERSTORE", "to", "a", "b")
    assert redis("OBJECT", "ENCODING", "to") == b"intset"


def test_a_difference_from_many_sets_keeps_the_encoding_of_what_was_taken_out(redis: Redis) -> None:
    redis("SADD", "a", "1", "2", "3", "word")
    redis("SADD", "b", "word")
    redis("SDIFFSTORE", "few", "a", "b")
    redis("SDIFFSTORE", "many", "a", "b", "b", "b")
    assert redis("SORT", "many") == redis("SORT", "few") == [b"1", b"2", b"3"]
    assert redis("OBJECT", "ENCODING", "few") == b"intset"
    assert redis("OBJECT", "ENCODING", "many") in (b"listpack", b"hashtable")


@pytest.mark.since("7.0.0")
def test_sintercard_counts_up_to_a_limit(redis: Redis) -> None:
    redis("SADD", "a", "1", "2", "3", "4")
    redis("SADD", "b", "2", "3", "4", "5")
    assert redis("SINTERCARD", 2, "a", "b") == 3
    assert redis("SINTERCARD", 2, "a", "b", "LIMIT", 2) == 2
    assert redis("SINTERCARD", 2, "a", "b", "LIMIT", 0) == 3
    assert redis("SINTERCARD", 1, "none") == 0


@pytest.mark.since("7.0.0")
def test_sintercard_checks_its_arguments_in_order(redis: Redis) -> None:
    assert redis("SINTERCARD", 0, "a") == Failure("ERR numkeys should be greater than 0")
    assert redis("SINTERCARD", 2, "a") == Failure("ERR Number of keys can't be greater than number of args")
    assert redis("SINTERCARD", 1, "a", "LIMIT", -1) == Failure("ERR LIMIT can't be negative")
    assert redis("SINTERCARD", 1, "a", "LIMIT") == SYNTAX
    assert redis("SINTERCARD", 1, "a", "x", 1) == SYNTAX


@pytest.mark.parametrize("size", [20, 700])
def test_sscan_walks_over_every_member(redis: Redis, size: int) -> None:
    members = [b"m%d" % number for number in range(size)]
    redis("SADD", "s", *members)
    cursor, found = b"0", []
    while True:
        cursor, part = redis("SSCAN", "s", cursor, "COUNT", 50)
        found += part
        if cursor == b"0":
            break
    assert set(found) == set(members)
    assert redis("SSCAN", "s", 0, "MATCH", "m1", "COUNT", size * 2) == [b"0", [b"m1"]]


def test_a_scan_keeps_its_promise_while_members_come_and_go(redis: Redis) -> None:
    stay = [b"s%d" % number for number in range(500)]
    redis("SADD", "s", *stay)
    cursor, found, rounds = b"0", [], 0
    while True:
        redis("SADD", "s", *[f"new{rounds}-{number}" for number in range(60)])
        redis("SREM", "s", *[f"new{rounds - 1}-{number}" for number in range(60)])
        cursor, part = redis("SSCAN", "s", cursor, "COUNT", 40)
        found += part
        rounds += 1
        if cursor == b"0":
            break
    assert set(stay) <= set(found)


def test_events_name_what_was_done_to_which_key(redis: Redis) -> None:
    listener = Listener(redis)
    redis("SADD", "a", "1", "2")
    redis("SADD", "a", "1")
    redis("SMOVE", "a", "b", "1")
    redis("SMOVE", "a", "b", "2")
    assert listener.heard(6) == ["sadd a", "srem a", "sadd b", "srem a", "del a", "sadd b"]
    redis("SUNIONSTORE", "c", "b")
    redis("SINTERSTORE", "c", "b", "b")
    redis("SDIFFSTORE", "c", "b", "none")
    redis("SPOP", "c")
    redis("SPOP", "c", 5)
    redis("SREM", "b", "1", "2")
    assert listener.heard(8) == [
        "sunionstore c", "sinterstore c", "sdiffstore c", "spop c", "spop c", "del c", "srem b", "del b",
    ]  # fmt: skip


@pytest.mark.since("7.2.0")
def test_a_small_set_of_words_is_a_listpack(redis: Redis) -> None:
    redis("SADD", "s", "1", "a")
    assert redis("OBJECT", "ENCODING", "s") == b"listpack"
    redis("SADD", "s", "x" * 65)
    assert redis("OBJECT", "ENCODING", "s") == b"hashtable"
    redis("SADD", "many", *range(513))
    assert redis("OBJECT", "ENCODING", "many") == b"hashtable"


def test_a_set_from_which_nearly_all_was_popped_is_small_again(redis: Redis) -> None:
    redis("SADD", "s", *range(600))
    redis("SPOP", "s", 400)
    assert redis("OBJECT", "ENCODING", "s") == b"hashtable"
    redis("SPOP", "s", 190)
    assert redis("OBJECT", "ENCODING", "s") in (b"listpack", b"intset")
