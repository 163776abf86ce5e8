"""The edge of a server within a program: the same listeners, but the engine has more than one driver.

The event loop's thread serves the sockets and fires the timer. Other threads run commands too: a direct
connection (`link.py`) runs them in its caller's thread. So whoever drives the engine holds the server's one
lock, and here every way from asyncio to the engine takes it.

The lock is a plain one, on purpose. The garbage collector may end a connection in the midst of a
command; with a re-entrant lock that would change the engine under the command's feet.

A transport may be touched by its loop's thread only. What another thread's command sends to a socket (a
published message, say) is therefore handed to the loop; and while something is on its way there, what the
loop's own thread has to send queues up behind it.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Final

from redouble.engine import flags as f
from redouble.engine.engine import Engine
from redouble.server.connection import Connection
from redouble.server.server import RedoubleServer

if TYPE_CHECKING:
    from redouble.testing.core import Core

_NEVER: Final = 1 << 62


class EmbeddedServer(RedoubleServer):
    """The listeners and the timer of one engine of a `Core`."""

    def __init__(self, core: Core, engine: Engine, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(engine)
        self.core = core
        self.loop = loop
        self.thread = threading.get_ident()

    def protocol(self) -> Connection:
        """A connection that takes the lock."""
        return EmbeddedConnection(self)

    def adopt(self, engine: Engine) -> None:
        """Serve another engine from now on, under the same addresses. The lock is held."""
        old, self.engine = self.engine, engine
        edge = engine.config.edge
        edge.attend = self.attend
        edge.relisten = self.relisten
        edge.renew_tls = old.config.edge.renew_tls
        edge.addresses = old.config.edge.addresses
        engine.config.values[b"port"] = old.config.values[b"port"]
        engine.scripting.long.use_fiber()
        old.config.edge.attend = old.config.edge.relisten = None
        fiber = old.scripting.long.fiber
        if fiber is not None and fiber.begun:
            self.loop.call_soon_threadsafe(old.scripting.long.close)

    def attend(self) -> None:
        """From any thread."""
        if threading.get_ident() == self.thread:
            super().attend()
        elif self._must_act() and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(super().attend)

    def _must_act(self) -> bool:
        """Whether there is anything for the loop to do: a clock that stands, and does not jump, makes nothing due."""
        engine = self.engine
        may_come_due = not engine.clock.frozen or engine.timeline.autojump_ms != 0
        return engine.stopping or engine.flags & f.BUSY_SCRIPT != 0 or may_come_due

    def _fire(self) -> None:
        with self.core.lock:
            super()._fire()

    def listen_for_silence(self) -> None:
        """Jump to what is due, if nothing has arrived."""
        with self.core.lock:
            super().listen_for_silence()

    async def close(self) -> None:
        """End; nobody is waited for, because whoever talks to us is a part of the same program."""
        for connection in list(self.connections):
            connection.abort()
        await super().close()


class EmbeddedConnection(Connection):
    """A connection by a socket, beside direct ones."""

    __slots__ = ("_embedded", "_on_its_way", "_reads")

    def __init__(self, server: EmbeddedServer) -> None:
        super().__init__(server)
        self._embedded = server
        #: How many writes of other threads the loop has still to do.
        self._on_its_way = 0
        #: False once the peer has stopped reading.
        self._reads = True

    # -- from asyncio -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has come."""
        with self._embedded.core.lock:
            # A reset may have come between the call for us and this one.
            self._engine = self._embedded.engine
            super().connection_made(transport)
            if self._client is not None:
                self._client.link = self

    def data_received(self, data: bytes) -> None:
        """Requests have come."""
        core = self._embedded.core
        with core.lock:
            client = self._client
            if client is not None:
                core.recent.append((client.id, data))
                super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        with self._embedded.core.lock:
            super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The peer does not read. Within a write, so the lock is held."""
        self._reads = False
        super().pause_writing()

    def resume_writing(self) -> None:
        """The peer reads again."""
        self._reads = True
        super().resume_writing()
        if self._client is not None:
            self._client.link = self

    def _soft_limit_reached(self) -> None:
        with self._embedded.core.lock:
            super()._soft_limit_reached()

    # -- from the engine, in any thread, the lock held ----------------------------------------

    def write(self, data: bytes) -> None:
        """Send bytes, in order."""
        if self._on_its_way or threading.get_ident() != self._embedded.thread:
            self._on_its_way += 1
            self._embedded.loop.call_soon_threadsafe(self._write_late, data)
        else:
            self._write(data)

    def _write_late(self, data: bytes) -> None:
        with self._embedded.core.lock:
            self._on_its_way -= 1
            self._write(data)

    def _write(self, data: bytes) -> None:
        if self._reads:
            self._transport.write(data)
        else:
            super().write(data)

    def close(self) -> None:
        """Close after what was written."""
        self._do(self._transport.close)

    def abort(self) -> None:
        """Close at once."""
        self._do(self._transport.abort)

    def _do(self, end: object) -> None:
        assert callable(end)
        if self._on_its_way or threading.get_ident() != self._embedded.thread:
            self._embedded.loop.call_soon_threadsafe(end)
        else:
            end()

    def cut(self) -> None:
        """The engine that this belonged to is gone."""
        self._client = None
        self.abort()
