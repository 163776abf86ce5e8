"""redis-py's connections without a socket, sync and asyncio.

They are redis-py's own connections to a unix socket, but for the socket: where one would be opened there
stands a `DirectSocket` (or for asyncio a stream reader and a `DirectWriter`) over a `Link`. So handshake, RESP3,
retries, pub/sub, pipelines and client-side caching are redis-py's own code, whatever its version.

One thing is done in a shorter way, for speed. An ordinary command, of bytes, str and int only, is not packed into a
request that would be parsed again at once; its arguments go to the engine as they are. And the reply goes to
redis-py's reader without the detour through a socket's buffer.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import redis
import redis.asyncio
from redis.connection import UnixDomainSocketConnection

from redouble.testing.core import Core
from redouble.testing.link import Link, LoopLink

#: Bytes that are read from a stream at most; as asyncio has it.
_STREAM_LIMIT: Final = 1 << 16


class DirectSocket:
    """As much of a socket as redis-py uses."""

    def __init__(self, core: Core, node: int, timeout: float | None) -> None:
        self.link = Link(core, node)
        self._timeout = timeout
        #: What did not fit into the reader's buffer.
        self._rest = b""

    @property
    def has_rest(self) -> bool:
        """Whether a part of what came has been read already."""
        return bool(self._rest)

    def sendall(self, data: bytes) -> None:
        """Send bytes: the requests in them run now."""
        self.link.send(bytes(data))

    def recv_into(self, buffer: bytearray) -> int:
        """Wait for bytes; how many there are."""
        data = self._take()
        size = min(len(data), len(buffer))
        buffer[:size] = data[:size]
        self._rest = data[size:]
        return size

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Wait for bytes. `flags` are none or MSG_PEEK."""
        data = self._take()
        self._rest = data if flags else data[size:]
        return data[:size]

    def _take(self) -> bytes:
        if self._rest:
            data, self._rest = self._rest, b""
            return data
        try:
            return self.link.take(self._timeout)
        except TimeoutError:
            if self._timeout == 0:
                raise BlockingIOError(11, "Resource temporarily unavailable") from None
            raise

    def readable(self, timeout: float | None) -> bool:
        """Whether a read would give something, after at most so many seconds."""
        return bool(self._rest) or self.link.readable(timeout)

    def settimeout(self, timeout: float | None) -> None:
        """How long a read waits, in seconds; None for ever."""
        self._timeout = timeout

    def gettimeout(self) -> float | None:
        """How long a read waits."""
        return self._timeout

    def setblocking(self, blocking: bool) -> None:
        """Wait for ever, or not at all."""
        self._timeout = None if blocking else 0.0

    def fileno(self) -> int:
        """There is none."""
        return -1

    def getpeername(self) -> str:
        """The name of what is not there."""
        return "direct"

    getsockname = getpeername

    def shutdown(self, how: int) -> None:
        """`close` does it."""

    def close(self) -> None:
        """Hang up."""
        self.link.hang_up()


class DirectConnection(UnixDomainSocketConnection):
    """redis-py's connection, to a server in this process."""

    def __init__(self, core: Core, node: int = 0, **options: Any) -> None:
        self._core = core
        self._node = node
        self._sock: Any = None
        #: redis-py's cache asks for it, though a connection without TCP has none.
        self.port = 0
        self._packs_as_usual = options.get("command_packer") is None
        super().__init__(path="redouble", **options)  # type: ignore[no-untyped-call]

    def _connect(self) -> DirectSocket:
        return DirectSocket(self._core, self._node, self.socket_timeout)

    @property
    def is_idle(self) -> bool:
        """Connected, and nothing to read that nobody has asked for."""
        sock = self._sock
        if sock is None or sock.link.closed or sock.link.data or sock.has_rest:
            return False
        reader = getattr(self._parser, "_reader", None)
        return reader is not None and not reader.has_data()

    def can_read(self, timeout: float | None = 0) -> bool:
        """Whether there is something to read; a connection that has ended is an error, so the pool renews it."""
        sock = self._sock
        if sock is None:
            self.connect()  # type: ignore[no-untyped-call]
            sock = self._sock
        reader = getattr(self._parser, "_reader", None)
        if reader is not None and reader.has_data():
            return True
        if not sock.readable(timeout):
            return False
        if sock.link.closed and not sock.link.data:
            raise redis.ConnectionError("Connection closed by server.")
        return True

    def send_command(self, *args: Any, **options: Any) -> None:
        """Run a command; without packing it, if it is one of the usual kind."""
        sock = self._sock
        short = sock is not None and not self.health_check_interval and self._packs_as_usual
        argv = _plain(args) if short else None
        if argv is None:
            super().send_command(*args, **options)  # type: ignore[no-untyped-call]
            return
        try:
            sock.link.request(argv)
        except ConnectionError as error:
            self.disconnect()  # type: ignore[no-untyped-call]
            raise redis.ConnectionError(str(error)) from None

    def read_response(self, *args: Any, **options: Any) -> Any:
        """The next reply, as redis-py reads it."""
        sock = self._sock
        if sock is not None and sock.link.data and not sock.has_rest:
            reader = getattr(self._parser, "_reader", None)
            if reader is not None:
                reader.feed(sock.link.take(0))
        return super().read_response(*args, **options)


