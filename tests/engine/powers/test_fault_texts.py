"""Every error that a fault gives by one word, against a redis-server that has been brought into that very state.

No text stands here: what the real server says is what ours must say, and hang up where it does. Only the address of
a redirection differs.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from redouble.engine.powers.fault_errors import PRESETS
from tests.doubles import DoubleEngine
from tests.kit import Failure, RealTarget, Redis, Status

OK = Status("OK")
#: Seconds that a real server may take for what it does in its own time.
PATIENCE = 10


def started(*options: str) -> Redis:
    executable = shutil.which("redis-server")
    if executable is None:
        pytest.skip("redis-server is not installed")
    return Redis(RealTarget(executable, *options), 2)


@pytest.fixture
def single() -> Iterator[Redis]:
    """A real server for one test, so that nothing need be undone."""
    redis = started("--enable-protected-configs", "yes")
    yield redis
    # What would keep it from ending.
    redis("SCRIPT", "KILL")
    redis("CONFIG", "SET", "save", "", "key-load-delay", 0)
    redis.target.stop()


@pytest.fixture
def lone_node() -> Iterator[Redis]:
    """A real cluster that lacks all slots but that of the key `foo`."""
    redis = started("--cluster-enabled", "yes")
    assert redis("CLUSTER", "ADDSLOTS", redis("CLUSTER", "KEYSLOT", "foo")) == OK
    yield redis
    redis.target.stop()


@pytest.fixture(scope="module")
def nodes() -> Iterator[list[Redis]]:
    """A real cluster of two nodes. The first has all slots, and `foo` is about to be moved to the second."""
    nodes = [started("--cluster-enabled", "yes") for _ in range(2)]
    first, second = nodes
    assert first("CLUSTER", "ADDSLOTSRANGE", 0, 16383) == OK
    assert first("CLUSTER", "MEET", "127.0.0.1", second.target.port) == OK
    ids = [node("CLUSTER", "MYID") for node in nodes]
    for at, node in enumerate(nodes):
        _wait(node, "NODES", ids[1 - at])
        _wait(node, "INFO", b"cluster_state:ok")
    slot = first("CLUSTER", "KEYSLOT", "foo")
    assert first("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1]) == OK
    assert second("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0]) == OK
    yield nodes
    for node in nodes:
        node.target.stop()


def _wait(node: Redis, word: str, text: bytes) -> None:
    node.wait_until(lambda: text in node("CLUSTER", word), PATIENCE)


# -- how a server by itself is brought into a state, before the request or while that waits -----------------

Change = Callable[[Redis], None]


def configure(*words: object) -> Change:
    def change(redis: Redis) -> None:
        assert redis("CONFIG", "SET", *words) == OK

    return change


def follow(redis: Redis) -> None:
    assert redis("REPLICAOF", "127.0.0.1", "1") == OK


def follow_out_of_date(redis: Redis) -> None:
    configure("replica-serve-stale-data", "no")(redis)
    follow(redis)


def follow_while_one_waits(redis: Redis) -> None:
    redis.wait_blocked(1)
    follow(redis)


def fail_to_save(redis: Redis) -> None:
    lost = Path(redis("CONFIG", "GET", "dir")[1].decode(), "lost")
    lost.mkdir()
    configure("dir", str(lost), "save", "3600 1")(redis)
    lost.rmdir()
    redis("BGSAVE")
    redis.wait_until(lambda: b"rdb_last_bgsave_status:err" in redis("INFO", "persistence"), PATIENCE)


def load(redis: Redis) -> None:
    # 20 ms for each of 500 keys, and it looks at its clients after each.
    configure("key-load-delay", 20_000, "loading-process-events-interval-bytes", 1024)(redis)
    assert redis("DEBUG", "POPULATE", 500, "key", 4000) == OK
    redis.another(2).send("DEBUG", "RELOAD")
    redis.wait_until(lambda: isinstance(redis("PING"), Failure), PATIENCE)


def run_a_script(redis: Redis) -> None:
    configure("busy-reply-threshold", 1)(redis)
    redis.another(2).send("EVAL", "while true do end", 0)
    redis.wait_until(lambda: isinstance(redis("PING"), Failure), PATIENCE)


def have_a_list(redis: Redis) -> None:
    assert redis("RPUSH", "list", "item") == 1


#: The request that is refused, and what is done before.
SINGLE: dict[str, tuple[str, Change]] = {
    "BUSY": ("GET a", run_a_script),
    "LOADING": ("GET a", load),
    "MASTERDOWN": ("GET a", follow_out_of_date),
    # It says so before it is asked.
    "MAXCLIENTS": ("", configure("maxclients", 1)),
    "MISCONF": ("SET a v", fail_to_save),
    "NOAUTH": ("GET a", configure("requirepass", "secret")),
    "NOREPLICAS": ("SET a v", configure("min-replicas-to-write", 1)),
    "NOSCRIPT": (f"EVALSHA {'0' * 40} 0", lambda redis: None),
    "OOM": ("SET a v", configure("maxmemory", 1)),
    "READONLY": ("SET a v", follow),
    "WRONGTYPE": ("GET list", have_a_list),
}
#: The same, where the request is there before.
WAITING: dict[str, tuple[str, Change]] = {"UNBLOCKED": ("BLPOP q 0", follow_while_one_waits)}
#: The node that is asked, and the requests.
CLUSTER: dict[str, tuple[int, list[str]]] = {
    "ASK": (0, ["GET foo"]),
    "CROSSSLOT": (0, ["MGET foo bar"]),
    "MOVED": (1, ["GET foo"]),
    "TRYAGAIN": (1, ["ASKING", "MGET foo {foo}2"]),
}
LONE_NODE = {"CLUSTERDOWN": "GET foo"}


def ending(client: Redis) -> tuple[str, bool]:
    """The error that a client gets, without an address, and whether the server hangs up after it."""
    reply = client.receive(PATIENCE)
    assert isinstance(reply, Failure), reply
    try:
        client("PING")
        closed = False
    except (EOFError, ConnectionError):
        closed = True
    return re.sub(r" \S+:\d+$", " (address)", reply.decode()), closed


def ours(name: str, request: str) -> tuple[str, bool]:
    target = DoubleEngine("7.0.15")
    redis = Redis(target, 2)
    assert redis("REDOUBLE", "FAULT", "ADD", "state", "ERROR", name) == OK
    redis.send(*(request or "PING").split())
    told = ending(redis)
    target.stop()
    return told


@pytest.mark.parametrize("name", SINGLE)
def test_an_error_by_one_word_is_what_a_real_server_in_that_state_says(single: Redis, name: str) -> None:
    request, change = SINGLE[name]
    change(single)
    client = single.another(2)
    if request:
        client.send(*request.split())
    assert ours(name, request) == ending(client)


@pytest.mark.parametrize("name", WAITING)
def test_it_is_what_a_real_server_says_to_who_waits_when_the_state_comes(single: Redis, name: str) -> None:
    request, change = WAITING[name]
    client = single.another(2)
    client.send(*request.split())
    change(single)
    assert ours(name, request) == ending(client)


@pytest.mark.parametrize("name", CLUSTER)
def test_it_is_what_a_node_of_a_real_cluster_says(nodes: list[Redis], name: str) -> None:
    at, requests = CLUSTER[name]
    client = nodes[at].another(2)
    for request in requests[:-1]:
        assert client(*request.split()) == OK
    client.send(*requests[-1].split())
    assert ours(name, requests[-1]) == ending(client)


@pytest.mark.parametrize("name", LONE_NODE)
def test_it_is_what_a_real_cluster_without_all_slots_says(lone_node: Redis, name: str) -> None:
    client = lone_node.another(2)
    client.send(*LONE_NODE[name].split())
    assert ours(name, LONE_NODE[name]) == ending(client)


def test_every_error_by_one_word_is_compared() -> None:
    assert sorted([*SINGLE, *WAITING, *CLUSTER, *LONE_NODE]) == sorted(name.decode() for name in PRESETS)
