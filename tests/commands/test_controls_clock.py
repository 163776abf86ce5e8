"""REDOUBLE CLOCK and SEED: what a client sees when it moves the time, or seeds chance."""

from __future__ import annotations

import time

import pytest

from tests.doubles import DoubleEngine, mapping
from tests.kit import Failure, Redis, Status

#: Some time in 2023, Unix time in ms.
NOON = 1_700_000_000_000
LATEST = 253_402_300_799_999


def clock(redis: Redis, *args: object) -> object:
    return redis("REDOUBLE", "CLOCK", *args)


def test_a_frozen_clock_shows_one_time_everywhere(double: Redis) -> None:
    assert clock(double, "FREEZE", NOON) == NOON
    assert double("TIME") == [b"1700000000", b"0"]
    assert double("EVAL", "return redis.call('TIME')", 0) == [b"1700000000", b"0"]
    assert double("XADD", "x", "*", "f", "v") == b"%d-0" % NOON
    double("SET", "k", "v", "PX", 500)
    assert double("PEXPIRETIME", "k") == NOON + 500
    assert mapping(double("REDOUBLE", "CLOCK"))["now"] == NOON


def test_the_state_is_a_map(double: Redis) -> None:
    raw = double.raw("REDOUBLE", "CLOCK")
    assert raw.startswith(b"%6\r\n" if double.resp == 3 else b"*12\r\n")
    state = mapping(double("REDOUBLE", "CLOCK"))
    assert list(state) == ["now", "now-us", "frozen", "offset", "autojump", "next-due"]
    assert not state["frozen"]
    assert abs(state["now"] - time.time() * 1000) < 60_000
    assert state["offset"] == 0
    assert state["autojump"] is None
    assert state["next-due"] is None


def test_the_state_tells_what_is_due_next(double: Redis) -> None:
    clock(double, "FREEZE", NOON)
    double("SET", "gone", "v", "PX", 10)
    double("SET", "k", "v", "PX", 700)
    double("DEL", "gone")
    state = mapping(double("REDOUBLE", "CLOCK"))
    assert state["frozen"]
    # A key lives through the whole of its last millisecond.
    assert state["next-due"] == NOON + 701
    clock(double, "ADVANCE", 701)
    assert mapping(double("REDOUBLE", "CLOCK"))["next-due"] is None


def test_what_is_advanced_has_expired_when_the_reply_comes(double: Redis) -> None:
    clock(double, "FREEZE", NOON)
    double("SET", "k", "v", "EX", 60)
    assert clock(double, "ADVANCE", 59_000) == NOON + 59_000
    assert double("TTL", "k") == 1
    assert clock(double, "ADVANCE", 2_000) == NOON + 61_000
    assert double("DBSIZE") == 0


def test_a_running_clock_advances_too_and_runs_on(double: Redis) -> None:
    before = mapping(double("REDOUBLE", "CLOCK"))["now"]
    double("SET", "k", "v", "EX", 60)
    after = clock(double, "ADVANCE", 61_000)
    assert isinstance(after, int)
    assert 61_000 <= after - before < 61_000 + 5_000
    assert double("DBSIZE") == 0
    state = mapping(double("REDOUBLE", "CLOCK"))
    assert not state["frozen"]
    # Time stood while what was due fired.
    assert 56_000 < state["offset"] <= 61_000
    double.wait_until(lambda: mapping(double("REDOUBLE", "CLOCK"))["now-us"] > after * 1000)


def test_fields_expire_with_the_clock(double: Redis) -> None:
    clock(double, "FREEZE", NOON)
    double("HSET", "h", "a", "1", "b", "2")
    double("HPEXPIRE", "h", 500, "FIELDS", 1, "a")
    clock(double, "ADVANCE", 499)
    assert double("HLEN", "h") == 2
    clock(double, "ADVANCE", 2)
    assert double("HLEN", "h") == 1


