"""The order in which SCAN and its kin walk a collection, and random picks from it.

Each key has a place on a line of 2^32: its CRC-32 with a seed. A scan walks along that line, and
its cursor is the next place to visit (0: start, or finished). The place of a key never changes, so
a cursor needs no memory on our side, and stays right when keys come and go, when this index grows,
or is dropped and built anew. Keys that share a place are always returned together; hence the
promise: who is there from the start of an iteration to its end is returned at least once.

`ScanOrder` cuts the line into buckets by the high bits of the place. It is linear hashing (Litwin,
"Linear hashing: a new tool for file and table addressing", 1980) kept in order: buckets are split
from left to right, one at a time, as keys come, and merged from right to left as keys go. The line
therefore has two parts: left of the frontier buckets of half the width (`_fine`), right of it
buckets of the full width (`_coarse`). Nothing is ever rebuilt as a whole, so no call takes long.

A dict has no such order, so the owner of a big dict builds an index when first asked to scan or to
pick at random, and from then on reports each new and each lost key. For a small dict
`scan_small` gives the same order without an index; the two share their cursors.

Simplified: CRC-32 is no defence against keys chosen to collide.
"""

from collections.abc import Iterable
from operator import itemgetter
from random import Random
from typing import Final, final
from zlib import crc32

_LINE_BITS: Final = 32
_LINE_END: Final = 1 << _LINE_BITS
_MOST: Final = 8
_LEAST: Final = 3
_place_of: Final = itemgetter(0)


