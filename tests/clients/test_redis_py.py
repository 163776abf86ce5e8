"""redis-py, the client most Python programs use: sync and asyncio, RESP2 and RESP3."""

from __future__ import annotations

import asyncio
import threading

import pytest
import redis
import redis.asyncio

from tests.clients.conftest import ServerProcess


@pytest.fixture(params=[2, 3])
def client(request: pytest.FixtureRequest, server: ServerProcess) -> redis.Redis:
    return redis.Redis(port=server.port, protocol=request.param)


def test_values_round_trip(client: redis.Redis) -> None:
    client.set("s", b"\x00\xff", px=60000)
    client.hset("h", mapping={"f": "1", "g": "2"})
    client.rpush("l", "a", "b")
    client.sadd("set", "m")
    client.zadd("z", {"a": 1.5, "b": 2})
    assert client.get("s") == b"\x00\xff"
    assert client.hgetall("h") == {b"f": b"1", b"g": b"2"}
    assert client.lrange("l", 0, -1) == [b"a", b"b"]
    assert client.smembers("set") == {b"m"}
    assert [(member, score) for member, score in client.zrange("z", 0, -1, withscores=True)] == [
        (b"a", 1.5),
        (b"b", 2.0),
    ]
    assert 0 < client.pttl("s") <= 60000


def test_a_transaction_retries_until_the_watched_key_stays(client: redis.Redis) -> None:
    client.set("n", 1)
    tries = []

    def double(pipe: redis.client.Pipeline) -> None:
        value = int(pipe.get("n"))
        if not tries:
            client.set("n", 10)
        tries.append(value)
        pipe.multi()
        pipe.set("n", value * 2)

    client.transaction(double, "n")
    assert tries == [1, 10]
    assert client.get("n") == b"20"


def test_a_registered_script_loads_itself(client: redis.Redis) -> None:
    script = client.register_script("return {KEYS[1], ARGV[1], redis.call('INCR', KEYS[1])}")
    assert script(keys=["k"], args=["v"]) == [b"k", b"v", 1]
    client.script_flush()
    assert script(keys=["k"], args=["v"]) == [b"k", b"v", 2]


def test_a_blocked_pop_is_served_by_another_connection(client: redis.Redis, server: ServerProcess) -> None:
    got = []
    waiter = threading.Thread(target=lambda: got.append(client.blpop("q", timeout=10)))
    waiter.start()
    other = redis.Redis(port=server.port)
    while other.info("clients")["blocked_clients"] != 1:
        pass
    other.rpush("q", "item")
    waiter.join(10)
    assert [tuple(item) for item in got] == [(b"q", b"item")]


def test_messages_arrive(client: redis.Redis) -> None:
    listener = client.pubsub()
    listener.subscribe("news")
    listener.psubscribe("n*")
    assert [listener.get_message(timeout=5)["type"] for _ in range(2)] == ["subscribe", "psubscribe"]
    assert client.publish("news", "hello") == 2
    assert {listener.get_message(timeout=5)["type"] for _ in range(2)} == {"message", "pmessage"}


def test_info_and_client_list_are_understood(client: redis.Redis) -> None:
    client.client_setname("me")
    assert client.info()["maxmemory_policy"] == "noeviction"
    assert [entry["name"] for entry in client.client_list()] == ["me"]
    assert client.command_count() > 150


@pytest.mark.parametrize("protocol", [2, 3])
def test_asyncio_pipelines_and_streams(server: ServerProcess, protocol: int) -> None:
    async def play() -> tuple[list[object], int]:
        client = redis.asyncio.Redis(port=server.port, protocol=protocol)
        async with client.pipeline(transaction=True) as pipe:
            replies = await pipe.set("a", 1).incr("a").get("a").execute()
        await client.xadd("events", {"f": "v"}, id="1-1")
        waiting = asyncio.create_task(client.xread({"events": "$"}, block=10000))
        while (await client.info("clients"))["blocked_clients"] != 1:
            await asyncio.sleep(0)
        await client.xadd("events", {"f": "w"}, id="2-1")
        read = await waiting
        await client.aclose()
        return replies, len(read)

    assert asyncio.run(play()) == ([True, 2, b"2"], 1)
