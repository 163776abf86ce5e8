"""REDOUBLE SNAPSHOT: whole states by name, as a client sees them."""

from __future__ import annotations

import pytest

from tests.doubles import DoubleEngine, mapping
from tests.kit import Failure, Redis, Status

OK = Status("OK")
NOON = 1_700_000_000_000
NO_SNAPSHOT = Failure("ERR no such snapshot, SNAPSHOT LIST tells which there are")


def snapshot(redis: Redis, *args: object) -> object:
    return redis("REDOUBLE", "SNAPSHOT", *args)


def test_a_state_comes_back_as_it_was(double: Redis) -> None:
    double("SET", "s", "before")
    double("RPUSH", "l", "a", "b")
    double("SELECT", 3)
    double("SET", "other", "v")
    double("SELECT", 0)
    assert snapshot(double, "SAVE", "base") == OK
    double("SET", "s", "after")
    double("LPOP", "l")
    double("SET", "new", "v")
    double("SELECT", 3)
    double("DEL", "other")
    double("SELECT", 0)
    assert snapshot(double, "RESTORE", "base") == OK
    assert double("KEYS", "*") == [b"s", b"l"]
    assert double("GET", "s") == b"before"
    assert double("LRANGE", "l", 0, -1) == [b"a", b"b"]
    double("SELECT", 3)
    assert double("GET", "other") == b"v"


def test_a_state_can_be_restored_again_and_again(double: Redis) -> None:
    double("SADD", "x", "a")
    snapshot(double, "SAVE", "base")
    for number in range(3):
        double("SADD", "x", number)
        if number == 1:
            double("FLUSHALL")
        snapshot(double, "RESTORE", "base")
        assert double("SMEMBERS", "x") == [b"a"]


def test_deadlines_come_back_and_fire(double: Redis) -> None:
    double("REDOUBLE", "CLOCK", "FREEZE", NOON)
    double("SET", "k", "v", "PX", 1000)
    double("HSET", "h", "f", "1", "g", "2")
    double("HPEXPIRE", "h", 2000, "FIELDS", 1, "f")
    snapshot(double, "SAVE", "base")
    double("PERSIST", "k")
    double("FLUSHALL")
    snapshot(double, "RESTORE", "base")
    assert double("PTTL", "k") == 1000
    assert double("HPTTL", "h", "FIELDS", 2, "f", "g") == [2000, -1]
    double("REDOUBLE", "CLOCK", "ADVANCE", 1001)
    assert double("DBSIZE") == 1
    double("REDOUBLE", "CLOCK", "ADVANCE", 1000)
    assert double("HLEN", "h") == 1
    # Without the clock time has gone on, so what was due goes at once.
    snapshot(double, "RESTORE", "base")
    assert double("DBSIZE") == 1
    assert double("HLEN", "h") == 1


def test_the_clock_comes_back_if_it_was_saved(double: Redis) -> None:
    double("REDOUBLE", "CLOCK", "FREEZE", NOON)
    double("SET", "k", "v", "PX", 1000)
    snapshot(double, "SAVE", "base", "CLOCK")
    double("REDOUBLE", "CLOCK", "ADVANCE", 60_000)
    double("REDOUBLE", "CLOCK", "RESUME")
    assert double("DBSIZE") == 0
    snapshot(double, "RESTORE", "base")
    state = mapping(double("REDOUBLE", "CLOCK"))
    assert state["now"] == NOON
    assert state["frozen"]
    assert double("PTTL", "k") == 1000


def test_last_use_comes_back(double: Redis) -> None:
    double("REDOUBLE", "CLOCK", "FREEZE", NOON)
    double("SET", "k", "v")
    double("REDOUBLE", "CLOCK", "ADVANCE", 50_000)
    snapshot(double, "SAVE", "base")
    double("GET", "k")
    assert double("OBJECT", "IDLETIME", "k") == 0
    snapshot(double, "RESTORE", "base")
    assert double("OBJECT", "IDLETIME", "k") == 50


