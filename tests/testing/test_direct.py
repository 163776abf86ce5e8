"""redis-py without a socket does what it does with one: each test runs on both."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from typing import Any

import pytest
import redis
import redis.asyncio
from redis.backoff import NoBackoff
from redis.cache import CacheConfig
from redis.retry import Retry

from redouble import Server

Make = Callable[..., redis.Redis]


@pytest.fixture(params=["direct", "socket"])
def make(request: pytest.FixtureRequest, server: Server) -> Make:
    """Makes clients."""

    def direct(**options: Any) -> redis.Redis:
        return redis.Redis(connection_pool=server.connection_pool(**options))

    def over_socket(**options: Any) -> redis.Redis:
        return redis.Redis(port=server.port, **options)

    return direct if request.param == "direct" else over_socket


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("decode", [False, True])
def test_values_are_of_the_same_type(make: Make, protocol: int, decode: bool) -> None:
    client = make(protocol=protocol, decode_responses=decode, legacy_responses=True)

    def text(value: str) -> Any:
        return value if decode else value.encode()

    assert client.set("key", "v\u00e4lue") is True
    assert client.get("key") == ("v\u00e4lue" if decode else "v\u00e4lue".encode())
    assert client.hset("h", mapping={"f": 1, "g": 2.5}) == 2
    assert client.hgetall("h") == {text("f"): text("1"), text("g"): text("2.5")}
    assert client.zadd("z", {"m": 1.5}) == 1
    assert client.zscore("z", "m") == 1.5
    assert client.smembers("none") == set()
    assert client.get("none") is None
    assert client.rpush("l", b"\x00\xff\r\n", memoryview(b"view"), bytearray(b"array")) == 3
    assert client.lrange("l", 1, -1) == [text("view"), text("array")]


def test_an_error_is_raised_and_the_connection_goes_on(make: Make) -> None:
    client = make()
    client.set("key", "value")
    with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
        client.lpush("key", 1)
    with pytest.raises(redis.DataError):
        client.set("key", None)
    with pytest.raises(redis.ResponseError, match="unknown command"):
        client.execute_command("NO SUCH")
    assert client.execute_command("CONFIG GET", "maxmemory") is not None
    assert client.get("key") == b"value"


def test_a_large_value_comes_whole(make: Make) -> None:
    client = make()
    large = bytes(range(256)) * 4096
    client.set("key", large)
    assert client.get("key") == large
    assert client.pipeline().get("key").get("key").ping().execute() == [large, large, True]


def test_pipelines_and_transactions(make: Make) -> None:
    client = make()
    assert client.pipeline(transaction=False).set("a", 1).incr("a").get("a").execute() == [True, 2, b"2"]
    pipe = client.pipeline()
    pipe.watch("a")
    client.set("a", 7)
    pipe.multi()
    pipe.incr("a")
    with pytest.raises(redis.WatchError):
        pipe.execute()
    assert client.transaction(lambda pipe: (pipe.multi(), pipe.incr("a")), "a") == [8]


def test_a_blocking_command_waits_for_another_connection(make: Make) -> None:
    client = make()
    thread = threading.Timer(0.01, make().rpush, ["list", "x"])
    thread.start()
    assert client.blpop(["list"], timeout=5) == (b"list", b"x")
    thread.join()
    assert client.blpop(["list"], timeout=0.01) is None


def test_a_read_that_takes_too_long_is_a_time_out(make: Make) -> None:
    client = make(socket_timeout=0.02, retry=None)
    with pytest.raises(redis.TimeoutError):
        client.blpop(["list"], timeout=5)
    assert client.ping() is True


@pytest.mark.parametrize("protocol", [2, 3])
def test_messages_come_in_order_and_not_before_they_are_sent(make: Make, protocol: int) -> None:
    client = make(protocol=protocol)
    subscriber = client.pubsub(ignore_subscribe_messages=True)
    subscriber.subscribe("news")
    subscriber.psubscribe("w*")
    assert subscriber.get_message(timeout=0.5) is None
    assert subscriber.get_message(timeout=0.5) is None
    assert subscriber.get_message(timeout=0.01) is None
    for number in range(3):
        client.publish("news", number)
    client.publish("weather", "rain")
    got = [subscriber.get_message(timeout=2) for _ in range(4)]
    assert [(message["type"], message["data"]) for message in got] == [
        ("message", b"0"), ("message", b"1"), ("message", b"2"), ("pmessage", b"rain"),
    ]  # fmt: skip
    assert subscriber.get_message(timeout=0) is None
    subscriber.close()


def test_a_listener_in_a_thread_is_woken(make: Make) -> None:
    client = make()
    heard: list[Any] = []
    done = threading.Event()

    def hear(message: dict[str, Any]) -> None:
        heard.append(message["data"])
        done.set()

    subscriber = client.pubsub()
    subscriber.subscribe(news=hear)
    thread = subscriber.run_in_thread(sleep_time=0.01, daemon=True)
    while not client.publish("news", "hello"):
        pass
    assert done.wait(5)
    thread.stop()
    thread.join(5)
    assert heard[0] == b"hello"


def test_two_threads_may_wait_on_one_connection(server: Server) -> None:
    subscriber = redis.Redis(connection_pool=server.connection_pool()).pubsub(ignore_subscribe_messages=True)
    subscriber.subscribe("news")
    assert subscriber.get_message(timeout=1) is None
    heard: list[Any] = []
    patient = threading.Thread(target=lambda: heard.append(subscriber.get_message(timeout=5)))
    patient.start()
    # This wait ends while the other one goes on.
    assert subscriber.get_message(timeout=0.05) is None
    server.execute("PUBLISH", "news", "hello")
    patient.join(10)
    assert [message["data"] for message in heard] == [b"hello"]


def test_scripts_and_locks(make: Make) -> None:
    client = make()
    double = client.register_script("return redis.call('INCRBY', KEYS[1], ARGV[1] * 2)")
    assert double(keys=["n"], args=[4]) == 8
    assert client.pipeline().eval("return 1", 0).get("n").execute() == [1, b"8"]
    with client.lock("lock", timeout=5):
        assert client.lock("lock", blocking=False).acquire() is False
    assert client.exists("lock") == 0


def test_client_side_caching_forgets_what_another_changed(make: Make) -> None:
    client = make(protocol=3, cache_config=CacheConfig(), decode_responses=True)
    other = make()
    other.set("key", "one")
    assert [client.get("key") for _ in range(2)] == ["one", "one"]
    assert client.get_cache().size == 1
    other.set("key", "two")
    assert client.get("key") == "two"


def test_a_connection_that_was_killed_is_renewed(make: Make) -> None:
    client = make(client_name="victim")
    client.ping()
    other = make()
    victim = next(one for one in other.client_list() if one["name"] == "victim")
    assert other.client_kill_filter(_id=victim["id"]) == 1
    assert client.ping() is True


def test_monitor_and_client_info(make: Make) -> None:
    client = make(client_name="me")
    assert client.client_info()["name"] == "me"
    with client.monitor() as monitor:
        make().set("key", "value")
        commands = [monitor.next_command()["command"] for _ in range(4)]
    assert "SET key value" in commands


def test_a_database_is_selected_for_each_connection(make: Make) -> None:
    make(db=3).set("key", "value")
    assert make().get("key") is None
    assert make(db=3).get("key") == b"value"


def test_a_client_that_is_forgotten_leaves_no_connection(server: Server) -> None:
    redis.Redis(connection_pool=server.connection_pool()).ping()
    gc.collect()
    assert server.execute("CLIENT", "LIST").count(b"id=") == 1


def test_a_connection_that_goes_wakes_the_event_loop_only_where_something_is_left_to_do(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[str] = []
    monkeypatch.setattr(server.engine.config.edge, "attend", None)
    monkeypatch.setattr(server._core, "attend", lambda: woken.append("attend"))
    client = server.client()
    client.set("key", "value")
    client.connection_pool.disconnect()
    assert woken == []
    # A timer is due before the loop would wake by itself.
    client.get("key")
    server.engine.space.databases[0].set_deadline(
        b"key", server.engine.space.databases[0].data[b"key"], server.clock.now_ms + 1
    )
    client.connection_pool.disconnect()
    assert woken == ["attend"]


def test_settings_of_ports_work_without_a_socket_too(server: Server) -> None:
    old = server.port
    direct = redis.Redis(connection_pool=server.connection_pool())
    assert direct.config_set("port", 0) is True
    assert direct.config_set("port", old) is True
    assert redis.Redis(port=old).ping() is True


# -- asyncio -------------------------------------------------------------------------------------------


@pytest.fixture(params=["direct", "socket"])
def amake(request: pytest.FixtureRequest, server: Server) -> Callable[..., redis.asyncio.Redis]:
    def direct(**options: Any) -> redis.asyncio.Redis:
        return redis.asyncio.Redis(connection_pool=server.async_connection_pool(**options))

    def over_socket(**options: Any) -> redis.asyncio.Redis:
        return redis.asyncio.Redis(port=server.port, **options)

    return direct if request.param == "direct" else over_socket


@pytest.mark.parametrize("protocol", [2, 3])
def test_asyncio_commands_pipelines_and_scripts(amake: Callable[..., redis.asyncio.Redis], protocol: int) -> None:
    async def main() -> None:
        async with amake(protocol=protocol, decode_responses=True) as client:
            assert await client.set("key", "v\u00e4lue") is True
            assert await client.get("key") == "v\u00e4lue"
            async with client.pipeline() as pipe:
                assert await pipe.set("n", 1).incr("n").execute() == [True, 2]
            assert await client.eval("return redis.call('GET', KEYS[1])", 1, "n") == "2"
            with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
                await client.lpush("n", 1)
            large = "x" * 1_000_000
            await client.set("large", large)
            assert await client.get("large") == large

    asyncio.run(main())


def test_asyncio_blocking_commands_wait_and_others_go_on(amake: Callable[..., redis.asyncio.Redis]) -> None:
    async def main() -> None:
        async with amake() as client:
            waiting = asyncio.create_task(client.blpop(["list"], timeout=5))
            while not (await client.info("clients"))["blocked_clients"]:
                await asyncio.sleep(0)
            assert await client.rpush("list", "x") == 1
            assert await waiting == (b"list", b"x")
            assert await client.blpop(["list"], timeout=0.01) is None

    asyncio.run(main())


def test_asyncio_messages(amake: Callable[..., redis.asyncio.Redis], server: Server) -> None:
    async def main() -> None:
        async with amake() as client, client.pubsub(ignore_subscribe_messages=True) as subscriber:
            await subscriber.subscribe("news")
            assert await subscriber.get_message(timeout=0.5) is None
            server.execute("PUBLISH", "news", "from this thread")
            await asyncio.to_thread(server.execute, "PUBLISH", "news", "from another")
            got = [await subscriber.get_message(timeout=2) for _ in range(2)]
            assert [message["data"] for message in got if message] == [b"from this thread", b"from another"]

    asyncio.run(main())


def test_asyncio_connections_are_renewed_after_a_reset(
    amake: Callable[..., redis.asyncio.Redis], server: Server
) -> None:
    async def main() -> None:
        async with amake() as client:
            await client.set("key", "value")
            await asyncio.to_thread(server.reset)
            assert await client.get("key") is None

    asyncio.run(main())


def test_a_pool_may_go_from_one_loop_to_the_next(server: Server) -> None:
    client = redis.asyncio.Redis(connection_pool=server.async_connection_pool())

    async def use() -> Any:
        return await client.incr("n")

    assert asyncio.run(use()) == 1
    server.reset()
    assert asyncio.run(use()) == 1


# -- faults -------------------------------------------------------------------------------------------


def tries(count: int) -> Retry:
    return Retry(NoBackoff(), count - 1)


@pytest.mark.parametrize("how", ["REFUSE", "RESET"])
def test_a_fault_turns_new_connections_away(make: Make, server: Server, how: str) -> None:
    server.execute("REDOUBLE", "FAULT", "CONNECT", how, "TIMES", 2)
    with pytest.raises(redis.ConnectionError):
        make(retry=tries(1)).ping()
    assert make(retry=tries(2)).ping() is True


def test_a_fault_lets_a_new_connection_wait(make: Make, server: Server) -> None:
    server.execute("REDOUBLE", "FAULT", "CONNECT", "DELAY", 20)
    assert make(socket_timeout=10).ping() is True
    server.execute("REDOUBLE", "FAULT", "CONNECT", "DELAY", 3_600_000)
    with pytest.raises(redis.TimeoutError):
        make(socket_timeout=0.1, retry=tries(1)).ping()


def test_a_fault_loses_connections_before_and_after_the_command(make: Make, server: Server) -> None:
    client = make(retry=tries(2))
    server.execute("REDOUBLE", "FAULT", "ADD", "before", "COMMAND", "incr*", "TIMES", 1, "DROP")
    assert client.incr("n") == 1
    server.execute("REDOUBLE", "FAULT", "ADD", "after", "COMMAND", "incr*", "TIMES", 1, "DROP", "AFTER")
    assert client.incr("n") == 3
    client.set("text", "x" * 100)
    server.execute("REDOUBLE", "FAULT", "ADD", "torn", "COMMAND", "get", "TIMES", 1, "CUT", 20)
    assert client.get("text") == b"x" * 100


def test_a_fault_lets_a_command_wait_or_hang(make: Make, server: Server) -> None:
    server.execute("REDOUBLE", "FAULT", "ADD", "slow", "COMMAND", "get", "DELAY", 20)
    server.execute("REDOUBLE", "FAULT", "ADD", "stuck", "COMMAND", "set", "HANG")
    assert make(socket_timeout=10).get("a") is None
    with pytest.raises(redis.TimeoutError):
        make(socket_timeout=0.1, retry=tries(1)).set("a", "v")
