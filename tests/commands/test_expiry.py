"""EXPIRE, TTL and PERSIST."""

import pytest

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis

FAR = 33177117420000


def test_the_four_ways_to_say_when(redis: Redis) -> None:
    redis("SET", "k", "v")
    assert redis("EXPIRE", "k", 100) == 1
    assert redis("TTL", "k") == 100
    assert redis("PEXPIRE", "k", 200_000) == 1
    assert redis("TTL", "k") == 200
    assert redis("EXPIREAT", "k", FAR // 1000) == 1
    assert redis("PEXPIRETIME", "k") == FAR
    assert redis("PEXPIREAT", "k", FAR + 1) == 1
    assert redis("PEXPIRETIME", "k") == FAR + 1
    assert redis("EXPIRETIME", "k") == FAR // 1000


def test_ttl_of_nothing(redis: Redis) -> None:
    redis("SET", "k", "v")
    for command in ("TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"):
        assert redis(command, "k") == -1
        assert redis(command, "none") == -2
    assert redis("EXPIRE", "none", 10) == 0
    assert redis("PERSIST", "none") == 0


def test_seconds_are_rounded(redis: Redis) -> None:
    redis("SET", "k", "v")
    redis("PEXPIREAT", "k", FAR + 499)
    assert redis("EXPIRETIME", "k") == FAR // 1000
    redis("PEXPIREAT", "k", FAR + 500)
    assert redis("EXPIRETIME", "k") == FAR // 1000 + 1


def test_persist_takes_the_deadline_away(redis: Redis) -> None:
    redis("SET", "k", "v", "PX", 20)
    assert redis("PERSIST", "k") == 1
    assert redis("PERSIST", "k") == 0
    redis.pass_time(40)
    assert redis("GET", "k") == b"v"


def test_a_key_is_gone_once_its_time_is_over(redis: Redis) -> None:
    redis("RPUSH", "k", "a")
    redis("PEXPIRE", "k", 5)
    redis.pass_time(15)
    assert redis("LRANGE", "k", 0, -1) == []
    assert redis("PTTL", "k") == -2


def test_a_deadline_that_has_passed_deletes_at_once(redis: Redis) -> None:
    listener = Listener(redis)
    redis("SET", "k", "v")
    assert redis("EXPIRE", "k", 0) == 1
    assert redis("EXISTS", "k") == 0
    redis("SET", "k", "v")
    assert redis("PEXPIREAT", "k", 1) == 1
    redis("SET", "k", "v")
    redis("EXPIRE", "k", 100)
    redis("PERSIST", "k")
    assert listener.heard(7) == ["set k", "del k", "set k", "del k", "set k", "expire k", "persist k"]


@pytest.mark.parametrize(
    ("old", "condition", "new", "done"),
    [(None, "NX", 100, 1), (50, "NX", 100, 0), (None, "XX", 100, 0), (50, "XX", 100, 1), (None, "GT", 100, 0),
     (50, "GT", 100, 1), (100, "GT", 50, 0), (None, "LT", 100, 1), (50, "LT", 100, 0), (100, "lt", 50, 1)],
)  # fmt: skip
def test_conditions(redis: Redis, old: int | None, condition: str, new: int, done: int) -> None:
    redis("SET", "k", "v")
    if old is not None:
        redis("EXPIREAT", "k", FAR + old)
    assert redis("EXPIREAT", "k", FAR + new, condition) == done
    assert redis("EXPIRETIME", "k") == (FAR + new if done else -1 if old is None else FAR + old)


def test_equal_deadlines_are_neither_greater_nor_less(redis: Redis) -> None:
    redis("SET", "k", "v")
    redis("PEXPIREAT", "k", FAR)
    assert redis("PEXPIREAT", "k", FAR, "GT") == 0
    assert redis("PEXPIREAT", "k", FAR, "LT") == 0
    assert redis("PEXPIREAT", "k", FAR, "XX", "LT") == 0


def test_conditions_that_contradict_each_other(redis: Redis) -> None:
    nx = Failure("ERR NX and XX, GT or LT options at the same time are not compatible")
    assert redis("EXPIRE", "k", 1, "NX", "XX") == nx
    assert redis("EXPIRE", "k", 1, "LT", "NX") == nx
    assert redis("EXPIRE", "k", 1, "GT", "LT") == Failure("ERR GT and LT options at the same time are not compatible")
    assert redis("EXPIRE", "k", 1, "AB") == Failure("ERR Unsupported option AB")
    assert redis("EXPIRE", "k", "x", "AB") == Failure("ERR Unsupported option AB")


@pytest.mark.parametrize(
    ("command", "time"),
    [("EXPIRE", 2**63 - 1), ("EXPIRE", -(2**63)), ("EXPIRE", 2**63 // 1000), ("PEXPIRE", 2**63 - 1),
     ("EXPIREAT", 2**63 // 1000 + 1)],
)  # fmt: skip
def test_times_that_do_not_fit(redis: Redis, command: str, time: int) -> None:
    redis("SET", "k", "v")
    assert redis(command, "k", time) == Failure(f"ERR invalid expire time in '{command.lower()}' command")
    assert redis("TTL", "k") == -1


def test_the_largest_deadline(redis: Redis) -> None:
    redis("SET", "k", "v")
    assert redis("PEXPIREAT", "k", 2**63 - 1) == 1
    assert redis("PEXPIRETIME", "k") == 2**63 - 1


def test_a_time_is_an_integer(redis: Redis) -> None:
    assert redis("EXPIRE", "k", "1.5") == Failure("ERR value is not an integer or out of range")
    assert redis("PEXPIREAT", "k", 2**63) == Failure("ERR value is not an integer or out of range")