def _plain(args: tuple[Any, ...]) -> list[bytes] | None:
    """A command's arguments as redis-py packs them, or None where that is better left to redis-py. O(arguments)."""
    name = args[0]
    if type(name) is not str or " " in name:
        return None
    argv: list[bytes] = []
    for arg in args:
        kind = type(arg)
        if kind is bytes:
            argv.append(arg)
        elif kind is str:
            argv.append(arg.encode())
        elif kind is int:
            argv.append(b"%d" % arg)
        else:
            return None
    return argv


class DirectWriter:
    """As much of an asyncio.StreamWriter as redis-py uses."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.transport = self

    def write(self, data: bytes) -> None:
        """Send bytes: the requests in them run now."""
        self.link.send(bytes(data))

    def writelines(self, pieces: Iterable[bytes]) -> None:
        """Send bytes: the requests in them run now."""
        self.link.send(b"".join(pieces))

    async def drain(self) -> None:
        """Everything has gone out already."""

    def close(self) -> None:
        """Hang up."""
        self.link.hang_up()

    abort = close

    def is_closing(self) -> bool:
        """Whether either side has hung up."""
        return self.link.closed

    async def wait_closed(self) -> None:
        """It has been done."""

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """There is no socket to tell of."""
        return default


class AsyncDirectConnection(redis.asyncio.UnixDomainSocketConnection):
    """redis-py's connection for asyncio, to a server in this process."""

    def __init__(self, *, core: Core, node: int = 0, **options: Any) -> None:
        self._core = core
        self._node = node
        super().__init__(path="redouble", **options)

    async def _connect(self) -> None:
        stream = asyncio.StreamReader(limit=_STREAM_LIMIT)

        def receive(data: bytes | None) -> None:
            if data is None:
                stream.feed_eof()
            else:
                stream.feed_data(data)

        self._reader = stream
        self._writer: Any = DirectWriter(LoopLink(self._core, self._node, asyncio.get_running_loop(), receive))

    def __del__(self, *args: Any) -> None:
        """Nobody need close it: there is no socket that would be left open."""
        writer = getattr(self, "_writer", None)
        if writer is not None:
            with contextlib.suppress(Exception):
                writer.close()


class DirectPool(redis.ConnectionPool):
    """redis-py's pool, with a short way in and out for a connection that is in order.

    What it leaves out is redis-py's count of idle and used connections for OpenTelemetry, and an event that only
    tokens of a credential provider need: such a pool takes the long way.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(connection_class=DirectConnection, **options)
        self._short = self.cache is None and options.get("credential_provider") is None

    def get_connection(self, *args: Any, **options: Any) -> Any:
        """A connection that is ready."""
        if self._short and self.pid == os.getpid():
            with self._lock:
                free = self._available_connections
                if free and free[-1].is_idle:
                    connection = free.pop()
                    self._in_use_connections.add(connection)
                    return connection
        return super().get_connection(*args, **options)

    def release(self, connection: Any) -> None:
        """Take a connection back."""
        if not self._short or connection.pid != self.pid or connection.should_reconnect():
            super().release(connection)
            return
        with self._lock:
            if connection in self._in_use_connections:
                self._in_use_connections.remove(connection)
                self._available_connections.append(connection)


@cache
def _introduction() -> dict[str, Any]:
    """What redis-py says of itself. Each connection would ask the installed packages for it, which takes a ms."""
    try:
        from redis.driver_info import DriverInfo
    except ImportError:
        return {}
    return {"driver_info": DriverInfo()}


def _introduced(options: dict[str, Any]) -> dict[str, Any]:
    if {"driver_info", "lib_name", "lib_version"} & options.keys():
        return options
    return {**_introduction(), **options}


def pool(core: Core, node: int, options: dict[str, Any]) -> redis.ConnectionPool:
    """A pool of direct connections."""
    return DirectPool(core=core, node=node, **_introduced(options))


def async_pool(core: Core, node: int, options: dict[str, Any]) -> redis.asyncio.ConnectionPool:
    """A pool of direct connections for asyncio."""
    options = _introduced(options)
    return redis.asyncio.ConnectionPool(connection_class=AsyncDirectConnection, core=core, node=node, **options)
