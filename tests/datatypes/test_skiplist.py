"""The skip list against a sorted list, with tiny chunks, so that a few dozen pairs make many lanes."""

import random
from array import array
from bisect import insort

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redouble.datatypes.skiplist import SkipList

Pair = tuple[float, bytes]

scores = st.sampled_from([float("-inf"), -1.5, 0.0, 1.0, 1.0000000000000002, 2.0, 7.0, float("inf")])
members = st.binary(max_size=2) | st.sampled_from([b"a", b"ab", b"b", b"\xff"])
keys = st.tuples(scores, members)
ranks = st.integers(0, 60)
steps = st.one_of(
    st.tuples(st.just("insert"), st.lists(keys, min_size=1, max_size=12)),
    st.tuples(st.just("remove"), st.lists(ranks, min_size=1, max_size=12)),
    st.tuples(st.just("move"), st.lists(st.tuples(ranks, scores), min_size=1, max_size=6)),
    st.tuples(st.just("cut"), st.tuples(ranks, ranks)),
    st.tuples(st.just("ask"), st.tuples(keys, ranks, ranks)),
)


def pairs_of(answer: tuple[list[bytes], "array[float]"]) -> list[Pair]:
    return list(zip(answer[1], answer[0], strict=True))


def filled(pairs: list[Pair], capacity: int) -> SkipList:
    ordered = sorted(pairs)
    built = SkipList(capacity)
    built.load([member for _, member in ordered], array("d", [score for score, _ in ordered]))
    return built


@settings(max_examples=300, deadline=None)
@given(st.integers(2, 5), st.lists(keys, unique=True, max_size=40), st.lists(steps, max_size=25))
def test_it_agrees_with_a_sorted_list_after_each_step(capacity, start, script):
    model = sorted(start)
    subject = filled(start, capacity)
    subject._check()
    for action, detail in script:
        if action == "insert":
            for key in detail:
                if key not in model:
                    insort(model, key)
                    subject.insert(*key)
        elif action == "remove":
            for rank in detail:
                if rank < len(model):
                    subject.remove(*model.pop(rank))
        elif action == "move":
            for rank, score in detail:
                if rank < len(model) and (score, model[rank][1]) not in model:
                    old, member = model.pop(rank)
                    insort(model, (score, member))
                    subject.move(old, score, member)
                    subject._check()
        elif action == "cut":
            low, high = detail
            assert pairs_of(subject.cut(low, high)) == model[low:high]
            del model[low:high]
        else:
            key, low, high = detail
            assert subject.rank(*key) == sum(pair < key for pair in model)
            assert pairs_of(subject.slice(low, high)) == model[low:high]
            if low < len(model):
                assert subject.at(low) == model[low][::-1]
        subject._check()
        assert len(subject) == len(model)
    assert pairs_of(subject.slice(0, len(model))) == model


@pytest.mark.parametrize("order", ["ascending", "descending", "shuffled", "from the middle"])
def test_every_order_of_arrival_gives_the_same_pairs_and_few_lanes(order):
    count = 3000
    pairs = [(float(number // 3), b"%d" % number) for number in range(count)]
    expected = sorted(pairs)
    arrivals = list(expected)
    if order == "descending":
        arrivals.reverse()
    elif order == "shuffled":
        random.Random(7).shuffle(arrivals)
    elif order == "from the middle":
        arrivals.sort(key=lambda pair: abs(pair[0] - count / 6))
    subject = SkipList(4)
    for pair in arrivals:
        subject.insert(*pair)
    subject._check()
    assert pairs_of(subject.slice(0, count)) == expected
    assert [subject.rank(*pair) for pair in expected] == list(range(count))
    assert steps_to_each(subject, expected) / count < 16
    for pair in arrivals:
        subject.remove(*pair)
    subject._check()
    assert len(subject) == 0


def steps_to_each(subject: SkipList, pairs: list[Pair]) -> int:
    """How many stops ahead all searches together pass."""
    total = 0
    for key in pairs:
        stop = subject.top
        while True:
            while (stop.ahead.low_score, stop.ahead.low_member) <= key:
                stop = stop.ahead
                total += 1
            if stop.below is stop:
                break
            stop = stop.below
    return total


def test_taking_the_least_until_nothing_is_left():
    pairs = [(float(number), b"m%d" % number) for number in range(1000)]
    subject = filled(pairs, 3)
    for pair in pairs:
        assert pairs_of(subject.cut(0, 1)) == [pair]
    subject._check()
    subject.insert(1.0, b"again")
    subject._check()
    assert subject.at(0) == (b"again", 1.0)


def test_growing_at_the_end_leaves_full_chunks():
    subject = SkipList(8)
    for number in range(80):
        subject.insert(float(number), b"x")
    lengths = []
    chunk = subject.head
    while chunk.members:
        lengths.append(len(chunk.members))
        chunk = chunk.ahead
    assert lengths == [8] * 10


def test_a_fence_outlives_its_pair():
    subject = filled([(float(number), b"") for number in range(9)], 4)
    subject.remove(3.0, b"")
    subject._check()
    assert subject.rank(3.0, b"") == 3
    subject.insert(2.5, b"")
    subject.insert(3.0, b"")
    subject._check()
    assert list(subject.slice(0, 99)[1]) == [0, 1, 2, 2.5, 3, 4, 5, 6, 7, 8]


def test_cutting_spans_many_chunks_and_ignores_what_lies_beyond():
    pairs = [(float(number), b"") for number in range(100)]
    subject = filled(pairs, 4)
    assert pairs_of(subject.cut(10, 90)) == pairs[10:90]
    subject._check()
    assert pairs_of(subject.cut(15, 500)) == pairs[95:]
    assert pairs_of(subject.cut(15, 20)) == []
    subject._check()
    assert pairs_of(subject.slice(0, 500)) == pairs[:10] + pairs[90:95]


def test_a_long_list_can_be_forgotten_at_once():
    subject = filled([(float(number), b"") for number in range(200_000)], 2)
    assert len(subject) == 200_000
    del subject
