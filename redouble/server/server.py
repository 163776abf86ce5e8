"""The server: listeners, one timer, an orderly end. The only asynchronous part.

The engine says when something is due next; one asyncio timer is armed for that time, so that nothing
polls while nothing is due. Sockets are bound and listened on at once and handed to asyncio then, so
that an address that is taken is known at once, in CONFIG SET port too.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import ssl
from pathlib import Path
from typing import Final

from redouble.engine.client import Client
from redouble.engine.engine import Engine
from redouble.server.autojump import IdleWatch
from redouble.server.connection import Connection
from redouble.server.options import OptionError
from redouble.server.tls import LiveContext, tls_context

log: Final = logging.getLogger("redouble")
#: Sockets that listen, by address and port; what serves them comes a moment later.
_Listeners = dict[tuple[str, int], tuple[socket.socket, asyncio.Server | None]]

_BACKLOG: Final = 511
_WILDCARDS: Final = {"*": "0.0.0.0", "::*": "::"}
#: How long connections may take to send what is left when the server ends. Seconds.
_FAREWELL: Final = 0.5
_NEVER: Final = 1 << 62
#: Earlier than any deadline but that of a script that goes on: while time stands no request needs to ask for the timer.
_STANDS: Final = 1


class RedoubleServer:
    """An engine behind listening sockets."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        engine.config.edge.attend = self.attend
        engine.scripting.long.use_fiber()
        self.connections: set[Connection] = set()
        #: Set when somebody wants the server to end: SHUTDOWN, or a signal.
        self.stopped = asyncio.Event()
        self._listeners: list[asyncio.Server] = []
        #: By address and port.
        self._tcp: _Listeners = {}
        self._tls: _Listeners = {}
        self._context: LiveContext | None = None
        self._paths: list[str] = []
        self._pending: set[asyncio.Task[None]] = set()
        #: What wakes us next, and when (the loop's time). It may be no timer but a call that comes at once.
        self._timer: asyncio.Handle | None = None
        self._due: float = 0.0
        self._idle_watch = IdleWatch(self)

    @property
    def has_port(self) -> bool:
        """Whether it listens on TCP, without TLS."""
        return bool(self._tcp)

    def protocol(self) -> Connection:
        """asyncio's end of a new connection. A server within a program has one of its own."""
        return Connection(self)

    # -- listening --------------------------------------------------------------------------

    async def listen_tcp(self, host: str, port: int, backlog: int = _BACKLOG) -> int:
        """Listen on an address; the port that it is (of interest where `port` is 0). Raises `OSError`."""
        return await self.listen_all([host], port, backlog)

    async def listen_all(
        self, hosts: list[str], port: int, backlog: int = _BACKLOG, tls: ssl.SSLContext | None = None
    ) -> int:
        """Listen on several addresses and one port, for TLS with a context; the port. Raises `OSError`."""
        sockets = bind_all(hosts, port, backlog)
        self._note(sockets, tls)
        await self._serve_all(sockets, backlog, tls)
        return int(sockets[0].getsockname()[1]) if sockets else 0

    async def listen_unix(self, path: str, mode: int = 0, backlog: int = _BACKLOG) -> None:
        """Listen on a Unix socket; `mode` is its permissions (0: as the umask has it). Raises `OSError`."""
        Path(path).unlink(missing_ok=True)
        loop = asyncio.get_running_loop()
        self._listeners.append(await loop.create_unix_server(self.protocol, path, backlog=backlog))
        if mode:
            Path(path).chmod(mode)
        self._paths.append(path)
        self._describe()

    async def _serve_all(self, sockets: list[socket.socket], backlog: int, tls: ssl.SSLContext | None) -> None:
        loop = asyncio.get_running_loop()
        table = self._tcp if tls is None else self._tls
        for sock in sockets:
            name = next((name for name, (known, _) in table.items() if known is sock), None)
            if name is None:
                # CONFIG SET has changed its mind meanwhile.
                sock.close()
                continue
            listener = await loop.create_server(self.protocol, sock=sock, backlog=backlog, ssl=tls)
            if table.get(name, (None, None))[0] is not sock:
                listener.close()
                continue
            self._listeners.append(listener)
            table[name] = (sock, listener)

    def _note(self, sockets: list[socket.socket], tls: ssl.SSLContext | None) -> None:
        """These are our addresses from now on."""
        table = self._tcp if tls is None else self._tls
        for sock in sockets:
            table[sock.getsockname()[:2]] = (sock, None)
        self._describe()

    def _describe(self) -> None:
        """Say what we listen on, for INFO."""
        lines = [b"name=tcp,bind=%b,port=%d" % (host.encode(), port) for host, port in self._tcp]
        lines += [b"name=unix,bind=" + os.fsencode(path) for path in self._paths]
        lines += [b"name=tls,bind=%b,port=%d" % (host.encode(), port) for host, port in self._tls]
        self.engine.config.edge.addresses = lines

    def renew_tls(self) -> LiveContext:
        """Begin further TLS connections as the configuration says now. Raises `OptionError`, and nothing changes."""
        current = tls_context(self.engine)
        if self._context is None:
            self._context = LiveContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.current = current
        return self._context

    def follow_tls(self) -> bool:
        """Follow CONFIG SET tls-...; false where that is impossible, and all stays as it was."""
        try:
            self.renew_tls()
        except OptionError as error:
            log.warning("%s", error.reason)
            return False
        return True

    def relisten(self) -> bool:
        """Follow CONFIG SET port, tls-port or bind; false where that is impossible, and all stays as it was."""
        config = self.engine.config
        hosts = config.get(b"bind").decode().split()
        plans: list[tuple[_Listeners, int, LiveContext | None]] = [
            (self._tcp, config.number(b"port"), None), (self._tls, config.number(b"tls-port"), self._context),
        ]  # fmt: skip
        dropped: list[tuple[tuple[str, int], LiveContext | None]] = []
        made: list[tuple[list[socket.socket], LiveContext | None]] = []
        for table, port, context in plans:
            wanted = {_name(host, port) for host in hosts} if port else set()
            for name in [name for name in table if name not in wanted]:
                self._stop_listening(table, name)
                dropped.append((name, context))
        try:
            for table, port, context in plans:
                missing = [host for host in hosts if _name(host, port) not in table] if port else []
                made.append((bind_all(missing, port, _BACKLOG), context))
        except OSError:
            for sockets, _ in made:
                for sock in sockets:
                    sock.close()
            for (host, old_port), context in dropped:
                self._serve_soon(bind_all([host], old_port, _BACKLOG), context)
            return False
        for sockets, context in made:
            self._serve_soon(sockets, context)
        return True

    def _stop_listening(self, table: _Listeners, name: tuple[str, int]) -> None:
        sock, listener = table.pop(name)
        with contextlib.suppress(OSError):
            # asyncio closes the socket some time later; the address must be free now.
            sock.shutdown(socket.SHUT_RDWR)
        # Else `_serve_all` has it still in hand, and will close it.
        if listener is not None:
            listener.close()
            self._listeners.remove(listener)

    def _serve_soon(self, sockets: list[socket.socket], tls: LiveContext | None) -> None:
        self._note(sockets, tls)
        task = asyncio.get_running_loop().create_task(self._serve_all(sockets, _BACKLOG, tls))
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    # -- connections ------------------------------------------------------------------------

    def tune(self, sock: socket.socket) -> None:
        """No delay for small replies; probes for peers that are silent."""
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        seconds = self.engine.config.edge.keepalive
        if seconds:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            if hasattr(socket, "TCP_KEEPIDLE"):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, seconds)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, max(1, seconds // 3))
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)

    def is_protected(self, transport: asyncio.BaseTransport) -> bool:
        """Whether protected mode forbids this connection: from elsewhere, and no password is asked."""
        peer = transport.get_extra_info("peername")
        if not isinstance(peer, tuple) or peer[0].startswith(("127.", "::1", "::ffff:127.")):
            return False
        return self.engine.acl.default.nopass and self.engine.config.enabled(b"protected-mode")

    def introduce(self, client: Client, transport: asyncio.BaseTransport) -> None:
        """Tell a new client's addresses to the engine."""
        peer = transport.get_extra_info("peername")
        local = transport.get_extra_info("sockname")
        sock = transport.get_extra_info("socket")
        if isinstance(peer, tuple):
            client.address = _address(peer)
            client.local_address = _address(local)
            if transport.get_extra_info("sslcontext") is not None:
                client.kind = b"tls"
        else:
            path = local if isinstance(local, bytes) else str(local).encode()
            client.address = client.local_address = path + b":0"
            client.kind = b"unix"
        if sock is not None:
            client.fd = sock.fileno()

    # -- time and the end -------------------------------------------------------------------

    def attend(self) -> None:
        """The engine wants something of us: to be woken at a time, or to end."""
        if self.engine.stopping:
            self.stopped.set()
        self.arm()

    def arm(self) -> None:
        """Set the timer for what is due next, if that has changed."""
        engine = self.engine
        deadline = engine.next_deadline()
        if deadline is None:
            engine.armed_for = _NEVER
            return
        if engine.timeline.autojump_ms:
            self._idle_watch.begin()
        if engine.clock.frozen and deadline:
            engine.armed_for = _STANDS
            return
        engine.armed_for = deadline
        loop = asyncio.get_running_loop()
        due = loop.time() + max(0.0, (deadline - engine.clock.now()) / 1000)
        if self._timer is not None:
            if self._due <= due:
                return
            self._timer.cancel()
        self._due = due
        self._timer = loop.call_at(due, self._fire)

    def _fire(self) -> None:
        self._timer = None
        self.engine.armed_for = _NEVER
        self.engine.tick()
        self.engine.flush()
        self.attend()

    def listen_for_silence(self) -> None:
        """Some time has passed: see whether anything has arrived (REDOUBLE CLOCK AUTOJUMP)."""
        self._idle_watch.look()

    async def close(self) -> None:
        """End: listen no more, let every connection send what is left, then close it."""
        for listener in self._listeners:
            listener.close()
        self._listeners = []
        for path in self._paths:
            Path(path).unlink(missing_ok=True)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._idle_watch.end()
        self.engine.scripting.long.close()
        self.engine.flush()
        for connection in list(self.connections):
            connection.close()
        end = asyncio.get_running_loop().time() + _FAREWELL
        while self.connections and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(0.001)
        for connection in list(self.connections):
            connection.abort()


