"""PING, ECHO, SELECT, QUIT, RESET, HELLO, AUTH: the state of a connection."""

from __future__ import annotations

from typing import Final

from redouble.commands.clients import name_error
from redouble.engine import flags as f
from redouble.engine.command import Family
from redouble.engine.context import Context
from redouble.errors import SYNTAX, CommandError, c_text
from redouble.protocol.numbers import integer
from redouble.protocol.reply import OK, Map, Reply, Simple

connection: Final = Family("connection")

_INT_RANGE: Final = 1 << 31
_PONG: Final = Simple(b"PONG")
_RESET: Final = Simple(b"RESET")
_GREETING: Final = "loading stale fast noscript no_auth allow_busy"
_NOT_LOGGED_IN: Final = (
    b"NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> "
    b"<pass> option can be used to authenticate the client and select the RESP protocol version at the same time"
)
#: Since then HELLO reads all its options before it does anything.
_HELLO_WAITS_SINCE: Final = 70200
_WRONG_PASSWORD: Final = b"WRONGPASS invalid username-password pair or user is disabled."
_NO_PASSWORD_SET: Final = (
    b"ERR AUTH <password> called without any password configured for the default user. Are you sure your "
    b"configuration is correct?"
)


@connection.command(
    "ping", "[message]", "Answers whether the server lives.", arity=-1, flags="fast in_subscriber_mode",
    tips="request_policy:all_shards response_policy:all_succeeded",
)  # fmt: skip
def ping(ctx: Context, argv: list[bytes]) -> Reply:
    """PONG, or the message; a pair for RESP2 subscribers. O(1). Redis: PING."""
    if len(argv) > 2:
        raise CommandError(b"ERR wrong number of arguments for 'ping' command")
    if ctx.client.flags & f.SUBSCRIBER and ctx.client.resp == 2:
        return [b"pong", argv[1] if len(argv) == 2 else b""]
    return argv[1] if len(argv) == 2 else _PONG


@connection.command("echo", "message", "Gives the message back.", arity=2, flags="loading stale fast")
def echo(ctx: Context, argv: list[bytes]) -> Reply:
    """The message. O(1). Redis: ECHO."""
    return argv[1]


@connection.command("select", "index", "Changes the database.", arity=2, flags="loading stale fast")
def select(ctx: Context, argv: list[bytes]) -> Reply:
    """Use another database from now on. O(1). Redis: SELECT."""
    index = integer(argv[1])
    if not -_INT_RANGE <= index < _INT_RANGE:
        raise CommandError(b"ERR value is out of range, value must between -2147483648 and 2147483647")
    if ctx.engine.flags & f.CLUSTERED and index != 0:
        raise CommandError(b"ERR SELECT is not allowed in cluster mode")
    if not 0 <= index < len(ctx.space.databases):
        raise CommandError(b"ERR DB index is out of range")
    ctx.db = ctx.space.databases[index]
    return OK


@connection.command(
    "quit", "", "Closes the connection.", arity=-1,
    flags=_GREETING + " unqueued in_subscriber_mode", deprecated="7.2.0", replaced_by="just closing the connection",
)  # fmt: skip
def quit_(ctx: Context, argv: list[bytes]) -> Reply:
    """OK, then the connection is closed. O(1). Redis: QUIT."""
    ctx.client.flags |= f.ENDING
    return OK


@connection.command(
    "reset", "", "Makes the connection as it was when it was new.", arity=1,
    flags=_GREETING + " unqueued in_subscriber_mode", since="6.2.0",
)  # fmt: skip
def reset(ctx: Context, argv: list[bytes]) -> Reply:
    """Forget transaction, subscriptions, tracking, name, user, protocol, database. O(subscriptions). Redis: RESET."""
    client = ctx.client
    engine = ctx.engine
    engine.monitors.forget(client)
    engine.tracking.disable(client)
    ctx.db = ctx.space.databases[0]
    ctx.space.track_access = True
    client.set_resp(2)
    engine.acl.welcome(client)
    client.end_multi()
    engine.pubsub.forget(client)
    client.name = b""
    client.flags &= ~(
        f.ASKING_NEXT | f.READONLY_NODE | f.REPLY_OFF | f.REPLY_SKIP_NEXT | f.NO_TOUCH | f.NO_EVICT
    )  # fmt: skip
    return _RESET


@connection.command(
    "hello", "[protover [AUTH username password] [SETNAME clientname]]",
    "Agrees with the server on the protocol.", arity=-1, flags=_GREETING, since="6.0.0",
)  # fmt: skip
def hello(ctx: Context, argv: list[bytes]) -> Reply:
    """Choose the protocol, log in, take a name; what the server is. O(1). Redis: HELLO."""
    client = ctx.client
    version = client.resp
    if len(argv) > 1:
        version = integer(argv[1], b"ERR Protocol version is not an integer or out of range")
        if not 2 <= version <= 3:
            raise CommandError(b"NOPROTO unsupported protocol version")
    login: list[bytes] = []
    name: bytes | None = None
    at_once = ctx.engine.version < _HELLO_WAITS_SINCE
    at = 2
    while at < len(argv):
        option = argv[at].upper()
        more = len(argv) - at - 1
        if option == b"AUTH" and more >= 2:
            login = argv[at + 1 : at + 3]
            ctx.engine.slowlog.hide(argv, at + 1)
            ctx.engine.slowlog.hide(argv, at + 2)
            if at_once:
                _log_in(ctx, argv, login)
            at += 3
        elif option == b"SETNAME" and more >= 1:
            name = argv[at + 1]
            error = name_error(name)
            if error is not None:
                raise CommandError(error)
            if at_once:
                client.name = name
            at += 2
        else:
            raise CommandError(b"ERR Syntax error in HELLO option '%b'" % c_text(argv[at]))
    if login and not at_once:
        _log_in(ctx, argv, login)
    if client.flags & f.UNAUTHENTICATED:
        raise CommandError(_NOT_LOGGED_IN)
    if name is not None:
        client.name = name
    client.set_resp(version)
    return _introduction(ctx)


def _log_in(ctx: Context, argv: list[bytes], login: list[bytes]) -> None:
    if not ctx.engine.acl.authenticate(ctx.client, login[0], login[1], argv[0]):
        raise CommandError(_WRONG_PASSWORD)


def _introduction(ctx: Context) -> Map:
    engine = ctx.engine
    items: list[Reply] = [
        b"server", b"redis",
        b"version", engine.version_text.encode(),
        b"proto", ctx.client.resp,
        b"id", ctx.client.id,
        b"mode", engine.mode,
    ]  # fmt: skip
    if engine.sentinel is None:
        items += [b"role", b"replica" if engine.flags & f.REPLICA else b"master"]
    return Map([*items, b"modules", []])


@connection.command(
    "auth", "[username] password", "Logs the connection in.", arity=-2, flags=_GREETING,
    complexity="O(N) where N is the number of passwords defined for the user",
)  # fmt: skip
def auth(ctx: Context, argv: list[bytes]) -> Reply:
    """Become a user, the default one where none is named. O(len). Redis: AUTH."""
    if len(argv) > 3:
        raise CommandError(SYNTAX)
    acl = ctx.engine.acl
    for at in range(1, len(argv)):
        ctx.engine.slowlog.hide(argv, at)
    if len(argv) == 2 and acl.default.nopass:
        raise CommandError(_NO_PASSWORD_SET)
    name = argv[1] if len(argv) == 3 else b"default"
    if not acl.authenticate(ctx.client, name, argv[-1], argv[0]):
        raise CommandError(_WRONG_PASSWORD)
    return OK
