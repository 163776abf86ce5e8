"""Histograms of durations."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from redouble.engine import histogram
from redouble.engine.histogram import SHIFT, SHORT


def add(counts: list[int], nanoseconds: int) -> None:
    slot = nanoseconds >> SHIFT if nanoseconds < SHORT else histogram.long_slot(nanoseconds)
    counts[slot] += 1


def test_the_bounds_of_the_slots_rise_without_a_gap() -> None:
    bounds = [histogram.upper_bound(slot) for slot in range(histogram.SLOTS)]
    assert bounds == sorted(set(bounds))


@given(st.integers(0, (1 << 31) - 1))
def test_a_duration_lies_within_its_slot(nanoseconds: int) -> None:
    counts = histogram.empty()
    add(counts, nanoseconds)
    slot = counts.index(1)
    assert nanoseconds <= histogram.upper_bound(slot)
    assert slot == 0 or nanoseconds > histogram.upper_bound(slot - 1)


@given(st.lists(st.integers(0, 1 << 31), min_size=1))
def test_buckets_in_powers_of_two_count_what_is_not_longer(durations: list[int]) -> None:
    counts = histogram.empty()
    for duration in durations:
        add(counts, duration)
    pairs = histogram.cumulated(counts)
    assert pairs[-1][1] == len(durations)
    for microseconds, seen in pairs:
        bound = 1024 << ((microseconds * 1000 // 1024).bit_length())
        assert seen == sum(duration < bound for duration in durations) or bound > (1 << 31)


def test_percentiles_of_two_kinds_of_durations() -> None:
    counts = histogram.empty()
    for _ in range(90):
        add(counts, 1000)
    for _ in range(10):
        add(counts, 1_000_000)
    assert histogram.percentile(counts, 50) == histogram.upper_bound(1000 >> SHIFT)
    assert 1_000_000 <= histogram.percentile(counts, 99) < 1_100_000
    assert histogram.percentile(histogram.empty(), 50) == 0
