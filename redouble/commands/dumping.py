"""DUMP and RESTORE: a value as bytes and back, in the format of RDB files (see `persistence/`). And MIGRATE,
which sends keys to another server: to another node of the same cluster (see `engine/cluster.py`) it does
so, else it says that it can't.
"""

from typing import Final

from redouble.engine.cluster import Node
from redouble.engine.command import Family, after, one
from redouble.engine.context import Context
from redouble.errors import SYNTAX, CommandError
from redouble.keyspace import events
from redouble.keyspace.database import Entry
from redouble.persistence.format import CorruptData, format_version
from redouble.persistence.payload import dump_value, is_sound, load_value
from redouble.protocol.numbers import INT64_MAX, integer, try_integer
from redouble.protocol.reply import OK, Reply, Simple

dumping: Final = Family("generic")
#: Redis counts RESTORE-ASKING among the commands for the server.
dumping_for_servers: Final = Family("server")

BUSY: Final = b"BUSYKEY Target key name already exists."
NOT_SOUND: Final = b"ERR DUMP payload version or checksum are wrong"
_BAD_DATA: Final = b"ERR Bad data format"
_NO_KEY: Final = Simple(b"NOKEY")
_UNSET: Final = -1


@dumping.command(
    "dump", "key", "Gives a value as bytes that RESTORE understands.", arity=2, flags="readonly",
    keys=[one("RO ACCESS")], since="2.6.0", tips="nondeterministic_output",
    complexity="O(1) to access the key and additional O(N*M) to serialize it, where N is the number of Redis objects "
    "composing the value and M their average size. For small string values the time complexity is thus O(1)+O(1*M) "
    "where M is small, so simply O(1).",
)  # fmt: skip
def dump(ctx: Context, argv: list[bytes]) -> Reply:
    """The payload, or null where there is no key. O(size). Redis: DUMP."""
    entry = ctx.db.read(argv[1])
    if entry is None:
        return None
    engine = ctx.engine
    return dump_value(entry.value, format_version(engine.version), engine.limits, engine.saving.compressor())


_RESTORE_SYNTAX: Final = "key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]"
_RESTORE_COMPLEXITY: Final = (
    "O(1) to create the new key and additional O(N*M) to reconstruct the serialized value, where N is the number of "
    "Redis objects composing the value and M their average size. For small string values the time complexity is thus "
    "O(1)+O(1*M) where M is small, so simply O(1). However for sorted set values the complexity is O(N*M*log(N)) "
    "because inserting values into sorted sets is O(log(N))."
)


