"""A connection: asyncio's end of a client. It moves bytes and knows no command.

Each read is handed to the engine at once; all replies of that read leave in one write. In the ordinary
case the engine writes to the transport itself. Only when the peer does not read its replies, so that
they pile up here, this object steps between (`pause_writing`): it watches the output limits and closes
a client that has reached its own. Others go on meanwhile.

Redis goes on reading from a client that does not read, and so do we, up to a size that no sane
pipeline reaches: a client that writes a whole pipeline before it reads would else wait for ever.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import TYPE_CHECKING, Final, cast

from redouble.engine.client import Client
from redouble.engine.powers.faults import DELAYED, REFUSED, RESET

if TYPE_CHECKING:
    from redouble.server.server import RedoubleServer

#: Redis counts whole seconds, so a soft limit holds a little longer than it says.
_SLACK: Final = 0.5
_TOO_MANY: Final = b"-ERR max number of clients reached\r\n"
_PROTECTED: Final = (
    b"-DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the "
    b"default user. Connect from the same machine, or set a password, or start with --protected-mode no.\r\n"
)


class Connection(asyncio.Protocol):
    """The link between one transport and one client."""

    __slots__ = (
        "_server", "_engine", "_transport", "_client", "_soft_timer", "_soft_since", "_soft_ms", "_reading_stopped",
    )  # fmt: skip

    def __init__(self, server: RedoubleServer) -> None:
        self._server = server
        self._engine = server.engine
        self._transport: asyncio.Transport
        self._client: Client | None = None
        self._soft_timer: asyncio.TimerHandle | None = None
        self._soft_since = 0.0
        self._soft_ms = 0
        self._reading_stopped = False

    # -- from asyncio -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has come."""
        self._transport = cast(asyncio.Transport, transport)
        sock = transport.get_extra_info("socket")
        if sock is not None and sock.family != socket.AF_UNIX:
            self._server.tune(sock)
        engine = self._engine
        settings = engine.config.edge
        verdict = engine.faults.at_door()
        if verdict in (REFUSED, RESET):
            self._turn_away(sock if verdict == RESET else None)
        elif len(engine.clients) >= settings.max_clients:
            self._reject(_TOO_MANY)
        elif self._server.is_protected(transport):
            self._reject(_PROTECTED)
        else:
            self._client = engine.connect(self._transport)
            self._server.connections.add(self)
            self._server.introduce(self._client, transport)
            if verdict == DELAYED:
                engine.faults.delay_new(self._client)

    def _turn_away(self, sock: socket.socket | None) -> None:
        """A fault closes the connection at once; with its socket, by a reset."""
        if sock is not None and sock.family != socket.AF_UNIX:
            # To linger for no time makes the system send a reset.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def _reject(self, text: bytes) -> None:
        self._engine.stats.rejected_connections += 1
        self._transport.write(text)
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        """Requests have come."""
        client = self._client
        if client is not None and self._engine.receive(client, data):
            self._server.attend()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._server.connections.discard(self)
        self._forget_soft_limit()
        if self._client is not None:
            self._engine.disconnect(self._client)
            self._engine.flush()
            self._client = None

    def pause_writing(self) -> None:
        """The peer does not read its replies: watch how much there is."""
        if self._client is not None:
            self._client.link = self
            self._check_output()

    def resume_writing(self) -> None:
        """The peer reads again."""
        self._forget_soft_limit()
        if self._reading_stopped:
            self._reading_stopped = False
            self._transport.resume_reading()
        if self._client is not None:
            self._client.link = self._transport
            self._client.unread = 0

    # -- from the engine, while the peer does not read ----------------------------------------

    def write(self, data: bytes) -> None:
        """Send bytes, some time."""
        self._transport.write(data)
        self._check_output()

    def close(self) -> None:
        """Close after what was written."""
        self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self._transport.abort()

    # -- output limits ----------------------------------------------------------------------

    def _check_output(self) -> None:
        client = self._client
        if client is None:
            return
        size = self._transport.get_write_buffer_size()
        client.unread = size
        settings = self._engine.config.edge
        limit = settings.output_limit(client)
        if limit.hard and size > limit.hard:
            self._drop(client)
            return
        if limit.soft and size > limit.soft:
            self._time_soft_limit(limit.soft_ms)
        elif self._soft_timer is not None:
            self._forget_soft_limit()
        if size > settings.stop_reading and not self._reading_stopped:
            self._reading_stopped = True
            self._transport.pause_reading()

    def _time_soft_limit(self, soft_ms: int) -> None:
        """Close the client so long after it came to be beyond its soft limit, which may have been changed since."""
        loop = asyncio.get_running_loop()
        if self._soft_timer is None:
            self._soft_since = loop.time()
        elif self._soft_ms == soft_ms:
            return
        else:
            self._soft_timer.cancel()
        self._soft_ms = soft_ms
        self._soft_timer = loop.call_at(self._soft_since + _SLACK + soft_ms / 1000, self._soft_limit_reached)

    def _forget_soft_limit(self) -> None:
        if self._soft_timer is not None:
            self._soft_timer.cancel()
            self._soft_timer = None

    def _soft_limit_reached(self) -> None:
        self._soft_timer = None
        client = self._client
        if client is not None:
            limit = self._engine.config.edge.output_limit(client)
            if limit.soft and self._transport.get_write_buffer_size() > limit.soft:
                self._drop(client)

    def _drop(self, client: Client) -> None:
        self._engine.stats.output_limit_closes += 1
        self._engine.kill(client)
