"""The generic group: keys as such, whatever they hold; and the commands for whole databases.

DEL and EXISTS are on the path of most applications and do no more than one look per key. SCAN and
RANDOMKEY need an order that a dict has not. A small database gets it by sorting at each call; a big one
builds an index when first asked (see `datatypes/scanorder.py`), so that neither takes time in proportion
to the keys.

Simplified: freeing memory is Python's business, so UNLINK is DEL (only counted apart) and ASYNC is SYNC. WAIT
counts the replicas that were told, whether they have said so or not. OBJECT FREQ tells the counter that an
entry has; it is not aged.
Deadlines are in `expiry.py`, DUMP, RESTORE and MIGRATE in `dumping.py`, SORT in `sorting.py`.
"""

from __future__ import annotations

from typing import Final

from redouble.commands.help import help_reply
from redouble.commands.scanning import OF_KEYS, parse_cursor, parse_options, scan_reply
from redouble.datatypes.glob import Glob
from redouble.datatypes.hashvalue import HashValue
from redouble.datatypes.listvalue import ListValue
from redouble.datatypes.scanorder import scan_small
from redouble.datatypes.setvalue import SetValue
from redouble.datatypes.sortedset import SortedSet
from redouble.engine.blocking import Block, milliseconds_deadline
from redouble.engine.command import Family, one, span
from redouble.engine.context import Context
from redouble.engine.sizes import FREED_LATER, freeing_steps
from redouble.errors import MUST_BE_POSITIVE, NO_SUCH_KEY, SYNTAX, CommandError
from redouble.keyspace import events
from redouble.keyspace.database import Database, Entry
from redouble.keyspace.typed import duplicate, type_name
from redouble.protocol.numbers import integer, try_integer
from redouble.protocol.reply import OK, Bulks, Reply, Simple

generic: Final = Family("generic")
#: Redis counts these among the commands for the server.
databases: Final = Family("server")

#: Up to so many keys a scan or a random pick needs no index.
_SMALL: Final = 256
_EMBEDDED: Final = 44
_SHARED_INTEGERS: Final = 10000
_SHARED_REFERENCES: Final = 2147483647
_INT32_MAX: Final = 2147483647
_INT32_MIN: Final = -2147483648

_BAD_INDEX: Final = b"ERR DB index is out of range"
_NOT_INT: Final = b"ERR value is out of range, value must between -2147483648 and 2147483647"
_SAME_OBJECT: Final = b"ERR source and destination objects are the same"
_POLICY_ADVICE: Final = (
    b" Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."
)
_NO_TYPE: Final = Simple(b"none")


def glance(db: Database, key: bytes) -> Entry | None:
    """The entry as `Database.read` gives it, but a look like this does not count as use of the key. O(1)."""
    entry = db.peek(key)
    space = db.space
    if entry is not None:
        space.hits += 1
        return entry
    space.misses += 1
    if space.interest & events.NOTIFIED:
        db.notify(key, events.MISS, b"keymiss")
    return None


# -- existence ------------------------------------------------------------------------------


@generic.command(
    "del", "key [key ...]", "Deletes keys.", arity=-2, flags="write", keys=[span("RM DELETE")],
    complexity="O(N) where N is the number of keys that will be removed.",
    tips="request_policy:multi_shard response_policy:agg_sum",
)  # fmt: skip
def del_(ctx: Context, argv: list[bytes]) -> Reply:
    """How many there were. O(keys). Redis: DEL."""
    db = ctx.db
    count = 0
    for index in range(1, len(argv)):
        key = argv[index]
        if db.peek(key) is not None:
            db.remove(key)
            db.touch(key, events.GENERIC, b"del")
            count += 1
    return count


@generic.command(
    "unlink", "key [key ...]", "Deletes keys and frees their memory later.", arity=-2, flags="write fast",
    keys=[span("RM DELETE")], since="4.0.0", complexity="O(1) for each key removed regardless of its size.",
    tips="request_policy:multi_shard response_policy:agg_sum",
)  # fmt: skip
def unlink(ctx: Context, argv: list[bytes]) -> Reply:
    """As `del_`, and large values are counted as freed later. O(keys). Redis: UNLINK."""
    for key in set(argv[1:]):
        entry = ctx.db.peek(key)
        if entry is not None and freeing_steps(entry.value) > FREED_LATER:
            ctx.engine.stats.lazy_frees += 1
    return del_(ctx, argv)


