"""Scripts that run too long: others are told, and the requests that came with the script keep their order."""

from __future__ import annotations

import pytest

from tests.kit import Failure, Redis, Status
from tests.wire import encode

pytestmark = pytest.mark.only("resp2", "resp3", "real")

ENDLESS = "while true do end"
#: Runs well past the threshold, then ends.
LONG = "for i = 1, 5000000 do end return 'done'"


def wait_busy(other: Redis) -> None:
    other.wait_until(lambda: isinstance(other("PING"), Failure))


def is_killed(reply: object) -> bool:
    return isinstance(reply, Failure) and b"killed by user" in reply


def test_a_killed_script_is_answered_between_what_came_before_and_after_it(redis: Redis) -> None:
    redis.config("busy-reply-threshold", 1)
    other = redis.another()
    redis.send_bytes(encode("SET", "a", 1) + encode("EVAL", ENDLESS, 0) + encode("INCR", "a") + encode("GET", "a"))
    wait_busy(other)
    assert b"BUSY" in other("GET", "a")
    assert other("SCRIPT", "KILL") == Status("OK")
    assert redis.receive() == Status("OK")
    assert is_killed(redis.receive())
    assert [redis.receive(), redis.receive()] == [2, b"2"]
    assert other("GET", "a") == b"2"


# The real server writes the first reply only when the second script has ended.
@pytest.mark.only("resp2", "resp3")
def test_two_long_scripts_in_one_read_are_left_and_killed_one_after_the_other(redis: Redis) -> None:
    redis.config("busy-reply-threshold", 1)
    other = redis.another()
    redis.send_bytes(encode("EVAL", ENDLESS, 0) + encode("EVAL", ENDLESS, 0) + encode("PING"))
    for _ in range(2):
        wait_busy(other)
        assert other("SCRIPT", "KILL") == Status("OK")
        assert is_killed(redis.receive())
    assert redis.receive() == Status("PONG")
    assert other("PING") == Status("PONG")


def test_what_is_sent_while_a_script_runs_comes_after_what_was_sent_with_it(redis: Redis) -> None:
    redis.config("busy-reply-threshold", 1)
    other = redis.another()
    redis.send_bytes(encode("EVAL", ENDLESS, 0) + encode("RPUSH", "order", "with it"))
    wait_busy(other)
    redis.send("RPUSH", "order", "meanwhile")
    assert other("SCRIPT", "KILL") == Status("OK")
    assert is_killed(redis.receive())
    assert [redis.receive(), redis.receive()] == [1, 2]
    assert redis("LRANGE", "order", 0, -1) == [b"with it", b"meanwhile"]


def test_a_long_script_that_ends_by_itself_is_answered_in_order(redis: Redis) -> None:
    redis.config("busy-reply-threshold", 1)
    redis.send_bytes(encode("SET", "a", 1) + encode("EVAL", LONG, 0) + encode("INCR", "a"))
    assert [redis.receive(10), redis.receive(10), redis.receive(10)] == [Status("OK"), b"done", 2]
    assert redis.another()("PING") == Status("PONG")


def test_what_is_no_request_behind_a_long_script_is_told_after_its_reply(redis: Redis) -> None:
    redis.config("busy-reply-threshold", 1)
    broken = redis.another()
    broken.send_bytes(encode("EVAL", LONG, 0) + encode("PING") + b"*1\r\n:oops\r\n")
    assert [broken.receive(10), broken.receive(10)] == [b"done", Status("PONG")]
    assert broken.receive(10) == Failure(b"ERR Protocol error: expected '$', got ':'")
    assert broken.closed()


def test_a_blocked_client_is_served_after_the_long_script_that_pushes_for_it(redis: Redis) -> None:
    redis.config("busy-reply-threshold", 1)
    waiter = redis.another()
    waiter.send("BLPOP", "list", 0)
    redis.wait_blocked(1)
    script = "redis.call('RPUSH', KEYS[1], 'x', 'y') for i = 1, 5000000 do end return 'done'"
    redis.send_bytes(encode("EVAL", script, 1, "list") + encode("LLEN", "list"))
    assert [redis.receive(10), redis.receive(10)] == [b"done", 1]
    assert waiter.receive() == [b"list", b"x"]


def test_what_is_no_request_waits_for_a_long_script_that_a_pause_had_held(redis: Redis) -> None:
    redis.config("busy-reply-threshold", 1)
    broken = redis.another()
    redis("CLIENT", "PAUSE", 100000, "WRITE")
    broken.send_bytes(encode("EVAL", LONG, 0) + encode("PING") + b"*1\r\n:oops\r\n")
    redis.wait_blocked(1)
    redis("CLIENT", "UNPAUSE")
    assert [broken.receive(10), broken.receive(10)] == [b"done", Status("PONG")]
    assert broken.receive(10) == Failure(b"ERR Protocol error: expected '$', got ':'")
    assert broken.closed()
