"""The hash and the deadlines of its fields against plain dicts."""

import random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from redouble.datatypes.hashvalue import NEVER, HashValue
from redouble.datatypes.limits import Limits

FIELDS = st.sampled_from([b"a", b"b", b"c", b"d", b"e", b"f"])
VALUES = st.sampled_from([b"1", b"x", b"long value"])


def tiny() -> Limits:
    limits = Limits()
    limits.hash_entries = 4
    limits.hash_value = 6
    return limits


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.hash = HashValue(tiny())
        self.fields: dict[bytes, bytes] = {}
        self.deadlines: dict[bytes, int] = {}
        self.now = 100

    @rule(field=FIELDS, value=VALUES, keep=st.booleans())
    def set(self, field: bytes, value: bytes, keep: bool) -> None:
        new = self.hash.replace(field, value) if keep else self.hash.set(field, value)
        assert new == (field not in self.fields)
        self.fields[field] = value
        if not keep:
            self.deadlines.pop(field, None)

    @rule(field=FIELDS)
    def discard(self, field: bytes) -> None:
        assert self.hash.discard(field) == (field in self.fields)
        self.fields.pop(field, None)
        self.deadlines.pop(field, None)

    @rule(field=FIELDS, ahead=st.integers(0, 20))
    def set_deadline(self, field: bytes, ahead: int) -> None:
        if field in self.fields:
            self.hash.set_deadline(field, self.now + ahead)
            self.deadlines[field] = self.now + ahead

    @rule(field=FIELDS)
    def persist(self, field: bytes) -> None:
        assert self.hash.persist(field) == (field in self.deadlines)
        self.deadlines.pop(field, None)

    @rule(ahead=st.integers(0, 15))
    def pass_time(self, ahead: int) -> None:
        self.now += ahead
        due = {field for field, deadline in self.deadlines.items() if deadline < self.now}
        dropped = self.hash.drop_expired(self.now)
        assert sorted(dropped) == sorted(due)
        assert [self.deadlines[field] for field in dropped] == sorted(self.deadlines[field] for field in due)
        for field in due:
            del self.fields[field], self.deadlines[field]

    @rule(count=st.integers(1, 3))
    def scan(self, count: int) -> None:
        cursor, found = self.hash.scan(0, count)
        while cursor:
            cursor, more = self.hash.scan(cursor, count)
            found += more
        assert sorted(found) == sorted(self.fields)

    @rule()
    def copy(self) -> None:
        old = self.hash
        self.hash = old.copy()
        old.set(b"g", b"not in the copy")

    @invariant()
    def same(self) -> None:
        self.hash._check()
        assert self.hash.fields == self.fields
        assert self.hash.deadlines == self.deadlines
        assert self.hash.soonest == min(self.deadlines.values(), default=NEVER)
        assert self.hash.flat() == [item for pair in self.hash.fields.items() for item in pair]


Machine.TestCase.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
TestAnyMixOfOperations = Machine.TestCase


def test_moving_a_deadline_over_and_over_keeps_the_heap_small() -> None:
    subject = HashValue(Limits())
    subject.set(b"f", b"v")
    for time in range(10_000, 0, -1):
        subject.set_deadline(b"f", time)
    for time in range(10_000):
        subject.set_deadline(b"f", time)
    assert len(subject._heap) < 200
    subject._check()


def test_a_compact_hash_with_a_deadline_is_a_listpackex_for_good() -> None:
    subject = HashValue(tiny())
    subject.set(b"f", b"v")
    assert subject.encoding() == b"listpack"
    subject.set_deadline(b"f", 5)
    assert subject.encoding() == b"listpackex"
    subject.persist(b"f")
    assert subject.encoding() == b"listpackex"
    subject.set(b"g", b"too long for it")
    assert subject.encoding() == b"hashtable"


def test_picks_from_a_big_hash_are_fields_and_distinct() -> None:
    subject = HashValue(Limits())
    for number in range(700):
        subject.set(b"f%d" % number, b"v")
    rng = random.Random(3)
    assert len(set(subject.pick_many(rng, 50))) == 50
    subject.discard(b"f3")
    assert all(subject.pick(rng) in subject.fields for _ in range(2000))
    subject._check()
