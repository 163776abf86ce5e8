"""The server: listeners, one timer, an orderly end. The only asynchronous part.

The engine says when something is due next; one asyncio timer is armed for that time, so that nothing
polls while nothing is due.
"""

from __future__ import annotations

import asyncio
import os
import socket
from typing import Final

from redouble.engine.client import Client
from redouble.engine.engine import Engine
from redouble.server.connection import Connection

_BACKLOG: Final = 511


class RedoubleServer:
    """An engine behind listening sockets."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.connections: set[Connection] = set()
        self.stopped = asyncio.Event()
        self._listeners: list[asyncio.Server] = []
        self._timer: asyncio.TimerHandle | None = None
        self._armed_for = 0

    async def listen_tcp(self, host: str, port: int, backlog: int = _BACKLOG) -> int:
        """Listen on an address; the port that it is (of interest where `port` is 0)."""
        loop = asyncio.get_running_loop()
        listener = await loop.create_server(lambda: Connection(self), host, port, backlog=backlog)
        self._listeners.append(listener)
        return int(listener.sockets[0].getsockname()[1])

    def introduce(self, client: Client, transport: asyncio.BaseTransport) -> None:
        """Tell a new client's addresses to the engine."""
        peer = transport.get_extra_info("peername")
        local = transport.get_extra_info("sockname")
        sock = transport.get_extra_info("socket")
        if isinstance(peer, tuple):
            client.address = f"{peer[0]}:{peer[1]}".encode()
            client.local_address = f"{local[0]}:{local[1]}".encode()
        if sock is not None:
            client.fd = sock.fileno()

    def arm(self) -> None:
        """Set the timer for what is due next, if that has changed."""
        deadline = self.engine.next_deadline()
        if deadline is None:
            return
        if self._timer is not None:
            if self._armed_for <= deadline:
                return
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        delay = max(0.0, (deadline - self.engine.clock.now()) / 1000)
        self._armed_for = deadline
        self._timer = loop.call_later(delay, self._fire)

    def _fire(self) -> None:
        self._timer = None
        self.engine.tick()
        self.engine.flush()
        self.arm()
