"""All databases of one server, and what they share: time, chance, limits, deadlines, interest.

`now` is the time that every lookup compares with. The engine sets it before a command (or a script,
or an EXEC) runs, so that time stands still within it, as Redis promises.

Deadlines: a heap of `(deadline, database, key)`, pushed when a deadline is set and believed only if
the entry still says so. `expire_due` takes what came due in order of time, so `expired` events come
when due, not when somebody looks. Stale items are swept out when they outnumber the live ones.
"""

from __future__ import annotations

import heapq
from random import Random
from typing import Final, final

from mypy_extensions import trait

from redouble.clock import Clock
from redouble.datatypes.hashvalue import HashValue
from redouble.datatypes.limits import Limits
from redouble.keyspace import events
from redouble.keyspace.database import NEVER, Database

_SWEEP_SLACK: Final = 1024


@trait
class KeyListener:
    """What the engine wants to hear of keys."""

    def key_event(self, database: Database, key: bytes, event: bytes) -> None:
        """A keyspace event that the configured classes admit."""
        raise NotImplementedError

    def key_changed(self, database: Database, key: bytes) -> None:
        """A key has changed that clients may hold in their caches."""
        raise NotImplementedError

    def keys_flushed(self) -> None:
        """All keys of a database have gone that clients may hold in their caches."""
        raise NotImplementedError

    def databases_swapped(self) -> None:
        """Two databases have exchanged their keys."""
        raise NotImplementedError

    def key_lost(self, database: Database, key: bytes) -> None:
        """A key has expired or was evicted, and replicas must hear of it."""
        raise NotImplementedError

    def fields_lost(self, database: Database, key: bytes, fields: list[bytes]) -> None:
        """Fields of a hash have expired, and replicas must hear of it."""
        raise NotImplementedError


