"""A connection: asyncio's end of a client. It moves bytes and knows no command.

Each read is fed to the engine at once; all replies of that read leave in one write. While the peer
does not read its replies asyncio pauses us, and then we read no more requests from it either.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, cast

from redouble.engine.client import Client

if TYPE_CHECKING:
    from redouble.server.server import RedoubleServer


class Connection(asyncio.Protocol):
    """The link between one transport and one client."""

    __slots__ = ("_server", "_engine", "_transport", "_client", "_paused")

    def __init__(self, server: RedoubleServer) -> None:
        self._server = server
        self._engine = server.engine
        self._transport: asyncio.Transport
        self._client: Client

    # -- from asyncio -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has come."""
        self._transport = cast(asyncio.Transport, transport)
        sock = transport.get_extra_info("socket")
        if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._client = self._engine.connect(self)
        self._server.introduce(self._client, transport)

    def data_received(self, data: bytes) -> None:
        """Requests have come."""
        self._engine.feed(self._client, data)
        self._engine.flush()
        self._server.arm()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._server.connections.discard(self)
        self._engine.disconnect(self._client)
        self._engine.flush()

    def pause_writing(self) -> None:
        """The peer does not read its replies: take no more requests from it."""
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """The peer reads again."""
        self._transport.resume_reading()

    # -- from the engine --------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send bytes."""
        self._transport.write(data)

    def close(self) -> None:
        """Close after what was written."""
        self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self._transport.abort()
