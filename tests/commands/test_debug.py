"""DEBUG, above all its digests: the real server must compute the same ones."""

from __future__ import annotations

import pytest

from redouble.commands import FAMILIES
from redouble.engine.digest import full_digest
from redouble.engine.engine import Engine
from tests.kit import Failure, MemoryLink, Redis, Status

NOTHING = Status("0" * 40)


def test_nothing_has_the_digest_zero(redis: Redis) -> None:
    assert redis("DEBUG", "DIGEST") == NOTHING
    assert redis("DEBUG", "DIGEST-VALUE", "none", "none") == [NOTHING, NOTHING]


#: Computed by redis-server 7.0.15: the fixture runs these on it, too.
DIGESTS = {
    "string": ["SET", "k", "bar"],
    "integer": ["SET", "k", "12345"],
    "list": ["RPUSH", "k", "a", "b", "a"],
    "set": ["SADD", "k", "x", "1", "y"],
    "zset": ["ZADD", "k", "1", "a", "2.5", "b", "-inf", "c", "1e30", "d"],
    "hash": ["HSET", "k", "f", "v", "g", "w"],
    "stream": ["XADD", "k", "5-1", "f", "v", "g", "w"],
}


@pytest.mark.parametrize("kind", DIGESTS)
def test_digests_are_those_of_the_real_server(redis: Redis, kind: str, reference: dict[str, bytes]) -> None:
    redis(*DIGESTS[kind])
    [digest] = redis("DEBUG", "DIGEST-VALUE", "k")
    whole = redis("DEBUG", "DIGEST")
    redis("PEXPIRE", "k", 100_000)
    [expiring] = redis("DEBUG", "DIGEST-VALUE", "k")
    assert digest != expiring
    expected = reference.setdefault(kind, digest + whole + expiring)
    assert digest + whole + expiring == expected


@pytest.fixture(scope="module")
def reference() -> dict[str, bytes]:
    """What the first server said that computed a digest; all others must agree."""
    return {}


def test_order_matters_in_lists_and_nowhere_else(redis: Redis) -> None:
    redis("RPUSH", "l1", "a", "b")
    redis("RPUSH", "l2", "b", "a")
    redis("SADD", "s1", "a", "b")
    redis("SADD", "s2", "b", "a")
    list1, list2, set1, set2 = redis("DEBUG", "DIGEST-VALUE", "l1", "l2", "s1", "s2")
    assert list1 != list2
    assert set1 == set2


def full(*commands: list[str]) -> bytes:
    """The full digest of `k` after some commands."""
    engine = Engine(FAMILIES, "7.4.1")
    engine.clock.freeze(1_000_000)
    link = MemoryLink(engine)
    for command in commands:
        link.send(b"".join([b"*%d\r\n" % len(command), *[b"$%d\r\n%b\r\n" % (len(w), w.encode()) for w in command]]))
    return full_digest(engine.space.databases[0].data[b"k"])


def test_the_full_digest_sees_what_the_other_does_not() -> None:
    base = ["SET", "k", "v"]
    assert full(base, ["EXPIRE", "k", "10"]) != full(base, ["EXPIRE", "k", "11"])
    entry = ["XADD", "k", "1-1", "f", "v"]
    group = ["XGROUP", "CREATE", "k", "g", "0"]
    read = ["XREADGROUP", "GROUP", "g", "c", "STREAMS", "k", ">"]
    stages = [full(entry), full(entry, group), full(entry, group, read)]
    assert len(set(stages)) == 3
    assert full(["HSET", "k", "f", "v"], ["HEXPIRE", "k", "9", "FIELDS", "1", "f"]) != full(
        ["HSET", "k", "f", "v"], ["HEXPIRE", "k", "8", "FIELDS", "1", "f"]
    )


def test_object_tells_the_encoding(redis: Redis) -> None:
    redis("SET", "k", "v")
    text = redis("DEBUG", "OBJECT", "k")
    assert text.startswith(b"Value at:0x")
    assert b" encoding:embstr serializedlength:" in text
    assert redis("DEBUG", "OBJECT", "none") == Failure("ERR no such key")


def test_sleep_holds_the_server(redis: Redis) -> None:
    redis("SLOWLOG", "RESET")
    assert redis("DEBUG", "SLEEP", "0.011") == Status("OK")
    assert redis("SLOWLOG", "GET")[0][2] >= 11_000


def test_active_expiry_can_be_switched_off(redis: Redis) -> None:
    assert redis("DEBUG", "SET-ACTIVE-EXPIRE", 0) == Status("OK")
    redis("SET", "k", "v", "PX", 5)
    redis.pass_time(20)
    assert redis("DBSIZE") == 1
    assert redis("GET", "k") is None
    assert redis("DBSIZE") == 0
    assert redis("DEBUG", "SET-ACTIVE-EXPIRE", 1) == Status("OK")


def test_populate_makes_keys_that_are_not_there(redis: Redis) -> None:
    redis("SET", "p:1", "mine")
    assert redis("DEBUG", "POPULATE", 3, "p", 10) == Status("OK")
    assert redis("MGET", "p:0", "p:1", "p:2", "p:3") == [b"value:0\0\0\0", b"mine", b"value:2\0\0\0", None]


