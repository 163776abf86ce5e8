"""An indexable, unrolled skip list of `(score, member)` pairs.

How it works
------------
Skip lists (W. Pugh, "Skip Lists: A Probabilistic Alternative to Balanced Trees", 1990) are sorted
linked lists with express lanes: a quarter of the nodes is also on lane 1, a quarter of those on lane
2, and so on, so a search runs along the highest lane, steps down where the next stop would be too
far, and meets O(log n) nodes. An *indexable* one keeps with each link its span, the number of pairs
it jumps over, so that a rank is a sum of spans. An *unrolled* one keeps many pairs per node.

Here a node is a chunk of up to a few hundred pairs in two parallel arrays, searched with `bisect`. A
million pairs are some six thousand chunks and seven lanes; a set that fits one chunk has no express
lane and is just a sorted array. Python pays for each step along a lane and next to nothing for a
`bisect` or a `memmove` in C, so the greater part of a search belongs in the chunk.

Pairs are ordered by score, then by the member's bytes. All questions are put as ranks: `rank(score,
member)` counts the pairs before a key, whether or not the key is there. As `b""` is the least member
and `m + b"\\0"` is the next one after `m`, each open or closed bound is the rank of some key.

Why so
------
- In a large set the time goes into cache misses. So scores are an `array` of doubles, not a list of
  float objects all over the memory, and each stop on each lane is an object of its own, with all
  that a step along the lane reads: compared with the textbook's node with two lists for its lanes,
  both together halved the time of an insert at 100,000 members (compiled).
- A chunk's fence is fixed: what lies before the chunk is less than it, what lies in the chunk is not.
  It is the chunk's first pair at birth and never changes, even when that pair goes, so inserting and
  removing touch no neighbour.
- The first chunk has no fence and all lanes, thus it is its own header. It never goes; when it runs
  empty it takes over its neighbour's pairs.
- The fence of `TAIL`, the end of every lane, is NaN: it compares false with everything, so each
  search ends there with no further test. It is shared by all lists and never written.
- Whoever inserts knows that the pair is new, and whoever removes that it is there (`SortedSet` asks
  its dict first), so spans are adjusted on the way down, with no path to remember. Only splitting a
  chunk or dropping an empty one, once in hundreds of changes, looks for its neighbours again.
- Heights follow the golden-ratio sequence, not a random source: multiples of the golden ratio, modulo
  one, spread evenly over every stretch of the sequence and over each of its arithmetic subsequences
  (Weyl), so splits by any simple pattern of changes get their share of tall towers, and the same
  changes always build the same list. Who builds a bad list on purpose gets a search linear in chunks.

What it simplifies
------------------
A chunk goes only when it is empty; half-empty ones are never merged. Each chunk holds at least one
pair, so O(log n + results) stands; only memory may be worse than need be. There are no links
backwards: a reversed range is a range, reversed.
"""

from array import array
from bisect import bisect_left, bisect_right
from typing import Final, TypeAlias, final

Scores: TypeAlias = "array[float]"
#: Members and their scores, in parallel.
Pairs: TypeAlias = "tuple[list[bytes], Scores]"

CAPACITY: Final = 256
GOLDEN: Final = 2654435769  # 2**32 divided by the golden ratio
WORD: Final = 0xFFFFFFFF
NAN: Final = float("nan")
NO_SCORES: Final[Scores] = array("d")
NO_MEMBERS: Final[list[bytes]] = []


@final
class Stop:
    """A stop on one lane: a chunk (on the ground), or a stop above another one (express lanes).

    A chunk's pairs are none less than the fence `(low_score, low_member)`; the stops above it carry
    the same fence and no pairs. `span` is the number of pairs from here to the stop `ahead`, or to
    the end. `below` is the same place on the next lower lane; a chunk is its own `below`.
    """

    __slots__ = ("low_score", "ahead", "span", "below", "low_member", "scores", "members")

    def __init__(self, low_score: float, low_member: bytes) -> None:
        # What each step along a lane reads comes first, so that it lies together in memory.
        self.low_score: float = low_score
        self.ahead: Stop = self
        self.span: int = 0
        self.below: Stop = self
        self.low_member: bytes = low_member
        self.scores: Scores = NO_SCORES
        self.members: list[bytes] = NO_MEMBERS


TAIL: Final = Stop(NAN, b"")


def _index(chunk: Stop, score: float, member: bytes) -> int:
    """The number of pairs in `chunk` before the key."""
    scores = chunk.scores
    # The fences tell much where many scores are equal: none in here is less than the one, or more than the other.
    index = 0 if chunk.low_score == score else bisect_left(scores, score)
    if index == len(scores) or scores[index] != score:
        return index
    after = index + 1
    if after == len(scores) or scores[after] != score:
        return after if chunk.members[index] < member else index
    if chunk.ahead.low_score == score:
        return bisect_left(chunk.members, member, index)
    return bisect_left(chunk.members, member, index, bisect_right(scores, score, after))