def test_events_and_time_outs_come_in_the_order_in_which_they_were_due(double: Redis) -> None:
    clock(double, "FREEZE", NOON)
    double("CONFIG", "SET", "notify-keyspace-events", "Ex")
    witness = double.another(2)
    witness("MONITOR")
    waiters = [double.another(2) for _ in range(2)]
    for number, waiter in enumerate(waiters):
        # Once its time is up each tells the time: a request that waits in the same read.
        waiter.send("BLPOP", "none", number + 1)
        waiter.send("EVAL", "return redis.call('TIME')", 0)
    double.wait_blocked(2)
    listener = double.another(2)
    listener("SUBSCRIBE", "__keyevent@0__:expired")
    double("SET", "early", "v", "PX", 500)
    double("SET", "between", "v", "PX", 1500)
    double("SET", "late", "v", "PX", 2500)
    clock(double, "ADVANCE", 10_000)
    assert [listener.receive()[2] for _ in range(3)] == [b"early", b"between", b"late"]
    for number, waiter in enumerate(waiters):
        assert waiter.receive() is None
        assert waiter.receive() == [b"%d" % (NOON // 1000 + number + 1), b"0"]


def test_a_time_out_before_a_key_expires_sees_the_key(double: Redis) -> None:
    clock(double, "FREEZE", NOON)
    double("SET", "k", "v", "PX", 1500)
    waiters = [double.another(2) for _ in range(2)]
    for seconds, waiter in enumerate(waiters, 1):
        waiter.send("BLPOP", "none", seconds)
        waiter.send("GET", "k")
    double.wait_blocked(2)
    clock(double, "ADVANCE", 10_000)
    assert [waiters[0].receive(), waiters[0].receive()] == [None, b"v"]
    assert [waiters[1].receive(), waiters[1].receive()] == [None, None]


def test_a_pause_ends_with_the_clock(double: Redis) -> None:
    clock(double, "FREEZE", NOON)
    double("CLIENT", "PAUSE", 5000, "WRITE")
    writer = double.another(2)
    writer.send("SET", "a", "v")
    clock(double, "ADVANCE", 4999)
    assert writer.silent()
    clock(double, "ADVANCE", 1)
    assert writer.receive() == Status("OK")


def test_idle_times_follow_the_clock(double: Redis) -> None:
    clock(double, "FREEZE", NOON)
    other = double.another(2)
    assert other("CLIENT", "SETNAME", "other") == Status("OK")
    double("SET", "k", "v")
    double("XADD", "x", "1-1", "f", "v")
    double("XGROUP", "CREATE", "x", "g", "0")
    double("XREADGROUP", "GROUP", "g", "c", "STREAMS", "x", ">")
    clock(double, "ADVANCE", 90_000)
    assert double("OBJECT", "IDLETIME", "k") == 90
    assert double("XPENDING", "x", "g", "-", "+", 1)[0][2] == 90_000
    [line] = [line for line in double("CLIENT", "LIST").split(b"\n") if b"name=other" in line]
    assert b" age=90 " in line
    assert b" idle=90 " in line


def test_idle_clients_are_closed_but_not_the_one_that_moves_the_time(double: Redis) -> None:
    other = double.another(2)
    assert other("PING") == Status("PONG")
    double("CONFIG", "SET", "timeout", 30)
    clock(double, "ADVANCE", 29_000)
    assert other("PING") == Status("PONG")
    clock(double, "ADVANCE", 100_000)
    assert other.closed()
    assert double("PING") == Status("PONG")


def test_the_slow_log_shows_the_time_of_the_clock(double: Redis) -> None:
    clock(double, "FREEZE", NOON)
    double("CONFIG", "SET", "slowlog-log-slower-than", 0)
    double("GET", "k")
    double("CONFIG", "SET", "slowlog-log-slower-than", -1)
    assert {entry[1] for entry in double("SLOWLOG", "GET")} == {NOON // 1000}


def test_going_back_gives_keys_longer_to_live_and_counts_no_negative_times(double: Redis) -> None:
    clock(double, "FREEZE", NOON)
    double("SET", "k", "v", "PX", 1000)
    last = double("XADD", "x", "*", "f", "v")
    assert clock(double, "SET", NOON - 60_000) == NOON - 60_000
    assert double("PTTL", "k") == 61_000
    assert double("OBJECT", "IDLETIME", "k") == 0
    assert b" age=0 idle=0 " in double("CLIENT", "INFO")
    # Ids go on rising.
    assert double("XADD", "x", "*", "f", "v") == last.replace(b"-0", b"-1")
    clock(double, "SET", NOON + 1001)
    assert double("EXISTS", "k") == 0


def test_set_works_on_a_running_clock(double: Redis) -> None:
    assert clock(double, "SET", NOON) == NOON
    assert not mapping(double("REDOUBLE", "CLOCK"))["frozen"]
    assert NOON <= mapping(double("REDOUBLE", "CLOCK"))["now"] < NOON + 60_000


def test_a_resumed_clock_runs_on_from_where_it_stood(double: Redis) -> None:
    clock(double, "FREEZE", NOON)
    double("SET", "k", "v", "PX", 30)
    assert clock(double, "RESUME") >= NOON
    double.wait_until(lambda: double("DBSIZE") == 0)
    assert NOON < mapping(double("REDOUBLE", "CLOCK"))["now"] < NOON + 60_000


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["ADVANCE", "soon"], "ERR time is not an integer or out of range, it must be a number of milliseconds"),
        (["ADVANCE", "1.5"], "ERR time is not an integer or out of range, it must be a number of milliseconds"),
        (["ADVANCE", "-1"], "ERR time can't be advanced by a negative number, use SET to go back"),
        (["SET", "-1"], f"ERR time is out of range, it must be between 0 and {LATEST} (the end of the year 9999)"),
        (
            ["FREEZE", str(LATEST + 1)],
            f"ERR time is out of range, it must be between 0 and {LATEST} (the end of the year 9999)",
        ),
        (
            ["ADVANCE", "9223372036854775807"],
            f"ERR time is out of range, it must be between 0 and {LATEST} (the end of the year 9999)",
        ),
        (["AUTOJUMP", "0"], "ERR AUTOJUMP needs a number of milliseconds between 1 and 86400000, or OFF"),
        (["JUMP"], "ERR unknown action 'JUMP', CLOCK knows FREEZE, ADVANCE, SET, RESUME and AUTOJUMP"),
        (["ADVANCE"], "ERR unknown subcommand or wrong number of arguments for 'CLOCK'. Try REDOUBLE HELP."),
        (["RESUME", "1"], "ERR unknown subcommand or wrong number of arguments for 'CLOCK'. Try REDOUBLE HELP."),
    ],
)
def test_bad_arguments_are_refused_and_time_goes_on(double: Redis, args: list[str], error: str) -> None:
    before = mapping(double("REDOUBLE", "CLOCK"))
    assert clock(double, *args) == Failure(error)
    after = mapping(double("REDOUBLE", "CLOCK"))
    assert not after["frozen"]
    assert after["offset"] == before["offset"]
    assert after["autojump"] is None


