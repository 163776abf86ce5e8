"""The generic group, and the commands for whole databases."""

import pytest

from tests.commands.keyevents import Listener
from tests.kit import EngineTarget, Failure, Redis, Status

NOT_AN_INTEGER = Failure("ERR value is not an integer or out of range")
SYNTAX = Failure("ERR syntax error")
OUT_OF_RANGE = Failure("ERR DB index is out of range")
ADVICE = " Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."
SAME = Failure("ERR source and destination objects are the same")


# -- existence ------------------------------------------------------------------------------


def test_del_exists_and_touch_count_keys(redis: Redis) -> None:
    redis("MSET", "a", "1", "b", "2")
    assert redis("EXISTS", "a", "b", "a", "none") == 3
    assert redis("TOUCH", "a", "none", "a") == 2
    assert redis("DEL", "a", "none", "a") == 1
    assert redis("UNLINK", "a", "b") == 1


def test_type_names_every_type(redis: Redis) -> None:
    redis("SET", "string", "x")
    redis("RPUSH", "list", "x")
    redis("SADD", "set", "x")
    redis("ZADD", "zset", 1, "x")
    redis("HSET", "hash", "f", "v")
    redis("XADD", "stream", "*", "f", "v")
    for name in ("string", "list", "set", "zset", "hash", "stream"):
        assert redis("TYPE", name) == Status(name)
    assert redis("TYPE", "none") == Status("none")


def test_a_deleted_key_announces_itself_once(redis: Redis) -> None:
    listener = Listener(redis)
    redis("MSET", "a", "1", "b", "2")
    redis("DEL", "a", "a")
    redis("UNLINK", "b", "none")
    assert listener.heard(4) == ["set a", "set b", "del a", "del b"]
    assert listener.silent()


# -- finding keys ---------------------------------------------------------------------------


def test_keys_matches_globs(redis: Redis) -> None:
    redis("MSET", "key1", "", "key2", "", "other", "", "k*y", "")
    assert sorted(redis("KEYS", "key?")) == [b"key1", b"key2"]
    assert sorted(redis("KEYS", "*")) == [b"k*y", b"key1", b"key2", b"other"]
    assert redis("KEYS", "k\\*y") == [b"k*y"]
    assert redis("KEYS", "none") == []


def test_keys_hides_what_has_expired(redis: Redis) -> None:
    redis("SET", "a", "1")
    redis("SET", "b", "1", "PX", 1)
    redis.pass_time(10)
    assert redis("KEYS", "*") == [b"a"]
    assert redis("KEYS", "b") == []
    assert redis("SCAN", 0) == [b"0", [b"a"]]
    assert redis("RANDOMKEY") == b"a"


def scan_all(redis: Redis, *options: object) -> list[bytes]:
    found: list[bytes] = []
    cursor = b"0"
    while True:
        cursor, keys = redis("SCAN", cursor, *options)
        found += keys
        if cursor == b"0":
            return found


@pytest.mark.parametrize("size", [100, 1000])
def test_scan_gives_every_key_that_is_there_all_the_time(redis: Redis, size: int) -> None:
    stay = [b"stay%d" % number for number in range(size)]
    for key in stay:
        redis("SET", key, "")
    assert sorted(set(scan_all(redis))) == sorted(stay)
    assert sorted(set(scan_all(redis, "COUNT", 7))) == sorted(stay)
    assert sorted(set(scan_all(redis, "COUNT", 5000))) == sorted(stay)
    found: set[bytes] = set()
    cursor = b"0"
    step = 0
    while True:
        cursor, keys = redis("SCAN", cursor, "COUNT", 50)
        found.update(keys)
        redis("SET", f"new{step}", "")
        redis("DEL", f"new{step - 3}")
        step += 1
        if cursor == b"0":
            break
    assert found >= set(stay)


def test_scan_filters_by_pattern_and_type(redis: Redis) -> None:
    redis("MSET", "a1", "", "a2", "", "b1", "")
    redis("RPUSH", "a3", "x")
    assert sorted(scan_all(redis, "MATCH", "a*")) == [b"a1", b"a2", b"a3"]
    assert scan_all(redis, "TYPE", "LIST") == [b"a3"]
    assert sorted(scan_all(redis, "MATCH", "a*", "TYPE", "string")) == [b"a1", b"a2"]
    assert scan_all(redis, "TYPE", "nosuch") == []


