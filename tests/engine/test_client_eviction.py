"""`maxmemory-clients`: who is closed, who is not; and the sizes that CLIENT LIST tells."""

from __future__ import annotations

import contextlib

import pytest

from tests.kit import Failure, Redis

LIMIT = 3_000_000
pytestmark = pytest.mark.since("7.0.0")


def fields(redis: Redis, name: str) -> dict[str, str]:
    """What CLIENT LIST says of the client of a name; nothing if there is none."""
    for line in redis("CLIENT", "LIST").decode().splitlines():
        found = dict(word.split("=", 1) for word in line.split(" "))
        if found["name"] == name:
            return found
    return {}


def number(redis: Redis, name: str, field: str) -> int:
    return int(fields(redis, name)[field])


def named(redis: Redis, name: str) -> Redis:
    other = redis.another(2)
    other("CLIENT", "SETNAME", name)
    return other


def half_a_set(size: int, arrived: int) -> bytes:
    """SET with a value of which only a part has arrived."""
    return b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n" % size + b"x" * arrived


def limit(redis: Redis, value: object) -> None:
    redis("CLIENT", "NO-EVICT", "ON")
    redis.config("maxmemory-clients", value)


def evicted(redis: Redis) -> int:
    return int(redis("INFO", "stats").partition(b"evicted_clients:")[2].partition(b"\r")[0])


def test_a_half_read_argument_counts_with_the_room_that_is_kept_for_it(redis: Redis) -> None:
    other = named(redis, "half")
    other.send_bytes(half_a_set(100_000, 50_000))
    redis.wait_until(lambda: fields(redis, "half")["qbuf"] == "50000")
    found = fields(redis, "half")
    assert (found["argv-mem"], found["cmd"]) == ("4", "client|setname")
    # The buffer of the real server grows in steps that depend on its reads.
    assert 50_000 <= int(found["qbuf-free"]) < 70_000
    assert 120_000 < int(found["tot-mem"]) < 150_000


def test_the_arguments_of_a_half_read_request_count(redis: Redis) -> None:
    other = named(redis, "args")
    other.send_bytes(b"*100\r\n" + b"$1000\r\n%b\r\n" % (b"x" * 1000) * 50)
    redis.wait_until(lambda: fields(redis, "args")["argv-mem"] == "50000")
    assert number(redis, "args", "tot-mem") > 50_000


def test_what_multi_has_queued_counts(redis: Redis) -> None:
    other = named(redis, "multi")
    other("MULTI")
    other("SET", "a", "x" * 50_000)
    other("SET", "b", "x" * 50_000)
    found = fields(redis, "multi")
    assert (found["multi"], found["multi-mem"]) == ("2", "100056")
    other("EXEC")
    assert fields(redis, "multi")["multi-mem"] == "0"


def test_requests_behind_a_blocked_one_are_its_query_buffer(redis: Redis) -> None:
    other = named(redis, "blocked")
    other.send("BLPOP", "nokey", 0)
    redis.wait_blocked(1)
    other.send("SET", "b", "x" * 1000)
    redis.wait_until(lambda: fields(redis, "blocked")["qbuf"] == "1029")
    assert fields(redis, "blocked")["argv-mem"] == "11"
    redis("RPUSH", "nokey", "v")
    other.receive()
    other.receive()
    assert fields(redis, "blocked")["qbuf"] == "0"


def test_watched_keys_and_subscriptions_count(redis: Redis) -> None:
    plain, watching = named(redis, "plain"), named(redis, "watching")
    listening, matching = named(redis, "listening"), named(redis, "matching")
    watching("WATCH", *range(1000))
    listening("SUBSCRIBE", *range(1000))
    matching("PSUBSCRIBE", *range(1000))
    plain("PING")
    base = number(redis, "plain", "tot-mem")
    # Redis may have cut the reply buffer of one and not yet of another: 15,360 bytes.
    assert abs(number(redis, "watching", "tot-mem") - base - 56_000) <= 15_360
    assert abs(number(redis, "listening", "tot-mem") - base - 32_192) <= 15_360
    assert abs(number(redis, "matching", "tot-mem") - base - 24_000) <= 15_360


