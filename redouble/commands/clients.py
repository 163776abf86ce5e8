"""CLIENT: connections, seen and steered from within. Client-side caching is in `tracking.py`."""

from __future__ import annotations

import re
from typing import Final, final

from redouble.commands.help import bad_subcommand, help_reply
from redouble.engine import flags as f
from redouble.engine.blocking import milliseconds_deadline
from redouble.engine.client import Client
from redouble.engine.clientline import client_line
from redouble.engine.command import Family
from redouble.engine.context import Context
from redouble.errors import SYNTAX, CommandError, c_text
from redouble.protocol.numbers import integer, try_integer
from redouble.protocol.reply import NO_REPLY, OK, Reply, Verbatim

clients: Final = Family("connection")

OWN: Final = "noscript loading stale keeps_caching"
_OTHERS: Final = "admin " + OWN
_EVERYWHERE: Final = "request_policy:all_nodes response_policy:all_succeeded"
_TYPES: Final = (b"normal", b"slave", b"replica", b"pubsub", b"master")
_PRINTABLE: Final = re.compile(rb"[!-~]*\Z")
_NAME_ERROR: Final = b"ERR Client names cannot contain spaces, newlines or special characters."
_BAD_ID: Final = b"ERR client-id should be greater than 0"

clients.container("client", "Holds the commands about connections.", since="2.4.0")


def _printable(value: bytes) -> bool:
    """Whether a name or the like is made of printable ASCII; it ends at a NUL, as in C."""
    return _PRINTABLE.match(value.partition(b"\0")[0]) is not None


def name_error(name: bytes) -> bytes | None:
    """Why a connection may not have this name, or None. O(len)."""
    return None if _printable(name) else _NAME_ERROR


def on_off(word: bytes) -> bool:
    """Whether a word says ON; a syntax error unless it says OFF."""
    upper = word.upper()
    if upper not in (b"ON", b"OFF"):
        raise CommandError(SYNTAX)
    return upper == b"ON"


def _set_flag(client: Client, bit: int, on: bool) -> None:
    client.flags = client.flags | bit if on else client.flags & ~bit


# -- about oneself -----------------------------------------------------------------------------------


@clients.command("client|id", "", "Tells the connection's number.", arity=2, flags=OWN, since="5.0.0")
def client_id(ctx: Context, argv: list[bytes]) -> Reply:
    """The id, which no other connection ever has. O(1). Redis: CLIENT ID."""
    return ctx.client.id


@clients.command(
    "client|setname", "connection-name", "Names the connection.", arity=3, flags=OWN, since="2.6.9", tips=_EVERYWHERE
)
def setname(ctx: Context, argv: list[bytes]) -> Reply:
    """Take a name; an empty one is none. O(len). Redis: CLIENT SETNAME."""
    error = name_error(argv[2])
    if error is not None:
        raise CommandError(error)
    ctx.client.name = argv[2]
    return OK


@clients.command("client|getname", "", "Tells the connection's name.", arity=2, flags=OWN, since="2.6.9")
def getname(ctx: Context, argv: list[bytes]) -> Reply:
    """The name, or null. O(1). Redis: CLIENT GETNAME."""
    return ctx.client.name or None


@clients.command(
    "client|setinfo", "<LIB-NAME libname | LIB-VER libver>", "Notes which library speaks.", arity=4, flags=OWN,
    since="7.2.0", tips=_EVERYWHERE,
)  # fmt: skip
def setinfo(ctx: Context, argv: list[bytes]) -> Reply:
    """Note the library's name or version. O(len). Redis: CLIENT SETINFO."""
    option = argv[2].lower()
    if option not in (b"lib-name", b"lib-ver"):
        raise CommandError(b"ERR Unrecognized option '%b'" % c_text(argv[2]))
    if not _printable(argv[3]):
        raise CommandError(b"ERR %b cannot contain spaces, newlines or special characters." % argv[2])
    if option == b"lib-name":
        ctx.client.lib_name = argv[3]
    else:
        ctx.client.lib_version = argv[3]
    return OK


@clients.command(
    "client|info", "", "Describes the connection.", arity=2, flags=OWN, since="6.2.0", tips="nondeterministic_output"
)
def info(ctx: Context, argv: list[bytes]) -> Reply:
    """The connection's line of CLIENT LIST. O(1). Redis: CLIENT INFO."""
    return Verbatim(client_line(ctx.client, argv) + b"\n")


