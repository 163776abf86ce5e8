"""Time that is moved: what came due happens in order, before the next command sees the result."""

from __future__ import annotations

import pytest

from tests.kit import EngineTarget, Redis, Status

pytestmark = pytest.mark.only("engine", "resp2", "resp3")


def test_a_key_expires_when_its_time_has_passed_and_not_before(redis: Redis) -> None:
    redis("SET", "a", "v", "PX", 1000)
    redis.pass_time(900)
    assert redis("EXISTS", "a") == 1
    redis.pass_time(200)
    assert redis("DBSIZE") == 0


def test_keys_expire_in_the_order_of_their_deadlines_and_say_so(redis: Redis) -> None:
    redis("CONFIG", "SET", "notify-keyspace-events", "Ex")
    listener = redis.another()
    listener("SUBSCRIBE", "__keyevent@0__:expired")
    for key, milliseconds in (("c", 3000), ("a", 1000), ("b", 2000)):
        redis("SET", key, "v", "PX", milliseconds)
    redis.pass_time(5000)
    assert [listener.receive()[2] for _ in range(3)] == [b"a", b"b", b"c"]


def test_a_blocked_client_gives_up_when_its_time_is_over(redis: Redis) -> None:
    waiter = redis.another()
    waiter.send("BLPOP", "q", 5)
    redis.wait_blocked(1)
    redis.pass_time(4900)
    assert waiter.silent()
    redis.pass_time(200)
    assert waiter.receive() is None


def test_a_wait_without_end_outlasts_any_time(redis: Redis) -> None:
    waiter = redis.another()
    waiter.send("BLPOP", "q", 0)
    redis.wait_blocked(1)
    redis.pass_time(10**9)
    redis("RPUSH", "q", "item")
    assert waiter.receive() == [b"q", b"item"]


def test_time_stream_ids_and_ttls_move_together(redis: Redis) -> None:
    redis("SET", "a", "v", "PX", 100_000)
    before = int(redis("TIME")[0])
    first = redis("XADD", "x", "*", "f", "v")
    redis.pass_time(50_000)
    second = redis("XADD", "x", "*", "f", "v")
    assert 50 <= int(redis("TIME")[0]) - before <= 51
    assert 50_000 <= int(second.split(b"-")[0]) - int(first.split(b"-")[0]) < 51_000
    assert 49_000 < redis("PTTL", "a") <= 50_000


def test_time_stands_still_within_a_script(redis: Redis) -> None:
    script = """
        redis.call('SET', KEYS[1], 'v', 'PX', 1)
        local before = redis.call('TIME')
        for i = 1, 500000 do end
        local after = redis.call('TIME')
        return {before[1] == after[1] and before[2] == after[2] and 1 or 0, redis.call('EXISTS', KEYS[1])}
    """
    assert redis("EVAL", script, 1, "a") == [1, 1]
    redis.pass_time(10)
    assert redis("EXISTS", "a") == 0


def test_paused_clients_go_on_when_the_pause_is_over(redis: Redis) -> None:
    redis("CLIENT", "PAUSE", 1000, "WRITE")
    writer = redis.another(2)
    writer.send("SET", "a", "v")
    assert redis("GET", "a") is None
    assert writer.silent()
    redis.pass_time(1100)
    assert writer.receive() == Status("OK")


def test_a_frozen_clock_stands_until_it_is_moved() -> None:
    target = EngineTarget()
    clock = target.engine.clock
    clock.freeze(1_700_000_000_000)
    redis = Redis(target, 2)
    assert redis("TIME") == [b"1700000000", b"0"]
    clock.advance(1500)
    assert redis("TIME") == [b"1700000001", b"500000"]
    clock.set(1_800_000_000_000)
    assert redis("TIME") == [b"1800000000", b"0"]
    clock.real()
    assert not clock.frozen