def test_a_client_whose_request_is_too_large_is_closed(redis: Redis) -> None:
    limit(redis, LIMIT)
    other = named(redis, "large")
    assert other("MSET", "k", "v", "k2", "v" * 1_000_000)
    with contextlib.suppress(OSError):
        other.send_bytes(half_a_set(LIMIT, LIMIT // 2))
    assert other.closed()
    assert fields(redis, "large") == {}
    assert evicted(redis) == 1


def test_a_client_whose_transaction_is_too_large_is_closed(redis: Redis) -> None:
    limit(redis, LIMIT)
    other = named(redis, "multi")
    other("MULTI")
    with contextlib.suppress(OSError):
        for _ in range(5):
            other.send("SET", "k", "v" * (LIMIT // 4))
    assert other.closed()
    assert evicted(redis) == 1
    assert redis("GET", "k") is None


@pytest.mark.parametrize("command", ["WATCH", "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE"])
def test_a_client_that_watches_or_listens_to_too_much_is_closed(redis: Redis, command: str) -> None:
    limit(redis, 250_000)
    other = named(redis, "many")
    with contextlib.suppress(OSError):
        for start in range(0, 16_000, 1000):
            other.send(command, *range(start, start + 1000))
    assert other.closed()
    assert evicted(redis) == 1


def test_a_client_with_no_evict_stays_until_it_gives_that_up(redis: Redis) -> None:
    limit(redis, LIMIT)
    other = named(redis, "kept")
    other("CLIENT", "NO-EVICT", "ON")
    other("MULTI")
    for _ in range(5):
        other("SET", "k", "v" * (LIMIT // 4))
    assert number(redis, "kept", "tot-mem") > LIMIT
    assert evicted(redis) == 0
    other("DISCARD")
    other("CLIENT", "NO-EVICT", "OFF")
    with contextlib.suppress(OSError):
        other.send_bytes(half_a_set(2 * LIMIT, LIMIT))
    assert other.closed()


def test_a_new_limit_closes_the_largest_clients_and_no_more_than_needed(redis: Redis) -> None:
    redis("CLIENT", "NO-EVICT", "ON")
    sizes = {"small": 128 * 1024, "middle": 1024 * 1024, "large": 3 * 1024 * 1024}
    for name, size in sizes.items():
        named(redis, name).send_bytes(half_a_set(size, size - 10))
    for name, size in sizes.items():
        redis.wait_until(lambda name=name, size=size: number(redis, name, "qbuf") >= size - 10)  # type: ignore[misc]
    redis.config("maxmemory-clients", 3 * 1024 * 1024)
    assert [name for name in sizes if fields(redis, name)] == ["small", "middle"]
    redis.config("maxmemory-clients", 1024 * 1024)
    assert [name for name in sizes if fields(redis, name)] == ["small"]
    assert evicted(redis) == 2


def test_a_percentage_is_one_of_maxmemory(redis: Redis) -> None:
    redis.config("maxmemory", 100_000_000)
    limit(redis, "3%")
    assert redis("CONFIG", "GET", "maxmemory-clients")[1] == b"3%"
    other = named(redis, "share")
    other.send_bytes(half_a_set(2_000_000, 1_000_000))
    redis.wait_until(lambda: number(redis, "share", "tot-mem") > 2_000_000)
    # Now it is two per cent of it, half a million too few.
    redis("CONFIG", "SET", "maxmemory", 50_000_000)
    redis.wait_until(lambda: not fields(redis, "share"))
    assert evicted(redis) == 1


def test_a_percentage_of_no_limit_is_no_limit(redis: Redis) -> None:
    redis.config("maxmemory", 0)
    limit(redis, "1%")
    other = named(redis, "free")
    other.send_bytes(half_a_set(8_000_000, 1_000_000))
    redis.wait_until(lambda: number(redis, "free", "tot-mem") > 8_000_000)
    assert redis("PING") and fields(redis, "free")


@pytest.mark.only("resp2", "resp3", "real")
def test_a_client_that_does_not_read_is_closed(redis: Redis) -> None:
    redis("SET", "big", "x" * 1_000_000)
    limit(redis, 20_000_000)
    other = named(redis, "deaf")
    with contextlib.suppress(OSError):
        for _ in range(60):
            other.send("GET", "big")
    redis.wait_until(lambda: not fields(redis, "deaf"))
    assert evicted(redis) == 1


def test_the_classes_of_sizes_are_shown(redis: Redis) -> None:
    assert redis("DEBUG", "CLIENT-EVICTION") == Failure("ERR maxmemory-clients is disabled.")
    limit(redis, 100_000_000)
    named(redis, "large").send_bytes(half_a_set(1_000_000, 900_000))
    redis.wait_until(lambda: number(redis, "large", "tot-mem") > 1_000_000)
    lines = redis("DEBUG", "CLIENT-EVICTION").decode().splitlines()
    assert len(lines) == 19
    assert lines[-1] == "bucket 4294967296+            : tot-mem:          0, clients: 0"
    assert lines[5] == "bucket     524288 -    1048575: tot-mem:          0, clients: 0"
    bounds, _, counted = lines[6].partition(": ")
    assert bounds == "bucket    1048576 -    2097151"
    assert counted.endswith(", clients: 1")
