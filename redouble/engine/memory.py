"""The memory limit: how much the keys take, and what goes when it is too much.

What Python really allocates says little about what Redis would use, so keys are *estimated* (see
`sizes.py`), by Redis' own figures. Without a limit nothing is counted: INFO estimates from a sample.
With one, every touched key is measured again (`Engine.key_changed`), so the sum is always at hand; a
database whose dictionary was exchanged (FLUSHDB, SWAPDB) is measured anew as a whole.

`make_room` runs before each command while a limit holds, and soon after a new limit was set. It evicts by
the policy: a few random keys (maxmemory-samples) are looked at and the best victim of them goes, as Redis
does it. What connections take is told by `footprint.py`; their own limit is `client_eviction.py`.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f
from redouble.engine.footprint import footprint
from redouble.engine.sizes import is_about_to_go, key_size
from redouble.keyspace import events
from redouble.keyspace.database import Database, Entry

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command
    from redouble.engine.engine import Engine

#: What an empty server takes.
BASE: Final = 1_000_000
_SAMPLE: Final = 1000
#: How many deadlines are looked at for each key that is wanted: some are of other databases, or stale.
_TRIES: Final = 4
_SCRIPT: Final = 512
OOM: Final = b"OOM command not allowed when used memory > 'maxmemory'."


@final
class Account:
    """The sizes of the keys of one database."""

    __slots__ = ("data", "sizes", "total")

    def __init__(self, database: Database) -> None:
        self.data: dict[bytes, Entry] = database.data
        self.sizes: dict[bytes, int] = {}
        self.total: int = 0
        for key in database.data:
            self.measure(key)

    def measure(self, key: bytes) -> int:
        """The key has changed; by how much it has grown."""
        entry = self.data.get(key)
        if entry is None or is_about_to_go(entry.value):
            growth = -self.sizes.pop(key, 0)
        else:
            size = key_size(key, entry)
            growth = size - self.sizes.get(key, 0)
            self.sizes[key] = size
        self.total += growth
        return growth


@final
class Memory:
    """The memory of one engine."""

    __slots__ = (
        "engine", "limit", "policy", "peak", "over", "evicted", "_accounts", "_total", "_stale", "_clients",
        "_clients_at",
    )  # fmt: skip

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        #: maxmemory, 0 for none.
        self.limit: int = 0
        self.policy: bytes = b"noeviction"
        self.peak: int = BASE
        #: True while the limit can't be met: what a script that runs must know.
        self.over: bool = False
        #: How many keys have been evicted.
        self.evicted: int = 0
        self._accounts: list[Account] = []
        #: The sum of the accounts; `_stale` when it must be taken anew.
        self._total: int = 0
        self._stale: bool = False
        self._clients: int = 0
        self._clients_at: int = -1

    def configure(self, limit: int, policy: bytes) -> None:
        """Follow the configuration. O(keys) when a limit is set for the first time."""
        engine = self.engine
        if limit and not self.limit:
            self._accounts = [Account(database) for database in engine.space.databases]
            self._stale = True
            engine.space.count_interest(events.TRACKED, 1)
            engine.flags |= f.MEMORY_LIMITED
        elif self.limit and not limit:
            self._accounts = []
            engine.space.count_interest(events.TRACKED, -1)
            engine.flags &= ~f.MEMORY_LIMITED
        self.limit = limit
        self.over = False
        self.policy = policy

    def measure(self, database: Database, key: bytes) -> None:
        """A key has changed. O(1)."""
        account = self._accounts[database.index]
        if account.data is database.data:
            self._total += account.measure(key)
        else:
            self._stale = True

    def flushed(self) -> None:
        """The keys of a database go all at once."""
        self._stale = True

    def dataset(self) -> int:
        """What the keys take. O(1) with a limit, else O(a sample)."""
        databases = self.engine.space.databases
        if not self._accounts:
            return sum([_estimate(database) for database in databases])
        if self._stale:
            self._stale = False
            for database in databases:
                if self._accounts[database.index].data is not database.data:
                    self._accounts[database.index] = Account(database)
            self._total = sum([account.total for account in self._accounts])
        return self._total

    def used(self) -> int:
        """What the server takes, as INFO's used_memory says it."""
        used = BASE + self.dataset() + self.clients() + self.scripts()
        self.peak = max(self.peak, used)
        return used

    def overhead(self) -> int:
        """The part of it that is no keys: an empty server, clients, scripts."""
        return BASE + self.clients() + self.scripts()

    def scripts(self) -> int:
        """What the cached scripts take. O(1), so a rough figure."""
        return len(self.engine.scripting.runtime.scripts) * _SCRIPT

    def clients(self) -> int:
        """What the connections take: unfinished requests and unread replies too. O(clients), once a ms."""
        now = self.engine.space.now
        if now != self._clients_at:
            self._clients_at = now
            clients = self.engine.clients.values()
            self._clients = sum([footprint(client, []) for client in clients])
        return self._clients

    def admits(self, client: Client, command: Command, nature: int) -> bool:
        """Make room before a command; false if there is none and what it amounts to (flags) may need it."""
        self.over = not self.make_room()
        if not self.over:
            return True
        if client.flags & f.IN_MULTI and not command.flags & f.UNQUEUED:
            return False
        return not nature & f.DENYOOM

    def settle(self) -> None:
        """Evict down to a limit that was set a moment ago, if it still holds. O(evicted keys)."""
        if self.limit:
            self.make_room()

    def make_room(self) -> bool:
        """Evict until the limit holds; False if it can't be reached. O(evicted keys)."""
        while self.used() > self.limit:
            victim = self._victim()
            if victim is None:
                return False
            database, key = victim
            database.remove(key)
            self.evicted += 1
            database.touch(key, events.EVICTED, b"evicted")
        return True

    def _victim(self) -> tuple[Database, bytes] | None:
        """The best key to evict of a few random ones, or None."""
        policy, _, order = self.policy.partition(b"-")
        if not order:
            return None
        samples = self.engine.config.number(b"maxmemory-samples")
        best: tuple[Database, bytes] | None = None
        best_rank = 0
        candidates = [database for database in self.engine.space.databases if database.data]
        for database in candidates:
            for key in self._candidates(database, policy, samples):
                entry = database.data[key]
                rank = _rank(entry, order)
                if best is None or rank < best_rank:
                    best, best_rank = (database, key), rank
        return best

    def _candidates(self, database: Database, policy: bytes, samples: int) -> list[bytes]:
        if policy == b"allkeys":
            order, random = database.scan_order(), self.engine.random
            return [order.random(random) for _ in range(samples)]
        if not database.volatile:
            return []
        return self._volatile(database, samples)

    def _volatile(self, database: Database, samples: int) -> list[bytes]:
        """Some keys with a deadline; the one that is due next among them."""
        heap = self.engine.space.deadlines
        random = self.engine.random
        keys: list[bytes] = []
        place = 0
        for _ in range(samples * _TRIES):
            if _is_live(database, heap[place]):
                keys.append(heap[place][2])
                if len(keys) > samples:
                    break
            place = int(random.random() * len(heap))
        return keys or [item[2] for item in heap if _is_live(database, item)]


def _is_live(database: Database, item: tuple[int, int, bytes]) -> bool:
    """Whether an item of the deadlines still tells when a key of the database goes."""
    if item[1] != database.index:
        return False
    entry = database.data.get(item[2])
    return entry is not None and entry.deadline == item[0]


def _rank(entry: Entry, order: bytes) -> int:
    """The lower, the sooner it goes."""
    if order == b"lru":
        return entry.access
    if order == b"lfu":
        return entry.frequency
    if order == b"ttl":
        return entry.deadline
    return 0


def _estimate(database: Database) -> int:
    """What a database takes, from the first of its keys. O(sample)."""
    count = len(database.data)
    if not count:
        return 0
    total = sum([key_size(key, entry) for key, entry in islice(database.data.items(), _SAMPLE)])
    return total * count // min(count, _SAMPLE)
