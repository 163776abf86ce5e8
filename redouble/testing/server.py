"""`redouble.Server` and `redouble.AsyncServer`: a server within a program, for as long as a `with` block lasts.

    with redouble.Server(seed=1) as server:
        client = redis.Redis(connection_pool=server.connection_pool())   # no socket
        program = subprocess.Popen([...], env={"REDIS_URL": server.url})  # or by one

`Server` has a thread and an event loop of its own, `AsyncServer` lives in the caller's loop. Both may be used
from any thread. There may be hundreds in one process.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from redouble.testing.core import Core
from redouble.testing.faults import FaultsFace
from redouble.testing.link import Link
from redouble.testing.powers import ClockFace, LintFace, SnapshotsFace, TraceFace, at_work
from redouble.testing.settings import Settings
from redouble.testing.values import MISSING, ReplyError, argument, contents, reader

if TYPE_CHECKING:
    import redis
    import redis.asyncio

    from redouble.engine.engine import Engine

_START: Final = "the server does not run: use it within its `with` block, or call start() first"
_PATIENCE: Final = 10.0


class BaseServer:
    """What both kinds of server offer. Every method may be called from any thread."""

    def __init__(self, **settings: Any) -> None:
        self._prepare(Settings(settings))

    def _prepare(self, settings: Settings) -> None:
        self._settings = settings
        self._core = Core(self._settings)
        self._session = threading.local()

    # -- where it is --------------------------------------------------------------------------

    @property
    def host(self) -> str:
        """The address that it listens on."""
        return self._value(b"bind").split()[0].removeprefix("-")

    @property
    def port(self) -> int:
        """The port; of a cluster, the first node's. 0 with only a unix socket."""
        return self.ports[0]

    @property
    def ports(self) -> list[int]:
        """The port of each node; one port if it is no cluster."""
        self._running()
        if not self._core.servers[0].has_port:
            return [0]
        return [engine.config.number(b"port") for engine in self._core.engines]

    @property
    def unixsocket(self) -> str:
        """The path of the unix socket, or empty."""
        return self._value(b"unixsocket")

    @property
    def url(self) -> str:
        """The address for any client: `redis://127.0.0.1:41233`, with the password where one is needed."""
        password = self._value(b"requirepass")
        login = f":{quote(password, safe='')}@" if password else ""
        if not self.port:
            return f"unix://{login}{self.unixsocket}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"redis://{login}{host}:{self.port}"

    @property
    def version(self) -> str:
        """The Redis version that it answers as."""
        return self._settings.options.version

    @property
    def seed(self) -> int | None:
        """What its random choices were seeded with last; None for any."""
        return self._core.engines[0].chance.given

    def _value(self, name: bytes) -> str:
        return self._core.engines[0].config.get(name).decode()

    @property
    def running(self) -> bool:
        """Whether it can be reached: started, not closed, and not ended by SHUTDOWN."""
        return self._core.running

    def _running(self) -> None:
        if not self._core.running:
            raise RuntimeError(_START)

    # -- what it holds ------------------------------------------------------------------------

    def execute(self, *args: bytes | str | float) -> Any:
        """Run a command, such as `execute("SET", "key", 1)`; its reply as a plain value.

        bytes, int, float, bool, None, list or dict. Each thread has a connection of its own for this, which may
        do everything. Raises `ReplyError` for an error reply. It waits as long as the command does.
        """
        if not args:
            raise TypeError("execute() wants a command, such as execute('PING')")
        self._running()
        session = getattr(self._session, "value", None)
        if session is None or session.link.closed:
            session = Session(self._core)
            self._session.value = session
        return session.execute([argument(arg) for arg in args])

    def dump(self, ttl: bool = False, node: int = 0) -> dict[int, dict[bytes, Any]]:
        """All keys as plain data, by database: `{0: {b"key": b"value"}}`. O(size).

        bytes; list; set; {field: value}; {member: score}; [(id, {field: value})] for a stream. With `ttl` each is an
        `Aged(value, ttl_ms)`. `node` is the node of a cluster.
        """
        with self._core.lock:
            return contents(self._core.engines[node], ttl)

    def reset(self, *, seed: int | None = None) -> None:
        """Be as if just started: keys, scripts, settings, users, clock, chance, statistics, faults ... as they were.

        Every connection ends, as if the server had been started anew; clients connect again by themselves.
        `seed` is another seed than before. O(connections), about 0.2 ms.
        """
        self._running()
        self._core.reset(seed)

    # -- what only a double can do --------------------------------------------------------------

    @property
    def clock(self) -> ClockFace:
        """Its time: freeze, advance, set, resume, autojump."""
        return ClockFace(self._core)

    def reseed(self, number: int) -> None:
        """Begin its random choices anew, from this seed. O(keys)."""
        with at_work(self._core):
            self._core.engines[0].chance.seed(number)

    @property
    def snapshots(self) -> SnapshotsFace:
        """Whole states by name."""
        return SnapshotsFace(self._core)

    @property
    def faults(self) -> FaultsFace:
        """Requests and connections that fail on demand."""
        return FaultsFace(self._core)

    @property
    def trace(self) -> TraceFace:
        """What was sent, and what scripts did inside."""
        return TraceFace(self._core)

    @property
    def lint(self) -> LintFace:
        """What works here, but would not elsewhere or later."""
        return LintFace(self._core)

    # -- clients without a socket -------------------------------------------------------------

    def connection_pool(self, *, node: int = 0, **options: Any) -> redis.ConnectionPool:
        """For redis-py: `redis.Redis(connection_pool=server.connection_pool())` needs no socket.

        `options` are those of `redis.ConnectionPool`: decode_responses, protocol, db, socket_timeout, cache_config ...
        """
        from redouble.testing.redis_py import pool

        self._running()
        return pool(self._core, node, self._with_password(options))

    def async_connection_pool(self, *, node: int = 0, **options: Any) -> redis.asyncio.ConnectionPool:
        """The same for `redis.asyncio`; its connections belong to the loop that uses them first."""
        from redouble.testing.redis_py import async_pool

        self._running()
        return async_pool(self._core, node, self._with_password(options))

    def client(self, **options: Any) -> Any:
        """A `redis.Redis` without a socket, or a `redis.RedisCluster` if it is a cluster; with redis-py's options."""
        import redis

        if len(self._core.engines) == 1:
            return redis.Redis(connection_pool=self.connection_pool(**options))
        return redis.RedisCluster(host=self.host, port=self.port, **self._with_password(options))

    def async_client(self, **options: Any) -> Any:
        """The same of `redis.asyncio`."""
        import redis.asyncio

        if len(self._core.engines) == 1:
            return redis.asyncio.Redis(connection_pool=self.async_connection_pool(**options))
        return redis.asyncio.RedisCluster(host=self.host, port=self.port, **self._with_password(options))

    def _with_password(self, options: Mapping[str, Any]) -> dict[str, Any]:
        password = self._value(b"requirepass")
        return {"password": password, **options} if password else dict(options)

    # -- for the other files of this room -------------------------------------------------------

    def internal_errors(self) -> int:
        """How many bugs of the server have shown since the start or the last reset."""
        return self._core.internal_errors()

    def story(self) -> list[str]:
        """What a failing test should show: the seed, and the last commands, the oldest first."""
        from redouble.testing.report import story

        return story(self._core)

    @property
    def engine(self) -> Engine:
        """The engine, of a cluster's first node. Who touches it from without its event loop holds `lock`."""
        return self._core.engines[0]

    @property
    def engines(self) -> list[Engine]:
        """The engine of each node."""
        return self._core.engines

    @property
    def lock(self) -> threading.Lock:
        """Held by whoever drives an engine of this server."""
        return self._core.lock

    def __repr__(self) -> str:
        where = self.url if self._core.running else "not started"
        return f"<{type(self).__name__} {where}, Redis {self.version}>"


