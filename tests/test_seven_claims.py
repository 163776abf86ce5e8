"""The claims this project grew from: why a priority queue in a sorted set is first-in-first-out inside a tier.

    score = priority * 2^32 + (counter mod 2^32)

where the counter is the reply of INCR on the `pc` key inside the same script. Each claim is a test, on
Redouble and on the real server, and the script is BullMQ's untouched addPrioritizedJob-9.lua.
"""

from __future__ import annotations

import pytest

from tests.kit import Failure, Redis, Status
from tests.queue_scripts import ADD_PRIORITIZED_JOB, PriorityQueue

TIER = 2**32


def test_claim_1_members_with_equal_scores_come_in_the_order_of_their_bytes(redis: Redis) -> None:
    redis("ZADD", "k", 1, "job:zeta")
    redis("ZADD", "k", 1, "job:alpha")
    assert redis("ZRANGE", "k", 0, -1) == [b"job:alpha", b"job:zeta"]


def test_claim_2_incr_counts_by_one_and_is_atomic_with_zadd_in_a_script(redis: Redis) -> None:
    assert [redis("INCR", "pc") for _ in range(3)] == [1, 2, 3]
    script = "local n = redis.call('INCR', KEYS[1]) redis.call('ZADD', KEYS[2], n, ARGV[1]) return n"
    others = [redis.another() for _ in range(3)]
    for number, other in enumerate(others):
        other.send("EVAL", script, 2, "pc", "jobs", f"job:{number}")
    assert sorted(other.receive() for other in others) == [4, 5, 6]
    assert sorted(int(score) for _, score in redis.pairs("ZRANGE", "jobs", 0, -1, "WITHSCORES")) == [4, 5, 6]


def test_claim_3_jobs_of_one_priority_leave_in_the_order_of_arrival_whatever_their_ids(redis: Redis) -> None:
    queue = PriorityQueue(redis)
    for job in ("zeta", "mike", "alpha"):
        assert queue.add(1, job) == job.encode()
    assert redis("GET", queue.key("pc")) == b"3"
    assert queue.scores() == [(b"zeta", TIER + 1), (b"mike", TIER + 2), (b"alpha", TIER + 3)]
    assert [queue.pop() for _ in range(3)] == [b"zeta", b"mike", b"alpha"]


def test_claim_4_jobs_of_the_same_millisecond_have_different_counters(redis: Redis) -> None:
    queue = PriorityQueue(redis)
    queue.add(2, "b", timestamp=1700000000123)
    queue.add(2, "a", timestamp=1700000000123)
    assert queue.scores() == [(b"b", 2 * TIER + 1), (b"a", 2 * TIER + 2)]
    assert {redis("HGET", queue.key(job), "timestamp") for job in "ab"} == {b"1700000000123"}
    redis("ZADD", "by-time", 1700000000123, "b", 1700000000123, "a")
    assert redis("ZRANGE", "by-time", 0, -1) == [b"a", b"b"]


def test_claim_5_a_lower_priority_number_goes_first_whatever_the_counters(redis: Redis) -> None:
    queue = PriorityQueue(redis)
    for job, priority, counter in (("high-late", 1, 4_000_000_000), ("low-early", 2, 0), ("lower", 3, 0)):
        redis("SET", queue.key("pc"), counter)
        queue.add(priority, job)
    assert [queue.pop() for _ in range(3)] == [b"high-late", b"low-early", b"lower"]


def test_claim_5_tiers_are_bands_of_the_high_bits(redis: Redis) -> None:
    queue = PriorityQueue(redis)
    for number in range(12):
        queue.add(3 - number % 3, f"job:{number}")
    scores = queue.scores()
    assert [score // TIER for _, score in scores] == [1] * 4 + [2] * 4 + [3] * 4
    assert [queue.pop() for _ in range(12)] == [b"job:%d" % (tier + 3 * n) for tier in (2, 1, 0) for n in range(4)]


def test_claim_6_the_real_script_runs_by_evalsha_and_answers_noscript_where_it_is_unknown(redis: Redis) -> None:
    sha = redis("SCRIPT", "LOAD", ADD_PRIORITIZED_JOB)
    redis("SCRIPT", "FLUSH")
    assert redis("EVALSHA", sha, 0) == Failure("NOSCRIPT No matching script. Please use EVAL.")
    queue = PriorityQueue(redis)
    assert [queue.add(1) for _ in range(3)] == [b"1", b"2", b"3"]
    assert redis("XLEN", queue.key("events")) == 6
    assert redis("ZSCORE", queue.key("marker"), "0") == b"0"


@pytest.mark.parametrize("prefix", ["bull:{q}:", "emq:{q}:"])
def test_claim_6_it_serves_bullmq_and_its_elixir_port(redis: Redis, prefix: str) -> None:
    queue = PriorityQueue(redis, prefix)
    queue.add(2, "second")
    queue.add(1, "first")
    assert redis("GET", prefix + "pc") == b"2"
    assert [queue.pop(), queue.pop()] == [b"first", b"second"]


def test_claim_6_an_error_reply_keeps_a_code_of_its_own(redis: Redis) -> None:
    stale = "return redis.error_reply('EMQSTALE the token is old')"
    assert redis("EVAL", stale, 0) == Failure("EMQSTALE the token is old")


def test_claim_6_time_is_at_hand_in_scripts_and_key_names_may_be_built_there(redis: Redis) -> None:
    script = """
        local t = redis.call('TIME')
        local key = ARGV[1] .. ':' .. 'jobs'
        redis.call('ZADD', key, t[1] * 1000 + math.floor(t[2] / 1000), 'job')
        return {#t, redis.call('ZPOPMIN', key)[1]}
    """
    assert redis("EVAL", script, 0, "emq:{q}") == [2, b"job"]


def test_claim_7_delayed_jobs_of_one_millisecond_keep_their_order_in_the_low_bits(redis: Redis) -> None:
    at = 1700000000123
    for counter, job in enumerate(("zeta", "mike", "alpha")):
        redis("ZADD", "delayed", at * 4096 + counter, job)
    assert redis("ZRANGE", "delayed", 0, -1) == [b"zeta", b"mike", b"alpha"]
    assert redis("ZRANGEBYSCORE", "delayed", 0, at * 4096 + 4095, "LIMIT", 0, 1) == [b"zeta"]


def test_scores_stay_exact_up_to_two_to_the_53(redis: Redis) -> None:
    for score in (2**53, 2**53 - 1, 2097151 * TIER + TIER - 1):
        redis("ZADD", "k", score, "m")
        assert redis("ZSCORE", "k", "m") == b"%d" % score
        assert redis("EVAL", "return redis.call('ZSCORE', 'k', 'm')", 0) == b"%d" % score
        script = "redis.call('ZADD', 'k', tonumber(ARGV[1]), 'n') return redis.call('ZSCORE', 'k', 'n')"
        assert redis("EVAL", script, 0, score) == b"%d" % score
    assert redis("PING") == Status("PONG")
