"""EVAL, EVALSHA, their read-only forms, and SCRIPT. How scripts run is told in `engine/scripting.py`."""

from typing import Final

from redouble.commands.help import help_reply
from redouble.engine import flags as f
from redouble.engine.command import Family, counted
from redouble.engine.context import Context
from redouble.errors import NO_SCRIPT, NOT_AN_INTEGER, CommandError
from redouble.protocol.numbers import integer
from redouble.protocol.reply import OK, Reply

scripting: Final = Family("scripting")

_RW: Final = "RW ACCESS UPDATE"
#: The flags of what runs a script or a function, and of the forms that may only read.
RUN: Final = "noscript stale skip_monitor no_mandatory_keys movablekeys may_replicate runs_script"
RO_RUN: Final = "noscript stale skip_monitor no_mandatory_keys movablekeys readonly runs_script"
NOT_BY_SCRIPTS: Final = "noscript"
ARGUMENTS: Final = "numkeys [key [key ...]] [arg [arg ...]]"
_COST: Final = "Depends on the script that is executed."
_SHA_LENGTH: Final = 40


def show_request(ctx: Context, argv: list[bytes]) -> None:
    """Show a request to MONITOR before it has run, so that the commands of its script come after it."""
    if ctx.engine.observers & f.MONITORED:
        ctx.engine.monitors.show(ctx, argv)


def keys_and_args(argv: list[bytes], not_a_number: bytes = NOT_AN_INTEGER) -> tuple[list[bytes], list[bytes]]:
    """The keys and the arguments behind `numkeys`, the third word. O(n)."""
    count = integer(argv[2], not_a_number)
    if count > len(argv) - 3:
        raise CommandError(b"ERR Number of keys can't be greater than number of args")
    if count < 0:
        raise CommandError(b"ERR Number of keys can't be negative")
    return argv[3 : 3 + count], argv[3 + count :]


def _eval(ctx: Context, argv: list[bytes], read_only: bool) -> Reply:
    show_request(ctx, argv)
    keys, args = keys_and_args(argv)
    scripting = ctx.engine.scripting
    return scripting.run(ctx, scripting.runtime.load(argv[1], scripting.keeps_all), argv, keys, args, read_only)


def _evalsha(ctx: Context, argv: list[bytes], read_only: bool) -> Reply:
    show_request(ctx, argv)
    if len(argv[1]) != _SHA_LENGTH:
        raise CommandError(NO_SCRIPT)
    keys, args = keys_and_args(argv)
    scripting = ctx.engine.scripting
    script = scripting.runtime.find(argv[1]) or scripting.runtime.find(argv[1].lower())
    if script is None:
        raise CommandError(NO_SCRIPT)
    return scripting.run(ctx, script, argv, keys, args, read_only)


@scripting.command(
    "eval", "script " + ARGUMENTS, "Runs a Lua script.", arity=-3, flags=RUN + " carries_script",
    keys=[counted(_RW, 2)], since="2.6.0", complexity=_COST,
)  # fmt: skip
def eval_(ctx: Context, argv: list[bytes]) -> Reply:
    """Run a script, and keep it for EVALSHA. Redis: EVAL."""
    return _eval(ctx, argv, False)


@scripting.command(
    "evalsha", "sha1 " + ARGUMENTS, "Runs a Lua script that the server knows.", arity=-3, flags=RUN,
    keys=[counted(_RW, 2)], since="2.6.0", complexity=_COST,
)  # fmt: skip
def evalsha(ctx: Context, argv: list[bytes]) -> Reply:
    """Run a script by its digest, or NOSCRIPT. Redis: EVALSHA."""
    return _evalsha(ctx, argv, False)


@scripting.command(
    "eval_ro", "script " + ARGUMENTS, "Runs a Lua script that may not write.", arity=-3,
    flags=RO_RUN + " carries_script", keys=[counted("RO ACCESS", 2)], since="7.0.0", complexity=_COST,
)  # fmt: skip
def eval_ro(ctx: Context, argv: list[bytes]) -> Reply:
    """As EVAL, but writes are refused. Redis: EVAL_RO."""
    return _eval(ctx, argv, True)


