"""GET, SET and what else works on strings."""

from typing import Final

from redouble.engine.command import Family, one
from redouble.engine.context import Context
from redouble.errors import OVERFLOW, CommandError
from redouble.keyspace import events
from redouble.keyspace.typed import check_string, string_of
from redouble.protocol.numbers import INT64_MAX, INT64_MIN, integer
from redouble.protocol.reply import OK, Reply

string: Final = Family("string")


@string.command("get", "key", "Returns the value of a key.", arity=2, flags="readonly fast", keys=[one("RO ACCESS")])
def get(ctx: Context, argv: list[bytes]) -> Reply:
    """The string, or null. O(1). Redis: GET."""
    return string_of(ctx.db.read(argv[1]))


@string.command(
    "set", "key value [options]", "Sets the value of a key.", arity=-3,
    flags="write denyoom", keys=[one("RW ACCESS UPDATE VARIABLE_FLAGS")],
)  # fmt: skip
def set_(ctx: Context, argv: list[bytes]) -> Reply:
    """Set a string. O(1). Redis: SET."""
    key = argv[1]
    db = ctx.db
    db.store(key, argv[2])
    db.touch(key, events.STRING, b"set")
    return OK


@string.command(
    "incr", "key", "Adds one to the integer of a key.", arity=2, flags="write denyoom fast",
    keys=[one("RW ACCESS UPDATE")],
)  # fmt: skip
def incr(ctx: Context, argv: list[bytes]) -> Reply:
    """The new value. O(1). Redis: INCR."""
    return _add(ctx, argv[1], 1)


def _add(ctx: Context, key: bytes, amount: int) -> int:
    entry = ctx.db.find(key)
    check_string(entry)
    value = integer(string_of(entry) or b"0") + amount
    if value > INT64_MAX or value < INT64_MIN:
        raise CommandError(OVERFLOW)
    if entry is None:
        ctx.db.add(key, b"%d" % value)
    else:
        entry.value = b"%d" % value
    ctx.db.touch(key, events.STRING, b"incrby")
    return value
