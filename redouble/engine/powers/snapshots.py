"""Whole states by name: all databases, scripts, functions and, if wanted, the clock.

A snapshot keeps values that nobody ever changes. SAVE copies what is there; RESTORE copies back. But copying ten
thousand collections takes too long to be done before every test, so only what has changed is copied:

- Beside the values that it keeps, a snapshot has a *stock*: the entries with which it was put in place (or saved)
  last, and which keys have changed since, so that their entries are spoilt. RESTORE takes the others from the stock.
  A stock outlives FLUSHALL and the RESTORE of another snapshot, which only give the database another dictionary.
- The engine knows whose entries it has now (`_base`) and tells it of changes. A key counts as changed when it was
  touched, and also when a write command named it, because some change what no event tells (an encoding, when a
  consumer was last seen). Where nobody could tell which entries change (SWAPDB, a file that was loaded) the stock goes.
- SAVE shares values that have not changed since `_base` with it, and takes its stock over. So RESTORE sees by identity
  which values two snapshots have in common, and takes entries from the other one's stock too.

Every restored database gets a new dictionary, filled in the saved order, because the order shows (KEYS, RANDOMKEY);
deadline and last access of each key are set anew, which takes about half a microsecond a key. Strings are shared as
they are. Nothing is remembered, and no command observed, while the keys come from no snapshot or from an empty one.

For clients a RESTORE is like a FLUSHALL followed by new keys: WATCH on any key that was or is there breaks, caches
are told to forget all, who waits for a key that is there now is served. No keyspace event tells of it, and replicas
are hung up on, so that they come for everything anew. Connections, subscriptions, settings, users and statistics
stay as they are. A function keeps what it remembers in its own local variables.

Deadlines are points in time. Restored without the clock, a key whose time has passed meanwhile expires at once, and
says so; with the clock it has as long to live as it had then.

In a cluster one node's SAVE and RESTORE are those of all nodes, and who owns which slot belongs to the state.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f
from redouble.engine.keyfinder import keys_of
from redouble.errors import CommandError
from redouble.keyspace import events
from redouble.keyspace.database import Database, Entry
from redouble.keyspace.typed import duplicate
from redouble.lua_runtime.functions import FunctionLibraries
from redouble.lua_runtime.runtime import ScriptCache

if TYPE_CHECKING:
    from redouble.engine.cluster import Layout
    from redouble.engine.command import Command
    from redouble.engine.context import Context
    from redouble.engine.engine import Engine
    from redouble.keyspace.space import Keyspace

_NONE: Final[dict[bytes, Entry]] = {}
_NO_KEYS: Final[set[bytes]] = set()


@final
class Snapshot:
    """The state of one engine at one time."""

    __slots__ = (
        "databases", "volatile", "deadlines", "scripts", "libraries", "layout", "at_us", "frozen", "has_clock",
        "stock", "spoilt",
    )  # fmt: skip

    def __init__(self, engine: Engine, databases: list[dict[bytes, Entry]], layout: Layout | None, clock: bool) -> None:
        space = engine.space
        #: Entries that nobody changes, by key, in the order of the keys.
        self.databases: list[dict[bytes, Entry]] = databases
        self.volatile: list[int] = [database.volatile for database in space.databases]
        #: As in `Keyspace`; sorted, and none of them stale.
        self.deadlines: list[tuple[int, int, bytes]] = space.deadlines.copy()
        self.scripts: ScriptCache = engine.scripting.runtime.cached()
        self.libraries: FunctionLibraries = engine.scripting.libraries.copy()
        self.layout: Layout | None = layout
        #: When it was taken, microseconds; whether the clock stood; whether RESTORE sets the clock.
        self.at_us: int = engine.clock.now_us()
        self.frozen: bool = engine.clock.frozen
        self.has_clock: bool = clock
        #: Entries that may go into a database again, but for the keys that are spoilt.
        self.stock: list[dict[bytes, Entry]] = []
        self.spoilt: list[set[bytes]] = []
        self.clear_stock()

    def clear_stock(self) -> None:
        """There are no entries any more that could be used again."""
        self.stock = [_NONE] * len(self.databases)
        self.spoilt = [set() for _ in self.databases]

    def unspoilt(self, index: int, key: bytes, value: object) -> Entry | None:
        """An entry in stock whose value is still like a kept one. O(1)."""
        saved = self.databases[index].get(key)
        if saved is None or saved.value is not value or key in self.spoilt[index]:
            return None
        return self.stock[index].get(key)

    def count(self) -> int:
        """How many keys there are. O(databases)."""
        return sum([len(entries) for entries in self.databases])


@final
class Snapshots:
    """The snapshots of an engine, and how far its keys are from the last of them."""

    __slots__ = ("engine", "watching", "_saved", "_base")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        #: Whether changed keys are remembered.
        self.watching: bool = False
        self._saved: dict[bytes, Snapshot] = {}
        #: Whose stock is in the databases.
        self._base: Snapshot | None = None

    # -- for users --------------------------------------------------------------------------

    def save(self, name: bytes, clock: bool = False) -> None:
        """Keep the state under a name, in the place of what had it; `clock`: the time too. O(keys + changes).

        Raises `CommandError` for an empty name, or while a script has been left in the middle.
        """
        if not name:
            raise CommandError(b"ERR the name of a snapshot must not be empty")
        engines = self._together()
        node = self.engine.node
        layout = None if node is None else node.cluster.layout()
        for engine in engines:
            engine.snapshots.take(name, layout, clock)

    def restore(self, name: bytes) -> None:
        """Bring a state back. O(keys + what differs + watched keys). Raises `CommandError`: see `find`, `save`."""
        engines = self._together()
        snapshot = self.find(name)
        timeline = self.engine.timeline
        if snapshot.has_clock:
            timeline.put(snapshot.at_us, snapshot.frozen)
        if snapshot.layout is not None and self.engine.node is not None:
            self.engine.node.cluster.arrange(snapshot.layout)
        for engine in engines:
            engine.snapshots.put_in_place(name)
        timeline.fire()
        timeline.settle()

    def drop(self, name: bytes) -> None:
        """Forget a state. O(keys). Raises `CommandError`: see `find`."""
        self.find(name)
        for engine in self._nodes():
            engine.snapshots.discard(name)

    def names(self) -> list[bytes]:
        """The names, in the order in which they were first saved."""
        return list(self._saved)

    def find(self, name: bytes) -> Snapshot:
        """The snapshot of that name. Raises `CommandError` if there is none."""
        found = self._saved.get(name)
        if found is None:
            raise CommandError(b"ERR no such snapshot, SNAPSHOT LIST tells which there are")
        return found

    # -- for engine and nodes ---------------------------------------------------------------

    def take(self, name: bytes, layout: Layout | None, clock: bool) -> None:
        """Save this engine alone."""
        space = self.engine.space
        space.sweep()
        entries = [self._frozen(database) for database in space.databases]
        snapshot = Snapshot(self.engine, entries, layout, clock)
        self._saved[name] = snapshot
        if self._base is not None:
            self._base.clear_stock()
        self._follow(snapshot)

    def put_in_place(self, name: bytes) -> None:
        """Restore this engine alone; the caller lets fire what is due then."""
        engine = self.engine
        space = engine.space
        snapshot = self.find(name)
        self._put_entries(space, snapshot)
        space.set_deadlines(snapshot.deadlines)
        engine.scripting.runtime.restore(snapshot.scripts)
        engine.scripting.libraries = snapshot.libraries.copy()
        self._follow(snapshot)
        if space.interest & events.TRACKED:
            engine.keys_flushed()
        engine.propagation.drop_all()

    def _put_entries(self, space: Keyspace, snapshot: Snapshot) -> None:
        """Give each database other entries."""
        # A collection in the midst of so many copies finds nothing, and takes longer than they do.
        collecting = gc.isenabled()
        gc.disable()
        try:
            for database in space.databases:
                entries = self._thawed(database.index, snapshot)
                database.exchange(entries, snapshot.volatile[database.index])
                space.dirty += len(entries)
        finally:
            if collecting:
                gc.enable()

    def discard(self, name: bytes) -> None:
        """Drop a snapshot of this engine alone."""
        if self._saved.pop(name, None) is self._base:
            self.forget()

    def changed(self, database: Database, key: bytes) -> None:
        """A key has been touched. O(1)."""
        if self._base is not None:
            self._base.spoilt[database.index].add(key)

    def note(self, ctx: Context, command: Command, argv: list[bytes]) -> None:
        """A command has run. O(arguments)."""
        if command.flags & (f.WRITE | f.MAY_REPLICATE) and self._base is not None:
            self._base.spoilt[ctx.db.index].update(keys_of(command, argv))

    def forget(self) -> None:
        """The entries have got where no event tells of their changes (SWAPDB, a file): they are no snapshot's."""
        if self._base is not None:
            self._base.clear_stock()
        self._base = None
        self._watch(False)

    # -- how --------------------------------------------------------------------------------

    def _nodes(self) -> list[Engine]:
        node = self.engine.node
        return [self.engine] if node is None else [each.engine for each in node.cluster.nodes]

    def _together(self) -> list[Engine]:
        """The engines that are saved and restored at once. Raises `CommandError` if one is busy with a script."""
        engines = self._nodes()
        for engine in engines:
            if engine.flags & f.BUSY_SCRIPT:
                raise CommandError(engine.busy_error)
        return engines

    def _frozen(self, database: Database) -> dict[bytes, Entry]:
        """Entries for a snapshot; values that the last one has already are shared with it."""
        base = self._base
        index = database.index
        entries: dict[bytes, Entry] = {}
        if base is None or base.stock[index] is not database.data:
            for key, entry in database.data.items():
                entries[key] = _twin(entry, duplicate(entry.value))
            return entries
        known = base.databases[index]
        spoilt = base.spoilt[index]
        for key, entry in database.data.items():
            fresh = key in spoilt or key not in known
            entries[key] = _twin(entry, duplicate(entry.value) if fresh else known[key].value)
        return entries

    def _thawed(self, index: int, snapshot: Snapshot) -> dict[bytes, Entry]:
        """Entries for a database, as a snapshot has them: from its stock, from the last one's, or copied."""
        base = self._base if self._base is not snapshot else None
        stock = snapshot.stock[index]
        spoilt = snapshot.spoilt[index]
        entries: dict[bytes, Entry] = {}
        for key, saved in snapshot.databases[index].items():
            entry = stock.get(key) if key not in spoilt else None
            if entry is None and base is not None:
                entry = base.unspoilt(index, key, saved.value)
                if entry is not None:
                    base.spoilt[index].add(key)
            if entry is None:
                value = saved.value
                entry = Entry(value if isinstance(value, bytes) else duplicate(value), saved.access)
            else:
                entry.access = saved.access
            entry.deadline = saved.deadline
            entry.frequency = saved.frequency
            entries[key] = entry
        return entries

    def _follow(self, snapshot: Snapshot) -> None:
        """The keys are those of a snapshot now: they are its stock."""
        self._base = snapshot
        snapshot.clear_stock()
        snapshot.stock = [database.data for database in self.engine.space.databases]
        self._watch(snapshot.count() > 0)

    def _watch(self, wanted: bool) -> None:
        """Remember which keys change from now on, or don't."""
        if wanted != self.watching:
            self.watching = wanted
            self.engine.space.count_interest(events.TRACKED, 1 if wanted else -1)
            if wanted:
                self.engine.observers |= f.KEPT
            else:
                self.engine.observers &= ~f.KEPT


def _twin(entry: Entry, value: object) -> Entry:
    """An entry like another, with a value of its own."""
    twin = Entry(value, entry.access)
    twin.deadline = entry.deadline
    twin.frequency = entry.frequency
    return twin