def test_the_threshold_of_packed_nodes_has_bounds(redis: Redis) -> None:
    error = Failure("ERR argument must be a memory value bigger than 1 and smaller than 4gb")
    for size in ("x", "-1", "4gb", str((4 << 30) - (1 << 20) + 1)):
        assert redis("DEBUG", "QUICKLIST-PACKED-THRESHOLD", size) == error
    for size in ("4095mb", "1", "0"):
        assert redis("DEBUG", "QUICKLIST-PACKED-THRESHOLD", size) == Status("OK")


def test_populate_counts(redis: Redis) -> None:
    for words in (["x"], ["-1"], [1, "p", "x"], [1, "p", "-1"]):
        reason = "ERR value is out of range, must be positive"
        assert redis("DEBUG", "POPULATE", *words) == Failure(reason)


def test_error_replies_as_told(redis: Redis) -> None:
    assert redis("DEBUG", "ERROR", "MYCODE a\r\nb") == Failure("MYCODE a  b")


def test_protocol_gives_a_reply_of_each_type(redis: Redis) -> None:
    shapes = {
        "string": b"$11\r\nHello World\r\n", "integer": b":12345\r\n", "array": b"*3\r\n:0\r\n:1\r\n:2\r\n",
        "double": b"$5\r\n3.141\r\n", "bignum": b"$37\r\n1234567999999999999999999999999999999\r\n",
        "null": b"$-1\r\n", "set": b"*3\r\n:0\r\n:1\r\n:2\r\n", "map": b"*6\r\n:0\r\n:0\r\n:1\r\n:1\r\n:2\r\n:0\r\n",
        "verbatim": b"$25\r\nThis is a verbatim\nstring\r\n", "true": b":1\r\n", "false": b":0\r\n",
        "attrib": b"$39\r\nSome real reply following the attribute\r\n",
    }  # fmt: skip
    if redis.resp == 3:
        shapes |= {
            "double": b",3.141\r\n", "bignum": b"(1234567999999999999999999999999999999\r\n", "null": b"_\r\n",
            "set": b"~3\r\n:0\r\n:1\r\n:2\r\n", "map": b"%3\r\n:0\r\n#f\r\n:1\r\n#t\r\n:2\r\n#f\r\n",
            "verbatim": b"=29\r\ntxt:This is a verbatim\nstring\r\n", "true": b"#t\r\n", "false": b"#f\r\n",
        }  # fmt: skip
        del shapes["attrib"]
    for name, expected in shapes.items():
        assert redis.raw("DEBUG", "PROTOCOL", name) == expected, name


def test_a_script_does_not_see_the_attributes_of_a_reply(redis: Redis) -> None:
    assert redis("DEBUG", "SET-DISABLE-DENY-SCRIPTS", 1) == Status("OK")
    for resp in (2, 3):
        script = f"redis.setresp({resp}) return redis.call('debug', 'protocol', 'attrib')"
        assert redis("EVAL", script, 0) == b"Some real reply following the attribute"
    assert redis("DEBUG", "SET-DISABLE-DENY-SCRIPTS", 0) == Status("OK")
    assert b"not allowed from script" in redis("EVAL", "return redis.call('debug', 'protocol', 'attrib')", 0)


def test_an_unknown_tool_is_refused(redis: Redis) -> None:
    assert redis("DEBUG", "NONSENSE") == Failure(
        "ERR unknown subcommand or wrong number of arguments for 'NONSENSE'. Try DEBUG HELP."
    )


def test_a_new_replication_id_is_told(redis: Redis) -> None:
    before = redis("INFO", "replication")
    assert redis("DEBUG", "CHANGE-REPL-ID") == Status("OK")
    assert redis("INFO", "replication") != before


@pytest.mark.only("engine")
def test_debug_can_be_forbidden(redis: Redis) -> None:
    redis.target.engine.config.set(b"enable-debug-command", b"no")  # type: ignore[attr-defined]
    assert redis("DEBUG", "DIGEST").startswith(b"ERR DEBUG command not allowed.")
    redis("MULTI")
    assert redis("DEBUG", "DIGEST").startswith(b"ERR DEBUG command not allowed.")
    assert redis("EXEC").startswith(b"EXECABORT")


@pytest.mark.only("engine", "resp2", "resp3")
@pytest.mark.parametrize("depth", [10, 63, 64, 65, 1000])
@pytest.mark.parametrize(
    ("wrap", "unwrap"), [("{at}", "at[1]"), ("{map = {k = at}}", "at.map.k"), ("{set = {[at] = true}}", "next(at.set)")]
)
def test_what_a_script_returns_to_a_script_may_be_nested_deep(redis: Redis, wrap: str, unwrap: str, depth: int) -> None:
    # No other command lets a script see such a reply; the real server ends itself when a script calls EVAL.
    redis("DEBUG", "SET-DISABLE-DENY-SCRIPTS", 1)
    inner = f"redis.setresp(3) local at = {{}} for _ = 1, {depth} do at = {wrap} end return at"
    outer = (
        f"redis.setresp(3) local at = redis.call('EVAL', ARGV[1], 0) for _ = 1, {depth} do at = {unwrap} end return #at"
    )
    assert redis("EVAL", outer, 0, inner) == 0
    redis("DEBUG", "SET-DISABLE-DENY-SCRIPTS", 0)
