"""ACL: users and their rights. What they mean is in `engine/acl.py` and its neighbours."""

from __future__ import annotations

from typing import Final

from redouble.commands.help import bad_subcommand, help_reply
from redouble.engine.acl import DEFAULT
from redouble.engine.aclfile import file_text, load_file, save_file
from redouble.engine.acllog import REASONS, AclLogEntry
from redouble.engine.aclselector import Selector
from redouble.engine.command import CATEGORY_ORDER, Family
from redouble.engine.context import Context
from redouble.errors import CommandError, c_text, wrong_arity
from redouble.protocol.numbers import integer
from redouble.protocol.reply import OK, Bulks, Double, Map, Reply, SetReply

acl: Final = Family("server")

_OPEN: Final = "noscript loading stale"
_OWN: Final = "admin " + _OPEN
_EVERYWHERE: Final = "request_policy:all_nodes response_policy:all_succeeded"
_OF_USERS: Final = "O(N). Where N is the number of configured users."
_PASSWORD_BITS: Final = 256
_MAX_BITS: Final = 4096
_LOG_SHOWN: Final = 10
#: From this version on an entry of the log has an id and times.
_LOG_IDS_SINCE: Final = 70200
_SHORT_ENTRY: Final = 14
_NO_FILE: Final = (
    b"ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER "
    b"command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order to store "
    b"users in the Redis configuration."
)

acl.container("acl", "Holds the commands about users and their rights.", since="6.0.0")


# -- users ----------------------------------------------------------------------------------------------


@acl.command("acl|whoami", "", "Tells the connection's user.", arity=2, flags=_OPEN, since="6.0.0")
def whoami(ctx: Context, argv: list[bytes]) -> Reply:
    """The user's name. O(1). Redis: ACL WHOAMI."""
    return ctx.client.user.name


@acl.command("acl|users", "", "Lists the names of all users.", arity=2, flags=_OWN, since="6.0.0", complexity=_OF_USERS)
def users(ctx: Context, argv: list[bytes]) -> Reply:
    """Names, sorted. O(users). Redis: ACL USERS."""
    return Bulks(sorted(ctx.engine.acl.users))


@acl.command(
    "acl|list", "", "Lists all users with their rules.", arity=2, flags=_OWN, since="6.0.0", complexity=_OF_USERS
)
def list_(ctx: Context, argv: list[bytes]) -> Reply:
    """The lines of an ACL file. O(users). Redis: ACL LIST."""
    return Bulks(file_text(ctx.engine.acl).splitlines())


def _selector_fields(selector: Selector) -> list[Reply]:
    return [
        b"commands", selector.command_rules(),
        b"keys", selector.key_rules(),
        b"channels", selector.channel_rules(),
    ]  # fmt: skip


@acl.command(
    "acl|getuser", "username", "Describes a user.", arity=3, flags=_OWN, since="6.0.0",
    complexity="O(N). Where N is the number of password, command and pattern rules that the user has.",
)  # fmt: skip
def getuser(ctx: Context, argv: list[bytes]) -> Reply:
    """Flags, password hashes and rules; null where there is no such user. O(rules). Redis: ACL GETUSER."""
    ctx.engine.slowlog.hide(argv, 2)
    user = ctx.engine.acl.users.get(argv[2])
    if user is None:
        return None
    return Map([
        b"flags", SetReply(list(user.flag_names())),
        b"passwords", Bulks(user.passwords),
        *_selector_fields(user.root),
        b"selectors", [Map(_selector_fields(selector)) for selector in user.selectors[1:]],
    ])  # fmt: skip


@acl.command(
    "acl|setuser", "username [rule [rule ...]]", "Creates a user, or changes its rules.", arity=-3, flags=_OWN,
    since="6.0.0", complexity="O(N). Where N is the number of rules provided.", tips=_EVERYWHERE,
)  # fmt: skip
def setuser(ctx: Context, argv: list[bytes]) -> Reply:
    """Apply rules in order, all or none. O(rules * commands). Redis: ACL SETUSER."""
    for at in range(2, len(argv)):
        ctx.engine.slowlog.hide(argv, at)
    ctx.engine.acl.set_user(argv[2], argv[3:])
    return OK


@acl.command(
    "acl|deluser", "username [username ...]", "Deletes users and closes their connections.", arity=-3, flags=_OWN,
    since="6.0.0", complexity="O(1) amortized time considering the typical user.", tips=_EVERYWHERE,
)  # fmt: skip
def deluser(ctx: Context, argv: list[bytes]) -> Reply:
    """How many users there were. O(names * clients). Redis: ACL DELUSER."""
    for at in range(2, len(argv)):
        ctx.engine.slowlog.hide(argv, at)
    if DEFAULT in argv[2:]:
        raise CommandError(b"ERR The 'default' user cannot be removed")
    return sum([1 for name in argv[2:] if ctx.engine.acl.delete_user(name)])


