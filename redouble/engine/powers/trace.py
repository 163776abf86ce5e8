"""TRACE: what was sent, by whom, how it was answered, and what scripts and transactions did inside.

How it works. While a trace runs, `Engine.call` shows every command when it has run (`record`), and the
places that refuse one show it too (`refused`): a wrong name, a missing password and the like are as much
a part of what was sent as the rest. The commands of an EXEC or a script are done before their parent is, so
they wait under their client's id until it comes. By client, not by order: others are served while
a long script is left in the middle.

A command that waits for a key is one entry, at the place where it was sent. It says `waiting` until
it is answered, by whatever ends the wait; so a test that hangs shows what it hangs on. What is queued in MULTI
stands under its EXEC, and nowhere if it never ran.

The filters (command, client) speak of what clients sent: what is inside goes with its parent. REDOUBLE itself
is never traced. An entry keeps its arguments whole up to 16 KiB each, and a thousand of them.

Simplified: a duration runs from the end of the command before to the end of this one, as in the server's
own statistics; within a script, the script's own work counts for the command that follows it. And a trace
that is begun while a script or a transaction runs may lack what that has done before.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, final

from redouble.datatypes.glob import Glob
from redouble.engine import flags as f
from redouble.engine.blocking import Block
from redouble.engine.keyfinder import keys_of
from redouble.engine.slowlog import shortened
from redouble.errors import CommandError
from redouble.protocol.quote import shell_words
from redouble.protocol.reply import (
    Attributed,
    BigNumber,
    Boolean,
    Deep,
    Double,
    ErrorReply,
    HumanDouble,
    Map,
    NoReply,
    NullArray,
    PairMap,
    Push,
    Reply,
    SetReply,
    Several,
    Simple,
    Verbatim,
)

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command
    from redouble.engine.context import Context
    from redouble.engine.engine import Engine

#: How many commands a trace holds unless it is told otherwise.
MOST: Final = 10_000
_MAX_ARGS: Final = 1000
_MAX_TEXT: Final = 16 * 1024
_REPR_ARGS: Final = 12
_REPR_TEXT: Final = 64
_ANY: Final = b"*"
#: The reply of a command that has none yet, and of one that will never have one.
WAITING: Final = b"waiting"
NONE: Final = b"none"


def kind_of(reply: Reply) -> bytes:
    """The kind of a reply, as RESP3 calls it. RESP2 shows some kinds as others. O(1)."""
    if isinstance(reply, Attributed):
        reply = reply.reply
    if isinstance(reply, Deep):
        reply = reply.value
    if isinstance(reply, Several):
        reply = reply.items[0] if reply.items else NoReply()
    if isinstance(reply, bytes):
        return b"bulk"
    if isinstance(reply, int):
        return b"integer"
    if reply is None or isinstance(reply, NullArray):
        return b"null"
    if isinstance(reply, Simple):
        return b"status"
    if isinstance(reply, ErrorReply):
        return b"error"
    if isinstance(reply, (Map, PairMap)):
        return b"map"
    return _rare_kind(reply)


def _rare_kind(reply: Reply) -> bytes:
    if isinstance(reply, SetReply):
        return b"set"
    if isinstance(reply, Push):
        return b"push"
    if isinstance(reply, (Double, HumanDouble)):
        return b"double"
    if isinstance(reply, Boolean):
        return b"boolean"
    if isinstance(reply, Verbatim):
        return b"verbatim"
    if isinstance(reply, BigNumber):
        return b"big-number"
    return NONE if isinstance(reply, NoReply) else b"array"


@final
class TraceEntry:
    """One command that was sent, or that a script or a transaction has run."""

    __slots__ = ("time", "client_id", "client_name", "address", "database", "name", "argv", "keys", "reply", "error",
                 "microseconds", "waited", "commands", "omitted")  # fmt: skip

    def __init__(self, client: Client, time: int, database: int, name: bytes, argv: list[bytes]) -> None:
        #: By the server's clock, Unix time in ms.
        self.time: int = time
        self.client_id: int = client.id
        self.client_name: bytes = client.name
        self.address: bytes = client.address
        self.database: int = database
        #: In lower case, `client|list` for a sub-command.
        self.name: bytes = name
        #: As sent, the command's name first; what is too long is cut and says so.
        self.argv: list[bytes] = argv
        self.keys: list[bytes] = []
        #: Its kind: status, error, bulk, integer, null, array, map, set, double, ..., none, or `waiting`.
        self.reply: bytes = WAITING
        #: The error's text, or empty.
        self.error: bytes = b""
        #: How long the server worked on it.
        self.microseconds: int = 0
        #: How long it waited for a key, ms of the server's clock.
        self.waited: int = 0
        #: What it has run, if it is a script or an EXEC, in order.
        self.commands: list[TraceEntry] = []
        #: How many commands inside it were too many to be kept.
        self.omitted: int = 0

    def __repr__(self) -> str:
        words = shell_words(shortened(self.argv, _REPR_ARGS, _REPR_TEXT)).decode("utf-8", "backslashreplace")
        answer = (self.error or self.reply).decode("utf-8", "backslashreplace")
        inside = f", {len(self.commands)} commands inside" if self.commands else ""
        return f"<{words} -> {answer}, client {self.client_id}{inside}>"

    def answer(self, reply: Reply) -> None:
        """Note the reply."""
        self.reply = kind_of(reply)
        if isinstance(reply, ErrorReply):
            self.error = reply.text

    def is_named(self, glob: Glob) -> bool:
        """Whether a pattern matches its name, or for a sub-command its container's. O(len)."""
        return glob.matches(self.name) or glob.matches(self.name.partition(b"|")[0])