def test_an_empty_type_is_that_of_no_key_and_a_zero_byte_ends_the_name(redis: Redis) -> None:
    redis("SET", "a", "1")
    assert scan_all(redis, "TYPE", "") == []
    assert scan_all(redis, "TYPE", b"string\0x") == [b"a"]


def test_scan_errors(redis: Redis) -> None:
    assert redis("SCAN", "x") == Failure("ERR invalid cursor")
    assert redis("SCAN", "1.5") == Failure("ERR invalid cursor")
    assert redis("SCAN", 0, "COUNT", 0) == SYNTAX
    assert redis("SCAN", 0, "COUNT", "x") == NOT_AN_INTEGER
    assert redis("SCAN", 0, "MATCH") == SYNTAX
    assert redis("SCAN", 0, "FOO", 1) == SYNTAX


@pytest.mark.since("7.4.0")
def test_novalues_is_for_hashes(redis: Redis) -> None:
    assert redis("SCAN", 0, "NOVALUES") == Failure("ERR NOVALUES option can only be used in HSCAN")


def test_randomkey_gives_all_keys_in_time(redis: Redis) -> None:
    assert redis("RANDOMKEY") is None
    redis("MSET", "a", "", "b", "", "c", "")
    assert {redis("RANDOMKEY") for _ in range(100)} == {b"a", b"b", b"c"}


def test_randomkey_of_a_large_database(redis: Redis) -> None:
    for number in range(400):
        redis("SET", number, "", "PX", 1) if number else redis("SET", "here", "")
    redis.pass_time(10)
    assert redis("RANDOMKEY") == b"here"


# -- moving ---------------------------------------------------------------------------------


def test_rename_takes_value_and_deadline_along(redis: Redis) -> None:
    redis("SET", "a", "1", "EX", 100)
    redis("SET", "b", "2")
    assert redis("RENAME", "a", "b") == Status("OK")
    assert redis("EXISTS", "a") == 0
    assert redis("GET", "b") == b"1"
    assert redis("TTL", "b") == 100
    assert redis("RENAME", "b", "b") == Status("OK")
    assert redis("RENAME", "none", "b") == Failure("ERR no such key")
    assert redis("RENAME", "none", "none") == Failure("ERR no such key")


def test_a_renamed_key_still_expires(redis: Redis) -> None:
    redis("SET", "a", "1", "PX", 5)
    redis("RENAME", "a", "b")
    redis.pass_time(15)
    assert redis("EXISTS", "b") == 0


@pytest.mark.since("7.4.0")
def test_fields_that_expire_do_so_under_another_name(redis: Redis) -> None:
    listener = Listener(redis)
    redis("HSET", "h", "f", "v")
    redis("HPEXPIRE", "h", 2000, "FIELDS", 1, "f")
    redis("COPY", "h", "h2")
    redis("RENAME", "h", "h1")
    assert listener.heard(5) == ["hset h", "hexpire h", "copy_to h2", "rename_from h", "rename_to h1"]
    redis.pass_time(2010)
    assert sorted(listener.heard(4)) == ["del h1", "del h2", "hexpired h1", "hexpired h2"]
    assert redis("DBSIZE") == 0


def test_renamenx_respects_the_other_key(redis: Redis) -> None:
    redis("MSET", "a", "1", "b", "2")
    assert redis("RENAMENX", "a", "b") == 0
    assert redis("RENAMENX", "a", "a") == 0
    assert redis("RENAMENX", "a", "c") == 1
    assert redis("GET", "c") == b"1"


