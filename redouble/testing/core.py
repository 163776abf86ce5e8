"""What the servers of this room have in common: engines, the lock around them, their links and listeners.

A `Core` is driven by an event loop (`begin`, `end`), its own thread's or the caller's, and used from any
thread. `reset` does not clean an engine: it puts a new one in its place. So nothing of a test can be left over,
whatever the engine learns one day, and the old one takes its connections with it. An engine costs so
little because the rows of its commands and parameters are made once for each version.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from redouble.engine import flags as f
from redouble.engine.client import Client
from redouble.engine.engine import Engine
from redouble.engine.powers.faults import DELAYED, OPEN, REFUSED, RESET
from redouble.server.options import OptionError
from redouble.server.startup import listen
from redouble.testing.edge import EmbeddedConnection, EmbeddedServer
from redouble.testing.link import Link
from redouble.testing.settings import Settings

#: How many of the last reads a report may show.
_RECENT: Final = 30
#: Seconds for the loop to close the connections of before.
_PATIENCE: Final = 5.0


class Core:
    """The engines of one server, several for a cluster."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.engines: list[Engine] = settings.engines()
        self.servers: list[EmbeddedServer] = []
        #: Whoever drives an engine holds it; see `edge.py`.
        self.lock = threading.Lock()
        self.links: set[Link] = set()
        #: What was sent last: the client's number, and bytes of a socket or the requests of a direct connection.
        self.recent: deque[tuple[int, Any]] = deque(maxlen=_RECENT)
        self.loop: asyncio.AbstractEventLoop
        #: The thread of the event loop; 0 while there is none.
        self.thread = 0
        self._watchers: list[asyncio.Task[None]] = []

    # -- the loop's side ----------------------------------------------------------------------

    async def begin(self) -> None:
        """Listen. Raises `OSError`."""
        self.loop = asyncio.get_running_loop()
        self.thread = threading.get_ident()
        try:
            for engine in self.engines:
                server = EmbeddedServer(self, engine, self.loop)
                self.servers.append(server)
                await listen(engine, server)
        except OptionError as error:
            await self.end()
            raise OSError(error.reason) from None
        for server in self.servers:
            server.arm()
            self._watchers.append(self.loop.create_task(self._until_stopped(server)))

    async def _until_stopped(self, server: EmbeddedServer) -> None:
        """SHUTDOWN ends a server as it would end a process."""
        await server.stopped.wait()
        with self.lock:
            for link in [link for link in self.links if link.client.engine is server.engine]:
                link.close()
        await server.close()

    async def end(self) -> None:
        """Close everything."""
        for watcher in self._watchers:
            watcher.cancel()
        self._watchers = []
        with self.lock:
            self._cut()
        for server in self.servers:
            await server.close()
        self.thread = 0

    # -- from any thread ----------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether there are listeners: `begin` was called, and nobody has called `end` or sent SHUTDOWN."""
        return self.thread != 0 and not all(server.stopped.is_set() for server in self.servers)

    def attend(self) -> None:
        """An engine wants something of the loop. The lock is held."""
        for server in self.servers:
            server.attend()

    def welcome(self, link: Link, node: int, own: bool) -> Client:
        """A client for a new direct connection; `own`: of ours, so nothing can keep it out. The lock is held.

        Raises `ConnectionError`, where a socket would meet a fault or be one too many.
        """
        engine = self.engines[node]
        if not self.running or engine.stopping:
            raise ConnectionRefusedError("The server does not run: start it, or use it within its `with` block.")
        verdict = OPEN if own else engine.faults.at_door()
        if verdict in (REFUSED, RESET):
            raise ConnectionResetError("Connection closed by a fault.")
        if not own and len(engine.clients) >= engine.config.edge.max_clients:
            engine.stats.rejected_connections += 1
            raise ConnectionRefusedError("max number of clients reached")
        client = engine.connect(link)
        if verdict == DELAYED:
            engine.faults.delay_new(client)
            self.attend()
        client.kind = b"unix"
        client.address = client.local_address = b"direct:%d" % client.id
        self.links.add(link)
        return client

    def submit(self, client: Client, requests: list[list[bytes]], size: int) -> bool:
        """`Engine.submit` in whichever thread this is. The lock is held."""
        if threading.get_ident() == self.thread:
            return client.engine.submit(client, requests, size)
        # A fiber can be entered only in the thread that made it.
        long = client.engine.scripting.long
        fiber, long.fiber = long.fiber, None
        try:
            return client.engine.submit(client, requests, size)
        finally:
            long.fiber = fiber

    @contextmanager
    def driven(self) -> Iterator[None]:
        """Something is changed from outside. Afterwards what is due happens, and what was said goes out."""
        with self.lock:
            try:
                with self._settled():
                    yield
            finally:
                self.attend()

    @contextmanager
    def _settled(self) -> Iterator[None]:
        """The same, where the lock is held."""
        fibers = [(engine.scripting.long, engine.scripting.long.fiber) for engine in self.engines]
        if threading.get_ident() != self.thread:
            for long, _ in fibers:
                long.fiber = None
        try:
            yield
        finally:
            for engine in self.engines:
                if not engine.flags & f.BUSY_SCRIPT:
                    engine.tick()
                engine.flush()
            for long, fiber in fibers:
                long.fiber = fiber

    def part(self, link: Link) -> None:
        """The client of a direct connection has gone."""
        if self.lock.acquire(blocking=False):
            try:
                self._part(link)
            finally:
                self.lock.release()
        elif self.running and not self.loop.is_closed():
            # This thread may hold the lock itself: the garbage collector calls whenever it likes.
            self.loop.call_soon_threadsafe(self._part_later, link)

    def _part_later(self, link: Link) -> None:
        with self.lock:
            self._part(link)

    def _part(self, link: Link) -> None:
        self.links.discard(link)
        if not link.closed:
            link.closed = True
            with self._settled():
                link.client.engine.disconnect(link.client)
            # To wake the loop costs more than all the rest, and most who go leave nothing to do.
            if any([engine.wants_attention() or engine.flags & f.BUSY_SCRIPT for engine in self.engines]):
                self.attend()

    def reset(self, seed: int | None) -> None:
        """Be as if just started, with another seed if one is given. Every connection ends. O(connections)."""
        with self.lock:
            fresh = self.settings.engines(seed)
            for server, engine in zip(self.servers, fresh, strict=True):
                server.adopt(engine)
            self.engines = fresh
            self.recent.clear()
            sockets = self._cut()
        if sockets and self.running and threading.get_ident() != self.thread:
            self._wait_for_loop()

    def _cut(self) -> bool:
        """End every connection; whether there were sockets among them."""
        for link in list(self.links):
            link.close()
        sockets = False
        for server in self.servers:
            for connection in list(server.connections):
                sockets = True
                if isinstance(connection, EmbeddedConnection):
                    connection.cut()
            server.connections.clear()
        return sockets

    def _wait_for_loop(self) -> None:
        done = threading.Event()
        # Twice, because asyncio closes a socket in the round after.
        self.loop.call_soon_threadsafe(lambda: self.loop.call_soon(done.set))
        done.wait(_PATIENCE)

    def internal_errors(self) -> int:
        """How many bugs of the engines have shown."""
        return sum(engine.stats.unexpected_errors for engine in self.engines)

    def trust(self, client: Client) -> None:
        """A client of our own may do everything, password or not."""
        client.flags &= ~(f.UNAUTHENTICATED | f.RESTRICTED)
        client.set_resp(3)
