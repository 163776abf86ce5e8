"""ZPOPMIN and its family, and waiting for members."""

import pytest

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis, Status

WRONGTYPE = Failure("WRONGTYPE Operation against a key holding the wrong kind of value")


def test_jobs_of_one_tier_leave_in_the_order_of_arrival(redis: Redis) -> None:
    for counter, (priority, job) in enumerate([(2, "b"), (1, "z"), (1, "a"), (2, "a2")], 1):
        redis("ZADD", "q", priority * 2**32 + counter, job)
    assert [redis("ZPOPMIN", "q")[0] for _ in range(4)] == [b"z", b"a", b"b", b"a2"]
    assert redis("ZPOPMIN", "q") == []


def test_popping_takes_from_either_end(redis: Redis) -> None:
    redis("ZADD", "k", 1, "a", 2, "b", 3, "c", 3, "d")
    assert redis("ZPOPMAX", "k") == [b"d", b"3"]
    assert redis("ZPOPMIN", "k") == [b"a", b"1"]
    assert redis.pairs("ZPOPMAX", "k", 5) == [(b"c", b"3"), (b"b", b"2")]
    assert redis("EXISTS", "k") == 0


def test_a_count_nests_the_pairs_in_resp3_only(redis: Redis) -> None:
    redis("ZADD", "k", 1, "a", 2, "b")
    plain = b"*2\r\n$1\r\na\r\n,1\r\n" if redis.resp == 3 else b"*2\r\n$1\r\na\r\n$1\r\n1\r\n"
    nested = b"*1\r\n*2\r\n$1\r\nb\r\n,2\r\n" if redis.resp == 3 else b"*2\r\n$1\r\nb\r\n$1\r\n2\r\n"
    assert redis.raw("ZPOPMIN", "k") == plain
    assert redis.raw("ZPOPMIN", "k", 1) == nested
    assert redis.raw("ZPOPMIN", "k") == redis.raw("ZPOPMIN", "k", 1) == b"*0\r\n"


def test_a_bad_count_is_refused(redis: Redis) -> None:
    positive = Failure("ERR value is out of range, must be positive")
    assert redis("ZPOPMIN", "k", -1) == positive
    assert redis("ZPOPMIN", "k", "x") == positive
    assert redis("ZPOPMIN", "k", 1, 2) == Failure("ERR syntax error")
    redis("ZADD", "k", 1, "a")
    assert redis("ZPOPMIN", "k", 0) == []
    redis("SET", "s", "x")
    assert redis("ZPOPMIN", "s") == redis("ZPOPMAX", "s", 1) == WRONGTYPE


def test_zmpop_takes_from_the_first_set_that_there_is(redis: Redis) -> None:
    redis("ZADD", "k", 1, "a", 2, "b", 3, "c")
    assert redis("ZMPOP", 2, "missing", "k", "MIN") == [b"k", [[b"a", b"1"]]]
    assert redis("ZMPOP", 2, "missing", "k", "max", "COUNT", 5) == [b"k", [[b"c", b"3"], [b"b", b"2"]]]
    assert redis.raw("ZMPOP", 1, "k", "MIN") == (b"_\r\n" if redis.resp == 3 else b"*-1\r\n")
    redis("SET", "s", "x")
    assert redis("ZMPOP", 2, "missing", "s", "MIN") == WRONGTYPE


def test_zmpop_checks_its_arguments(redis: Redis) -> None:
    assert redis("ZMPOP", 0, "k", "MIN") == Failure("ERR numkeys should be greater than 0")
    assert redis("ZMPOP", "x", "k", "MIN") == Failure("ERR numkeys should be greater than 0")
    assert redis("ZMPOP", 2, "k", "MIN") == Failure("ERR syntax error")
    assert redis("ZMPOP", 1, "k", "LEFT") == Failure("ERR syntax error")
    assert redis("ZMPOP", 1, "k", "MIN", "COUNT") == Failure("ERR syntax error")
    assert redis("ZMPOP", 1, "k", "MIN", "COUNT", 0) == Failure("ERR count should be greater than 0")
    assert redis("ZMPOP", 1, "k", "MIN", "COUNT", 1, "COUNT", 1) == Failure("ERR syntax error")


def test_a_waiter_gets_the_first_member_of_any_of_its_keys(redis: Redis) -> None:
    other = redis.another()
    other.send("BZPOPMIN", "a", "b", 0)
    redis.wait_blocked(1)
    redis("ZADD", "b", 2, "two", 1, "one")
    assert other.receive() == [b"b", b"one", b"1"]
    assert redis("ZRANGE", "b", 0, -1) == [b"two"]