@clients.command(
    "client|reply", "<ON | OFF | SKIP>", "Decides whether commands are answered.", arity=3, flags=OWN, since="3.2.0"
)
def reply(ctx: Context, argv: list[bytes]) -> Reply:
    """Answer again, never, or not the next command. O(1). Redis: CLIENT REPLY."""
    client = ctx.client
    mode = argv[2].upper()
    if mode == b"ON":
        client.flags &= ~(f.REPLY_OFF | f.REPLY_SKIP)
        return OK
    if mode == b"OFF":
        client.flags |= f.REPLY_OFF
    elif mode != b"SKIP":
        raise CommandError(SYNTAX)
    elif not client.flags & f.REPLY_OFF:
        client.flags |= f.REPLY_SKIP_NEXT
    return NO_REPLY


@clients.command(
    "client|no-evict", "<ON | OFF>", "Spares the connection when memory for clients is short.", arity=3, flags=_OTHERS,
    since="7.0.0",
)  # fmt: skip
def no_evict(ctx: Context, argv: list[bytes]) -> Reply:
    """Never close this connection to gain memory. O(1). Redis: CLIENT NO-EVICT."""
    _set_flag(ctx.client, f.NO_EVICT, on_off(argv[2]))
    return OK


@clients.command(
    "client|no-touch", "<ON | OFF>", "Reads keys without marking them as used.", arity=3, flags=OWN, since="7.2.0"
)
def no_touch(ctx: Context, argv: list[bytes]) -> Reply:
    """Leave the access times of keys alone. O(1). Redis: CLIENT NO-TOUCH."""
    _set_flag(ctx.client, f.NO_TOUCH, on_off(argv[2]))
    ctx.space.track_access = True
    return OK


# -- about all -----------------------------------------------------------------------------------------


def _type_of(client: Client) -> bytes:
    if client.flags & f.FOLLOWER:
        return b"slave"
    return b"pubsub" if client.flags & f.SUBSCRIBER else b"normal"


def _type_named(word: bytes) -> bytes:
    kind = word.lower()
    if kind not in _TYPES:
        raise CommandError(b"ERR Unknown client type '%b'" % c_text(word))
    return b"slave" if kind == b"replica" else kind


@clients.command(
    "client|list", "[TYPE <NORMAL | MASTER | REPLICA | PUBSUB>] [ID client-id [client-id ...]]",
    "Describes all connections.", arity=-2, flags=_OTHERS, since="2.4.0", tips="nondeterministic_output",
    complexity="O(N) where N is the number of client connections",
)  # fmt: skip
def list_(ctx: Context, argv: list[bytes]) -> Reply:
    """A line for each connection, or for those asked for. O(connections). Redis: CLIENT LIST."""
    everybody = ctx.engine.clients
    chosen: list[Client]
    option = argv[2].upper() if len(argv) > 2 else b""
    if len(argv) == 4 and option == b"TYPE":
        kind = _type_named(argv[3])
        chosen = [client for client in everybody.values() if _type_of(client) == kind]
    elif len(argv) > 3 and option == b"ID":
        numbers = [integer(word, b"ERR Invalid client ID") for word in argv[3:]]
        chosen = [everybody[number] for number in numbers if number in everybody]
    elif len(argv) != 2:
        raise CommandError(SYNTAX)
    else:
        chosen = list(everybody.values())
    lines = [client_line(client, argv if client is ctx.client else []) + b"\n" for client in chosen]
    return Verbatim(b"".join(lines))


@final
class KillFilter:
    """Which connections CLIENT KILL means: those that have all the properties asked for."""

    __slots__ = ("id", "kind", "user", "address", "local_address", "skip_me", "min_age")

    def __init__(self) -> None:
        self.id: int = 0
        self.kind: bytes = b""
        self.user: bytes = b""
        self.address: bytes = b""
        self.local_address: bytes = b""
        self.skip_me: bool = True
        #: Seconds.
        self.min_age: int = 0

    def matches(self, client: Client) -> bool:
        """Whether a connection is meant. O(1)."""
        if self.id and client.id != self.id:
            return False
        if self.kind and _type_of(client) != self.kind:
            return False
        if self.user and client.user.name != self.user:
            return False
        if self.address and client.address != self.address:
            return False
        if self.local_address and client.local_address != self.local_address:
            return False
        return not self.min_age or (client.engine.space.now - client.created) // 1000 >= self.min_age


