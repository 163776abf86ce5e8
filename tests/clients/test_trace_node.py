"""TRACE and LINT from Node over the wire: ioredis (RESP2) and node-redis (RESP3)."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.clients.conftest import HERE, ServerProcess


@pytest.mark.skipif(
    shutil.which("node") is None or not (HERE / "node_modules" / "ioredis").exists(),
    reason="Node or the packages of tests/clients/package.json are not installed (`make node-clients`)",
)
@pytest.mark.parametrize("client", ["ioredis", "redis"])
def test_a_script_is_traced_and_judged(client: str, server: ServerProcess) -> None:
    run = subprocess.run(
        ["node", "trace_scenarios.mjs", client, str(server.port)], cwd=HERE, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stdout + run.stderr
    seen = json.loads(run.stdout.splitlines()[-1])
    assert seen["count"] == 1
    assert seen["error"].startswith("ERR unknown form of REDOUBLE TRACE. Use START")
    assert seen["commands"] == [["eval", ["k"], "integer"], ["get", ["k"], "bulk"]]
    assert seen["inside"] == [["set", "k", "1"], ["incr", "k:n"]]
    assert seen["findings"] == [["undeclared-script-key", 1, "incr k:n"]]
