"""TRACE and LINT from Node over the wire: ioredis (RESP2) and node-redis (RESP3)."""

from __future__ import annotations

import pytest

from tests.clients.conftest import ServerProcess
from tests.clients.node import needs_node, play


@needs_node("ioredis")
@pytest.mark.parametrize("client", ["ioredis", "redis"])
def test_a_script_is_traced_and_judged(client: str, server: ServerProcess) -> None:
    seen = play("trace_scenarios.mjs", client, server.port)
    assert seen["count"] == 1
    assert seen["error"].startswith("ERR unknown form of REDOUBLE TRACE. Use START")
    assert seen["commands"] == [["eval", ["k"], "integer"], ["get", ["k"], "bulk"]]
    assert seen["inside"] == [["set", "k", "1"], ["incr", "k:n"]]
    assert seen["findings"] == [["undeclared-script-key", 1, "incr k:n"]]
