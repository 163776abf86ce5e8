"""The two-stack list against a plain Python list, and its encodings against the real server."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from redouble.datatypes.limits import Limits
from redouble.datatypes.listpack import entry_bytes, spells_int64
from redouble.datatypes.listvalue import ListValue
from tests.datatypes.conftest import RealRedis

VALUES = st.sampled_from([b"a", b"b", b"7", b"-7", b"c" * 40])
INDEXES = st.integers(-12, 12)


class Machine(RuleBasedStateMachine):
    """Any mix of operations; stacks are split from two elements on."""

    def __init__(self) -> None:
        super().__init__()
        self.list = ListValue(Limits(), None, 2)
        self.model: list[bytes] = []

    @rule(values=st.lists(VALUES, min_size=1, max_size=5), left=st.booleans())
    def push(self, values: list[bytes], left: bool) -> None:
        if left:
            self.list.extend_left(values)
            self.model[:0] = values[::-1]
        else:
            self.list.extend_right(values)
            self.model += values

    @rule(value=VALUES, left=st.booleans())
    def push_one(self, value: bytes, left: bool) -> None:
        if left:
            self.list.push_left(value)
            self.model.insert(0, value)
        else:
            self.list.push_right(value)
            self.model.append(value)

    @precondition(lambda self: self.model)
    @rule(left=st.booleans())
    def pop(self, left: bool) -> None:
        if left:
            assert self.list.pop_left() == self.model.pop(0)
        else:
            assert self.list.pop_right() == self.model.pop()

    @rule(count=st.integers(1, 6), left=st.booleans())
    def pop_many(self, count: int, left: bool) -> None:
        if left:
            assert self.list.pop_many_left(count) == self.model[:count]
            del self.model[:count]
        else:
            assert self.list.pop_many_right(count) == self.model[-count:][::-1]
            del self.model[-count:]

    @rule(index=INDEXES, value=VALUES)
    def set(self, index: int, value: bytes) -> None:
        there = -len(self.model) <= index < len(self.model)
        assert self.list.get(index) == (self.model[index] if there else None)
        assert self.list.set(index, value) == there
        if there:
            self.model[index] = value

    @rule(pivot=VALUES, value=VALUES, after=st.booleans())
    def insert(self, pivot: bytes, value: bytes, after: bool) -> None:
        assert self.list.insert(pivot, value, after) == (pivot in self.model)
        if pivot in self.model:
            self.model.insert(self.model.index(pivot) + after, value)

    @rule(value=VALUES, count=st.integers(-3, 3))
    def remove(self, value: bytes, count: int) -> None:
        at = [index for index, item in enumerate(self.model) if item == value]
        gone = at if count == 0 else at[:count] if count > 0 else at[count:]
        assert self.list.remove(value, count) == len(gone)
        self.model = [item for index, item in enumerate(self.model) if index not in gone]

    @rule(start=st.integers(0, 8), length=st.integers(0, 12))
    def trim(self, start: int, length: int) -> None:
        start = min(start, len(self.model))
        kept = self.model[start : start + length]
        assert self.list.trim(start, min(start + length, len(self.model))) == len(self.model) - len(kept)
        self.model = kept

    @rule(value=VALUES, count=st.integers(1, 4), within=st.integers(1, 9))
    def find(self, value: bytes, count: int, within: int) -> None:
        at = [index for index, item in enumerate(self.model) if item == value]
        last = len(self.model) - within
        assert self.list.positions(value, False, count, within) == [i for i in at if i < within][:count]
        assert self.list.positions(value, True, count, within) == [i for i in at[::-1] if i >= last][:count]

    @rule(start=st.integers(0, 9), length=st.integers(0, 9))
    def slice(self, start: int, length: int) -> None:
        assert self.list.slice(start, start + length) == self.model[start : start + length]

    @rule()
    def copy(self) -> None:
        old = self.list
        self.list = old.copy()
        old.push_left(b"not in the copy")

    @invariant()
    def same(self) -> None:
        self.list._check()
        assert self.list.items() == self.model
        assert len(self.list) == len(self.model)


Machine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestAnyMixOfOperations = Machine.TestCase


def test_a_queue_moves_half_a_stack_at_a_time() -> None:
    queue = ListValue(Limits(), None, 0)
    for number in range(1000):
        queue.push_left(b"%d" % number)
    moves = 0
    for number in range(1000):
        moves += not queue._back
        assert queue.pop_right() == b"%d" % number
    assert moves <= 10


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (b"0", True),
        (b"-0", False),
        (b"-1", True),
        (b"00", False),
        (b"01", False),
        (b"", False),
        (b"-", False),
        (b"+1", False),
        (b"9223372036854775807", True),
        (b"9223372036854775808", False),
        (b"-9223372036854775808", True),
        (b"-9223372036854775809", False),
        ("\u0661".encode(), False),
    ],
)
def test_only_a_canonical_64_bit_integer_is_one(text: bytes, is_one: bool) -> None:
    assert spells_int64(text) == is_one


@pytest.mark.parametrize(
    "value",
    [b"0", b"127", b"128", b"-1", b"4095", b"4096", b"-4096", b"-4097", b"32767", b"32768", b"8388607", b"8388608"]
    + [b"2147483647", b"2147483648", b"-9223372036854775808", b"9223372036854775808", b"01", b""]
    + [b"x" * size for size in (1, 63, 64, 124, 125, 126, 127, 4000)],
)
def test_an_entry_takes_the_bytes_that_redis_says(real_redis: RealRedis, value: bytes) -> None:
    """While a quicklist has one node, DEBUG OBJECT tells the size of the listpack that holds all of it."""
    real_redis.ask("DEL", "k")
    real_redis.ask("RPUSH", "k", value, value)
    answer = real_redis.ask("DEBUG", "OBJECT", "k")
    assert b"ql_nodes:1 " in answer
    assert b"ql_uncompressed_size:%d" % (7 + 2 * entry_bytes(value)) in answer


def grown(limits: Limits, values: list[bytes]) -> ListValue:
    subject = ListValue(limits)
    for value in values:
        subject.push_right(value)
    return subject


def test_a_list_is_a_quicklist_once_a_push_would_exceed_eight_kilobytes() -> None:
    fits = [b"x" * 62] * 127  # 127 entries of 64 bytes and 7 are 8135.
    subject = grown(Limits(), fits)
    subject.push_right(b"x" * 55)
    assert subject.encoding() == b"listpack"
    subject = grown(Limits(), fits)
    subject.push_right(b"x" * 58)
    assert subject.encoding() == b"quicklist"


def test_a_quicklist_is_a_listpack_again_at_half_the_limit() -> None:
    subject = grown(Limits(), [b"x" * 62] * 130)
    assert subject.encoding() == b"quicklist"
    while len(subject) > 64:
        subject.pop_left()
        assert subject.encoding() == b"quicklist"
    subject.pop_left()
    assert subject.encoding() == b"listpack"


def test_a_limit_may_count_entries() -> None:
    limits = Limits()
    limits.list_listpack_size = 4
    subject = grown(limits, [b"a"] * 4)
    assert subject.encoding() == b"listpack"
    subject.push_left(b"a")
    assert subject.encoding() == b"quicklist"
    subject.remove(b"a", 2)
    assert subject.encoding() == b"quicklist"
    subject.trim(0, 2)
    assert subject.encoding() == b"listpack"


def test_a_list_that_is_turned_keeps_its_encoding() -> None:
    limits = Limits()
    limits.list_listpack_size = 4
    subject = grown(limits, [b"a", b"b", b"c", b"d"])
    assert [subject.rotate(True, False) for _ in range(5)] == [b"a", b"b", b"c", b"d", b"a"]
    assert subject.encoding() == b"listpack"
    subject.push_left(b"x")
    assert subject.encoding() == b"quicklist"
    subject.trim(0, 3)
    assert subject.rotate(False, True) == b"c"
    assert (subject.items(), subject.encoding()) == ([b"c", b"x", b"b"], b"quicklist")
    subject.pop_left()
    assert subject.encoding() == b"listpack"


def test_an_older_version_knows_quicklists_only() -> None:
    limits = Limits()
    limits.list_has_listpack = False
    subject = grown(limits, [b"a", b"b"])
    assert subject.encoding() == b"quicklist"
    subject.pop_left()
    assert subject.encoding() == b"quicklist"
    assert ListValue(limits, [b"a"]).encoding() == b"quicklist"