def test_time_is_not_moved_within_a_transaction_or_a_script(double: Redis) -> None:
    double("MULTI")
    assert clock(double, "ADVANCE", 1) == Failure("ERR Command not allowed inside a transaction")
    assert double("DISCARD") == Status("OK")
    reply = double("EVAL", "return redis.call('REDOUBLE', 'CLOCK', 'ADVANCE', 1)", 0)
    assert isinstance(reply, Failure)
    assert b"This Redis command is not allowed from script" in reply


def test_a_client_that_listens_for_expired_keys_hears_of_them_before_the_reply(double: Redis) -> None:
    if double.resp != 3:
        pytest.skip("needs a connection that does both")
    clock(double, "FREEZE", NOON)
    double("CONFIG", "SET", "notify-keyspace-events", "Ex")
    double("SUBSCRIBE", "__keyevent@0__:expired")
    for key in ("a", "b"):
        double("SET", key, "v", "PX", 10)
    clock_reply = clock(double, "ADVANCE", 100)
    assert clock_reply == [b"message", b"__keyevent@0__:expired", b"a"]
    assert double.receive() == [b"message", b"__keyevent@0__:expired", b"b"]
    assert double.receive() == NOON + 100


# -- jumps ------------------------------------------------------------------------------------------


def no_edge(redis: Redis) -> bool:
    return isinstance(redis.target, DoubleEngine)


@pytest.mark.parametrize("frozen", [True, False])
def test_time_jumps_to_what_is_due_when_nobody_says_anything(double: Redis, frozen: bool) -> None:
    if no_edge(double):
        pytest.skip("only an edge can tell that nothing arrives")
    if frozen:
        clock(double, "FREEZE", NOON)
    assert clock(double, "AUTOJUMP", 20) == Status("OK")
    assert mapping(double("REDOUBLE", "CLOCK"))["autojump"] == 20
    before = mapping(double("REDOUBLE", "CLOCK"))["now"]
    double.send("BLPOP", "none", 3600)
    assert double.receive(10) is None
    after = mapping(double("REDOUBLE", "CLOCK"))["now"]
    assert 3_600_000 <= after - before < 3_600_000 + (1 if frozen else 60_000)


