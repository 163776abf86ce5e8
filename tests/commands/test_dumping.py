"""DUMP, RESTORE and MIGRATE. The payloads themselves are the business of tests/persistence."""

from __future__ import annotations

import pytest

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis, Status

OK = Status("OK")
BUSY = Failure("BUSYKEY Target key name already exists.")
NOT_SOUND = Failure("ERR DUMP payload version or checksum are wrong")
BAD_DATA = Failure("ERR Bad data format")
SYNTAX = Failure("ERR syntax error")
NOT_AN_INTEGER = Failure("ERR value is not an integer or out of range")
#: What version 5.0 gave for "ab"; every later one reads it.
OLD = bytes.fromhex("000261620900ad48925a37aa84a4")


def test_a_value_moves_from_key_to_key(redis: Redis) -> None:
    redis("RPUSH", "list", "a", "b", "c")
    assert redis("RESTORE", "copy", 0, redis("DUMP", "list")) == OK
    assert redis("LRANGE", "copy", 0, -1) == [b"a", b"b", b"c"]
    assert redis("PTTL", "copy") == -1


def test_where_there_is_no_key_there_is_no_payload(redis: Redis) -> None:
    assert redis("DUMP", "missing") is None


def test_payloads_of_older_versions_are_read_those_of_newer_ones_are_not(redis: Redis) -> None:
    assert redis("RESTORE", "key", 0, OLD) == OK
    assert redis("GET", "key") == b"ab"
    assert redis("RESTORE", "other", 0, bytes.fromhex("00026162ff7f4da2bfab11b54e22")) == NOT_SOUND


def test_a_damaged_payload_is_refused_and_changes_nothing(redis: Redis) -> None:
    redis("SET", "key", "here")
    for payload in (OLD[:-1] + b"\0", OLD[:9], b""):
        assert redis("RESTORE", "key", 0, payload, "REPLACE") == NOT_SOUND
    # The checksum is right, but there is no type 250.
    assert redis("RESTORE", "key", 0, bytes.fromhex("fa0900e2d52cce5ddeefff"), "REPLACE") == BAD_DATA
    assert redis("GET", "key") == b"here"


def test_an_existing_key_gives_way_only_to_replace(redis: Redis) -> None:
    redis("RPUSH", "key", "a")
    assert redis("RESTORE", "key", 0, OLD) == BUSY
    assert redis("RESTORE", "key", 0, OLD, "replace") == OK
    assert redis("GET", "key") == b"ab"


def test_options_are_judged_before_the_key_and_the_key_before_the_ttl(redis: Redis) -> None:
    redis("SET", "key", "x")
    assert redis("RESTORE", "key", "x", OLD, "WHAT") == SYNTAX
    assert redis("RESTORE", "key", "x", OLD) == BUSY
    assert redis("RESTORE", "new", "x", "damaged") == NOT_AN_INTEGER
    assert redis("RESTORE", "new", -1, "damaged") == Failure("ERR Invalid TTL value, must be >= 0")
    assert redis("RESTORE", "new", 0, "damaged") == NOT_SOUND


def test_idletime_and_freq_have_their_ranges_and_exclude_each_other(redis: Redis) -> None:
    idle = Failure("ERR Invalid IDLETIME value, must be >= 0")
    frequency = Failure("ERR Invalid FREQ value, must be >= 0 and <= 255")
    assert redis("RESTORE", "key", 0, OLD, "IDLETIME", -1) == idle
    assert redis("RESTORE", "key", 0, OLD, "IDLETIME", "x") == NOT_AN_INTEGER
    assert redis("RESTORE", "key", 0, OLD, "IDLETIME") == SYNTAX
    assert redis("RESTORE", "key", 0, OLD, "FREQ", 256) == frequency
    assert redis("RESTORE", "key", 0, OLD, "FREQ", -1) == frequency
    assert redis("RESTORE", "key", 0, OLD, "FREQ", 1, "IDLETIME", 1) == SYNTAX
    assert redis("RESTORE", "key", 0, OLD, "IDLETIME", 1, "FREQ", 1) == SYNTAX


def test_a_key_may_come_with_its_age(redis: Redis) -> None:
    assert redis("RESTORE", "key", 0, OLD, "IDLETIME", 1000) == OK
    assert redis("OBJECT", "IDLETIME", "key") in (1000, 1001)
    redis.config("maxmemory-policy", "allkeys-lfu")
    assert redis("RESTORE", "key", 0, OLD, "FREQ", 100, "REPLACE") == OK
    assert redis("OBJECT", "FREQ", "key") == 100


def test_the_ttl_is_in_milliseconds_from_now_or_absolute(redis: Redis) -> None:
    assert redis("RESTORE", "key", 60000, OLD) == OK
    assert 59000 < redis("PTTL", "key") <= 60000
    assert redis("RESTORE", "key", 4102444800123, OLD, "ABSTTL", "REPLACE") == OK
    assert redis("PEXPIRETIME", "key") == 4102444800123


