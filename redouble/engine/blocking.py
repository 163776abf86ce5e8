"""Waiting for keys.

A handler tries; when there is nothing to take it returns `Block(keys, timeout, on_timeout, kind)`. `call`
then answers `on_timeout` at once where blocking is denied (MULTI, scripts), else parks the client
here: in order of arrival under each key (`Database.waiters`).

`Database.wake` lists waited keys in `Keyspace.ready`. After the command (or the EXEC, or the script)
that woke them, `serve` lets each waiter's own command run again, first come first served, if the key
now holds what it waits for. A waiter that gets `Block` again keeps its place and its first deadline.
What a served command pushes elsewhere is served in the same loop.

Time-out, CLIENT UNBLOCK, disconnect and shutdown all end in `unpark`. A client that has gone is no
longer parked, so no element is ever taken for it.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, final

from redouble.doubles import parse_double
from redouble.engine import flags as f
from redouble.errors import (
    TIMEOUT_NEGATIVE,
    TIMEOUT_NOT_A_FLOAT,
    TIMEOUT_OUT_OF_RANGE,
    CommandError,
)
from redouble.keyspace import events
from redouble.protocol.longdouble import try_long_double
from redouble.protocol.numbers import INT64_MAX, integer
from redouble.protocol.reply import ErrorReply, Reply

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command
    from redouble.engine.context import Context
    from redouble.engine.engine import Engine
    from redouble.keyspace.database import Database


@final
class Block:
    """What a handler returns instead of a reply: wait until one of `keys` holds a value of `kind`.

    `deadline` is Unix time in ms, 0 for ever. `on_timeout` is the reply when it passes. `argv`, when
    given, is what runs again instead of the original request (XREAD with `$` resolved). Without keys (WAIT)
    no `kind` is waited for.
    """

    __slots__ = ("keys", "deadline", "on_timeout", "kind", "argv")

    def __init__(
        self,
        keys: list[bytes],
        deadline: int,
        on_timeout: Reply,
        kind: type,
        argv: list[bytes] | None = None,
    ) -> None:
        self.keys: list[bytes] = keys
        self.deadline: int = deadline
        self.on_timeout: Reply = on_timeout
        self.kind: type = kind
        self.argv: list[bytes] | None = argv


def seconds_deadline(ctx: Context, text: bytes) -> int:
    """The deadline that a time-out in seconds (a float, as BLPOP takes it) means; 0 for ever."""
    seconds = parse_double(text)
    if seconds is None:
        # Redis reads a long double: what is too large for a double is a number all the same.
        number = try_long_double(text)
        if number is None:
            raise CommandError(TIMEOUT_NOT_A_FLOAT)
        raise CommandError(TIMEOUT_OUT_OF_RANGE if number.mantissa > 0 else TIMEOUT_NEGATIVE)
    milliseconds = seconds * 1000
    if milliseconds > INT64_MAX:
        raise CommandError(TIMEOUT_OUT_OF_RANGE)
    if milliseconds < 0:
        raise CommandError(TIMEOUT_NEGATIVE)
    whole = int(milliseconds)
    if milliseconds > whole:
        whole += 1
    return _deadline(ctx, whole)


def milliseconds_deadline(ctx: Context, text: bytes) -> int:
    """The deadline that a time-out in whole ms (as XREAD BLOCK takes it) means; 0 for ever."""
    milliseconds = integer(text, b"ERR timeout is not an integer or out of range")
    if milliseconds < 0:
        raise CommandError(TIMEOUT_NEGATIVE)
    return _deadline(ctx, milliseconds)


def _deadline(ctx: Context, milliseconds: int) -> int:
    if milliseconds == 0:
        return 0
    deadline = milliseconds + ctx.space.now
    if deadline > INT64_MAX:
        raise CommandError(TIMEOUT_OUT_OF_RANGE)
    return deadline


@final
class Parked:
    """A client that waits."""

    __slots__ = ("client", "command", "argv", "db", "keys", "kind", "deadline", "on_timeout", "since")

    def __init__(self, client: Client, command: Command, argv: list[bytes], db: Database, block: Block) -> None:
        self.client: Client = client
        self.command: Command = command
        self.argv: list[bytes] = argv
        self.db: Database = db
        self.keys: list[bytes] = list(dict.fromkeys(block.keys))
        self.kind: type = block.kind
        self.deadline: int = block.deadline
        self.on_timeout: Reply = block.on_timeout
        self.since: int = client.engine.space.now


@final
class Blocking:
    """The parked clients of an engine."""

    __slots__ = ("engine", "count", "deadlines", "key", "_order")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        #: How many clients are parked.
        self.count: int = 0
        #: (deadline, order of parking, who); stale items are skipped when they come up.
        self.deadlines: list[tuple[int, int, Parked]] = []
        #: The key for whose sake a waiter's command runs again.
        self.key: bytes = b""
        self._order: int = 0

    def park(self, ctx: Context, command: Command, argv: list[bytes], block: Block) -> None:
        """Let the client wait; nothing is replied for now. O(keys + log n)."""
        client = ctx.client
        parked = Parked(client, command, block.argv or argv, ctx.db, block)
        client.parked = parked
        client.flags |= f.BLOCKED
        self.count += 1
        for key in parked.keys:
            queue = parked.db.waiters.get(key)
            if queue is None:
                queue = {}
                parked.db.waiters[key] = queue
            queue[parked] = None
            self.engine.space.count_interest(events.WAITED, 1)
        if parked.deadline:
            self._order += 1
            heapq.heappush(self.deadlines, (parked.deadline, self._order, parked))

    def serve(self) -> None:
        """Let the waiters of woken keys try again, until nobody finds anything. O(woken keys + tries).

        Not in the middle of a long script: it is not done with these keys.
        """
        if self.engine.flags & f.BUSY_SCRIPT:
            return
        # What changed them may have taken its time, and a key may have expired meanwhile.
        self.engine.space.now = self.engine.clock.now()
        ready = self.engine.space.ready
        while ready:
            self.engine.space.ready = []
            for db, key in dict.fromkeys(ready):
                queue = db.waiters.get(key)
                if queue is not None:
                    self._serve_key(db, key, list(queue))
            ready = self.engine.space.ready

    def _serve_key(self, db: Database, key: bytes, waiters: list[Parked]) -> None:
        for parked in waiters:
            if parked.client.parked is not parked:
                continue
            entry = db.peek(key)
            if (entry is not None and type(entry.value) is parked.kind) or parked.command.flags & f.WAKES_WITHOUT_KEY:
                self.key = key
                self._try(parked)

    def _try(self, parked: Parked) -> None:
        client = parked.client
        if client.flags & f.RESTRICTED:
            denied = self.engine.acl.denial(client, parked.command, parked.argv)
            if denied is not None:
                self.engine.stats.count_error(denied)
                self.unpark(parked, ErrorReply(denied))
                return
        ctx = client.context
        ctx.flags |= f.WAKING
        self.engine.current = client
        reply = self.engine.call(ctx, parked.command, parked.argv)
        self.engine.current = None
        ctx.flags &= ~f.WAKING
        if isinstance(reply, Block):
            return
        self.unpark(parked, reply)

    def unpark(self, parked: Parked, reply: Reply) -> None:
        """End the wait with a reply; the client's further requests go on afterwards. O(keys)."""
        client = parked.client
        client.parked = None
        client.flags &= ~f.BLOCKED
        if self.engine.observers & f.TRACED:
            self.engine.trace.answered(client, reply, self.engine.space.now - parked.since)
        self.count -= 1
        for key in parked.keys:
            queue = parked.db.waiters.get(key)
            if queue is not None and parked in queue:
                del queue[parked]
                if not queue:
                    del parked.db.waiters[key]
            self.engine.space.count_interest(events.WAITED, -1)
        client.send(reply)
        if client.flags & f.AFTERMATH:
            self.engine.aftermath(client, parked.command, parked.argv)
        self.engine.resume(client)

    def unblock(self, client: Client, with_error: bool) -> bool:
        """CLIENT UNBLOCK: end a wait as by time-out or with an error; False if it does not wait."""
        parked = client.parked
        if parked is None:
            return False
        reply = parked.on_timeout
        if with_error:
            reply = ErrorReply(b"UNBLOCKED client unblocked via CLIENT UNBLOCK")
            self.engine.stats.failed[parked.command.index] += 1
            self.engine.stats.count_error(reply.text)
        self._end(parked, reply)
        return True

    def next_deadline(self) -> int | None:
        """When the next wait ends, Unix time in ms."""
        heap = self.deadlines
        while heap and heap[0][2].client.parked is not heap[0][2]:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def end_due(self) -> None:
        """End the waits whose time is up, in order. O(k log n)."""
        now = self.engine.space.now
        while True:
            deadline = self.next_deadline()
            if deadline is None or deadline > now:
                return
            parked = heapq.heappop(self.deadlines)[2]
            self._end(parked, parked.on_timeout)

    def _end(self, parked: Parked, reply: Reply) -> None:
        """End a wait without anything found: only now does the command count as run."""
        self.engine.stats.calls[parked.command.index] += 1
        self.engine.stats.commands += 1
        self.unpark(parked, reply)
