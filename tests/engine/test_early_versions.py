"""What a server said before 7.2 and says no more: on Redouble answering as 7.0.15, and on that very server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kit import EngineTarget, Failure, RealTarget, Redis, Status
from tests.wire import encode


@pytest.fixture(params=["engine", "real"])
def early(request: pytest.FixtureRequest, real_server: RealTarget | None) -> Iterator[Redis]:
    target: EngineTarget | RealTarget = EngineTarget("7.0.15")
    if request.param == "real":
        if real_server is None or not "7.0" <= real_server.version < "7.2":
            pytest.skip("no redis-server 7.0 is installed")
        real_server.empty()
        target = real_server
    client = Redis(target, 3)
    yield client
    client("ACL", "DELUSER", "bob")
    client.close()


def test_a_message_to_oneself_comes_before_the_reply(early: Redis) -> None:
    early("SUBSCRIBE", "ch")
    early.send_bytes(encode("PUBLISH", "ch", "hi") + encode("EVAL", "return redis.call('PUBLISH', 'ch', 'ho')", 0))
    assert [early.receive() for _ in range(4)] == [[b"message", b"ch", b"hi"], 1, [b"message", b"ch", b"ho"], 1]


def test_later_it_follows_the_reply() -> None:
    later = Redis(EngineTarget("7.2.0"), 3)
    later("SUBSCRIBE", "ch")
    later.send("PUBLISH", "ch", "hi")
    assert [later.receive() for _ in range(2)] == [1, [b"message", b"ch", b"hi"]]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("redis.call('DEL', 'a')", b"can't run this command or subcommand"),
        ("redis.call('GET', 'x')", b"can't access at least one of the keys mentioned in the command arguments"),
        ("redis.call('PUBLISH', 'x', '1')", b"can't publish to the channel mentioned in the command"),
    ],
)
def test_a_script_is_told_what_its_user_may_not_do(early: Redis, script: str, reason: bytes) -> None:
    early("ACL", "SETUSER", "bob", "reset", "on", "nopass", "~a*", "&a*", "+eval", "+get", "+publish")
    bob = early.another()
    assert bob("AUTH", "bob", "x") == Status("OK")
    error = bob("EVAL", script, 0)
    assert isinstance(error, Failure)
    assert error.startswith(b"ERR The user executing the script " + reason + b" script: ")


def test_the_smallest_integer_was_taken_by_lists_and_stayed_negative(early: Redis) -> None:
    early("RPUSH", "k", "a", "b", "a", "c", "a")
    assert early("LPOS", "k", "a", "RANK", -(2**63)) == 4
    assert early("LPOS", "k", "a", "RANK", -(2**63), "COUNT", 1) == [4, 2, 0]
    assert early("LPOS", "k", "a", "RANK", -(2**63), "COUNT", 1, "MAXLEN", 3) == [4, 2]
    assert early("LPOS", "k", "a", "RANK", -(2**63), "x") == Failure("ERR syntax error")
    assert early("LREM", "k", -(2**63), "a") == 3


def test_a_negative_zero_was_an_argument_with_its_sign(early: Redis) -> None:
    script = "local zero = tonumber('-0') return {redis.call('ECHO', zero), redis.pcall('ECHO', zero), %s}"
    assert early("EVAL", script % "redis.call('ECHO', 0)", 0) == [b"-0", b"-0", b"0"]
    assert early("EVAL", "redis.call('RPUSH', 'k', 1, tonumber('-0'), unpack(ARGV))", 0, *"abc" * 20) is None
    assert early("LRANGE", "k", 0, 2) == [b"1", b"-0", b"a"]


def test_memory_stats_has_the_figures_of_its_time(early: Redis) -> None:
    early("SET", "k", "v")
    names = early("MEMORY", "STATS")[::2]
    later = Redis(EngineTarget("7.4.0"), 2)("MEMORY", "STATS")[::2]
    hashtables = [b"overhead.db.hashtable.lut", b"overhead.db.hashtable.rehashing", b"db.dict.rehashing.count"]
    assert [name for name in later if name not in names] == [*hashtables, b"allocator.muzzy"]
    assert [name for name in names if name not in later] == [b"db.0"]


def test_hello_does_each_option_when_it_reads_it(early: Redis) -> None:
    early("ACL", "SETUSER", "bob", "on", "nopass", "~*", "+@all")
    assert early("HELLO", 3, "SETNAME", "first", "AUTH", "bob", "x", "NOSUCH").startswith(b"ERR Syntax error in HELLO")
    assert early("CLIENT", "GETNAME") == b"first"
    assert early("ACL", "WHOAMI") == b"bob"


def test_later_hello_reads_all_options_first() -> None:
    later = Redis(EngineTarget("7.2.0"), 3)
    assert later("HELLO", 3, "SETNAME", "first", "NOSUCH") == Failure("ERR Syntax error in HELLO option 'NOSUCH'")
    assert later("CLIENT", "GETNAME") is None


def test_command_getkeys_needs_more_than_a_name(early: Redis) -> None:
    for name in ("GETKEYS", "GETKEYSANDFLAGS"):
        wrong = Failure(f"ERR wrong number of arguments for 'command|{name.lower()}' command")
        assert early("COMMAND", name, "PING") == wrong
        assert early("COMMAND", name, "GET") == wrong


def test_a_new_user_says_nothing_of_payloads_before_it_is_reset(early: Redis) -> None:
    early("ACL", "SETUSER", "bob")
    assert early("ACL", "GETUSER", "bob")[:2] == [b"flags", [b"off"]]
    early("ACL", "SETUSER", "bob", "reset")
    assert early("ACL", "GETUSER", "bob")[:2] == [b"flags", [b"off", b"sanitize-payload"]]


def test_samples_have_no_upper_bound(early: Redis) -> None:
    assert early("CONFIG", "SET", "maxmemory-samples", 65) == Status("OK")
    assert early("CONFIG", "SET", "maxmemory-samples", 5) == Status("OK")


def test_later_samples_are_at_most_64() -> None:
    refused = Redis(EngineTarget("7.4.0"), 3)("CONFIG", "SET", "maxmemory-samples", 65)
    assert refused.endswith(b"argument must be between 1 and 64 inclusive")