@final
class ScanOrder:
    """An index of distinct keys. Build: O(n).

    Args:
        keys: the keys at this time.
        seed: any 32-bit number; the same for all indexes that share cursors.
    """

    __slots__ = ("_coarse", "_fine", "_frontier", "_longest", "_seed", "_shift", "_size")

    def __init__(self, keys: Iterable[bytes], seed: int) -> None:
        self._seed: int = seed
        self._size: int = 0
        #: An upper bound of the length of any bucket, for picks at random.
        self._longest: int = 1
        #: A full bucket is 2^shift wide. Those left of the frontier have been split into `_fine`.
        self._shift: int = _LINE_BITS
        self._frontier: int = 0
        self._fine: list[list[bytes]] = []
        self._coarse: list[list[bytes]] = [[]]
        for key in keys:
            self.add(key)

    def __len__(self) -> int:
        return self._size

    def add(self, key: bytes) -> None:
        """Take in a key that is not here yet. O(1)."""
        bucket = self._bucket_at(crc32(key, self._seed))
        bucket.append(key)
        self._size += 1
        if len(bucket) > self._longest:
            self._longest = len(bucket)
        if self._size > _MOST * (len(self._coarse) + self._frontier):
            self._split()

    def discard(self, key: bytes) -> None:
        """Drop a key; one that is not here is no error. O(1)."""
        bucket = self._bucket_at(crc32(key, self._seed))
        if key not in bucket:
            return
        bucket.remove(key)
        self._size -= 1
        if self._size < _LEAST * (len(self._coarse) + self._frontier):
            self._merge()

    def scan(self, cursor: int, count: int) -> tuple[int, list[bytes]]:
        """Walk on from `cursor` (0: the start) over about `count` keys, at least one.

        Gives the next cursor, 0 at the end, and the keys: more than `count` only if several share
        the last place. O(count). A cursor that was never given out is no error.
        """
        found: list[bytes] = []
        place = cursor
        while place < _LINE_END and len(found) < count:
            bucket = self._bucket_at(place)
            width_bits = self._width_bits_at(place)
            room = count - len(found)
            if len(bucket) <= room and place & ((1 << width_bits) - 1) == 0:
                found.extend(bucket)
            elif bucket:
                following, part = scan_small(bucket, self._seed, place, room)
                found.extend(part)
                if following:
                    return following, found
            place = ((place >> width_bits) + 1) << width_bits
        return (place if place < _LINE_END else 0), found

    def random(self, rng: Random) -> bytes:
        """A key, each with the same chance; there must be one. O(1) expected.

        A bucket is drawn, and a position in the longest possible bucket. If this bucket has
        nothing at that position, both are drawn again.
        """
        buckets = len(self._coarse) + self._frontier
        while True:
            bucket = self._nth_bucket(int(rng.random() * buckets))
            position = int(rng.random() * self._longest)
            if position < len(bucket):
                return bucket[position]

    def sample(self, rng: Random, count: int) -> list[bytes]:
        """Up to `count` distinct keys by chance, in no order. O(count) expected."""
        if count >= self._size:
            return self.keys()
        if count * 3 > self._size:
            return rng.sample(self.keys(), count)
        chosen: dict[bytes, None] = {}
        while len(chosen) < count:
            chosen[self.random(rng)] = None
        return list(chosen)

    def keys(self) -> list[bytes]:
        """All keys. O(n)."""
        found: list[bytes] = []
        for bucket in self._fine:
            found.extend(bucket)
        for bucket in self._coarse[self._frontier :]:
            found.extend(bucket)
        return found

    def _bucket_at(self, place: int) -> list[bytes]:
        index = place >> self._shift
        if index < self._frontier:
            return self._fine[place >> (self._shift - 1)]
        return self._coarse[index]

    def _width_bits_at(self, place: int) -> int:
        return self._shift - 1 if place >> self._shift < self._frontier else self._shift

    def _nth_bucket(self, index: int) -> list[bytes]:
        if index < len(self._fine):
            return self._fine[index]
        return self._coarse[index - self._frontier]

    def _split(self) -> None:
        """Split the bucket at the frontier; at the end of the line, all buckets are fine ones."""
        old = self._coarse[self._frontier]
        middle = 1 << (self._shift - 1)
        seed = self._seed
        left: list[bytes] = []
        right: list[bytes] = []
        for key in old:
            if crc32(key, seed) & middle:
                right.append(key)
            else:
                left.append(key)
        self._fine.append(left)
        self._fine.append(right)
        self._coarse[self._frontier] = _NOTHING
        self._frontier += 1
        if self._frontier == len(self._coarse):
            self._coarse = self._fine
            self._fine = []
            self._frontier = 0
            self._shift -= 1

    def _merge(self) -> None:
        """Undo the last split."""
        if self._frontier == 0:
            if len(self._coarse) == 1:
                return
            self._fine = self._coarse
            self._frontier = len(self._fine) // 2
            self._coarse = [_NOTHING] * self._frontier
            self._shift += 1
        right = self._fine.pop()
        left = self._fine.pop()
        self._frontier -= 1
        left.extend(right)
        self._coarse[self._frontier] = left
        if len(left) > self._longest:
            self._longest = len(left)

    def _check(self) -> None:
        assert len(self._coarse) == 1 << (_LINE_BITS - self._shift)
        assert len(self._fine) == 2 * self._frontier
        assert self._frontier < len(self._coarse)
        assert not _NOTHING
        keys = self.keys()
        assert len(keys) == self._size == len(set(keys))
        for key in keys:
            bucket = self._bucket_at(crc32(key, self._seed))
            assert key in bucket
            assert len(bucket) <= self._longest
        buckets = len(self._coarse) + self._frontier
        assert self._size <= _MOST * buckets
        assert self._size >= _LEAST * buckets or buckets == 1


#: Stands where a bucket has been split. Never added to.
_NOTHING: Final[list[bytes]] = []


def scan_small(keys: Iterable[bytes], seed: int, cursor: int, count: int) -> tuple[int, list[bytes]]:
    """What `ScanOrder.scan` gives, straight from the keys. O(n log n)."""
    places = [(crc32(key, seed), key) for key in keys]
    ahead = [pair for pair in places if pair[0] >= cursor]
    ahead.sort(key=_place_of)
    taken = max(count, 1)
    while taken < len(ahead) and ahead[taken][0] == ahead[taken - 1][0]:
        taken += 1
    following = ahead[taken][0] if taken < len(ahead) else 0
    return following, [pair[1] for pair in ahead[:taken]]
