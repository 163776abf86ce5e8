"""The rules by which replies agree: what they let pass, and what they don't. (What is true of the real server,
`test_verify.py` shows.)"""

from __future__ import annotations

import pytest

from redouble.testing.traffic.agreement import Case, verdict
from redouble.testing.traffic.notation import read_reply, read_request
from redouble.testing.traffic.replies import Reply

NOW = 1_700_000_000_000
#: What a lookup finds.
MEMBERS = read_reply('["a", "b", "c"]')


def lookup(argv: list[bytes]) -> Reply:
    if argv[0] == b"EXISTS":
        return read_reply("1" if argv[1] == b"there" else "0")
    assert argv == [b"SMEMBERS", b"key"]
    return MEMBERS


@pytest.mark.parametrize(
    ("request_text", "ours", "theirs", "rule"),
    [
        ("GET key", '"a"', '"a"', ""),
        ("GET key", '"a"', '"b"', None),
        ("GET key", "null", "null-array", None),
        ("GET key", "OK", '"OK"', None),
        ("GET key", 'error "ERR a"', 'error "ERR b"', None),
        ("INCR key", "5", "6", None),
        ("TTL key", "99", "100", "time to live"),
        ("TTL key", "97", "100", None),
        ("TTL key", "-1", "0", None),
        ("PTTL key", "99600", "100000", "time to live"),
        ("PTTL key", "-1", "100", None),
        ("PEXPIRETIME key", "1700000000100", "1700000000000", "time of day"),
        ("INCR key", "1700000009000", "1700000000000", None),
        ("INCR key", "1600000000000", "1600000000001", None),
        ("TIME", '["1700000000", "5"]', '["1700000000", "400000"]', "time of day"),
        ("TIME", '["1700000000", "5"]', '["1700000007", "5"]', None),
        ("XADD key * a b", '"1700000000000-0"', '"1700000000003-0"', "time of day"),
        ("XADD key * a b", '"1700000000000-0"', '"5-1"', None),
        ("SMEMBERS key", '["a", "b"]', '["b", "a"]', "no order"),
        ("SMEMBERS key", '["a", "b"]', '["b", "c"]', None),
        ("LRANGE key 0 -1", '["a", "b"]', '["b", "a"]', None),
        ("HGETALL key", '["a", "1", "b", "2"]', '["b", "2", "a", "1"]', "no order"),
        ("HGETALL key", '["a", "1", "b", "2"]', '["b", "1", "a", "2"]', None),
        ("HGETALL key", '{"a": "1", "b": "2"}', '{"b": "2", "a": "1"}', "no order"),
        ("SRANDMEMBER key", '"a"', '"b"', "random choice"),
        ("SRANDMEMBER key", '"a"', '"d"', None),
        ("SRANDMEMBER key 2", '["a", "b"]', '["b", "c"]', "random choice"),
        ("SRANDMEMBER key 2", '["a", "b"]', '["b"]', None),
        ("RANDOMKEY", '"here"', '"there"', "random choice"),
        ("RANDOMKEY", '"here"', '"nowhere"', None),
        ("SPOP key 2", '["a", "b"]', '["a"]', None),
        ("CLIENT ID", "5", "9", "about the server"),
        ("CLIENT ID", "5", '"9"', None),
        ("CONFIG GET *", '["port", "1", "hz", "10"]', '["hz", "10", "port", "2"]', "setting of a machine"),
        ("CONFIG GET *", '["port", "1", "hz", "10"]', '["hz", "11", "port", "1"]', None),
        ("CONFIG GET *", '["port", "1"]', "[]", None),
        ("EVAL x 0", '["a", ["b", 1]]', '["b", ["a", 1]]', "no order (of a script)"),
        ("EVAL x 0", '["a", ["b", 1]]', '["b", ["a", 2]]', None),
        ("EVAL x 0", 'error "ERR a script: f1, on @u:1."', 'error "ERR b script: f1, on @u:1."', None),
        ("EVAL x 0", 'error "ERR a script: f1, on @u:1."', 'error "ERR a script: f2, on @u:2."', "place in a script"),
        ("XPENDING key g - + 1", '[["1-1", "c", 100, 1]]', '[["1-1", "c", 350, 1]]', "idle time"),
        ("XPENDING key g - + 1", '[["1-1", "c", 100, 1]]', '[["1-1", "d", 100, 1]]', None),
    ],
)  # fmt: skip
def test_replies_agree_by_this_rule_or_not_at_all(request_text: str, ours: str, theirs: str, rule: str | None) -> None:
    argv = read_request(request_text)
    names = {b"CLIENT": b"client|id", b"CONFIG": b"config|get"}
    name = names.get(argv[0], argv[0].lower())
    assert verdict(Case(argv, read_reply(ours), read_reply(theirs), NOW, NOW, lookup), name) == rule


def test_times_are_compared_by_how_far_each_is_from_its_own_now() -> None:
    a_day = 86_400_000
    ours, theirs = Reply(":", b"%d" % (NOW + a_day)), Reply(":", b"%d" % NOW)
    assert verdict(Case([], ours, theirs, NOW + a_day, NOW)) == "time of day"
    assert verdict(Case([], ours, theirs, NOW, NOW)) is None
