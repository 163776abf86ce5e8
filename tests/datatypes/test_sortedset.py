"""The sorted set against a plain dict sorted anew for each question, and against a real server."""

import math
import random
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redouble.datatypes.limits import Limits
from redouble.datatypes.ranges import (
    LexRange,
    ScoreRange,
    parse_lex_range,
    parse_score_bound,
    parse_score_range,
)
from redouble.datatypes.sortedset import ADDED, UNCHANGED, UPDATED, SortedSet, sorted_set_from

Pair = tuple[bytes, float]

scores = st.sampled_from([-math.inf, -2.5, -0.0, 0.0, 1.0, 1.5, 2.0, 3.0, math.inf])
members = st.sampled_from([b"", b"\0", b"a", b"a\0", b"aa", b"b", b"c", b"d", b"e", b"\xff", b"\xff\xff"])
ranks = st.integers(-14, 14)
offsets = st.integers(-1, 4)
counts = st.integers(-1, 6)
score_ranges = st.builds(ScoreRange, scores, st.booleans(), scores, st.booleans())
lex_bounds = st.sampled_from([b"-", b"+", b"[", b"("]) | st.builds(
    lambda kind, member: kind + member, st.sampled_from([b"[", b"("]), members
)
questions = st.one_of(
    st.tuples(st.just("add"), members, scores),
    st.tuples(st.just("add"), members, scores),
    st.tuples(st.just("remove"), members),
    st.tuples(st.just("rank"), members, st.booleans()),
    st.tuples(st.just("by rank"), ranks, ranks, st.booleans()),
    st.tuples(st.just("by score"), score_ranges, st.booleans(), offsets, counts),
    st.tuples(st.just("pop"), st.booleans(), st.integers(0, 4)),
    st.tuples(st.just("cut ranks"), ranks, ranks),
    st.tuples(st.just("cut scores"), score_ranges),
    st.tuples(st.just("copy")),
)


def pairs_of(answer: tuple[list[bytes], "array[float]"]) -> list[Pair]:
    return list(zip(*answer, strict=True))


class Model:
    """What a sorted set means, in the most obvious way."""

    def __init__(self) -> None:
        self.scores: dict[bytes, float] = {}

    def pairs(self) -> list[Pair]:
        return sorted(self.scores.items(), key=lambda pair: (pair[1], pair[0]))

    def by_rank(self, start: int, stop: int, reverse: bool) -> list[Pair]:
        pairs = self.pairs()[:: -1 if reverse else 1]
        start = max(start + len(pairs), 0) if start < 0 else start
        stop = stop + len(pairs) if stop < 0 else stop
        return pairs[start : max(stop + 1, 0)]

    def by_score(self, bounds: ScoreRange) -> list[Pair]:
        return [pair for pair in self.pairs() if bounds.holds(pair[1])]

    def drop(self, pairs: list[Pair]) -> list[Pair]:
        for member, _ in pairs:
            del self.scores[member]
        return pairs


def limited(pairs: list[Pair], reverse: bool, offset: int, count: int) -> list[Pair]:
    if offset < 0:
        return []
    pairs = pairs[::-1] if reverse else pairs
    return pairs[offset : offset + count] if count >= 0 else pairs[offset:]


def ask(subject: SortedSet, model: Model, question: tuple) -> SortedSet:
    kind, *details = question
    pairs = model.pairs()
    if kind == "add":
        member, score = details
        old = model.scores.get(member)
        expected = ADDED if old is None else UNCHANGED if old == score else UPDATED
        assert subject.add(member, score) == expected
        model.scores[member] = score
    elif kind == "remove":
        assert subject.remove(details[0]) == (model.scores.pop(details[0], None) is not None)
    elif kind == "rank":
        member, reverse = details
        order = [name for name, _ in (pairs[::-1] if reverse else pairs)]
        assert subject.rank(member, reverse) == (order.index(member) if member in order else None)
        assert subject.score(member) == model.scores.get(member)
    elif kind == "by rank":
        assert pairs_of(subject.range_by_rank(*details)) == model.by_rank(*details)
    elif kind == "by score":
        bounds, *rest = details
        assert pairs_of(subject.range_by_score(bounds, *rest)) == limited(model.by_score(bounds), *rest)
        assert subject.count_by_score(bounds) == len(model.by_score(bounds))
    elif kind == "pop":
        highest, count = details
        expected_pairs = model.drop(limited(pairs, highest, 0, count))
        assert pairs_of(subject.pop_max(count) if highest else subject.pop_min(count)) == expected_pairs
    elif kind == "cut ranks":
        assert subject.remove_range_by_rank(*details) == len(model.drop(model.by_rank(*details, False)))
    elif kind == "cut scores":
        assert subject.remove_range_by_score(details[0]) == len(model.drop(model.by_score(details[0])))
    else:
        twin = subject.copy()
        subject.add(b"only in the old one", 1.0)
        return twin
    return subject


