"""REDOUBLE TRACE over the wire: arguments, shapes of replies, long scripts, and BullMQ's own script."""

from __future__ import annotations

import pytest

from tests.doubles import mapping, traced
from tests.kit import Failure, Flat, Redis, Status
from tests.queue_scripts import PriorityQueue

OK = Status("OK")
NAMES = [
    "time", "client-id", "client-name", "address", "database", "command", "arguments", "keys", "reply", "error",
    "microseconds", "waited-ms", "omitted", "commands",
]  # fmt: skip


def test_a_trace_is_started_read_stopped_and_cleared(double: Redis) -> None:
    assert mapping(double("REDOUBLE", "TRACE", "GET")) == {"running": 0, "dropped": 0, "commands": []}
    assert double("REDOUBLE", "TRACE", "START") == OK
    double("SET", "k", "v")
    double("GET", "k")
    assert double("REDOUBLE", "TRACE", "STOP") == OK
    double("GET", "k")
    reply = mapping(double("REDOUBLE", "TRACE", "GET"))
    assert (reply["running"], reply["dropped"]) == (0, 0)
    first, second = traced(double)
    assert list(first) == NAMES
    assert (first["command"], first["arguments"], first["keys"]) == (b"set", [b"SET", b"k", b"v"], [b"k"])
    assert (first["reply"], first["error"], first["commands"]) == (b"status", None, [])
    assert (second["command"], second["reply"]) == (b"get", b"bulk")
    assert [mapping(entry)["command"] for entry in mapping(double("REDOUBLE", "TRACE", "GET", 1))["commands"]] == [
        b"get"
    ]
    assert mapping(double("REDOUBLE", "TRACE", "GET", 0))["commands"] == []
    assert double("REDOUBLE", "TRACE", "CLEAR") == OK
    assert traced(double) == []


def test_replies_are_maps_in_resp3_and_flat_arrays_in_resp2(double: Redis) -> None:
    double("REDOUBLE", "TRACE", "START")
    double("PING")
    reply = double("REDOUBLE", "TRACE", "GET")
    shapes = [reply, reply[5][0]]
    assert [isinstance(shape, Flat) and shape.mark == b"%" for shape in shapes] == [double.resp == 3] * 2


def test_the_powers_themselves_are_not_traced(double: Redis) -> None:
    double("REDOUBLE", "TRACE", "START", "SCRIPTS")
    double("REDOUBLE", "HELP")
    double("REDOUBLE", "TRACE", "GET", "nonsense")
    double("REDOUBLE", "TRACE")
    assert traced(double) == []


def test_options_are_read_in_any_order_and_case(double: Redis) -> None:
    worker = double.another()
    worker("CLIENT", "SETNAME", "worker-1")
    assert double("redouble", "trace", "start", "max", 2, "client", "worker-*", "COMMAND", "*ET", "scripts") == OK
    double("GET", "a")
    for request in (["SET", "a", 1], ["INCR", "a"], ["GET", "a"], ["SET", "b", 1]):
        worker(*request)
    reply = mapping(double("REDOUBLE", "TRACE", "GET"))
    assert reply["dropped"] == 1
    assert [mapping(entry)["arguments"] for entry in reply["commands"]] == [[b"GET", b"a"], [b"SET", b"b", b"1"]]
    assert double("REDOUBLE", "TRACE", "COUNT", "get") == Failure(
        "ERR 1 commands were dropped, so they can't be counted: start the trace with a MAX above 2"
    )


def test_counting_for_assertions(double: Redis) -> None:
    double("REDOUBLE", "TRACE", "START")
    for key in ("user:1", "user:2", "order:1"):
        double("SET", key, 1)
    double("GET", "user:1")
    assert double("REDOUBLE", "TRACE", "COUNT", "SET") == 3
    assert double("REDOUBLE", "TRACE", "COUNT", "set", "KEY", "user:*") == 2
    assert double("REDOUBLE", "TRACE", "COUNT", "*", "key", "user:1") == 2
    assert double("REDOUBLE", "TRACE", "COUNT", "del") == 0


