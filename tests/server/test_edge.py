"""The edge within the test's process: limits, time-outs, other listeners."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from redouble.commands import FAMILIES
from redouble.engine.engine import Engine
from redouble.server.server import RedoubleServer
from tests.wire import encode

Peer = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Scenario = Callable[["Edge"], Awaitable[None]]


class Edge:
    """A server on a free port."""

    def __init__(self) -> None:
        self.engine = Engine(FAMILIES, "7.4.1")
        self.server = RedoubleServer(self.engine)
        self.port = 0

    async def connect(self) -> Peer:
        return await asyncio.open_connection("127.0.0.1", self.port)

    def configure(self, *words: bytes) -> None:
        self.engine.config.change(list(words), True)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the server has noticed something."""
        async with asyncio.timeout(5):
            while not condition():
                await asyncio.sleep(0.001)


@contextlib.asynccontextmanager
async def running() -> AsyncIterator[Edge]:
    edge = Edge()
    edge.port = await edge.server.listen_tcp("127.0.0.1", 0)
    edge.engine.config.values[b"port"] = b"%d" % edge.port
    edge.engine.config.edge.relisten = edge.server.relisten
    yield edge
    await edge.server.close()
    assert edge.engine.stats.unexpected_errors == 0


def play(scenario: Scenario) -> None:
    async def main() -> None:
        async with asyncio.timeout(20), running() as edge:
            await scenario(edge)

    asyncio.run(main())


async def ask(peer: Peer, request: bytes) -> bytes:
    peer[1].write(request)
    return await peer[0].readline()


def test_two_hundred_connections_at_once_are_all_served() -> None:
    async def scenario(edge: Edge) -> None:
        peers = await asyncio.gather(*[edge.connect() for _ in range(200)])
        replies = await asyncio.gather(*[ask(peer, b"PING\r\n") for peer in peers])
        assert replies == [b"+PONG\r\n"] * 200
        assert len(edge.engine.clients) == 200

    play(scenario)


def test_one_client_too_many_is_turned_away_and_counted() -> None:
    async def scenario(edge: Edge) -> None:
        edge.configure(b"maxclients", b"2")
        first, second = await edge.connect(), await edge.connect()
        assert await ask(first, b"PING\r\n") == b"+PONG\r\n"
        assert await ask(second, b"PING\r\n") == b"+PONG\r\n"
        third = await edge.connect()
        assert await third[0].read() == b"-ERR max number of clients reached\r\n"
        assert edge.engine.stats.rejected_connections == 1
        second[1].close()
        await edge.until(lambda: len(edge.engine.clients) == 1)
        assert await ask(await edge.connect(), b"PING\r\n") == b"+PONG\r\n"

    play(scenario)


def test_a_reply_beyond_the_hard_limit_closes_the_client_and_says_nothing() -> None:
    async def scenario(edge: Edge) -> None:
        edge.configure(b"client-output-buffer-limit", b"normal 100000 0 0")
        peer = await edge.connect()
        assert await ask(peer, b"SET k %b\r\n" % (b"x" * 60000)) == b"+OK\r\n"
        peer[1].write(b"GET k\r\nGET k\r\n")
        assert await peer[0].read() == b""
        assert edge.engine.stats.output_limit_closes == 1
        assert edge.engine.clients == {}

    play(scenario)


def test_a_subscriber_that_does_not_read_is_closed_at_its_limit_while_others_go_on() -> None:
    async def scenario(edge: Edge) -> None:
        edge.configure(b"client-output-buffer-limit", b"pubsub 1mb 0 0")
        deaf, publisher = await edge.connect(), await edge.connect()
        deaf[1].write(b"SUBSCRIBE c\r\n")
        await edge.until(lambda: len(edge.engine.pubsub.listeners[0]) == 1)
        deaf[1].transport.pause_reading()  # type: ignore[attr-defined]
        message = b"PUBLISH c %b\r\n" % (b"x" * 60000)
        for _ in range(1000):
            receivers = await ask(publisher, message)
            if receivers == b":0\r\n":
                break
        assert receivers == b":0\r\n"
        assert edge.engine.stats.output_limit_closes == 1
        assert await ask(publisher, b"PING\r\n") == b"+PONG\r\n"

    play(scenario)


