"""A connection without a socket: the caller's thread runs the command itself.

`send` parses the bytes, takes the server's lock and lets the engine run the requests; replies come by `write`
and wait here until somebody takes them. A reply that is not there yet (a blocking command, a message of
a channel) is brought by whoever drives the engine then: another thread's command, or the event loop's timer.
`take` waits for that, with the lock released.

Some commands want the event loop's thread: scripts, because a long one is left in the middle and gone on with
from there (see `longscripts.py`), and the administration (CONFIG SET port opens sockets). Their requests are
handed to the loop, and so is all that is sent meanwhile. To the client it looks as over a socket, only slower.
Where a command only lets another client's script go on (it waited behind a blocking command), the script runs in the
thread at hand, and holds everything until it ends: `Core.submit` takes the fiber away meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from redouble.engine import flags as f

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.testing.core import Core

_BY_LOOP: Final = f.MAY_LAST | f.ADMIN | f.CONTROL
_CLOSED: Final = "Connection closed by server."
_ALONE: Final = (
    "a reply is not there yet, and this thread is the one whose event loop would bring it. Use the asyncio client "
    "(async_connection_pool), or call from another thread, or use redouble.Server, which has a loop of its own"
)


class Link:
    """One direct connection: the engine's end is `write`, `close` and `abort`, the client's the rest."""

    __slots__ = ("core", "client", "closed", "data", "_arrived", "_waiting", "_handed_over", "__weakref__")

    def __init__(self, core: Core, node: int = 0, own: bool = False) -> None:
        self.core = core
        #: True when either side has hung up.
        self.closed = False
        #: What has come and has not been taken.
        self.data: list[bytes] = []
        self._arrived = threading.Condition(core.lock)
        #: How many threads wait for something to come.
        self._waiting = 0
        #: How often the loop has still to run requests of ours.
        self._handed_over = 0
        with core.lock:
            self.client: Client = core.welcome(self, node, own)

    # -- from the engine, the lock held ---------------------------------------------------------

    def write(self, data: bytes) -> None:
        """A reply, or several."""
        self.data.append(data)
        if self._waiting:
            self._arrived.notify_all()

    def close(self) -> None:
        """The server hangs up."""
        self.closed = True
        self.core.links.discard(self)
        if self._waiting:
            self._arrived.notify_all()

    def abort(self) -> None:
        """The server hangs up."""
        self.close()

    # -- from the client ------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        """Run the requests that these bytes complete. Raises `ConnectionError` if the server has hung up."""
        with self.core.lock:
            if self.closed:
                raise ConnectionError(_CLOSED)
            requests = self.client.parser.feed(data)
            self._submit(requests, len(data))

    def request(self, argv: list[bytes]) -> None:
        """Run one request. Raises `ConnectionError` if the server has hung up."""
        with self.core.lock:
            if self.closed:
                raise ConnectionError(_CLOSED)
            self._submit([argv], 0)

    def _submit(self, requests: list[list[bytes]], size: int) -> None:
        core, client = self.core, self.client
        core.recent.append((client.id, requests))
        if threading.get_ident() != core.thread and (self._handed_over or _want_loop(client, requests)):
            self._handed_over += 1
            core.loop.call_soon_threadsafe(self._run, requests, size)
        elif core.submit(client, requests, size):
            core.attend()

    def _run(self, requests: list[list[bytes]], size: int) -> None:
        """Within the loop: run what was handed over."""
        with self.core.lock:
            self._handed_over -= 1
            if not self.closed and self.client.engine.submit(self.client, requests, size):
                self.core.attend()

    def take(self, timeout: float | None) -> bytes:
        """What has come; waits for something, at most so many seconds. Empty when the server has hung up.

        Raises `TimeoutError`.
        """
        with self.core.lock:
            if not self.data and not self.closed:
                self._wait(timeout)
            data = b"".join(self.data)
            self.data.clear()
            return data

    def _wait(self, timeout: float | None) -> None:
        if timeout != 0 and threading.get_ident() == self.core.thread:
            raise RuntimeError(_ALONE)
        self._waiting += 1
        try:
            if not self._arrived.wait_for(self._has_come, timeout):
                raise TimeoutError("timed out")
        finally:
            self._waiting -= 1

    def _has_come(self) -> bool:
        return self.closed or bool(self.data)

    def readable(self, timeout: float | None = 0) -> bool:
        """Whether `take` would give something at once; waits for that, at most so many seconds."""
        if self.data or self.closed or timeout == 0:
            return bool(self.data) or self.closed
        try:
            with self.core.lock:
                self._wait(timeout)
        except TimeoutError:
            return False
        return True

    def hang_up(self) -> None:
        """The client ends the connection. May be called by the garbage collector, in the midst of anything."""
        self.core.part(self)


class LoopLink(Link):
    """The same for a client within an event loop: what comes goes to `receive`, in that loop's thread.

    `receive` is called with bytes, and with None when the server hangs up.
    """

    __slots__ = ("_loop_of_client", "_thread_of_client", "_receive", "_on_its_way")

    def __init__(self, core: Core, node: int, loop: object, receive: Callable[[bytes | None], None]) -> None:
        self._loop_of_client = loop
        self._thread_of_client = threading.get_ident()
        self._receive = receive
        #: What other threads have handed to the client's loop: later things queue up behind it.
        self._on_its_way = 0
        super().__init__(core, node)

    def write(self, data: bytes) -> None:
        """A reply, or several."""
        self._pass_on(data)

    def close(self) -> None:
        """The server hangs up."""
        if not self.closed:
            super().close()
            self._pass_on(None)

    def _pass_on(self, data: bytes | None) -> None:
        if not self._on_its_way and threading.get_ident() == self._thread_of_client:
            self._receive(data)
            return
        self._on_its_way += 1
        try:
            self._loop_of_client.call_soon_threadsafe(self._late, data)  # type: ignore[attr-defined]
        except RuntimeError:
            # The client's loop has ended, and nobody can be there to read this.
            self._on_its_way -= 1

    def _late(self, data: bytes | None) -> None:
        with self.core.lock:
            self._on_its_way -= 1
        self._receive(data)


def _want_loop(client: Client, requests: list[list[bytes]]) -> bool:
    """Whether one of them must run in the event loop's thread. O(requests)."""
    table = client.engine.table
    for argv in requests:
        command = table.lookup.get(argv[0])
        if command is None or command.subcommands is not None:
            command = table.find(argv)
        if command is not None and command.flags & _BY_LOOP:
            return True
    return False
