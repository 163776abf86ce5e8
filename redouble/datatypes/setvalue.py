"""A set: a dict of its members, which remembers the order in which they came.

Redis has three encodings: sorted 64-bit integers (`intset`), members in order of arrival
(`listpack`), and a hash table. They show in OBJECT ENCODING, in the order of members, and in SSCAN
(the compact ones come in one piece). So `_encoding` follows Redis' rules for changing it, an intset
lists its members in order of number, and a set that stops being one keeps that order. An intset is
put in order when it is listed, not before: most sets are asked for single members only.

Set algebra runs over the dicts in C and keeps the order of the set that it walks.
"""

from random import Random
from typing import Final, final

from redouble.datatypes.limits import Limits
from redouble.datatypes.listpack import spells_int64
from redouble.datatypes.picking import new_order, order_of, pick, pick_many, pick_repeatedly
from redouble.datatypes.scanorder import ScanOrder

INTSET: Final = 0
LISTPACK: Final = 1
HASHTABLE: Final = 2
_NAMES: Final[list[bytes]] = [b"intset", b"listpack", b"hashtable"]


@final
class SetValue:
    """A set of strings. O(1) unless said otherwise."""

    __slots__ = ("members", "_encoding", "_in_order", "_limits", "_order")

    def __init__(self, limits: Limits) -> None:
        #: In order of arrival. To be read, not changed, by others.
        self.members: dict[bytes, None] = {}
        self._limits: Limits = limits
        self._encoding: int = INTSET
        #: Whether the members of an intset stand in order of number.
        self._in_order: bool = True
        self._order: ScanOrder | None = None

    def __len__(self) -> int:
        return len(self.members)

    def __contains__(self, member: bytes) -> bool:
        return member in self.members

    # -- changing ---------------------------------------------------------------------------

    def expect(self, first: bytes, count: int) -> None:
        """For a new set: about `count` members will come, the first of them `first`."""
        limits = self._limits
        if spells_int64(first) and (count <= limits.set_intset_entries or not limits.set_has_listpack):
            return
        fits = limits.set_has_listpack and count <= limits.set_listpack_entries
        self._encoding = LISTPACK if fits else HASHTABLE

    def expect_more(self, count: int) -> None:
        """About `count` members will come. Versions that know no listpacks don't look ahead."""
        limits = self._limits
        if not limits.set_has_listpack:
            return
        if self._encoding == INTSET:
            if count > limits.set_intset_entries:
                self._leave_intset(HASHTABLE)
        elif count > limits.set_listpack_entries:
            self._encoding = HASHTABLE

    def add(self, member: bytes) -> bool:
        """Add a member; False if it was there."""
        members = self.members
        if member in members:
            return False
        if self._encoding != HASHTABLE:
            self._adapt(member)
            members = self.members
        members[member] = None
        if self._order is not None:
            self._order.add(member)
        return True

    def discard(self, member: bytes) -> bool:
        """Take a member out; False if it was not there."""
        members = self.members
        if member not in members:
            return False
        del members[member]
        if self._order is not None:
            self._order.discard(member)
        return True

    def update(self, members: list[bytes]) -> None:
        """Add many members to a set that nobody has scanned yet. O(k)."""
        for member in members:
            if self._encoding == HASHTABLE:
                break
            self.add(member)
        if self._encoding == HASHTABLE:
            self.members.update(dict.fromkeys(members))

    def fill(self, members: list[bytes]) -> None:
        """Give an empty set its members, in the most compact encoding that fits. O(n)."""
        self.members = dict.fromkeys(members)
        if len(self.members) <= self._limits.set_intset_entries and all(map(spells_int64, members)):
            self._encoding = INTSET
            self._in_order = False
        else:
            self._encoding = LISTPACK if self._all_fit_listpack() else HASHTABLE

    def thin_out(self) -> None:
        """After most members were taken at once Redis builds the set anew, which makes it compact. O(n)."""
        if self._encoding != HASHTABLE:
            return
        if not self._limits.set_has_listpack:
            self.fill(list(self.members))
        elif self._all_fit_listpack():
            self._encoding = LISTPACK

    # -- reading ----------------------------------------------------------------------------

    def listing(self) -> list[bytes]:
        """All members in Redis' order as far as it has one, a new list. O(n); an intset that grew: O(n log n)."""
        if self._encoding == INTSET and not self._in_order:
            self._put_in_order()
        return list(self.members)

    def scan(self, cursor: int, count: int) -> tuple[int, list[bytes]]:
        """Walk on from a cursor over about `count` members: see `ScanOrder.scan`. O(count)."""
        if self._encoding != HASHTABLE:
            return 0, self.listing()
        if self._order is None:
            self._order = new_order(self.members)
        return self._order.scan(cursor, count)

    def pick(self, rng: Random) -> bytes:
        """A member by chance; there must be one. O(1) expected; O(n) the first time."""
        self._order = order_of(self.members, self._order)
        return pick(self.members, self._order, rng)

    def pick_repeatedly(self, rng: Random, count: int) -> list[bytes]:
        """`count` members by chance, each drawn anew; there must be one. O(count) expected; O(n) the first time."""
        self._order = order_of(self.members, self._order)
        return pick_repeatedly(self.members, self._order, rng, count)

    def pick_many(self, rng: Random, count: int) -> list[bytes]:
        """Up to `count` distinct members by chance. O(count) expected; O(n) the first time."""
        if count >= len(self.members):
            return self.listing()
        self._order = order_of(self.members, self._order)
        return pick_many(self.members, self._order, rng, count)

    def forget_order(self) -> None:
        """Drop the index for scans and picks, which remembers the past."""
        self._order = None

    def copy(self) -> "SetValue":
        """An independent set with the same members and encoding. O(n); an intset that grew: O(n log n)."""
        if self._encoding == INTSET and not self._in_order:
            self._put_in_order()
        other = SetValue(self._limits)
        other.members = self.members.copy()
        other._encoding = self._encoding
        other._in_order = self._in_order
        return other

    # -- encoding ---------------------------------------------------------------------------

    def encoding(self) -> bytes:
        """What OBJECT ENCODING answers."""
        return _NAMES[self._encoding]

    def compact(self) -> bool:
        """Whether it is no hash table."""
        return self._encoding != HASHTABLE

    def _adapt(self, member: bytes) -> None:
        """Before a new member: another encoding, if this one can't hold it."""
        size = len(self.members)
        limits = self._limits
        if self._encoding == INTSET:
            self._in_order = False
            if not spells_int64(member):
                fits = self._fits_listpack(member, size) and self._all_fit_listpack()
                self._leave_intset(LISTPACK if fits else HASHTABLE)
            elif size >= limits.set_intset_entries:
                self._leave_intset(HASHTABLE)
        elif not self._fits_listpack(member, size):
            self._encoding = HASHTABLE

    def _fits_listpack(self, member: bytes, size: int) -> bool:
        limits = self._limits
        if not limits.set_has_listpack:
            return False
        return size < limits.set_listpack_entries and len(member) <= limits.set_listpack_value

    def _all_fit_listpack(self) -> bool:
        limits = self._limits
        if not limits.set_has_listpack or len(self.members) > limits.set_listpack_entries:
            return False
        return max(map(len, self.members), default=0) <= limits.set_listpack_value

    def _leave_intset(self, encoding: int) -> None:
        self._put_in_order()
        self._encoding = encoding

    def _put_in_order(self) -> None:
        self.members = dict.fromkeys(sorted(self.members, key=int))
        self._in_order = True

    def _check(self) -> None:
        limits = self._limits
        size = len(self.members)
        if self._encoding == INTSET:
            assert size <= limits.set_intset_entries
            assert all(spells_int64(member) for member in self.members)
            assert not self._in_order or list(self.members) == sorted(self.members, key=int)
        elif self._encoding == LISTPACK:
            assert limits.set_has_listpack
            assert size <= limits.set_listpack_entries
        if self._order is not None:
            self._order._check()
            assert sorted(self._order.keys()) == sorted(self.members)
