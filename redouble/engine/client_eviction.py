"""`maxmemory-clients`: when all connections together take too much, the largest are closed.

Each connection is measured (`footprint.py`) when it may have grown: before its command runs, when
something has been sent to it, and when a read left a request unfinished. The sum is kept, so that is O(1)
a time; a connection that has shrunk since makes the sum too large, so everybody is measured again before
anybody is closed. Who goes: sizes fall into classes of powers of two, as in Redis, and the largest class
goes first, within it the oldest connection. CLIENT NO-EVICT protects; replicas neither count nor go.

With a limit, `flags.CLIENTS_LIMITED` sends each command through `admission.py` and `flags.RELIEVE` each
flush through `Engine.attend_to`; without one nothing is measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f
from redouble.engine.footprint import LARGE, footprint

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.engine import Engine

#: Below this nobody could say anything any more.
_LEAST_LIMIT: Final = 128 * 1024
#: Sizes below and above these powers of two are one class each.
LEAST_CLASS: Final = 15
_GREATEST_CLASS: Final = 33
_EXEMPT: Final = f.NO_EVICT | f.FOLLOWER


@final
class ClientEviction:
    """The limit of one engine's connections."""

    __slots__ = ("engine", "limit", "evicted", "_total")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        #: In bytes, 0 for none.
        self.limit: int = 0
        #: How many connections have been closed.
        self.evicted: int = 0
        self._total: int = 0

    def configure(self, setting: bytes, maxmemory: int) -> None:
        """Follow the configuration: bytes, or a percentage of `maxmemory`. O(clients)."""
        limit = int(setting.rstrip(b"%"))
        if setting.endswith(b"%"):
            limit = maxmemory * limit // 100
        self.limit = max(limit, _LEAST_LIMIT) if limit else 0
        engine = self.engine
        if self.limit:
            engine.flags |= f.CLIENTS_LIMITED
            engine.duties |= f.RELIEVE
            self._measure_all()
        else:
            engine.flags &= ~f.CLIENTS_LIMITED
            engine.duties &= ~f.RELIEVE

    def measure(self, client: Client, request: list[bytes]) -> None:
        """A connection may have changed its size; `request` is what it is about to run. O(request)."""
        size = 0 if client.flags & (f.FOLLOWER | f.CLOSING) else footprint(client, request)
        self._total += size - client.weight
        client.weight = size

    def measure_each(self, clients: list[Client]) -> None:
        """Something has been sent to these connections. O(clients)."""
        for client in clients:
            self.measure(client, [])

    def closes(self, client: Client, request: list[bytes]) -> bool:
        """Whether a connection is gone before its request could run. O(arguments), or as `relieve`."""
        # Redis counts a request while it arrives, piece by piece; a short one never.
        large = [arg for arg in request if len(arg) >= LARGE]
        self.measure(client, large)
        if self._total >= self.limit:
            self._measure_all()
            self.measure(client, large)
            self._close_largest()
        return bool(client.flags & f.CLOSING)

    def relieve(self) -> None:
        """Close connections while they take too much. O(1), or O(clients * log(clients)) at the limit."""
        if self._total >= self.limit:
            self._measure_all()
            self._close_largest()

    def _close_largest(self) -> None:
        if self._total < self.limit:
            return
        clients = [client for client in self.engine.clients.values() if not client.flags & _EXEMPT]
        for client in sorted(clients, key=_eviction_order):
            self.engine.kill(client)
            self._total -= client.weight
            self.evicted += 1
            if self._total < self.limit:
                break

    def classes(self) -> list[tuple[int, int]]:
        """How much the connections of each class take that may be closed, and how many they are. O(clients)."""
        self._measure_all()
        sizes = [0] * (_GREATEST_CLASS - LEAST_CLASS + 1)
        counts = list(sizes)
        for client in self.engine.clients.values():
            if not client.flags & _EXEMPT:
                place = _size_class(client) - LEAST_CLASS
                sizes[place] += client.weight
                counts[place] += 1
        return list(zip(sizes, counts, strict=True))

    def _measure_all(self) -> None:
        self._total = 0
        for client in self.engine.clients.values():
            client.weight = 0
            self.measure(client, [])


def _eviction_order(client: Client) -> tuple[int, int]:
    """The lower, the sooner it goes."""
    return -_size_class(client), client.id


def _size_class(client: Client) -> int:
    return max(LEAST_CLASS, min(_GREATEST_CLASS, client.weight.bit_length()))
