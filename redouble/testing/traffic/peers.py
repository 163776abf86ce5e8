"""Connections to servers, all with one face: ask, and get replies; what comes unasked goes elsewhere.

A `Peer` is one connection. Beneath it is an engine of this process (`EnginePeer`) or a socket
(`WirePeer`). `ask` gives a future of the replies that belong to the request: one as a rule, as many as
there are channels for SUBSCRIBE and its kin, none while CLIENT REPLY is off. Published messages,
invalidations and what MONITOR shows are pushes, in RESP2 too.

A server that hangs up answers what was asked with `CLOSED`.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote, urlsplit

from redouble.engine.engine import Engine
from redouble.server.server import RedoubleServer
from redouble.testing.traffic.replies import CLOSED, Reply, ReplyReader, encode_request

#: Told of each reply or push as it comes: it, its bytes, whether it is a push.
Listener = Callable[[Reply, bytes, bool], None]

_MESSAGES: Final = (b"message", b"pmessage", b"smessage")
_JOINS: Final = (b"subscribe", b"psubscribe", b"ssubscribe")
_LEAVES: Final = (b"unsubscribe", b"punsubscribe", b"sunsubscribe")
#: Kinds of replies that SUBSCRIBE and its kin give, one for each channel.
SUBSCRIPTIONS: Final = _JOINS + _LEAVES
_SHOWN_BY_MONITOR: Final = re.compile(rb"\d+\.\d+ \[\d+ ")


class ServerError(Exception):
    """The server at a URL can't be used; says why."""


def _nobody(reply: Reply, raw: bytes, push: bool) -> None:
    return None


class Peer:
    """One connection to a server. Give it bytes by `received`; it sends by `_write`."""

    def __init__(self, listener: Listener = _nobody) -> None:
        self.listener = listener
        self.closed = False
        self._reader = ReplyReader()
        self._waiting: asyncio.Future[list[Reply]] | None = None
        self._missing = 0
        self._replies: list[Reply] = []
        #: What is subscribed to, by the word that joined.
        self._subscribed: dict[bytes, set[bytes]] = {word: set() for word in _JOINS}
        self._monitoring = False
        #: CLIENT REPLY OFF; or how many more (and one) are not answered: SKIP.
        self._mute = False
        self._skipped = 0

    def ask(self, argv: list[bytes]) -> asyncio.Future[list[Reply]]:
        """Send a request; its replies, some time. Only one request at a time."""
        future: asyncio.Future[list[Reply]] = asyncio.get_running_loop().create_future()
        self._missing = self._expected(argv)
        self._replies = []
        if self.closed:
            future.set_result([CLOSED])
        elif not self._missing:
            self._write(encode_request(argv))
            future.set_result([])
        else:
            self._waiting = future
            self._write(encode_request(argv))
        return future

    def close(self) -> None:
        """Hang up."""

    def _write(self, data: bytes) -> None:
        raise NotImplementedError

    def _expected(self, argv: list[bytes]) -> int:
        """How many replies a request gets."""
        words = [word.lower() for word in argv[:3]]
        if words[0] == b"monitor":
            self._monitoring = True
        elif words[0] == b"reset":
            self._subscribed = {word: set() for word in _JOINS}
            self._monitoring = self._mute = False
        elif words[:2] == [b"client", b"reply"] and len(argv) == 3:
            self._mute = words[2] == b"off" or (self._mute and words[2] != b"on")
            self._skipped = 3 if words[2] == b"skip" else 0
        if words[0] in _JOINS:
            return max(1, len(argv) - 1)
        if words[0] in _LEAVES:
            return max(1, len(argv) - 1) if len(argv) > 1 else max(1, len(self._subscribed[_join_of(words[0])]))
        self._skipped = max(0, self._skipped - 1)
        return 0 if self._mute or self._skipped else 1

    def received(self, data: bytes) -> None:
        """Bytes have come."""
        for reply, raw in self._reader.feed(data):
            push = self._is_push(reply)
            self.listener(reply, raw, push)
            if not push:
                self._answer(reply)

    def _answer(self, reply: Reply) -> None:
        if self._waiting is None:
            return
        self._replies.append(reply)
        self._missing -= 1
        if self._missing <= 0 or kind_of(reply) not in SUBSCRIPTIONS:
            waiting, self._waiting = self._waiting, None
            if not waiting.done():
                waiting.set_result(self._replies)

    def _is_push(self, reply: Reply) -> bool:
        kind = kind_of(reply)
        if kind in SUBSCRIPTIONS and len(reply.items) == 3:
            names = self._subscribed[_join_of(kind)]
            (names.add if kind in _JOINS else names.discard)(reply.items[1].text)
            return self._waiting is None
        if reply.mark == ">":
            return True
        if self._monitoring and reply.mark == "+" and _SHOWN_BY_MONITOR.match(reply.text):
            return True
        return reply.mark == "*" and kind in _MESSAGES and any(self._subscribed.values())

    def lost(self) -> None:
        """The other side has hung up."""
        if not self.closed:
            self.closed = True
            self.listener(CLOSED, b"", True)
            if self._waiting is not None and not self._waiting.done():
                self._waiting.set_result([*self._replies, CLOSED])