@dumping.command(
    "restore", _RESTORE_SYNTAX, "Creates a key from what DUMP gave.", arity=-4, flags="write denyoom",
    keys=[one("OW UPDATE")], since="2.6.0", complexity=_RESTORE_COMPLEXITY, categories="dangerous",
)  # fmt: skip
def restore(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(size). Redis: RESTORE."""
    return _restore(ctx, argv)


@dumping_for_servers.command(
    "restore-asking", _RESTORE_SYNTAX, "The RESTORE that cluster nodes send to each other.", arity=-4,
    flags="write denyoom asking", keys=[one("OW UPDATE")], since="3.0.0", complexity=_RESTORE_COMPLEXITY,
    categories="keyspace dangerous",
)  # fmt: skip
def restore_asking(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(size). Redis: RESTORE-ASKING."""
    return _restore(ctx, argv)


def _restore(ctx: Context, argv: list[bytes]) -> Reply:
    replace, absolute, idle, frequency = _restore_options(argv)
    db = ctx.db
    key = argv[1]
    if not replace and db.find(key) is not None:
        raise CommandError(BUSY)
    ttl = integer(argv[2])
    if ttl < 0:
        raise CommandError(b"ERR Invalid TTL value, must be >= 0")
    entry = Entry(_value_in(ctx, argv[3]), ctx.now)
    if ttl:
        entry.deadline = ttl if absolute else ttl + ctx.now
        if entry.deadline > INT64_MAX:
            entry.deadline = 0  # It wraps around in Redis, to a time long ago.
    replaced = replace and db.find(key) is not None and db.remove(key) is not None
    if entry.deadline <= ctx.now:
        if replaced:
            db.touch(key, events.GENERIC, b"del")
        return OK
    if idle != _UNSET:
        entry.access -= idle * 1000
    if frequency != _UNSET:
        entry.frequency = frequency
    db.put(key, entry)
    db.touch(key, events.GENERIC, b"restore")
    return OK


def _restore_options(argv: list[bytes]) -> tuple[bool, bool, int, int]:
    """REPLACE, ABSTTL, IDLETIME and FREQ; the last two exclude each other."""
    replace = absolute = False
    idle = frequency = _UNSET
    at = 4
    while at < len(argv):
        word = argv[at].upper()
        more = at + 1 < len(argv)
        if word == b"REPLACE":
            replace = True
        elif word == b"ABSTTL":
            absolute = True
        elif word == b"IDLETIME" and more and frequency == _UNSET:
            at += 1
            idle = integer(argv[at])
            if idle < 0:
                raise CommandError(b"ERR Invalid IDLETIME value, must be >= 0")
        elif word == b"FREQ" and more and idle == _UNSET:
            at += 1
            frequency = integer(argv[at])
            if not 0 <= frequency <= 255:
                raise CommandError(b"ERR Invalid FREQ value, must be >= 0 and <= 255")
        else:
            raise CommandError(SYNTAX)
        at += 1
    return replace, absolute, idle, frequency


def _value_in(ctx: Context, payload: bytes) -> object:
    engine = ctx.engine
    if not is_sound(payload, format_version(engine.version), engine.saving.trusting):
        raise CommandError(NOT_SOUND)
    try:
        return load_value(payload, engine.limits)
    except CorruptData:
        raise CommandError(_BAD_DATA) from None


# -- MIGRATE ------------------------------------------------------------------------------------


#: The options but for KEYS, and how many arguments they have.
_ARGUMENTS: Final[dict[bytes, int]] = {b"COPY": 0, b"REPLACE": 0, b"AUTH": 1, b"AUTH2": 2}


def _migrated_keys(argv: list[bytes]) -> list[int]:
    """Where the keys stand: one in the third place, or all behind KEYS (none if there are both, which is an error)."""
    at = 6
    while at < len(argv):
        word = argv[at].upper()
        if word == b"KEYS":
            return [] if argv[3] else list(range(at + 1, len(argv)))
        at += 1 + _ARGUMENTS.get(word, 0)
    return [3]


@dumping.command(
    "migrate",
    "host port <key | \"\"> destination-db timeout [COPY] [REPLACE] [AUTH password | AUTH2 username password] "
    "[KEYS key [key ...]]",
    "Moves keys to another server.", arity=-6, flags="write movablekeys moves_keys",
    keys=[one("RW ACCESS DELETE", 3), after("RW ACCESS DELETE INCOMPLETE", b"KEYS", -2, -1)],
    since="2.6.0", categories="dangerous", tips="nondeterministic_output", key_finder=_migrated_keys,
    complexity="This command actually executes a DUMP+DEL in the source instance, and a RESTORE in the target "
    "instance. See the pages of these commands for time complexity. Also an O(N) data transfer between the two "
    "instances is performed.",
)  # fmt: skip
def migrate(ctx: Context, argv: list[bytes]) -> Reply:
    """OK, NOKEY where there is nothing to move, an error for a foreign server. O(sizes). Redis: MIGRATE."""
    options = _migrate_options(ctx, argv)
    integer(argv[5])
    integer(argv[4])
    keys = [argv[index] for index in _migrated_keys(argv) if ctx.db.read(argv[index]) is not None]
    if not keys:
        return _NO_KEY
    target = None if ctx.engine.node is None else ctx.engine.node.neighbour(try_integer(argv[2]))
    if target is None:
        raise CommandError(b"IOERR Redouble opens no connection to another server, so it can't migrate keys")
    _send(ctx, target, keys, options)
    return OK


def _migrate_options(ctx: Context, argv: list[bytes]) -> list[bytes]:
    """The options but for KEYS. Whose passwords they are does not matter here, but they are not to be logged."""
    options: list[bytes] = []
    at = 6
    while at < len(argv):
        word = argv[at].upper()
        if word == b"KEYS":
            if argv[3]:
                raise CommandError(_KEY_TWICE)
            break
        options.append(word)
        secrets = _ARGUMENTS.get(word, len(argv))
        if at + secrets >= len(argv):
            raise CommandError(SYNTAX)
        for _ in range(secrets):
            at += 1
            ctx.engine.slowlog.hide(argv, at)
        at += 1
    return options


def _send(ctx: Context, target: Node, keys: list[bytes], options: list[bytes]) -> None:
    """Let another node have the keys."""
    engine = ctx.engine
    target.engine.refresh_time()
    there = target.engine.space.databases[0]
    taken = False
    for key in keys:
        entry = ctx.db.peek(key)
        if entry is None:
            continue
        if there.find(key) is not None:
            if b"REPLACE" not in options:
                taken = True
                continue
            there.remove(key)
        payload = dump_value(entry.value, format_version(engine.version), engine.limits, engine.saving.compressor())
        twin = Entry(load_value(payload, target.engine.limits), ctx.now)
        twin.deadline = entry.deadline
        there.put(key, twin)
        there.touch(key, events.GENERIC, b"restore")
        if b"COPY" not in options:
            ctx.db.remove(key)
            ctx.db.touch(key, events.GENERIC, b"del")
    target.settle()
    if taken:
        raise CommandError(b"ERR Target instance replied with error: " + BUSY)


_KEY_TWICE: Final = b"ERR When using MIGRATE KEYS option, the key argument must be set to the empty string"
