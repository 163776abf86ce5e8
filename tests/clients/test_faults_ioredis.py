"""Faults driven by ioredis with plain commands, and what ioredis makes of them."""

from __future__ import annotations

from typing import Any

from tests.clients import node
from tests.clients.conftest import ServerProcess
from tests.clients.node import needs_node

pytestmark = needs_node("ioredis")
READONLY = "READONLY You can't write against a read only replica."


def play(scenario: str, server: ServerProcess) -> Any:
    """Run a scenario of fault_scenarios.mjs; what it saw."""
    return node.play("fault_scenarios.mjs", scenario, server.port)


def test_readonly_makes_it_connect_anew_and_send_again_if_told_so(server: ServerProcess) -> None:
    assert play("readonly", server) == {"refused": READONLY, "written": "OK", "hits": 2, "value": "v"}


def test_a_transaction_with_a_refused_command_does_nothing(server: ServerProcess) -> None:
    seen = play("transaction", server)
    assert seen["first"] == "EXECABORT Transaction discarded because of previous errors."
    assert seen["second"] == [[None, "OK"], [None, 1]]


def test_commands_of_a_lost_connection_are_sent_again_and_may_have_run_before(server: ServerProcess) -> None:
    assert play("lost", server) == {"one": 1, "two": 2, "value": "2"}


def test_a_command_that_hangs_is_given_up_and_runs_when_the_fault_ends(server: ServerProcess) -> None:
    assert play("hang", server) == {"late": "Command timed out", "before": 0, "next": "v"}


def test_refused_connections_are_tried_again(server: ServerProcess) -> None:
    assert play("connect", server) == {"reply": "PONG", "tries": 3}


def test_a_server_that_loads_says_so(server: ServerProcess) -> None:
    assert play("loading", server) == {"first": "LOADING Redis is loading the dataset in memory", "second": None}
