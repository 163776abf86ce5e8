"""TIME, SAVE, SHUTDOWN, MONITOR and what else an operator says to the server as a whole."""

from typing import Final

from redouble.commands.help import help_reply
from redouble.engine import flags as f
from redouble.engine.command import Family
from redouble.engine.context import Context
from redouble.errors import SYNTAX, CommandError
from redouble.protocol.numbers import integer
from redouble.protocol.reply import EMPTY, NO_REPLY, OK, Bulks, Reply, Simple, Verbatim

server: Final = Family("server")

_SAVES: Final = "admin noscript no_async_loading"
_MODULES: Final = _SAVES + " needs_modules"
#: Since then TIME is the same all through a script.
_SCRIPTS_FREEZE_SINCE: Final = 70200
_NOT_LOADED: Final = b"ERR Error loading the extension. Please check the server logs."


@server.command(
    "time", "", "Gives the server's time.", arity=1, flags="loading stale fast", since="2.6.0",
    tips="nondeterministic_output",
)  # fmt: skip
def time(ctx: Context, argv: list[bytes]) -> Reply:
    """Seconds since the Unix epoch, and the microseconds beyond them. O(1). Redis: TIME."""
    engine = ctx.engine
    stands_still = ctx.flags & f.IN_SCRIPT and engine.version >= _SCRIPTS_FREEZE_SINCE
    now = engine.scripting.time_us() if stands_still else engine.clock.now_us()
    return Bulks([b"%d" % (now // 1_000_000), b"%d" % (now % 1_000_000)])


# -- saving -------------------------------------------------------------------------------------


@server.command(
    "lastsave", "", "Tells when the keys were saved last.", arity=1, flags="loading stale fast",
    tips="nondeterministic_output", categories="admin dangerous",
)  # fmt: skip
def lastsave(ctx: Context, argv: list[bytes]) -> Reply:
    """Unix time in seconds. O(1). Redis: LASTSAVE."""
    return ctx.engine.saving.last_save


@server.command(
    "save", "", "Saves all keys while everybody waits.", arity=1, flags=_SAVES + " no_multi",
    complexity="O(N) where N is the total number of keys in all databases",
)  # fmt: skip
def save(ctx: Context, argv: list[bytes]) -> Reply:
    """OK once it is done. O(keys). Redis: SAVE."""
    if not ctx.engine.saving.save():
        raise CommandError(b"ERR")
    return OK


@server.command("bgsave", "[SCHEDULE]", "Saves all keys in the background.", arity=-1, flags=_SAVES)
def bgsave(ctx: Context, argv: list[bytes]) -> Reply:
    """What has been begun, though it is done by then. O(keys). Redis: BGSAVE."""
    if len(argv) > 2 or (len(argv) == 2 and argv[1].lower() != b"schedule"):
        raise CommandError(SYNTAX)
    ctx.engine.saving.save_in_background()
    return Simple(b"Background saving scheduled" if ctx.flags & f.IN_EXEC else b"Background saving started")


@server.command("bgrewriteaof", "", "Writes the append-only file anew in the background.", arity=1, flags=_SAVES)
def bgrewriteaof(ctx: Context, argv: list[bytes]) -> Reply:
    """What has been begun. O(1). Redis: BGREWRITEAOF."""
    ctx.engine.saving.rewrites += 1
    word = b"scheduled" if ctx.flags & f.IN_EXEC else b"started"
    return Simple(b"Background append only file rewriting " + word)


@server.command(
    "shutdown", "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]", "Ends the server.", arity=-1,
    flags="admin noscript loading stale no_multi allow_busy",
    complexity="O(N) when saving, where N is the total number of keys in all databases when saving data, "
    "otherwise O(1)",
)  # fmt: skip
def shutdown(ctx: Context, argv: list[bytes]) -> Reply:
    """Nothing: the connection ends with the server. Redis: SHUTDOWN."""
    words = [word.lower() for word in argv[1:]]
    if [word for word in words if word not in (b"nosave", b"save", b"now", b"force", b"abort")]:
        raise CommandError(SYNTAX)
    if b"save" in words and b"nosave" in words:
        raise CommandError(SYNTAX)
    if b"abort" in words:
        if len(set(words)) > 1:
            raise CommandError(SYNTAX)
        raise CommandError(b"ERR No shutdown in progress.")
    if ctx.flags & f.DENY_BLOCKING and b"now" not in words:
        raise CommandError(b"ERR SHUTDOWN without NOW or ABORT isn't allowed for DENY BLOCKING client")
    if ctx.engine.flags & f.BUSY_SCRIPT and b"nosave" not in words:
        raise CommandError(ctx.engine.busy_error)
    saving = ctx.engine.saving
    saved = b"nosave" in words or (saving.save() if b"save" in words else saving.save_at_end())
    if not saved and b"force" not in words:
        raise CommandError(b"ERR Errors trying to SHUTDOWN. Check logs.")
    ctx.engine.stopping = True
    return NO_REPLY


# -- watching -----------------------------------------------------------------------------------


@server.command(
    "monitor", "", "Shows every command as it comes.", arity=1, flags="admin noscript loading stale",
    complexity="O(1)",
)  # fmt: skip
def monitor(ctx: Context, argv: list[bytes]) -> Reply:
    """OK, then a line for each command. Redis: MONITOR."""
    if ctx.flags & f.DENY_BLOCKING:
        raise CommandError(b"ERR MONITOR isn't allowed for DENY BLOCKING client")
    ctx.engine.monitors.add(ctx.client)
    return OK


@server.command("lolwut", "[VERSION version]", "Tells the version, for fun.", arity=-1, flags="readonly fast",
                since="5.0.0")  # fmt: skip
def lolwut(ctx: Context, argv: list[bytes]) -> Reply:
    """One line; the pictures of versions 5 and 6 are left to them. O(1). Redis: LOLWUT."""
    if len(argv) >= 3 and argv[1].lower() == b"version":
        integer(argv[2])
    return Verbatim(b"Redis ver. %b\n" % ctx.engine.version_text.encode())


# -- modules ------------------------------------------------------------------------------------

server.container("module", "Holds the commands for modules.", since="4.0.0")


@server.command(
    "module|list", "", "Lists the loaded modules.", arity=2, flags="admin noscript", since="4.0.0",
    complexity="O(N) where N is the number of loaded modules.", tips="nondeterministic_output_order",
)  # fmt: skip
def module_list(ctx: Context, argv: list[bytes]) -> Reply:
    """None: there is no native code here. O(1). Redis: MODULE LIST."""
    return EMPTY


@server.command("module|load", "path [arg [arg ...]]", "Loads a module.", arity=-3, flags=_MODULES, since="4.0.0")
def module_load(ctx: Context, argv: list[bytes]) -> Reply:
    """An error. O(1). Redis: MODULE LOAD."""
    raise CommandError(_NOT_LOADED)


@server.command(
    "module|loadex", "path [CONFIG name value ...] [ARGS arg ...]", "Loads a module with settings.", arity=-3,
    flags=_MODULES, since="7.0.0",
)  # fmt: skip
def module_loadex(ctx: Context, argv: list[bytes]) -> Reply:
    """An error. O(1). Redis: MODULE LOADEX."""
    raise CommandError(_NOT_LOADED)


@server.command("module|unload", "name", "Unloads a module.", arity=3, flags=_MODULES, since="4.0.0")
def module_unload(ctx: Context, argv: list[bytes]) -> Reply:
    """An error. O(1). Redis: MODULE UNLOAD."""
    raise CommandError(b"ERR Error unloading module: no such module with that name")


@server.command("module|help", "", "Explains the sub-commands.", arity=2, flags="loading stale", since="5.0.0")
def module_help(ctx: Context, argv: list[bytes]) -> Reply:
    """The explanation. Redis: MODULE HELP."""
    return help_reply(ctx, argv)
