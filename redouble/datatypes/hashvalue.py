"""A hash: a dict from field to value, and deadlines for the fields that have one.

Deadlines are rare, so a hash has no room for them until the first. Then `deadlines` holds them by
field, and a heap of `(deadline, field)` gives the next; an item of the heap counts only while the
dict still says the same (lazy deletion), and the top of the heap is always such an item. `soonest` is
its deadline, or `NEVER`; one comparison tells that nothing has expired.

Redis' encodings are followed for OBJECT ENCODING, and because HSCAN shows a compact hash in one piece.
"""

import heapq
from itertools import chain
from random import Random
from typing import Final, final

from redouble.datatypes.limits import Limits
from redouble.datatypes.picking import new_order, order_of, pick, pick_many, pick_repeatedly
from redouble.datatypes.scanorder import ScanOrder

#: Later than any deadline.
NEVER: Final = 1 << 63
_SWEEP_SLACK: Final = 64
_NO_DEADLINES: Final[dict[bytes, int]] = {}


@final
class HashValue:
    """A hash of strings. O(1) unless said otherwise.

    Expired fields stay until `drop_expired` is called; who looks up a hash does so first.
    """

    __slots__ = ("fields", "deadlines", "soonest", "_heap", "_limits", "_order", "_packed")

    def __init__(self, limits: Limits) -> None:
        #: In order of arrival. To be read, not changed, by others.
        self.fields: dict[bytes, bytes] = {}
        #: Unix time in ms by field. To be read, not changed, by others.
        self.deadlines: dict[bytes, int] = _NO_DEADLINES
        #: The earliest deadline, or `NEVER`.
        self.soonest: int = NEVER
        self._heap: list[tuple[int, bytes]] = []
        self._limits: Limits = limits
        self._order: ScanOrder | None = None
        self._packed: bool = True

    def __len__(self) -> int:
        return len(self.fields)

    # -- changing ---------------------------------------------------------------------------

    def expect(self, count: int) -> None:
        """About `count` fields will be set in one go."""
        if self._limits.looks_ahead and count > self._limits.hash_entries:
            self._packed = False

    def set(self, field: bytes, value: bytes) -> bool:
        """Set a field; its deadline goes. True if it is new."""
        if self.soonest != NEVER:
            self.persist(field)
        return self.replace(field, value)

    def replace(self, field: bytes, value: bytes) -> bool:
        """Set a field, its deadline stays. True if it is new."""
        fields = self.fields
        size = len(fields)
        fields[field] = value
        if self._packed:
            limits = self._limits
            if len(fields) > limits.hash_entries or len(value) > limits.hash_value or len(field) > limits.hash_value:
                self._packed = False
        if len(fields) == size:
            return False
        if self._order is not None:
            self._order.add(field)
        return True

    def discard(self, field: bytes) -> bool:
        """Take a field out; False if it was not there."""
        fields = self.fields
        if field not in fields:
            return False
        del fields[field]
        if self._order is not None:
            self._order.discard(field)
        if self.soonest != NEVER:
            self.persist(field)
        return True

    # -- deadlines --------------------------------------------------------------------------

    def keep_deadlines(self) -> None:
        """Be ready for deadlines; a compact hash changes its encoding by that."""
        if self.deadlines is _NO_DEADLINES:
            self.deadlines = {}

    def set_deadline(self, field: bytes, deadline: int) -> None:
        """Let a field that is there expire after `deadline` (Unix time in ms). O(log n)."""
        self.keep_deadlines()
        self.deadlines[field] = deadline
        if len(self._heap) > 2 * len(self.deadlines) + _SWEEP_SLACK:
            self._heap = [(when, name) for name, when in self.deadlines.items()]
            heapq.heapify(self._heap)
        else:
            heapq.heappush(self._heap, (deadline, field))
        self._renew_soonest()

    def persist(self, field: bytes) -> bool:
        """Let a field live for ever; False if it did anyway. O(log n)."""
        if self.deadlines.pop(field, None) is None:
            return False
        self._renew_soonest()
        return True

    def deadline_of(self, field: bytes) -> int:
        """When a field expires, Unix time in ms, or `NEVER`."""
        return self.deadlines.get(field, NEVER)

    def drop_expired(self, now: int) -> list[bytes]:
        """Drop the fields whose deadline has passed, in order; which they were. O(k log n)."""
        dropped: list[bytes] = []
        while self.soonest < now:
            field = self._heap[0][1]
            dropped.append(field)
            self.discard(field)
        return dropped

    def _renew_soonest(self) -> None:
        """Make the top of the heap true."""
        heap = self._heap
        deadlines = self.deadlines
        while heap and deadlines.get(heap[0][1]) != heap[0][0]:
            heapq.heappop(heap)
        self.soonest = heap[0][0] if heap else NEVER

    # -- reading ----------------------------------------------------------------------------

    def flat(self) -> list[bytes]:
        """Field, value, field, value: a new list. O(n)."""
        return list(chain.from_iterable(self.fields.items()))

    def scan(self, cursor: int, count: int) -> tuple[int, list[bytes]]:
        """Walk on from a cursor over about `count` fields: see `ScanOrder.scan`. O(count)."""
        if self._packed:
            return 0, list(self.fields)
        if self._order is None:
            self._order = new_order(self.fields)
        return self._order.scan(cursor, count)

    def pick(self, rng: Random) -> bytes:
        """A field by chance; there must be one. O(1) expected; O(n) the first time."""
        self._order = order_of(self.fields, self._order)
        return pick(self.fields, self._order, rng)

    def pick_repeatedly(self, rng: Random, count: int) -> list[bytes]:
        """`count` fields by chance, each drawn anew; there must be one. O(count) expected; O(n) the first time."""
        self._order = order_of(self.fields, self._order)
        return pick_repeatedly(self.fields, self._order, rng, count)

    def pick_many(self, rng: Random, count: int) -> list[bytes]:
        """Up to `count` distinct fields by chance. O(count) expected; O(n) the first time."""
        self._order = order_of(self.fields, self._order)
        return pick_many(self.fields, self._order, rng, count)

    def forget_order(self) -> None:
        """Drop the index for scans and picks, which remembers the past."""
        self._order = None

    def copy(self) -> "HashValue":
        """An independent hash with the same fields, deadlines and encoding. O(n)."""
        other = HashValue(self._limits)
        other.fields = self.fields.copy()
        if self.deadlines is not _NO_DEADLINES:
            other.deadlines = self.deadlines.copy()
            other._heap = self._heap.copy()
        other.soonest = self.soonest
        other._packed = self._packed
        return other

    # -- encoding ---------------------------------------------------------------------------

    def encoding(self) -> bytes:
        """What OBJECT ENCODING answers. A compact hash that once had a deadline stays `listpackex`."""
        if not self._packed:
            return b"hashtable"
        return b"listpack" if self.deadlines is _NO_DEADLINES else b"listpackex"

    def compact(self) -> bool:
        """Whether it is no hash table."""
        return self._packed

    def _check(self) -> None:
        assert not _NO_DEADLINES
        assert all(field in self.fields for field in self.deadlines)
        assert self.soonest == min(self.deadlines.values(), default=NEVER)
        assert {(when, field) for field, when in self.deadlines.items()} <= set(self._heap)
        assert not self._packed or len(self.fields) <= self._limits.hash_entries
        if self._order is not None:
            self._order._check()
            assert sorted(self._order.keys()) == sorted(self.fields)