@generic.command(
    "exists", "key [key ...]", "Tells how many of some keys exist.", arity=-2, flags="readonly fast",
    keys=[span("RO")], complexity="O(N) where N is the number of keys to check.",
    tips="request_policy:multi_shard response_policy:agg_sum",
)  # fmt: skip
def exists(ctx: Context, argv: list[bytes]) -> Reply:
    """How many, a key that is named twice counted twice. O(keys). Redis: EXISTS."""
    db = ctx.db
    count = 0
    for index in range(1, len(argv)):
        if glance(db, argv[index]) is not None:
            count += 1
    return count


@generic.command(
    "touch", "key [key ...]", "Counts some keys as used now.", arity=-2, flags="readonly fast touches",
    keys=[span("RO")], since="3.2.1", complexity="O(N) where N is the number of keys that will be touched.",
    tips="request_policy:multi_shard response_policy:agg_sum",
)  # fmt: skip
def touch(ctx: Context, argv: list[bytes]) -> Reply:
    """How many of the keys exist. O(keys). Redis: TOUCH."""
    db = ctx.db
    count = 0
    for index in range(1, len(argv)):
        if db.read(argv[index]) is not None:
            count += 1
    return count


@generic.command("type", "key", "Tells the type of a key's value.", arity=2, flags="readonly fast", keys=[one("RO")])
def type_(ctx: Context, argv: list[bytes]) -> Reply:
    """The type's name, `none` where there is no key. O(1). Redis: TYPE."""
    entry = glance(ctx.db, argv[1])
    return _NO_TYPE if entry is None else Simple(type_name(entry.value))


# -- finding keys ---------------------------------------------------------------------------


@generic.command(
    "keys", "pattern", "Gives all keys that match a pattern.", arity=2, flags="readonly walks_keys",
    complexity="O(N) with N being the number of keys in the database.", categories="dangerous",
    tips="request_policy:all_shards nondeterministic_output_order",
)  # fmt: skip
def keys(ctx: Context, argv: list[bytes]) -> Reply:
    """The keys in no special order. O(n). Redis: KEYS."""
    db = ctx.db
    pattern = Glob(argv[1])
    if pattern.is_literal:
        found = [pattern.literal] if pattern.literal in db.data else []
    else:
        found = pattern.filter(list(db.data))
    return Bulks(_living(db, found))


def _living(db: Database, found: list[bytes]) -> list[bytes]:
    """Those of some keys that have not expired; the others stay for now. O(n)."""
    if not db.volatile:
        return found
    now = db.space.now
    data = db.data
    return [key for key in found if data[key].deadline >= now]


@generic.command(
    "scan", "cursor [MATCH pattern] [COUNT count] [TYPE type]", "Walks over the keys, some at a time.", arity=-2,
    flags="readonly", since="2.8.0", complexity="O(1) for every call. O(N) for a complete iteration.",
    tips="nondeterministic_output request_policy:special response_policy:special",
)  # fmt: skip
def scan(ctx: Context, argv: list[bytes]) -> Reply:
    """The next cursor, 0 at the end, and keys. O(count). Redis: SCAN."""
    cursor = parse_cursor(argv[1])
    options = parse_options(ctx, argv, 2, OF_KEYS)
    db = ctx.db
    following, found = _walk(db, cursor, options.count)
    found = options.matching(found)
    wanted = options.type_name
    if not db.volatile and wanted is None:
        return scan_reply(following, found)
    kept: list[bytes] = []
    for key in found:
        entry = db.peek(key)
        if entry is not None and (wanted is None or type_name(entry.value) == wanted):
            kept.append(key)
    return scan_reply(following, kept)


def _walk(db: Database, cursor: int, count: int) -> tuple[int, list[bytes]]:
    if cursor == 0 and count >= len(db.data):
        return 0, list(db.data)
    if db.order is None and len(db.data) <= _SMALL:
        return scan_small(db.data, db.space.scan_seed, cursor, count)
    return db.scan_order().scan(cursor, count)


@generic.command(
    "randomkey", "", "Gives a key at random.", arity=1, flags="readonly",
    tips="request_policy:all_shards response_policy:special nondeterministic_output",
)  # fmt: skip
def randomkey(ctx: Context, argv: list[bytes]) -> Reply:
    """A key, each with the same chance, or null. O(1), O(n) on small databases. Redis: RANDOMKEY."""
    db = ctx.db
    if ctx.space.expiry_held:
        living = _living(db, list(db.data))
        return ctx.space.random.choice(living) if living else None
    while db.data:
        key = _any_key(ctx, db)
        # An expired key vanishes at this look.
        if db.peek(key) is not None:
            return key
    return None


