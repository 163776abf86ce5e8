"""One face for every server that a command test runs on.

`redis(...)` sends a command and gives a plain value: bytes, int, None, list, `Status`, `Failure`; maps
are flattened and sets are lists whatever the protocol, so one assertion fits RESP2 and RESP3. Where
the shape itself matters, `redis.raw(...)` gives the bytes, and `redis.resp` the protocol.
"""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from redouble.commands import CONTROLS, FAMILIES
from redouble.engine.engine import Engine
from tests.wire import Failure, Flat, Incomplete, Replies, Status, encode

__all__ = ["Failure", "Flat", "Redis", "Status"]


class Pipe(Protocol):
    """How a test's bytes reach a server and come back."""

    def send(self, data: bytes) -> None: ...

    def receive(self, seconds: float) -> bytes: ...

    def close(self) -> None: ...


class Target(Protocol):
    """A server under test."""

    real: bool
    version: str

    def connect(self) -> Pipe: ...

    def pass_time(self, milliseconds: int) -> None: ...


class Redis:
    """A connection to the server under test."""

    def __init__(self, target: Target, resp: int) -> None:
        self.target = target
        self.resp = resp
        self.real = target.real
        self._pipe = target.connect()
        self._replies = Replies()
        #: How long a reply is waited for, in seconds.
        self.patience = 2.0
        self._others: list[Redis] = []
        self._settings: list[tuple[str, bytes]] = []
        if resp == 3:
            self("HELLO", 3)

    def __call__(self, *args: object) -> Any:
        """Send a command, give its reply."""
        self.send(*args)
        return self._next(self.patience)[0]

    def raw(self, *args: object) -> bytes:
        """Send a command, give the bytes of its reply."""
        self.send(*args)
        return self._next(2.0)[1]

    def pairs(self, *args: object) -> list[tuple[Any, Any]]:
        """Send a command whose reply is pairs, flat or nested as the protocol has it."""
        reply = self(*args)
        if reply and isinstance(reply[0], list):
            return [(first, second) for first, second in reply]
        return list(zip(reply[::2], reply[1::2], strict=True))

    def send(self, *args: object) -> None:
        """Send a command; the reply is for `receive`."""
        self.send_bytes(encode(*args))

    def send_bytes(self, data: bytes) -> None:
        """Send anything."""
        self._pipe.send(data)

    def receive_both(self, seconds: float = 2.0) -> tuple[Any, bytes]:
        """The next reply, read and raw; raises as `receive`."""
        return self._next(seconds)

    def receive(self, seconds: float = 2.0) -> Any:
        """The next reply. Raises `TimeoutError` when none comes, `EOFError` when the server hung up."""
        return self._next(seconds)[0]

    def silent(self, seconds: float = 0.03) -> bool:
        """Whether nothing comes."""
        try:
            self._next(seconds)
        except TimeoutError:
            return True
        return False

    def closed(self) -> bool:
        """Whether the server hangs up (what it still says is thrown away)."""
        try:
            while True:
                self._next(2.0)
        except EOFError:
            return True
        except TimeoutError:
            return False

    def _next(self, seconds: float) -> tuple[Any, bytes]:
        while True:
            try:
                return self._replies.next()
            except Incomplete:
                data = self._pipe.receive(seconds)
                if not data:
                    raise EOFError from None
                self._replies.feed(data)

    def another(self, resp: int | None = None) -> Redis:
        """A further connection to the same server."""
        other = Redis(self.target, self.resp if resp is None else resp)
        self._others.append(other)
        return other

    def wait_blocked(self, count: int) -> None:
        """Wait until so many clients are blocked."""
        wanted = b"blocked_clients:%d\r\n" % count
        self.wait_until(lambda: wanted in self("INFO", "clients"))

    def wait_until(self, true: Callable[[], bool], seconds: float = 2) -> None:
        """Wait (so long at most) until something is so."""
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, "it did not come true"
            time.sleep(0.002)

    def pass_time(self, milliseconds: int) -> None:
        """Let time pass: the clock is moved; only a real server needs the time itself."""
        self.target.pass_time(milliseconds)

    def config(self, name: str, value: object) -> None:
        """Set a parameter for the rest of the test."""
        self._settings.append((name, self("CONFIG", "GET", name)[1]))
        assert self("CONFIG", "SET", name, value) == Status("OK")

    def close(self) -> None:
        """Undo settings and hang up."""
        if self._settings:
            undo = Redis(self.target, 2)
            for name, value in reversed(self._settings):
                undo("CONFIG", "SET", name, value)
            undo._pipe.close()
        for other in self._others:
            other.close()
        self._pipe.close()


