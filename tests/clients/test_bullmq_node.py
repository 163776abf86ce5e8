"""The npm package `bullmq`, untouched, with ioredis and with node-redis."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients import node
from tests.clients.conftest import ServerProcess
from tests.clients.node import needs_node

pytestmark = needs_node("bullmq")


@pytest.fixture(params=["ioredis", "redis"])
def client(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def play(scenario: str, client: str, server: ServerProcess) -> Any:
    """Run a scenario of bullmq_scenarios.mjs; what it saw."""
    return node.play("bullmq_scenarios.mjs", scenario, client, server.port)


def test_prioritized_jobs_leave_by_tier_and_within_a_tier_in_order_of_arrival(
    client: str, server: ServerProcess
) -> None:
    seen = play("prioritized", client, server)
    assert seen == {"counts": {"prioritized": 5}, "order": ["z1", "y1", "x1", "b", "c"]}


def test_delayed_jobs_run_when_their_time_has_come(client: str, server: ServerProcess) -> None:
    seen = play("delayed", client, server)
    assert seen["counts"] == {"delayed": 2, "waiting": 1}
    assert seen["first"] == "now"
    assert seen["seen"] == [["later", True], ["now", True], ["soon", True]]


def test_a_scheduler_repeats_its_job(client: str, server: ServerProcess) -> None:
    seen = play("repeated", client, server)
    assert seen == {"seen": [1, 1, 1], "schedulers": [["tick", 40]]}


def test_a_flow_runs_the_children_before_the_parent(client: str, server: ServerProcess) -> None:
    seen = play("flow", client, server)
    assert seen == {"children": ["one", "two"], "parents": ["parent"], "values": ["done one", "done two"]}


def test_a_rate_limit_holds_the_worker_back(client: str, server: ServerProcess) -> None:
    seen = play("ratelimit", client, server)
    assert seen == {"order": [0, 1, 2, 3], "held": True}


def test_queue_events_tell_what_happens_in_order(client: str, server: ServerProcess) -> None:
    seen = play("events", client, server)
    assert seen["result"] == 42
    assert [name for name, _ in seen["heard"]] == ["added", "waiting", "active", "completed"]
    assert {job for _, job in seen["heard"]} == {"a"}
