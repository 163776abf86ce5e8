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


def test_memory_stats_has_the_figures_of_its_time(early: Redis) -> None:
    early("SET", "k", "v")
    names = early("MEMORY", "STATS")[::2]
    later = Redis(EngineTarget("7.4.0"), 2)("MEMORY", "STATS")[::2]
    hashtables = [b"overhead.db.hashtable.lut", b"overhead.db.hashtable.rehashing", b"db.dict.rehashing.count"]
    assert [name for name in later if name not in names] == [*hashtables, b"allocator.muzzy"]
    assert [name for name in names if name not in later] == [b"db.0"]
