"""ROLE, REPLICAOF and their kin. Redouble serves alone; as a replica it is one whose master is away."""

from typing import Final

from redouble.engine.command import Family
from redouble.engine.context import Context
from redouble.errors import SYNTAX, CommandError
from redouble.protocol.numbers import integer, try_integer
from redouble.protocol.reply import EMPTY, OK, Reply, Simple

replication: Final = Family("server")

_ADMIN: Final = "admin noscript stale"
_SYNC: Final = "admin noscript no_async_loading no_multi"
_KNOWN_OPTIONS: Final = (b"listening-port", b"ip-address", b"capa", b"version", b"rdb-only", b"rdb-filter-only")


@replication.command(
    "role", "", "Tells the role in replication.", arity=1, flags="noscript loading stale fast", since="2.8.12",
    categories="admin dangerous",
)  # fmt: skip
def role(ctx: Context, argv: list[bytes]) -> Reply:
    """Master with its offset and replicas, or slave with its master. O(1). Redis: ROLE."""
    link = ctx.engine.replication
    if link.host:
        return [b"slave", link.host, link.port, b"connect", -1]
    return [b"master", 0, EMPTY]


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
    link = ctx.engine.replication
    if argv[1].lower() == b"no" and argv[2].lower() == b"one":
        link.follow(b"", 0)
        return OK
    port = integer(argv[2])
    if not 0 <= port <= 65535:
        raise CommandError(b"ERR Invalid master port")
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
    """An error. O(1). Redis: SYNC."""
    raise CommandError(_NO_REPLICAS)


@replication.command("psync", "replicationid offset", "Begins replication.", arity=-3, flags=_SYNC, since="2.8.0")
def psync(ctx: Context, argv: list[bytes]) -> Reply:
    """An error. O(1). Redis: PSYNC."""
    raise CommandError(_NO_REPLICAS)


_NO_REPLICAS: Final = b"ERR Redouble serves alone and takes no replicas"


@replication.command(
    "replconf", "", "Tells a master about its replica.", arity=-1,
    flags="admin noscript loading stale allow_busy", since="3.0.0",
)  # fmt: skip
def replconf(ctx: Context, argv: list[bytes]) -> Reply:
    """OK for what a replica says before it begins. O(options). Redis: REPLCONF."""
    if len(argv) % 2 == 0:
        raise CommandError(SYNTAX)
    for at in range(1, len(argv), 2):
        option = argv[at].lower()
        if option not in _KNOWN_OPTIONS:
            raise CommandError(b"ERR Unrecognized REPLCONF option: " + argv[at])
        if option == b"listening-port" and try_integer(argv[at + 1]) is None:
            raise CommandError(b"ERR value is not an integer or out of range")
    return OK
