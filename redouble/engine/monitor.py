"""MONITOR: every command, as it comes, to those who asked for it.

A line tells the time, the database, who sent it (`lua` for a script) and the arguments, quoted. It is
shown when the command has run, so the commands of a transaction come before its EXEC; a script's
come after the script's own line, because whoever runs a script shows it first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from redouble.engine import flags as f
from redouble.protocol.quote import quoted
from redouble.protocol.reply import Simple

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command
    from redouble.engine.context import Context
    from redouble.engine.engine import Engine


@final
class Monitors:
    """The clients that watch."""

    __slots__ = ("engine", "clients")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        self.clients: dict[Client, None] = {}

    def add(self, client: Client) -> None:
        """Let a client watch."""
        self.clients[client] = None
        client.flags |= f.MONITOR
        self.engine.observers |= f.MONITORED

    def forget(self, client: Client) -> None:
        """A client watches no more."""
        if client in self.clients:
            del self.clients[client]
            client.flags &= ~f.MONITOR
            if not self.clients:
                self.engine.observers &= ~f.MONITORED

    def feed(self, ctx: Context, command: Command, argv: list[bytes]) -> None:
        """Show a command that has run, unless it is none to be seen."""
        if not command.flags & (f.SKIP_MONITOR | f.ADMIN):
            self.show(ctx, argv)

    def show(self, ctx: Context, argv: list[bytes]) -> None:
        """Show a request. O(monitors + arguments)."""
        now = self.engine.clock.now_us()
        client = ctx.client
        source = client.address
        if ctx.flags & f.IN_SCRIPT:
            source = b"lua"
        elif client.kind == b"unix":
            source = b"unix:" + client.address.rpartition(b":")[0]
        words = b" ".join([quoted(arg) for arg in self.engine.slowlog.shown(argv)])
        line = Simple(b"%d.%06d [%d %b] %b" % (now // 1000000, now % 1000000, ctx.db.index, source, words))
        data = client.encoder.encode(line)
        for monitor in self.clients:
            # These lines are replies of a kind, no pushes: who wants no replies gets none.
            if not monitor.flags & (f.REPLY_OFF | f.REPLY_SKIP):
                monitor.push(data)
