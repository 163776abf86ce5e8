"""What the edge must know of the configuration, as plain numbers, and what it offers in return.

The engine knows no sockets, so CONFIG SET port asks the edge by `relisten`; without an edge (an engine
within a test) nothing happens. Output limits are looked up by a client's class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f

if TYPE_CHECKING:
    from redouble.engine.client import Client

NO_LIMIT: Final = 1 << 62


@final
class OutputLimit:
    """How much may wait for a client of one class before it is closed. Bytes and ms; 0 is no limit."""

    __slots__ = ("hard", "soft", "soft_ms")

    def __init__(self, hard: int, soft: int, soft_ms: int) -> None:
        self.hard: int = hard
        self.soft: int = soft
        self.soft_ms: int = soft_ms


@final
class EdgeSettings:
    """The settings of the edge of one server."""

    __slots__ = (
        "max_clients", "idle_ms", "idle_round", "keepalive", "query_limit", "normal", "stranger", "pubsub",
        "least_output", "least_query", "relisten", "renew_tls", "attend",
        "addresses", "stop_reading",
    )  # fmt: skip

    def __init__(self) -> None:
        self.max_clients: int = 10000
        #: Close clients that have said nothing for so long; 0 never.
        self.idle_ms: int = 0
        #: Counts changes of it; a timer of `idle.py` that began under another one ends.
        self.idle_round: int = 0
        #: Seconds between TCP probes; 0 for none.
        self.keepalive: int = 300
        #: How many bytes of requests may wait.
        self.query_limit: int = 1 << 30
        #: An unfinished request that is longer than this is looked at: 0 while clients' memory is limited.
        self.least_query: int = 1 << 30
        self.normal: OutputLimit = OutputLimit(0, 0, 0)
        #: Who has not logged in yet.
        self.stranger: OutputLimit = OutputLimit(1024, 0, 0)
        self.pubsub: OutputLimit = OutputLimit(33554432, 8388608, 60000)
        #: No class has a lower hard limit than this.
        self.least_output: int = self.pubsub.hard
        #: Listens on other addresses or another port; false where that is impossible.
        self.relisten: Callable[[], bool] | None = None
        #: Begins new connections as the tls parameters say now; false where that is impossible.
        self.renew_tls: Callable[[], bool] | None = None
        #: Looks at the engine again, after something that no request of its own has caused.
        self.attend: Callable[[], None] | None = None
        #: What the server listens on: INFO's `listener` lines without their number.
        self.addresses: list[bytes] = []
        #: A client with more unread output than this is not read from until it reads.
        self.stop_reading: int = 512 * 1024 * 1024

    def output_limit(self, client: Client) -> OutputLimit:
        """The limit of a client's class."""
        if client.flags & f.UNAUTHENTICATED:
            return self.stranger
        return self.pubsub if client.flags & f.SUBSCRIBER else self.normal

    def forbids(self, client: Client, size: int) -> bool:
        """Whether so many bytes more are too many for a client that has not read what it got before."""
        hard = self.output_limit(client).hard
        return hard > 0 and client.unread + size > hard
