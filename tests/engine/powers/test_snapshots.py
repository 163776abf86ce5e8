"""Snapshots against a naive model: after any commands a restored state is what it was when it was saved.

The model copies the outside of every key: DUMP, TTLs, encoding, idle time, the full digest and the order of keys.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redouble.commands.keys import encoding_name
from redouble.datatypes.hashvalue import HashValue
from redouble.datatypes.stream import Stream
from redouble.engine.digest import full_digest
from redouble.engine.engine import Engine
from redouble.errors import CommandError
from redouble.keyspace.database import NEVER
from redouble.persistence.format import format_version
from redouble.persistence.payload import dump_value
from tests.doubles import DoubleEngine
from tests.kit import Failure, Redis, Status

NOON = 1_700_000_000_000

STRINGS = ["s1", "s2"]
LISTS = ["l1", "l2"]
SETS = ["set1", "set2"]
ZSETS = ["z1", "z2"]
HASHES = ["h1", "h2"]
STREAMS = ["x1", "x2"]
KEYS = STRINGS + LISTS + SETS + ZSETS + HASHES + STREAMS
ITEMS = ["1", "2", "-3", "x", "y", "long" * 30]
COUNTS = ["0", "1", "2", "3"]
SPANS = ["1", "50", "700", "2000", "5000"]
NAMES = ["p", "q", "r"]

#: What is there at first.
START = [
    ["SET", "s1", "7"], ["RPUSH", "l1", "1", "x"], ["SADD", "set1", "1", "2"], ["ZADD", "z1", "1", "x", "2", "y"],
    ["HSET", "h1", "x", "1", "y", "2"], ["HPEXPIRE", "h1", "3000", "FIELDS", "1", "x"], ["PEXPIRE", "l1", "4000"],
    ["XADD", "x1", "*", "f", "v"], ["XADD", "x1", "*", "f", "v"], ["XGROUP", "CREATE", "x1", "g", "0"],
    ["XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", "x1", ">"], ["PFADD", "s2", "x", "y"],
]  # fmt: skip


#: Requests; in place of a list one of its items is drawn.
COMMANDS: list[list[str | list[str]]] = [
    ["SET", STRINGS, ITEMS],
    ["SET", STRINGS, ITEMS, "PX", SPANS],
    ["GETEX", STRINGS, "PX", SPANS],
    ["APPEND", STRINGS, ITEMS],
    ["SETRANGE", STRINGS, COUNTS, ITEMS],
    ["PFADD", STRINGS, ITEMS],
    ["PFCOUNT", STRINGS],
    ["RPUSH", LISTS, ITEMS, ITEMS],
    ["LPOP", LISTS],
    ["LINSERT", LISTS, "BEFORE", ITEMS, ITEMS],
    ["LMOVE", LISTS, LISTS, "LEFT", "RIGHT"],
    ["SADD", SETS, ITEMS, ITEMS, ITEMS, ITEMS],
    ["SREM", SETS, ITEMS],
    ["SPOP", SETS],
    ["SUNIONSTORE", SETS, SETS, SETS],
    ["ZADD", ZSETS, COUNTS, ITEMS],
    ["ZPOPMIN", ZSETS],
    ["ZINCRBY", ZSETS, COUNTS, ITEMS],
    ["HSET", HASHES, ITEMS, ITEMS],
    ["HDEL", HASHES, ITEMS],
    ["HPEXPIRE", HASHES, SPANS, "FIELDS", "1", ITEMS],
    ["HPERSIST", HASHES, "FIELDS", "1", ITEMS],
    ["XADD", STREAMS, "*", ITEMS, ITEMS],
    ["XTRIM", STREAMS, "MAXLEN", COUNTS],
    ["XGROUP", "CREATE", STREAMS, "g", "0", "MKSTREAM"],
    ["XREADGROUP", "GROUP", "g", ITEMS, "COUNT", "1", "STREAMS", STREAMS, ">"],
    ["XAUTOCLAIM", STREAMS, "g", ITEMS, "0", "0"],
    ["XACK", STREAMS, "g", f"{NOON}-0", f"{NOON}-1"],
    ["EVAL", "return redis.call('RPUSH', KEYS[1], ARGV[1])", "1", LISTS, ITEMS],
    ["PEXPIRE", KEYS, SPANS],
    ["PERSIST", KEYS],
    ["DEL", KEYS],
    ["RENAME", KEYS, KEYS],
    ["COPY", KEYS, KEYS, "REPLACE"],
    ["MOVE", KEYS, "1"],
    ["SORT", SETS, "ALPHA", "STORE", LISTS],
    ["SMEMBERS", SETS],
    ["SRANDMEMBER", SETS, "2"],
    ["SCAN", "0", "COUNT", "1"],
    ["SELECT", ["0", "1"]],
    *[["REDOUBLE", "CLOCK", "ADVANCE", SPANS]] * 4,
    *[["TOUCH", KEYS]] * 2,
]
#: Less often.
UPHEAVALS: list[list[str | list[str]]] = [["SWAPDB", "0", "1"], ["FLUSHDB"], ["FLUSHALL"]]


def drawn(random: Random) -> list[str]:
    """A request."""
    template = random.choice(UPHEAVALS if random.random() < 0.03 else COMMANDS)
    return [part if isinstance(part, str) else random.choice(part) for part in template]


def outside(engine: Engine, redis: Redis) -> object:
    """All that shows of all keys, in order. The look counts as no use."""
    found: list[object] = []
    for database in engine.space.databases[:2]:
        for key, entry in database.data.items():
            value = entry.value
            dump = dump_value(value, format_version(engine.version), engine.limits, None)
            deadlines = sorted(value.deadlines.items()) if isinstance(value, HashValue) else []
            idle = []
            if isinstance(value, Stream):
                consumers = [each for group in value.groups.values() for each in group.consumers.values()]
                idle = [(each.name, each.seen_time, each.active_time) for each in consumers]
            facts = (encoding_name(value), entry.deadline, entry.access, entry.frequency, deadlines, idle)
            found.append((database.index, key, dump, full_digest(entry), facts))
        found.append(database.volatile)
    return engine.clock.now(), found


def check(engine: Engine) -> None:
    """Nothing is out of joint."""
    heap = set(engine.space.deadlines)
    for database in engine.space.databases:
        assert database.volatile == sum(entry.deadline != NEVER for entry in database.data.values())
        for key, entry in database.data.items():
            if not isinstance(entry.value, (bytes, bytearray)):
                entry.value._check()
            if entry.deadline != NEVER:
                assert (entry.deadline, database.index, key) in heap
    assert engine.stats.unexpected_errors == 0


@given(seed=st.integers(0, 1 << 32))
@settings(max_examples=60, deadline=None)
def test_a_restored_state_is_what_it_was_whatever_happened_since(seed: int) -> None:
    random = Random(seed)
    target = DoubleEngine()
    engine = target.engine
    redis = Redis(target, 2)
    engine.timeline.freeze(NOON)
    engine.config.set(b"set-max-listpack-entries", b"3")
    for argv in START:
        assert not isinstance(redis(*argv), Failure), argv
    model = {"p": outside(engine, redis)}
    engine.snapshots.save(b"p", clock=True)
    for _ in range(40):
        for _ in range(random.randrange(1, 5)):
            redis(*drawn(random))
        name = random.choice(NAMES)
        action = random.random()
        if action < 0.25:
            model[name] = outside(engine, redis)
            engine.snapshots.save(name.encode(), clock=True)
            assert outside(engine, redis) == model[name]
        elif action < 0.9 and name in model:
            engine.snapshots.restore(name.encode())
            assert outside(engine, redis) == model[name]
        elif name in model and name != "p":
            engine.snapshots.drop(name.encode())
            del model[name]
        check(engine)


# -- by hand ----------------------------------------------------------------------------------------


@pytest.fixture
def target() -> DoubleEngine:
    return DoubleEngine()


@pytest.fixture
def redis(target: DoubleEngine) -> Redis:
    return Redis(target, 2)


def test_a_loaded_file_does_not_pass_for_the_state_before(target: DoubleEngine, redis: Redis, tmp_path: object) -> None:
    # A client may not change it: CONFIG SET dir is protected.
    target.engine.config.set(b"dir", str(tmp_path).encode())
    redis("RPUSH", "l", "a")
    assert redis("SAVE") == Status("OK")
    redis("RPUSH", "l", "b")
    target.engine.snapshots.save(b"base")
    # The file's list takes the place of the other one, and nobody is told.
    assert redis("DEBUG", "RELOAD", "NOSAVE", "NOFLUSH", "MERGE") == Status("OK")
    assert redis("LRANGE", "l", 0, -1) == [b"a"]
    target.engine.snapshots.restore(b"base")
    assert redis("LRANGE", "l", 0, -1) == [b"a", b"b"]


def test_two_snapshots_share_what_did_not_change_between_them(target: DoubleEngine, redis: Redis) -> None:
    snapshots = target.engine.snapshots
    redis("RPUSH", "same", "a")
    redis("RPUSH", "other", "a")
    snapshots.save(b"p")
    redis("RPUSH", "other", "b")
    snapshots.save(b"q")
    p, q = (snapshots.find(name).databases[0] for name in (b"p", b"q"))
    assert p[b"same"].value is q[b"same"].value
    assert p[b"other"].value is not q[b"other"].value
    for name, items in ((b"p", [b"a"]), (b"q", [b"a", b"b"]), (b"p", [b"a"])):
        snapshots.restore(name)
        assert redis("LRANGE", "other", 0, -1) == items
        assert redis("LRANGE", "same", 0, -1) == [b"a"]
        redis("RPUSH", "same", "spoilt")
    assert [list(entries[b"same"].value.items()) for entries in (p, q)] == [[b"a"], [b"a"]]


def test_only_what_changed_is_copied(target: DoubleEngine, redis: Redis) -> None:
    redis("RPUSH", "same", "a")
    redis("RPUSH", "other", "a")
    snapshots, data = target.engine.snapshots, target.engine.space.databases[0]
    snapshots.save(b"base")
    same, other = (data.data[key].value for key in (b"same", b"other"))
    redis("RPUSH", "other", "b")
    redis("FLUSHALL")
    snapshots.restore(b"base")
    assert data.data[b"same"].value is same
    assert data.data[b"other"].value is not other


def test_nothing_is_observed_while_the_last_state_was_empty(target: DoubleEngine, redis: Redis) -> None:
    engine = target.engine
    engine.snapshots.save(b"empty")
    assert (engine.observers, engine.space.interest) == (0, 0)
    redis("SET", "k", "v")
    engine.snapshots.save(b"full")
    assert engine.observers
    assert engine.space.interest
    engine.snapshots.restore(b"empty")
    assert (engine.observers, engine.space.interest) == (0, 0)
    engine.snapshots.restore(b"full")
    engine.snapshots.drop(b"full")
    assert (engine.observers, engine.space.interest) == (0, 0)
    assert engine.snapshots.names() == [b"empty"]
    with pytest.raises(CommandError):
        engine.snapshots.find(b"full")


@given(size=st.integers(1, 40))
@settings(max_examples=5, deadline=None)
def test_a_full_state_costs_no_copies_after_an_empty_one(size: int) -> None:
    target = DoubleEngine()
    redis = Redis(target, 2)
    snapshots, data = target.engine.snapshots, target.engine.space.databases[0]
    snapshots.save(b"empty")
    for number in range(size):
        redis("RPUSH", f"l{number}", "a")
    snapshots.save(b"full")
    before = [entry.value for entry in data.data.values()]
    snapshots.restore(b"empty")
    redis("RPUSH", "l0", "other")
    snapshots.restore(b"full")
    assert all(old is new.value for old, new in zip(before, data.data.values(), strict=True))