def kind_of(reply: Reply) -> bytes:
    """The first word of an array or push: what kind of message it is."""
    return reply.items[0].text if reply.mark in ">*" and reply.items and reply.items[0].mark in "$+" else b""


def _join_of(kind: bytes) -> bytes:
    return kind if kind in _JOINS else kind.replace(b"unsubscribe", b"subscribe")


class EnginePeer(Peer):
    """A client of an engine in this process; it is the engine's link to itself."""

    def __init__(self, server: RedoubleServer, listener: Listener = _nobody) -> None:
        super().__init__(listener)
        self._server = server
        self.client = server.engine.connect(self)
        self.client.address = self.client.local_address = b"127.0.0.1:%d" % self.client.id

    def _write(self, data: bytes) -> None:
        if self._server.engine.receive(self.client, data):
            self._server.attend()

    def now(self, argv: list[bytes]) -> Reply:
        """Ask what is answered at once."""
        answer = self.ask(argv)
        return answer.result()[0]

    def write(self, data: bytes) -> None:
        """From the engine: bytes for the client."""
        self.received(data)

    def abort(self) -> None:
        """From the engine: the connection is to end."""
        self.lost()

    def close(self) -> None:
        """Hang up, whoever wants it."""
        if not self.closed:
            self.lost()
            self._server.engine.disconnect(self.client)
            self._server.engine.flush()


def engine_server(engine: Engine) -> RedoubleServer:
    """What drives an engine that listens nowhere."""
    server = RedoubleServer(engine)
    server.arm()
    return server


class _Wire(asyncio.Protocol):
    """asyncio's end of a socket."""

    def __init__(self, peer: WirePeer) -> None:
        self._peer = peer

    def data_received(self, data: bytes) -> None:
        self._peer.received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._peer.lost()


class WirePeer(Peer):
    """A client of a server elsewhere. Make it by `Address.connect`."""

    def __init__(self, listener: Listener = _nobody) -> None:
        super().__init__(listener)
        self.transport: asyncio.Transport | None = None
        #: What the server calls it; 0 where it does not say.
        self.id = 0

    def _write(self, data: bytes) -> None:
        if self.transport is not None:
            self.transport.write(data)

    def close(self) -> None:
        """Hang up."""
        if self.transport is not None:
            self.transport.close()


class Address:
    """Where a server is: `redis://`, `rediss://` (`[user:password@]host:port[/db]`) or `unix:///path`."""

    def __init__(self, url: str) -> None:
        """Raises `ServerError`."""
        parts = urlsplit(url)
        if parts.scheme not in ("redis", "rediss", "unix"):
            raise ServerError(f"{url}: a URL must begin with redis://, rediss:// or unix://")
        self.url = url
        self._path = parts.path if parts.scheme == "unix" else ""
        self._tls = parts.scheme == "rediss"
        try:
            self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 6379
        except ValueError as error:
            raise ServerError(f"{url}: {error}") from None
        words = [unquote(word).encode() for word in (parts.username, parts.password) if word]
        self._first: list[list[bytes]] = [[b"AUTH", *words]] if parts.password else []
        database = parts.path.strip("/") if not self._path else ""
        if database and not database.isdigit():
            raise ServerError(f"{url}: the database must be a number")
        if int(database or 0):
            self._first.append([b"SELECT", database.encode()])

    async def connect(self, listener: Listener = _nobody) -> WirePeer:
        """A connection, logged in. Raises `ServerError`."""
        peer = WirePeer()
        loop = asyncio.get_running_loop()
        try:
            if self._path:
                transport, _ = await loop.create_unix_connection(lambda: _Wire(peer), self._path)
                peer.transport = transport
            else:
                tls = ssl.create_default_context() if self._tls else None
                made, _ = await loop.create_connection(lambda: _Wire(peer), self._host, self._port, ssl=tls)
                peer.transport = made
        except OSError as error:
            raise ServerError(f"{self.url}: {error.strerror or error}") from None
        for argv in self._first:
            reply = (await peer.ask(argv))[0]
            if reply.is_error:
                raise ServerError(f"{self.url}: {reply.text.decode('utf-8', 'replace')}")
        own = (await peer.ask([b"CLIENT", b"ID"]))[0]
        peer.id = own.number() or 0
        peer.listener = listener
        return peer
