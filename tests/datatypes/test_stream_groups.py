"""Consumer groups, against redis-server: random steps on both, then all that can be seen is compared."""

import random
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from redouble.datatypes.limits import Limits
from redouble.datatypes.stream import Stream
from redouble.datatypes.stream_delivery import autoclaim, claim, lag, read_again, read_new
from redouble.datatypes.stream_groups import UNKNOWN, Consumer, Group, Pending, PendingList
from redouble.datatypes.stream_id import MAX_ID, format_id, make_id

if TYPE_CHECKING:
    from tests.datatypes.conftest import RealRedis

NOW = 2_000_000_000_000
LONG_AGO = 1000
LONG = 10**9
CONSUMERS = [b"alice", b"bob", b"Zoe"]
OPEN_END = format_id(MAX_ID)


def test_an_acknowledged_entry_is_nobodys() -> None:
    group = Group(0)
    alice = group.add_consumer(b"alice", NOW)
    group.assign(5, alice, NOW, 1)
    assert group.acknowledge(5)
    assert not group.acknowledge(5)
    assert len(group.pending) == len(alice.pending) == 0


def test_deleting_a_consumer_drops_what_was_pending_for_it_only() -> None:
    group = Group(0)
    alice, bob = group.add_consumer(b"alice", NOW), group.add_consumer(b"bob", NOW)
    for id in range(10):
        group.assign(id, alice if id < 4 else bob, NOW, 1)
    assert group.delete_consumer(b"alice") == 4
    assert group.delete_consumer(b"alice") == 0
    assert group.pending_by_consumer() == [(b"bob", 6)]
    group._check()


def test_a_copy_does_not_follow_the_original() -> None:
    group = Group(7, 3)
    alice = group.add_consumer(b"alice", NOW)
    group.assign(5, alice, NOW, 2)
    copy = group.copy()
    group.acknowledge(5)
    copy._check()
    pending = copy.pending.get(5)
    assert pending is not None
    assert (pending.consumer, pending.delivery_count) == (b"alice", 2)
    assert (copy.last_id, copy.entries_read) == (7, 3)


def test_a_read_by_id_shows_deleted_entries_without_fields() -> None:
    stream = Stream(Limits())
    for number in (1, 2):
        stream.append(number, [b"f", b"v"])
    group = Group(0)
    alice = group.add_consumer(b"alice", NOW)
    read_new(stream, group, alice, 0, NOW)
    stream.delete([1])
    assert read_again(stream, alice, 0, 0, NOW + 5) == [(1, None), (2, [b"f", b"v"])]
    times = [(pending.delivery_time, pending.delivery_count) for pending in alice.pending.all()]
    assert times == [(NOW, 1), (NOW + 5, 2)]


def test_only_an_entry_makes_a_consumer_active() -> None:
    stream = Stream(Limits())
    group = Group(0)
    alice = group.add_consumer(b"alice", NOW)
    assert read_new(stream, group, alice, 0, NOW) == []
    assert alice.active_time == -1
    stream.append(1, [b"f", b"v"])
    read_new(stream, group, alice, 0, NOW + 1)
    assert alice.active_time == NOW + 1


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 60)), max_size=150))
def test_a_pending_list_is_sorted_whatever_comes_and_goes(steps: list[tuple[bool, int]]) -> None:
    listed = PendingList()
    model: dict[int, Pending] = {}
    for adding, id in steps:
        if adding:
            pending = Pending(id, b"c", id % 5, 1)
            listed.add(pending)
            model[id] = pending
        else:
            assert listed.pop(id) is model.pop(id, None)
        listed._check()
        assert len(listed) == len(model)
        assert listed.all() == [model[id] for id in sorted(model)]
        if model:
            assert (listed.first_id(), listed.last_id()) == (min(model), max(model))
    late = [model[id] for id in sorted(model) if 10 <= id <= 50 and id % 5 <= 2]
    assert listed.range(10, 50, 0, 2) == late
    assert listed.range(10, 50, 3, 2) == late[:3]


