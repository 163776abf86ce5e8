"""A list with two cheap ends and cheap access anywhere: two stacks, back to back.

`_front` holds the first part of the list in reverse, `_back` the rest, so both ends of the list are
ends of a Python list: pushing and popping are an `append` and a `pop` in C, an element is found by
its index in O(1), and a range is one or two slices. When a pop finds its own stack empty, half of the
other moves over; n operations so cost O(n) together, whatever their mix (R. R. Hoogerwoord, "A
symmetric set of efficient list operations", 1992). A short list is popped at the wrong end of its
only stack instead, which is cheaper than moving it. Operations in the middle (LINSERT, LREM) shift
pointers in C.

What OBJECT ENCODING would say is kept too. Redis turns a listpack into a quicklist when a push makes
it too large, and back when the only node that is left has shrunk to half the limit. Adding up sizes
at each push and pop would cost more than the push. So `_slack` says how many bytes may still be
pushed (while packed) or taken away (while not) before a change of encoding is possible at all; it is
counted down with an upper bound of the entry's size, and only when it is used up does `_settle` add
up the true sizes. Simplified: a quicklist's nodes are not modelled; it is taken to be one node again
when all of it would fit.
"""

from typing import Final, final

from redouble.datatypes.limits import Limits
from redouble.datatypes.listpack import EMPTY_LISTPACK, MOST_OVERHEAD, listpack_bytes

#: Up to this size a stack is popped at its far end, not split.
SHORT: Final = 32
#: Redis' size of a node when the limit is a number of entries.
_SAFE_BYTES: Final = 8192
_BOUNDLESS: Final = 1 << 62
_NODE_BYTES: Final[list[int]] = [4096, 8192, 16384, 32768, 65536]
#: For a new list: the least of the limits.
_FIRST_SLACK: Final = 4096 - EMPTY_LISTPACK