def test_there_is_no_jump_while_somebody_is_busy_or_nothing_is_due(double: Redis) -> None:
    if no_edge(double):
        pytest.skip("only an edge can tell that nothing arrives")
    clock(double, "FREEZE", NOON)
    clock(double, "AUTOJUMP", 500)
    double("SET", "k", "v", "EX", 60)
    end = time.monotonic() + 1.2
    while time.monotonic() < end:
        assert double("EXISTS", "k") == 1
    double("DEL", "k")
    clock(double, "AUTOJUMP", 1)
    time.sleep(0.05)
    assert mapping(double("REDOUBLE", "CLOCK"))["now"] == NOON


def test_jumps_can_be_turned_off(double: Redis) -> None:
    clock(double, "FREEZE", NOON)
    double("SET", "k", "v", "EX", 60)
    clock(double, "AUTOJUMP", 10_000)
    assert clock(double, "AUTOJUMP", "OFF") == Status("OK")
    state = mapping(double("REDOUBLE", "CLOCK"))
    assert state["autojump"] is None
    assert state["now"] == NOON


# -- chance -----------------------------------------------------------------------------------------

DRAWS: list[list[object]] = [
    ["SRANDMEMBER", "small", 3],
    ["SRANDMEMBER", "big", -5],
    ["SPOP", "big", 4],
    ["RANDOMKEY"],
    ["HRANDFIELD", "hash", 2],
    ["ZRANDMEMBER", "zset", -3],
    ["SSCAN", "big", 0, "COUNT", 7],
    ["SCAN", 0, "COUNT", 3],
    ["EVAL", "return {math.random(1000000), math.random(1000000)}", 0],
    ["ACL", "GENPASS"],
]


def fill(redis: Redis) -> None:
    redis("FLUSHALL")
    redis("SADD", "small", *range(20))
    redis("SADD", "big", *[f"member:{number}" for number in range(600)])
    redis("HSET", "hash", *[text for number in range(30) for text in (f"f{number}", number)])
    redis("ZADD", "zset", *[text for number in range(30) for text in (number, f"m{number}")])
    for number in range(10):
        redis("SET", f"key:{number}", "v")


def drawn(redis: Redis) -> list[object]:
    run_id = redis("INFO", "server").partition(b"run_id:")[2][:40]
    return [run_id, *[redis(*command) for command in DRAWS]]


def test_the_same_seed_gives_the_same_replies(double: Redis) -> None:
    results = []
    for seed in (7, 7, 8):
        fill(double)
        assert double("REDOUBLE", "SEED", seed) == Status("OK")
        assert double("REDOUBLE", "SEED") == seed
        results.append(drawn(double))
    assert results[0] == results[1]
    # SCAN of few keys and SSCAN may well begin alike; all else is drawn.
    assert sum(ours == theirs for ours, theirs in zip(results[0], results[2], strict=True)) <= 2


def test_what_was_drawn_before_does_not_matter(double: Redis) -> None:
    fill(double)
    double("REDOUBLE", "SEED", 7)
    first = drawn(double)
    fill(double)
    for _ in range(3):
        for command in DRAWS:
            if command[0] != "SPOP":
                double(*command)
    double("SADD", "big", "another")
    double("SREM", "big", "another")
    double("REDOUBLE", "SEED", 7)
    assert drawn(double) == first


def test_there_is_no_seed_unless_it_is_given(double: Redis) -> None:
    assert double("REDOUBLE", "SEED") is None
    assert double("REDOUBLE", "SEED", "x") == Failure("ERR seed is not an integer or out of range")
    assert double("REDOUBLE", "SEED") is None


def test_help_explains_the_powers(double: Redis) -> None:
    lines = double("REDOUBLE", "HELP")
    assert any(line.startswith(b"CLOCK [FREEZE [unix-ms]") for line in lines)
    assert any(line.startswith(b"SEED [number]") for line in lines)