@settings(max_examples=300, deadline=None)
@given(st.integers(2, 4), st.lists(questions, max_size=40))
def test_it_answers_as_a_sorted_dict_would(capacity, script):
    subject = SortedSet(Limits(), capacity=capacity)
    model = Model()
    for question in script:
        subject = ask(subject, model, question)
        subject._check()
        assert pairs_of(subject.items()) == model.pairs()


@settings(max_examples=300, deadline=None)
@given(st.sets(members), lex_bounds, lex_bounds, st.booleans(), offsets, counts)
def test_a_lex_range_holds_what_lies_between_its_bounds(names, low, high, reverse, offset, count):
    def beyond(bound: bytes, member: bytes) -> bool:
        """Whether the member lies after the bound, or on it."""
        if bound in (b"-", b"+"):
            return bound == b"-"
        return member > bound[1:] or (member == bound[1:] and bound[:1] == b"[")

    def ahead(bound: bytes, member: bytes) -> bool:
        if bound in (b"-", b"+"):
            return bound == b"+"
        return member < bound[1:] or (member == bound[1:] and bound[:1] == b"[")

    subject = SortedSet(Limits(), capacity=2)
    for name in names:
        subject.add(name, 1.0)
    bounds = parse_lex_range(low, high)
    assert bounds is not None
    expected = [(name, 1.0) for name in sorted(names) if beyond(low, name) and ahead(high, name)]
    assert pairs_of(subject.range_by_lex(bounds, reverse, offset, count)) == limited(expected, reverse, offset, count)
    assert subject.count_by_lex(bounds) == len(expected)
    assert subject.remove_range_by_lex(bounds) == len(expected)
    subject._check()
    assert set(subject.scores) == names - {name for name, _ in expected}


def test_the_compact_encoding_ends_with_one_member_too_many_or_too_long():
    subject = SortedSet(Limits())
    for number in range(128):
        subject.add(b"%d" % number, 0.0)
    subject.add(b"7", 5.0)
    assert subject.encoding() == b"listpack"
    subject.add(b"one more", 0.0)
    assert subject.encoding() == b"skiplist"
    subject.remove_range_by_rank(1, -1)
    assert subject.encoding() == b"skiplist"
    assert subject.copy().encoding() == b"skiplist"
    other = SortedSet(Limits())
    other.add(b"x" * 64, 0.0)
    assert other.encoding() == b"listpack"
    other.add(b"x" * 65, 0.0)
    assert other.encoding() == b"skiplist"


def test_an_announcement_chooses_the_encoding():
    assert SortedSet(Limits(), 129).encoding() == b"skiplist"
    assert SortedSet(Limits(), 1, 65).encoding() == b"skiplist"
    subject = SortedSet(Limits(), 128, 64)
    subject.expect(128)
    assert subject.encoding() == b"listpack"
    subject.expect(129)
    assert subject.encoding() == b"skiplist"


@pytest.mark.parametrize("count", [0, 1, 128, 129, 1000])
def test_a_set_made_at_once_equals_one_made_step_by_step(count):
    rng = random.Random(count)
    known = {b"m%d" % rng.randrange(10**6): float(rng.randrange(50)) for _ in range(count)}
    slow = SortedSet(Limits())
    for member, score in known.items():
        slow.add(member, score)
    fast = sorted_set_from(Limits(), dict(known))
    fast._check()
    assert fast.items() == slow.items()
    assert fast.scores == known
    assert fast.encoding() == slow.encoding()


def test_a_stored_result_with_a_long_member_is_no_listpack():
    assert sorted_set_from(Limits(), {b"x" * 65: 1.0}).encoding() == b"skiplist"


