"""COMMAND: what the table says of itself, and that it is what a real server says."""

from typing import Any

import pytest

from redouble.commands import FAMILIES
from redouble.commands.syntax import Argument, parse_syntax
from redouble.engine.command import CommandTable
from tests.kit import EngineTarget, Failure, RealTarget, Redis, Status

#: Facts that 7.4 (by which our rows go) tells otherwise than 7.0.15. None changes what a command does there.
CHANGED_SINCE_7_0: dict[bytes, set[str]] = {
    b"wait": {"flags", "categories"},
    # More is said of how a cluster's clients should send a command and join its replies.
    **{
        name: {"tips"}
        for name in (
            b"acl|deluser", b"acl|save", b"acl|setuser", b"client|setname", b"config|resetstat", b"config|rewrite",
            b"latency|reset", b"msetnx", b"randomkey", b"scan",
        )
    },
    # Answered while the data is still being loaded.
    b"cluster|shards": {"flags"},
    b"cluster|slots": {"flags"},
    # The destination is overwritten, not read.
    b"sinterstore": {"key specifications"},
}  # fmt: skip


def _as_map(flat: list[Any]) -> dict[bytes, Any]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _facts(entry: list[Any]) -> dict[str, Any]:
    """An entry of COMMAND INFO without the order of its sets."""
    return {
        "arity": entry[1],
        "flags": sorted(entry[2]),
        "first key": entry[3],
        "last key": entry[4],
        "step": entry[5],
        "categories": sorted(entry[6]),
        "tips": sorted(entry[7]),
        "key specifications": [_spec(spec) for spec in entry[8]],
    }


def _spec(flat: list[Any]) -> dict[bytes, Any]:
    """A key specification without its remarks, which are prose."""
    spec = _as_map(flat)
    spec.pop(b"notes", None)
    spec[b"flags"] = sorted(spec[b"flags"])
    return spec


def _entries(redis: Redis) -> dict[bytes, list[Any]]:
    found: dict[bytes, list[Any]] = {}
    for entry in redis("COMMAND"):
        found[entry[0]] = entry
        for sub in entry[9]:
            found[sub[0]] = sub
    return found


def test_each_row_is_as_the_real_server_s(real_server: RealTarget | None) -> None:
    if real_server is None:
        pytest.skip("redis-server is not installed")
    theirs = _entries(Redis(real_server, 2))
    ours = _entries(Redis(EngineTarget(real_server.version), 2))
    differences: dict[bytes, set[str]] = {}
    for name in ours:
        if name not in theirs:
            continue
        mine, real = _facts(ours[name]), _facts(theirs[name])
        differing = {fact for fact in mine if mine[fact] != real[fact]}
        if differing:
            differences[name] = differing
    assert differences == (CHANGED_SINCE_7_0 if real_server.version.startswith("7.0") else {})


def test_no_command_is_older_or_younger_than_in_redis(real_server: RealTarget | None) -> None:
    if real_server is None:
        pytest.skip("redis-server is not installed")
    theirs = set(_entries(Redis(real_server, 2)))
    ours = set(_entries(Redis(EngineTarget(real_server.version), 2)))
    assert {name for name in ours - theirs if not name.startswith(b"redouble")} == set()
    assert theirs - ours == set()


def test_info_of_one_command(redis: Redis) -> None:
    entry = redis("COMMAND", "INFO", "get", "nosuch", "client|list", "get|x")
    assert entry[1] is None
    assert entry[3] is None
    assert entry[0][:2] == [b"get", 2]
    assert sorted(entry[0][2]) == [Status("fast"), Status("readonly")]
    assert entry[0][3:6] == [1, 1, 1]
    assert entry[2][0] == b"client|list"
    assert redis("COMMAND", "COUNT") == len(redis("COMMAND"))


def test_sets_and_maps_have_their_types_in_resp3(redis: Redis) -> None:
    redis.another(2)
    three = redis.another(3)
    raw = three.raw("COMMAND", "INFO", "get")
    assert raw.startswith(b"*1\r\n*10\r\n$3\r\nget\r\n:2\r\n~2\r\n+")
    assert b"%3\r\n$5\r\nflags\r\n~2\r\n+RO\r\n+access\r\n$12\r\nbegin_search\r\n%2\r\n" in raw


def test_list_filters(redis: Redis) -> None:
    everything = redis("COMMAND", "LIST")
    assert {b"get", b"client|list", b"command|list"} <= set(everything)
    assert redis("COMMAND", "LIST", "FILTERBY", "PATTERN", "mget*") == [b"mget"]
    assert b"ping" in redis("COMMAND", "LIST", "FILTERBY", "ACLCAT", "connection")
    assert redis("COMMAND", "LIST", "FILTERBY", "ACLCAT", "nosuch") == []
    assert redis("COMMAND", "LIST", "FILTERBY", "MODULE", "nosuch") == []
    assert redis("COMMAND", "LIST", "FILTERBY", "FOO", "x") == Failure("ERR syntax error")
    assert redis("COMMAND", "LIST", "FOO") == Failure("ERR syntax error")


KEYS: list[tuple[list[object], list[bytes]]] = [
    (["GET", "a"], [b"a"]),
    (["MSET", "a", 1, "b", 2], [b"a", b"b"]),
    (["MGET", "a", "b", "a"], [b"a", b"b", b"a"]),
    (["EVAL", "return 1", 2, "a", "b", "c"], [b"a", b"b"]),
    (["EVAL", "return 1", 0, "c"], []),
    (["ZUNIONSTORE", "d", 2, "a", "b", "WEIGHTS", 1, 2], [b"d", b"a", b"b"]),
    (["XREAD", "COUNT", 1, "STREAMS", "a", "b", 0, 0], [b"a", b"b"]),
    (["XREADGROUP", "GROUP", "g", "c", "STREAMS", "streams", ">"], [b"streams"]),
    (["SORT", "a", "BY", "store", "GET", "x", "STORE", "d"], [b"a", b"d"]),
    (["LMPOP", 2, "a", "b", "LEFT"], [b"a", b"b"]),
    (["BLPOP", "a", "b", 0], [b"a", b"b"]),
    (["GEORADIUS", "a", 1, 2, 3, "m", "STORE", "d"], [b"a", b"d"]),
    (["MEMORY", "USAGE", "a"], [b"a"]),
    (["OBJECT", "ENCODING", "a"], [b"a"]),
]


