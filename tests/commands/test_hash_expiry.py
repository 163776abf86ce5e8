"""Fields with deadlines. The oracle of these tests was redis-server 7.4; 7.0.15 has no such commands."""

import pytest

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis

pytestmark = pytest.mark.since("7.4.0")

FIELDS_MISSING = Failure("ERR Mandatory argument FIELDS is missing or not at the right position")
COUNT_WRONG = Failure("ERR The `numfields` parameter must match the number of arguments")


def test_a_field_goes_when_its_time_is_up(redis: Redis) -> None:
    redis("HSET", "h", "a", "1", "b", "2")
    assert redis("HPEXPIRE", "h", 20, "FIELDS", 2, "a", "none") == [1, -2]
    assert redis("HGET", "h", "a") == b"1"
    redis.pass_time(40)
    assert redis("HGETALL", "h") == [b"b", b"2"]
    redis.wait_until(lambda: redis("HLEN", "h") == 1)


def test_the_hash_goes_with_its_last_field_and_says_so(redis: Redis) -> None:
    redis("HSET", "h", "a", "1", "b", "2")
    listener = Listener(redis)
    redis("HPEXPIRE", "h", 20, "FIELDS", 2, "a", "b")
    redis.pass_time(40)
    redis.wait_until(lambda: redis("EXISTS", "h") == 0)
    assert listener.heard(3) == ["hexpire h", "hexpired h", "del h"]


@pytest.mark.only("engine", "resp2", "resp3")
def test_fields_expire_when_due_though_nobody_looks(redis: Redis) -> None:
    redis("HSET", "h", "a", "1", "b", "2")
    listener = Listener(redis)
    redis("HPEXPIRE", "h", 10, "FIELDS", 1, "a")
    redis("HPEXPIRE", "h", 30, "FIELDS", 1, "b")
    assert listener.heard(2) == ["hexpire h", "hexpire h"]
    redis.pass_time(20)
    redis("PING")
    assert listener.heard(1) == ["hexpired h"]
    redis.pass_time(20)
    redis("PING")
    assert listener.heard(2) == ["hexpired h", "del h"]


@pytest.mark.parametrize(
    ("condition", "without", "sooner", "later"), [("NX", 1, 0, 0), ("XX", 0, 1, 1), ("GT", 0, 0, 1), ("LT", 1, 1, 0)]
)
def test_conditions_compare_with_the_deadline_that_is_there(
    redis: Redis, condition: str, without: int, sooner: int, later: int
) -> None:
    redis("HSET", "h", "never", "1", "soon", "2", "late", "3")
    redis("HEXPIRE", "h", 1000, "FIELDS", 2, "soon", "late")
    assert redis("HEXPIRE", "h", 500, condition, "FIELDS", 1, "never") == [without]
    assert redis("HEXPIRE", "h", 500, condition.lower(), "FIELDS", 1, "soon") == [sooner]
    assert redis("HEXPIRE", "h", 2000, condition, "FIELDS", 1, "late") == [later]


def test_a_time_in_the_past_deletes_at_once(redis: Redis) -> None:
    redis("HSET", "h", "a", "1", "b", "2")
    listener = Listener(redis)
    assert redis("HEXPIRE", "h", 0, "FIELDS", 1, "a") == [2]
    assert redis("HPEXPIREAT", "h", 1, "FIELDS", 2, "b", "b") == [2, -2]
    assert redis("EXISTS", "h") == 0
    assert listener.heard(3) == ["hdel h", "hdel h", "del h"]


def test_times_are_told_as_asked(redis: Redis) -> None:
    redis("HSET", "h", "a", "1", "b", "2")
    redis("HPEXPIREAT", "h", 9_000_000_000_500, "FIELDS", 1, "a")
    assert redis("HPEXPIRETIME", "h", "FIELDS", 3, "a", "b", "none") == [9_000_000_000_500, -1, -2]
    assert redis("HEXPIRETIME", "h", "FIELDS", 1, "a") == [9_000_000_001]
    redis("HPEXPIRE", "h", 60_000, "FIELDS", 1, "b")
    (milliseconds,) = redis("HPTTL", "h", "FIELDS", 1, "b")
    assert 55_000 < milliseconds <= 60_000
    (seconds,) = redis("HTTL", "h", "FIELDS", 1, "b")
    assert 55 < seconds <= 60
    assert redis("HTTL", "none", "FIELDS", 2, "a", "b") == [-2, -2]


def test_setting_a_field_removes_its_deadline_and_counting_keeps_it(redis: Redis) -> None:
    redis("HSET", "h", "a", "1", "b", "2", "c", "3")
    redis("HEXPIRE", "h", 1000, "FIELDS", 3, "a", "b", "c")
    redis("HSET", "h", "a", "5")
    redis("HINCRBY", "h", "b", "5")
    redis("HINCRBYFLOAT", "h", "c", "5")
    assert redis("HTTL", "h", "FIELDS", 3, "a", "b", "c") == [-1, 1000, 1000]


