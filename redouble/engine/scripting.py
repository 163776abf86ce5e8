"""Scripts: the bridge between the Lua runtime and the engine.

A script's command takes the same road as any other, `Engine.call`, with a caller of its own: marked as
a script's, never blocking, with a database that SELECT changes for the script only. What a script may
not do is checked here, in Redis' order, and answered as an error reply that the script can catch. Such
an error, and that of a command, is counted where it comes from, and not again if the script ends with it.

Whether a script may run at all depends on the flags that its first line declares; `declared_flags`
tells them to `admission.py`, and `_objection` judges once more for those that run within an EXEC.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, final

from redouble.clock import ticks
from redouble.engine import flags as f
from redouble.engine.blocking import Block
from redouble.engine.context import Context
from redouble.engine.longscripts import LongScripts
from redouble.engine.memory import OOM
from redouble.engine.replication import READONLY
from redouble.errors import CommandError
from redouble.lua_runtime.functions import FunctionLibraries
from redouble.lua_runtime.host import ACL_ALLOWED, ACL_DENIED, ACL_NO_SUCH_COMMAND, ScriptHost
from redouble.lua_runtime.library import Function
from redouble.lua_runtime.runtime import LuaRuntime, Script
from redouble.lua_runtime.shebang import ALLOW_OOM, ALLOW_STALE, COMPAT, NO_CLUSTER, NO_WRITES, parse_script
from redouble.protocol.keyslot import key_slot
from redouble.protocol.reply import ErrorReply, Reply

if TYPE_CHECKING:
    from redouble.engine.command import Command
    from redouble.engine.engine import Engine

log: Final = logging.getLogger("redouble")

#: States of the engine in which a script may not write, and those that any command of a script must look at.
_LIMITS: Final = f.REPLICA | f.LACKS_REPLICAS | f.MEMORY_LIMITED
_UNUSUAL: Final = _LIMITS | f.CLUSTERED | f.FAULTY
_UNKNOWN: Final = b"ERR Unknown Redis command called from script"
_ARITY: Final = b"ERR Wrong number of args calling Redis command from script"
_NOT_ALLOWED: Final = b"ERR This Redis command is not allowed from script"
_NO_WRITES: Final = b"ERR Write commands are not allowed from read-only scripts."
_STALE: Final = b"ERR Can not execute the command on a stale replica"
_NO_REPLICAS: Final = b"NOREPLICAS Not enough good replicas to write."
_MASTER_DOWN: Final = b"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
_MASTER_DOWN_FLAG: Final = (
    b"MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' and 'allow-stale' flag is not set "
    b"on the script."
)
_OOM_FLAG: Final = b"OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'"
#: Of redis.log: debug and verbose, notice, warning.
_LEVELS: Final = (logging.DEBUG, logging.DEBUG, logging.INFO, logging.WARNING)
#: redis.REPL_REPLICA.
_TO_REPLICAS: Final = 2
#: Since then scripts of EVAL are forgotten when there are many.
_FORGETS_SINCE: Final = 70400


@final
class Scripting(ScriptHost):
    """The scripts and functions of an engine, and the one that runs."""

    __slots__ = ("engine", "runtime", "libraries", "long", "keeps_all", "slot", "flags", "wrote", "context", "unbarred",
                 "_began_us", "keys")  # fmt: skip

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        self.runtime: LuaRuntime = LuaRuntime(self, engine.version_text.encode())
        self.libraries: FunctionLibraries = FunctionLibraries(self.runtime)
        self.long: LongScripts = LongScripts(engine)
        #: Whether every script that ever ran is kept for EVALSHA.
        self.keeps_all: bool = engine.version < _FORGETS_SINCE
        #: The one slot that the running script may use in a cluster; -1 while it has used none.
        self.slot: int = -1
        #: The running script's flags, of `shebang.py`.
        self.flags: int = 0
        #: Whether it has called a command that writes.
        self.wrote: bool = False
        #: The keys that the caller of the running script declared.
        self.keys: list[bytes] = []
        #: The caller that the running script is.
        self.context: Context | None = None
        #: Whether scripts may run what they never may (DEBUG SET-DISABLE-DENY-SCRIPTS).
        self.unbarred: bool = False
        #: The time at which the running script began, once one of its commands has asked.
        self._began_us: int = 0

    # -- running ----------------------------------------------------------------------------

    def run(
        self, ctx: Context, script: Script, argv: list[bytes], keys: list[bytes], args: list[bytes], read_only: bool
    ) -> Reply:
        """Run a script for a caller; its reply. Raises `CommandError` if it may not run, or fails."""
        self._begin(ctx, script.flags, keys, read_only)
        self.long.begin(script.sha, False, argv)
        try:
            reply = self.runtime.run(script, keys, args)
        finally:
            self.context = None
            self.long.end()
        return self._checked(reply)

    def call_function(
        self, ctx: Context, function: Function, argv: list[bytes], keys: list[bytes], args: list[bytes], read_only: bool
    ) -> Reply:
        """Call a function for a caller; as `run`."""
        self._begin(ctx, function.flags, keys, read_only)
        self.long.begin(function.name, True, argv)
        try:
            reply = self.runtime.call_function(function, keys, args)
        finally:
            self.context = None
            self.long.end()
        return self._checked(reply)

    def _begin(self, ctx: Context, declared: int, keys: list[bytes], read_only: bool) -> None:
        engine = self.engine
        if not declared & COMPAT or engine.flags & f.REPLICA:
            objection = self._objection(declared, read_only)
            if objection is not None:
                raise CommandError(objection)
        flags = ctx.flags | f.IN_SCRIPT | f.DENY_BLOCKING
        if read_only or declared & NO_WRITES:
            flags |= f.READ_ONLY
        self._began_us = 0
        self.flags = declared
        self.wrote = False
        self.keys = keys
        self.slot = key_slot(keys[0]) if keys and engine.flags & f.CLUSTERED else -1
        self.context = Context(engine, ctx.client, ctx.db, flags)

    def _objection(self, declared: int, read_only: bool) -> bytes | None:
        """Why a script with these flags may not run, or None. In Redis' order."""
        engine = self.engine
        stale = engine.flags & f.REPLICA and not engine.config.enabled(b"replica-serve-stale-data")
        if declared & COMPAT:
            return _MASTER_DOWN if stale else None
        if declared & NO_CLUSTER and engine.flags & f.CLUSTERED:
            return b"ERR Can not run script on cluster, 'no-cluster' flag is set."
        if stale and not declared & ALLOW_STALE:
            return _MASTER_DOWN_FLAG
        if not declared & NO_WRITES:
            if engine.flags & f.REPLICA and engine.replication.refuses(f.WRITE):
                return b"READONLY Can not run script with write flag on readonly replica"
            if read_only:
                return b"ERR Can not execute a script with write flag using *_ro command."
            if engine.flags & f.LACKS_REPLICAS:
                return _NO_REPLICAS
        if engine.memory.over and not declared & (ALLOW_OOM | NO_WRITES):
            return _OOM_FLAG
        return None

    def _checked(self, reply: Reply) -> Reply:
        """The reply of a script; an error is raised."""
        if isinstance(reply, ErrorReply):
            raise CommandError(reply.text, self.runtime.counted)
        return reply

    # -- libraries --------------------------------------------------------------------------

    def load_library(self, code: bytes, replace: bool) -> bytes:
        """FUNCTION LOAD: the library's name. It must not take longer than half a second."""
        self.long.begin(b"", True, [])
        self.long.loading = True
        try:
            return self.libraries.load(code, replace)
        finally:
            self.long.loading = False

    def adopt(self, codes: list[bytes], flush: bool, replace: bool) -> None:
        """Put libraries in place, all or (`CommandError`) none, instead of all others or beside them. O(size)."""
        coming = FunctionLibraries(self.runtime)
        for code in codes:
            coming.load(code, False)
        if flush:
            self.libraries = coming
        else:
            self.libraries.join(coming, replace)

    # -- what a script asks -----------------------------------------------------------------

    def time_us(self) -> int:
        """For TIME, which may stand still within a script: when the script began, microseconds since the Unix epoch."""
        if not self._began_us:
            clock = self.engine.clock
            elapsed = 0 if clock.frozen else (ticks() - self.long.started) // 1000
            self._began_us = clock.now_us() - elapsed
        return self._began_us

    def call(self, argv: list[bytes]) -> Reply:
        """redis.call: check and run one command."""
        ctx = self.context
        assert ctx is not None
        table = self.engine.table
        command = table.lookup.get(argv[0])
        if command is None or command.subcommands is not None:
            command = table.find(argv)
        if command is None:
            return self._rejected(ctx, None, argv, _UNKNOWN)
        count = len(argv)
        flags = command.flags
        if count < command.min_args or count > command.max_args:
            return self._rejected(ctx, command, argv, _ARITY)
        if (
            flags & f.NOSCRIPT
            or ctx.flags & f.READ_ONLY
            or ctx.client.flags & f.RESTRICTED
            or (self.engine.flags & _UNUSUAL)
        ):
            rejection = self._rejection(ctx, command, argv)
            if rejection is not None:
                return self._rejected(ctx, command, argv, rejection)
        if flags & f.WRITE:
            self.wrote = True
        reply = self.engine.call(ctx, command, argv)
        if isinstance(reply, Block):
            return reply.on_timeout
        return reply

    def _rejection(self, ctx: Context, command: Command, argv: list[bytes]) -> bytes | None:
        """Why a script may not call a command, or None. In Redis' order."""
        engine = self.engine
        flags = command.flags
        if flags & f.NOSCRIPT and not self.unbarred:
            return _NOT_ALLOWED
        if engine.flags & f.REPLICA and not flags & f.STALE and not engine.config.enabled(b"replica-serve-stale-data"):
            return _STALE
        if ctx.client.flags & f.RESTRICTED:
            denied = engine.acl.script_denial(ctx.client, command, argv)
            if denied is not None:
                return denied
        if ctx.flags & f.READ_ONLY and flags & (f.WRITE | f.MAY_REPLICATE):
            return _NO_WRITES
        if engine.flags & _LIMITS and not self.wrote:
            limit = self._limit(flags)
            if limit is not None:
                return limit
        if engine.node is not None and command.keys:
            elsewhere = engine.node.script_objection(ctx.client, command, argv, self.flags)
            if elsewhere is not None:
                return elsewhere
        if engine.flags & f.FAULTY:
            return engine.faults.script_error(ctx.client, command, argv, self.wrote)
        return None

    def _limit(self, flags: int) -> bytes | None:
        """What keeps a script from a command with these flags, if it has not written yet, or None."""
        engine = self.engine
        if flags & f.WRITE:
            if engine.flags & f.REPLICA and engine.replication.refuses(flags):
                return READONLY
            if engine.flags & f.LACKS_REPLICAS:
                return _NO_REPLICAS
        if flags & f.DENYOOM and engine.memory.over and (self.flags & COMPAT or not self.flags & ALLOW_OOM):
            return OOM
        return None

    def _rejected(self, ctx: Context, command: Command | None, argv: list[bytes], text: bytes) -> Reply:
        """The error reply for a command that may not run; it counts as one."""
        stats = self.engine.stats
        stats.count_error(text)
        if command is not None:
            stats.rejected[command.index] += 1
        if self.engine.observers & f.TRACED:
            self.engine.trace.refused(ctx, command, argv, text)
        return ErrorReply(text)

    def declared_flags(self, flags: int, argv: list[bytes]) -> int:
        """A script's request has these flags of its row, unless the script declares others. O(len)."""
        declared = self._declared(flags, argv)
        if declared & COMPAT:
            return flags
        flags &= ~(f.STALE | f.DENYOOM | f.WRITE | f.MAY_REPLICATE)
        if not declared & NO_WRITES:
            flags |= f.WRITE
            if not declared & ALLOW_OOM:
                flags |= f.DENYOOM
        return flags | f.STALE if declared & ALLOW_STALE else flags

    def _declared(self, flags: int, argv: list[bytes]) -> int:
        """The script's own flags; COMPAT where they are not known."""
        if flags & f.CALLS_FUNCTION:
            function = self.libraries.find(argv[1])
            return COMPAT if function is None else function.flags
        runtime = self.runtime
        script = runtime.by_body.get(argv[1]) or runtime.find(argv[1].lower())
        if script is not None:
            return script.flags
        try:
            return parse_script(argv[1])[0]
        except CommandError:
            return COMPAT

    def log(self, level: int, message: bytes) -> None:
        """redis.log."""
        log.log(_LEVELS[level], "%s", message.decode("utf-8", "backslashreplace"))

    def set_resp(self, version: int) -> None:
        """redis.setresp: replies keep their types here; the runtime converts them."""

    def set_repl(self, flags: int) -> None:
        """redis.set_repl: whether replicas are told of what the script does from now on."""
        ctx = self.context
        if ctx is not None:
            ctx.flags = ctx.flags & ~f.UNTOLD if flags & _TO_REPLICAS else ctx.flags | f.UNTOLD

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
        return self.long.on_hook()