@acl.command(
    "acl|dryrun", "username command [arg [arg ...]]", "Tells whether a user may send a request.", arity=-4, flags=_OWN,
    since="7.0.0", complexity="O(1).",
)  # fmt: skip
def dryrun(ctx: Context, argv: list[bytes]) -> Reply:
    """OK, or what the user lacks, as text. O(arguments). Redis: ACL DRYRUN."""
    user = ctx.engine.acl.users.get(argv[2])
    if user is None:
        raise CommandError(b"ERR User '%b' not found" % c_text(argv[2]))
    request = argv[3:]
    command = ctx.engine.table.find(request)
    if command is None:
        raise CommandError(b"ERR Command '%b' not found" % c_text(argv[3]))
    if not command.fits(len(request)):
        raise wrong_arity(command.full_name)
    result, at = user.check(command, request)
    return ctx.engine.acl.verbose_denial(user, command, result, request[at]) if result else OK


# -- categories and passwords ---------------------------------------------------------------------------


@acl.command(
    "acl|cat", "[category]", "Lists the categories of commands, or the commands of one.", arity=-2, flags=_OPEN,
    since="6.0.0", complexity="O(1) since the categories and commands are a fixed set.",
)  # fmt: skip
def cat(ctx: Context, argv: list[bytes]) -> Reply:
    """Names. O(commands). Redis: ACL CAT."""
    if len(argv) > 3:
        raise bad_subcommand(argv)
    if len(argv) == 2:
        return Bulks([name.encode() for name in CATEGORY_ORDER])
    category = argv[2].lower().decode("latin-1")
    if category not in CATEGORY_ORDER:
        raise CommandError(b"ERR Unknown category '%b'" % c_text(argv[2])[:128])
    return Bulks([row.full_name for row in ctx.engine.table.rows if category in row.categories])


@acl.command("acl|genpass", "[bits]", "Makes up a password.", arity=-2, flags=_OPEN, since="6.0.0")
def genpass(ctx: Context, argv: list[bytes]) -> Reply:
    """Random hexadecimal digits. O(bits). Redis: ACL GENPASS."""
    if len(argv) > 3:
        raise bad_subcommand(argv)
    bits = integer(argv[2]) if len(argv) == 3 else _PASSWORD_BITS
    if not 0 < bits <= _MAX_BITS:
        raise CommandError(
            b"ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to %d"
            % _MAX_BITS
        )
    digits = (bits + 3) // 4
    return b"%0*x" % (digits, ctx.space.random.getrandbits(digits * 4))


# -- the log --------------------------------------------------------------------------------------------


@acl.command(
    "acl|log", "[count | RESET]", "Shows what was denied.", arity=-2, flags=_OWN, since="6.0.0",
    complexity="O(N) with N being the number of entries shown.",
)  # fmt: skip
def log(ctx: Context, argv: list[bytes]) -> Reply:
    """The latest denials, newest first. O(entries). Redis: ACL LOG."""
    if len(argv) > 3:
        raise bad_subcommand(argv)
    entries = ctx.engine.acl.log.entries
    count = _LOG_SHOWN
    if len(argv) == 3:
        if argv[2].upper() == b"RESET":
            entries.clear()
            return OK
        count = max(0, integer(argv[2]))
    return [_entry(ctx, entry) for entry in entries[:count]]


def _entry(ctx: Context, entry: AclLogEntry) -> Map:
    fields: list[Reply] = [
        b"count", entry.count,
        b"reason", REASONS[entry.reason],
        b"context", entry.context,
        b"object", entry.object,
        b"username", entry.user,
        b"age-seconds", Double(max(0, ctx.now - entry.updated) / 1000),
        b"client-info", entry.client_line,
        b"entry-id", entry.id,
        b"timestamp-created", entry.created,
        b"timestamp-last-updated", entry.updated,
    ]  # fmt: skip
    return Map(fields if ctx.engine.version >= _LOG_IDS_SINCE else fields[:_SHORT_ENTRY])


# -- the file -------------------------------------------------------------------------------------------


def _file(ctx: Context) -> bytes:
    name = ctx.engine.config.get(b"aclfile")
    if not name:
        raise CommandError(_NO_FILE)
    return name


@acl.command(
    "acl|load", "", "Reads the users from the ACL file.", arity=2, flags=_OWN, since="6.0.0", complexity=_OF_USERS
)
def load(ctx: Context, argv: list[bytes]) -> Reply:
    """Take the file's users instead of the present ones, if it has no fault. O(users). Redis: ACL LOAD."""
    load_file(ctx.engine.acl, _file(ctx))
    return OK


@acl.command(
    "acl|save", "", "Writes the users to the ACL file.", arity=2, flags=_OWN, since="6.0.0", complexity=_OF_USERS,
    tips=_EVERYWHERE,
)  # fmt: skip
def save(ctx: Context, argv: list[bytes]) -> Reply:
    """Write the ACL file anew. O(users). Redis: ACL SAVE."""
    save_file(ctx.engine.acl, _file(ctx))
    return OK


@acl.command("acl|help", "", "Explains the sub-commands.", arity=2, flags="loading stale", since="6.0.0")
def help_(ctx: Context, argv: list[bytes]) -> Reply:
    """A text. Redis: ACL HELP."""
    return help_reply(ctx, argv)
