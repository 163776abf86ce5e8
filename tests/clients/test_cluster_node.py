"""ioredis' Cluster and node-redis' createCluster on three nodes, and both with a Sentinel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients import node
from tests.clients.conftest import ServerProcess, sentinel_port
from tests.clients.node import needs_node

pytestmark = needs_node("ioredis")


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
    return node.play("cluster_scenarios.mjs", scenario, client, port)


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
