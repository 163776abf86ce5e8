"""A real redis-server attaches to Redouble as a replica and ends with the same keys."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator

import pytest

from tests.kit import EngineTarget, RealTarget, Redis, Status
from tests.servers import LoopThread, SocketTarget

#: Commands that are told to replicas by their effect, each with what it needs.
CHANGES = [
    "SET a 1 EX 100", "SETEX b 100 v", "GETEX a PERSIST", "GETEX b PX 50000", "INCRBYFLOAT f 1.5", "EXPIRE f 100",
    "GETSET g 9", "SET gone v", "GETDEL gone", "SET past v", "EXPIREAT past 1000", "SET c 1 GET",
    "SADD s a b c d e f g h i j", "SPOP s", "SPOP s 3", "SADD s2 a b", "SPOP s2 5",
    "RPUSH k a b c d e f", "BLPOP k 0", "BLMOVE k k2 LEFT RIGHT 0", "LMPOP 2 none k RIGHT COUNT 2",
    "BRPOPLPUSH k k2 0", "BLMPOP 0 1 k2 LEFT", "SORT k2 ALPHA STORE k3", "RENAME k3 k5", "COPY k2 k4", "MOVE k4 3",
    "ZADD z 1 a 2 b 3 c 4 d", "BZPOPMIN z 0", "ZMPOP 1 z MAX COUNT 2", "ZADD z2 1 a 2 b", "BZMPOP 0 1 z2 MIN",
    "XADD st 1-1 f v", "XADD st 2-* f v", "XADD st NOMKSTREAM MAXLEN ~ 100 LIMIT 10 * f v", "XADD st * f v",
    "XGROUP CREATE st g 0", "XREADGROUP GROUP g one COUNT 2 STREAMS st >",
    "XREADGROUP GROUP g two NOACK COUNT 1 STREAMS st >", "XACK st g 1-1", "XCLAIM st g three 0 2-0", "XDEL st 2-0",
    "XAUTOCLAIM st g three 0 0", "XTRIM st MAXLEN ~ 1", "HSET h a 1 b 2", "HINCRBYFLOAT h a 0.5",
    "SWAPDB 0 1", "SET after swap", "SWAPDB 0 1", "PFADD hll a b", "BITFIELD bf SET u8 0 200",
]  # fmt: skip


@pytest.fixture
def master(loop_thread: LoopThread) -> Iterator[SocketTarget]:
    target = SocketTarget(loop_thread, "7.0.15")
    yield target
    target.stop()


@pytest.fixture
def replica() -> Iterator[Redis]:
    executable = shutil.which("redis-server")
    if executable is None:
        pytest.skip("redis-server is not installed")
    target = RealTarget(executable)
    client = Redis(target, 2)
    yield client
    client.close()
    target.stop()


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_real_server_follows_every_change(master: SocketTarget, replica: Redis) -> None:
    redis = Redis(master, 2)
    redis("SET", "before", 1)
    redis("RPUSH", "list", "x", "y")
    replica("REPLICAOF", "127.0.0.1", master.port)
    wait_until(lambda: b"master_link_status:up" in replica("INFO", "replication"))
    for change in CHANGES:
        redis(*change.split())
    redis("EVAL", "redis.call('SET', 'e', 1) redis.call('INCR', 'e') return redis.call('SPOP', 's')", 0)
    redis("RESTORE", "r", 100000, redis("DUMP", "a"))
    redis("MULTI")
    redis("SET", "m", 1)
    redis("EXPIRE", "m", 1000)
    redis("EXEC")
    redis("SET", "last", 1)
    wait_until(lambda: replica("GET", "last") == b"1")
    assert redis("DEBUG", "DIGEST") == replica("DEBUG", "DIGEST")
    for key in redis("KEYS", "*"):
        assert abs(redis("PTTL", key) - replica("PTTL", key)) < 1000, key
    assert redis("XPENDING", "st", "g") == replica("XPENDING", "st", "g")
    assert b"connected_slaves:1" in redis("INFO", "replication")
    assert b"flags=S" in redis("CLIENT", "LIST", "TYPE", "replica")
    assert redis("WAIT", 1, 100) == 1
    redis.close()


def commands_of(data: bytes) -> list[list[bytes]]:
    """The commands in a part of the stream."""
    found = []
    lines = data.split(b"\r\n")
    at = 0
    while at < len(lines) - 1:
        count = int(lines[at][1:])
        found.append(lines[at + 2 : at + 2 + 2 * count : 2])
        at += 1 + 2 * count
    return found


class Stream:
    """An engine, a client of it, and what a replica hears."""

    def __init__(self) -> None:
        self.target = EngineTarget("7.0.15")
        self.redis = Redis(self.target, 2)
        self._replica = self.target.connect()
        self._replica.send(b"SYNC\r\n")
        size, _, file = self._replica.receive(1).partition(b"\r\n")
        assert size == b"$%d" % len(file)

    def heard(self) -> list[list[bytes]]:
        return commands_of(self._replica.receive(1))


def test_one_change_is_told_alone_and_several_within_multi() -> None:
    stream = Stream()
    stream.redis("SET", "a", 1)
    assert stream.heard() == [[b"SELECT", b"0"], [b"SET", b"a", b"1"]]
    stream.redis("EVAL", "redis.call('GET', 'a') return redis.call('DEL', 'a')", 0)
    assert stream.heard() == [[b"DEL", b"a"]]
    stream.redis("EVAL", "redis.call('SET', 'a', 1) return redis.call('SET', 'b', 1)", 0)
    assert stream.heard() == [[b"MULTI"], [b"SET", b"a", b"1"], [b"SET", b"b", b"1"], [b"EXEC"]]


def test_what_changes_nothing_is_not_told() -> None:
    stream = Stream()
    for words in ("DEL nothing", "GET nothing", "SADD s a", "SADD s a", "SREM s b", "SPOP none", "PING"):
        stream.redis(*words.split())
    assert stream.heard() == [[b"SELECT", b"0"], [b"SADD", b"s", b"a"]]


def test_a_key_that_expires_is_told_as_deleted() -> None:
    stream = Stream()
    stream.redis("SET", "a", 1, "PXAT", 1 << 42)
    assert stream.heard()[1] == [b"SET", b"a", b"1", b"PXAT", b"%d" % (1 << 42)]
    stream.redis("SET", "a", 1, "PX", 5)
    stream.heard()
    stream.target.pass_time(10)
    assert stream.heard() == [[b"DEL", b"a"]]


def test_a_pop_that_had_to_wait_is_told_as_a_pop() -> None:
    stream = Stream()
    other = stream.redis.another()
    other.send("BLPOP", "l", 0)
    stream.redis("RPUSH", "l", "a")
    assert stream.heard() == [[b"SELECT", b"0"], [b"RPUSH", b"l", b"a"], [b"LPOP", b"l"]]


def test_a_published_message_is_told() -> None:
    stream = Stream()
    stream.redis("PUBLISH", "channel", "message")
    assert stream.heard()[1:] == [[b"PUBLISH", b"channel", b"message"]]


def test_a_server_that_follows_another_lets_its_replicas_go() -> None:
    stream = Stream()
    assert stream.redis("REPLICAOF", "127.0.0.1", 1) == Status("OK")
    assert b"connected_slaves:0" in stream.redis("INFO", "replication")