def test_hpersist_tells_what_it_found(redis: Redis) -> None:
    redis("HSET", "h", "a", "1", "b", "2")
    redis("HEXPIRE", "h", 1000, "FIELDS", 1, "a")
    listener = Listener(redis)
    assert redis("HPERSIST", "h", "FIELDS", 3, "a", "b", "none") == [1, -1, -2]
    assert redis("HPERSIST", "h", "FIELDS", 1, "a") == [-1]
    assert redis("HPERSIST", "none", "FIELDS", 1, "a") == [-2]
    assert listener.heard(1) == ["hpersist h"]
    assert listener.silent()


def test_the_arguments_are_checked_in_order(redis: Redis) -> None:
    redis("SET", "s", "x")
    wrong_type = Failure("WRONGTYPE Operation against a key holding the wrong kind of value")
    assert redis("HEXPIRE", "s", "x", "FIELDS", 1, "a") == wrong_type
    assert redis("HTTL", "s", "x", 1, "a") == wrong_type
    assert redis("HEXPIRE", "h", "x", "y", 1, "a") == Failure("ERR value is not an integer or out of range")
    assert redis("HEXPIRE", "h", -1, "y", 1, "a") == Failure("ERR invalid expire time, must be >= 0")
    assert redis("HEXPIRE", "h", 1 << 46, "y", 1, "a") == Failure("ERR invalid expire time in 'hexpire' command")
    assert redis("HPEXPIREAT", "h", 1 << 46, "FIELDS", 1, "a") == Failure(
        "ERR invalid expire time in 'hpexpireat' command"
    )
    assert redis("HPEXPIREAT", "h", (1 << 46) - 1, "FIELDS", 1, "a") == [-2]
    assert redis("HEXPIRE", "h", 1, "y", 1, "a") == FIELDS_MISSING
    assert redis("HEXPIRE", "h", 1, "NX", "y", 1, "a") == FIELDS_MISSING
    assert redis("HEXPIRE", "h", 1, "FIELDS", 0, "a") == Failure("ERR Parameter `numFields` should be greater than 0")
    assert redis("HEXPIRE", "h", 1, "FIELDS", 2, "a") == COUNT_WRONG
    assert redis("HTTL", "h", "FIELDS", 0, "a") == Failure("ERR Number of fields must be a positive integer")
    assert redis("HPERSIST", "h", "FIELDS", 2, "a") == COUNT_WRONG


def test_a_watched_hash_that_loses_a_field_breaks_the_transaction(redis: Redis) -> None:
    redis("HSET", "h", "a", "1", "b", "2")
    redis("HPEXPIRE", "h", 20, "FIELDS", 1, "a")
    redis("WATCH", "h")
    redis.pass_time(40)
    redis("MULTI")
    redis("HLEN", "h")
    assert redis("EXEC") is None


def test_a_copy_and_a_renamed_hash_keep_the_deadlines(redis: Redis) -> None:
    redis("HSET", "h", "a", "1", "b", "2")
    redis("HPEXPIRE", "h", 20, "FIELDS", 1, "a")
    redis("COPY", "h", "copy")
    redis("RENAME", "h", "renamed")
    redis.pass_time(40)
    assert redis("HKEYS", "copy") == [b"b"]
    assert redis("HKEYS", "renamed") == [b"b"]


def test_a_compact_hash_with_deadlines_has_an_encoding_of_its_own(redis: Redis) -> None:
    redis("HSET", "h", "a", "1")
    redis("HEXPIRE", "h", 1000, "FIELDS", 1, "none")
    assert redis("OBJECT", "ENCODING", "h") == b"listpackex"


@pytest.mark.only("engine", "resp2", "resp3")
def test_a_field_expires_when_due_though_an_earlier_deadline_was_taken_away(redis: Redis) -> None:
    redis("HSET", "h", "a", "1", "b", "2")
    redis("HPEXPIRE", "h", 10000, "FIELDS", 1, "b")
    redis("HPEXPIRE", "h", 1000, "FIELDS", 1, "a")
    redis("HPERSIST", "h", "FIELDS", 1, "a")
    listener = Listener(redis)
    redis.pass_time(5000)
    redis("PING")
    assert listener.silent()
    redis.pass_time(6000)
    redis("PING")
    assert listener.heard(1) == ["hexpired h"]


@pytest.mark.only("engine")
def test_a_hash_that_is_refreshed_for_ever_leaves_few_alarms_behind(redis: Redis) -> None:
    for _ in range(5000):
        redis("HSET", "h", "a", "1")
        redis("HPEXPIRE", "h", 1000, "FIELDS", 1, "a")
        redis.pass_time(7)
    assert len(redis.target.engine.space.deadlines) < 2000


def test_info_counts_expired_fields(redis: Redis) -> None:
    redis("CONFIG", "RESETSTAT")
    redis("HSET", "h", "a", "1", "b", "2", "c", "3")
    redis("HPEXPIRE", "h", 10, "FIELDS", 2, "a", "b")
    redis.pass_time(30)
    redis.wait_until(lambda: redis("HLEN", "h") == 1)
    assert b"expired_subkeys:2\r\n" in redis("INFO", "stats")