def test_what_is_there_is_taken_without_waiting(redis: Redis) -> None:
    redis("ZADD", "b", 2, "two", 1, "one")
    score = b",2\r\n" if redis.resp == 3 else b"$1\r\n2\r\n"
    assert redis.raw("BZPOPMAX", "a", "b", 0) == b"*3\r\n$1\r\nb\r\n$3\r\ntwo\r\n" + score
    assert redis("BZMPOP", 0, 2, "a", "b", "MIN", "COUNT", 3) == [b"b", [[b"one", b"1"]]]


def test_waiters_are_served_first_come_first_served(redis: Redis) -> None:
    first = redis.another()
    second = redis.another()
    first.send("BZPOPMIN", "k", 0)
    redis.wait_blocked(1)
    second.send("BZMPOP", 0, 1, "k", "MAX")
    redis.wait_blocked(2)
    redis("ZADD", "k", 1, "a", 2, "b")
    assert first.receive() == [b"k", b"a", b"1"]
    assert second.receive() == [b"k", [[b"b", b"2"]]]
    assert redis("EXISTS", "k") == 0


def test_a_wait_ends_with_a_null_array(redis: Redis) -> None:
    null = b"_\r\n" if redis.resp == 3 else b"*-1\r\n"
    for command in (("BZPOPMIN", "k", "0.01"), ("BZPOPMAX", "k", "0.01"), ("BZMPOP", "0.01", 1, "k", "MIN")):
        redis.send(*command)
        redis.pass_time(20)
        assert redis._next(2.0)[1] == null


def test_in_multi_nobody_waits(redis: Redis) -> None:
    redis("MULTI")
    redis("BZPOPMIN", "k", 0)
    redis("BZMPOP", 0, 1, "k", "MIN")
    assert redis("EXEC") == [None, None]


def test_a_bad_timeout_is_refused_even_if_there_is_something(redis: Redis) -> None:
    redis("ZADD", "k", 1, "a")
    assert redis("BZPOPMIN", "k", "x") == Failure("ERR timeout is not a float or out of range")
    assert redis("BZPOPMIN", "k", -1) == Failure("ERR timeout is negative")
    assert redis("BZMPOP", -1, 1, "k", "MIN") == Failure("ERR timeout is negative")


def test_a_key_of_another_type_wakes_nobody(redis: Redis) -> None:
    other = redis.another()
    other.send("BZPOPMIN", "k", 0)
    redis.wait_blocked(1)
    redis("RPUSH", "k", "x")
    redis("DEL", "k")
    assert other.silent()
    redis("ZADD", "k", 1, "a")
    assert other.receive() == [b"k", b"a", b"1"]
    redis("SET", "s", "x")
    assert redis("BZPOPMIN", "s", 0) == WRONGTYPE


@pytest.mark.since("7.2.0")
def test_a_wrong_type_before_the_set_that_wakes_is_an_error(redis: Redis) -> None:
    other = redis.another()
    other.send("BZPOPMIN", "a", "b", 0)
    redis.wait_blocked(1)
    redis("SET", "a", "x")
    redis("ZADD", "b", 1, "m")
    assert other.receive() == WRONGTYPE
    assert redis("ZCARD", "b") == 1


def test_a_member_added_and_removed_in_one_transaction_wakes_nobody(redis: Redis) -> None:
    other = redis.another()
    other.send("BZPOPMIN", "k", 0)
    redis.wait_blocked(1)
    redis("MULTI")
    redis("ZADD", "k", 1, "a")
    redis("DEL", "k")
    assert redis("EXEC") == [1, 1]
    assert other.silent()
    redis("ZADD", "source", 2, "b")
    assert redis("RENAME", "source", "k") == Status("OK")
    assert other.receive() == [b"k", b"b", b"2"]


def test_what_is_taken_is_announced(redis: Redis) -> None:
    redis("ZADD", "k", 1, "a", 2, "b", 3, "c", 4, "d")
    listener = Listener(redis)
    redis("ZPOPMIN", "k")
    redis("ZPOPMIN", "k", 0)
    redis("BZPOPMAX", "k", 0)
    redis("ZMPOP", 1, "k", "MIN", "COUNT", 9)
    assert listener.heard(4) == ["zpopmin k", "zpopmax k", "zpopmin k", "del k"]
    assert listener.silent()
