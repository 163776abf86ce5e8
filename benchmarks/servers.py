"""The servers that are compared: Debian's redis-server and Redouble, each a process on a free port."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from types import TracebackType


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ServerProcess:
    """A server that lives as long as the `with` block."""

    def __init__(self, name: str, command: list[str], port: int) -> None:
        self.name = name
        self.port = port
        self._command = command

    def __enter__(self) -> ServerProcess:
        began = time.perf_counter()
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=5) as probe:
                    probe.sendall(b"PING\r\n")
                    assert probe.recv(16) == b"+PONG\r\n"
                break
            except ConnectionRefusedError:
                assert self.process.poll() is None, f"{self.name} did not start"
                time.sleep(0.002)
        self.started_ms = (time.perf_counter() - began) * 1000
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.terminate()
        self.process.wait(20)

    def cpu_seconds(self) -> float:
        """User and system time that the process has used (Linux; else 0)."""
        try:
            with open(f"/proc/{self.process.pid}/stat") as stat:  # noqa: PTH123
                fields = stat.read().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / 100


def redouble(*options: str) -> ServerProcess:
    """The Redouble that this Python imports, compiled or not."""
    port = free_port()
    return ServerProcess("redouble", [sys.executable, "-m", "redouble", "--port", str(port), *options], port)


def real() -> ServerProcess:
    """Debian's redis-server, nothing saved."""
    port = free_port()
    executable = shutil.which("redis-server")
    assert executable is not None, "redis-server is not installed: `make oracle`"
    return ServerProcess(
        "redis-server", [executable, "--port", str(port), "--save", "", "--dbfilename", f"{port}.rdb"], port
    )
