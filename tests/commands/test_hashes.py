"""HSET, HGET and what else works on hashes."""

import pytest

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis, Status

WRONGTYPE = Failure("WRONGTYPE Operation against a key holding the wrong kind of value")
SYNTAX = Failure("ERR syntax error")


def test_hset_counts_the_new_fields(redis: Redis) -> None:
    assert redis("HSET", "h", "a", "1", "b", "2", "a", "3") == 2
    assert redis("HSET", "h", "a", "4", "c", "5") == 1
    assert redis("HMGET", "h", "a", "none", "c") == [b"4", None, b"5"]


def test_a_field_without_a_value_is_refused(redis: Redis) -> None:
    assert redis("HSET", "h", "a", "1", "b") == Failure("ERR wrong number of arguments for 'hset' command")
    assert redis("HMSET", "h", "a", "1", "b") == Failure("ERR wrong number of arguments for 'hmset' command")
    assert redis("EXISTS", "h") == 0


def test_hmset_answers_ok(redis: Redis) -> None:
    assert redis("HMSET", "h", "a", "1", "b", "2") == Status("OK")
    assert redis("HLEN", "h") == 2


def test_hsetnx_sets_once(redis: Redis) -> None:
    assert redis("HSETNX", "h", "a", "1") == 1
    assert redis("HSETNX", "h", "a", "2") == 0
    assert redis("HGET", "h", "a") == b"1"


def test_a_missing_hash_is_empty(redis: Redis) -> None:
    assert redis("HGET", "h", "a") is None
    assert redis("HMGET", "h", "a", "b") == [None, None]
    assert redis("HGETALL", "h") == []
    assert redis("HKEYS", "h") == []
    assert redis("HVALS", "h") == []
    assert redis("HLEN", "h") == 0
    assert redis("HSTRLEN", "h", "a") == 0
    assert redis("HEXISTS", "h", "a") == 0
    assert redis("HDEL", "h", "a") == 0
    assert redis("HRANDFIELD", "h") is None
    assert redis("HRANDFIELD", "h", 3, "WITHVALUES") == []
    assert redis("HSCAN", "h", 0) == [b"0", []]


def test_hgetall_is_a_map_and_the_others_are_arrays(redis: Redis) -> None:
    redis("HSET", "h", "a", "1")
    head = b"%1" if redis.resp == 3 else b"*2"
    assert redis.raw("HGETALL", "h") == head + b"\r\n$1\r\na\r\n$1\r\n1\r\n"
    assert redis.raw("HKEYS", "h") == b"*1\r\n$1\r\na\r\n"
    empty = b"%0\r\n" if redis.resp == 3 else b"*0\r\n"
    assert redis.raw("HGETALL", "none") == empty
    assert redis.raw("HKEYS", "none") == b"*0\r\n"


def test_the_hash_goes_with_its_last_field(redis: Redis) -> None:
    redis("HSET", "h", "a", "1", "b", "2")
    assert redis("HDEL", "h", "a", "none", "a", "b", "b") == 2
    assert redis("EXISTS", "h") == 0


def test_hincrby_keeps_to_64_bits(redis: Redis) -> None:
    assert redis("HINCRBY", "h", "n", 5) == 5
    assert redis("HINCRBY", "h", "n", -7) == -2
    redis("HSET", "h", "max", 2**63 - 1, "word", "x", "spaced", " 1")
    assert redis("HINCRBY", "h", "max", 1) == Failure("ERR increment or decrement would overflow")
    assert redis("HINCRBY", "h", "word", 1) == Failure("ERR hash value is not an integer")
    assert redis("HINCRBY", "h", "spaced", 1) == Failure("ERR hash value is not an integer")
    assert redis("HINCRBY", "h", "n", "x") == Failure("ERR value is not an integer or out of range")
    assert redis("HINCRBY", "h", "n", "1.0") == Failure("ERR value is not an integer or out of range")


def test_hincrbyfloat_adds_long_doubles(redis: Redis) -> None:
    assert redis("HINCRBYFLOAT", "h", "f", "0.1") == b"0.1"
    assert redis("HINCRBYFLOAT", "h", "f", "0.2") == b"0.3"
    assert redis("HINCRBYFLOAT", "h", "f", "1.7") == b"2"
    redis("HSET", "h", "word", "x", "endless", "inf")
    assert redis("HINCRBYFLOAT", "h", "word", "1") == Failure("ERR hash value is not a float")
    assert redis("HINCRBYFLOAT", "h", "f", "x") == Failure("ERR value is not a valid float")
    assert redis("HINCRBYFLOAT", "h", "endless", "1") == Failure("ERR increment would produce NaN or Infinity")