@pytest.mark.parametrize("kind", ["normal", "pubsub"])
def test_a_client_that_stays_beyond_the_soft_limit_is_closed_and_one_that_reads_is_not(kind: str) -> None:
    async def scenario(edge: Edge) -> None:
        peers = [await edge.connect(), await edge.connect()]
        other = await edge.connect()
        assert await ask(other, b"SET k %b\r\n" % (b"x" * 60000)) == b"+OK\r\n"
        for peer in peers:
            if kind == "pubsub":
                assert await ask(peer, b"SUBSCRIBE c\r\n") == b"*3\r\n"
            peer[1].transport.pause_reading()  # type: ignore[attr-defined]
        clients = list(edge.engine.clients.values())[:2]
        for number in range(300):
            if number == 299:
                await edge.until(lambda: clients[0].unread > 1_048_576 and clients[1].unread > 1_048_576)
                edge.configure(b"client-output-buffer-limit", kind.encode() + b" 0 1mb 3")
            if kind == "pubsub":
                assert await ask(other, b"PUBLISH c %b\r\n" % (b"x" * 60000)) == b":2\r\n"
            else:
                for peer in peers:
                    peer[1].write(b"GET k\r\n")
        peers[1][1].transport.resume_reading()  # type: ignore[attr-defined]
        await peers[1][0].readexactly(300 * 60000)
        await edge.until(lambda: edge.engine.stats.output_limit_closes > 0)
        assert next(iter(edge.engine.clients.values())) is clients[1]
        assert len(edge.engine.clients) == 2
        assert edge.engine.stats.output_limit_closes == 1
        assert await ask(other, b"PING\r\n") == b"+PONG\r\n"

    play(scenario)


def test_who_does_not_read_is_read_from_no_more_until_he_reads_and_others_go_on() -> None:
    async def scenario(edge: Edge) -> None:
        edge.engine.config.edge.stop_reading = 2_000_000
        lazy, other = await edge.connect(), await edge.connect()
        assert await ask(lazy, b"SET k %b\r\n" % (b"x" * 60000)) == b"+OK\r\n"
        lazy[1].transport.pause_reading()  # type: ignore[attr-defined]
        client = next(iter(edge.engine.clients.values()))
        for _ in range(300):
            lazy[1].write(b"GET k\r\nINCR n\r\n")
            await ask(other, b"PING\r\n")
        await edge.until(lambda: client.unread > 2_000_000)
        done = await ask(other, encode("GET", "n"))
        served = int((await other[0].readline()).strip())
        assert done.startswith(b"$") and served < 300
        lazy[1].transport.resume_reading()  # type: ignore[attr-defined]
        for number in range(1, 301):
            assert await lazy[0].readexactly(60010) == b"$60000\r\n" + b"x" * 60000 + b"\r\n"
            assert await lazy[0].readline() == b":%d\r\n" % number

    play(scenario)


def test_silent_peers_are_probed_as_the_configuration_says() -> None:
    async def scenario(edge: Edge) -> None:
        for seconds in (90, 0):
            edge.configure(b"tcp-keepalive", b"%d" % seconds)
            known = set(edge.server.connections)
            peer = await edge.connect()
            assert await ask(peer, b"PING\r\n") == b"+PONG\r\n"
            (connection,) = edge.server.connections - known
            sock = connection._transport.get_extra_info("socket")
            assert bool(sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)) == bool(seconds)
            if seconds:
                assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == seconds
                assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL) == seconds // 3
                assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT) == 3

    play(scenario)


def test_unread_replies_count_as_output_memory_and_arrive_whole_in_the_end() -> None:
    async def scenario(edge: Edge) -> None:
        lazy = await edge.connect()
        assert await ask(lazy, b"SET k %b\r\n" % (b"x" * 60000)) == b"+OK\r\n"
        lazy[1].transport.pause_reading()  # type: ignore[attr-defined]
        lazy[1].write(b"GET k\r\n" * 300)
        client = next(iter(edge.engine.clients.values()))
        await edge.until(lambda: client.unread > 1_000_000)
        lazy[1].transport.resume_reading()  # type: ignore[attr-defined]
        expected = (b"$60000\r\n" + b"x" * 60000 + b"\r\n") * 300
        assert await lazy[0].readexactly(len(expected)) == expected
        await edge.until(lambda: client.unread == 0)

    play(scenario)


def test_a_request_that_never_ends_is_closed_at_the_query_limit() -> None:
    async def scenario(edge: Edge) -> None:
        edge.configure(b"client-query-buffer-limit", b"1mb")
        peer = await edge.connect()
        peer[1].write(b"*2\r\n$3\r\nGET\r\n$3000000\r\n" + b"x" * 2_000_000)
        with contextlib.suppress(ConnectionResetError):
            assert await peer[0].read() == b""
        assert edge.engine.stats.query_limit_closes == 1

    play(scenario)


