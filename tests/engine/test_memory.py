"""The memory limit: what is counted, what goes."""

from __future__ import annotations

from redouble.commands import FAMILIES
from redouble.engine.engine import Engine
from redouble.engine.memory import Account
from redouble.engine.sizes import block, key_size, text_size
from tests.kit import Failure, Redis, Status


def check(engine: Engine) -> None:
    """The sum that is kept equals the sum that is counted."""
    expected = sum(Account(database).total for database in engine.space.databases)
    assert engine.memory.dataset() == expected


def limited(redis: Redis, policy: str, room: int) -> None:
    used = int(redis("INFO", "memory").partition(b"used_memory:")[2].partition(b"\r")[0])
    redis.config("maxmemory-policy", policy)
    redis.config("maxmemory", used + room)


def test_blocks_are_rounded_up_in_four_steps_per_doubling() -> None:
    rounded = {1: 8, 8: 8, 9: 16, 64: 64, 65: 80, 80: 80, 81: 96, 128: 128, 129: 160, 161: 192}
    assert {size: block(size) for size in rounded} == rounded
    assert text_size(3) == 8


def test_a_limit_set_within_a_transaction_evicts_when_it_is_done(redis: Redis) -> None:
    redis.config("maxmemory-policy", "allkeys-lru")
    redis.config("maxmemory", 0)
    for step in (["MULTI"], ["INCR", "x"], ["CONFIG", "SET", "maxmemory", 1], ["INCR", "x"]):
        redis(*step)
    assert redis("EXEC") == [1, Status("OK"), 2]
    redis.pass_time(5)
    assert redis("DBSIZE") == 0


def test_without_eviction_writes_are_refused_and_reads_and_deletions_go_on(redis: Redis) -> None:
    redis("SET", "k", "v")
    limited(redis, "noeviction", 1_000_000)
    error = Failure("OOM command not allowed when used memory > 'maxmemory'.")
    replies = [redis("SET", f"k{number}", "x" * 1000) for number in range(1500)]
    assert replies[0] == Status("OK")
    assert replies[-1] == error
    assert redis("GET", "k") == b"v"
    redis("MULTI")
    assert redis("SET", "other", "x") == error
    assert redis("EXEC") == Failure("EXECABORT Transaction discarded because of previous errors.")
    assert redis("DEL", *[f"k{number}" for number in range(1500)]) > 100
    assert redis("SET", "other", "x") == Status("OK")


def test_any_key_may_be_evicted(redis: Redis) -> None:
    limited(redis, "allkeys-random", 200_000)
    for number in range(500):
        assert redis("SET", f"k{number}", "x" * 1000) == Status("OK")
    assert 0 < redis("DBSIZE") < 300
    assert b"evicted_keys:0" not in redis("INFO", "stats")


def test_only_volatile_keys_are_evicted_where_the_policy_says_so(redis: Redis) -> None:
    for number in range(50):
        redis("SET", f"keep{number}", "x" * 1000)
    limited(redis, "volatile-ttl", 200_000)
    for number in range(400):
        assert redis("SET", f"v{number}", "x" * 1000, "EX", 1000 + number) == Status("OK")
    assert len(redis("KEYS", "keep*")) == 50
    assert redis("EXISTS", "v399") == 1
    assert redis("EXISTS", "v0") == 0


def test_evicted_keys_are_announced(redis: Redis) -> None:
    listener = redis.another()
    listener("PSUBSCRIBE", "__keyevent@0__:evicted")
    redis.config("notify-keyspace-events", "Ee")
    limited(redis, "allkeys-lru", 100_000)
    for number in range(300):
        redis("SET", f"k{number}", "x" * 1000)
    assert listener.receive()[2] == b"__keyevent@0__:evicted"


def test_the_sum_follows_every_change() -> None:
    from tests.kit import EngineTarget

    target = EngineTarget()
    engine = target.engine
    redis = Redis(target, 2)
    redis("MSET", "a", "1", "b", "2" * 100)
    redis("CONFIG", "SET", "maxmemory", "100mb")
    check(engine)
    for command in (
        ["SET", "a", "x" * 500], ["APPEND", "b", "y" * 100], ["RPUSH", "l", "1", "2", "3"], ["DEL", "a"],
        ["RENAME", "b", "c"], ["SWAPDB", "0", "1"], ["SET", "d", "1"], ["SELECT", "1"], ["LPOP", "l", "3"],
        ["SET", "e", "1", "PX", "5"], ["FLUSHDB"], ["SET", "f", "1"],
    ):  # fmt: skip
        redis(*command)
        check(engine)
    redis.pass_time(10)
    check(engine)
    redis("CONFIG", "SET", "maxmemory", "0")
    assert engine.flags == 0
    redis.close()


def test_a_key_with_a_bigger_value_is_bigger() -> None:
    engine = Engine(FAMILIES, "7.4.1")
    database = engine.space.databases[0]
    sizes = []
    for size in (10, 100, 1000, 10000):
        sizes.append(key_size(b"k", database.store(b"k", b"x" * size)))
    assert sizes == sorted(set(sizes))