@pytest.mark.since("7.0.0")
def test_hincrbyfloat_takes_no_infinity(redis: Redis) -> None:
    assert redis("HINCRBYFLOAT", "h", "f", "inf") == Failure("ERR value is NaN or Infinity")
    assert redis("EXISTS", "h") == 0


def test_hrandfield_with_values_nests_in_resp3_only(redis: Redis) -> None:
    redis("HSET", "h", "a", "1")
    flat = b"$1\r\na\r\n$1\r\n1\r\n"
    assert redis.raw("HRANDFIELD", "h", 1, "WITHVALUES") == (
        b"*1\r\n*2\r\n" + flat if redis.resp == 3 else b"*2\r\n" + flat
    )
    assert redis.raw("HRANDFIELD", "h", -2) == b"*2\r\n$1\r\na\r\n$1\r\na\r\n"
    assert redis.raw("HRANDFIELD", "h") == b"$1\r\na\r\n"


def test_hrandfield_gives_distinct_fields_or_repeats(redis: Redis) -> None:
    redis("HSET", "h", *[text for number in range(100) for text in (f"f{number}", number)])
    assert len(set(redis("HRANDFIELD", "h", 60))) == 60
    assert len(redis("HRANDFIELD", "h", 200)) == 100
    assert len(redis("HRANDFIELD", "h", -200)) == 200
    assert all(field == b"f" + value for field, value in redis.pairs("HRANDFIELD", "h", 30, "WITHVALUES"))


def test_hrandfield_checks_its_arguments(redis: Redis) -> None:
    assert redis("HRANDFIELD", "h", "x", "y") == Failure("ERR value is not an integer or out of range")
    assert redis("HRANDFIELD", "h", 1, "y") == SYNTAX
    assert redis("HRANDFIELD", "h", 1, "WITHVALUES", "y") == SYNTAX
    assert redis("HRANDFIELD", "h", 2**62, "WITHVALUES") == Failure("ERR value is out of range")


@pytest.mark.parametrize("size", [20, 700])
def test_hscan_walks_over_every_field(redis: Redis, size: int) -> None:
    redis("HSET", "h", *[text for number in range(size) for text in (f"f{number}", number)])
    cursor, found = b"0", []
    while True:
        cursor, part = redis("HSCAN", "h", cursor, "COUNT", 50)
        found += part
        if cursor == b"0":
            break
    assert {field: b"f" + value for field, value in zip(found[::2], found[1::2], strict=True)} == {
        b"f%d" % number: b"f%d" % number for number in range(size)
    }
    assert redis("HSCAN", "h", 0, "MATCH", "f1", "COUNT", size * 2) == [b"0", [b"f1", b"1"]]


@pytest.mark.since("7.4.0")
def test_hscan_can_leave_the_values_out(redis: Redis) -> None:
    redis("HSET", "h", "a", "1", "b", "2")
    assert redis("HSCAN", "h", 0, "NOVALUES") == [b"0", [b"a", b"b"]]


def test_events_name_what_was_done(redis: Redis) -> None:
    listener = Listener(redis)
    redis("HSET", "h", "a", "1", "b", "2")
    redis("HSETNX", "h", "a", "1")
    redis("HINCRBY", "h", "a", "1")
    redis("HINCRBYFLOAT", "h", "a", "1")
    redis("HDEL", "h", "none")
    redis("HDEL", "h", "a")
    redis("HDEL", "h", "b")
    assert listener.heard(6) == ["hset h", "hincrby h", "hincrbyfloat h", "hdel h", "hdel h", "del h"]


def test_a_wrong_type_is_an_error(redis: Redis) -> None:
    redis("SET", "s", "x")
    for command in ("HSET s a 1", "HGET s a", "HGETALL s", "HDEL s a", "HINCRBY s a 1", "HLEN s", "HSCAN s 0"):
        assert redis(*command.split()) == WRONGTYPE


def test_a_large_hash_is_a_hash_table(redis: Redis) -> None:
    redis("HSET", "h", "a", "x" * 64)
    assert redis("OBJECT", "ENCODING", "h") == b"listpack"
    redis("HSET", "h", "a", "x" * 65)
    assert redis("OBJECT", "ENCODING", "h") == b"hashtable"
    redis("HSET", "many", *[text for number in range(512) for text in (number, number)])
    assert redis("OBJECT", "ENCODING", "many") == b"listpack"
    redis("HSET", "many", "one", "more")
    assert redis("OBJECT", "ENCODING", "many") == b"hashtable"
