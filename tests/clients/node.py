"""Programs for Node: whether they can run here, and how a test runs a scenario of one and reads what it saw."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from tests.clients.conftest import HERE


def needs_node(package: str) -> pytest.MarkDecorator:
    """Skip where Node, or a package of tests/clients/package.json, is missing."""
    return pytest.mark.skipif(
        shutil.which("node") is None or not (HERE / "node_modules" / package).exists(),
        reason="Node or the packages of tests/clients/package.json are not installed (`make node-clients`)",
    )


def play(program: str, *words: object) -> Any:
    """Run a program of this folder with these arguments; the JSON on the last line that it printed."""
    run = subprocess.run(
        ["node", program, *map(str, words)], cwd=HERE, capture_output=True, text=True, timeout=60
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads(run.stdout.splitlines()[-1])
