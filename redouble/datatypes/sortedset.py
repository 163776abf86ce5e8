"""A sorted set: a dict from member to score, and the same pairs in order.

How it works
------------
The dict answers for single members in O(1) and is the truth about what is there; the skip list keeps
the order and answers everything about ranks and ranges. Both change together, and only here.

Every question about a range is answered in two steps. First it becomes a *span*, half-open ranks
`(start, stop)` counted from the lowest (`span_by_rank`, `span_by_score`, `span_by_lex`); then a span is
counted, fetched (in either direction, with offset and count) or removed. Results are `Pairs`: a list of
members and an array of their scores in parallel. So a reply without scores is the list itself.

Which encoding Redis would use is known by `packed`: a small set is a listpack, and becomes a skip list
for good with a member too many or too long. It shows in three more places than OBJECT ENCODING: a
packed set forgets the sign of a negative zero (it stores whole numbers as integers), picks distinct
random members in order, and is scanned from one end for a lex range. And it comes to ZSCAN whole, while
a large one gets a `ScanOrder` with its first scan, and reports each new and each lost member to it.

What it simplifies
------------------
A lex range is meant for members of equal score, and then it is a span like others. Where scores differ,
Redis promises nothing, but a packed set is simply scanned from the end where the answer begins, and
stops at the first member beyond the range; we do that for large sets too.

No score may be NaN; commands see to that.
"""

from array import array
from itertools import islice
from math import inf
from random import Random
from typing import Final, final

from redouble.datatypes.limits import Limits
from redouble.datatypes.picking import new_order
from redouble.datatypes.ranges import (
    LexRange,
    ScoreRange,
    after,
    parse_lex_bound,
    parse_lex_range,
    parse_score_bound,
    parse_score_range,
)
from redouble.datatypes.scanorder import ScanOrder
from redouble.datatypes.skiplist import CAPACITY, Pairs, Scores, SkipList

__all__ = [
    "ADDED",
    "LexRange",
    "Pairs",
    "ScoreRange",
    "Scores",
    "SortedSet",
    "UNCHANGED",
    "UPDATED",
    "parse_lex_bound",
    "parse_lex_range",
    "parse_score_bound",
    "parse_score_range",
]

#: What `add` did.
UNCHANGED: Final = 0
ADDED: Final = 1
UPDATED: Final = 2

#: Half-open ranks: the first one, and the one after the last.
Span = tuple[int, int]