def test_what_no_event_tells_of_comes_back_too(double: Redis) -> None:
    double("CONFIG", "SET", "set-max-listpack-entries", 4)
    double("SADD", "x", "a", "b")
    double("XADD", "stream", "1-1", "f", "v")
    double("XGROUP", "CREATE", "stream", "g", "$")
    double("XGROUP", "CREATECONSUMER", "stream", "g", "c")
    double("REDOUBLE", "CLOCK", "FREEZE", NOON)
    before = double("XINFO", "CONSUMERS", "stream", "g")
    snapshot(double, "SAVE", "base")
    # No new members, but a set for many more: a table from now on.
    double("SADD", "x", "a", "b", "a", "b", "a", "b")
    assert double("OBJECT", "ENCODING", "x") == b"hashtable"
    double("XREADGROUP", "GROUP", "g", "d", "STREAMS", "stream", ">")
    assert double("XINFO", "CONSUMERS", "stream", "g") != before
    snapshot(double, "RESTORE", "base")
    assert double("OBJECT", "ENCODING", "x") == b"listpack"
    assert double("XINFO", "CONSUMERS", "stream", "g") == before


def test_scripts_and_functions_come_back(double: Redis) -> None:
    sha = double("SCRIPT", "LOAD", "return 1")
    code = "#!lua name=lib\nredis.register_function('f', function() return 1 end)"
    double("FUNCTION", "LOAD", code)
    snapshot(double, "SAVE", "base")
    double("SCRIPT", "FLUSH")
    double("FUNCTION", "LOAD", "REPLACE", code.replace("return 1", "return 2"))
    later = double("SCRIPT", "LOAD", "return 2")
    assert double("FCALL", "f", 0) == 2
    snapshot(double, "RESTORE", "base")
    assert double("SCRIPT", "EXISTS", sha, later) == [1, 0]
    assert double("EVALSHA", sha, 0) == 1
    assert double("FCALL", "f", 0) == 1
    double("FUNCTION", "FLUSH")
    snapshot(double, "RESTORE", "base")
    assert double("FCALL", "f", 0) == 1


def test_watched_keys_count_as_changed(double: Redis) -> None:
    double("SET", "there", "v")
    snapshot(double, "SAVE", "base")
    double("DEL", "there")
    watchers = {key: double.another(2) for key in ("there", "never")}
    for key, watcher in watchers.items():
        watcher("WATCH", key)
    snapshot(double, "RESTORE", "base")
    replies = {}
    for key, watcher in watchers.items():
        watcher("MULTI")
        replies[key] = watcher("EXEC")
    assert replies == {"there": None, "never": []}


def test_who_waits_for_a_key_gets_it(double: Redis) -> None:
    double("RPUSH", "q", "a")
    snapshot(double, "SAVE", "base")
    double("DEL", "q")
    waiter = double.another(2)
    waiter.send("BLPOP", "q", 0)
    double.wait_blocked(1)
    snapshot(double, "RESTORE", "base")
    assert waiter.receive() == [b"q", b"a"]
    assert double("EXISTS", "q") == 0
    # The copy of the snapshot is unharmed by that.
    snapshot(double, "RESTORE", "base")
    assert double("LRANGE", "q", 0, -1) == [b"a"]


def test_caches_of_clients_are_told(double: Redis) -> None:
    double("SET", "k", "v")
    snapshot(double, "SAVE", "base")
    other = double.another(3)
    other("CLIENT", "TRACKING", "ON")
    other("GET", "k")
    snapshot(double, "RESTORE", "base")
    assert other.receive() == [b"invalidate", None]


def test_a_scan_finds_what_was_restored(double: Redis) -> None:
    keys = {b"key:%d" % number for number in range(500)}
    for key in keys:
        double("SET", key, "v")
    snapshot(double, "SAVE", "base")
    double("SCAN", 0, "COUNT", 10)
    for key in sorted(keys)[:300]:
        double("DEL", key)
    double("SET", "another", "v")
    snapshot(double, "RESTORE", "base")
    found: list[bytes] = []
    cursor = b"0"
    while True:
        cursor, some = double("SCAN", cursor, "COUNT", 50)
        found += some
        if cursor == b"0":
            break
    assert sorted(found) == sorted(keys)


