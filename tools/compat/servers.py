"""The server under test: a fresh one, in a folder of its own, on a free port of 127.0.0.1."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

START_LIMIT = 20.0


class ServerError(Exception):
    """The server did not come up."""


def command_of(kind: str, release: str, port: int, folder: Path) -> list[str]:
    """The command line of `redouble`, or of `redis-server` itself, to compare with."""
    start = [sys.executable, "-m", "redouble"] if kind == "redouble" else [kind]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    options += ["--enable-debug-command", "yes", "--enable-protected-configs", "yes"]
    return start + options + (["--redis-version", release] if kind == "redouble" else ["--appendonly", "no"])


def answers(port: int) -> bool:
    """Whether a server on the port answers PING."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1.0) as link:
            link.sendall(b"*1\r\n$4\r\nPING\r\n")
            return bool(link.recv(64))
    except OSError:
        return False


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Server:
    """A running server. `stop` ends it and whatever it started."""

    def __init__(self, kind: str, release: str, folder: Path, log: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.port = free_port()
        root = str(Path(__file__).parents[2])
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")])))
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                command_of(kind, release, self.port, folder), cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                stderr=out, env=environment, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + START_LIMIT
        while not answers(self.port):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise ServerError(f"{kind} did not start, see {log}")
            time.sleep(0.05)

    def stop(self) -> None:
        end_group(self._process)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and its group: politely, then not."""
    for number, patience in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 10.0)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