class Session:
    """A connection for `execute`."""

    def __init__(self, core: Core) -> None:
        self.link = Link(core, own=True)
        self._reader = reader()
        core.trust(self.link.client)

    def execute(self, argv: list[bytes]) -> Any:
        """The reply of a command. Raises `ReplyError`."""
        self.link.request(argv)
        reply = self._reader.gets()
        while reply is MISSING:
            self._feed()
            reply = self._reader.gets()
        if isinstance(reply, ReplyError):
            raise reply
        return reply

    def _feed(self) -> None:
        data = self.link.take(None)
        if not data:
            raise ConnectionError("the server has closed the connection")
        self._reader.feed(data)

    def __del__(self) -> None:
        self.link.hang_up()


class Server(BaseServer):
    """A server with a thread and an event loop of its own."""

    def start(self) -> Server:
        """Listen. Raises `OSError`. `with` does this by itself."""
        if self._core.running:
            raise RuntimeError("the server runs already; make another one by redouble.Server(...)")
        self.close()
        self._core = Core(self._settings)
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="redouble", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            self._thread.join()
            raise self._failure
        return self

    def _run(self) -> None:
        loop = self._new_loop()
        try:
            loop.run_until_complete(self._serve())
        except BaseException as failure:
            self._failure = failure
        finally:
            loop.close()
            self._ready.set()

    def _new_loop(self) -> asyncio.AbstractEventLoop:
        """asyncio's own: it costs a third of uvloop's to start, and tests start many."""
        return asyncio.new_event_loop()

    async def _serve(self) -> None:
        self._wanted = asyncio.Event()
        await self._core.begin()
        self._ready.set()
        await self._wanted.wait()
        await self._core.end()

    def close(self) -> None:
        """End: every connection is closed, every key forgotten. More than once does no harm."""
        core = self._core
        if core.thread:
            core.loop.call_soon_threadsafe(self._wanted.set)
            self._thread.join(_PATIENCE)

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncServer(BaseServer):
    """A server in the caller's event loop."""

    async def start(self) -> AsyncServer:
        """Listen. Raises `OSError`. `async with` does this by itself."""
        if self._core.running:
            raise RuntimeError("the server runs already; make another one by redouble.AsyncServer(...)")
        await self.close()
        self._core = Core(self._settings)
        await self._core.begin()
        return self

    async def close(self) -> None:
        """End: every connection is closed, every key forgotten. More than once does no harm."""
        if self._core.thread:
            await self._core.end()

    async def __aenter__(self) -> AsyncServer:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
