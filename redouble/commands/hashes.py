"""HSET, HGET and what else works on hashes, but for the deadlines of fields (`hash_expiry.py`)."""

from typing import Final

from redouble.commands.scanning import OF_HASH, parse_cursor, parse_options, scan_reply
from redouble.datatypes.hashvalue import HashValue
from redouble.engine.command import Family, one
from redouble.engine.context import Context
from redouble.engine.output_limit import Budget, portions
from redouble.errors import (
    NAN_OR_INFINITY,
    NOT_A_FLOAT,
    OUT_OF_RANGE,
    OVERFLOW,
    SYNTAX,
    CommandError,
    wrong_arity,
)
from redouble.keyspace import events
from redouble.keyspace.typed import hash_of
from redouble.protocol.longdouble import add_long_doubles, format_long_double, try_long_double
from redouble.protocol.numbers import INT64_MAX, INT64_MIN, integer, negatable_integer
from redouble.protocol.reply import EMPTY, OK, Bulks, Map, Pairs, Reply

hashes: Final = Family("hash")

_NO_FIELDS: Final = Map([])
_WHOLE = "O(N) where N is the size of the hash."


# -- setting -------------------------------------------------------------------------------------


@hashes.command(
    "hset", "key field value [field value ...]", "Sets fields of a hash.", arity=-4, flags="write denyoom fast",
    keys=[one("RW UPDATE")], since="2.0.0",
    complexity="O(1) for each field/value pair added, so O(N) to add N field/value pairs when the command is called "
    "with multiple field/value pairs.",
)  # fmt: skip
def hset(ctx: Context, argv: list[bytes]) -> Reply:
    """How many fields are new. O(pairs). Redis: HSET."""
    if len(argv) & 1:
        raise wrong_arity(b"hset")
    return _set_fields(ctx, argv)


@hashes.command(
    "hmset", "key field value [field value ...]", "Sets fields of a hash.", arity=-4, flags="write denyoom fast",
    keys=[one("RW UPDATE")], since="2.0.0", complexity="O(N) where N is the number of fields being set.",
    deprecated="4.0.0", replaced_by="`HSET` with multiple field-value pairs",
)  # fmt: skip
def hmset(ctx: Context, argv: list[bytes]) -> Reply:
    """Always OK. O(pairs). Redis: HMSET."""
    if len(argv) & 1:
        raise wrong_arity(b"hmset")
    _set_fields(ctx, argv)
    return OK


