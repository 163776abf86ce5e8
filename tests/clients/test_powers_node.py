"""CLOCK, SNAPSHOT and SEED from Node over the wire: ioredis (RESP2) and node-redis (RESP3)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients import node
from tests.clients.conftest import ServerProcess
from tests.clients.node import needs_node

pytestmark = [
    needs_node("ioredis"),
    pytest.mark.parametrize("client", ["ioredis", "redis"]),
]


def play(client: str, scenario: str, server: ServerProcess) -> Any:
    """Run a scenario of power_scenarios.mjs; what it saw."""
    return node.play("power_scenarios.mjs", client, scenario, server.port)


def test_the_clock_moves_times_to_live_waits_and_ids_together(client: str, server: ServerProcess) -> None:
    seen = play(client, "clock", server)
    assert seen["frozen"] == 1_700_000_000_000
    assert seen["moved"] == 1_700_001_801_000
    # The wait of an hour is what comes next.
    assert seen["state"] == [1_700_001_801_000, True, 1_700_003_600_000]
    assert seen["time"] == ["1700001801", "0"]
    assert seen["gone"] == [None, 0]
    assert seen["id"] == "1700001801000-0"
    assert seen["waited"] is None
    assert seen["left"] == 100
    assert seen["runs"] is True
    assert seen["error"].startswith("ERR time is not an integer or out of range")


def test_a_state_is_brought_back_by_its_name(client: str, server: ServerProcess) -> None:
    seen = play(client, "snapshot", server)
    assert seen["saved"] == "OK"
    assert seen["keys"] == ["list", "text"]
    assert seen["list"] == ["a", "b"]
    assert seen["script"] == 7
    assert seen["names"] == ["full"]
    assert seen["error"].startswith("ERR no such snapshot")


def test_a_seed_makes_every_random_choice_again(client: str, server: ServerProcess) -> None:
    seen = play(client, "seed", server)
    assert seen["first"] == seen["second"]
    assert seen["other"] != seen["first"][0]
    assert seen["error"].startswith("ERR seed is not an integer")
