"""The command lines of verify, record and replay as processes, and servers to put beside them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import redouble

ROOT = Path(redouble.__file__).parent.parent


class Tool:
    """`redouble verify`, `record` or `replay` that runs until it is stopped."""

    def __init__(self, *args: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "redouble", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, PYTHONPATH=str(ROOT)),
        )  # fmt: skip
        assert self._process.stdout is not None
        self.ready = self._process.stdout.readline().rstrip("\n")
        assert self.ready.startswith("READY redis://127.0.0.1:"), self._process.communicate()
        self.url = self.ready.split()[1]
        self.port = int(self.url.rpartition(":")[2])

    def stop(self) -> tuple[int, str]:
        """End it; its exit status and what it told on stderr."""
        self._process.terminate()
        _, errors = self._process.communicate(timeout=20)
        return self._process.returncode, errors


def run(*args: str) -> tuple[int, str, str]:
    """Run the command line to its end: exit status, stdout, stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "redouble", *args], capture_output=True, text=True, timeout=60,
        env=dict(os.environ, PYTHONPATH=str(ROOT)),
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr
