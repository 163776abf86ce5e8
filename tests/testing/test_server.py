"""A server within a program: its life, its threads, and what `reset` leaves of a test (nothing)."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import Any

import pytest
import redis
import redis.asyncio

import redouble
from redouble import Aged, ReplyError, Server


def test_it_serves_as_long_as_the_block_lasts() -> None:
    with redouble.Server() as server:
        port = server.port
        assert redis.Redis(port=port).set("key", "value") is True
        assert repr(server) == f"<Server redis://127.0.0.1:{port}, Redis 7.4.1>"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)
    with pytest.raises(RuntimeError, match="use it within its `with` block"):
        server.execute("PING")


def test_a_server_that_has_ended_may_start_again_and_is_empty() -> None:
    server = redouble.Server()
    with server:
        server.execute("SET", "key", "value")
        with pytest.raises(RuntimeError, match="runs already"):
            server.start()
    server.close()
    with server:
        assert server.dump() == {}


def test_a_port_that_is_taken_is_an_error_at_the_start() -> None:
    with redouble.Server() as first:
        second = redouble.Server(port=first.port)
        with pytest.raises(OSError, match=f"port {first.port}: Address already in use"):
            second.start()


def test_execute_gives_plain_values_and_raises_errors(server: Server) -> None:
    assert server.execute(b"SET", "key", 1) == b"OK"
    assert server.execute("INCRBYFLOAT", "key", 1.5) == b"2.5"
    assert server.execute("GET", "none") is None
    assert server.execute("HSET", "h", "f", "v") == 1
    assert server.execute("HGETALL", "h") == {b"f": b"v"}
    assert server.execute("ZADD", "z", 1.5, "m") == 1
    assert server.execute("ZSCORE", "z", "m") == 1.5
    with pytest.raises(ReplyError) as raised:
        server.execute("LPUSH", "key", 1)
    assert raised.value.code == "WRONGTYPE"
    assert raised.value.text.endswith("wrong kind of value")
    with pytest.raises(TypeError, match="convert it first"):
        server.execute("SET", "key", None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="wants a command"):
        server.execute()


def test_each_thread_has_a_connection_of_its_own_for_execute(server: Server) -> None:
    server.execute("SELECT", 3)
    server.execute("SET", "key", "mine")
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(server.execute("GET", "key")))
    thread.start()
    thread.join()
    assert found == [None]
    assert server.execute("GET", "key") == b"mine"


def test_execute_waits_for_another_thread(server: Server) -> None:
    thread = threading.Timer(0.01, server.execute, ["RPUSH", "list", "x"])
    thread.start()
    assert server.execute("BLPOP", "list", 0) == [b"list", b"x"]
    thread.join()


def test_dump_shows_every_type_as_plain_data(server: Server) -> None:
    server.execute("SET", "string", "a")
    server.execute("RPUSH", "list", "a", "b")
    server.execute("SADD", "set", "a", "b")
    server.execute("HSET", "hash", "f", "v")
    server.execute("ZADD", "zset", 1, "a", 2.5, "b")
    server.execute("XADD", "stream", "1-2", "f", "v")
    server.execute("SELECT", 5)
    server.execute("SET", "other", "b", "PXAT", 4_000_000_000_000)
    assert server.dump() == {
        0: {
            b"string": b"a",
            b"list": [b"a", b"b"],
            b"set": {b"a", b"b"},
            b"hash": {b"f": b"v"},
            b"zset": {b"a": 1.0, b"b": 2.5},
            b"stream": [(b"1-2", {b"f": b"v"})],
        },
        5: {b"other": b"b"},
    }
    with_ttl = server.dump(ttl=True)
    assert with_ttl[0][b"string"] == Aged(b"a", None)
    assert with_ttl[5][b"other"].ttl_ms > 1_000_000_000_000


def test_dump_leaves_out_what_has_expired() -> None:
    with redouble.Server(clock=1_700_000_000_000) as server:
        server.execute("SET", "key", "value", "PX", 100)
        assert server.dump(ttl=True) == {0: {b"key": Aged(b"value", 100)}}
        with server.lock:
            server.engine.clock.advance(101)
        assert server.dump() == {}


def test_reset_leaves_nothing(server: Server) -> None:
    server.execute("SET", "key", "value")
    sha = server.execute("SCRIPT", "LOAD", "return 1")
    server.execute("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 1 end)")
    server.execute("CONFIG", "SET", "maxmemory", "1mb", "slowlog-log-slower-than", 0, "notify-keyspace-events", "KEA")
    server.execute("ACL", "SETUSER", "worker", "on", "nopass", "+@all")
    server.execute("CLIENT", "PAUSE", 1)
    server.reset()
    assert server.dump() == {}
    assert server.execute("SCRIPT", "EXISTS", sha) == [0]
    assert server.execute("FUNCTION", "LIST") == []
    assert server.execute("CONFIG", "GET", "maxmemory") == {b"maxmemory": b"0"}
    assert server.execute("CONFIG", "GET", "notify-keyspace-events") == {b"notify-keyspace-events": b""}
    assert server.execute("ACL", "USERS") == [b"default"]
    assert server.execute("SLOWLOG", "LEN") == 0
    assert b"total_commands_processed:6\r\n" in server.execute("INFO", "stats")
    assert server.execute("SELECT", 0) == b"OK"


def test_reset_ends_every_connection_and_clients_come_again(server: Server) -> None:
    over_socket = redis.Redis(port=server.port)
    direct = redis.Redis(connection_pool=server.connection_pool())
    over_socket.set("key", "value")
    subscriber = direct.pubsub()
    subscriber.subscribe("news")
    raw = socket.create_connection(("127.0.0.1", server.port), timeout=5)
    raw.sendall(b"PING\r\n")
    assert raw.recv(100) == b"+PONG\r\n"
    port = server.port
    server.reset()
    assert raw.recv(100) == b""
    raw.close()
    assert server.port == port
    assert server.execute("PUBSUB", "NUMSUB", "news") in ({b"news": 0}, [b"news", 0])
    assert over_socket.get("key") is None
    assert direct.get("key") is None


def test_reset_with_another_seed_changes_chance_and_nothing_else() -> None:
    with redouble.Server(seed=1) as server:

        def run_id() -> bytes:
            return server.execute("INFO", "server").partition(b"run_id:")[2][:40]

        first = run_id()
        server.reset()
        assert run_id() == first
        server.reset(seed=2)
        assert (run_id() != first, server.seed) == (True, 2)
        server.reset()
        assert (run_id(), server.seed) == (first, 1)


def test_two_hundred_servers_live_in_one_process() -> None:
    servers = [redouble.Server().start() for _ in range(200)]
    try:
        for number, server in enumerate(servers):
            server.execute("SET", "key", number)
        assert [server.dump() for server in servers] == [{0: {b"key": b"%d" % number}} for number in range(200)]
        assert len({server.port for server in servers}) == 200
    finally:
        for server in servers:
            server.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "redouble" and thread in _threads(servers)]


def _threads(servers: list[Server]) -> set[threading.Thread]:
    return {server._thread for server in servers}


def test_shutdown_ends_the_server_for_every_client(server: Server) -> None:
    with redouble.Server() as other:
        client = redis.Redis(connection_pool=other.connection_pool(), retry=None)
        client.ping()
        other_port = other.port
        client.shutdown(nosave=True)
        with pytest.raises(redis.ConnectionError):
            client.ping()
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", other_port)) != 0:
                    break
        else:
            pytest.fail("it listens still")
        assert other.running is False
        with pytest.raises(RuntimeError, match="does not run"):
            other.execute("PING")
        other.start()
        assert other.execute("PING") == b"PONG"
    assert server.execute("PING") == b"PONG"


def test_a_socket_gets_what_a_direct_connection_publishes_in_order(server: Server) -> None:
    listener = redis.Redis(port=server.port).pubsub()
    listener.subscribe("numbers")
    assert listener.get_message(timeout=2)["type"] == "subscribe"
    direct = redis.Redis(connection_pool=server.connection_pool())
    over_socket = redis.Redis(port=server.port)
    for number in range(0, 200, 2):
        assert direct.publish("numbers", number) == 1
        assert over_socket.publish("numbers", number + 1) == 1
    got = [int(listener.get_message(timeout=2)["data"]) for _ in range(200)]
    assert got == list(range(200))


def test_many_threads_count_to_the_same_number(server: Server) -> None:
    direct = redis.Redis(connection_pool=server.connection_pool())
    over_socket = redis.Redis(port=server.port)

    def count(client: redis.Redis) -> None:
        for _ in range(100):
            client.incr("n")

    threads = [threading.Thread(target=count, args=[client]) for client in (direct, over_socket) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert direct.get("n") == b"800"


def test_a_script_that_runs_for_ever_can_be_killed_from_another_connection() -> None:
    with redouble.Server(busy_reply_threshold=1) as server:
        client = redis.Redis(connection_pool=server.connection_pool(socket_timeout=20), retry=None)
        outcome: list[BaseException] = []

        def loop_for_ever() -> None:
            try:
                client.eval("while true do end", 0)
            except redis.ResponseError as error:
                outcome.append(error)

        thread = threading.Thread(target=loop_for_ever)
        thread.start()
        while True:
            try:
                server.execute("PING")
            except ReplyError as busy:
                assert busy.code == "BUSY"
                break
        assert server.execute("SCRIPT", "KILL") == b"OK"
        thread.join(10)
        assert "Script killed by user" in str(outcome[0])
        assert server.execute("PING") == b"PONG"


def test_a_cluster_has_a_port_for_each_node() -> None:
    with redouble.Server(cluster_nodes=3) as server:
        assert len(set(server.ports)) == 3
        client = redis.RedisCluster(host="127.0.0.1", port=server.port)
        for number in range(30):
            client.set(f"key{number}", number)
        assert sum(len(server.dump(node=node)[0]) for node in range(3)) == 30
        ports = server.ports
        server.reset()
        assert server.ports == ports
        assert [server.dump(node=node) for node in range(3)] == [{}, {}, {}]
        assert client.get("key1") is None
        client.close()


def test_an_async_server_lives_in_the_callers_loop() -> None:
    async def main() -> None:
        async with redouble.AsyncServer() as server:
            over_socket = redis.asyncio.Redis(port=server.port)
            direct = redis.asyncio.Redis(connection_pool=server.async_connection_pool())
            assert await over_socket.set("key", "value") is True
            assert await direct.get("key") == b"value"
            assert server.execute("GET", "key") == b"value"
            waiting = asyncio.create_task(direct.blpop("list", timeout=0))
            await over_socket.rpush("list", "x")
            assert await waiting == (b"list", b"x")
            assert await direct.blpop("list", timeout=0.01) is None
            with pytest.raises(RuntimeError, match="async_connection_pool"):
                server.execute("BLPOP", "list", 0)
            server.reset()
            assert await over_socket.get("key") is None
            assert await asyncio.to_thread(server.execute, "EVAL", "return 7", 0) == 7
            await over_socket.aclose()
        with pytest.raises(RuntimeError):
            server.execute("PING")

    asyncio.run(main())