class Pair:
    """A stream with one group, here and on the real server."""

    def __init__(self, real: "RealRedis") -> None:
        self.real = real
        self.stream = Stream(Limits())
        self.group = Group(0, UNKNOWN)
        self.stream.groups[b"g"] = self.group
        real.ask_all(
            [
                ("CONFIG", "SET", "stream-node-max-entries", 100),
                ("CONFIG", "SET", "stream-node-max-bytes", 4096),
                ("DEL", "s"),
                ("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM"),
            ]
        )

    def consumer(self, rng: random.Random) -> Consumer:
        """One of the consumers, created here and there before anything is asked for it."""
        name = rng.choice(CONSUMERS)
        consumer = self.group.consumers.get(name)
        if consumer is None:
            consumer = self.group.add_consumer(name, NOW)
            assert self.real.ask("XGROUP", "CREATECONSUMER", "s", "g", name) == 1
        return consumer

    def add(self, rng: random.Random) -> None:
        id = self.stream.last_id + rng.randrange(1, 3)
        self.stream.append(id, [b"f", b"%d" % id])
        assert self.real.ask("XADD", "s", format_id(id), "f", id) == format_id(id)

    def delete_or_trim(self, rng: random.Random) -> None:
        kind = rng.randrange(6)
        if kind == 0:
            bound = rng.randrange(self.stream.length + 1)
            assert self.real.ask("XTRIM", "s", "MAXLEN", bound) == self.stream.trim_by_length(bound)
        elif kind == 1:
            id, added = self.stream.last_id + rng.randrange(2), self.stream.length + rng.randrange(5)
            words: list[bytes | int | str] = ["XSETID", "s", format_id(id), "ENTRIESADDED", added]
            deleted = rng.choice([0, 0, max(id - 3, 0)])
            words += ["MAXDELETEDID", format_id(deleted)]
            assert self.real.ask(*words) == b"OK"
            self.stream.set_id(id, added, deleted)
        else:
            ids = [rng.randrange(self.stream.last_id + 2) for _ in range(kind - 1)]
            assert self.real.ask("XDEL", "s", *[format_id(id) for id in ids]) == self.stream.delete(ids)

    def read_new(self, rng: random.Random) -> None:
        consumer, count, noack = self.consumer(rng), rng.randrange(4), rng.random() < 0.2
        words: list[bytes | int | str] = ["XREADGROUP", "GROUP", "g", consumer.name, "COUNT", count]
        reply = self.real.ask(*words, *(["NOACK"] if noack else []), "STREAMS", "s", ">")
        ours = read_new(self.stream, self.group, consumer, count, NOW, noack)
        assert (reply[0][1] if reply else []) == as_reply(ours)

    def read_again(self, rng: random.Random) -> None:
        consumer, count, after = self.consumer(rng), rng.randrange(4), rng.randrange(self.stream.last_id + 2)
        words = ("XREADGROUP", "GROUP", "g", consumer.name, "COUNT", count, "STREAMS", "s", format_id(after))
        ours = read_again(self.stream, consumer, after + 1, count, NOW)
        assert self.real.ask(*words) == [[b"s", as_reply(ours)]]

    def acknowledge(self, rng: random.Random) -> None:
        ids = [rng.randrange(self.stream.last_id + 2) for _ in range(rng.randrange(1, 5))]
        ours = sum([self.group.acknowledge(id) for id in ids])
        assert self.real.ask("XACK", "s", "g", *[format_id(id) for id in ids]) == ours

    def claim(self, rng: random.Random) -> None:
        consumer = self.consumer(rng)
        ids = [rng.randrange(self.stream.last_id + 2) for _ in range(rng.randrange(1, 6))]
        min_idle, time = rng.choice([0, LONG]), rng.choice([-1, LONG_AGO, LONG_AGO])
        retry_count, force, just_id = rng.choice([-1, -1, 7]), rng.random() < 0.3, rng.random() < 0.3
        words: list[bytes | int | str] = ["XCLAIM", "s", "g", consumer.name, min_idle]
        words += [format_id(id) for id in ids]
        words += ["TIME", time] if time >= 0 else []
        words += ["RETRYCOUNT", retry_count] if retry_count >= 0 else []
        words += ["FORCE"] if force else []
        words += ["JUSTID"] if just_id else []
        done = claim(self.stream, self.group, consumer, ids, NOW, min_idle, time, retry_count, force, just_id)
        ours = [format_id(id) for id, _ in done.entries] if just_id else as_reply(done.entries)
        assert self.real.ask(*words) == ours, words

    def autoclaim(self, rng: random.Random) -> None:
        consumer, start, count = self.consumer(rng), rng.randrange(self.stream.last_id + 2), rng.randrange(1, 4)
        min_idle, just_id = rng.choice([0, LONG]), rng.random() < 0.3
        words: list[bytes | int | str] = ["XAUTOCLAIM", "s", "g", consumer.name, min_idle, format_id(start)]
        words += ["COUNT", count]
        words += ["JUSTID"] if just_id else []
        done = autoclaim(self.stream, self.group, consumer, start, count, NOW, min_idle, just_id)
        ours = [format_id(id) for id, _ in done.entries] if just_id else as_reply(done.entries)
        assert self.real.ask(*words) == [format_id(done.next_id), ours, [format_id(id) for id in done.deleted]]

    def set_id(self, rng: random.Random) -> None:
        id, entries_read = rng.randrange(self.stream.last_id + 3), rng.choice([UNKNOWN, rng.randrange(20)])
        reply = self.real.ask("XGROUP", "SETID", "s", "g", format_id(id), "ENTRIESREAD", entries_read)
        assert reply == b"OK"
        self.group.last_id, self.group.entries_read = id, entries_read

    def delete_consumer(self, rng: random.Random) -> None:
        name = rng.choice(CONSUMERS)
        assert self.real.ask("XGROUP", "DELCONSUMER", "s", "g", name) == self.group.delete_consumer(name)

    def compare(self, rng: random.Random) -> None:
        self.stream._check()
        group = self.real.ask("XINFO", "GROUPS", "s")[0]
        entries_read = None if self.group.entries_read == UNKNOWN else self.group.entries_read
        counts = [len(self.group.consumers), len(self.group.pending), self.group.last_id]
        theirs = dict(zip(group[::2], group[1::2], strict=True))
        assert theirs == {
            b"name": b"g",
            b"consumers": counts[0],
            b"pending": counts[1],
            b"last-delivered-id": format_id(counts[2]),
            b"entries-read": entries_read,
            b"lag": lag(self.stream, self.group),
        }
        self.compare_pending(rng)

    def compare_pending(self, rng: random.Random) -> None:
        summary = self.real.ask("XPENDING", "s", "g")
        by_consumer = [[name, b"%d" % count] for name, count in self.group.pending_by_consumer()]
        if by_consumer:
            ends = [format_id(self.group.pending.first_id()), format_id(self.group.pending.last_id())]
            assert summary == [len(self.group.pending), *ends, by_consumer]
        else:
            assert summary == [0, None, None, None]
        start, name = rng.randrange(self.stream.last_id + 2), rng.choice([None, *CONSUMERS])
        idle, count = rng.choice([0, LONG]), rng.randrange(6)
        words: list[bytes | int | str] = ["XPENDING", "s", "g", "IDLE", idle, format_id(start), OPEN_END, count]
        latest = NOW - idle if idle else NOW
        ours = self.group.pending_range(start, MAX_ID, count, name, latest)
        reply = self.real.ask(*words, *([name] if name is not None else []))
        assert [[row[0], row[1], row[3], row[2] > LONG] for row in reply] == [as_row(item) for item in ours]