@final
class SortedSet:
    """Members with scores, ordered by score, then by the member's bytes.

    `expected` and `longest` announce how many members will come and how long they are: a set that is
    expected to outgrow the compact encoding starts without it.
    """

    __slots__ = ("scores", "order", "packed", "limits", "_index")

    def __init__(self, limits: Limits, expected: int = 0, longest: int = 0, capacity: int = CAPACITY) -> None:
        #: Member to score, in no special order. For others to read only.
        self.scores: dict[bytes, float] = {}
        self.order: SkipList = SkipList(capacity)
        self.limits: Limits = limits
        self._index: ScanOrder | None = None
        self.packed: bool = expected <= limits.zset_entries and longest <= limits.zset_value

    def __len__(self) -> int:
        return len(self.scores)

    def encoding(self) -> bytes:
        """The encoding as OBJECT ENCODING names it since 7.0."""
        return b"listpack" if self.packed else b"skiplist"

    def score(self, member: bytes) -> float | None:
        """The member's score, or None. O(1)."""
        return self.scores.get(member)

    def expect(self, count: int) -> None:
        """Announce that `count` members are about to be added, some of them perhaps known already."""
        if self.limits.looks_ahead and count > self.limits.zset_entries:
            self.packed = False

    def add(self, member: bytes, score: float) -> int:
        """Set the member's score: `ADDED`, `UPDATED`, or `UNCHANGED` if it was equal. O(log n)."""
        scores = self.scores
        old = scores.get(member)
        if old is None:
            if self.packed:
                limits = self.limits
                if len(scores) >= limits.zset_entries or len(member) > limits.zset_value:
                    self.packed = False
                else:
                    score += 0.0  # makes a negative zero positive
            scores[member] = score
            self.order.insert(score, member)
            if self._index is not None:
                self._index.add(member)
            return ADDED
        if old == score:
            return UNCHANGED
        if self.packed:
            score += 0.0
        self.order.move(old, score, member)
        scores[member] = score
        return UPDATED

    def remove(self, member: bytes) -> bool:
        """Remove the member; whether it was there. O(log n)."""
        score = self.scores.pop(member, None)
        if score is None:
            return False
        self.order.remove(score, member)
        if self._index is not None:
            self._index.discard(member)
        return True

    def rank(self, member: bytes, reverse: bool = False) -> int | None:
        """The number of members before it (`reverse`: after it), or None. O(log n)."""
        score = self.scores.get(member)
        if score is None:
            return None
        rank = self.order.rank(score, member)
        return len(self.scores) - 1 - rank if reverse else rank

    # Spans

    def span_by_rank(self, start: int, stop: int, reverse: bool = False) -> Span:
        """Both ranks inclusive; negative ones count from the end. `reverse` counts from the highest."""
        length = len(self.scores)
        if start < 0:
            start = max(start + length, 0)
        if stop < 0:
            stop += length
        stop = min(stop + 1, length)
        if start >= stop:
            return 0, 0
        return (length - stop, length - start) if reverse else (start, stop)

    def span_by_score(self, bounds: ScoreRange) -> Span:
        """The ranks of the members whose scores lie within. O(log n)."""
        start = self._rank_of_score(bounds.min, bounds.min_exclusive)
        stop = self._rank_of_score(bounds.max, not bounds.max_exclusive)
        return (start, stop) if start < stop else (0, 0)

    def _rank_of_score(self, score: float, after_it: bool) -> int:
        """How many members have a lower score, or (`after_it`) one that is not higher."""
        if not after_it:
            return self.order.rank(score, b"")
        return len(self.scores) if score == inf else self.order.rank(after(score), b"")

    def span_by_lex(self, bounds: LexRange, reverse: bool = False) -> Span:
        """The ranks of the members within, as found from the lowest (`reverse`: highest) member.

        O(log n) if all scores are equal, as they should be; else O(n), and the direction matters.
        """
        length = len(self.scores)
        if length == 0 or bounds.is_empty():
            return 0, 0
        score = self.order.at(0)[1]
        if score != self.order.at(length - 1)[1]:
            return self._scan_by_lex(bounds, reverse)
        start = self.order.rank(score, bounds.start.member)
        stop = length if bounds.stop.last else self.order.rank(score, bounds.stop.member)
        return start, stop

    def _scan_by_lex(self, bounds: LexRange, reverse: bool) -> Span:
        """Walk from one end to the first member within, and on to the first one beyond."""
        members = self.items()[0]
        length = len(members)
        if not bounds.start.precedes(members[length - 1]) or bounds.stop.precedes(members[0]):
            return 0, 0
        if reverse:
            stop = length
            while stop > 0 and bounds.stop.precedes(members[stop - 1]):
                stop -= 1
            start = stop
            while start > 0 and bounds.start.precedes(members[start - 1]):
                start -= 1
        else:
            start = 0
            while start < length and not bounds.start.precedes(members[start]):
                start += 1
            stop = start
            while stop < length and not bounds.stop.precedes(members[stop]):
                stop += 1
        return start, stop

    # What to do with a span

    def fetch(self, span: Span, reverse: bool = False, offset: int = 0, count: int = -1) -> Pairs:
        """The pairs of a span. O(log n + results).

        Skips `offset` of them and gives `count` at most, counted from the end where the answer begins.
        A negative offset gives none, a negative count all.
        """
        start, stop = span
        if offset < 0:
            return [], array("d")
        if reverse:
            stop -= offset
            if 0 <= count < stop - start:
                start = stop - count
        else:
            start += offset
            if 0 <= count < stop - start:
                stop = start + count
        if start >= stop:
            return [], array("d")
        members, scores = self.order.slice(start, stop)
        if reverse:
            members.reverse()
            scores.reverse()
        return members, scores

    def take(self, span: Span) -> Pairs:
        """Remove the pairs of a span, and return them in order. O(log n + results)."""
        start, stop = span
        members, scores = self.order.cut(start, stop)
        known = self.scores
        for member in members:
            del known[member]
        if self._index is not None:
            for member in members:
                self._index.discard(member)
        return members, scores

    # The questions that commands ask

    def range_by_rank(self, start: int, stop: int, reverse: bool = False) -> Pairs:
        """The pairs from rank `start` to rank `stop`, as `span_by_rank` counts them."""
        return self.fetch(self.span_by_rank(start, stop, reverse), reverse)

    def range_by_score(self, bounds: ScoreRange, reverse: bool = False, offset: int = 0, count: int = -1) -> Pairs:
        """The pairs whose scores lie within, limited as in `fetch`."""
        return self.fetch(self.span_by_score(bounds), reverse, offset, count)

    def range_by_lex(self, bounds: LexRange, reverse: bool = False, offset: int = 0, count: int = -1) -> Pairs:
        """The pairs whose members lie within, limited as in `fetch`."""
        return self.fetch(self.span_by_lex(bounds, reverse), reverse, offset, count)

    def count_by_score(self, bounds: ScoreRange) -> int:
        """How many scores lie within."""
        start, stop = self.span_by_score(bounds)
        return stop - start

    def count_by_lex(self, bounds: LexRange) -> int:
        """How many members lie within."""
        start, stop = self.span_by_lex(bounds)
        return stop - start

    def pop_min(self, count: int = 1) -> Pairs:
        """Remove the lowest pairs, `count` at most, and return them, the lowest first."""
        return self.take((0, count))

    def pop_max(self, count: int = 1) -> Pairs:
        """Remove the highest pairs, `count` at most, and return them, the highest first."""
        length = len(self.scores)
        members, scores = self.take((max(length - count, 0), length))
        members.reverse()
        scores.reverse()
        return members, scores

    def remove_range_by_rank(self, start: int, stop: int) -> int:
        """Remove the members between two ranks, both inclusive; how many they were."""
        return len(self.take(self.span_by_rank(start, stop))[0])

    def remove_range_by_score(self, bounds: ScoreRange) -> int:
        """Remove the members whose scores lie within; how many they were."""
        return len(self.take(self.span_by_score(bounds))[0])

    def remove_range_by_lex(self, bounds: LexRange) -> int:
        """Remove the members that lie within; how many they were."""
        return len(self.take(self.span_by_lex(bounds))[0])

    def items(self) -> Pairs:
        """All pairs in order. O(n)."""
        return self.order.slice(0, len(self.scores))

    def scan(self, cursor: int, count: int) -> tuple[int, list[bytes]]:
        """Walk on from a cursor over about `count` members: see `ScanOrder.scan`. O(count).

        A compact set comes whole, in order; the first scan of another one is O(n).
        """
        if self.packed:
            return 0, self.items()[0]
        if self._index is None:
            self._index = new_order(self.scores)
        return self._index.scan(cursor, count)

    # Chance

    def random_pair(self, rng: Random) -> tuple[bytes, float]:
        """One pair at random; the set must not be empty."""
        return self.order.at(rng.randrange(len(self.scores)))

    def random_repeated(self, rng: Random, count: int) -> Pairs:
        """`count` pairs at random, each drawn anew; the set must not be empty."""
        length = len(self.scores)
        return self._gather([rng.randrange(length) for _ in range(count)])

    def random_distinct(self, rng: Random, count: int) -> Pairs:
        """`count` different pairs at random; all of them, the highest first, if there are no more."""
        length = len(self.scores)
        if count >= length:
            return self.fetch((0, length), True)
        ranks = rng.sample(range(length), count)
        if self.packed:
            ranks.sort()
        return self._gather(ranks)

    def _gather(self, ranks: list[int]) -> Pairs:
        members: list[bytes] = []
        scores: Scores = array("d")
        for rank in ranks:
            member, score = self.order.at(rank)
            members.append(member)
            scores.append(score)
        return members, scores

    # Whole sets

    def forget_order(self) -> None:
        """Drop the index for scans, which remembers the past."""
        self._index = None

    def copy(self) -> "SortedSet":
        """An equal set with the same encoding. O(n)."""
        twin = SortedSet(self.limits, capacity=self.order.capacity)
        twin.packed = self.packed
        twin.scores = self.scores.copy()
        twin.order.load_from(self.order)
        return twin

    def _check(self) -> None:
        """Assert that dict and order hold the same pairs, and the order's own invariants. O(n)."""
        self.order._check()
        members, scores = self.items()
        assert dict(zip(members, scores, strict=True)) == self.scores
        assert len(members) == len(self.scores)
        if self._index is not None:
            self._index._check()
            assert sorted(self._index.keys()) == sorted(self.scores)


def sorted_set_from(limits: Limits, scores: dict[bytes, float], grown: bool = False) -> SortedSet:
    """A set of these scores; the dict becomes its own. O(n log n), much faster than adding each.

    The encoding is the one that Redis gives to a stored result: compact if size and members allow. With `grown` it is
    one to which Redis adds member by member: those that came while it was still compact have no negative zero.
    """
    longest = 0
    if len(scores) <= limits.zset_entries:
        for member in scores:
            longest = max(longest, len(member))
    built = SortedSet(limits, len(scores), longest)
    if built.packed:
        scores = {member: score + 0.0 for member, score in scores.items()}
    elif grown:
        for member in list(islice(scores, limits.zset_entries)):
            if len(member) > limits.zset_value:
                break
            scores[member] += 0.0
    built.scores = scores
    pairs = sorted(zip(scores.values(), scores.keys(), strict=True))
    built.order.load([pair[1] for pair in pairs], array("d", [pair[0] for pair in pairs]))
    return built
