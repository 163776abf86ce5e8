"""ioredis' Cluster and node-redis' createCluster on three nodes, and both with a Sentinel."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.conftest import HERE, ServerProcess, sentinel_port

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not (HERE / "node_modules" / "ioredis").exists(),
    reason="Node or the packages of tests/clients/package.json are not installed (`make node-clients`)",
)


@pytest.fixture(params=["ioredis", "redis"])
def client(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def watched() -> Iterator[ServerProcess]:
    process = ServerProcess("--sentinel-port", "0")
    yield process
    process.stop()


def play(scenario: str, client: str, port: int) -> Any:
    """Run a scenario of cluster_scenarios.mjs; what it saw."""
    run = subprocess.run(
        ["node", "cluster_scenarios.mjs", scenario, client, str(port)],
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads(run.stdout.splitlines()[-1])


def test_a_cluster_client_uses_all_nodes(client: str, cluster: ServerProcess) -> None:
    seen = play("cluster", client, cluster.port)
    assert seen["values"] == [str(number) for number in range(60)]
    assert len(seen["sizes"]) == 3
    assert min(seen["sizes"]) > 5
    assert sum(seen["sizes"]) == 60
    assert seen["together"] == ["1", "2"]
    assert seen["crossed"] == "CROSSSLOT Keys in request don't hash to the same slot"
    assert seen["script"] == "2"
    assert seen["heard"] == ["news", "hello"]
    if client == "ioredis":
        assert seen["piped"] == [[None, "OK"], [None, 2], [None, "2"]]
        assert seen["transaction"] == [[None, 1], [None, 2]]
    else:
        assert seen["transaction"] == [1, 2]
        assert seen["sharded"] == ["{s}news", "hello"]


def test_a_client_finds_the_master_through_the_sentinel(client: str, watched: ServerProcess) -> None:
    assert play("sentinel", client, sentinel_port(watched)) == {"value": "v", "role": "master"}
