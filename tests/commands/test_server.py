"""TIME, saving, MONITOR, MODULE and other words to the server as a whole."""

from __future__ import annotations

import re
import time

import pytest

from redouble.engine.command import parse_version
from tests.kit import Failure, Redis, Status


def test_time_is_seconds_and_microseconds(redis: Redis) -> None:
    seconds, microseconds = redis("TIME")
    assert abs(int(seconds) - time.time()) < 5
    assert 0 <= int(microseconds) < 1_000_000


def test_time_moves_forward(redis: Redis) -> None:
    before = redis("TIME")
    redis.pass_time(5)
    after = redis("TIME")
    moved = (int(after[0]) - int(before[0])) * 1_000_000 + int(after[1]) - int(before[1])
    assert moved >= 5000


def test_time_stands_still_within_a_script_since_7_2(redis: Redis) -> None:
    ask = "local a = redis.call('TIME') for i = 1, 100000 do end local b = redis.call('TIME') "
    script = ask + "return {a[1], a[2], b[1], b[2]}"
    seconds, microseconds, later, microseconds_later = map(int, redis("EVAL", script, 0))
    passed = (later - seconds) * 1_000_000 + microseconds_later - microseconds
    assert passed == 0 if parse_version(redis.target.version) >= 70200 else passed > 0
    assert abs(seconds - int(redis("TIME")[0])) <= 1


def test_lastsave_is_a_time(redis: Redis) -> None:
    assert abs(redis("LASTSAVE") - time.time()) < 3600


def test_bgsave_knows_one_option(redis: Redis) -> None:
    assert redis("BGSAVE", "NOW") == Failure("ERR syntax error")
    assert redis("BGSAVE", "SCHEDULE", "x") == Failure("ERR syntax error")


def test_shutdown_checks_its_options(redis: Redis) -> None:
    for options in (["NONSENSE"], ["SAVE", "NOSAVE"], ["ABORT", "NOW"]):
        assert redis("SHUTDOWN", *options) == Failure("ERR syntax error")
    assert redis("SHUTDOWN", "ABORT") == Failure("ERR No shutdown in progress.")


def test_shutdown_is_not_for_transactions(redis: Redis) -> None:
    redis("MULTI")
    assert redis("SHUTDOWN", "NOSAVE") == Failure("ERR Command not allowed inside a transaction")


def test_monitor_shows_what_others_do(redis: Redis) -> None:
    watcher = redis.another(2)
    assert watcher("MONITOR") == Status("OK")
    redis("SET", 'a"b', "\r\n\x01")
    line = watcher.receive()
    assert line.endswith(b'] "SET" "a\\"b" "\\r\\n\\x01"')
    assert b" [0 " in line


def test_monitor_does_not_show_what_administrators_do(redis: Redis) -> None:
    watcher = redis.another(2)
    watcher("MONITOR")
    redis("CONFIG", "GET", "maxmemory")
    redis("PING")
    assert watcher.receive().endswith(b'"PING"')


def test_lolwut_tells_the_version(redis: Redis) -> None:
    assert redis("LOLWUT").endswith(f"Redis ver. {redis.target.version}\n".encode())
    assert redis("LOLWUT", "VERSION", "x") == Failure("ERR value is not an integer or out of range")


def test_there_are_no_modules(redis: Redis) -> None:
    assert redis("MODULE", "LIST") == []
    refused = redis("MODULE", "LOAD", "/x.so")
    assert refused.startswith(b"ERR MODULE command not allowed.")
    redis("MULTI")
    assert redis("MODULE", "UNLOAD", "x") == refused
    assert redis("EXEC").startswith(b"EXECABORT")
    assert re.search(rb"cmdstat_module.unload:calls=0,.*rejected_calls=[1-9]", redis("INFO", "commandstats"))


def test_a_master_without_replicas(redis: Redis) -> None:
    assert redis("ROLE")[0] == b"master"
    assert redis("REPLICAOF", "NO", "ONE") == Status("OK")
    for port in ("70000", "-1", "x"):
        assert redis("REPLICAOF", "localhost", port) == Failure("ERR Invalid master port")


def test_failover_needs_replicas(redis: Redis) -> None:
    assert redis("FAILOVER") == Failure("ERR FAILOVER requires connected replicas.")
    assert redis("FAILOVER", "ABORT") == Failure("ERR No failover in progress.")
    assert redis("FAILOVER", "TIMEOUT", 0) == Failure("ERR FAILOVER timeout must be greater than 0")
    assert redis("FAILOVER", "NONSENSE") == Failure("ERR syntax error")


@pytest.mark.only("engine", "resp2", "resp3")
def test_a_replica_reads_and_does_not_write(redis: Redis) -> None:
    redis("SET", "k", "v")
    assert redis("REPLICAOF", "127.0.0.1", "1") == Status("OK")
    assert redis("REPLICAOF", "127.0.0.1", "1") == Status("OK Already connected to specified master")
    assert redis("ROLE") == [b"slave", b"127.0.0.1", 1, b"connect", -1]
    assert b"master_link_status:down" in redis("INFO", "replication")
    assert redis("GET", "k") == b"v"
    error = Failure("READONLY You can't write against a read only replica.")
    assert redis("SET", "k", "w") == error
    redis.config("replica-read-only", "no")
    assert redis("SET", "k", "w") == Status("OK")
    assert redis("REPLICAOF", "NO", "ONE") == Status("OK")
    assert redis("ROLE")[0] == b"master"