def _holds(chunk: Stop, score: float, member: bytes, is_head: bool) -> bool:
    """Whether the key lies between the chunk's fence (the head has none) and the next one's."""
    ahead = chunk.ahead
    if ahead.low_score < score or (ahead.low_score == score and ahead.low_member <= member):
        return False
    return is_head or chunk.low_score < score or (chunk.low_score == score and chunk.low_member <= member)


@final
class SkipList:
    """Distinct `(score, member)` pairs in order. No score may be NaN.

    `capacity` is the number of pairs a chunk may hold, at least 2; tests make it tiny.
    """

    __slots__ = ("head", "top", "size", "capacity", "births")

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.head: Stop = Stop(NAN, b"")
        self.head.ahead = TAIL
        self.head.scores = array("d")
        self.head.members = []
        self.top: Stop = self.head
        self.size: int = 0
        self.capacity: int = capacity
        self.births: int = 0

    def __len__(self) -> int:
        return self.size

    def insert(self, score: float, member: bytes) -> None:
        """Add a pair that is not there yet. O(log n)."""
        chunk = self._enter(score, member, 1)
        index = _index(chunk, score, member)
        chunk.scores.insert(index, score)
        chunk.members.insert(index, member)
        self.size += 1
        length = len(chunk.members)
        if length > self.capacity:
            # Growing at the very end, as time stamps do, leaves full chunks behind.
            at_end = index == length - 1 and chunk.ahead is TAIL
            self._split(chunk, index if at_end else length // 2)

    def remove(self, score: float, member: bytes) -> None:
        """Take away a pair that is there. O(log n)."""
        chunk = self._enter(score, member, -1)
        index = _index(chunk, score, member)
        del chunk.scores[index]
        del chunk.members[index]
        self.size -= 1
        if not chunk.members:
            self._drop(chunk)

    def move(self, old: float, new: float, member: bytes) -> None:
        """Give a pair that is there another score. O(log n), and cheaper if it stays in its chunk."""
        chunk = self._enter(old, member, 0)
        if _holds(chunk, new, member, chunk is self.head):
            index = _index(chunk, old, member)
            del chunk.scores[index]
            del chunk.members[index]
            index = _index(chunk, new, member)
            chunk.scores.insert(index, new)
            chunk.members.insert(index, member)
        else:
            self.remove(old, member)
            self.insert(new, member)

    def rank(self, score: float, member: bytes) -> int:
        """The number of pairs before the key: its rank if it is there. O(log n)."""
        rank = 0
        stop = self.top
        while True:
            following = stop.ahead
            while following.low_score < score or (following.low_score == score and following.low_member <= member):
                rank += stop.span
                stop = following
                following = stop.ahead
            below = stop.below
            if below is stop:
                return rank + _index(stop, score, member)
            stop = below

    def at(self, rank: int) -> tuple[bytes, float]:
        """The pair at `rank`, from 0 to the length less one. O(log n)."""
        chunk, index = self._locate(rank)
        return chunk.members[index], chunk.scores[index]

    def slice(self, start: int, stop: int) -> Pairs:
        """The pairs at the ranks from `start` up to, not including, `stop`. O(log n + results).

        A `stop` beyond the end is no error; a negative rank is.
        """
        wanted = min(stop, self.size) - start
        if wanted <= 0:
            return [], array("d")
        chunk, index = self._locate(start)
        members = chunk.members[index : index + wanted]
        scores = chunk.scores[index : index + wanted]
        missing = wanted - len(members)
        while missing > 0:
            chunk = chunk.ahead
            members += chunk.members[:missing]
            scores += chunk.scores[:missing]
            missing = wanted - len(members)
        return members, scores

    def cut(self, start: int, stop: int) -> Pairs:
        """Take away and return what `slice` would return. O(log n) per chunk, and the results."""
        wanted = min(stop, self.size) - start
        if wanted <= 0:
            return [], array("d")
        members, scores = self._cut_in_chunk(start, wanted)
        missing = wanted - len(members)
        while missing > 0:
            more, their_scores = self._cut_in_chunk(start, missing)
            members += more
            scores += their_scores
            missing = wanted - len(members)
        return members, scores

    def _cut_in_chunk(self, rank: int, wanted: int) -> Pairs:
        """Take away the pairs from `rank` on, as many as are wanted and in its chunk."""
        chunk, start = self._locate(rank)
        stop = min(start + wanted, len(chunk.members))
        self._enter(chunk.scores[start], chunk.members[start], start - stop)
        members = chunk.members[start:stop]
        scores = chunk.scores[start:stop]
        del chunk.members[start:stop]
        del chunk.scores[start:stop]
        self.size -= stop - start
        if not chunk.members:
            self._drop(chunk)
        return members, scores

    def load(self, members: list[bytes], scores: Scores) -> None:
        """Append pairs that are sorted, and greater than all that are there. O(n)."""
        step = max(1, self.capacity * 3 // 4)
        for start in range(0, len(members), step):
            piece = members[start : start + step]
            chunk = self._enter(scores[start], members[start], len(piece))
            end = len(chunk.members)
            chunk.members += piece
            chunk.scores += scores[start : start + step]
            self.size += len(piece)
            if end:
                self._split(chunk, end)

    def load_from(self, other: "SkipList") -> None:
        """Become equal to another list, being empty. O(n), which for one chunk is no more than two copies in C."""
        chunk = other.head
        if chunk.ahead is not TAIL:
            self.load(*other.slice(0, other.size))
            return
        self.head.members = chunk.members.copy()
        self.head.scores = chunk.scores[:]
        self.head.span = self.size = other.size

    def _enter(self, score: float, member: bytes, change: int) -> Stop:
        """The chunk where the key belongs; the pairs there are about to become `change` more."""
        stop = self.top
        while True:
            following = stop.ahead
            while following.low_score < score or (following.low_score == score and following.low_member <= member):
                stop = following
                following = stop.ahead
            stop.span += change
            below = stop.below
            if below is stop:
                return stop
            stop = below

    def _locate(self, rank: int) -> tuple[Stop, int]:
        """The chunk that holds the pair at `rank`, and the pair's index there."""
        stop = self.top
        while True:
            while rank >= stop.span:
                rank -= stop.span
                stop = stop.ahead
            below = stop.below
            if below is stop:
                return stop, rank
            stop = below

    def _stops_before(self, score: float, member: bytes) -> list[Stop]:
        """The last stop before the key's own, on each lane from the ground up."""
        stops: list[Stop] = []
        stop = self.top
        while True:
            following = stop.ahead
            while following.low_score < score or (following.low_score == score and following.low_member < member):
                stop = following
                following = stop.ahead
            stops.append(stop)
            below = stop.below
            if below is stop:
                stops.reverse()
                return stops
            stop = below

    def _split(self, chunk: Stop, index: int) -> None:
        """Move the pairs from `index` on to a new chunk, and put that on its lanes."""
        score = chunk.scores[index]
        member = chunk.members[index]
        rank = self.rank(score, member)
        stops = self._stops_before(score, member)
        self.births += 1
        # A quarter of the words has two leading zeros, a sixteenth has four ...
        height = 1 + (32 - (self.births * GOLDEN & WORD).bit_length()) // 2
        while len(stops) < height:
            stops.append(self._raise_top())
        born = Stop(score, member)
        born.scores = chunk.scores[index:]
        born.members = chunk.members[index:]
        del chunk.scores[index:]
        del chunk.members[index:]
        for lane in range(height):
            if lane:
                ground = born
                born = Stop(score, member)
                born.below = ground
            stop = stops[lane]
            jumped = rank - self.rank(stop.low_score, stop.low_member)
            born.span = stop.span - jumped
            born.ahead = stop.ahead
            stop.span = jumped
            stop.ahead = born

    def _raise_top(self) -> Stop:
        """Open one more express lane, so far without stops, and return its header."""
        top = Stop(NAN, b"")
        top.span = self.size
        top.ahead = TAIL
        top.below = self.top
        self.top = top
        return top

    def _drop(self, chunk: Stop) -> None:
        """Take an empty chunk off its lanes. The head takes its neighbour's pairs instead."""
        if chunk is self.head:
            neighbour = chunk.ahead
            if neighbour is TAIL:
                return
            chunk.scores = neighbour.scores
            chunk.members = neighbour.members
            chunk = neighbour
        for stop in self._stops_before(chunk.low_score, chunk.low_member):
            gone = stop.ahead
            # Fences are distinct. Above the chunk's tower the next stop is another's, or the tail.
            if gone.low_score != chunk.low_score or gone.low_member != chunk.low_member:
                break
            stop.ahead = gone.ahead
            stop.span += gone.span

    def _check(self) -> None:
        """Assert every invariant. O(n) on each lane."""
        ranks = self._check_ground()
        header = self.top
        while header is not self.head:
            stop = header
            start = 0
            while stop is not TAIL:
                assert stop.low_score == stop.below.low_score or stop is header
                assert stop.low_member == stop.below.low_member
                assert not stop.members and not stop.scores
                ground = stop
                while ground.below is not ground:
                    ground = ground.below
                assert ranks[id(ground)] == start
                start += stop.span
                stop = stop.ahead
            assert start == self.size
            header = header.below

    def _check_ground(self) -> dict[int, int]:
        """Check the chunks; return the rank of each one's first pair, by the chunk's id."""
        ranks: dict[int, int] = {}
        rank = 0
        before: tuple[float, bytes] | None = None
        chunk = self.head
        while chunk is not TAIL:
            assert chunk.span == len(chunk.scores) == len(chunk.members) <= self.capacity
            assert chunk.below is chunk
            fence = (chunk.low_score, chunk.low_member)
            if chunk is not self.head:
                assert chunk.members
                assert before is not None and before < fence
            for pair in zip(chunk.scores, chunk.members, strict=True):
                assert chunk is self.head or fence <= pair
                assert before is None or before < pair
                before = pair
            ranks[id(chunk)] = rank
            rank += chunk.span
            chunk = chunk.ahead
        assert rank == self.size
        assert self.head.members or self.size == 0
        assert TAIL.span == 0 and TAIL.ahead is TAIL and not TAIL.members
        return ranks
