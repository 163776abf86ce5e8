"""WATCH: what one client watches, and whether it has changed since.

Each watched key of a database lists the states that watch it (`Database.watchers`); `touch` marks
them broken. A key that had already expired when WATCH was said is remembered as such: its removal
later is no change (Redis, transactions).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from redouble.keyspace import events

if TYPE_CHECKING:
    from redouble.keyspace.database import Database, Entry


@final
class WatchState:
    """The keys that one client watches."""

    __slots__ = ("broken", "keys")

    def __init__(self) -> None:
        #: True once a watched key has changed: EXEC will answer null.
        self.broken: bool = False
        #: Where; and whether the key had already expired when it was watched.
        self.keys: dict[tuple[Database, bytes], bool] = {}

    def watch(self, database: Database, key: bytes) -> None:
        """Begin to watch a key. O(1)."""
        mark = (database, key)
        if mark in self.keys:
            return
        entry = database.data.get(key)
        self.keys[mark] = entry is not None and entry.deadline < database.space.now
        database.watchers.setdefault(key, []).append(self)
        database.space.count_interest(events.WATCHED, 1)

    def touched(self, database: Database, key: bytes) -> None:
        """A watched key has changed, unless only the remains of a key that was already expired have gone. O(1)."""
        mark = (database, key)
        if self.keys[mark] and key not in database.data:
            self.keys[mark] = False
        else:
            self.broken = True

    def replaced(self, database: Database, key: bytes, mine: bool, theirs: Entry | None) -> None:
        """The key, which exists if `mine`, is about to be flushed or to become `theirs`. O(1)."""
        mark = (database, key)
        stale = theirs is not None and theirs.deadline < database.space.now
        if self.keys[mark]:
            if theirs is None:
                self.keys[mark] = False
                return
            if stale:
                return
        elif stale and not mine:
            self.keys[mark] = True
            return
        self.broken = True

    def any_expired(self) -> bool:
        """Whether a watched key has expired since, though nobody has noticed yet. O(keys)."""
        for (database, key), expired_then in self.keys.items():
            entry = database.data.get(key)
            if not expired_then and entry is not None and entry.deadline < database.space.now:
                return True
        return False

    def forget(self) -> None:
        """Watch nothing any more. O(keys)."""
        for database, key in self.keys:
            watchers = database.watchers[key]
            watchers.remove(self)
            if not watchers:
                del database.watchers[key]
            database.space.count_interest(events.WATCHED, -1)
        self.keys.clear()
        self.broken = False
