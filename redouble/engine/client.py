"""One connection as the engine sees it: state, no sockets.

A client owns a parser (bytes in), a list of encoded replies (bytes out) and a `Link`, the edge's end of
the connection. Replies collect in `out`; the engine writes them all at once when the requests of one
read are done.

While a client is held (`flags & HELD`: it waits for a key, for the end of a pause, ...) its further
requests wait in `inbox`, in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, final

from redouble.engine import flags as f
from redouble.engine.footprint import QueueSize, requests_size
from redouble.keyspace.watch import WatchState
from redouble.protocol.encode import Encoder
from redouble.protocol.parser import RequestParser
from redouble.protocol.reply import Push, Reply, Several

if TYPE_CHECKING:
    from redouble.engine.acl import User
    from redouble.engine.blocking import Parked
    from redouble.engine.command import Command
    from redouble.engine.context import Context
    from redouble.engine.engine import Engine
    from redouble.engine.tracking import TrackingState

#: Since then what a client publishes to itself follows the reply.
_PUSHES_FOLLOW_SINCE: Final = 70200
#: How addresses on this machine begin.
_LOCAL: Final = (b"127.", b"[::1]", b"/")


class Link(Protocol):
    """The edge's end of a connection."""

    def write(self, data: bytes) -> None:
        """Send these bytes."""

    def close(self) -> None:
        """Send what was written, then close."""

    def abort(self) -> None:
        """Close at once."""


@final
class Client:
    """A connection's state."""

    __slots__ = (
        "engine", "id", "link", "parser", "flags", "encoder", "resp", "out", "inbox", "context", "name", "lib_name",
        "lib_version", "address", "local_address", "fd", "user", "created", "active", "last_command", "queue",
        "queue_broken", "watch", "channels", "patterns", "shard_channels", "parked", "tracking", "bytes_in",
        "bytes_out", "kind", "pushes", "unread", "waiting", "weight", "queue_size",
    )  # fmt: skip

    def __init__(self, engine: Engine, id: int, link: Link) -> None:
        from redouble.engine.context import Context

        self.engine: Engine = engine
        self.id: int = id
        self.link: Link = link
        self.parser: RequestParser = RequestParser(engine.bulk_max)
        self.flags: int = 0
        self.encoder: Encoder = engine.encoder2
        self.resp: int = 2
        #: Encoded replies that wait to be written.
        self.out: list[bytes] = []
        #: Requests that wait while the client is held.
        self.inbox: list[list[bytes]] = []
        self.name: bytes = b""
        self.lib_name: bytes = b""
        self.lib_version: bytes = b""
        #: "127.0.0.1:50000", or "/path/to/socket:0".
        self.address: bytes = b""
        self.local_address: bytes = b""
        self.fd: int = -1
        self.user: User = engine.acl.default
        #: Unix time in ms.
        self.created: int = engine.space.now
        self.active: int = engine.space.now
        self.last_command: Command | None = None
        #: The commands of an open MULTI.
        self.queue: list[tuple[Command, list[bytes]]] = []
        self.queue_broken: bool = False
        #: How much of the queue has been measured; see `footprint.py`.
        self.queue_size: QueueSize | None = None
        self.watch: WatchState = WatchState()
        self.channels: dict[bytes, None] = {}
        self.patterns: dict[bytes, None] = {}
        self.shard_channels: dict[bytes, None] = {}
        self.parked: Parked | None = None
        self.tracking: TrackingState | None = None
        #: Encoded pushes that follow the reply of the command that runs.
        self.pushes: list[bytes] = []
        #: Bytes that the edge holds because the peer does not read.
        self.unread: int = 0
        #: Bytes of the requests in the inbox.
        self.waiting: int = 0
        #: What it took when it was measured last; see `client_eviction.py`.
        self.weight: int = 0
        self.bytes_in: int = 0
        self.bytes_out: int = 0
        #: Whether it came by TCP, a unix socket, TLS or from within the process.
        self.kind: bytes = b"tcp"
        self.context: Context = Context(engine, self, engine.space.databases[0], 0)

    def send(self, reply: Reply) -> None:
        """Encode a reply and keep it until the engine flushes."""
        if self.flags & (f.REPLY_OFF | f.REPLY_SKIP | f.CLOSING):
            if self.flags & f.CLOSING or not isinstance(reply, (Push, Several)):
                return
        if not self.out:
            self.engine.outbox.append(self)
        self.out.append(self.encoder.encode(reply))

    def push(self, data: bytes) -> None:
        """Send an encoded push: at once, or after the reply where the client's own command caused it."""
        if self is self.engine.current and not self.flags & f.CLOSING:
            self.pushes.append(data)
            self.flags |= f.PUSHES_WAIT
        else:
            self._push_now(data)

    def hear(self, data: bytes) -> None:
        """Send a published message, encoded: up to 7.0 at once, though its own command may not be answered yet."""
        if self.engine.version >= _PUSHES_FOLLOW_SINCE:
            self.push(data)
        else:
            self._push_now(data)

    def _push_now(self, data: bytes) -> None:
        if self.flags & f.CLOSING:
            return
        if not self.out:
            self.engine.outbox.append(self)
        self.out.append(data)

    def put_back(self, requests: list[list[bytes]]) -> None:
        """Requests wait, before those that wait already. O(arguments + waiting requests)."""
        self.inbox[:0] = requests
        self.waiting += requests_size(requests)

    def set_resp(self, version: int) -> None:
        """Speak RESP2 or RESP3 from now on."""
        self.resp = version
        self.encoder = self.engine.encoder3 if version == 3 else self.engine.encoder2

    def end_multi(self) -> None:
        """Leave the transaction: nothing queued, nothing watched."""
        self.flags &= ~f.IN_MULTI
        self.queue = []
        self.queue_broken = False
        self.watch.forget()

    def host_reached(self) -> bytes:
        """Our address at which it came: what to tell it of other ports of this process. Loopback where unknown."""
        if self.kind == b"unix" or not self.local_address:
            return b"127.0.0.1"
        return self.local_address.rpartition(b":")[0].strip(b"[]")

    def subscriptions(self) -> int:
        """How many channels and patterns it listens to, sharded ones apart."""
        return len(self.channels) + len(self.patterns)

    def is_local(self) -> bool:
        """Whether the client sits on this machine."""
        return not self.address or self.address.startswith(_LOCAL)

    def close_after_reply(self) -> None:
        """Read nothing more; close once what was written has been sent."""
        self.flags |= f.CLOSING
        if not self.out:
            self.engine.outbox.append(self)
        self.out.append(b"")
