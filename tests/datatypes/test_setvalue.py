"""The set against a plain one, its encodings, its order and its random picks."""

import random
from collections import Counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from redouble.datatypes.limits import Limits
from redouble.datatypes.setvalue import SetValue

MEMBERS = st.sampled_from([b"1", b"-5", b"30", b"4", b"a", b"b", b"long member", b"07", b"9", b"10", b"11"])


def tiny() -> Limits:
    limits = Limits()
    limits.set_intset_entries = 3
    limits.set_listpack_entries = 4
    limits.set_listpack_value = 5
    return limits


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.set = SetValue(tiny())
        self.model: set[bytes] = set()

    @rule(member=MEMBERS)
    def add(self, member: bytes) -> None:
        assert self.set.add(member) == (member not in self.model)
        self.model.add(member)

    @rule(member=MEMBERS)
    def discard(self, member: bytes) -> None:
        assert self.set.discard(member) == (member in self.model)
        self.model.discard(member)

    @rule(members=st.lists(MEMBERS, max_size=6))
    def fill(self, members: list[bytes]) -> None:
        self.set = SetValue(tiny())
        self.set.fill(members)
        self.model = set(members)

    @rule(count=st.integers(1, 3))
    def scan(self, count: int) -> None:
        cursor, found = self.set.scan(0, count)
        while cursor:
            cursor, more = self.set.scan(cursor, count)
            found += more
        assert sorted(found) == sorted(self.model)

    @rule(count=st.integers(1, 5))
    def pick(self, count: int) -> None:
        chosen = self.set.pick_many(random.Random(count), count)
        assert len(chosen) == len(set(chosen)) == min(count, len(self.model))
        assert set(chosen) <= self.model

    @rule()
    def copy(self) -> None:
        self.set = self.set.copy()

    @invariant()
    def same(self) -> None:
        self.set._check()
        assert len(self.set) == len(self.model)
        assert set(self.set.listing()) == self.model


Machine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestAnyMixOfOperations = Machine.TestCase


def made(*members: bytes) -> SetValue:
    subject = SetValue(tiny())
    for member in members:
        subject.add(member)
    return subject


def test_integers_are_listed_in_order_of_number() -> None:
    assert made(b"30", b"-5", b"4").listing() == [b"-5", b"4", b"30"]


def test_a_former_intset_keeps_its_order_and_appends() -> None:
    subject = made(b"30", b"-5", b"x", b"1")
    assert subject.encoding() == b"listpack"
    assert subject.listing() == [b"-5", b"30", b"x", b"1"]


def test_too_many_integers_make_a_hash_table() -> None:
    assert made(b"1", b"2", b"3").encoding() == b"intset"
    assert made(b"1", b"2", b"3", b"4").encoding() == b"hashtable"


@pytest.mark.parametrize("members", [(b"a", b"b", b"c", b"d", b"e"), (b"a", b"longer"), (b"1", b"longer")])
def test_what_does_not_fit_a_listpack_makes_a_hash_table(members: tuple[bytes, ...]) -> None:
    assert made(*members).encoding() == b"hashtable"


def test_before_sets_had_listpacks_a_word_made_a_hash_table() -> None:
    limits = tiny()
    limits.set_has_listpack = False
    subject = SetValue(limits)
    subject.add(b"1")
    assert subject.encoding() == b"intset"
    subject.add(b"a")
    assert subject.encoding() == b"hashtable"


def test_a_thinned_out_hash_table_is_compact_again() -> None:
    subject = made(b"a", b"b", b"c", b"1", b"2")
    subject.discard(b"a")
    assert subject.encoding() == b"hashtable"
    subject.thin_out()
    assert subject.encoding() == b"listpack"


@pytest.mark.parametrize("size", [5, 200])
def test_each_member_is_picked_about_as_often_as_any_other(size: int) -> None:
    subject = SetValue(Limits())
    for number in range(size):
        subject.add(b"m%d" % number)
    rng = random.Random(7)
    counts = Counter(subject.pick(rng) for _ in range(size * 200))
    assert len(counts) == size
    assert min(counts.values()) > 120
    assert max(counts.values()) < 300