def _address(pair: tuple[object, ...]) -> bytes:
    host, port = str(pair[0]), pair[1]
    return f"[{host}]:{port}".encode() if ":" in host else f"{host}:{port}".encode()


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, tuple[object, ...]]:
    host = _WILDCARDS.get(host, host)
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    return family, address


def _name(host: str, port: int) -> tuple[str, int]:
    """The address that a host of the configuration means, as a socket tells it."""
    try:
        return str(_resolve(host.removeprefix("-"), port)[1][0]), port
    except OSError:
        return host, port


def bind_tcp(host: str, port: int, backlog: int) -> socket.socket:
    """A socket that listens. Raises `OSError`."""
    family, address = _resolve(host, port)
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(address)
        sock.listen(backlog)
    except OSError:
        sock.close()
        raise
    return sock


def bind_all(hosts: list[str], port: int, backlog: int) -> list[socket.socket]:
    """Sockets on several addresses and one port; one that begins with `-` may fail. Raises `OSError`."""
    sockets: list[socket.socket] = []
    for host in hosts:
        try:
            sockets.append(bind_tcp(host.removeprefix("-"), port, backlog))
            port = port or int(sockets[0].getsockname()[1])
        except OSError:
            if not host.startswith("-"):
                for sock in sockets:
                    sock.close()
                raise
    return sockets