def _set_fields(ctx: Context, argv: list[bytes]) -> int:
    key = argv[1]
    count = len(argv)
    value = hash_to_write(ctx, key)
    if count == 4:
        created = 1 if value.set(argv[2], argv[3]) else 0
    else:
        value.expect((count - 2) // 2)
        created = 0
        for at in range(2, count, 2):
            if value.set(argv[at], argv[at + 1]):
                created += 1
    ctx.db.touch(key, events.HASH, b"hset", (count - 2) // 2)
    return created


def hash_to_write(ctx: Context, key: bytes) -> HashValue:
    """The hash at `key`; a new, empty one where there is none, which must then be filled. O(1)."""
    db = ctx.db
    value = hash_of(db, key, db.find(key))
    if value is None:
        value = HashValue(ctx.space.limits)
        db.add(key, value)
    return value


@hashes.command(
    "hsetnx", "key field value", "Sets a field of a hash unless it exists.", arity=4, flags="write denyoom fast",
    keys=[one("RW INSERT")], since="2.0.0",
)  # fmt: skip
def hsetnx(ctx: Context, argv: list[bytes]) -> Reply:
    """1 if the field was set, else 0. O(1). Redis: HSETNX."""
    value = hash_to_write(ctx, argv[1])
    if argv[2] in value.fields:
        return 0
    value.set(argv[2], argv[3])
    ctx.db.touch(argv[1], events.HASH, b"hset")
    return 1


@hashes.command(
    "hincrby", "key field increment", "Adds to the integer of a field.", arity=4, flags="write denyoom fast",
    keys=[one("RW ACCESS UPDATE")], since="2.0.0",
)  # fmt: skip
def hincrby(ctx: Context, argv: list[bytes]) -> Reply:
    """The new number. O(1). Redis: HINCRBY."""
    amount = integer(argv[3])
    value = hash_of(ctx.db, argv[1], ctx.db.find(argv[1]))
    old = None if value is None else value.fields.get(argv[2])
    number = amount if old is None else integer(old, b"ERR hash value is not an integer") + amount
    if number > INT64_MAX or number < INT64_MIN:
        raise CommandError(OVERFLOW)
    _replace(ctx, argv, value, b"%d" % number, b"hincrby")
    return number


@hashes.command(
    "hincrbyfloat", "key field increment", "Adds to the number of a field.", arity=4, flags="write denyoom fast",
    keys=[one("RW ACCESS UPDATE")], since="2.6.0",
)  # fmt: skip
def hincrbyfloat(ctx: Context, argv: list[bytes]) -> Reply:
    """The new number as text. O(1). Redis: HINCRBYFLOAT."""
    amount = try_long_double(argv[3])
    if amount is None:
        raise CommandError(NOT_A_FLOAT)
    if amount.infinite:
        raise CommandError(b"ERR value is NaN or Infinity")
    value = hash_of(ctx.db, argv[1], ctx.db.find(argv[1]))
    old = try_long_double(b"0" if value is None else value.fields.get(argv[2], b"0"))
    if old is None:
        raise CommandError(b"ERR hash value is not a float")
    total = add_long_doubles(old, amount)
    if total is None:
        raise CommandError(NAN_OR_INFINITY)
    text = format_long_double(total)
    _replace(ctx, argv, value, text, b"hincrbyfloat")
    return text


def _replace(ctx: Context, argv: list[bytes], value: HashValue | None, text: bytes, event: bytes) -> None:
    """Give a field a new value; its deadline stays."""
    if value is None:
        value = hash_to_write(ctx, argv[1])
    value.replace(argv[2], text)
    ctx.db.touch(argv[1], events.HASH, event)


@hashes.command(
    "hdel", "key field [field ...]", "Removes fields from a hash.", arity=-3, flags="write fast",
    keys=[one("RW DELETE")], since="2.0.0", complexity="O(N) where N is the number of fields to be removed.",
)  # fmt: skip
def hdel(ctx: Context, argv: list[bytes]) -> Reply:
    """How many there were. O(fields). Redis: HDEL."""
    key = argv[1]
    db = ctx.db
    value = hash_of(db, key, db.find(key))
    if value is None:
        return 0
    removed = 0
    for at in range(2, len(argv)):
        if value.discard(argv[at]):
            removed += 1
    if removed:
        db.touch(key, events.HASH, b"hdel", removed)
        db.remove_if_empty(key, len(value))
    return removed


# -- reading -------------------------------------------------------------------------------------


@hashes.command(
    "hget", "key field", "Returns the value of a field.", arity=3, flags="readonly fast", keys=[one("RO ACCESS")],
    since="2.0.0",
)  # fmt: skip
def hget(ctx: Context, argv: list[bytes]) -> Reply:
    """The value, or null. O(1). Redis: HGET."""
    key = argv[1]
    db = ctx.db
    value = hash_of(db, key, db.read(key))
    return None if value is None else value.fields.get(argv[2])


@hashes.command(
    "hmget", "key field [field ...]", "Returns the values of fields.", arity=-3, flags="readonly fast",
    keys=[one("RO ACCESS")], since="2.0.0", complexity="O(N) where N is the number of fields being requested.",
)  # fmt: skip
def hmget(ctx: Context, argv: list[bytes]) -> Reply:
    """A value or null for each field. O(fields). Redis: HMGET."""
    value = _read(ctx, argv)
    if value is None:
        return [None] * (len(argv) - 2)
    fields = value.fields
    return [fields.get(field) for field in argv[2:]]


def _read(ctx: Context, argv: list[bytes]) -> HashValue | None:
    return hash_of(ctx.db, argv[1], ctx.db.read(argv[1]))


@hashes.command(
    "hgetall", "key", "Returns all fields and values of a hash.", arity=2, flags="readonly", keys=[one("RO ACCESS")],
    since="2.0.0", complexity=_WHOLE, tips="nondeterministic_output_order",
)  # fmt: skip
def hgetall(ctx: Context, argv: list[bytes]) -> Reply:
    """A map of all fields. O(n). Redis: HGETALL."""
    value = _read(ctx, argv)
    return _NO_FIELDS if value is None else Map(value.flat())


@hashes.command(
    "hkeys", "key", "Returns all fields of a hash.", arity=2, flags="readonly", keys=[one("RO ACCESS")],
    since="2.0.0", complexity=_WHOLE, tips="nondeterministic_output_order",
)  # fmt: skip
def hkeys(ctx: Context, argv: list[bytes]) -> Reply:
    """The fields' names. O(n). Redis: HKEYS."""
    value = _read(ctx, argv)
    return EMPTY if value is None else Bulks(list(value.fields))


@hashes.command(
    "hvals", "key", "Returns all values of a hash.", arity=2, flags="readonly", keys=[one("RO ACCESS")],
    since="2.0.0", complexity=_WHOLE, tips="nondeterministic_output_order",
)  # fmt: skip
def hvals(ctx: Context, argv: list[bytes]) -> Reply:
    """The values in the order of HKEYS. O(n). Redis: HVALS."""
    value = _read(ctx, argv)
    return EMPTY if value is None else Bulks(list(value.fields.values()))


@hashes.command(
    "hlen", "key", "Counts the fields of a hash.", arity=2, flags="readonly fast", keys=[one("RO")], since="2.0.0"
)
def hlen(ctx: Context, argv: list[bytes]) -> Reply:
    """The number of fields, 0 where there is no hash. O(1). Redis: HLEN."""
    value = _read(ctx, argv)
    return 0 if value is None else len(value)


@hashes.command(
    "hstrlen", "key field", "Returns the length of a field's value.", arity=3, flags="readonly fast",
    keys=[one("RO")], since="3.2.0",
)  # fmt: skip
def hstrlen(ctx: Context, argv: list[bytes]) -> Reply:
    """The length in bytes, 0 where there is nothing. O(1). Redis: HSTRLEN."""
    value = _read(ctx, argv)
    return 0 if value is None else len(value.fields.get(argv[2], b""))


@hashes.command(
    "hexists", "key field", "Tells whether a hash has a field.", arity=3, flags="readonly fast", keys=[one("RO")],
    since="2.0.0",
)  # fmt: skip
def hexists(ctx: Context, argv: list[bytes]) -> Reply:
    """1 or 0. O(1). Redis: HEXISTS."""
    value = _read(ctx, argv)
    return 1 if value is not None and argv[2] in value.fields else 0


@hashes.command(
    "hrandfield", "key [count [WITHVALUES]]", "Returns fields of a hash by chance.", arity=-2, flags="readonly",
    keys=[one("RO ACCESS")], since="6.2.0", complexity="O(N) where N is the number of fields returned",
    tips="nondeterministic_output",
)  # fmt: skip
def hrandfield(ctx: Context, argv: list[bytes]) -> Reply:
    """A field, or `count` different ones, or -`count` that may be the same. O(count) expected. Redis: HRANDFIELD."""
    if len(argv) > 2:
        return _random_fields(ctx, argv)
    value = _read(ctx, argv)
    return None if value is None else value.pick(ctx.space.random)


def _random_fields(ctx: Context, argv: list[bytes]) -> Reply:
    count = negatable_integer(argv[2])
    with_values = len(argv) == 4
    if len(argv) > 4 or (with_values and argv[3].upper() != b"WITHVALUES"):
        raise CommandError(SYNTAX)
    if with_values and abs(count) > INT64_MAX // 2:
        raise CommandError(OUT_OF_RANGE)
    value = _read(ctx, argv)
    if value is None or count == 0:
        return EMPTY
    if count > 0:
        chosen = value.pick_many(ctx.space.random, count)
        return Pairs(_with_values(value, chosen)) if with_values else Bulks(chosen)
    budget = Budget(ctx, -count)
    items: list[bytes] = []
    for portion in portions(-count):
        chosen = value.pick_repeatedly(ctx.space.random, portion)
        if with_values:
            chosen = _with_values(value, chosen)
        budget.spend(chosen)
        items += chosen
    return Pairs(items) if with_values else Bulks(items)


def _with_values(value: HashValue, chosen: list[bytes]) -> list[bytes]:
    """Fields, and each one's value after it."""
    flat: list[bytes] = []
    for field in chosen:
        flat.append(field)
        flat.append(value.fields[field])
    return flat


@hashes.command(
    "hscan", "key cursor [MATCH pattern] [COUNT count] [NOVALUES]", "Walks over the fields of a hash.", arity=-3,
    flags="readonly", keys=[one("RO ACCESS")], since="2.8.0",
    complexity="O(1) for every call. O(N) for a complete iteration, including enough command calls for the cursor to "
    "return back to 0. N is the number of elements inside the collection.",
    tips="nondeterministic_output",
)  # fmt: skip
def hscan(ctx: Context, argv: list[bytes]) -> Reply:
    """The next cursor, and some fields with their values. O(count). Redis: HSCAN."""
    cursor = parse_cursor(argv[2])
    value = _read(ctx, argv)
    if value is None:
        return scan_reply(0, [])
    options = parse_options(ctx, argv, 3, OF_HASH)
    cursor, names = value.scan(cursor, options.count)
    names = options.matching(names)
    if options.novalues:
        return scan_reply(cursor, names)
    flat: list[bytes] = []
    for name in names:
        flat.append(name)
        flat.append(value.fields[name])
    return scan_reply(cursor, flat)