@pytest.mark.parametrize(
    "words",
    ["NOPE", "STOP now", "CLEAR all", "GET 1 2", "COUNT", "COUNT get KEY", "COUNT get k user:*"],
)
def test_an_unknown_form_is_answered_with_the_forms(double: Redis, words: str) -> None:
    assert double("REDOUBLE", "TRACE", *words.split()) == Failure(
        "ERR unknown form of REDOUBLE TRACE. Use START [SCRIPTS] [COMMAND pattern] [CLIENT pattern] [MAX count], STOP, "
        "GET [count], CLEAR or COUNT pattern [KEY pattern]"
    )


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            "START SCRIPT",
            "ERR TRACE START doesn't know 'SCRIPT', or something is missing behind it. Use SCRIPTS, COMMAND pattern, "
            "CLIENT pattern and MAX count",
        ),
        (
            "START COMMAND",
            "ERR TRACE START doesn't know 'COMMAND', or something is missing behind it. Use SCRIPTS, COMMAND pattern, "
            "CLIENT pattern and MAX count",
        ),
        ("START MAX 0", "ERR MAX of TRACE START must be a number, 1 or more"),
        ("START MAX many", "ERR MAX of TRACE START must be a number, 1 or more"),
        ("GET -1", "ERR TRACE GET takes a number of commands, 0 or more"),
    ],
)
def test_a_bad_argument_starts_nothing_and_says_what_to_write(double: Redis, words: str, text: str) -> None:
    assert double("REDOUBLE", "TRACE", *words.split()) == Failure(text)
    assert mapping(double("REDOUBLE", "TRACE", "GET"))["running"] == 0


def test_tracing_is_no_matter_for_transactions_and_scripts(double: Redis) -> None:
    double("MULTI")
    assert double("REDOUBLE", "TRACE", "START") == Failure("ERR Command not allowed inside a transaction")
    double("DISCARD")
    reply = double("EVAL", "return redis.call('REDOUBLE', 'TRACE', 'START')", 0)
    assert isinstance(reply, Failure)
    assert b"not allowed from script" in reply


def test_the_power_is_explained_and_documented(double: Redis) -> None:
    lines = [bytes(line) for line in double("REDOUBLE", "HELP")]
    assert any(line.startswith(b"TRACE <START [SCRIPTS]") for line in lines)
    docs = mapping(mapping(double("COMMAND", "DOCS", "redouble"))["redouble"])
    assert {b"redouble|trace", b"redouble|lint"} <= set(docs["subcommands"][::2])


def test_the_inside_of_bullmq_s_script_is_seen_command_by_command(double: Redis) -> None:
    queue = PriorityQueue(double)
    double("REDOUBLE", "TRACE", "START", "SCRIPTS", "COMMAND", "evalsha")
    assert queue.add(1, "zeta") == b"zeta"
    (entry,) = traced(double)
    assert (entry["command"], entry["reply"]) == (b"evalsha", b"bulk")
    assert entry["keys"] == [key.encode() for key in queue.keys]
    inside = [mapping(inner) for inner in entry["commands"]]
    assert {inner["client-id"] for inner in inside} == {entry["client-id"]}
    # As the script is written: the job's hash, its priority from the counter, the sorted set, the event.
    steps = [(inner["command"], inner["keys"]) for inner in inside]
    wanted = [
        (b"incr", [b"bull:q:id"]),
        (b"hmset", [b"bull:q:zeta"]),
        (b"incr", [b"bull:q:pc"]),
        (b"zadd", [b"bull:q:prioritized"]),
    ]
    assert [step for step in steps if step in wanted] == wanted
    assert steps[-1] == (b"xadd", [b"bull:q:events"])
    assert double("REDOUBLE", "TRACE", "COUNT", "zadd", "KEY", "bull:q:prioritized") == 1


@pytest.mark.parametrize("double", ["resp2"], indirect=True)
def test_a_script_left_in_the_middle_keeps_its_commands_and_others_keep_theirs(double: Redis) -> None:
    double("CONFIG", "SET", "busy-reply-threshold", 1)
    runner = double.another()
    number = runner("CLIENT", "ID")
    double("REDOUBLE", "TRACE", "START", "SCRIPTS")
    runner.send("EVAL", "redis.call('get', 'inside') while true do end", 0)
    double.wait_until(lambda: isinstance(double("GET", "outside"), Failure), 5)
    assert double("SCRIPT", "KILL") == OK
    assert isinstance(runner.receive(), Failure)
    script = traced(double)[-1]
    assert (script["command"], script["client-id"]) == (b"eval", number)
    assert [mapping(inner)["keys"] for inner in script["commands"]] == [[b"inside"]]
    others = [entry for entry in traced(double) if entry["client-id"] != number]
    assert others[-1]["command"] == b"script|kill"
    refused = others[-2]
    assert (refused["command"], refused["keys"], refused["error"][:5]) == (b"get", [b"outside"], b"BUSY ")