@pytest.mark.parametrize(("request_", "keys"), KEYS, ids=[str(case[0][0]) for case in KEYS])
def test_getkeys_finds_the_keys(redis: Redis, request_: list[object], keys: list[bytes]) -> None:
    assert redis("COMMAND", "GETKEYS", *request_) == keys


def test_getkeys_says_why_it_finds_none(redis: Redis) -> None:
    assert redis("COMMAND", "GETKEYS", "NOSUCH", "a") == Failure("ERR Invalid command specified")
    assert redis("COMMAND", "GETKEYS", "PING", "x") == Failure("ERR The command has no key arguments")
    assert redis("COMMAND", "GETKEYS", "GET", "a", "b") == Failure(
        "ERR Invalid number of arguments specified for command"
    )
    assert redis("COMMAND", "GETKEYS", "ZUNIONSTORE", "d", "x", "a") == Failure(
        "ERR Invalid arguments specified for command"
    )
    assert redis("COMMAND", "GETKEYS", "SUBSCRIBE", "ch") == Failure("ERR The command has no key arguments")
    assert redis("COMMAND", "GETKEYS", "SSUBSCRIBE", "ch") == Failure("ERR The command has no key arguments")


def test_getkeysandflags_tells_what_is_done_with_each(redis: Redis) -> None:
    def flags(*request: object) -> list[tuple[bytes, list[bytes]]]:
        reply = redis("COMMAND", "GETKEYSANDFLAGS", *request)
        return [(key, sorted(bytes(flag) for flag in found)) for key, found in reply]

    assert flags("LMOVE", "a", "b", "LEFT", "RIGHT") == [
        (b"a", [b"RW", b"access", b"delete"]), (b"b", [b"RW", b"insert"]),
    ]  # fmt: skip
    assert flags("SET", "a", 1) == [(b"a", [b"OW", b"update"])]
    assert flags("SET", "a", 1, "GET") == [(b"a", [b"RW", b"access", b"update"])]
    assert flags("BITFIELD", "a", "GET", "u8", 0) == [(b"a", [b"RO", b"access"])]
    assert flags("BITFIELD", "a", "OVERFLOW", "SAT", "SET", "u8", 0, 1) == [(b"a", [b"RW", b"access", b"update"])]
    assert flags("SORT", "a", "STORE", "d") == [(b"a", [b"RO", b"access"]), (b"d", [b"OW", b"update"])]


def test_docs_describe_the_arguments(redis: Redis) -> None:
    name, flat = redis("COMMAND", "DOCS", "expire", "nosuch")
    docs = _as_map(flat)
    assert name == b"expire"
    assert docs[b"group"] == b"generic"
    assert docs[b"since"] == b"1.0.0"
    key, seconds, condition = [_as_map(argument) for argument in docs[b"arguments"]]
    assert (key[b"name"], key[b"type"], key[b"key_spec_index"]) == (b"key", b"key", 0)
    assert (seconds[b"name"], seconds[b"type"]) == (b"seconds", b"integer")
    assert condition[b"type"] == b"oneof"
    assert [bytes(flag) for flag in condition[b"flags"]] == [b"optional"]
    choices = [_as_map(choice) for choice in condition[b"arguments"]]
    assert [choice[b"token"] for choice in choices] == [b"NX", b"XX", b"GT", b"LT"]


@pytest.mark.only("engine")
def test_every_summary_is_one_short_sentence(redis: Redis) -> None:
    for row in CommandTable(FAMILIES, 80000).rows:
        assert row.summary.endswith("."), row.full_name
        assert len(row.summary) <= 100, row.full_name


def _shape(argument: Argument) -> str:
    """An argument as redis-cli shows it in a hint."""
    text = argument.text if argument.kind == "pure-token" else argument.name
    if argument.kind == "oneof":
        text = " | ".join(_shape(part) for part in argument.parts)
    elif argument.kind == "block":
        text = " ".join(_shape(part) for part in argument.parts)
    if argument.token:
        text = f"{argument.token} {text}"
    if argument.multiple:
        text = f"{text} [...]"
    return f"[{text}]" if argument.optional else text


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("", ""),
        ("key value", "key value"),
        ("key [key ...]", "key [...]"),
        ("[channel [channel ...]]", "[channel [...]]"),
        ("key [NX | XX] [GET] [EX seconds | PX milliseconds | KEEPTTL]",
         "key [NX | XX] [GET] [EX seconds | PX milliseconds | KEEPTTL]"),
        ("key [LIMIT offset count]", "key [LIMIT offset count]"),
        ("key score member [score member ...]", "key score member [...]"),
        ("[COUNT count] STREAMS key [key ...] id [id ...]", "[COUNT count] STREAMS key [...] id [...]"),
        ("key <* | id> field value [field value ...]", "key * | id field value [...]"),
        ("<ON | OFF> [PREFIX prefix [PREFIX prefix ...]]", "ON | OFF [PREFIX prefix [...]]"),
    ],
)  # fmt: skip
def test_a_syntax_line_is_understood(line: str, shape: str) -> None:
    assert " ".join(_shape(argument) for argument in parse_syntax(line)) == shape