def test_a_key_that_would_be_expired_is_not_made(redis: Redis) -> None:
    assert redis("RESTORE", "key", 1, OLD, "ABSTTL") == OK
    assert redis("RESTORE", "other", 9223372036854775807, OLD) == OK
    redis("SET", "old", "x")
    assert redis("RESTORE", "old", 1, OLD, "ABSTTL", "REPLACE") == OK
    assert redis("DBSIZE") == 0


def test_a_restored_key_expires(redis: Redis) -> None:
    redis("RESTORE", "key", 20, OLD)
    redis.pass_time(25)
    assert redis("EXISTS", "key") == 0


def test_restoring_is_announced(redis: Redis) -> None:
    listener = Listener(redis)
    redis("RESTORE", "key", 0, OLD)
    redis("RESTORE", "key", 10000, OLD, "REPLACE")
    redis("RESTORE", "key", 1, OLD, "ABSTTL", "REPLACE")
    redis("RESTORE", "key", 1, OLD, "ABSTTL")
    assert listener.heard(3) == ["restore key", "restore key", "del key"]
    assert listener.silent()


def test_a_restored_list_serves_who_waits_for_it(redis: Redis) -> None:
    redis("RPUSH", "list", "a", "b")
    payload = redis("DUMP", "list")
    waiter = redis.another()
    waiter.send("BLPOP", "queue", 0)
    redis.wait_blocked(1)
    redis("RESTORE", "queue", 0, payload)
    assert waiter.receive() == [b"queue", b"a"]


def test_small_values_have_few_bytes(redis: Redis) -> None:
    redis("SET", "text", "ab")
    redis("SET", "number", 5)
    redis("SET", "long", "a" * 1000)
    assert len(redis("DUMP", "text")) == 14
    assert len(redis("DUMP", "number")) == 13
    assert len(redis("DUMP", "long")) < 40


@pytest.mark.since("7.4.0")
def test_fields_keep_their_deadlines(redis: Redis) -> None:
    redis("HSET", "hash", "a", 1, "b", 2)
    redis("HPEXPIREAT", "hash", 4102444800123, "FIELDS", 1, "a")
    redis("RESTORE", "copy", 0, redis("DUMP", "hash"))
    assert redis("HPEXPIRETIME", "copy", "FIELDS", 2, "a", "b") == [4102444800123, -1]
    assert redis("OBJECT", "ENCODING", "copy") == b"listpackex"


@pytest.mark.since("7.4.0")
def test_a_hash_whose_fields_have_all_expired_goes_when_time_passes(redis: Redis) -> None:
    redis("HSET", "hash", "a", 1)
    redis("HPEXPIRE", "hash", 30, "FIELDS", 1, "a")
    payload = redis("DUMP", "hash")
    redis.pass_time(40)
    assert redis("RESTORE", "copy", 0, payload) == OK
    redis.pass_time(200)
    assert redis("EXISTS", "hash", "copy") == 0


def test_migrate_checks_its_arguments_and_knows_when_there_is_nothing_to_do(redis: Redis) -> None:
    assert redis("MIGRATE", "host", 1, "missing", 0, 100) == Status("NOKEY")
    assert redis("MIGRATE", "host", 1, "", 0, 100, "COPY", "AUTH2", "u", "p", "KEYS", "a", "b") == Status("NOKEY")
    assert redis("MIGRATE", "host", 1, "key", "x", 100) == NOT_AN_INTEGER
    for options in (["WHAT"], ["AUTH"], ["AUTH2", "u"]):
        assert redis("MIGRATE", "host", 1, "key", 0, "x", *options) == SYNTAX
    assert redis("MIGRATE", "host", 1, "key", 0, 100, "KEYS", "a") == Failure(
        "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string"
    )


def test_the_keys_of_migrate_can_be_asked_for(redis: Redis) -> None:
    for options, keys in (
        (["h", 1, "", 0, 10, "COPY", "AUTH2", "KEYS", "y", "KEYS", "a", "b"], [b"a", b"b"]),
        (["h", 1, "z", 0, 10, "REPLACE"], [b"z"]),
    ):
        assert redis("COMMAND", "GETKEYS", "MIGRATE", *options) == keys
    both = redis("COMMAND", "GETKEYS", "MIGRATE", "h", 1, "z", 0, 10, "KEYS", "a", "b")
    assert both == Failure("ERR Invalid arguments specified for command")


@pytest.mark.only("engine", "resp2", "resp3")
def test_migrate_says_that_it_can_not(redis: Redis) -> None:
    redis("SET", "key", "x")
    failure = redis("MIGRATE", "127.0.0.1", 1, "key", 0, 100)
    assert isinstance(failure, Failure)
    assert failure.startswith(b"IOERR")
    assert redis("GET", "key") == b"x"