def as_reply(entries: Any) -> list[Any]:
    return [[format_id(id), fields] for id, fields in entries]


def as_row(pending: Pending) -> list[Any]:
    old = pending.delivery_time == LONG_AGO
    return [format_id(pending.id), pending.consumer, pending.delivery_count, old]


STEPS = [Pair.add] * 6 + [Pair.read_new] * 4 + [Pair.read_again, Pair.acknowledge, Pair.claim, Pair.claim]
STEPS += [Pair.autoclaim, Pair.autoclaim, Pair.delete_or_trim, Pair.delete_or_trim, Pair.set_id, Pair.delete_consumer]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_every_step_has_the_result_that_the_real_server_gives(real_redis: "RealRedis", seed: int) -> None:
    rng = random.Random(seed)
    pair = Pair(real_redis)
    for _ in range(rng.randrange(80)):
        rng.choice(STEPS)(pair, rng)
        pair.compare(rng)


def test_the_lag_is_unknown_once_an_entry_ahead_is_deleted() -> None:
    stream = Stream(Limits())
    for number in range(1, 6):
        stream.append(make_id(number, 0), [b"f", b"v"])
    group = Group(0, 0)
    assert lag(stream, group) == 5
    alice = group.add_consumer(b"alice", NOW)
    read_new(stream, group, alice, 1, NOW)
    assert lag(stream, group) == 4
    stream.delete([make_id(3, 0)])
    assert lag(stream, group) is None
    read_new(stream, group, alice, 0, NOW)
    assert lag(stream, group) == 0
