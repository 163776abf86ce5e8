"""A real redis-server on a unix socket, for the tests that ask it what is right."""

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hiredis
import pytest


class RealRedis:
    """The plainest of clients: a list of commands goes out, the raw replies come back.

    Error replies come back as `hiredis.ReplyError` objects; nothing is raised or converted.
    """

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._reader = hiredis.Reader()

    def ask(self, *words: bytes | str | int) -> Any:
        """One command, one reply."""
        return self.ask_all([words])[0]

    def ask_all(self, commands: list[tuple[bytes | str | int, ...]]) -> list[Any]:
        """Send the commands in one piece and collect their replies."""
        self._socket.sendall(b"".join([hiredis.pack_command(words) for words in commands]))
        return [self._read() for _ in commands]

    def _read(self) -> Any:
        while True:
            reply = self._reader.gets()
            if reply is not False:
                return reply
            self._reader.feed(self._socket.recv(65536))

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(scope="session")
def real_redis() -> Iterator[RealRedis]:
    """A connection to a fresh redis-server; tests that want it are skipped where there is none."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("no redis-server on this machine")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "redis.sock"
        options = ["--port", "0", "--unixsocket", str(path), "--save", "", "--appendonly", "no"]
        options += ["--enable-debug-command", "yes", "--dir", folder]
        server = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
        try:
            client = _connect(path)
            yield client
            client.close()
        finally:
            server.terminate()
            server.wait()


def _connect(path: Path) -> RealRedis:
    for _ in range(500):
        try:
            return RealRedis(path)
        except OSError:
            time.sleep(0.01)
    raise RuntimeError("redis-server does not answer")
