"""SENTINEL, and the other commands of a Sentinel: a table of its own, `SENTINEL_FAMILIES`.

A Sentinel shares the commands about connections, users and subscriptions with a server, has INFO, ROLE and
PUBLISH of its own, and no others. What it knows is in `engine/sentinel.py`. SENTINEL CONFIG, DEBUG and
SIMULATE-FAILURE are left out: here is nothing that they could change.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Final

from redouble.commands import FAMILIES
from redouble.commands.help import help_reply
from redouble.datatypes.glob import glob_match
from redouble.engine.command import Family
from redouble.engine.context import Context
from redouble.engine.info import info_text
from redouble.engine.sentinel import Master, Sentinel
from redouble.errors import CommandError
from redouble.protocol.numbers import integer, try_integer
from redouble.protocol.reply import EMPTY, NULL_ARRAY, OK, Bulks, Map, Reply, Simple

sentinel: Final = Family("sentinel")
_of_servers: Final = Family("server")
_of_pubsub: Final = Family("pubsub")

_NAME: Final = "master-name"
_HELLO: Final = b"__sentinel__:hello"
_MASTERS_COST: Final = "O(N) where N is the number of masters"
_REPLICAS_COST: Final = "O(N) where N is the number of replicas"
#: The sections of INFO that stand before its own; everything that a Sentinel shows unasked.
_SECTIONS: Final[list[bytes]] = [b"server", b"clients", b"cpu", b"stats"]
_EVERYTHING: Final = (b"default", b"all", b"everything")


def _sentinel(ctx: Context) -> Sentinel:
    found = ctx.engine.sentinel
    assert found is not None
    return found


def _master(ctx: Context, name: bytes) -> Master:
    master = _sentinel(ctx).masters.get(name)
    if master is None:
        raise CommandError(b"ERR No such master with that name")
    return master


def _tell(ctx: Context, event: bytes, master: Master, more: bytes = b"") -> None:
    """Publish an event about a master."""
    place = (master.name, master.host(ctx.client), master.port(), more)
    ctx.engine.pubsub.publish(event, b"master %b %b %d%b" % place)


# -- SENTINEL -----------------------------------------------------------------------------------

sentinel.container("sentinel", "Holds the commands of a Sentinel.", since="2.8.4", flags="admin")
sentinel.rows[-1].categories = ["admin", "slow", "dangerous"]


@sentinel.command("sentinel|help", "", "Explains SENTINEL.", arity=2, flags="loading stale", since="6.2.0")
def help_(ctx: Context, argv: list[bytes]) -> Reply:
    """Lines of text. Redis: SENTINEL HELP."""
    return help_reply(ctx, argv)


@sentinel.command("sentinel|myid", "", "Tells the name of this Sentinel.", arity=2, flags="admin", since="6.2.0")
def myid(ctx: Context, argv: list[bytes]) -> Reply:
    """The name. O(1). Redis: SENTINEL MYID."""
    return _sentinel(ctx).id


@sentinel.command(
    "sentinel|get-master-addr-by-name", _NAME, "Tells where a master is.", arity=3, flags="admin", since="2.8.4"
)
def get_master_addr_by_name(ctx: Context, argv: list[bytes]) -> Reply:
    """Address and port, or null. O(1). Redis: SENTINEL GET-MASTER-ADDR-BY-NAME."""
    master = _sentinel(ctx).masters.get(argv[2])
    return NULL_ARRAY if master is None else Bulks([master.host(ctx.client), b"%d" % master.port()])


@sentinel.command(
    "sentinel|masters", "", "Lists the masters and how they are.", arity=2, flags="admin", since="2.8.4",
    complexity=_MASTERS_COST,
)  # fmt: skip
def masters(ctx: Context, argv: list[bytes]) -> Reply:
    """A map for each master. O(masters). Redis: SENTINEL MASTERS."""
    return [_described(ctx, master) for master in _sentinel(ctx).masters.values()]


@sentinel.command("sentinel|master", _NAME, "Tells how a master is.", arity=3, flags="admin", since="2.8.4")
def master_(ctx: Context, argv: list[bytes]) -> Reply:
    """A map of its state. O(1). Redis: SENTINEL MASTER."""
    return _described(ctx, _master(ctx, argv[2]))


def _described(ctx: Context, master: Master) -> Map:
    watched = max(0, ctx.now - master.since)
    return Map([
        b"name", master.name, b"ip", master.host(ctx.client), b"port", b"%d" % master.port(),
        b"runid", master.run_id(), b"flags", b"s_down,o_down,master" if master.is_down() else b"master",
        b"link-pending-commands", b"0", b"link-refcount", b"1", b"last-ping-sent", b"0",
        b"last-ok-ping-reply", b"0", b"last-ping-reply", b"0",
        b"down-after-milliseconds", b"%d" % master.down_after_ms, b"info-refresh", b"0",
        b"role-reported", b"master", b"role-reported-time", b"%d" % watched, b"config-epoch", b"0",
        b"num-slaves", b"0", b"num-other-sentinels", b"0", b"quorum", b"%d" % master.quorum,
        b"failover-timeout", b"%d" % master.failover_timeout_ms, b"parallel-syncs", b"%d" % master.parallel_syncs,
    ])  # fmt: skip


def _nobody(ctx: Context, argv: list[bytes]) -> Reply:
    _master(ctx, argv[2])
    return EMPTY


@sentinel.command(
    "sentinel|replicas", _NAME, "Lists the replicas of a master.", arity=3, flags="admin", since="5.0.0",
    complexity=_REPLICAS_COST,
)  # fmt: skip
def replicas(ctx: Context, argv: list[bytes]) -> Reply:
    """Nothing: there are no replicas. O(1). Redis: SENTINEL REPLICAS."""
    return _nobody(ctx, argv)


@sentinel.command(
    "sentinel|slaves", _NAME, "Lists the replicas of a master.", arity=3, flags="admin", since="2.8.0",
    complexity=_REPLICAS_COST, deprecated="5.0.0", replaced_by="`SENTINEL REPLICAS`",
)  # fmt: skip
def slaves(ctx: Context, argv: list[bytes]) -> Reply:
    """Nothing: there are no replicas. O(1). Redis: SENTINEL SLAVES."""
    return _nobody(ctx, argv)


@sentinel.command(
    "sentinel|sentinels", _NAME, "Lists the other Sentinels of a master.", arity=3, flags="admin", since="2.8.4",
    complexity="O(N) where N is the number of Sentinels",
)  # fmt: skip
def sentinels(ctx: Context, argv: list[bytes]) -> Reply:
    """Nothing: this Sentinel is the only one. O(1). Redis: SENTINEL SENTINELS."""
    return _nobody(ctx, argv)


@sentinel.command(
    "sentinel|ckquorum", _NAME, "Tells whether enough Sentinels are there.", arity=3, flags="admin", since="2.8.4"
)
def ckquorum(ctx: Context, argv: list[bytes]) -> Reply:
    """OK, or NOQUORUM where the quorum is more than one. O(1). Redis: SENTINEL CKQUORUM."""
    if _master(ctx, argv[2]).quorum > 1:
        raise CommandError(
            b"NOQUORUM 1 usable Sentinels. Not enough available Sentinels to reach the specified quorum for this master"
        )
    return Simple(b"OK 1 usable Sentinels. Quorum and failover authorization can be reached")


@sentinel.command(
    "sentinel|is-master-down-by-addr", "ip port current-epoch runid", "Tells whether the master at an address is down.",
    arity=6, flags="admin", since="2.8.4",
)  # fmt: skip
def is_master_down_by_addr(ctx: Context, argv: list[bytes]) -> Reply:
    """Down or not, the vote, and its epoch. O(masters). Redis: SENTINEL IS-MASTER-DOWN-BY-ADDR."""
    port = integer(argv[3])
    epoch = integer(argv[4])
    for master in _sentinel(ctx).masters.values():
        if master.port() == port and master.host(ctx.client) == argv[2]:
            votes = argv[5] != b"*"
            return [1 if master.is_down() else 0, argv[5], epoch if votes else 0]
    return [0, b"*", 0]


@sentinel.command("sentinel|failover", _NAME, "Makes a replica the master.", arity=3, flags="admin", since="2.8.4")
def failover(ctx: Context, argv: list[bytes]) -> Reply:
    """An error: there is no replica. O(1). Redis: SENTINEL FAILOVER."""
    _master(ctx, argv[2])
    raise CommandError(b"NOGOODSLAVE No suitable replica to promote")


@sentinel.command(
    "sentinel|monitor", "name ip port quorum", "Watches another master.", arity=6, flags="admin", since="2.8.4"
)
def monitor(ctx: Context, argv: list[bytes]) -> Reply:
    """OK; the master is taken to be up. O(1). Redis: SENTINEL MONITOR."""
    quorum = integer(argv[5], b"ERR Invalid quorum")
    port = integer(argv[4], b"ERR Invalid port")
    if quorum <= 0:
        raise CommandError(b"ERR Quorum must be 1 or greater.")
    try:
        ip_address(argv[3].decode("latin-1"))
    except ValueError:
        raise CommandError(b"ERR Invalid IP address or hostname specified") from None
    known = _sentinel(ctx).masters
    if argv[2] in known:
        raise CommandError(b"ERR Duplicate master name.")
    if not 0 <= port <= 65535:
        raise CommandError(b"ERR Invalid port number.")
    master = Master(argv[2], None, argv[3], port, quorum, ctx.now)
    known[argv[2]] = master
    _tell(ctx, b"+monitor", master, b" quorum %d" % quorum)
    return OK


@sentinel.command("sentinel|remove", _NAME, "Watches a master no longer.", arity=3, flags="admin", since="2.8.4")
def remove(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(1). Redis: SENTINEL REMOVE."""
    master = _master(ctx, argv[2])
    _tell(ctx, b"-monitor", master)
    del _sentinel(ctx).masters[argv[2]]
    return OK