def _kill_filter(ctx: Context, argv: list[bytes]) -> KillFilter:
    """The filter that CLIENT KILL's options describe."""
    wanted = KillFilter()
    for at in range(2, len(argv), 2):
        option = argv[at].upper()
        if at + 1 == len(argv):
            raise CommandError(SYNTAX)
        value = argv[at + 1]
        if option == b"ID":
            wanted.id = try_integer(value) or 0
            if wanted.id < 1:
                raise CommandError(_BAD_ID)
        elif option == b"MAXAGE" and ctx.engine.version >= _MAXAGE_SINCE:
            wanted.min_age = integer(value, b"ERR maxage is not an integer or out of range")
            if wanted.min_age <= 0:
                raise CommandError(b"ERR maxage should be greater than 0")
        elif option == b"TYPE":
            wanted.kind = _type_named(value)
        elif option == b"ADDR":
            wanted.address = value
        elif option == b"LADDR":
            wanted.local_address = value
        elif option == b"USER":
            if value not in ctx.engine.acl.users:
                raise CommandError(b"ERR No such user '%b'" % c_text(value))
            wanted.user = value
        elif option == b"SKIPME" and value.upper() in (b"YES", b"NO"):
            wanted.skip_me = value.upper() == b"YES"
        else:
            raise CommandError(SYNTAX)
    return wanted


#: CLIENT KILL MAXAGE came with this version.
_MAXAGE_SINCE: Final = 70400


@clients.command(
    "client|kill",
    "<ip:port | <[ID client-id] | [TYPE <NORMAL | MASTER | SLAVE | REPLICA | PUBSUB>] | [USER username] | "
    "[ADDR ip:port] | [LADDR ip:port] | [SKIPME <YES | NO>] | [MAXAGE maxage]> ...>",
    "Closes connections.", arity=-3, flags=_OTHERS, since="2.4.0",
    complexity="O(N) where N is the number of client connections",
)  # fmt: skip
def kill(ctx: Context, argv: list[bytes]) -> Reply:
    """Close the connections that match; how many, or OK in the old form. O(connections). Redis: CLIENT KILL."""
    old_form = len(argv) == 3
    if old_form:
        wanted = KillFilter()
        wanted.address = argv[2]
        wanted.skip_me = False
    else:
        wanted = _kill_filter(ctx, argv)
    killed = 0
    for client in list(ctx.engine.clients.values()):
        if not wanted.matches(client) or (wanted.skip_me and client is ctx.client):
            continue
        killed += 1
        if client is ctx.client:
            client.flags |= f.ENDING
        else:
            ctx.engine.kill(client)
    if not old_form:
        return killed
    if not killed:
        raise CommandError(b"ERR No such client")
    return OK


@clients.command(
    "client|unblock", "client-id [TIMEOUT | ERROR]", "Ends another connection's wait.", arity=-3, flags=_OTHERS,
    since="5.0.0", complexity="O(log N) where N is the number of client connections",
)  # fmt: skip
def unblock(ctx: Context, argv: list[bytes]) -> Reply:
    """Let a blocked connection time out now, or fail; 1 if it was blocked. O(keys). Redis: CLIENT UNBLOCK."""
    if len(argv) > 4:
        raise bad_subcommand(argv)
    reason = argv[3].upper() if len(argv) == 4 else b"TIMEOUT"
    if reason not in (b"TIMEOUT", b"ERROR"):
        raise CommandError(b"ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
    client = ctx.engine.clients.get(integer(argv[2]))
    if client is None:
        return 0
    return 1 if ctx.engine.blocking.unblock(client, reason == b"ERROR") else 0


@clients.command("client|pause", "timeout [WRITE | ALL]", "Lets commands wait.", arity=-3, flags=_OTHERS, since="3.0.0")
def pause(ctx: Context, argv: list[bytes]) -> Reply:
    """Postpone all commands, or those that may write, for some ms. O(1). Redis: CLIENT PAUSE."""
    if len(argv) > 4:
        raise bad_subcommand(argv)
    mode = argv[3].upper() if len(argv) == 4 else b"ALL"
    if mode not in (b"WRITE", b"ALL"):
        raise CommandError(b"ERR CLIENT PAUSE mode must be WRITE or ALL")
    until = milliseconds_deadline(ctx, argv[2])
    if until:
        ctx.engine.pause.begin(until, mode == b"ALL")
    return OK


@clients.command(
    "client|unpause", "", "Lets waiting commands go on.", arity=2, flags=_OTHERS, since="6.2.0",
    complexity="O(N) Where N is the number of paused clients",
)  # fmt: skip
def unpause(ctx: Context, argv: list[bytes]) -> Reply:
    """End a pause. O(postponed clients). Redis: CLIENT UNPAUSE."""
    ctx.engine.pause.end()
    return OK


@clients.command("client|help", "", "Explains the sub-commands.", arity=2, flags="loading stale", since="5.0.0")
def help_(ctx: Context, argv: list[bytes]) -> Reply:
    """A text. Redis: CLIENT HELP."""
    return help_reply(ctx, argv)
