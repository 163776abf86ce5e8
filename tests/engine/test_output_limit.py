"""Replies that could be far larger than what they are made of: nobody may have to wait for them."""

from __future__ import annotations

import pytest

from tests.kit import Failure, Redis, Status
from tests.wire import encode

HUGE = -999_999_999
PICKS = (["HRANDFIELD", "hash"], ["SRANDMEMBER", "set"], ["ZRANDMEMBER", "zset"])


def fill(redis: Redis) -> None:
    redis("HSET", "hash", "field", "value")
    redis("SADD", "set", "member")
    redis("ZADD", "zset", 1, "member")
    redis("SET", "text", "x" * 100_000)


def limited(redis: Redis, name: str, size: int) -> Redis:
    """A client whose class has a hard limit of output; the limit ends with the test."""
    redis.config("client-output-buffer-limit", f"{name} {size} 0 0")
    other = redis.another()
    assert other("PING") == Status("PONG")
    return other


@pytest.mark.parametrize("command", PICKS)
def test_picks_beyond_the_hard_limit_close_the_client_and_nobody_waits(redis: Redis, command: list[str]) -> None:
    fill(redis)
    greedy = limited(redis, "normal", 1_000_000)
    greedy.send(*command, HUGE)
    assert greedy.closed()
    assert redis("PING") == Status("PONG")
    assert len(redis(*command, -10_000)) == 10_000


@pytest.mark.only("engine", "resp2", "resp3")
@pytest.mark.parametrize("command", PICKS)
def test_picks_that_no_memory_could_hold_close_the_client_without_a_limit_too(redis: Redis, command: list[str]) -> None:
    # The real server would go on until the machine has no memory left.
    fill(redis)
    greedy = redis.another()
    greedy.send(*command, HUGE)
    assert greedy.closed()
    assert len(redis(*command, -100_000)) == 100_000


@pytest.mark.only("engine", "resp2", "resp3")
def test_picks_that_no_memory_could_hold_are_an_error_for_a_script(redis: Redis) -> None:
    fill(redis)
    reply = redis("EVAL", "return redis.pcall('SRANDMEMBER', 'set', -999999999).err", 0)
    assert reply == b"ERR the reply is too large"


@pytest.mark.parametrize("command", PICKS)
def test_the_count_of_picks_has_its_own_limits(redis: Redis, command: list[str]) -> None:
    fill(redis)
    too_low = Failure("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807")
    assert redis(*command, -(2**63)) == too_low
    if command[0] != "SRANDMEMBER":
        option = "WITHVALUES" if command[0] == "HRANDFIELD" else "WITHSCORES"
        assert redis(*command, -(2**62) - 1, option) == Failure("ERR value is out of range")


@pytest.mark.parametrize(
    "requests",
    [
        [["MGET", *["text"] * 20]],
        [["EVAL", "local text = redis.call('GET', 'text') local all = {} "
                  "for at = 1, 20 do all[at] = text end return all", 0]],
        [["MULTI"], *[["GET", "text"]] * 20, ["EXEC"]],
        [["GET", "text"]] * 20,
    ],
    ids=["mget", "script", "exec", "pipeline"],
)  # fmt: skip
def test_the_same_value_many_times_closes_the_client_at_its_hard_limit(
    redis: Redis, requests: list[list[object]]
) -> None:
    fill(redis)
    greedy = limited(redis, "normal", 1_000_000)
    greedy.send_bytes(b"".join([encode(*request) for request in requests]))
    assert greedy.closed()
    assert redis("GET", "text") == b"x" * 100_000


def test_replies_below_the_hard_limit_arrive(redis: Redis) -> None:
    fill(redis)
    modest = limited(redis, "normal", 1_000_000)
    assert modest("MGET", *["text"] * 5) == [b"x" * 100_000] * 5
    assert modest("SRANDMEMBER", "set", -1000) == [b"member"] * 1000