@sentinel.command(
    "sentinel|reset", "pattern", "Forgets what it knows about masters.", arity=3, flags="admin", since="2.8.4",
    complexity="O(N) where N is the number of monitored masters",
)  # fmt: skip
def reset(ctx: Context, argv: list[bytes]) -> Reply:
    """How many masters match; there is nothing to forget. O(masters). Redis: SENTINEL RESET."""
    found = [master for name, master in _sentinel(ctx).masters.items() if glob_match(argv[2], name)]
    for master in found:
        _tell(ctx, b"+reset-master", master)
    return len(found)


@sentinel.command(
    "sentinel|set", "master-name option value [option value ...]", "Changes how a master is watched.", arity=-5,
    flags="admin", since="2.8.4",
)  # fmt: skip
def set_(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. Options that concern nothing here are accepted. O(options). Redis: SENTINEL SET."""
    master = _master(ctx, argv[2])
    at = 3
    while at < len(argv):
        option = argv[at].lower()
        count = _OPTIONS.get(option, 0)
        if not count or at + count >= len(argv):
            raise CommandError(b"ERR Unknown option or number of arguments for SENTINEL SET '%b'" % argv[at])
        if option in _NUMBERS:
            number = try_integer(argv[at + 1])
            if number is None or number <= 0:
                raise CommandError(b"ERR Invalid argument '%b' for SENTINEL SET '%b'" % (argv[at + 1], argv[at]))
            _change(master, option, number)
        shown = b"******" if option == b"auth-pass" else b" ".join(argv[at + 1 : at + count + 1])
        _tell(ctx, b"+set", master, b" %b %b" % (argv[at], shown))
        at += count + 1
    return OK


#: The options of SENTINEL SET, and how many values they take.
_OPTIONS: Final[dict[bytes, int]] = {
    b"down-after-milliseconds": 1, b"failover-timeout": 1, b"parallel-syncs": 1, b"quorum": 1,
    b"notification-script": 1, b"client-reconfig-script": 1, b"auth-pass": 1, b"auth-user": 1,
    b"rename-command": 2, b"master-reboot-down-after-period": 1,
}  # fmt: skip
_NUMBERS: Final = (b"down-after-milliseconds", b"failover-timeout", b"parallel-syncs", b"quorum")


def _change(master: Master, option: bytes, number: int) -> None:
    if option == b"down-after-milliseconds":
        master.down_after_ms = number
    elif option == b"failover-timeout":
        master.failover_timeout_ms = number
    elif option == b"parallel-syncs":
        master.parallel_syncs = number
    else:
        master.quorum = number


@sentinel.command(
    "sentinel|info-cache", "nodename [nodename ...]", "Tells the INFO of masters.", arity=-3, flags="admin",
    since="3.2.0", complexity="O(N) where N is the number of instances",
)  # fmt: skip
def info_cache(ctx: Context, argv: list[bytes]) -> Reply:
    """Name, age and INFO of each master, just taken. O(masters). Redis: SENTINEL INFO-CACHE."""
    found: list[Reply] = []
    for name, master in _sentinel(ctx).masters.items():
        if name in argv[2:]:
            text = None if master.engine is None else info_text(master.engine, [])
            found += [name, [[0, text]]]
    return found


@sentinel.command("sentinel|pending-scripts", "", "Lists scripts to run.", arity=2, flags="admin", since="2.8.4")
def pending_scripts(ctx: Context, argv: list[bytes]) -> Reply:
    """Nothing: no scripts are run. O(1). Redis: SENTINEL PENDING-SCRIPTS."""
    return EMPTY


@sentinel.command("sentinel|flushconfig", "", "Saves what it knows.", arity=2, flags="admin", since="2.8.4")
def flushconfig(ctx: Context, argv: list[bytes]) -> Reply:
    """OK; there is no file. O(1). Redis: SENTINEL FLUSHCONFIG."""
    return OK


# -- commands that a Sentinel answers in its own way --------------------------------------------


@_of_servers.command(
    "role", "", "Tells the role in replication.", arity=1, flags="noscript loading stale fast", since="2.8.12",
    categories="admin dangerous",
)  # fmt: skip
def role(ctx: Context, argv: list[bytes]) -> Reply:
    """That it is a Sentinel, and the names of its masters. O(masters). Redis: ROLE."""
    return [b"sentinel", Bulks(list(_sentinel(ctx).masters))]


@_of_servers.command(
    "info", "[section [section ...]]", "Tells about the Sentinel.", arity=-1, flags="loading stale",
    categories="dangerous", tips="nondeterministic_output request_policy:all_shards response_policy:special",
)  # fmt: skip
def info(ctx: Context, argv: list[bytes]) -> Reply:
    """The sections that are named, else all that a Sentinel has. O(masters). Redis: INFO."""
    wanted = [name.lower() for name in argv[1:]]
    usual = not wanted or any(name in _EVERYTHING for name in wanted)
    named = _SECTIONS if usual else [name for name in wanted if name != b"sentinel"]
    parts = [info_text(ctx.engine, named)] if named else []
    if usual or b"sentinel" in wanted:
        lines = [b"# Sentinel", *_sentinel(ctx).info(ctx.client)]
        parts.append(b"".join([line + b"\r\n" for line in lines]))
    return b"\r\n".join([part for part in parts if part])


@_of_pubsub.command(
    "publish", "channel message", "Takes the greeting of another Sentinel.", arity=3,
    flags="pubsub loading stale fast may_replicate names_channels names_one_channel", since="2.0.0",
)  # fmt: skip
def publish(ctx: Context, argv: list[bytes]) -> Reply:
    """1 for a greeting, which changes nothing; no other messages are taken. O(1). Redis: PUBLISH."""
    if argv[1] != _HELLO:
        raise CommandError(b"ERR Only HELLO messages are accepted by Sentinel instances.")
    return 1


# -- the table ----------------------------------------------------------------------------------

#: What a Sentinel has in common with a server.
_SHARED: Final = (
    b"acl", b"auth", b"client", b"command", b"hello", b"ping", b"psubscribe", b"punsubscribe", b"shutdown",
    b"subscribe", b"unsubscribe",
)  # fmt: skip


def _shared_families() -> list[Family]:
    found: list[Family] = []
    for family in FAMILIES:
        part = Family(family.group)
        part.rows = [row for row in family.rows if row.full_name.partition(b"|")[0] in _SHARED]
        found.append(part)
    return found


SENTINEL_FAMILIES: Final[list[Family]] = [*_shared_families(), _of_pubsub, _of_servers, sentinel]
