"""What replicas hear: first all keys as a file, then each change as a command.

A change is told by its effect, not as it was asked for: SPOP becomes SREM of what it took, EXPIRE becomes
PEXPIREAT, a script becomes the commands that it ran. `commands/effects.py` has the table of effects; a
command that is not in it is told as it came. Keys that expire or are evicted are told as DEL.

What one request (an EXEC, a script, a pop that finds several expired keys) has caused is a unit: it goes
out at once when the request is done, within MULTI and EXEC if it is more than one command. SELECT is put
in where the database changes.

Nothing is recorded while there is no replica: `attach` sets one bit among the engine's observers and one
among the reasons to look closer at touched keys. Simplified: there is no backlog, so a replica that comes
back gets all keys again, and the file is made while the server waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f
from redouble.engine.blocking import Block
from redouble.keyspace import events
from redouble.protocol.reply import Bulks, ErrorReply, Reply

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command
    from redouble.engine.context import Context
    from redouble.engine.engine import Engine
    from redouble.keyspace.database import Database

#: The commands that have the effect of one that has run.
Effect = Callable[["Context", list[bytes], Reply], list[list[bytes]]]

_NO_DATABASE: Final = -1


@final
class EffectTable:
    """How commands are told to replicas. `quiet` are those that must be asked though they touched no key."""

    __slots__ = ("effects", "quiet")

    def __init__(self, effects: dict[bytes, Effect], quiet: frozenset[bytes]) -> None:
        self.effects: dict[bytes, Effect] = effects
        self.quiet: frozenset[bytes] = quiet


@final
class Follower:
    """What a client has told of itself as a replica."""

    __slots__ = ("port", "address", "keys_only_once", "functions_only", "acknowledged", "online", "heard")

    def __init__(self) -> None:
        self.port: int = 0
        self.address: bytes = b""
        #: It wants the file and nothing after it.
        self.keys_only_once: bool = False
        #: It wants the function libraries only.
        self.functions_only: bool = False
        self.acknowledged: int = 0
        self.online: bool = False
        #: When it was last heard of, Unix time in ms.
        self.heard: int = 0

    def host(self, client: Client) -> bytes:
        """The address to reach it at."""
        return self.address or client.address.rpartition(b":")[0]


@final
class Propagation:
    """The replicas of an engine, and what they are about to be told."""

    __slots__ = ("engine", "followers", "offset", "_table", "_fed", "_unit", "_seen", "_database", "_pinging")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        #: Clients that have spoken of replication, online or not yet.
        self.followers: dict[Client, Follower] = {}
        #: How many bytes were told since the server started.
        self.offset: int = 0
        self._table: EffectTable | None = None
        #: Those that hear of every change.
        self._fed: list[Client] = []
        #: (database, command) of the request that runs.
        self._unit: list[tuple[int, list[bytes]]] = []
        #: The dirty counter up to which changes have been recorded.
        self._seen: int = 0
        self._database: int = _NO_DATABASE
        self._pinging: bool = False

    # -- replicas -----------------------------------------------------------------------------

    def follower(self, client: Client) -> Follower:
        """What is known of a client as a replica."""
        found = self.followers.get(client)
        if found is None:
            found = Follower()
            self.followers[client] = found
        return found

    def attach(self, client: Client, table: EffectTable, greeting: bytes) -> None:
        """Send all keys to a client, and from now on every change. O(size)."""
        follower = self.follower(client)
        file = self.engine.saving.file(follower.functions_only)
        client.push(greeting + b"$%d\r\n" % len(file) + file)
        if follower.keys_only_once or client in self._fed:
            return
        client.flags |= f.FOLLOWER
        follower.online = True
        follower.heard = self.engine.space.now
        self._table = table
        self._database = _NO_DATABASE
        self._seen = self.engine.space.dirty
        self._fed.append(client)
        self.engine.observers |= f.FED
        self.engine.space.count_interest(events.FED, 1)
        if not self._pinging:
            self._pinging = True
            self._ping_later()

    def forget(self, client: Client) -> None:
        """A client has gone."""
        if self.followers.pop(client, None) is not None and client in self._fed:
            self._fed.remove(client)
            self.engine.space.count_interest(events.FED, -1)
            if not self._fed:
                self.engine.observers &= ~f.FED
                self._unit = []

    def drop_all(self) -> None:
        """The server follows somebody else now: its replicas must come anew."""
        self._unit = []
        for client in list(self._fed):
            self.engine.kill(client)

    def online(self) -> list[tuple[Client, Follower]]:
        """The replicas that hear of every change."""
        return [(client, self.followers[client]) for client in self._fed]

    # -- changes ------------------------------------------------------------------------------

    def record(self, ctx: Context, command: Command, argv: list[bytes], reply: Reply) -> None:
        """A command has run."""
        dirty = self.engine.space.dirty
        changed = dirty != self._seen
        self._seen = dirty
        table = self._table
        if table is not None and not ctx.flags & f.UNTOLD and not isinstance(reply, (ErrorReply, Block)):
            name = command.full_name
            if name in table.quiet or (changed and command.flags & f.WRITE):
                effect = table.effects.get(name)
                if effect is None:
                    self._unit.append((ctx.db.index, argv))
                else:
                    self._unit += [(ctx.db.index, each) for each in effect(ctx, argv, reply)]
        if not ctx.flags & (f.IN_SCRIPT | f.IN_EXEC):
            self._end_unit(not command.flags & f.READONLY)

    def key_lost(self, database: Database, key: bytes) -> None:
        """A key has expired or was evicted."""
        self._unit.append((database.index, [b"DEL", key]))
        self._seen = self.engine.space.dirty
        if self.engine.current is None:
            self._end_unit(False)

    def fields_lost(self, database: Database, key: bytes, fields: list[bytes]) -> None:
        """Fields of a hash have expired."""
        self._unit.append((database.index, [b"HDEL", key, *fields]))
        self._seen = self.engine.space.dirty
        if self.engine.current is None:
            self._end_unit(False)

    def _end_unit(self, together: bool) -> None:
        unit = self._unit
        if not unit:
            return
        self._unit = []
        wrapped = together and len(unit) > 1
        parts: list[bytes] = []
        if wrapped:
            self._select(unit[0][0], parts)
            parts.append(self._encoded([b"MULTI"]))
        for index, argv in unit:
            self._select(index, parts)
            parts.append(self._encoded(argv))
        if wrapped:
            parts.append(self._encoded([b"EXEC"]))
        self._tell(b"".join(parts))

    def _select(self, index: int, parts: list[bytes]) -> None:
        if index != self._database:
            self._database = index
            parts.append(self._encoded([b"SELECT", b"%d" % index]))

    def _encoded(self, argv: list[bytes]) -> bytes:
        return self.engine.encoder2.encode(Bulks(argv))

    def _tell(self, data: bytes) -> None:
        self.offset += len(data)
        for client in self._fed:
            client.push(data)

    def _ping_later(self) -> None:
        period = int(self.engine.config.get(b"repl-ping-replica-period"))
        self.engine.later(self.engine.space.now + 1000 * period, self._ping)

    def _ping(self) -> None:
        """A sign of life, for replicas that would else give up."""
        self._pinging = bool(self._fed)
        if self._fed:
            self._tell(self._encoded([b"PING"]))
            self._ping_later()