def _any_key(ctx: Context, db: Database) -> bytes:
    if db.order is None and len(db.data) <= _SMALL:
        return ctx.space.random.choice(list(db.data))
    return db.scan_order().random(ctx.space.random)


# -- moving ---------------------------------------------------------------------------------


@generic.command(
    "rename", "key newkey", "Gives a key another name, whatever had it.", arity=3, flags="write",
    keys=[one("RW ACCESS DELETE"), one("OW UPDATE", 2)],
)  # fmt: skip
def rename(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(1). Redis: RENAME."""
    _rename(ctx, argv[1], argv[2], False)
    return OK


@generic.command(
    "renamenx", "key newkey", "Gives a key another name, if nobody has it.", arity=3, flags="write fast",
    keys=[one("RW ACCESS DELETE"), one("OW INSERT", 2)],
)  # fmt: skip
def renamenx(ctx: Context, argv: list[bytes]) -> Reply:
    """1, or 0 where the new name is taken. O(1). Redis: RENAMENX."""
    return 1 if _rename(ctx, argv[1], argv[2], True) else 0


def _rename(ctx: Context, old: bytes, new: bytes, only_new: bool) -> bool:
    db = ctx.db
    entry = db.find(old)
    if entry is None:
        raise CommandError(NO_SUCH_KEY)
    if old == new:
        return False
    if db.find(new) is not None:
        if only_new:
            return False
        db.remove(new)
    db.remove(old)
    db.put(new, entry)
    _moved(db, old, b"rename_from", db, new, b"rename_to")
    return True


def _moved(source: Database, old: bytes, left: bytes, target: Database, new: bytes, come: bytes) -> None:
    """Announce what counts as one change of two keys: clients that keep them hear of both before the events come."""
    source.touch(old, 0, b"", 0)
    target.touch(new, 0, b"")
    source.notify(old, events.GENERIC, left)
    target.notify(new, events.GENERIC, come)


@generic.command(
    "move", "key db", "Moves a key to another database.", arity=3, flags="write fast",
    keys=[one("RW ACCESS UPDATE")],
)  # fmt: skip
def move(ctx: Context, argv: list[bytes]) -> Reply:
    """1, or 0 where there is no key or it exists there too. O(1). Redis: MOVE."""
    if ctx.engine.node is not None:
        raise CommandError(b"ERR MOVE is not allowed in cluster mode")
    key = argv[1]
    source = ctx.db
    target = _database(ctx, argv[2])
    if source is target:
        raise CommandError(_SAME_OBJECT)
    entry = source.find(key)
    if entry is None or target.find(key) is not None:
        return 0
    source.remove(key)
    target.put(key, entry)
    _moved(source, key, b"move_from", target, key, b"move_to")
    return 1


@generic.command(
    "copy", "source destination [DB destination-db] [REPLACE]", "Copies a key.", arity=-3, flags="write denyoom",
    keys=[one("RO ACCESS"), one("OW UPDATE", 2)], since="6.2.0",
    complexity="O(N) worst case for collections, where N is the number of nested items. O(1) for string values.",
)  # fmt: skip
def copy(ctx: Context, argv: list[bytes]) -> Reply:
    """1, or 0 where there is no source or the destination is taken. O(n). Redis: COPY."""
    target, replace = _copy_options(ctx, argv)
    source_key = argv[1]
    target_key = argv[2]
    if target is ctx.db and source_key == target_key:
        raise CommandError(_SAME_OBJECT)
    entry = ctx.db.read(source_key)
    if entry is None:
        return 0
    if target.find(target_key) is not None:
        if not replace:
            return 0
        target.remove(target_key)
    twin = Entry(duplicate(entry.value), ctx.space.now)
    twin.deadline = entry.deadline
    target.put(target_key, twin)
    target.touch(target_key, events.GENERIC, b"copy_to")
    return 1


def _copy_options(ctx: Context, argv: list[bytes]) -> tuple[Database, bool]:
    """The database to copy to, and whether an existing key gives way."""
    target = ctx.db
    replace = False
    at = 3
    while at < len(argv):
        word = argv[at].upper()
        if word == b"REPLACE":
            replace = True
        elif word == b"DB" and at + 1 < len(argv):
            at += 1
            target = _database(ctx, argv[at])
        else:
            raise CommandError(SYNTAX)
        at += 1
    return target, replace


def _database(ctx: Context, text: bytes) -> Database:
    index = integer(text)
    if not _INT32_MIN <= index <= _INT32_MAX:
        raise CommandError(_NOT_INT)
    if ctx.engine.node is not None and 0 < index < ctx.engine.config.number(b"databases"):
        raise CommandError(b"ERR Copying to another database is not allowed in cluster mode")
    if not 0 <= index < len(ctx.space.databases):
        raise CommandError(_BAD_INDEX)
    return ctx.space.databases[index]


# -- OBJECT ---------------------------------------------------------------------------------

generic.container("object", "Holds the commands that look into values.", since="2.2.3")

_OBJECT_TIPS: Final = "nondeterministic_output"


@generic.command(
    "object|encoding", "key", "Tells how a value is kept.", arity=3, flags="readonly", keys=[one("RO", 2)],
    since="2.2.3", tips=_OBJECT_TIPS,
)  # fmt: skip
def object_encoding(ctx: Context, argv: list[bytes]) -> Reply:
    """The name of the encoding that Redis would use, or null. O(1). Redis: OBJECT ENCODING."""
    entry = _inspected(ctx, argv[2])
    return None if entry is None else encoding_name(entry.value)


@generic.command(
    "object|freq", "key", "Tells how often a key is used, on a logarithmic scale.", arity=3, flags="readonly",
    keys=[one("RO", 2)], since="4.0.0", tips=_OBJECT_TIPS,
)  # fmt: skip
def object_freq(ctx: Context, argv: list[bytes]) -> Reply:
    """The counter, or null. O(1). Redis: OBJECT FREQ."""
    entry = _inspected(ctx, argv[2])
    if entry is None:
        return None
    if not _counts_frequency(ctx):
        raise CommandError(
            b"ERR An LFU maxmemory policy is not selected, access frequency not tracked." + _POLICY_ADVICE
        )
    return entry.frequency


@generic.command("object|help", "", "Explains OBJECT.", arity=2, flags="loading stale", since="6.2.0")
def object_help(ctx: Context, argv: list[bytes]) -> Reply:
    """Lines of text. Redis: OBJECT HELP."""
    return help_reply(ctx, argv)


@generic.command(
    "object|idletime", "key", "Tells for how many seconds a key has not been used.", arity=3, flags="readonly",
    keys=[one("RO", 2)], since="2.2.3", tips=_OBJECT_TIPS,
)  # fmt: skip
def object_idletime(ctx: Context, argv: list[bytes]) -> Reply:
    """The seconds, or null. O(1). Redis: OBJECT IDLETIME."""
    entry = _inspected(ctx, argv[2])
    if entry is None:
        return None
    if _counts_frequency(ctx):
        raise CommandError(b"ERR An LFU maxmemory policy is selected, idle time not tracked." + _POLICY_ADVICE)
    return max(ctx.space.now - entry.access, 0) // 1000


@generic.command(
    "object|refcount", "key", "Tells how many references a value has.", arity=3, flags="readonly",
    keys=[one("RO", 2)], since="2.2.3", tips=_OBJECT_TIPS,
)  # fmt: skip
def object_refcount(ctx: Context, argv: list[bytes]) -> Reply:
    """1, the largest number for small integers (Redis shares them, unless it
    has to know when each was used), or null. O(1). Redis: OBJECT REFCOUNT."""
    entry = _inspected(ctx, argv[2])
    if entry is None:
        return None
    memory = ctx.engine.memory
    shares = not memory.limit or not memory.policy.endswith((b"lru", b"lfu"))
    if shares and encoding_name(entry.value) == b"int" and 0 <= int(entry.value) < _SHARED_INTEGERS:
        return _SHARED_REFERENCES
    return 1


def _inspected(ctx: Context, key: bytes) -> Entry | None:
    """The entry that OBJECT looks at: the look counts as a hit or a miss, but not as a use of the key."""
    entry = ctx.db.peek(key)
    if entry is None:
        ctx.space.misses += 1
    else:
        ctx.space.hits += 1
    return entry


def _counts_frequency(ctx: Context) -> bool:
    return ctx.engine.config.get(b"maxmemory-policy").endswith(b"lfu")


def encoding_name(value: object) -> bytes:
    """The encoding that Redis would use for a value, as OBJECT ENCODING names it. O(1)."""
    if isinstance(value, bytes):
        if len(value) <= 20 and try_integer(value) is not None:
            return b"int"
        return b"embstr" if len(value) <= _EMBEDDED else b"raw"
    if isinstance(value, bytearray):
        return b"raw"
    if isinstance(value, (ListValue, SetValue, HashValue, SortedSet)):
        return value.encoding()
    return b"stream"


# -- waiting for replicas -------------------------------------------------------------------


@generic.command(
    "wait", "numreplicas timeout", "Waits until replicas have the changes of this connection.", arity=3,
    flags="blocking timeout_last", since="3.0.0", barred_until="7.2.0", categories="connection -keyspace",
    tips="request_policy:all_shards response_policy:agg_min",
)  # fmt: skip
def wait(ctx: Context, argv: list[bytes]) -> Reply:
    """How many replicas have them, at once if they are enough, else after the time-out. Redis: WAIT."""
    wanted = integer(argv[1])
    deadline = milliseconds_deadline(ctx, argv[2])
    told = len(ctx.engine.propagation.online())
    return told if wanted <= told else Block([], deadline, told, object)


@generic.command(
    "waitaof", "numlocal numreplicas timeout", "Waits until the changes of this connection are on disk.", arity=4,
    flags="blocking timeout_last", since="7.2.0", categories="connection -keyspace",
    tips="request_policy:all_shards response_policy:agg_min",
)  # fmt: skip
def waitaof(ctx: Context, argv: list[bytes]) -> Reply:
    """Whether they are here, and on how many replicas (0). Redis: WAITAOF."""
    local = integer(argv[1])
    if not 0 <= local <= 1:
        raise CommandError(b"ERR value is out of range, value must between 0 and 1")
    replicas = integer(argv[2], MUST_BE_POSITIVE)
    if replicas < 0:
        raise CommandError(MUST_BE_POSITIVE)
    deadline = milliseconds_deadline(ctx, argv[3])
    kept = ctx.engine.config.get(b"appendonly") == b"yes"
    if local and not kept:
        raise CommandError(b"ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.")
    reply: Reply = [1 if kept else 0, 0]
    return reply if replicas == 0 else Block([], deadline, reply, object)


# -- whole databases ------------------------------------------------------------------------


@databases.command(
    "dbsize", "", "Tells how many keys the database has.", arity=1, flags="readonly fast", categories="keyspace",
    tips="request_policy:all_shards response_policy:agg_sum",
)  # fmt: skip
def dbsize(ctx: Context, argv: list[bytes]) -> Reply:
    """The number, expired keys that are still there included. O(1). Redis: DBSIZE."""
    return len(ctx.db.data)


@databases.command(
    "flushdb", "[ASYNC | SYNC]", "Removes all keys of the database.", arity=-1, flags="write empties_database",
    categories="keyspace dangerous", complexity="O(N) where N is the number of keys in the selected database",
    tips="request_policy:all_shards response_policy:all_succeeded",
)  # fmt: skip
def flushdb(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(watched and waited keys). Redis: FLUSHDB."""
    _check_flush_mode(argv)
    ctx.space.dirty += ctx.db.flush()
    return OK


@databases.command(
    "flushall", "[ASYNC | SYNC]", "Removes all keys of all databases.", arity=-1, flags="write empties_server",
    categories="keyspace dangerous", complexity="O(N) where N is the total number of keys in all databases",
    tips="request_policy:all_shards response_policy:all_succeeded",
)  # fmt: skip
def flushall(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(watched and waited keys). Redis: FLUSHALL."""
    _check_flush_mode(argv)
    for database in ctx.space.databases:
        ctx.space.dirty += database.flush()
    ctx.space.dirty += 1
    return OK


def _check_flush_mode(argv: list[bytes]) -> None:
    if len(argv) > 2 or (len(argv) == 2 and argv[1].upper() not in (b"SYNC", b"ASYNC")):
        raise CommandError(SYNTAX)


@databases.command(
    "swapdb", "index1 index2", "Exchanges two databases.", arity=3, flags="write fast swaps_databases", since="4.0.0",
    categories="keyspace dangerous",
    complexity="O(N) where N is the count of clients watching or blocking on keys from both databases.",
)  # fmt: skip
def swapdb(ctx: Context, argv: list[bytes]) -> Reply:
    """OK; clients see the other's keys at once. O(keys with deadlines). Redis: SWAPDB."""
    if ctx.engine.node is not None:
        raise CommandError(b"ERR SWAPDB is not allowed in cluster mode")
    first = _index(argv[1], b"ERR invalid first DB index")
    second = _index(argv[2], b"ERR invalid second DB index")
    count = len(ctx.space.databases)
    if not (0 <= first < count and 0 <= second < count):
        raise CommandError(_BAD_INDEX)
    ctx.space.swap(first, second)
    ctx.space.dirty += 1
    return OK


def _index(text: bytes, error: bytes) -> int:
    index = integer(text, error)
    if not _INT32_MIN <= index <= _INT32_MAX:
        raise CommandError(error)
    return index