@scripting.command(
    "evalsha_ro", "sha1 " + ARGUMENTS, "Runs a Lua script that the server knows and that may not write.", arity=-3,
    flags=RO_RUN, keys=[counted("RO ACCESS", 2)], since="7.0.0", complexity=_COST,
)  # fmt: skip
def evalsha_ro(ctx: Context, argv: list[bytes]) -> Reply:
    """As EVALSHA, but writes are refused. Redis: EVALSHA_RO."""
    return _evalsha(ctx, argv, True)


scripting.container("script", "Manages the scripts that the server knows.", since="2.6.0")


@scripting.command(
    "script|load", "script", "Keeps a script for EVALSHA.", arity=3, flags="noscript stale", since="2.6.0",
    complexity="O(N) with N being the length in bytes of the script body.",
    tips="request_policy:all_nodes response_policy:all_succeeded",
)  # fmt: skip
def script_load(ctx: Context, argv: list[bytes]) -> Reply:
    """The digest of the script. Redis: SCRIPT LOAD."""
    return ctx.engine.scripting.runtime.load(argv[2]).sha


@scripting.command(
    "script|exists", "sha1 [sha1 ...]", "Tells which scripts the server knows.", arity=-3, flags=NOT_BY_SCRIPTS,
    since="2.6.0", complexity="O(N) with N being the number of scripts to check.",
    tips="request_policy:all_shards response_policy:agg_logical_and",
)  # fmt: skip
def script_exists(ctx: Context, argv: list[bytes]) -> Reply:
    """One or zero for each digest. Redis: SCRIPT EXISTS."""
    runtime = ctx.engine.scripting.runtime
    return [0 if runtime.find(sha.lower()) is None else 1 for sha in argv[2:]]


@scripting.command(
    "script|flush", "[ASYNC | SYNC]", "Forgets all scripts.", arity=-2, flags=NOT_BY_SCRIPTS, since="2.6.0",
    complexity="O(N) with N being the number of scripts in cache",
    tips="request_policy:all_nodes response_policy:all_succeeded",
)  # fmt: skip
def script_flush(ctx: Context, argv: list[bytes]) -> Reply:
    """Forget the scripts of EVAL; functions stay. Redis: SCRIPT FLUSH."""
    if len(argv) > 3 or (len(argv) == 3 and argv[2].lower() not in (b"async", b"sync")):
        raise CommandError(b"ERR SCRIPT FLUSH only support SYNC|ASYNC option")
    ctx.engine.scripting.runtime.flush()
    return OK


@scripting.command(
    "script|kill", "", "Ends the script that runs.", arity=2, flags="noscript allow_busy", since="2.6.0",
    tips="request_policy:all_shards response_policy:one_succeeded",
)  # fmt: skip
def script_kill(ctx: Context, argv: list[bytes]) -> Reply:
    """OK; it ends at once. Redis: SCRIPT KILL."""
    ctx.engine.scripting.long.kill(False)
    return OK


@scripting.command(
    "script|debug", "YES | SYNC | NO", "Sets the mode of the script debugger.", arity=3, flags=NOT_BY_SCRIPTS,
    since="3.2.0",
)  # fmt: skip
def script_debug(ctx: Context, argv: list[bytes]) -> Reply:
    """There is no debugger here: only NO is possible. Redis: SCRIPT DEBUG."""
    mode = argv[2].upper()
    if mode == b"NO":
        return OK
    if mode in (b"YES", b"SYNC"):
        raise CommandError(b"ERR SCRIPT DEBUG is not supported by this server")
    raise CommandError(b"ERR Use SCRIPT DEBUG YES/SYNC/NO")


@scripting.command("script|help", "", "Explains the sub-commands.", arity=2, flags="loading stale", since="5.0.0")
def script_help(ctx: Context, argv: list[bytes]) -> Reply:
    """The explanation. Redis: SCRIPT HELP."""
    return help_reply(ctx, argv)
