"""SLOWLOG, LATENCY and MEMORY."""

from __future__ import annotations

import pytest

from redouble.engine.command import parse_version
from tests.kit import EngineTarget, Failure, Redis, Status


def test_everything_is_slow_at_a_threshold_of_zero(redis: Redis) -> None:
    redis("SLOWLOG", "RESET")
    redis("CLIENT", "SETNAME", "me")
    redis.config("slowlog-log-slower-than", 0)
    redis("SET", "k", "v")
    newest = redis("SLOWLOG", "GET", 1)[0]
    assert newest[3] == [b"SET", b"k", b"v"]
    assert newest[5] == b"me"
    assert len(newest) == 6
    assert newest[2] >= 0


def test_nothing_is_slow_at_a_negative_threshold(redis: Redis) -> None:
    redis("SLOWLOG", "RESET")
    redis.config("slowlog-log-slower-than", -1)
    redis("DEBUG", "SLEEP", "0.011")
    assert redis("SLOWLOG", "LEN") == 0


def test_ids_go_on_after_a_reset(redis: Redis) -> None:
    redis.config("slowlog-log-slower-than", 0)
    redis("PING")
    last = redis("SLOWLOG", "GET", 1)[0][0]
    redis("SLOWLOG", "RESET")
    redis("PING")
    assert redis("SLOWLOG", "GET", 1)[0][0] > last


def test_long_arguments_and_many_arguments_are_cut(redis: Redis) -> None:
    redis.config("slowlog-log-slower-than", 0)
    redis("SADD", "s", "x" * 200, *range(40))
    argv = redis("SLOWLOG", "GET", 1)[0][3]
    assert len(argv) == 32
    assert argv[2] == b"x" * 128 + b"... (72 more bytes)"
    assert argv[31] == b"... (12 more arguments)"


def test_the_log_keeps_its_length(redis: Redis) -> None:
    redis.config("slowlog-max-len", 3)
    redis.config("slowlog-log-slower-than", 0)
    for _ in range(5):
        redis("PING")
    assert redis("SLOWLOG", "LEN") == 3
    redis.config("slowlog-max-len", 1)
    redis("PING")
    assert redis("SLOWLOG", "LEN") == 1


def test_a_shorter_length_counts_when_the_next_is_noted(redis: Redis) -> None:
    redis.config("slowlog-log-slower-than", 0)
    redis("SLOWLOG", "RESET")
    for _ in range(5):
        redis("PING")
    redis.config("slowlog-log-slower-than", -1)
    length = redis("SLOWLOG", "LEN")
    assert length > 5
    redis.config("slowlog-max-len", 3)
    assert redis("SLOWLOG", "LEN") == length
    redis.config("slowlog-log-slower-than", 0)
    redis("PING")
    assert redis("SLOWLOG", "LEN") == 3


def test_what_a_script_calls_is_noted_before_the_script(redis: Redis) -> None:
    redis("CLIENT", "SETNAME", "me")
    redis.config("slowlog-log-slower-than", 0)
    redis("EVAL", "return redis.call('mset', KEYS[1], 1, KEYS[2], 2)", 2, "a", "b")
    script, call = redis("SLOWLOG", "GET", 2)
    assert script[3][0] == b"EVAL" and script[5] == b"me"
    assert call[3] == [b"mset", b"a", b"1", b"b", b"2"]
    early = parse_version(redis.target.version) < 70200
    assert call[4:] == [b"?:0", b""] if early else script[4:]


def test_before_7_2_a_script_is_nobody_in_the_log() -> None:
    early = Redis(EngineTarget("7.0.15"), 2)
    early("CONFIG", "SET", "slowlog-log-slower-than", 0)
    early("EVAL", "return redis.call('get', KEYS[1])", 1, "a")
    assert early("SLOWLOG", "GET", 2)[1][3:] == [[b"get", b"a"], b"?:0", b""]


def test_count_is_checked_and_minus_one_means_all(redis: Redis) -> None:
    error = Failure("ERR count should be greater than or equal to -1")
    assert redis("SLOWLOG", "GET", -2) == error
    assert redis("SLOWLOG", "GET", "x") == error
    redis.config("slowlog-log-slower-than", 0)
    for _ in range(12):
        redis("PING")
    assert len(redis("SLOWLOG", "GET")) == 10
    assert len(redis("SLOWLOG", "GET", -1)) >= 12
    assert redis("SLOWLOG", "GET", 1, 2) == Failure(
        "ERR unknown subcommand or wrong number of arguments for 'GET'. Try SLOWLOG HELP."
    )


def test_passwords_are_not_logged(redis: Redis) -> None:
    redis.config("slowlog-log-slower-than", 0)
    redis.config("masterauth", "secret")
    shown = [entry[3] for entry in redis("SLOWLOG", "GET", -1)]
    assert [b"CONFIG", b"SET", b"masterauth", b"(redacted)"] in shown