def scanned(subject: SortedSet, count: int) -> list[bytes]:
    cursor, found = subject.scan(0, count)
    while cursor:
        cursor, more = subject.scan(cursor, count)
        found += more
    return found


def test_a_scan_gives_all_members_and_a_compact_set_whole_and_in_order():
    small = sorted_set_from(Limits(), {b"%d" % number: -float(number) for number in range(100)})
    assert small.scan(0, 10) == (0, small.items()[0])
    large = sorted_set_from(Limits(), {b"%d" % number: float(number) for number in range(1000)})
    assert len(large.scan(0, 10)[1]) < 100
    assert sorted(scanned(large, 10)) == sorted(large.scores)


def test_a_scan_misses_no_member_that_stays_whatever_else_changes():
    subject = sorted_set_from(Limits(), {b"%d" % number: float(number) for number in range(1000)})
    rng = random.Random(4)
    stay = set(range(0, 1000, 2))
    found: set[bytes] = set()
    cursor = -1
    while cursor:
        cursor, more = subject.scan(max(cursor, 0), 20)
        found.update(more)
        subject.add(b"%d" % rng.randrange(0, 1000, 2), rng.random())
        subject.add(b"new %d" % rng.randrange(1000), rng.random())
        subject.remove(b"%d" % rng.randrange(1, 1000, 2))
        position = rng.randrange(len(subject))
        if subject.order.at(position)[0] not in {b"%d" % number for number in stay}:
            subject.remove_range_by_rank(position, position)
        subject._check()
    assert {b"%d" % number for number in stay} <= found


def test_chance_draws_from_the_generator_it_is_given():
    subject = sorted_set_from(Limits(), {b"%d" % number: float(number) for number in range(50)})
    assert subject.random_pair(random.Random(1)) == subject.random_pair(random.Random(1))
    repeated = pairs_of(subject.random_repeated(random.Random(2), 200))
    assert len(repeated) == 200 and len(set(repeated)) > 40
    distinct = pairs_of(subject.random_distinct(random.Random(3), 20))
    assert len(set(distinct)) == 20
    assert distinct == sorted(distinct, key=lambda pair: pair[1])
    assert set(distinct + repeated) <= set(subject.scores.items())
    assert subject.random_distinct(random.Random(3), 50)[0] == subject.range_by_rank(0, -1, True)[0]


# The real server


def stored(real_redis, known: dict[bytes, float]) -> SortedSet:
    subject = SortedSet(Limits())
    real_redis.ask("DEL", "z")
    for member, score in known.items():
        real_redis.ask("ZADD", "z", repr(score), member)
        subject.add(member, score)
    return subject


def test_a_negative_zero_is_forgotten_by_small_sets_only(real_redis):
    for size in (1, 200):
        known = {b"%d" % number: 5.0 for number in range(size)} | {b"zero": -0.0}
        subject = stored(real_redis, known)
        assert b"%.17g" % subject.scores[b"zero"] == real_redis.ask("ZSCORE", "z", "zero")
        assert subject.encoding() == real_redis.ask("OBJECT", "ENCODING", "z")


def test_bounds_of_scores_are_read_as_the_server_reads_them(real_redis):
    known = {b"%d" % score: float(score) for score in range(-20, 40)}
    known |= {b"-inf": -math.inf, b"inf": math.inf, b"half": 0.5, b"tiny": 5e-324}
    subject = stored(real_redis, known)
    texts = b"""1 (1 1.5 (1.5 -3 (-3 +4 .5 5. 1e1 1E1 (1e+1 1e-1 1e 1e+ 0x10 0X1F 0x 0x.8 0x1p3 (0x1p-1 0x1p
        -0x1 0xg inf (inf -inf (-inf +inf INF Infinity iNfInItY infi nan (nan NaN nan(1) 1_0 1,5 ( (( ((1
        1e999 -1e999 (1e999 1e-999 (1e-999 0x1p9999 -0x1p9999 abc 1abc --1 +-1 . e5 -""".split()
    texts += [b"", b" ", b" 1", b"1 ", b"\t1", b"\v\f\r\n1", b"( 1", b" (1", b"1\0x", b"\0", b"(\0", b"x\0", b"\x1c1"]
    for text in texts:
        for low, high in ((text, b"+inf"), (b"-inf", text)):
            truth = real_redis.ask("ZRANGEBYSCORE", "z", low, high)
            bounds = parse_score_range(low, high)
            if bounds is None:
                assert str(truth) == "ERR min or max is not a float", text
            else:
                assert subject.range_by_score(bounds)[0] == truth, text


