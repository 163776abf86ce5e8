"""One numbered database: keys to entries, with lookup, expiry and the announcement of changes.

An `Entry` carries what Redis keeps per key: the value, the deadline, the time of the last access. So
one dictionary lookup answers everything, and one comparison tells whether the key has expired
(`NEVER` is later than any deadline).

Values are plain: a string is `bytes` (or a `bytearray` once it has been changed in place); lists,
hashes, sets, sorted sets and streams are structures of `datatypes`. `typed.py` tells them apart.

Who reads for a client uses `read` (it counts hits and misses); who is about to write uses `find`;
who must leave no trace (OBJECT, TYPE, TTL) uses `peek`. All three let an expired key vanish.

Changes go through `store`, `add` and `remove` for whole keys. After *any* change, `touch` is called
once for each changed key, with the class and name of its event (by `taken` where elements go). That is
the one door for WATCH, keyspace events, client-side caches and the dirty counter.

Who waits for a key is not woken by each change but, as in Redis, by what can end a wait: a key comes into
being, an entry comes into a stream, a stream goes or gives way to another value, a group goes. Keys see to
that themselves (`add`, `put`, `store`, `remove`); the commands of streams call `wake`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from redouble.datatypes.hashvalue import HashValue
from redouble.datatypes.scanorder import ScanOrder
from redouble.datatypes.stream import Stream
from redouble.keyspace import events

if TYPE_CHECKING:
    from redouble.keyspace.space import Keyspace
    from redouble.keyspace.watch import WatchState

#: Later than any deadline. Redis' own largest is 2^63 - 1.
NEVER: Final = 1 << 63


@final
class Entry:
    """A key's value and what is kept beside it."""

    __slots__ = ("value", "deadline", "access", "frequency")

    def __init__(self, value: Any, access: int) -> None:
        self.value: Any = value
        #: Unix time in ms after which the key is gone, or `NEVER`.
        self.deadline: int = NEVER
        #: When it was last used, Unix time in ms.
        self.access: int = access
        #: The LFU counter, logarithmic, as OBJECT FREQ shows it.
        self.frequency: int = 5


#: What comes with FLUSHDB.
_NOTHING: Final[dict[bytes, Entry]] = {}