@final
class Keyspace:
    """The databases of a server."""

    __slots__ = (
        "clock", "random", "limits", "databases", "now", "dirty", "interest", "notify_classes", "listener",
        "ready", "hits", "misses", "expired", "expiry_held", "expiry_active", "track_access", "scan_seed",
        "deadlines", "expired_fields", "_interest_counts", "_sweep_at",
    )  # fmt: skip

    def __init__(self, clock: Clock, random: Random, limits: Limits, count: int, listener: KeyListener) -> None:
        self.clock: Clock = clock
        self.random: Random = random
        self.limits: Limits = limits
        self.listener: KeyListener = listener
        self.now: int = clock.now()
        self.scan_seed: int = random.getrandbits(32)
        #: How many changes there were since the last save.
        self.dirty: int = 0
        #: Bits of `events`: who must hear of a touched key.
        self.interest: int = 0
        self._interest_counts: dict[int, int] = {}
        self.notify_classes: int = 0
        #: Keys that changed while clients wait for them, in order.
        self.ready: list[tuple[Database, bytes]] = []
        self.hits: int = 0
        self.misses: int = 0
        self.expired: int = 0
        self.expired_fields: int = 0
        #: True while writes are paused: expired keys are hidden, not removed.
        self.expiry_held: bool = False
        #: False after DEBUG SET-ACTIVE-EXPIRE 0.
        self.expiry_active: bool = True
        #: False while a client with NO-TOUCH runs its command.
        self.track_access: bool = True
        self.deadlines: list[tuple[int, int, bytes]] = []
        #: At this size the stale deadlines are swept out.
        self._sweep_at: int = _SWEEP_SLACK
        self.databases: list[Database] = [Database(index, self) for index in range(count)]

    def count_interest(self, bit: int, change: int) -> None:
        """One more (or fewer) reason of this kind to look closer at touched keys."""
        count = self._interest_counts.get(bit, 0) + change
        self._interest_counts[bit] = count
        if count > 0:
            self.interest |= bit
        else:
            self.interest &= ~bit

    def set_notify_classes(self, flags: int) -> None:
        """Publish keyspace events of these classes."""
        self.notify_classes = flags
        if flags & (events.TO_KEYSPACE | events.TO_KEYEVENT):
            self.interest |= events.NOTIFIED
        else:
            self.interest &= ~events.NOTIFIED

    # -- deadlines --------------------------------------------------------------------------

    def schedule_expiry(self, database: Database, key: bytes, deadline: int) -> None:
        """Remember that something of `key` may expire after `deadline`. O(log n)."""
        if len(self.deadlines) > self._sweep_at:
            self.sweep()
        heapq.heappush(self.deadlines, (deadline, database.index, key))

    def next_deadline(self) -> int | None:
        """The next time at which something may expire, or None. Unix time in ms."""
        if self.deadlines and self.expiry_active and not self.expiry_held:
            return self.deadlines[0][0] + 1
        return None

    def expire_due(self) -> None:
        """Remove what has expired by `now`, in order of deadline. O(k log n)."""
        if not self.expiry_active or self.expiry_held:
            return
        while self.deadlines and self.deadlines[0][0] < self.now:
            deadline, index, key = heapq.heappop(self.deadlines)
            database = self.databases[index]
            entry = database.data.get(key)
            if entry is None:
                continue
            if entry.deadline == deadline:
                database.expire(key)
            elif isinstance(entry.value, HashValue):
                soonest = entry.value.soonest
                if soonest < self.now:
                    database.expire_fields(key, entry.value)
                elif soonest != NEVER:
                    # Its earliest deadline has been put off since.
                    self.schedule_expiry(database, key, soonest)

    def prune(self) -> None:
        """Make the top of the heap true: `next_deadline` names a time at which something expires. O(k log n)."""
        heap = self.deadlines
        while heap:
            deadline, index, key = heap[0]
            entry = self.databases[index].data.get(key)
            if entry is not None:
                if entry.deadline == deadline:
                    return
                if isinstance(entry.value, HashValue) and entry.value.soonest != NEVER:
                    if entry.value.soonest <= deadline:
                        return
                    heapq.heapreplace(heap, (entry.value.soonest, index, key))
                    continue
            heapq.heappop(heap)

    def set_deadlines(self, items: list[tuple[int, int, bytes]]) -> None:
        """All deadlines there are, in order, after all keys were exchanged. O(n)."""
        self.deadlines = items.copy()
        self._sweep_at = 2 * len(items) + _SWEEP_SLACK

    def sweep(self) -> None:
        """Drop the stale items of the heap; what is left is sorted. O(n log n)."""
        live: set[tuple[int, int, bytes]] = set()
        for item in self.deadlines:
            entry = self.databases[item[1]].data.get(item[2])
            if entry is None:
                continue
            if entry.deadline == item[0]:
                live.add(item)
            elif isinstance(entry.value, HashValue) and entry.value.soonest != NEVER:
                live.add((entry.value.soonest, item[1], item[2]))
        self.deadlines = sorted(live)
        self._sweep_at = 2 * len(live) + _SWEEP_SLACK

    # -- whole databases --------------------------------------------------------------------

    def swap(self, first: int, second: int) -> None:
        """Exchange the keys of two databases; clients see the other's at once. O(watched keys)."""
        a = self.databases[first]
        b = self.databases[second]
        a.touch_all(b.data)
        b.touch_all(a.data)
        a.data, b.data = b.data, a.data
        a.volatile, b.volatile = b.volatile, a.volatile
        a.order, b.order = b.order, a.order
        self.reschedule(a)
        self.reschedule(b)
        self.listener.databases_swapped()
        for database in (a, b):
            for key in database.waiters:
                database.wake(key)

    def reschedule(self, database: Database) -> None:
        """Enter all deadlines of a database anew, after its data was exchanged. O(n log n)."""
        for key, entry in database.data.items():
            if isinstance(entry.value, HashValue):
                if entry.value.soonest != NEVER:
                    self.schedule_expiry(database, key, entry.value.soonest)
            if entry.deadline != NEVER:
                self.schedule_expiry(database, key, entry.deadline)
