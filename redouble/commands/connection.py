"""PING, ECHO, SELECT, QUIT, RESET, HELLO, AUTH: the state of a connection."""

from typing import Final

from redouble.engine import flags as f
from redouble.engine.command import Family
from redouble.engine.context import Context
from redouble.errors import CommandError
from redouble.protocol.numbers import integer
from redouble.protocol.reply import OK, Reply, Simple

connection: Final = Family("connection")

_PONG: Final = Simple(b"PONG")


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
    index = integer(argv[1], b"ERR invalid DB index")
    if not 0 <= index < len(ctx.space.databases):
        raise CommandError(b"ERR DB index is out of range")
    ctx.db = ctx.space.databases[index]
    return OK


@connection.command(
    "quit", "", "Closes the connection.", arity=-1,
    flags="loading stale fast noscript no_auth allow_busy unqueued in_subscriber_mode", deprecated="7.2.0",
    replaced_by="just closing the connection",
)  # fmt: skip
def quit_(ctx: Context, argv: list[bytes]) -> Reply:
    """OK, then the connection is closed. O(1). Redis: QUIT."""
    ctx.client.send(OK)
    ctx.client.close_after_reply()
    return OK