def test_move_goes_to_another_database(redis: Redis) -> None:
    redis("SET", "a", "1", "EX", 100)
    assert redis("MOVE", "a", 1) == 1
    assert redis("MOVE", "a", 1) == 0
    assert redis("MOVE", "a", 0) == SAME
    assert redis("MOVE", "a", 16) == OUT_OF_RANGE
    assert redis("MOVE", "a", -1) == OUT_OF_RANGE
    assert redis("MOVE", "a", "x") == NOT_AN_INTEGER
    redis("SELECT", 1)
    assert redis("TTL", "a") == 100
    redis("SELECT", 0)
    redis("SET", "a", "2")
    assert redis("MOVE", "a", 1) == 0
    assert redis("GET", "a") == b"2"


def test_a_copy_shares_nothing(redis: Redis) -> None:
    redis("RPUSH", "l", "a")
    redis("APPEND", "s", "ab")
    redis("APPEND", "s", "cd")
    redis("EXPIRE", "s", 100)
    assert redis("COPY", "l", "l2") == 1
    assert redis("COPY", "s", "s2") == 1
    redis("RPUSH", "l2", "b")
    redis("APPEND", "s2", "ef")
    assert redis("LRANGE", "l", 0, -1) == [b"a"]
    assert redis("GET", "s") == b"abcd"
    assert redis("TTL", "s2") == 100


def test_copy_options(redis: Redis) -> None:
    redis("MSET", "a", "1", "b", "2")
    assert redis("COPY", "a", "b") == 0
    assert redis("COPY", "a", "b", "REPLACE") == 1
    assert redis("COPY", "a", "a") == SAME
    assert redis("COPY", "a", "a", "DB", 1) == 1
    assert redis("COPY", "a", "a", "DB", 99) == OUT_OF_RANGE
    assert redis("COPY", "a", "c", "DB") == SYNTAX
    assert redis("COPY", "none", "c") == 0
    assert redis("COPY", "none", "none", "FOO") == SYNTAX


def test_moving_announces_both_names(redis: Redis) -> None:
    redis.config("notify-keyspace-events", "EAn")
    listener = redis.another(2)
    listener("PSUBSCRIBE", "__keyevent@*__:*")
    redis("SET", "a", "1")
    redis("RENAME", "a", "b")
    redis("COPY", "b", "c")
    redis("MOVE", "c", 1)
    heard = [tuple(listener.receive()[2:]) for _ in range(9)]
    assert heard == [
        (b"__keyevent@0__:new", b"a"), (b"__keyevent@0__:set", b"a"),
        (b"__keyevent@0__:new", b"b"), (b"__keyevent@0__:rename_from", b"a"), (b"__keyevent@0__:rename_to", b"b"),
        (b"__keyevent@0__:new", b"c"), (b"__keyevent@0__:copy_to", b"c"),
        (b"__keyevent@1__:new", b"c"), (b"__keyevent@0__:move_from", b"c"),
    ]  # fmt: skip


def test_rename_breaks_the_watch_of_both_names(redis: Redis) -> None:
    redis("MSET", "a", "1", "c", "1")
    other = redis.another()
    for watched in ("a", "b"):
        redis("SET", "a", "1")
        redis("WATCH", watched)
        other("RENAME", "a", "b")
        redis("MULTI")
        redis("PING")
        assert redis("EXEC") is None


# -- OBJECT ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "encoding"),
    [("0", b"int"), ("-9223372036854775808", b"int"), ("9223372036854775808", b"embstr"), ("01", b"embstr"),
     ("", b"embstr"), ("x" * 44, b"embstr"), ("x" * 45, b"raw")],
)  # fmt: skip
def test_strings_have_three_encodings(redis: Redis, value: str, encoding: bytes) -> None:
    redis("SET", "k", value)
    assert redis("OBJECT", "ENCODING", "k") == encoding


def test_object_of_a_missing_key(redis: Redis) -> None:
    for word in ("ENCODING", "REFCOUNT", "IDLETIME", "FREQ"):
        assert redis("OBJECT", word, "none") is None


def test_small_integers_are_shared(redis: Redis) -> None:
    redis("MSET", "small", "9999", "large", "10000", "text", "abc")
    assert redis("OBJECT", "REFCOUNT", "small") == 2147483647
    assert redis("OBJECT", "REFCOUNT", "large") == 1
    assert redis("OBJECT", "REFCOUNT", "text") == 1


