"""The order of SCAN, against a plain set, with writes in the midst of iterations."""

import random
from collections import Counter
from zlib import crc32

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from redouble.datatypes.scanorder import ScanOrder, scan_small

SEED = 0x5EED


def scan_all(index: ScanOrder, count: int) -> list[bytes]:
    found: list[bytes] = []
    cursor = 0
    while True:
        cursor, keys = index.scan(cursor, count)
        found += keys
        if cursor == 0:
            return found


def twins() -> tuple[bytes, bytes]:
    """Two keys with the same CRC-32; a checksum of this length can be forged byte by byte."""
    seen: dict[int, bytes] = {}
    rng = random.Random(1)
    while True:
        key = rng.randbytes(5)
        other = seen.setdefault(crc32(key, SEED), key)
        if other != key:
            return other, key


@pytest.mark.parametrize("size", [0, 1, 7, 100, 3000])
@pytest.mark.parametrize("count", [1, 10, 10000])
def test_an_undisturbed_iteration_returns_each_key_once(size: int, count: int) -> None:
    keys = [b"key:%d" % number for number in range(size)]
    index = ScanOrder(keys, SEED)
    index._check()
    found = scan_all(index, count)
    assert sorted(found) == sorted(keys)


def test_a_call_returns_at_most_as_many_as_asked_for() -> None:
    index = ScanOrder([b"%d" % number for number in range(5000)], SEED)
    cursor = 0
    while True:
        cursor, keys = index.scan(cursor, 17)
        assert len(keys) <= 17
        assert 0 <= cursor < 2**32
        if cursor == 0:
            break
        assert len(keys) == 17


def test_keys_that_share_a_place_are_returned_together() -> None:
    one, other = twins()
    index = ScanOrder([one, other, b"a", b"b"], SEED)
    cursor = 0
    batches = []
    while True:
        cursor, keys = index.scan(cursor, 1)
        batches.append(set(keys))
        if cursor == 0:
            break
    assert {one, other} in batches
    assert len(batches) == 3


def test_small_and_indexed_scans_share_their_cursors() -> None:
    keys = [b"field%d" % number for number in range(300)]
    index = ScanOrder(keys, SEED)
    cursor, first = scan_small(keys, SEED, 0, 40)
    cursor, second = index.scan(cursor, 60)
    _, third = scan_small(keys, SEED, cursor, 1000)
    assert (len(first), len(second), len(third)) == (40, 60, 200)
    assert sorted(first + second + third) == sorted(keys)


def test_a_cursor_beyond_the_line_finishes() -> None:
    index = ScanOrder([b"a"], SEED)
    assert index.scan(2**40, 10) == (0, [])
    assert scan_small([b"a"], SEED, 2**40, 10) == (0, [])


def test_random_picks_are_uniform_even_when_buckets_have_two_widths() -> None:
    keys = [b"member-%d" % number for number in range(90)]
    index = ScanOrder(keys, SEED)
    rng = random.Random(7)
    rounds = 300
    counts = Counter(index.random(rng) for _ in range(len(keys) * rounds))
    assert set(counts) == set(keys)
    chi_square = sum((counts[key] - rounds) ** 2 / rounds for key in keys)
    assert chi_square < 140  # 89 degrees of freedom: more has a chance below 0.001


@pytest.mark.parametrize("count", [0, 1, 5, 60, 99, 100, 500])
def test_a_sample_has_distinct_members_of_the_collection(count: int) -> None:
    keys = [b"%d" % number for number in range(100)]
    sample = ScanOrder(keys, SEED).sample(random.Random(3), count)
    assert len(sample) == min(count, 100) == len(set(sample))
    assert set(sample) <= set(keys)


class Scanning(RuleBasedStateMachine):
    """Several iterations at once while keys come and go and the index is dropped and rebuilt."""

    def __init__(self) -> None:
        super().__init__()
        self.index = ScanOrder([], SEED)
        self.model: set[bytes] = set()
        #: For each open iteration: cursor, keys present all the time, keys seen.
        self.open: list[tuple[int, set[bytes], set[bytes]]] = []

    @rule(numbers=st.lists(st.integers(0, 60), max_size=30))
    def add(self, numbers: list[int]) -> None:
        for number in numbers:
            key = b"k%d" % number
            if key not in self.model:
                self.model.add(key)
                self.index.add(key)

    @rule(numbers=st.lists(st.integers(0, 60), max_size=30))
    def discard(self, numbers: list[int]) -> None:
        for number in numbers:
            key = b"k%d" % number
            self.index.discard(key)
            self.model.discard(key)
            for _, present, _ in self.open:
                present.discard(key)

    @rule()
    def rebuild(self) -> None:
        self.index = ScanOrder(list(self.model), SEED)

    @rule()
    def begin(self) -> None:
        if len(self.open) < 3:
            self.open.append((0, set(self.model), set()))

    @rule(count=st.integers(1, 12), small=st.booleans())
    def go_on(self, count: int, small: bool) -> None:
        if not self.open:
            return
        cursor, present, seen = self.open.pop(0)
        if small:
            cursor, keys = scan_small(self.model, SEED, cursor, count)
        else:
            cursor, keys = self.index.scan(cursor, count)
        assert len(keys) == len(set(keys))
        assert set(keys) <= self.model
        seen |= set(keys)
        if cursor == 0:
            assert present <= seen
        else:
            self.open.append((cursor, present, seen))

    @invariant()
    def holds_the_same_keys(self) -> None:
        self.index._check()
        assert set(self.index.keys()) == self.model
        assert len(self.index) == len(self.model)


TestScanning = Scanning.TestCase
TestScanning.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