def test_an_idle_client_is_closed_when_its_time_is_up_but_not_one_that_waits() -> None:
    async def scenario(edge: Edge) -> None:
        idle, waiting = await edge.connect(), await edge.connect()
        assert await ask(idle, b"PING\r\n") == b"+PONG\r\n"
        waiting[1].write(b"BLPOP k 0\r\n")
        await edge.until(lambda: edge.engine.blocking.count == 1)
        edge.configure(b"timeout", b"10")
        edge.engine.clock.advance(9_000)
        edge.engine.tick()
        assert len(edge.engine.clients) == 2
        edge.engine.clock.advance(2_000)
        edge.engine.tick()
        assert await idle[0].read() == b""
        assert edge.engine.blocking.count == 1

    play(scenario)


def test_a_blocked_client_wakes_by_the_timer_without_any_traffic() -> None:
    async def scenario(edge: Edge) -> None:
        peer = await edge.connect()
        assert await ask(peer, b"BLPOP k 0.02\r\n") == b"*-1\r\n"

    play(scenario)


def test_the_port_can_be_changed_while_connections_live_on() -> None:
    async def scenario(edge: Edge) -> None:
        old = await edge.connect()
        probe = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
        taken = probe.sockets[0].getsockname()[1]
        reply = await ask(old, b"CONFIG SET port %d\r\n" % taken)
        assert reply == (
            b"-ERR CONFIG SET failed (possibly related to argument 'port') - "
            b"Unable to listen on this port. Check server logs.\r\n"
        )
        assert await ask(await edge.connect(), b"PING\r\n") == b"+PONG\r\n"
        probe.close()
        await probe.wait_closed()
        assert await ask(old, b"CONFIG SET port %d\r\n" % taken) == b"+OK\r\n"
        new = await asyncio.open_connection("127.0.0.1", taken)
        assert await ask(new, b"PING\r\n") == b"+PONG\r\n"
        assert await ask(old, b"PING\r\n") == b"+PONG\r\n"
        with pytest.raises(ConnectionRefusedError):
            await edge.connect()

    play(scenario)


def test_closing_sends_what_is_left_first() -> None:
    async def scenario(edge: Edge) -> None:
        peer = await edge.connect()
        assert await ask(peer, encode("SET", "k", "x" * 500_000)) == b"+OK\r\n"
        peer[1].write(b"GET k\r\n")
        assert await peer[0].readline() == b"$500000\r\n"
        await edge.server.close()
        assert await peer[0].read() == b"x" * 500_000 + b"\r\n"

    play(scenario)


def test_shutdown_asks_the_edge_to_stop() -> None:
    async def scenario(edge: Edge) -> None:
        peer = await edge.connect()
        peer[1].write(b"SHUTDOWN NOSAVE\r\n")
        await asyncio.wait_for(edge.server.stopped.wait(), 5)

    play(scenario)


def test_a_unix_socket_serves_beside_the_port(tmp_path: Path) -> None:
    async def scenario(edge: Edge) -> None:
        path = str(tmp_path / "socket")
        await edge.server.listen_unix(path, 0o750)
        peer = await asyncio.open_unix_connection(path)
        assert await ask(peer, b"PING\r\n") == b"+PONG\r\n"
        assert Path(path).stat().st_mode & 0o777 == 0o750
        assert edge.engine.config.edge.addresses == [
            b"name=tcp,bind=127.0.0.1,port=%d" % edge.port, b"name=unix,bind=" + path.encode(),
        ]  # fmt: skip

    play(scenario)


def test_port_and_addresses_can_be_changed_in_one_go_and_back_again() -> None:
    async def scenario(edge: Edge) -> None:
        old = await edge.connect()
        probe = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
        free = probe.sockets[0].getsockname()[1]
        probe.close()
        await probe.wait_closed()
        there = b"CONFIG SET port %d bind '127.0.0.1 127.0.0.2'\r\n" % free
        back = b"CONFIG SET bind 127.0.0.1 port %d\r\n" % edge.port
        # At once, before anything serves the new sockets.
        old[1].write(there + back + there)
        assert [await old[0].readline() for _ in range(3)] == [b"+OK\r\n"] * 3
        for host in ("127.0.0.1", "127.0.0.2"):
            assert await ask(await asyncio.open_connection(host, free), b"PING\r\n") == b"+PONG\r\n"
        with pytest.raises(ConnectionRefusedError):
            await edge.connect()
        assert len(edge.engine.config.edge.addresses) == 2

    play(scenario)
