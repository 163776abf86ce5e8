"""REDOUBLE LINT over the wire: arguments, the report, and what it says of BullMQ's own script."""

from __future__ import annotations

from tests.doubles import findings
from tests.kit import Failure, Flat, Redis, Status
from tests.queue_scripts import SHA, PriorityQueue

OK = Status("OK")
NAMES = [
    "rule", "count", "command", "script", "detail", "example", "client-id", "client-name", "address", "instead",
]  # fmt: skip


def test_lint_is_switched_on_read_and_switched_off(double: Redis) -> None:
    assert double("REDOUBLE", "LINT", "ON") == OK
    double("KEYS", "*")
    double("MSET", "a", 1, "b", 2)
    assert double("REDOUBLE", "LINT", "OFF") == OK
    double("KEYS", "*")
    keys, crossing = findings(double)
    assert list(keys) == NAMES
    assert (keys["rule"], keys["count"], keys["example"]) == (b"keys-command", 1, b"KEYS *")
    assert (keys["script"], keys["client-name"]) == (None, b"")
    assert (crossing["rule"], crossing["detail"]) == (b"cross-slot", b"a is in slot 15495, b in slot 3300")
    assert double("REDOUBLE", "LINT", "ON", "deprecated-command") == OK
    assert findings(double) == []


def test_findings_are_maps_in_resp3_and_flat_arrays_in_resp2(double: Redis) -> None:
    double("REDOUBLE", "LINT", "ON", "keys-command")
    double("KEYS", "*")
    (finding,) = double("REDOUBLE", "LINT", "REPORT")
    assert (isinstance(finding, Flat) and finding.mark == b"%") == (double.resp == 3)


def test_rules_with_values_are_given_behind_a_colon(double: Redis) -> None:
    assert double("REDOUBLE", "LINT", "ON", "no-ttl:session:*", "BIG-VALUE:5000") == OK
    double("SET", "session:1", "x")
    double("SET", "session:2", "x", "EX", 10)
    double("SET", "k", "x" * 5000)
    assert [(finding["rule"], finding["count"]) for finding in findings(double)] == [(b"big-value", 1), (b"no-ttl", 1)]


def test_a_bad_rule_changes_nothing_and_is_answered_with_the_rules(double: Redis) -> None:
    double("REDOUBLE", "LINT", "ON", "keys-command")
    double("KEYS", "*")
    assert double("REDOUBLE", "LINT", "ON", "crossslot") == Failure(
        "ERR There is no rule 'crossslot'. Rules: all, undeclared-script-key, cross-slot, keys-command, "
        "unbounded-block, eval-instead-of-evalsha[:times], flush-in-use, no-ttl:pattern, big-value[:bytes], "
        "deprecated-command, wrong-type-near-miss"
    )
    double("KEYS", "*")
    assert [finding["count"] for finding in findings(double)] == [2]


def test_an_unknown_form_is_answered_with_the_forms(double: Redis) -> None:
    forms = Failure("ERR unknown form of REDOUBLE LINT. Use ON [rule ...], REPORT or OFF")
    for words in (["YES"], ["OFF", "keys-command"], ["REPORT", 1]):
        assert double("REDOUBLE", "LINT", *words) == forms


def test_bullmq_s_script_touches_a_job_key_that_it_was_not_given(double: Redis) -> None:
    double("REDOUBLE", "LINT", "ON", "undeclared-script-key", "cross-slot")
    queue = PriorityQueue(double)
    queue.add(1, "job")
    undeclared = [finding for finding in findings(double) if finding["rule"] == b"undeclared-script-key"]
    assert {finding["script"] for finding in undeclared} == {SHA.encode()}
    assert b"bull:q:job" in next(found["detail"] for found in undeclared if found["command"] == b"hmset")
    # Its nine keys without a hash tag are in several slots: BullMQ asks for a prefix in braces in a cluster.
    assert [(finding["rule"], finding["command"]) for finding in findings(double)].count(
        (b"cross-slot", b"evalsha")
    ) == 1
    double("REDOUBLE", "LINT", "ON", "cross-slot")
    PriorityQueue(double, "{bull}:q:").add(1, "job")
    assert findings(double) == []