def test_the_memory_limit_knows_what_was_restored(double: Redis) -> None:
    double("CONFIG", "SET", "maxmemory", 100_000_000)

    def dataset() -> int:
        return int(double("INFO", "memory").partition(b"used_memory_dataset:")[2].partition(b"\r")[0])

    for number in range(50):
        double("SET", f"k{number}", "v" * 1000)
    full = dataset()
    snapshot(double, "SAVE", "base")
    double("FLUSHALL")
    assert dataset() < full - 50_000
    snapshot(double, "RESTORE", "base")
    assert dataset() == full
    double("SET", "k0", "short")
    assert dataset() < full
    snapshot(double, "RESTORE", "base")
    assert dataset() == full


def test_swapped_databases_come_back(double: Redis) -> None:
    double("RPUSH", "l", "a")
    snapshot(double, "SAVE", "base")
    double("SWAPDB", 0, 1)
    double("SELECT", 1)
    double("RPUSH", "l", "b")
    double("SWAPDB", 0, 1)
    double("SELECT", 0)
    snapshot(double, "RESTORE", "base")
    assert double("LRANGE", "l", 0, -1) == [b"a"]


def test_names_are_listed_replaced_and_dropped(double: Redis) -> None:
    double("REDOUBLE", "CLOCK", "FREEZE", NOON)
    assert snapshot(double, "LIST") == []
    snapshot(double, "SAVE", "empty")
    double("SET", "k", "v")
    snapshot(double, "SAVE", "one", "CLOCK")
    listed = {name: mapping(facts) for name, facts in double.pairs("REDOUBLE", "SNAPSHOT", "LIST")}
    assert listed == {
        b"empty": {"keys": 0, "saved-at": NOON, "clock": 0},
        b"one": {"keys": 1, "saved-at": NOON, "clock": 1},
    }
    snapshot(double, "RESTORE", "empty")
    assert double("DBSIZE") == 0
    snapshot(double, "SAVE", "one")
    assert snapshot(double, "DROP", "empty") == OK
    assert snapshot(double, "RESTORE", "empty") == NO_SNAPSHOT
    double("SET", "k", "v")
    assert snapshot(double, "RESTORE", "one") == OK
    assert double("DBSIZE") == 0


def test_bad_arguments_are_refused(double: Redis) -> None:
    double("SET", "k", "v")
    assert snapshot(double, "RESTORE", "none") == NO_SNAPSHOT
    assert snapshot(double, "DROP", "none") == NO_SNAPSHOT
    assert snapshot(double, "SAVE", "") == Failure("ERR the name of a snapshot must not be empty")
    assert snapshot(double, "SAVE", "a", "TIME") == Failure("ERR syntax error")
    assert snapshot(double, "KEEP", "a") == Failure(
        "ERR unknown action 'KEEP', SNAPSHOT knows SAVE, RESTORE, DROP and LIST"
    )
    assert snapshot(double, "RESTORE", "a", "b") == Failure(
        "ERR unknown subcommand or wrong number of arguments for 'SNAPSHOT'. Try REDOUBLE HELP."
    )
    assert snapshot(double, "LIST") == []
    assert double("GET", "k") == b"v"


def test_a_state_is_not_restored_in_the_middle_of_a_script(double: Redis) -> None:
    if isinstance(double.target, DoubleEngine):
        pytest.skip("without an edge a script holds everything")
    double("CONFIG", "SET", "busy-reply-threshold", 1)
    snapshot(double, "SAVE", "base")
    runner = double.another(2)
    runner.send("EVAL", "while true do redis.call('PING') end", 0)
    double.wait_until(lambda: isinstance(double("PING"), Failure))
    busy = double("PING")
    assert busy.startswith(b"BUSY ")
    assert snapshot(double, "RESTORE", "base") == busy
    # The clock can be moved, but nothing fires before the script has ended.
    assert isinstance(double("REDOUBLE", "CLOCK", "ADVANCE", 1000), int)
    assert double("SCRIPT", "KILL") == OK
    assert isinstance(runner.receive(), Failure)
    assert snapshot(double, "RESTORE", "base") == OK
