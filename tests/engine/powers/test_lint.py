"""The rules of LINT: what each finds and what it leaves alone. cross-slot is judged by a real cluster."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from redouble.engine.powers.lint import Finding
from redouble.engine.powers.lint_rules import RULES
from redouble.errors import CommandError
from redouble.protocol.keyslot import key_slot
from tests.doubles import DoubleEngine
from tests.kit import Failure, RealTarget, Redis, Status


@pytest.fixture
def target() -> DoubleEngine:
    return DoubleEngine()


@pytest.fixture
def redis(target: DoubleEngine) -> Redis:
    return Redis(target, 2)


def found(target: DoubleEngine, rule: str) -> list[Finding]:
    """The findings, which must all be of one rule."""
    findings = target.engine.lint.findings()
    assert {finding.rule for finding in findings} <= {rule.encode()}
    return findings


# -- switching ------------------------------------------------------------------------------------------


def test_an_unknown_rule_is_answered_with_the_rules(target: DoubleEngine) -> None:
    with pytest.raises(CommandError) as caught:
        target.engine.lint.enable([b"keys-command", b"no-such"])
    text = caught.value.text
    assert text.startswith(b"ERR There is no rule 'no-such'. Rules: all, ")
    assert all(rule.name in text for rule in RULES)
    assert not target.engine.lint.running


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("no-ttl", "Rule 'no-ttl' is written no-ttl:pattern"),
        ("no-ttl:", "Rule 'no-ttl' is written no-ttl:pattern"),
        ("keys-command:5", "Rule 'keys-command' is written keys-command"),
        ("big-value:", r"Rule 'big-value' is written big-value\[:bytes\]"),
        ("big-value:much", "Rule 'big-value' takes a number of bytes, 1 or more"),
        ("eval-instead-of-evalsha:0", "Rule 'eval-instead-of-evalsha' takes a number of times, 1 or more"),
        ("all:1", "There is no rule 'all:1'"),
    ],
)
def test_a_rule_written_wrongly_is_answered_with_how_to_write_it(target: DoubleEngine, word: str, text: str) -> None:
    with pytest.raises(CommandError, match=text):
        target.engine.lint.enable([word.encode()])


def test_only_the_rules_that_are_on_look(target: DoubleEngine, redis: Redis) -> None:
    target.engine.lint.enable([b"keys-command"])
    redis("SET", "k", 1)
    redis("LPUSH", "k", 1)
    redis("KEYS", "*")
    assert [finding.rule for finding in target.engine.lint.findings()] == [b"keys-command"]


def test_off_keeps_what_was_found_and_on_begins_anew(target: DoubleEngine, redis: Redis) -> None:
    lint = target.engine.lint
    lint.enable()
    redis("KEYS", "*")
    lint.disable()
    redis("KEYS", "*")
    assert [finding.count for finding in lint.findings()] == [1]
    assert target.engine.observers == 0
    lint.enable()
    assert lint.findings() == []


def test_a_finding_tells_how_often_who_what_and_what_to_do(target: DoubleEngine, redis: Redis) -> None:
    redis("CLIENT", "SETNAME", "cleaner")
    target.engine.lint.enable([b"keys-command"])
    redis("KEYS", "cache:*")
    redis("KEYS", "session key:*")
    (finding,) = target.engine.lint.findings()
    assert (finding.rule, finding.command, finding.script, finding.count) == (b"keys-command", b"keys", b"", 2)
    assert (finding.example, finding.client_name, finding.client_id) == (b"KEYS cache:*", b"cleaner", 1)
    assert finding.address == b"127.0.0.1:50001"
    assert b"SCAN" in finding.advice


def test_findings_are_bounded(target: DoubleEngine, redis: Redis) -> None:
    target.engine.lint.enable([b"undeclared-script-key"])
    for number in range(1005):
        redis("EVAL", f"redis.call('get', 'k') return {number}", 0)
    findings = target.engine.lint.findings()
    assert len(findings) == 1001
    assert (findings[-1].command, findings[-1].count) == (b"(others)", 5)


# -- undeclared-script-key --------------------------------------------------------------------------------


def test_a_key_that_a_script_did_not_declare_is_found(target: DoubleEngine, redis: Redis) -> None:
    target.engine.lint.enable([b"undeclared-script-key"])
    script = "-- Counts up\nredis.call('incr', KEYS[1]) redis.call('set', KEYS[1] .. ':last', 1)"
    sha = redis("SCRIPT", "LOAD", script)
    redis("EVALSHA", sha, 1, "n")
    redis("EVALSHA", sha, 1, "m")
    (finding,) = found(target, "undeclared-script-key")
    assert (finding.command, finding.script, finding.count) == (b"set", sha, 2)
    assert finding.example == b"set n:last 1"
    assert finding.detail == b"script %b (Counts up) touches n:last, which is not among its KEYS" % sha[:8]


def test_keys_given_as_arguments_are_not_declared(target: DoubleEngine, redis: Redis) -> None:
    target.engine.lint.enable([b"undeclared-script-key"])
    redis("EVAL", "redis.call('del', KEYS[1], ARGV[1])", 1, "a", "b")
    assert [finding.command for finding in found(target, "undeclared-script-key")] == [b"del"]


def test_declared_keys_commands_without_keys_and_plain_commands_are_all_right(
    target: DoubleEngine, redis: Redis
) -> None:
    target.engine.lint.enable([b"undeclared-script-key"])
    redis("EVAL", "redis.call('time') redis.call('mget', KEYS[1], KEYS[2]) redis.call('publish', 'c', 1)", 2, "a", "b")
    redis("SET", "c", 1)
    assert found(target, "undeclared-script-key") == []


def test_a_function_is_named(target: DoubleEngine, redis: Redis) -> None:
    redis("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() redis.call('get', 'x') end)")
    target.engine.lint.enable([b"undeclared-script-key"])
    redis("FCALL", "f", 0)
    (finding,) = found(target, "undeclared-script-key")
    assert (finding.script, finding.detail) == (b"f", b"function f touches x, which is not among its KEYS")


# -- cross-slot ---------------------------------------------------------------------------------------------

SHEBANG = "#!lua\n"
#: How a node that has every slot refuses; the second is all that 7.0 says of one command of a script.
REFUSALS = (b"same slot", b"access a non local key")
TRAFFIC: list[list[list[object]]] = [
    [["MSET", "a", 1, "b", 2]],
    [["MSET", "{t}a", 1, "{t}b", 2]],
    [["DEL", "a", "b", "a"]],
    [["DEL", "a", "a"]],
    [["GET", "a"], ["GET", "b"]],
    [["RENAME", "{t}a", "{u}a"]],
    [["BLPOP", "a", "b", 0.01]],
    [["ZUNIONSTORE", "{t}d", 2, "{t}a", "b"]],
    [["ZUNIONSTORE", "{t}d", 2, "{t}a", "{t}b"]],
    [["SORT", "a", "STORE", "b"]],
    [["BITOP", "AND", "{t}d", "{t}a", "{u}b"]],
    [["XREAD", "STREAMS", "a", "b", 0, 0]],
    [["XREAD", "STREAMS", "{t}a", "{t}b", 0, 0]],
    [["LMPOP", 2, "a", "b", "LEFT"]],
    [["OBJECT", "ENCODING", "a"]],
    [["SSUBSCRIBE", "a", "b"]],
    [["SUBSCRIBE", "a", "b"]],
    [["PUBLISH", "a", "b"]],
    [["WATCH", "a", "b"]],
    [["WATCH", "a"], ["MULTI"], ["GET", "b"], ["EXEC"]],
    [["MULTI"], ["SET", "a", 1], ["SET", "b", 2], ["EXEC"]],
    [["MULTI"], ["SET", "{t}a", 1], ["SET", "{t}b", 2], ["EXEC"]],
    [["MULTI"], ["PING"], ["SET", "a", 1], ["EXEC"], ["MULTI"], ["SET", "b", 1], ["EXEC"]],
    [["MULTI"], ["EVAL", "return 1", 1, "a"], ["SET", "b", 2], ["EXEC"]],
    [["MULTI"], ["MGET", "a", "b"], ["EXEC"]],
    [["EVAL", "return 1", 2, "a", "b"]],
    [["EVAL", "return 1", 2, "{t}a", "{t}b"]],
    [["EVAL", "return redis.call('MGET', 'a', 'b')", 0]],
    [["EVAL", SHEBANG + "redis.call('SET', 'a', 1) redis.call('SET', 'b', 1)", 0]],
    [["EVAL", SHEBANG + "redis.call('SET', '{t}a', 1) redis.call('SET', '{t}b', 1)", 0]],
    [["EVAL", SHEBANG + "redis.call('SET', 'b', 1)", 1, "a"]],
    [["EVAL", SHEBANG + "redis.call('SET', KEYS[1], 1) redis.call('PING')", 1, "a"]],
    [["EVAL", "#!lua flags=allow-cross-slot-keys\nredis.call('SET', 'b', 1)", 1, "a"]],
    [["EVAL", "#!lua flags=allow-cross-slot-keys\nredis.call('DEL', 'b', 'a')", 1, "a"]],
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[RealTarget]:
    """A real cluster of one node that has all slots, so nothing but crossing slots is refused."""
    executable = shutil.which("redis-server")
    if executable is None:
        pytest.skip("redis-server is not installed")
    real = RealTarget(executable, "--cluster-enabled", "yes")
    admin = Redis(real, 2)
    assert admin("CLUSTER", "ADDSLOTSRANGE", 0, 16383) == Status("OK")
    # A node that has just started doesn't call itself well for two seconds.
    admin.wait_until(lambda: b"cluster_state:ok" in admin("CLUSTER", "INFO"), 10)
    admin.close()
    yield real
    real.stop()


def crosses(redis: Redis, traffic: list[list[object]]) -> bool:
    """Whether a cluster refuses any of these requests because of slots."""
    replies = []
    for request in traffic:
        redis.send(*request)
        reply = redis.receive()
        replies += [reply, *reply] if isinstance(reply, list) else [reply]
    return any(isinstance(reply, Failure) and any(text in reply for text in REFUSALS) for reply in replies)


@pytest.mark.parametrize("traffic", TRAFFIC, ids=lambda traffic: " / ".join(str(word) for word in traffic[-1][:3]))
def test_crossing_slots_is_found_where_a_real_cluster_refuses(cluster: RealTarget, traffic: list[list[object]]) -> None:
    real = Redis(cluster, 2)
    real("FLUSHALL")
    target = DoubleEngine()
    ours = Redis(target, 2)
    target.engine.lint.enable([b"cross-slot"])
    for request in traffic:
        ours.send(*request)
    refused = crosses(real, traffic)
    real.close()
    assert bool(target.engine.lint.findings()) == refused


def test_the_traffic_for_the_cluster_has_both_verdicts(cluster: RealTarget) -> None:
    verdicts = set()
    for traffic in TRAFFIC:
        real = Redis(cluster, 2)
        verdicts.add(crosses(real, traffic))
        real.close()
    assert verdicts == {True, False}


def test_a_script_without_a_shebang_is_judged_like_one_with_it(target: DoubleEngine, redis: Redis) -> None:
    # One node lets it pass; with several nodes it fails as soon as the slots are apart.
    target.engine.lint.enable([b"cross-slot"])
    redis("EVAL", "redis.call('set', KEYS[1], 1) redis.call('set', ARGV[1], 1)", 1, "{q}:a", "b")
    (finding,) = found(target, "cross-slot")
    assert finding.example == b"set b 1"
    assert b"{q}:a is in slot %d, b is in slot" not in finding.detail
    assert b"{q}:a is in slot %d, b in slot %d" % (key_slot(b"{q}:a"), key_slot(b"b")) in finding.detail


def test_declared_keys_that_cross_are_the_caller_s_fault_and_found_once(target: DoubleEngine, redis: Redis) -> None:
    target.engine.lint.enable([b"cross-slot"])
    redis("EVAL", "redis.call('set', KEYS[1], 1) redis.call('set', KEYS[2], 1)", 2, "a", "b")
    assert [(finding.command, finding.count) for finding in found(target, "cross-slot")] == [(b"eval", 1)]


def test_a_script_that_the_server_does_not_know_is_judged_when_it_comes(target: DoubleEngine, redis: Redis) -> None:
    target.engine.lint.enable([b"cross-slot"])
    redis("EVALSHA", "f" * 40, 2, "a", "b")
    assert found(target, "cross-slot") == []


def test_each_transaction_begins_anew(target: DoubleEngine, redis: Redis) -> None:
    target.engine.lint.enable([b"cross-slot"])
    for _ in range(2):
        for request in (["MULTI"], ["SET", "a", 1], ["INCR", "b"], ["EXEC"]):
            redis(*request)
    (finding,) = found(target, "cross-slot")
    assert (finding.command, finding.count, finding.example) == (b"incr", 2, b"INCR b")
    assert finding.detail.startswith(b"the transaction: a is in slot ")


# -- the other rules ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "request_",
    [
        "BLPOP q 0", "BRPOP q r 0.0", "BLMOVE q r LEFT LEFT 0", "BRPOPLPUSH q r 0", "BZPOPMIN q 0", "BLMPOP 0 1 q LEFT",
        "BZMPOP 0 1 q MIN", "XREAD COUNT 1 BLOCK 0 STREAMS s $", "WAIT 1 0",
    ],
)  # fmt: skip
def test_a_wait_without_limit_is_found(target: DoubleEngine, request_: str) -> None:
    redis = Redis(target, 2)
    target.engine.lint.enable([b"unbounded-block"])
    redis.send(*request_.split())
    assert target.engine.blocking.count == 1
    (finding,) = found(target, "unbounded-block")
    assert finding.example == request_.encode()


def test_limits_transactions_and_bad_time_outs_are_no_unbounded_waits(target: DoubleEngine, redis: Redis) -> None:
    redis("RPUSH", "q", 1, 2)
    redis("XADD", "block", "*", "f", "v")
    target.engine.lint.enable([b"unbounded-block"])
    for request in (
        ["BLPOP", "q", 1], ["BLPOP", "q", "x"], ["MULTI"], ["BLPOP", "q", 0], ["EXEC"],
        ["XREAD", "STREAMS", "block", 0], ["XREAD", "BLOCK", 1, "STREAMS", "block", 0], ["WAIT", 0, 1],
    ):  # fmt: skip
        redis(*request)
    assert found(target, "unbounded-block") == []


def test_a_wait_without_limit_is_found_even_when_it_need_not_wait_and_counted_once(
    target: DoubleEngine, redis: Redis
) -> None:
    target.engine.lint.enable([b"unbounded-block"])
    redis("RPUSH", "q", 1)
    redis("BLPOP", "q", 0)
    waiter = redis.another()
    waiter.send("BLPOP", "q", 0)
    redis("RPUSH", "q", 1)
    assert waiter.receive() == [b"q", b"1"]
    assert [finding.count for finding in found(target, "unbounded-block")] == [2]


def test_a_script_sent_again_and_again_is_found(target: DoubleEngine, redis: Redis) -> None:
    target.engine.lint.enable([b"eval-instead-of-evalsha:3"])
    for _ in range(2):
        redis("EVAL", "return 1", 0)
        redis("EVAL", "return 2", 0)
    assert found(target, "eval-instead-of-evalsha") == []
    sha = redis("SCRIPT", "LOAD", "return 1")
    redis("EVALSHA", sha, 0)
    redis("EVAL", "return 1", 0)
    redis("EVAL", "return 1", 0)
    (finding,) = found(target, "eval-instead-of-evalsha")
    assert (finding.script, finding.count) == (sha, 4)
    assert finding.detail == b"script %b (return 1) was sent by EVAL, 8 bytes each time" % sha[:8]


def test_flushing_while_others_are_connected_is_found(target: DoubleEngine, redis: Redis) -> None:
    target.engine.lint.enable([b"flush-in-use"])
    silent = redis.another()
    redis("FLUSHALL")
    silent("REDOUBLE", "LINT", "REPORT")
    redis("FLUSHALL")
    elsewhere = redis.another()
    elsewhere("SELECT", 1)
    redis("FLUSHDB")
    assert found(target, "flush-in-use") == []
    redis("FLUSHALL")
    elsewhere("SELECT", 0)
    redis("FLUSHDB")
    elsewhere.close()
    redis("FLUSHALL")
    assert [(finding.command, finding.count) for finding in found(target, "flush-in-use")] == [
        (b"flushall", 1),
        (b"flushdb", 1),
    ]


def test_keys_left_without_time_to_live_are_found_when_the_report_is_made(target: DoubleEngine, redis: Redis) -> None:
    redis("SET", "cache:old", 1)
    target.engine.lint.enable([b"no-ttl:cache:*", b"no-ttl:tmp-?"])
    redis("SET", "cache:a", 1, "EX", 100)
    redis("INCR", "cache:b")
    redis("EXPIRE", "cache:b", 100)
    redis("SET", "cache:gone", 1)
    redis("DEL", "cache:gone")
    redis("SET", "other", 1)
    redis("GET", "cache:old")
    assert found(target, "no-ttl") == []
    redis("SET", "cache:c", 1)
    redis("SELECT", 2)
    redis("SET", "tmp-1", 1)
    redis("EVAL", "redis.call('hset', KEYS[1], 'f', 1)", 1, "cache:d")
    findings = found(target, "no-ttl")
    assert [(finding.command, finding.count, finding.example) for finding in findings] == [
        (b"set", 2, b"SET cache:c 1"),
        (b"hset", 1, b"hset cache:d f 1"),
    ]
    assert findings[0].detail == b"cache:c matches cache:* and has no time to live"
    redis("EXPIRE", "cache:d", 5)
    assert [finding.command for finding in found(target, "no-ttl")] == [b"set"]


def test_big_values_are_found_whole_or_grown(target: DoubleEngine, redis: Redis) -> None:
    target.engine.lint.enable([b"big-value:10000"])
    redis("SET", "small", b"x" * 5000)
    redis("GET", "small")
    redis("RPUSH", "list", *[b"x" * 100] * 50)
    assert found(target, "big-value") == []
    redis("SET", "big", b"x" * 10000)
    redis("APPEND", "small", b"x" * 5000)
    redis("RPUSH", "list", *[b"x" * 100] * 50)
    assert [finding.command for finding in found(target, "big-value")] == [b"set", b"append", b"rpush"]
    assert found(target, "big-value")[0].detail == b"big takes %d bytes" % redis("MEMORY", "USAGE", "big")


def test_deprecated_commands_are_found_with_what_replaces_them(target: DoubleEngine, redis: Redis) -> None:
    target.engine.lint.enable([b"deprecated-command"])
    redis("HMSET", "h", "f", "v")
    redis("EVAL", "redis.call('getset', KEYS[1], 1)", 1, "k")
    redis("HSET", "h", "f", "v")
    hmset, getset = found(target, "deprecated-command")
    assert (hmset.advice, hmset.detail) == (
        b"Use HSET with multiple field-value pairs.",
        b"HMSET is deprecated since 4.0.0",
    )
    assert (getset.command, getset.example) == (b"getset", b"getset k 1")


@pytest.mark.parametrize(("version", "count"), [("7.0.15", 0), ("7.2.0", 1)])
def test_what_is_deprecated_later_is_not_found(version: str, count: int) -> None:
    target = DoubleEngine(version)
    redis = Redis(target, 2)
    target.engine.lint.enable([b"deprecated-command"])
    redis("QUIT")
    assert len(target.engine.lint.findings()) == count


def test_a_wrong_type_is_found(target: DoubleEngine, redis: Redis) -> None:
    target.engine.lint.enable([b"wrong-type-near-miss"])
    redis("SET", "k", 1)
    redis("LPUSH", "k", 1)
    redis("EVAL", "redis.pcall('sadd', KEYS[1], 1)", 1, "k")
    assert [finding.command for finding in found(target, "wrong-type-near-miss")] == [b"lpush", b"sadd"]


def test_a_type_that_fits_only_because_the_key_has_vanished_is_found(target: DoubleEngine, redis: Redis) -> None:
    target.engine.clock.freeze()
    target.engine.lint.enable([b"wrong-type-near-miss"])
    redis("SET", "lock", 1, "PX", 100)
    redis("RPUSH", "q", 1)
    redis("LPOP", "q")
    redis.pass_time(200)
    assert redis("HSET", "lock", "owner", 1) == 1
    assert redis("GET", "q") is None
    findings = found(target, "wrong-type-near-miss")
    assert [(finding.command, finding.detail) for finding in findings] == [
        (b"hset", b"lock was a string before it vanished"),
        (b"get", b"q was a list before it vanished"),
    ]


def test_a_key_deleted_or_overwritten_on_purpose_may_have_another_type(target: DoubleEngine, redis: Redis) -> None:
    target.engine.lint.enable([b"wrong-type-near-miss"])
    for request in (
        ["SET", "a", 1], ["DEL", "a"], ["LPUSH", "a", 1],
        ["SADD", "b", 1], ["SET", "b", 1], ["GET", "b"],
        ["SET", "c", 1], ["FLUSHALL"], ["SADD", "c", 1],
        ["LPUSH", "d", 1], ["MGET", "d"], ["RPOP", "d"], ["MGET", "d"],
        ["SADD", "e", 1], ["ZUNION", 1, "e"], ["SREM", "e", 1], ["ZUNION", 1, "e"],
        ["LPUSH", "f", 1], ["RENAME", "f", "g"], ["SET", "f", 1], ["APPEND", "f", 1],
        ["LPUSH", "g", 1], ["ZADD", "h", 1, "m"], ["SUNIONSTORE", "h", "c"], ["SADD", "h", 1],
    ):  # fmt: skip
        assert not isinstance(redis(*request), Failure), request
    assert found(target, "wrong-type-near-miss") == []