def test_bounds_of_members_are_read_as_the_server_reads_them(real_redis):
    subject = stored(real_redis, dict.fromkeys([b"", b"\0", b"a", b"a\0", b"b", b"-", b"+", b"[", b"\xff"], 0.0))
    texts = [b"-", b"+", b"[", b"(", b"[a", b"(a", b"[a\0", b"(\xff", b"[[", b"--", b"-a", b"+a", b"", b"a", b"5"]
    texts += [b"-\0", b"+\0", b"-\0a", b" -", b"\0"]
    for low in texts:
        for high in texts:
            truth = real_redis.ask("ZRANGEBYLEX", "z", low, high)
            bounds = parse_lex_range(low, high)
            if bounds is None:
                assert str(truth) == "ERR min or max not valid string range item", (low, high)
            else:
                assert subject.range_by_lex(bounds)[0] == truth, (low, high)


def test_a_small_set_of_mixed_scores_is_scanned_as_the_server_scans_it(real_redis):
    rng = random.Random(5)
    bounds = [b"-", b"+", b"[b", b"(b", b"[d", b"(d", b"[f", b"(f", b"[h"]
    for _ in range(60):
        names = rng.sample([b"a", b"b", b"c", b"d", b"e", b"f", b"g"], rng.randrange(1, 8))
        subject = stored(real_redis, {name: float(rng.randrange(3)) for name in names})
        low, high = rng.choice(bounds), rng.choice(bounds)
        wanted = parse_lex_range(low, high)
        assert isinstance(wanted, LexRange)
        assert subject.range_by_lex(wanted)[0] == real_redis.ask("ZRANGEBYLEX", "z", low, high)
        truth = real_redis.ask("ZREVRANGEBYLEX", "z", high, low)
        assert subject.range_by_lex(wanted, True)[0] == truth
        assert subject.count_by_lex(wanted) == real_redis.ask("ZLEXCOUNT", "z", low, high)
        assert subject.remove_range_by_lex(wanted) == real_redis.ask("ZREMRANGEBYLEX", "z", low, high)
        assert subject.items()[0] == real_redis.ask("ZRANGE", "z", 0, -1)


def test_ranges_of_a_large_set_are_the_servers(real_redis):
    rng = random.Random(6)
    subject = stored(real_redis, {b"%d" % rng.randrange(900): rng.randrange(60) / 2 for _ in range(600)})
    for _ in range(200):
        start, stop = rng.randrange(-500, 500), rng.randrange(-500, 500)
        assert subject.range_by_rank(start, stop)[0] == real_redis.ask("ZRANGE", "z", start, stop)
        assert subject.range_by_rank(start, stop, True)[0] == real_redis.ask("ZREVRANGE", "z", start, stop)
        low, high = (rng.choice([b"", b"("]) + b"%g" % (rng.randrange(-2, 70) / 2) for _ in "lh")
        bounds = parse_score_range(low, high)
        assert bounds is not None
        offset, count = rng.randrange(-1, 20), rng.randrange(-1, 20)
        limit = ("LIMIT", offset, count)
        truth = real_redis.ask("ZRANGEBYSCORE", "z", low, high, *limit)
        assert subject.range_by_score(bounds, False, offset, count)[0] == truth
        truth = real_redis.ask("ZREVRANGEBYSCORE", "z", high, low, *limit)
        assert subject.range_by_score(bounds, True, offset, count)[0] == truth
        assert subject.count_by_score(bounds) == real_redis.ask("ZCOUNT", "z", low, high)
    assert real_redis.ask("ZRANDMEMBER", "z", 1000) == subject.random_distinct(rng, 1000)[0]


def test_a_bound_tells_whether_it_is_open():
    assert parse_score_bound(b"(1.5") == (1.5, True)
    assert parse_score_bound(b"-inf") == (-math.inf, False)
    assert parse_score_bound(b"one") is None
