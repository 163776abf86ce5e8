"""Scripts: the bridge between the Lua runtime and the engine.

A script's command takes the same road as any other, `Engine.call`, with a caller of its own: marked as
a script's, never blocking, with a database that SELECT changes for the script only. What a script may
not do is checked here, in Redis' order, and answered as an error reply that the script can catch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f
from redouble.engine.blocking import Block
from redouble.engine.context import Context
from redouble.errors import CommandError
from redouble.lua_runtime.host import ACL_ALLOWED, ACL_DENIED, ACL_NO_SUCH_COMMAND, ScriptHost
from redouble.lua_runtime.runtime import LuaRuntime, Script
from redouble.lua_runtime.shebang import ALLOW_OOM, ALLOW_STALE, COMPAT, NO_CLUSTER, NO_WRITES, parse_script
from redouble.protocol.keyslot import key_slot
from redouble.protocol.reply import ErrorReply, Reply

if TYPE_CHECKING:
    from redouble.engine.engine import Engine

_UNKNOWN: Final = ErrorReply(b"ERR Unknown Redis command called from script")
_ARITY: Final = ErrorReply(b"ERR Wrong number of args calling Redis command from script")
_NOT_ALLOWED: Final = ErrorReply(b"ERR This Redis command is not allowed from script")
_NO_WRITES: Final = ErrorReply(b"ERR Write commands are not allowed from read-only scripts.")


@final
class Scripting(ScriptHost):
    """The scripts of an engine, and the one that runs."""

    __slots__ = ("engine", "runtime", "slot", "flags", "context", "started_us")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        self.runtime: LuaRuntime = LuaRuntime(self, engine.version_text.encode())
        #: The one slot that the running script may use in a cluster; -1 while it has used none.
        self.slot: int = -1
        #: The running script's flags, of `shebang.py`.
        self.flags: int = 0
        #: The caller that the running script is.
        self.context: Context | None = None
        #: The time at which the running script began, for TIME: it stands still within a script.
        self.started_us: int = 0

    def run(self, ctx: Context, script: Script, keys: list[bytes], args: list[bytes], read_only: bool) -> Reply:
        """Run a script for a caller. Its reply, or an error reply."""
        if script.flags & NO_CLUSTER and self.engine.flags & f.CLUSTERED:
            raise CommandError(b"ERR Can not run script on cluster, 'no-cluster' flag is set.")
        if read_only and not script.flags & (COMPAT | NO_WRITES):
            raise CommandError(b"ERR Can not execute a script with write flag using *_ro command.")
        flags = ctx.flags | f.IN_SCRIPT | f.DENY_BLOCKING
        if read_only or script.flags & NO_WRITES:
            flags |= f.READ_ONLY
        self.started_us = self.engine.clock.now_us()
        self.flags = script.flags
        self.slot = key_slot(keys[0]) if keys and self.engine.flags & f.CLUSTERED else -1
        self.context = Context(self.engine, ctx.client, ctx.db, flags)
        try:
            return self.runtime.run(script, keys, args)
        finally:
            self.context = None

    # -- what a script asks -----------------------------------------------------------------

    def call(self, argv: list[bytes]) -> Reply:
        """redis.call: check and run one command."""
        ctx = self.context
        assert ctx is not None
        table = self.engine.table
        command = table.lookup.get(argv[0])
        if command is None or command.subcommands is not None:
            command = table.find(argv)
        if command is None:
            return _UNKNOWN
        count = len(argv)
        if count < command.min_args or count > command.max_args:
            return _ARITY
        if command.flags & f.NOSCRIPT:
            return _NOT_ALLOWED
        if ctx.flags & f.READ_ONLY and command.flags & (f.WRITE | f.MAY_REPLICATE):
            return _NO_WRITES
        if ctx.client.flags & f.RESTRICTED:
            denied = self.engine.acl.script_denial(ctx.client, command, argv)
            if denied is not None:
                return ErrorReply(denied)
        if self.engine.node is not None and command.keys:
            elsewhere = self.engine.node.script_objection(ctx.client, command, argv, self.flags)
            if elsewhere is not None:
                return ErrorReply(elsewhere)
        reply = self.engine.call(ctx, command, argv)
        if isinstance(reply, Block):
            return reply.on_timeout
        return reply

    def declared_flags(self, flags: int, argv: list[bytes]) -> int:
        """A script's request has these flags of its row, unless the script's first line declares others. O(len)."""
        runtime = self.runtime
        script = runtime.by_body.get(argv[1]) or runtime.find(argv[1].lower())
        declared = COMPAT
        if script is not None:
            declared = script.flags
        else:
            try:
                declared = parse_script(argv[1])[0]
            except CommandError:
                return flags
        if declared & COMPAT:
            return flags
        flags &= ~(f.STALE | f.DENYOOM | f.WRITE | f.MAY_REPLICATE)
        if not declared & NO_WRITES:
            flags |= f.WRITE
            if not declared & ALLOW_OOM:
                flags |= f.DENYOOM
        return flags | f.STALE if declared & ALLOW_STALE else flags

    def log(self, level: int, message: bytes) -> None:
        """redis.log."""

    def set_resp(self, version: int) -> None:
        """redis.setresp: replies keep their types here; the runtime converts them."""

    def set_repl(self, flags: int) -> None:
        """redis.set_repl: nothing is replicated."""

    def acl_check(self, argv: list[bytes]) -> int:
        """redis.acl_check_cmd."""
        ctx = self.context
        assert ctx is not None
        command = self.engine.table.find(argv)
        if command is None:
            return ACL_NO_SUCH_COMMAND
        result, _ = ctx.client.user.check(command, argv)
        return ACL_DENIED if result else ACL_ALLOWED

    def on_hook(self) -> bytes | None:
        """Called now and then while a script runs."""
        return None
