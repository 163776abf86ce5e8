"""Client-side caching: telling clients that a key they may hold in a cache has changed.

Two ways, as in Redis. In the *default* way the server remembers which client has read which key (key
names, whatever the database); the first change tells each of them and forgets the key until it is read
again. In the *broadcast* way a client names prefixes and hears of every changed key below them, read or
not; those keys are collected and told once, when the output of all clients is about to be written.

A client hears by a push of its own connection (RESP3), or by another connection's: a push there, or a
message of the channel `__redis__:invalidate` when that one speaks RESP2 and is a subscriber. What a
client's own command invalidates comes after the command's reply (see `Client.push`).

Reads are noticed in `Engine.call`, so those of EXEC and of scripts count too. Changes come through
`touch` while `Keyspace.interest` says that somebody tracks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f
from redouble.engine.keyfinder import keys_of
from redouble.keyspace import events
from redouble.protocol.reply import Push

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command
    from redouble.engine.context import Context
    from redouble.engine.engine import Engine

_CHANNEL: Final = b"__redis__:invalidate"
#: tracking-table-max-keys.
_MAX_KEYS: Final = 1_000_000
#: The version since which the keys are those that a script's commands have read.
_SEES_INTO_SCRIPTS_SINCE: Final = 70200


@final
class TrackingState:
    """How one client wants to be told of changes."""

    __slots__ = ("redirect", "broadcast", "opt_in", "opt_out", "no_loop", "caching", "broken", "prefixes")

    def __init__(self) -> None:
        #: The id of the client that is told instead, 0 for itself.
        self.redirect: int = 0
        self.broadcast: bool = False
        self.opt_in: bool = False
        self.opt_out: bool = False
        #: Not told of its own changes.
        self.no_loop: bool = False
        #: CLIENT CACHING was said for the next command.
        self.caching: bool = False
        #: The client that should be told has gone.
        self.broken: bool = False
        #: In broadcast mode; all keys are below the empty one.
        self.prefixes: list[bytes] = []

    def letters(self) -> bytes:
        """Its letters among the flags of CLIENT LIST."""
        return b"t" + (b"R" if self.broken else b"") + (b"B" if self.broadcast else b"")

    def names(self) -> list[bytes]:
        """Its flags as CLIENT TRACKINGINFO shows them."""
        found = [b"on"]
        if self.broadcast:
            found.append(b"bcast")
        if self.opt_in:
            found.append(b"optin")
            if self.caching:
                found.append(b"caching-yes")
        if self.opt_out:
            found.append(b"optout")
            if self.caching:
                found.append(b"caching-no")
        if self.no_loop:
            found.append(b"noloop")
        if self.broken:
            found.append(b"broken_redirect")
        return found


@final
class Broadcast:
    """Who hears of the keys below a prefix, and which have changed since they were last told."""

    __slots__ = ("clients", "keys")

    def __init__(self) -> None:
        self.clients: dict[Client, None] = {}
        #: A changed key, and the client that changed it last, if it was one.
        self.keys: dict[bytes, Client | None] = {}


@final
class Tracking:
    """Client-side caching of one engine."""

    __slots__ = ("engine", "clients", "readers", "prefixes", "max_keys", "_flushed_at", "_listening")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        self.clients: dict[Client, None] = {}
        #: A key, and the ids of the clients that have read it.
        self.readers: dict[bytes, dict[int, None]] = {}
        self.prefixes: dict[bytes, Broadcast] = {}
        self.max_keys: int = _MAX_KEYS
        self._flushed_at: int = -1
        #: Whether changed keys are announced to us.
        self._listening: bool = False

    # -- who tracks -------------------------------------------------------------------------

    def enable(self, client: Client, wanted: TrackingState) -> None:
        """Begin to track for a client, or change how; prefixes are added to those it has. O(prefixes)."""
        before = client.tracking
        if before is None:
            self.clients[client] = None
            self.engine.observers |= f.TRACKED
            client.flags |= f.TRACKING
            self._settle()
        else:
            wanted.caching = before.caching
        added = wanted.prefixes
        wanted.prefixes = before.prefixes if before is not None else []
        client.tracking = wanted
        if wanted.broadcast:
            for prefix in added or [b""]:
                self._listen(client, wanted, prefix)

    def _listen(self, client: Client, state: TrackingState, prefix: bytes) -> None:
        if prefix not in self.prefixes:
            self.prefixes[prefix] = Broadcast()
        self.prefixes[prefix].clients[client] = None
        if prefix not in state.prefixes:
            state.prefixes = sorted([*state.prefixes, prefix])

    def disable(self, client: Client) -> None:
        """Tell a client nothing more. O(prefixes)."""
        state = client.tracking
        if state is None:
            return
        for prefix in state.prefixes:
            broadcast = self.prefixes[prefix]
            del broadcast.clients[client]
            if not broadcast.clients:
                del self.prefixes[prefix]
        client.tracking = None
        client.flags &= ~f.TRACKING
        del self.clients[client]
        if not self.clients:
            self.engine.observers &= ~f.TRACKED
        self._settle()

    def _settle(self) -> None:
        """Hear of changed keys while anybody tracks or has read a key; who stops and starts again keeps its reads."""
        wanted = bool(self.clients) or bool(self.readers)
        if wanted != self._listening:
            self._listening = wanted
            self.engine.space.count_interest(events.TRACKED, 1 if wanted else -1)

    # -- reads ------------------------------------------------------------------------------

    def remember(self, ctx: Context, command: Command, argv: list[bytes]) -> None:
        """A command has run: note the keys it has read for its client. O(keys).

        Before 7.2 a script that read anything had read the keys that were declared for it.
        """
        state = ctx.client.tracking
        if state is None or state.broadcast:
            return
        if not command.flags & f.READONLY or command.flags & f.PUBSUB or command.group == "scripting":
            return
        if state.caching if state.opt_out else state.opt_in and not state.caching:
            return
        declared = ctx.flags & f.IN_SCRIPT and self.engine.version < _SEES_INTO_SCRIPTS_SINCE
        for key in self.engine.scripting.keys if declared else keys_of(command, argv):
            readers = self.readers.get(key)
            if readers is None:
                self.readers[key] = {ctx.client.id: None}
            else:
                readers[ctx.client.id] = None
        if 0 < self.max_keys < len(self.readers):
            self.limit(self.max_keys)

    def limit(self, max_keys: int) -> None:
        """Remember so many keys at most (0: any number); the oldest count as changed for their readers. O(k)."""
        self.max_keys = max_keys
        while 0 < max_keys < len(self.readers):
            self._invalidate(next(iter(self.readers)), None)

    def item_count(self) -> int:
        """How many (key, client) pairs are remembered. O(keys)."""
        return sum([len(readers) for readers in self.readers.values()])

    # -- changes ----------------------------------------------------------------------------

    def changed(self, key: bytes) -> None:
        """A key has changed. O(prefixes + readers)."""
        for prefix, broadcast in self.prefixes.items():
            if key.startswith(prefix):
                broadcast.keys[key] = self.engine.current
                self.engine.duties |= f.BROADCAST
        self._invalidate(key, self.engine.current)

    def _invalidate(self, key: bytes, changer: Client | None) -> None:
        """Tell a key's readers, and forget them."""
        readers = self.readers.pop(key, None)
        if readers is None:
            return
        for number in readers:
            client = self.engine.clients.get(number)
            if client is None:
                continue
            state = client.tracking
            if state is None or state.broadcast or (state.no_loop and client is changer):
                continue
            self._tell(client, state, [key])
        self._settle()

    def flushed(self) -> None:
        """All keys of a database have gone: tell everybody to forget everything, once a command. O(clients)."""
        calls = self.engine.stats.commands
        if calls == self._flushed_at:
            return
        self._flushed_at = calls
        self.readers = {}
        self._settle()
        for client in self.clients:
            state = client.tracking
            if state is not None:
                self._tell(client, state, None)

    def broadcast(self) -> None:
        """Tell those who listen to prefixes what has changed below them. O(clients * keys)."""
        for broadcast in self.prefixes.values():
            changes = broadcast.keys
            broadcast.keys = {}
            keys = sorted(changes)
            for client in broadcast.clients:
                state = client.tracking
                if state is None:
                    continue
                told = keys
                if state.no_loop:
                    told = [key for key in keys if changes[key] is not client]
                if told:
                    self._tell(client, state, told)

    def _tell(self, client: Client, state: TrackingState, keys: list[bytes] | None) -> None:
        """Send the names of invalid keys (None: of all) to where the client wants them."""
        target = client
        if state.redirect:
            found = self.engine.clients.get(state.redirect)
            if found is None:
                state.broken = True
                if client.resp == 3:
                    client.push(client.encoder.encode(Push([b"tracking-redir-broken", state.redirect])))
                return
            target = found
        if target.resp == 3:
            target.push(target.encoder.encode(Push([b"invalidate", keys])))
        elif state.redirect and target.flags & f.SUBSCRIBER:
            target.push(target.encoder.encode(Push([b"message", _CHANNEL, keys])))
