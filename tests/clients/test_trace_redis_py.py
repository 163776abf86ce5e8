"""TRACE and LINT from Python over the wire: redis-py, RESP2 and RESP3."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from tests.clients.conftest import ServerProcess


@pytest.fixture(params=[2, 3])
def client(request: pytest.FixtureRequest, server: ServerProcess) -> redis.Redis:
    return redis.Redis(port=server.port, protocol=request.param, decode_responses=True, client_name="test")


def mapping(reply: Any) -> dict[str, Any]:
    """A map: RESP3 gives a dictionary, RESP2 a flat list."""
    return reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2], strict=True))


def test_a_pipeline_and_a_script_are_traced(client: redis.Redis) -> None:
    assert client.execute_command("REDOUBLE", "TRACE", "START", "SCRIPTS", "CLIENT", "test") == "OK"
    with client.pipeline(transaction=True) as pipe:
        pipe.set("a", 1).append("a", 0).execute()
    client.register_script("return redis.call('GET', KEYS[1])")(keys=["a"])
    client.execute_command("REDOUBLE", "TRACE", "STOP")
    reply = mapping(client.execute_command("REDOUBLE", "TRACE", "GET"))
    entries = [mapping(entry) for entry in reply["commands"]]
    assert {entry["client-name"] for entry in entries} == {"test"}
    shown = [
        (entry["command"], [mapping(inner)["command"] for inner in entry["commands"]], entry["error"])
        for entry in entries
    ]
    assert shown == [
        ("multi", [], None),
        ("exec", ["set", "append"], None),
        ("evalsha", [], "NOSCRIPT No matching script. Please use EVAL."),
        ("script|load", [], None),
        ("evalsha", ["get"], None),
    ]
    assert client.execute_command("REDOUBLE", "TRACE", "COUNT", "append", "KEY", "a") == 1


def test_lint_reports(client: redis.Redis) -> None:
    assert client.execute_command("REDOUBLE", "LINT", "ON", "all", "no-ttl:cache:*") == "OK"
    client.mset({"cache:a": 1, "cache:b": 2})
    client.keys("cache:*")
    client.blpop(["cache:list"], timeout=1)
    client.execute_command("SETEX", "cache:c", 10, "x")
    report = [mapping(finding) for finding in client.execute_command("REDOUBLE", "LINT", "REPORT")]
    assert [(finding["rule"], finding["count"], finding["example"]) for finding in report] == [
        ("cross-slot", 1, "MSET cache:a 1 cache:b 2"),
        ("keys-command", 1, "KEYS cache:*"),
        ("deprecated-command", 1, "SETEX cache:c 10 x"),
        ("no-ttl", 2, "MSET cache:a 1 cache:b 2"),
    ]
    with pytest.raises(redis.ResponseError, match="There is no rule 'nope'"):
        client.execute_command("REDOUBLE", "LINT", "ON", "nope")