@pytest.mark.only("engine", "resp2", "resp3")
def test_looking_does_not_use_a_key(redis: Redis) -> None:
    redis("SET", "k", "v")
    redis.pass_time(5000)
    for command in ("EXISTS", "TYPE", "TTL"):
        redis(command, "k")
    assert redis("OBJECT", "IDLETIME", "k") == 5
    redis("GET", "k")
    assert redis("OBJECT", "IDLETIME", "k") == 0
    redis.pass_time(3000)
    redis("TOUCH", "k")
    assert redis("OBJECT", "IDLETIME", "k") == 0


def test_frequency_and_idle_time_exclude_each_other(redis: Redis) -> None:
    redis("SET", "k", "v")
    assert redis("OBJECT", "FREQ", "k") == Failure(
        "ERR An LFU maxmemory policy is not selected, access frequency not tracked." + ADVICE
    )
    redis.config("maxmemory-policy", "allkeys-lfu")
    assert redis("OBJECT", "IDLETIME", "k") == Failure(
        "ERR An LFU maxmemory policy is selected, idle time not tracked." + ADVICE
    )
    assert isinstance(redis("OBJECT", "FREQ", "k"), int)


# -- waiting, whole databases ---------------------------------------------------------------


def test_wait_without_replicas(redis: Redis) -> None:
    assert redis("WAIT", 0, 0) == 0
    assert redis("WAIT", "x", 0) == NOT_AN_INTEGER
    assert redis("WAIT", 1, "x") == Failure("ERR timeout is not an integer or out of range")
    assert redis("WAIT", 1, -1) == Failure("ERR timeout is negative")
    redis.send("WAIT", 1, 20)
    redis.another().pass_time(30)
    assert redis.receive() == 0


@pytest.mark.since("7.2.0")
def test_waitaof_without_an_append_only_file(redis: Redis) -> None:
    assert redis("WAITAOF", 0, 0, 0) == [0, 0]
    text = "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."
    assert redis("WAITAOF", 1, 0, 0) == Failure(text)
    assert redis("WAITAOF", 2, 0, 0) == Failure("ERR value is out of range, value must between 0 and 1")
    assert redis("WAITAOF", 0, -1, 0) == Failure("ERR value is out of range, must be positive")


def test_flushing(redis: Redis) -> None:
    redis("SET", "a", "1")
    redis("SELECT", 1)
    redis("SET", "b", "1")
    assert redis("FLUSHDB", "async") == Status("OK")
    assert redis("DBSIZE") == 0
    redis("SELECT", 0)
    assert redis("DBSIZE") == 1
    assert redis("FLUSHALL", "FOO") == SYNTAX
    assert redis("FLUSHALL", "SYNC", "SYNC") == SYNTAX
    assert redis("FLUSHALL", "SYNC") == Status("OK")
    assert redis("DBSIZE") == 0


def test_swapdb_exchanges_what_clients_see(redis: Redis) -> None:
    redis("SET", "a", "0")
    other = redis.another()
    other("SELECT", 1)
    other("SET", "a", "1")
    assert redis("SWAPDB", 0, 1) == Status("OK")
    assert redis("GET", "a") == b"1"
    assert other("GET", "a") == b"0"
    assert redis("SWAPDB", "x", 1) == Failure("ERR invalid first DB index")
    assert redis("SWAPDB", 0, "x") == Failure("ERR invalid second DB index")
    assert redis("SWAPDB", 0, 16) == OUT_OF_RANGE


@pytest.mark.only("engine")
def test_a_node_of_a_cluster_copies_within_its_one_database(redis: Redis) -> None:
    # The texts are those of redis-server 7.0.15 with --cluster-enabled yes.
    assert isinstance(redis.target, EngineTarget)
    redis.target.engine.config.set(b"cluster-enabled", b"yes")
    redis("SET", "{a}", "v")
    assert redis("COPY", "{a}", "{a}2", "DB", 0) == 1
    forbidden = Failure("ERR Copying to another database is not allowed in cluster mode")
    assert redis("COPY", "{a}", "{a}2", "DB", 1) == forbidden
    assert redis("COPY", "{a}", "{a}2", "DB", 16) == Failure("ERR DB index is out of range")
