"""The client's side of a proxy: requests in order, one at a time over all clients.

Each client has a `Session`, whose `handle` answers one request. Requests of a client wait for the one
before; `Front.turn` is there for a session to let the requests of all clients go in one order.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

from redouble.protocol.parser import RequestParser
from redouble.server.server import bind_all
from redouble.testing.traffic.replies import Reply

log: Final = logging.getLogger("redouble")

_BULK_MAX: Final = 512 * 1024 * 1024
_FAREWELL: Final = 2.0
#: What a proxy can't carry, as it ends the server or is no conversation of requests and replies.
_REFUSED: Final = (b"shutdown", b"sync", b"psync", b"failover")


class Session:
    """A client of a proxy. A subclass says what becomes of a request."""

    def __init__(self, front: Front, transport: asyncio.Transport) -> None:
        self.front = front
        front.count += 1
        self.label = _label(front.count)
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._transport = transport
        self._requests: asyncio.Queue[list[bytes] | None] = asyncio.Queue()
        self._task = asyncio.get_running_loop().create_task(self._work())

    async def start(self) -> None:
        """Connect to where requests go."""

    async def handle(self, argv: list[bytes]) -> None:
        """Answer a request, by `write`."""

    async def end(self) -> None:
        """The client has gone."""

    def write(self, data: bytes) -> None:
        """Send the client something."""
        self._transport.write(data)

    def hang_up(self) -> None:
        """Close the client's connection, after what was written."""
        self._transport.close()

    def take(self, argv: list[bytes] | None) -> None:
        """A request has come; None: the client has gone."""
        self._requests.put_nowait(argv)
        if argv is None and not self.gone.done():
            self.gone.set_result(None)

    async def unless_gone(self, *answers: asyncio.Future[list[Reply]]) -> None:
        """Wait for all answers, but no longer than the client does."""
        for answer in answers:
            either: set[asyncio.Future[Any]] = {answer, self.gone}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)

    async def _work(self) -> None:
        try:
            await self.start()
            while (argv := await self._requests.get()) is not None:
                if argv[0].lower() in _REFUSED:
                    self.write(b"-ERR %b can't go through a proxy of Redouble\r\n" % argv[0].upper())
                else:
                    await self.handle(argv)
        except Exception:
            log.exception("internal error in a proxy")
            self.front.failed = True
        finally:
            self.hang_up()
            await self.end()

    async def done(self) -> None:
        """Wait for the end."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._task), _FAREWELL)


class _Inlet(asyncio.Protocol):
    """asyncio's end of a client."""

    def __init__(self, front: Front) -> None:
        self._front = front
        self._parser = RequestParser(_BULK_MAX)
        self._session: Session | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._session = self._front.welcome(self._transport)

    def data_received(self, data: bytes) -> None:
        if self._session is not None:
            for argv in self._parser.feed(data):
                self._session.take(argv)
            if self._parser.error is not None:
                self._transport.write(b"-%b\r\n" % self._parser.error)
                self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._session is not None:
            self._session.take(None)


class Front:
    """Where clients of a proxy come in."""

    def __init__(self, make: Callable[[Front, asyncio.Transport], Session]) -> None:
        self.turn = asyncio.Lock()
        self.count = 0
        #: Whether the proxy itself has met an internal error.
        self.failed = False
        self._make = make
        self._sessions: list[Session] = []
        self._listener: asyncio.Server | None = None

    def welcome(self, transport: asyncio.Transport) -> Session:
        """A client has come."""
        session = self._make(self, transport)
        self._sessions.append(session)
        return session

    async def listen(self, hosts: list[str], port: int) -> str:
        """Listen; the URL. Raises `OSError`."""
        sock = bind_all(hosts[:1], port, 511)[0]
        self._listener = await asyncio.get_running_loop().create_server(lambda: _Inlet(self), sock=sock)
        return f"redis://{hosts[0].strip('-')}:{sock.getsockname()[1]}"

    async def close(self) -> None:
        """Hear nobody more, and let every session end."""
        if self._listener is not None:
            self._listener.close()
        for session in self._sessions:
            session.take(None)
        for session in self._sessions:
            await session.done()


async def run_command(command: list[str], url: str) -> int:
    """Run a command that finds its server by REDIS_URL, REDIS_HOST and REDIS_PORT; its exit status."""
    host, _, port = url.removeprefix("redis://").rpartition(":")
    environment = {**os.environ, "REDIS_URL": url, "REDIS_HOST": host, "REDIS_PORT": port}
    child = await asyncio.create_subprocess_exec(*command, env=environment)
    await _until_done(child.wait(), child.send_signal)
    status = child.returncode or 0
    return status if status >= 0 else 128 - status


async def until_told() -> None:
    """Wait for SIGTERM or SIGINT."""
    await _until_done(asyncio.Event().wait(), None)


async def _until_done(work: Awaitable[object], pass_on: Callable[[int], None] | None) -> None:
    """Wait; a signal is passed on, or ends the wait."""
    import signal

    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, pass_on or (lambda _: task.cancel()), number)
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _label(number: int) -> str:
    """a, b ... z, aa, ab ..."""
    text = ""
    while number:
        number, letter = divmod(number - 1, 26)
        text = chr(97 + letter) + text
    return text