@final
class Database:
    """The keys of one database. All operations O(1) unless said otherwise."""

    __slots__ = ("index", "space", "data", "volatile", "order", "watchers", "waiters", "expired_keys")

    def __init__(self, index: int, space: Keyspace) -> None:
        self.index: int = index
        self.space: Keyspace = space
        self.data: dict[bytes, Entry] = {}
        #: How many keys have a deadline.
        self.volatile: int = 0
        #: The order of SCAN and RANDOMKEY, alive only while somebody needs it.
        self.order: ScanOrder | None = None
        self.watchers: dict[bytes, list[WatchState]] = {}
        #: Keys that parked clients wait for; the engine owns the values.
        self.waiters: dict[bytes, Any] = {}
        self.expired_keys: int = 0

    # -- looking ----------------------------------------------------------------------------

    def find(self, key: bytes) -> Entry | None:
        """The entry for a command that may change it."""
        entry = self.data.get(key)
        if entry is None:
            return None
        now = self.space.now
        if entry.deadline < now:
            self.expire(key)
            return None
        if self.space.track_access:
            entry.access = now
        return entry

    def read(self, key: bytes) -> Entry | None:
        """The entry for a command that only reads; counts a hit or a miss."""
        entry = self.data.get(key)
        space = self.space
        if entry is not None:
            now = space.now
            if entry.deadline >= now:
                if space.track_access:
                    entry.access = now
                space.hits += 1
                return entry
            self.expire(key)
        space.misses += 1
        if space.interest & events.NOTIFIED:
            self.notify(key, events.MISS, b"keymiss")
        return None

    def peek(self, key: bytes) -> Entry | None:
        """The entry, leaving no trace of the look."""
        entry = self.data.get(key)
        if entry is not None and entry.deadline < self.space.now:
            self.expire(key)
            return None
        return entry

    # -- changing ---------------------------------------------------------------------------

    def store(self, key: bytes, value: Any) -> Entry:
        """Give the key a new value, whatever it held; its deadline goes. The caller touches."""
        entry = self.data.get(key)
        if entry is None:
            return self.add(key, value)
        if entry.deadline != NEVER:
            if entry.deadline < self.space.now:
                self.expire(key)
                return self.add(key, value)
            entry.deadline = NEVER
            self.volatile -= 1
        if isinstance(entry.value, Stream):
            self.wake(key)
        entry.value = value
        entry.access = self.space.now
        return entry

    def add(self, key: bytes, value: Any) -> Entry:
        """Create a key that is known to be absent. The caller touches."""
        space = self.space
        entry = Entry(value, space.now)
        self.data[key] = entry
        if self.order is not None:
            self.order.add(key)
        if space.interest:
            self._announce_new(key)
        return entry

    def put(self, key: bytes, entry: Entry) -> None:
        """Place an existing entry under a key that is known to be absent (RENAME, MOVE, RESTORE)."""
        self.load(key, entry)
        if self.space.interest:
            self._announce_new(key)

    def load(self, key: bytes, entry: Entry) -> None:
        """As `put`, but nobody is told: for keys from a file."""
        self.data[key] = entry
        if entry.deadline != NEVER:
            self.volatile += 1
            self.space.schedule_expiry(self, key, entry.deadline)
        value = entry.value
        if isinstance(value, HashValue) and value.soonest != NEVER:
            self.space.schedule_expiry(self, key, value.soonest)
        if self.order is not None:
            self.order.add(key)

    def remove(self, key: bytes) -> Entry | None:
        """Take the key away; the entry it had, or None. The caller touches."""
        entry = self.data.pop(key, None)
        if entry is not None:
            if entry.deadline != NEVER:
                self.volatile -= 1
            if self.order is not None:
                self.order.discard(key)
            if isinstance(entry.value, Stream):
                self.wake(key)
        return entry

    def remove_if_empty(self, key: bytes, size: int) -> None:
        """After elements were taken: a collection of no `size` does not exist; announces `del`."""
        if size == 0:
            self.remove(key)
            self.notify(key, events.GENERIC, b"del")

    def taken(self, key: bytes, event_class: int, event: bytes, changes: int, left: int) -> None:
        """Announce that elements were taken out of a collection, of which so many are `left`; none is no key.

        As in Redis 7.4 the events come before clients that keep the key hear of it, where `touch` tells these first.
        """
        if left == 0:
            self.remove(key)
        if self.space.interest & events.NOTIFIED:
            self.notify(key, event_class, event)
            if left == 0:
                self.notify(key, events.GENERIC, b"del")
        self.touch(key, 0, b"", changes)

    def set_deadline(self, key: bytes, entry: Entry, deadline: int) -> None:
        """Let the key expire after `deadline` (Unix time in ms), or never with `NEVER`. O(log n)."""
        if entry.deadline == NEVER:
            if deadline != NEVER:
                self.volatile += 1
        elif deadline == NEVER:
            self.volatile -= 1
        entry.deadline = deadline
        if deadline != NEVER:
            self.space.schedule_expiry(self, key, deadline)

    def expire(self, key: bytes) -> None:
        """Remove a key whose deadline has passed, and say so. While writes are paused it only hides."""
        space = self.space
        if space.expiry_held:
            return
        self.remove(key)
        self.expired_keys += 1
        space.expired += 1
        self.touch(key, events.EXPIRED, b"expired")

    def expire_fields(self, key: bytes, value: HashValue) -> bool:
        """Drop the fields of a hash that are due, and say so; True when that was all of it. O(k log n)."""
        if self.space.expiry_held:
            return False
        dropped = value.drop_expired(self.space.now)
        if not dropped:
            return False
        self.space.expired_fields += len(dropped)
        self.touch(key, events.HASH, b"hexpired")
        if self.space.interest & events.FED:
            self.space.listener.fields_lost(self, key, dropped)
        self.remove_if_empty(key, len(value))
        if len(value) == 0:
            return True
        if value.soonest != NEVER:
            self.space.schedule_expiry(self, key, value.soonest)
        return False

    def flush(self) -> int:
        """Remove every key; how many there were. O(watched and waited keys)."""
        count = len(self.data)
        self.touch_all(_NOTHING)
        for key in self.waiters:
            if key in self.data:
                self.wake(key)
        if self.space.interest & events.TRACKED:
            self.space.listener.keys_flushed()
        self.data = {}
        self.volatile = 0
        self.order = None
        return count

    def exchange(self, data: dict[bytes, Entry], volatile: int) -> None:
        """Put other keys, of which `volatile` have a deadline, in the place of all. O(watched and waited keys).

        Who watches keys or waits for them hears of it. The caller sees to the deadlines (`Keyspace.set_deadlines`).
        """
        if self.data or data:
            self.touch_all(data)
            for key in self.waiters:
                if key in self.data or key in data:
                    self.wake(key)
            self.data = data
        self.volatile = volatile
        self.order = None

    # -- announcing -------------------------------------------------------------------------

    def touch(self, key: bytes, event_class: int, event: bytes, changes: int = 1) -> None:
        """Announce that `key` has changed: the one door.

        `event` is the keyspace event's name (class 0: none, or one that the caller publishes by `notify` in another
        order), `changes` says how many changes Redis counts (for the next save).
        """
        space = self.space
        space.dirty += changes
        if space.interest:
            self._announce(key, event_class, event)

    def _announce(self, key: bytes, event_class: int, event: bytes) -> None:
        space = self.space
        interest = space.interest
        if interest & events.WATCHED:
            watchers = self.watchers.get(key)
            if watchers is not None:
                for state in watchers:
                    state.touched(self, key)
        if interest & events.TRACKED:
            space.listener.key_changed(self, key)
        if interest & events.FED and event_class & (events.EXPIRED | events.EVICTED):
            space.listener.key_lost(self, key)
        if interest & events.NOTIFIED:
            self.notify(key, event_class, event)

    def _announce_new(self, key: bytes) -> None:
        self.wake(key)
        if self.space.interest & events.NOTIFIED:
            self.notify(key, events.NEW, b"new")

    def wake(self, key: bytes) -> None:
        """Let those who wait for `key` try again, once the command that runs is done."""
        if key in self.waiters:
            self.space.ready.append((self, key))

    def notify(self, key: bytes, event_class: int, event: bytes) -> None:
        """Publish a keyspace event that is not (or not the first) announcement of a change."""
        space = self.space
        if space.notify_classes & event_class:
            space.listener.key_event(self, key, event)

    def touch_all(self, coming: dict[bytes, Entry]) -> None:
        """Before other keys, or none, come in place of all: break each WATCH that this concerns. O(watched keys)."""
        for key, watchers in self.watchers.items():
            mine = key in self.data
            theirs = coming.get(key)
            if mine or theirs is not None:
                for state in watchers:
                    state.replaced(self, key, mine, theirs)

    # -- order ------------------------------------------------------------------------------

    def scan_order(self) -> ScanOrder:
        """The order of SCAN, built when it is not there. O(n) the first time."""
        if self.order is None:
            self.order = ScanOrder(self.data, self.space.scan_seed)
        return self.order