@final
class ListValue:
    """A list of strings. O(1) unless said otherwise; pops are amortised.

    `short` is the size up to which no stack is split; tests make it tiny.
    """

    __slots__ = ("_back", "_front", "_limits", "_packed", "_short", "_slack")

    def __init__(self, limits: Limits, items: list[bytes] | None = None, short: int = SHORT) -> None:
        """An empty list, or one of `items` (the list is taken over, O(n))."""
        self._front: list[bytes] = []
        self._back: list[bytes] = []
        self._limits: Limits = limits
        self._short: int = short
        self._packed: bool = limits.list_has_listpack
        self._slack: int = _FIRST_SLACK if limits.list_listpack_size < 0 else 0
        if items:
            self._back = items
            if self._packed:
                self._settle(0, 0)

    def __len__(self) -> int:
        return len(self._front) + len(self._back)

    # -- the ends ---------------------------------------------------------------------------

    def push_left(self, value: bytes) -> None:
        """Put a value before the first."""
        if self._packed:
            self._slack -= len(value) + MOST_OVERHEAD
            if self._slack < 0:
                self._settle(len(value), 1)
        self._front.append(value)

    def push_right(self, value: bytes) -> None:
        """Put a value behind the last."""
        if self._packed:
            self._slack -= len(value) + MOST_OVERHEAD
            if self._slack < 0:
                self._settle(len(value), 1)
        self._back.append(value)

    def extend_left(self, values: list[bytes]) -> None:
        """Put values before the first, one after the other: the last of them comes first. O(k)."""
        self._grow(values)
        self._front.extend(values)

    def extend_right(self, values: list[bytes]) -> None:
        """Put values behind the last. O(k)."""
        self._grow(values)
        self._back.extend(values)

    def pop_left(self) -> bytes:
        """Take the first value; there must be one."""
        front = self._front
        if front:
            value = front.pop()
        elif len(self._back) <= self._short:
            value = self._back.pop(0)
        else:
            self._front = _halve(self._back)
            value = self._front.pop()
        if not self._packed:
            self._slack -= len(value) + MOST_OVERHEAD
            if self._slack <= 0:
                self._settle(0, 0)
        return value

    def pop_right(self) -> bytes:
        """Take the last value; there must be one."""
        back = self._back
        if back:
            value = back.pop()
        elif len(self._front) <= self._short:
            value = self._front.pop(0)
        else:
            self._back = _halve(self._front)
            value = self._back.pop()
        if not self._packed:
            self._slack -= len(value) + MOST_OVERHEAD
            if self._slack <= 0:
                self._settle(0, 0)
        return value

    def rotate(self, from_left: bool, to_left: bool) -> bytes:
        """Move a value from one end to an end, which may be the same; there must be one. Amortised O(1).

        The list is as long as before, so its encoding stays.
        """
        packed, slack = self._packed, self._slack
        self._packed, self._slack = True, _BOUNDLESS
        value = self.pop_left() if from_left else self.pop_right()
        if to_left:
            self.push_left(value)
        else:
            self.push_right(value)
        self._packed, self._slack = packed, slack
        return value

    def pop_many_left(self, count: int) -> list[bytes]:
        """Take up to `count` values from the left, in the order of popping. O(count)."""
        count = min(count, len(self))
        taken = self.slice(0, count)
        self._keep(count, len(self))
        return taken

    def pop_many_right(self, count: int) -> list[bytes]:
        """Take up to `count` values from the right, in the order of popping. O(count)."""
        size = len(self)
        count = min(count, size)
        taken = self.slice(size - count, size)
        taken.reverse()
        self._keep(0, size - count)
        return taken

    # -- anywhere ---------------------------------------------------------------------------

    def get(self, index: int) -> bytes | None:
        """The value at an index (negative: from the end), or None."""
        ahead = len(self._front)
        size = ahead + len(self._back)
        if index < 0:
            index += size
        if index < 0 or index >= size:
            return None
        if index < ahead:
            return self._front[ahead - 1 - index]
        return self._back[index - ahead]

    def set(self, index: int, value: bytes) -> bool:
        """Replace the value at an index (negative: from the end); False if there is none."""
        old = self.get(index)
        if self._packed:
            self._slack -= len(value) + MOST_OVERHEAD
            if self._slack < 0:
                self._settle(len(value), 1)
        if old is None:
            return False
        ahead = len(self._front)
        if index < 0:
            index += len(self)
        if index < ahead:
            self._front[ahead - 1 - index] = value
        else:
            self._back[index - ahead] = value
        self._shrink(len(old) + MOST_OVERHEAD)
        return True

    def slice(self, start: int, stop: int) -> list[bytes]:
        """The values from `start` up to, not including, `stop`; 0 <= start <= stop. O(stop - start)."""
        front = self._front
        ahead = len(front)
        if start >= ahead:
            return self._back[start - ahead : stop - ahead]
        part = front[max(ahead - stop, 0) : ahead - start]
        part.reverse()
        if stop > ahead:
            part.extend(self._back[: stop - ahead])
        return part

    def items(self) -> list[bytes]:
        """All values, a new list. O(n)."""
        return self.slice(0, len(self))

    def trim(self, start: int, stop: int) -> int:
        """Keep only the values from `start` up to `stop`; how many went. O(number removed)."""
        size = len(self)
        self._keep(start, stop)
        return size - len(self)

    def insert(self, pivot: bytes, value: bytes, after: bool) -> bool:
        """Insert before or after the first `pivot`; False if there is none. O(n)."""
        self._grow([value])
        items = self.items()
        if pivot not in items:
            return False
        items.insert(items.index(pivot) + after, value)
        self._front = []
        self._back = items
        return True

    def remove(self, value: bytes, count: int) -> int:
        """Remove up to `count` equal values from the left, or -`count` from the right, or (0) all; how many. O(n)."""
        if count == 0:
            count = len(self)
        if count > 0:
            removed = _strike_backwards(self._front, value, count)
            removed += _strike(self._back, value, count - removed)
        else:
            removed = _strike_backwards(self._back, value, -count)
            removed += _strike(self._front, value, -count - removed)
        if removed:
            self._shrink(removed * (len(value) + MOST_OVERHEAD))
        return removed

    def positions(self, value: bytes, backwards: bool, count: int, within: int) -> list[int]:
        """The first (or last) `count` indexes of `value` among the first (or last) `within` items. O(n)."""
        items = self.items()
        if not backwards:
            return _hits(items, value, count, within)
        items.reverse()
        last = len(items) - 1
        return [last - hit for hit in _hits(items, value, count, within)]

    def copy(self) -> "ListValue":
        """An independent list with the same values and encoding. O(n)."""
        other = ListValue(self._limits, None, self._short)
        other._front = self._front.copy()
        other._back = self._back.copy()
        other._packed = self._packed
        other._slack = self._slack
        return other

    # -- encoding ---------------------------------------------------------------------------

    def encoding(self) -> bytes:
        """What OBJECT ENCODING answers."""
        return b"listpack" if self._packed else b"quicklist"

    def _grow(self, values: list[bytes]) -> None:
        """Before pushing: these values will come."""
        if self._packed:
            most = _most_bytes(values)
            self._slack -= most
            if self._slack < 0:
                self._settle(most - len(values) * MOST_OVERHEAD, len(values))

    def _shrink(self, most: int) -> None:
        """After removing values that took `most` bytes at most."""
        if not self._packed:
            self._slack -= most
            if self._slack <= 0:
                self._settle(0, 0)

    def _settle(self, more_bytes: int, more_entries: int) -> None:
        """Choose the encoding by the true size and what will be pushed; renew the slack. O(n)."""
        if not self._limits.list_has_listpack:
            self._slack = _BOUNDLESS
            return
        fill = self._limits.list_listpack_size
        size = listpack_bytes(self._front) + listpack_bytes(self._back) - EMPTY_LISTPACK + more_bytes
        entries = len(self) + more_entries
        most_bytes = _NODE_BYTES[min(-fill, 5) - 1] if fill < 0 else _SAFE_BYTES
        most_entries = max(fill, 1) if fill >= 0 else _BOUNDLESS
        if self._packed:
            # A push takes at least MOST_OVERHEAD of the slack, so room for entries is counted as bytes.
            room = min(most_bytes - size, most_entries - entries)
            self._packed = room >= 0
            self._slack = room - more_entries * MOST_OVERHEAD if self._packed else 0
            return
        if fill < 0:
            self._slack = size - most_bytes // 2
        else:
            self._slack = (entries - most_entries // 2) * MOST_OVERHEAD
        if self._slack <= 0:
            self._packed = True
            self._slack = 0

    def _keep(self, start: int, stop: int) -> None:
        """Drop what is before `start` and from `stop` on. O(number dropped)."""
        stop = max(start, stop)
        most = 0
        if not self._packed:
            most = _most_bytes(self.slice(0, start)) + _most_bytes(self.slice(stop, max(stop, len(self))))
        front = self._front
        ahead = len(front)
        del self._back[max(stop - ahead, 0) :]
        del self._back[: max(start - ahead, 0)]
        del front[max(ahead - start, 0) :]
        del front[: max(ahead - stop, 0)]
        if most:
            self._shrink(most)

    def _check(self) -> None:
        assert self._limits.list_has_listpack or not self._packed
        if self._packed and self._limits.list_listpack_size < 0:
            # Redis counts the bare values before a push, not their entries, so it may exceed the limit a bit.
            assert self._slack <= max(_NODE_BYTES)


def _most_bytes(values: list[bytes]) -> int:
    """What the entries of `values` take at most."""
    total = len(values) * MOST_OVERHEAD
    for value in values:
        total += len(value)
    return total


def _halve(stack: list[bytes]) -> list[bytes]:
    """Take the lower half of a stack, turned round: the opposite stack."""
    half = (len(stack) + 1) // 2
    other = stack[:half]
    other.reverse()
    del stack[:half]
    return other


def _hits(items: list[bytes], value: bytes, count: int, stop: int) -> list[int]:
    """The first `count` indexes below `stop` at which `value` stands. O(n)."""
    found: list[int] = []
    at = 0
    try:
        while len(found) < count:
            at = items.index(value, at, stop)
            found.append(at)
            at += 1
    except ValueError:
        pass  # There is no more of it.
    return found


def _strike(items: list[bytes], value: bytes, count: int) -> int:
    """Remove the first `count` occurrences; how many there were. O(n)."""
    hits = _hits(items, value, count, len(items))
    if len(hits) == 1:
        del items[hits[0]]
    elif hits:
        kept: list[bytes] = []
        begin = 0
        for hit in hits:
            kept.extend(items[begin:hit])
            begin = hit + 1
        kept.extend(items[begin:])
        items[:] = kept
    return len(hits)


def _strike_backwards(items: list[bytes], value: bytes, count: int) -> int:
    """Remove the last `count` occurrences; how many there were. O(n)."""
    items.reverse()
    removed = _strike(items, value, count)
    items.reverse()
    return removed
