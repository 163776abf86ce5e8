"""CLOCK, SNAPSHOT and SEED from Python over the wire: redis-py, RESP2 and RESP3."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import redis

from tests.clients.conftest import ServerProcess

NOON = 1_700_000_000_000


@pytest.fixture(params=[2, 3])
def client(request: pytest.FixtureRequest, server: ServerProcess) -> redis.Redis:
    return redis.Redis(port=server.port, protocol=request.param, decode_responses=True, legacy_responses=True)


def power(client: redis.Redis, *words: object) -> Any:
    return client.execute_command("REDOUBLE", *words)


def mapping(reply: Any) -> dict[str, Any]:
    """A map: RESP3 gives a dictionary, RESP2 a flat list."""
    return reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2], strict=True))


def test_the_clock_moves_times_to_live_waits_and_ids_together(client: redis.Redis) -> None:
    assert power(client, "CLOCK", "FREEZE", NOON) == NOON
    client.set("session", "ada", ex=1800)
    given: list[object] = []
    worker = threading.Thread(target=lambda: given.append(client.blpop(["jobs"], timeout=3600)))
    worker.start()
    while client.info("clients")["blocked_clients"] == 0:
        pass
    assert power(client, "CLOCK", "ADVANCE", 1_801_000) == NOON + 1_801_000
    state = mapping(power(client, "CLOCK"))
    # The wait of an hour is what comes next.
    assert (state["now"], bool(state["frozen"]), state["next-due"]) == (NOON + 1_801_000, True, NOON + 3_600_000)
    assert client.exists("session") == 0
    assert client.time() == (1_700_001_801, 0)
    assert client.xadd("stream", {"f": "v"}) == f"{NOON + 1_801_000}-0"
    power(client, "CLOCK", "SET", NOON + 3_600_000)
    worker.join(10)
    assert given == [None]
    power(client, "CLOCK", "RESUME")
    assert not mapping(power(client, "CLOCK"))["frozen"]
    with pytest.raises(redis.ResponseError, match="time is not an integer"):
        power(client, "CLOCK", "ADVANCE", "soon")


def test_a_state_is_brought_back_by_its_name(client: redis.Redis) -> None:
    client.rpush("list", "a", "b")
    client.set("text", "v", ex=100)
    script = client.script_load("return 7")
    assert power(client, "SNAPSHOT", "SAVE", "full") == "OK"
    client.flushall()
    client.script_flush()
    client.set("other", "v")
    assert power(client, "SNAPSHOT", "RESTORE", "full") == "OK"
    assert sorted(client.keys()) == ["list", "text"]
    assert client.lrange("list", 0, -1) == ["a", "b"]
    assert 0 < client.ttl("text") <= 100
    assert client.evalsha(script, 0) == 7
    facts = mapping(mapping(power(client, "SNAPSHOT", "LIST"))["full"])
    assert (facts["keys"], bool(facts["clock"])) == (2, False)
    assert power(client, "SNAPSHOT", "DROP", "full") == "OK"
    with pytest.raises(redis.ResponseError, match="no such snapshot"):
        power(client, "SNAPSHOT", "RESTORE", "full")


def test_a_seed_makes_every_random_choice_again(client: redis.Redis) -> None:
    names = [f"m{number}" for number in range(30)]
    client.sadd("set", *names)
    client.hset("hash", mapping=dict.fromkeys(names, 1))
    client.zadd("zset", dict.fromkeys(names, 1))
    client.mset({f"key:{name}": 1 for name in names})

    def draw(seed: int) -> list[object]:
        assert power(client, "SEED", seed) == "OK"
        assert power(client, "SEED") == seed
        return [
            client.srandmember("set", -9), client.hrandfield("hash", -9), client.zrandmember("zset", -9),
            client.randomkey(), client.scan(), client.eval("return tostring(math.random())", 0),
        ]  # fmt: skip

    first = draw(7)
    assert draw(7) == first
    assert draw(8)[0] != first[0]