@final
class _Inside:
    """What has run inside a command that is not done."""

    __slots__ = ("commands", "omitted")

    def __init__(self) -> None:
        self.commands: list[TraceEntry] = []
        self.omitted: int = 0


@final
class Trace:
    """The trace of one engine."""

    __slots__ = ("engine", "dropped", "most", "_entries", "_scripts", "_commands", "_clients", "_size", "_in_scripts",
                 "_in_transactions", "_waiting")  # fmt: skip

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        #: How many commands had to go because there were more than `most`.
        self.dropped: int = 0
        self.most: int = MOST
        self._entries: deque[TraceEntry] = deque()
        self._scripts: bool = False
        #: None admits everything.
        self._commands: Glob | None = None
        self._clients: Glob | None = None
        #: How many commands are held, those inside others included.
        self._size: int = 0
        #: By the client's id: what its script, or its EXEC, has run so far.
        self._in_scripts: dict[int, _Inside] = {}
        self._in_transactions: dict[int, _Inside] = {}
        #: The entry of a client that waits for a key.
        self._waiting: dict[int, TraceEntry] = {}

    # -- from outside -------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether commands are being traced."""
        return self.engine.observers & f.TRACED > 0

    def start(self, scripts: bool = False, command: bytes = _ANY, client: bytes = _ANY, most: int = MOST) -> None:
        """Trace from now on; what was traced before is forgotten.

        `scripts`: the commands inside scripts too. `command` and `client` are globs for the names of commands
        (without regard to case) and of clients (CLIENT SETNAME). `most`: how many commands to hold; the
        oldest go first. Raises `CommandError` for a `most` below 1.
        """
        if most < 1:
            raise CommandError(b"ERR TRACE holds at least one command: MAX must be 1 or more")
        self.clear()
        self._scripts = scripts
        self._commands = None if command == _ANY else Glob(command, True)
        self._clients = None if client == _ANY else Glob(client)
        self.most = most
        self.engine.observers |= f.TRACED

    def stop(self) -> None:
        """Trace nothing more; what was traced stays."""
        self.engine.observers &= ~f.TRACED
        self._in_scripts.clear()
        self._in_transactions.clear()
        self._waiting.clear()

    def clear(self) -> None:
        """Forget what was traced; a trace that runs goes on."""
        self._entries.clear()
        self._size = 0
        self.dropped = 0

    def entries(self) -> list[TraceEntry]:
        """What was traced, the oldest first. O(n)."""
        return list(self._entries)

    def count(self, command: bytes, key: bytes | None = None) -> int:
        """How many commands have a name (and a key) that these globs match, those inside others included. O(n).

        Raises `CommandError` if some had to be dropped: the number could be too low.
        """
        if self.dropped:
            text = b"ERR %d commands were dropped, so they can't be counted: start the trace with a MAX above %d"
            raise CommandError(text % (self.dropped, self.most))
        name = Glob(command, True)
        wanted = None if key is None else Glob(key)
        found = 0
        rest = list(self._entries)
        while rest:
            entry = rest.pop()
            rest += entry.commands
            if entry.is_named(name) and (wanted is None or wanted.filter(entry.keys)):
                found += 1
        return found

    # -- from the engine ----------------------------------------------------------------------

    def record(self, ctx: Context, command: Command, argv: list[bytes], reply: Reply, nanoseconds: int) -> None:
        """A command has run, or begins to wait. O(arguments)."""
        client = ctx.client
        if ctx.flags & f.WAKING:
            waiting = self._waiting.get(client.id)
            if waiting is not None:
                waiting.microseconds += nanoseconds // 1000
            return
        if not self._regards(ctx, command.flags):
            return
        entry = self._entry(ctx, command, argv)
        entry.microseconds = nanoseconds // 1000
        waits = isinstance(reply, Block) and not ctx.flags & f.DENY_BLOCKING
        if isinstance(reply, Block):
            reply = reply.on_timeout
        if not waits:
            entry.answer(reply)
        if self._place(ctx, command.flags, entry) and waits:
            self._waiting[client.id] = entry

    def refused(self, ctx: Context, command: Command | None, argv: list[bytes], text: bytes) -> None:
        """A command was answered with an error instead of being run. O(arguments)."""
        flags = command.flags if command is not None else 0
        if self._regards(ctx, flags):
            entry = self._entry(ctx, command, argv)
            entry.answer(ErrorReply(text))
            self._place(ctx, flags, entry)

    def answered(self, client: Client, reply: Reply, milliseconds: int) -> None:
        """A wait has ended; with the connection, if that has gone. O(1)."""
        entry = self._waiting.pop(client.id, None)
        if entry is not None:
            entry.waited = milliseconds
            if client.flags & f.CLOSING:
                entry.reply = NONE
            else:
                entry.answer(reply)

    def _regards(self, ctx: Context, flags: int) -> bool:
        """Whether a command may be of interest, as far as is known before its parent is."""
        if flags & f.CONTROL or (ctx.flags & f.IN_SCRIPT and not self._scripts):
            return False
        return self._clients is None or self._clients.matches(ctx.client.name)

    def _entry(self, ctx: Context, command: Command | None, argv: list[bytes]) -> TraceEntry:
        engine = self.engine
        name = argv[0].lower() if command is None else command.full_name
        shown = shortened(engine.slowlog.shown(argv), _MAX_ARGS, _MAX_TEXT)
        entry = TraceEntry(ctx.client, engine.space.now, ctx.db.index, name, shown)
        if command is not None and command.fits(len(argv)):
            entry.keys = keys_of(command, argv)[:_MAX_ARGS]
        return entry

    def _place(self, ctx: Context, flags: int, entry: TraceEntry) -> bool:
        """Put an entry where it belongs, with what has run inside it; whether it was kept."""
        number = ctx.client.id
        if ctx.flags & f.IN_SCRIPT:
            return self._put(self._in_scripts, number, entry)
        if flags & f.RUNS_SCRIPT:
            _take(self._in_scripts, number, entry)
        if ctx.flags & f.IN_EXEC:
            return self._put(self._in_transactions, number, entry)
        if flags & f.ENDS_MULTI:
            _take(self._in_transactions, number, entry)
        if self._commands is not None and not entry.is_named(self._commands):
            return False
        self._keep(entry)
        return True

    def _put(self, where: dict[int, _Inside], number: int, entry: TraceEntry) -> bool:
        inside = where.get(number)
        if inside is None:
            inside = _Inside()
            where[number] = inside
        if len(inside.commands) >= self.most:
            inside.omitted += 1
            return False
        inside.commands.append(entry)
        return True

    def _keep(self, entry: TraceEntry) -> None:
        """Add to the trace; the oldest go when there is no room. The newest always stays."""
        self._entries.append(entry)
        self._size += _weight(entry)
        self.dropped += entry.omitted
        while self._size > self.most and len(self._entries) > 1:
            oldest = _weight(self._entries.popleft())
            self._size -= oldest
            self.dropped += oldest


def _take(where: dict[int, _Inside], number: int, entry: TraceEntry) -> None:
    """Give a command what has run inside it."""
    inside = where.pop(number, None)
    if inside is not None:
        entry.commands = inside.commands
        entry.omitted = inside.omitted


def _weight(entry: TraceEntry) -> int:
    """How many commands an entry is, with those inside it. O(that)."""
    return 1 + sum([_weight(each) for each in entry.commands])
