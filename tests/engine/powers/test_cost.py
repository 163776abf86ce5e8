"""Powers that are not in use cost a request nothing: every line of code that it runs is counted, not the time.

The same traffic goes to an engine as `--controls no` makes it, to one that has the powers, and to one where each of
them has been used and is off again. All three must run the same lines, in the same order.
`python -m benchmarks powers` tells what that means in time.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from redouble.commands import CONTROLS, FAMILIES
from redouble.engine import engine as engine_module
from redouble.engine.engine import Engine
from tests.doubles import DoubleEngine
from tests.kit import EngineTarget, Redis, Status
from tests.wire import encode

pytestmark = pytest.mark.skipif(
    not engine_module.__file__.endswith(".py"), reason="the lines of compiled code can't be counted"
)

NOON = 1_700_000_000_000
#: What is sent in one go.
TRAFFIC: dict[str, list[list[object]]] = {
    "GET": [["GET", "key"]],
    "SET": [["SET", "key", "value"]],
    "a pipeline": [["SET", "key", "1"], ["INCR", "key"], ["GET", "key"], ["EXPIRE", "key", 100], ["DEL", "key"]] * 5,
    "collections": [["RPUSH", "list", "a"], ["LPOP", "list"], ["ZADD", "zset", 1, "m"], ["HSET", "hash", "f", "v"]],
    "a transaction": [["MULTI"], ["SET", "key", "value"], ["GET", "key"], ["EXEC"]],
    "a script": [["EVAL", "redis.call('SET', KEYS[1], 1) return redis.call('GET', KEYS[1])", 1, "key"]],
    "an error": [["LPUSH", "key", "v"], ["NOPE"], ["GET"]],
    "what may wait": [["RPUSH", "list", "a"], ["BLPOP", "list", 100]],
}

Line = tuple[str, str, int]


def lines_of(target: EngineTarget, requests: list[list[object]]) -> list[Line]:
    """Every line of ours that the engine runs for these requests, in order."""
    found: list[Line] = []

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if "redouble" not in code.co_filename:
            return None
        if event == "line":
            found.append((code.co_filename.rpartition("/")[2], code.co_name, frame.f_lineno))
        return trace

    redis = Redis(target, 2)
    data = b"".join(encode(*request) for request in requests)
    client = target.engine.clients[max(target.engine.clients)]
    before = sys.gettrace()
    # The first time what is made once is made.
    target.engine.receive(client, data)
    sys.settrace(trace)
    try:
        target.engine.receive(client, data)
    finally:
        sys.settrace(before)
    redis.close()
    return found


def prepared(target: EngineTarget) -> EngineTarget:
    target.engine.clock.freeze(NOON)
    redis = Redis(target, 2)
    assert redis("SET", "key", "value") == Status("OK")
    redis.close()
    return target


def without_controls() -> EngineTarget:
    target = EngineTarget()
    target.engine = Engine(FAMILIES, target.version)
    return prepared(target)


def with_controls() -> EngineTarget:
    target = EngineTarget()
    target.engine = Engine(FAMILIES + CONTROLS, target.version)
    return prepared(target)


def used_and_off() -> EngineTarget:
    """Each power has been used, and is no longer."""
    target = DoubleEngine()
    redis = Redis(target, 2)

    def control(line: str) -> None:
        redis("REDOUBLE", *line.split())

    for line in (
        f"CLOCK FREEZE {NOON}", "CLOCK ADVANCE 1000", "CLOCK RESUME", "SEED 1", "FAULT ADD f KEY other ERROR READONLY",
        "SNAPSHOT SAVE s", "TRACE START SCRIPTS", "LINT ON",
    ):  # fmt: skip
        control(line)
    assert redis("SET", "key", "value") == Status("OK")
    for line in ("SNAPSHOT RESTORE s", "SNAPSHOT DROP s", "FAULT CLEAR", "TRACE STOP", "TRACE CLEAR", "LINT OFF"):
        control(line)
    redis.close()
    return prepared(target)


@pytest.fixture(autouse=True)
def _no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long a command takes decides about some lines, of the slow log for instance."""
    monkeypatch.setattr(engine_module, "ticks", lambda: 0)


@pytest.mark.parametrize("what", TRAFFIC)
def test_unused_powers_add_no_line_to_the_path_of_a_request(what: str) -> None:
    requests = TRAFFIC[what]
    bare = lines_of(without_controls(), requests)
    assert len(bare) >= 20 * len(requests)
    assert lines_of(with_controls(), requests) == bare
    assert lines_of(used_and_off(), requests) == bare


def test_a_power_in_use_adds_lines() -> None:
    """So the count sees what it is there to see."""
    for line in (["TRACE", "START"], ["LINT", "ON"], ["FAULT", "ADD", "f", "KEY", "other", "DROP", "BEFORE"]):
        target = with_controls()
        redis = Redis(target, 2)
        bare = lines_of(target, TRAFFIC["GET"])
        redis("REDOUBLE", *line)
        assert len(lines_of(target, TRAFFIC["GET"])) > len(bare), line
