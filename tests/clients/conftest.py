"""Real clients against a Redouble of their own: a process, started for each test on a free port."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent


class ServerProcess:
    """A `redouble` process."""

    def __init__(self, *options: str) -> None:
        root = str(HERE.parent.parent)
        environment = {**os.environ, "PYTHONPATH": root}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "redouble", "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert self.process.stdout is not None
        ready = self.process.stdout.readline()
        assert ready.startswith("READY redis://127.0.0.1:"), ready
        self.url = ready.split()[1]
        self.port = int(self.url.rpartition(":")[2])

    def stop(self) -> None:
        """End it; it must end well, and have met no internal error."""
        self.process.terminate()
        _, errors = self.process.communicate(timeout=20)
        assert self.process.returncode == 0, errors
        assert "internal error" not in errors, errors


def sentinel_port(server: ServerProcess) -> int:
    """The port of a server's Sentinel, as its log tells it."""
    assert server.process.stderr is not None
    for line in server.process.stderr:
        if "A Sentinel listens on port" in line:
            return int(line.split()[-1])
    raise AssertionError("there is no Sentinel")


@pytest.fixture
def cluster() -> Iterator[ServerProcess]:
    process = ServerProcess("--cluster-nodes", "3")
    yield process
    process.stop()


@pytest.fixture
def server() -> Iterator[ServerProcess]:
    process = ServerProcess()
    yield process
    process.stop()