def test_slow_commands_are_latency_events(redis: Redis) -> None:
    redis("LATENCY", "RESET")
    redis.config("latency-monitor-threshold", 10)
    redis("DEBUG", "SLEEP", "0.02")
    [event] = [event for event in redis("LATENCY", "LATEST") if event[0] == b"command"]
    assert 19 <= event[2] < 2000
    assert event[3] == event[2]
    history = redis("LATENCY", "HISTORY", "command")
    assert history == [[event[1], event[2]]]
    assert redis("LATENCY", "HISTORY", "nothing") == []
    graph = redis("LATENCY", "GRAPH", "command")
    assert graph.startswith(b"command - high %d ms, low %d ms (all time high %d ms)\n" % ((event[2],) * 3))
    assert b"command" in redis("LATENCY", "DOCTOR")
    assert redis("LATENCY", "RESET", "command", "nothing") == 1
    assert redis("LATENCY", "LATEST") == []


def test_no_graph_of_nothing(redis: Redis) -> None:
    redis("LATENCY", "RESET")
    assert redis("LATENCY", "GRAPH", "command") == Failure("ERR No samples available for event 'command'")


def test_the_histogram_counts_calls_cumulatively(redis: Redis) -> None:
    for number in range(5):
        redis("SET", "k", number)
    redis("CONFIG", "RESETSTAT")
    for number in range(3):
        redis("SET", "k", number)
    name, (word, calls, histogram, buckets) = redis("LATENCY", "HISTOGRAM", "set", "nonsense", "get")
    assert (name, word, calls, histogram) == (b"set", b"calls", 3, b"histogram_usec")
    assert buckets[-1] == 3
    bounds, counts = buckets[::2], buckets[1::2]
    assert bounds == sorted(bounds)
    assert counts == sorted(counts)


def test_the_histogram_of_a_container_is_that_of_its_sub_commands(redis: Redis) -> None:
    redis("CONFIG", "RESETSTAT")
    redis("CLIENT", "ID")
    assert redis("LATENCY", "HISTOGRAM", "client")[0] == b"client|id"
    redis.config("latency-tracking", "no")
    redis("CONFIG", "RESETSTAT")
    redis("CLIENT", "ID")
    assert redis("LATENCY", "HISTOGRAM", "client") == []


def test_what_was_counted_stays_while_nothing_is_counted(redis: Redis) -> None:
    redis("CONFIG", "RESETSTAT")
    redis("CLIENT", "ID")
    redis.config("latency-tracking", "no")
    redis("CLIENT", "ID")
    name, (_, calls, *_) = redis("LATENCY", "HISTOGRAM", "client")
    assert (name, calls) == (b"client|id", 1)
    assert b"client|id" not in redis("INFO", "latencystats")
    redis("CONFIG", "SET", "latency-tracking", "yes")
    assert b"client|id" in redis("INFO", "latencystats")


@pytest.mark.parametrize(
    ("value", "size"),
    [("bar", 56), ("12345", 48), ("x" * 40, 96), ("x" * 100, 152), ("x" * 10000, 10280)],
)
def test_memory_usage_of_strings_is_close_to_the_real_one(redis: Redis, value: str, size: int) -> None:
    redis("SET", "foo", value)
    assert abs(redis("MEMORY", "USAGE", "foo") - size) <= size // 4


def test_memory_usage_grows_with_the_elements(redis: Redis) -> None:
    for count in (10, 1000):
        redis("RPUSH", f"list{count}", *range(count))
        redis("SADD", f"set{count}", *[f"m{number}" for number in range(count)])
        redis("HSET", f"hash{count}", *[f"f{number}" for number in range(count * 2)])
        redis("ZADD", f"zset{count}", *[part for number in range(count) for part in (number, f"m{number}")])
        for _ in range(count):
            redis("XADD", f"stream{count}", "*", "field", "value")
    for kind in ("list", "set", "hash", "zset", "stream"):
        small, large = redis("MEMORY", "USAGE", f"{kind}10"), redis("MEMORY", "USAGE", f"{kind}1000")
        assert 0 < small * 2 < large, kind
        assert redis("MEMORY", "USAGE", f"{kind}1000", "SAMPLES", 0) > small


def test_memory_usage_checks_its_options(redis: Redis) -> None:
    assert redis("MEMORY", "USAGE", "none") is None
    assert redis("MEMORY", "USAGE", "none", "SAMPLES") == Failure("ERR syntax error")
    assert redis("MEMORY", "USAGE", "none", "SAMPLES", -1) == Failure("ERR syntax error")
    assert redis("MEMORY", "USAGE", "none", "NONSENSE", 1) == Failure("ERR syntax error")
    assert redis("MEMORY", "USAGE", "none", "SAMPLES", "x") == Failure("ERR value is not an integer or out of range")


def test_memory_stats_name_the_figures(redis: Redis) -> None:
    redis("SET", "k", "v")
    stats = redis("MEMORY", "STATS")
    names = stats[::2]
    for name in (b"peak.allocated", b"total.allocated", b"db.0", b"keys.count", b"dataset.bytes", b"fragmentation"):
        assert name in names
    assert stats[stats.index(b"keys.count") + 1] == 1


def test_the_rest_of_memory_answers(redis: Redis) -> None:
    assert redis("MEMORY", "PURGE") == Status("OK")
    assert isinstance(redis("MEMORY", "DOCTOR"), bytes)
    assert isinstance(redis("MEMORY", "MALLOC-STATS"), bytes)