# -- the engine in process --------------------------------------------------------------------------


class MemoryLink:
    """A connection without a socket."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.data = b""
        self.open = True
        self.client = engine.connect(self)
        self.client.address = b"127.0.0.1:%d" % (50000 + self.client.id)
        self.client.local_address = b"127.0.0.1:6379"

    def write(self, data: bytes) -> None:
        self.data += data

    def close(self) -> None:
        self.open = False
        self.engine.disconnect(self.client)

    abort = close

    def send(self, data: bytes) -> None:
        if self.open:
            self.engine.feed(self.client, data)
            self.engine.flush()

    def receive(self, seconds: float) -> bytes:
        if not self.data:
            self.engine.tick()
            self.engine.flush()
        data, self.data = self.data, b""
        if not data and self.open:
            raise TimeoutError
        return data


class EngineTarget:
    """An engine of its own for each test."""

    real = False

    def __init__(self, version: str = "7.4.1") -> None:
        self.version = version
        self.engine = Engine(FAMILIES + CONTROLS, version)

    def connect(self) -> Pipe:
        return MemoryLink(self.engine)

    def pass_time(self, milliseconds: int) -> None:
        self.engine.clock.advance(milliseconds)
        self.engine.tick()
        self.engine.flush()

    def stop(self) -> None:
        assert self.engine.stats.unexpected_errors == 0


# -- sockets ------------------------------------------------------------------------------------------


class SocketPipe:
    """A connection by TCP."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive(self, seconds: float) -> bytes:
        self._socket.settimeout(seconds)
        try:
            return self._socket.recv(1 << 16)
        except ConnectionResetError:
            return b""

    def close(self) -> None:
        self._socket.close()


def _free_port() -> int:
    """A port that nobody uses, so low that a cluster bus has room above it."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if port < 55000:
            return port


class RealTarget:
    """Debian's redis-server, one for the whole run; emptied before each test."""

    real = True

    def __init__(self, executable: str, *options: str, config: str | None = None) -> None:
        self.port = _free_port()
        # A folder of its own: a dump.rdb that happens to lie here must not be loaded, nor overwritten.
        self._folder = tempfile.TemporaryDirectory()
        arguments = list(options)
        if config is not None:
            file = Path(self._folder.name, "server.conf")
            file.write_text(config)
            arguments.insert(0, str(file))
        self.process = subprocess.Popen(
            [executable, *arguments, "--port", str(self.port), "--save", "", "--appendonly", "no",
             "--enable-debug-command", "yes", "--dir", self._folder.name],
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        self._wait()
        admin = Redis(self, 2)
        about = admin("INFO", "server")
        self.version = about.partition(b"redis_version:")[2].partition(b"\r")[0].decode()
        #: Valkey says for the sake of old clients that it is Redis 7.2.4.
        self.valkey = b"server_name:valkey" in about
        admin.close()

    def _wait(self) -> None:
        end = time.monotonic() + 10
        while True:
            try:
                SocketPipe(self.port).close()
                return
            except OSError:
                assert time.monotonic() < end, "redis-server did not start"
                time.sleep(0.01)

    def connect(self) -> Pipe:
        return SocketPipe(self.port)

    def pass_time(self, milliseconds: int) -> None:
        time.sleep((milliseconds + 2) / 1000)

    def empty(self) -> None:
        admin = Redis(self, 2)
        for command in (["FLUSHALL"], ["SCRIPT", "FLUSH"], ["FUNCTION", "FLUSH"], ["CONFIG", "RESETSTAT"]):
            assert admin(*command) == Status("OK")
        admin.close()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            # A failed test has left an endless script in it.
            self.process.kill()
            self.process.wait(10)
        self._folder.cleanup()
