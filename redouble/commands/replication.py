"""ROLE, REPLICAOF, PSYNC and their kin. As a replica Redouble is one whose master is away; as a master it
takes replicas (see `engine/propagation.py`)."""

from typing import Final

from redouble.commands.effects import EFFECTS
from redouble.engine.command import Family
from redouble.engine.context import Context
from redouble.errors import SYNTAX, CommandError, c_text
from redouble.protocol.numbers import integer, try_integer
from redouble.protocol.reply import NO_REPLY, OK, Reply, Simple

_BAD_PORT: Final = b"ERR Invalid master port"
replication: Final = Family("server")

_ADMIN: Final = "admin noscript stale"
_SYNC: Final = "admin noscript no_async_loading no_multi"


@replication.command(
    "role", "", "Tells the role in replication.", arity=1, flags="noscript loading stale fast", since="2.8.12",
    categories="admin dangerous",
)  # fmt: skip
def role(ctx: Context, argv: list[bytes]) -> Reply:
    """Master with its offset and replicas, or slave with its master. O(replicas). Redis: ROLE."""
    link = ctx.engine.replication
    if link.host:
        return [b"slave", link.host, link.port, b"connect", -1]
    propagation = ctx.engine.propagation
    replicas: list[Reply] = [
        [follower.host(client), b"%d" % follower.port, b"%d" % follower.acknowledged]
        for client, follower in propagation.online()
    ]
    return [b"master", propagation.offset, replicas]


@replication.command(
    "replicaof", "host port | NO ONE", "Makes the server a replica, or a master again.", arity=3,
    flags=_ADMIN + " no_async_loading", since="5.0.0",
)  # fmt: skip
def replicaof(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(1). Redis: REPLICAOF."""
    return _follow(ctx, argv)


@replication.command(
    "slaveof", "host port | NO ONE", "Makes the server a replica, or a master again.", arity=3,
    flags=_ADMIN + " no_async_loading", deprecated="5.0.0", replaced_by="`REPLICAOF`",
)  # fmt: skip
def slaveof(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(1). Redis: SLAVEOF."""
    return _follow(ctx, argv)


def _follow(ctx: Context, argv: list[bytes]) -> Reply:
    if ctx.engine.node is not None:
        raise CommandError(b"ERR REPLICAOF not allowed in cluster mode.")
    link = ctx.engine.replication
    if argv[1].lower() == b"no" and argv[2].lower() == b"one":
        link.follow(b"", 0)
        return OK
    port = integer(argv[2], _BAD_PORT)
    if not 0 <= port <= 65535:
        raise CommandError(_BAD_PORT)
    if link.host.lower() == argv[1].lower() and link.port == port:
        return Simple(b"OK Already connected to specified master")
    link.follow(argv[1], port)
    return OK


@replication.command(
    "failover", "[TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]", "Hands the role of master to a replica.",
    arity=-1, flags=_ADMIN, since="6.2.0",
)  # fmt: skip
def failover(ctx: Context, argv: list[bytes]) -> Reply:
    """An error, since no replica is ever connected. O(1). Redis: FAILOVER."""
    if ctx.engine.node is not None:
        raise CommandError(b"ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead.")
    if len(argv) == 2 and argv[1].lower() == b"abort":
        raise CommandError(b"ERR No failover in progress.")
    at, timeout, host, force = 1, 0, b"", False
    while at < len(argv):
        word = argv[at].lower()
        if word == b"timeout" and at + 1 < len(argv) and not timeout:
            timeout = integer(argv[at + 1])
            if timeout <= 0:
                raise CommandError(b"ERR FAILOVER timeout must be greater than 0")
            at += 2
        elif word == b"to" and at + 2 < len(argv) and not host:
            integer(argv[at + 2])
            host = argv[at + 1]
            at += 3
        elif word == b"force" and not force:
            force = True
            at += 1
        else:
            raise CommandError(SYNTAX)
    if ctx.engine.replication.host:
        raise CommandError(b"ERR FAILOVER is not valid when server is a replica.")
    raise CommandError(b"ERR FAILOVER requires connected replicas.")


@replication.command("sync", "", "Begins replication, the old way.", arity=1, flags=_SYNC)
def sync(ctx: Context, argv: list[bytes]) -> Reply:
    """All keys as a file, then every change. O(size). Redis: SYNC."""
    return _begin(ctx, b"")


@replication.command("psync", "replicationid offset", "Begins replication.", arity=-3, flags=_SYNC, since="2.8.0")
def psync(ctx: Context, argv: list[bytes]) -> Reply:
    """As SYNC, whatever the replica has already: nothing is kept for those who come back. Redis: PSYNC."""
    engine = ctx.engine
    return _begin(ctx, b"+FULLRESYNC %b %d\r\n" % (engine.replication.id, engine.propagation.offset))


def _begin(ctx: Context, greeting: bytes) -> Reply:
    engine = ctx.engine
    if engine.replication.host:
        raise CommandError(b"NOMASTERLINK Can't SYNC while not connected with my master")
    engine.propagation.attach(ctx.client, EFFECTS, greeting)
    return NO_REPLY


@replication.command(
    "replconf", "", "Tells a master about its replica.", arity=-1,
    flags="admin noscript loading stale allow_busy", since="3.0.0",
)  # fmt: skip
def replconf(ctx: Context, argv: list[bytes]) -> Reply:
    """OK for what a replica says before it begins, nothing for what it says later. O(options). Redis: REPLCONF."""
    if len(argv) % 2 == 0:
        raise CommandError(SYNTAX)
    follower = ctx.engine.propagation.follower(ctx.client)
    for at in range(1, len(argv), 2):
        option, value = argv[at].lower(), argv[at + 1]
        if option == b"ack":
            follower.acknowledged = try_integer(value) or 0
            follower.heard = ctx.now
            return NO_REPLY
        if option == b"listening-port":
            follower.port = integer(value)
        elif option == b"ip-address":
            follower.address = value
        elif option == b"rdb-only":
            follower.keys_only_once = integer(value) == 1
        elif option == b"rdb-filter-only":
            follower.functions_only = _only_functions(value)
        elif option not in (b"capa", b"version"):
            raise CommandError(b"ERR Unrecognized REPLCONF option: " + c_text(argv[at]))
    return OK


def _only_functions(words: bytes) -> bool:
    """Whether the file shall hold functions only. A filter names what it lets pass: `functions` is all there is."""
    if words.split() not in ([], [b"functions"]):
        raise CommandError(b"ERR Unsupported rdb-filter-only option")
    return bool(words.split())
