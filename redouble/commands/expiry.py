"""Deadlines of keys: EXPIRE and its forms, TTL and its forms, PERSIST.

A deadline is kept in milliseconds since 1970. A deadline that has been reached when it is set deletes
the key at once, with the event `del`; one that passes later gives `expired` (see `keyspace/space.py`).
"""

from typing import Final

from redouble.commands.keys import glance
from redouble.engine.command import Family, one
from redouble.engine.context import Context
from redouble.errors import CommandError, c_text, invalid_expire, wrong_arity
from redouble.keyspace import events
from redouble.keyspace.database import NEVER
from redouble.protocol.numbers import INT64_MAX, INT64_MIN, integer
from redouble.protocol.reply import Reply

expiry: Final = Family("generic")

_SECONDS: Final = 1000
_MILLISECONDS: Final = 1

_NX: Final = 1
_XX: Final = 2
_GT: Final = 4
_LT: Final = 8
_CONDITIONS: Final[dict[bytes, int]] = {b"NX": _NX, b"XX": _XX, b"GT": _GT, b"LT": _LT}
_CONDITIONS_SINCE: Final = 70000


@expiry.command(
    "expire", "key seconds [NX | XX | GT | LT]", "Lets a key expire after some seconds.", arity=-3,
    flags="write fast", keys=[one("RW UPDATE")],
)  # fmt: skip
def expire(ctx: Context, argv: list[bytes]) -> Reply:
    """1, or 0 where there is no key or the condition does not hold. O(log n). Redis: EXPIRE."""
    return _expire(ctx, argv, ctx.space.now, _SECONDS, b"expire")


@expiry.command(
    "pexpire", "key milliseconds [NX | XX | GT | LT]", "Lets a key expire after some milliseconds.", arity=-3,
    flags="write fast", keys=[one("RW UPDATE")], since="2.6.0",
)  # fmt: skip
def pexpire(ctx: Context, argv: list[bytes]) -> Reply:
    """As `expire`. O(log n). Redis: PEXPIRE."""
    return _expire(ctx, argv, ctx.space.now, _MILLISECONDS, b"pexpire")


@expiry.command(
    "expireat", "key unix-time-seconds [NX | XX | GT | LT]", "Lets a key expire at a Unix time.", arity=-3,
    flags="write fast", keys=[one("RW UPDATE")], since="1.2.0",
)  # fmt: skip
def expireat(ctx: Context, argv: list[bytes]) -> Reply:
    """As `expire`. O(log n). Redis: EXPIREAT."""
    return _expire(ctx, argv, 0, _SECONDS, b"expireat")


@expiry.command(
    "pexpireat", "key unix-time-milliseconds [NX | XX | GT | LT]", "Lets a key expire at a Unix time in ms.",
    arity=-3, flags="write fast", keys=[one("RW UPDATE")], since="2.6.0",
)  # fmt: skip
def pexpireat(ctx: Context, argv: list[bytes]) -> Reply:
    """As `expire`. O(log n). Redis: PEXPIREAT."""
    return _expire(ctx, argv, 0, _MILLISECONDS, b"pexpireat")


def _expire(ctx: Context, argv: list[bytes], base: int, unit: int, name: bytes) -> int:
    conditions = _conditions(ctx, argv, name) if len(argv) > 3 else 0
    deadline = integer(argv[2]) * unit
    if deadline < INT64_MIN or deadline > INT64_MAX - base:
        raise invalid_expire(name)
    deadline += base
    key = argv[1]
    db = ctx.db
    entry = db.find(key)
    if entry is None or (conditions and not _holds(conditions, entry.deadline, deadline)):
        return 0
    if deadline <= ctx.space.now:
        db.remove(key)
        db.touch(key, events.GENERIC, b"del")
    else:
        db.set_deadline(key, entry, deadline)
        db.touch(key, events.GENERIC, b"expire")
    return 1


def _conditions(ctx: Context, argv: list[bytes], name: bytes) -> int:
    if ctx.engine.version < _CONDITIONS_SINCE:
        raise wrong_arity(name)
    conditions = 0
    for word in argv[3:]:
        condition = _CONDITIONS.get(word.upper())
        if condition is None:
            raise CommandError(b"ERR Unsupported option " + c_text(word))
        conditions |= condition
    if conditions & _NX and conditions != _NX:
        raise CommandError(b"ERR NX and XX, GT or LT options at the same time are not compatible")
    if conditions & _GT and conditions & _LT:
        raise CommandError(b"ERR GT and LT options at the same time are not compatible")
    return conditions


def _holds(conditions: int, old: int, new: int) -> bool:
    """Whether a deadline may replace another. None at all is later than any: never GT, always LT."""
    if conditions & _NX and old != NEVER:
        return False
    if conditions & _XX and old == NEVER:
        return False
    if conditions & _GT and new <= old:
        return False
    return not (conditions & _LT and new >= old)


@expiry.command(
    "ttl", "key", "Tells in how many seconds a key expires.", arity=2, flags="readonly fast",
    keys=[one("RO ACCESS")], tips="nondeterministic_output",
)  # fmt: skip
def ttl(ctx: Context, argv: list[bytes]) -> Reply:
    """The seconds left, rounded; -1 without a deadline, -2 without a key. O(1). Redis: TTL."""
    return _remaining(ctx, argv[1], ctx.space.now, _SECONDS)


@expiry.command(
    "pttl", "key", "Tells in how many milliseconds a key expires.", arity=2, flags="readonly fast",
    keys=[one("RO ACCESS")], since="2.6.0", tips="nondeterministic_output",
)  # fmt: skip
def pttl(ctx: Context, argv: list[bytes]) -> Reply:
    """As `ttl`, in ms. O(1). Redis: PTTL."""
    return _remaining(ctx, argv[1], ctx.space.now, _MILLISECONDS)


@expiry.command(
    "expiretime", "key", "Tells the Unix time at which a key expires.", arity=2, flags="readonly fast",
    keys=[one("RO ACCESS")], since="7.0.0",
)  # fmt: skip
def expiretime(ctx: Context, argv: list[bytes]) -> Reply:
    """The time in seconds, rounded; -1 and -2 as `ttl`. O(1). Redis: EXPIRETIME."""
    return _remaining(ctx, argv[1], 0, _SECONDS)


@expiry.command(
    "pexpiretime", "key", "Tells the Unix time in milliseconds at which a key expires.", arity=2,
    flags="readonly fast", keys=[one("RO ACCESS")], since="7.0.0",
)  # fmt: skip
def pexpiretime(ctx: Context, argv: list[bytes]) -> Reply:
    """The time in ms; -1 and -2 as `ttl`. O(1). Redis: PEXPIRETIME."""
    return _remaining(ctx, argv[1], 0, _MILLISECONDS)


def _remaining(ctx: Context, key: bytes, base: int, unit: int) -> int:
    entry = glance(ctx.db, key)
    if entry is None:
        return -2
    if entry.deadline == NEVER:
        return -1
    remaining = max(entry.deadline - base, 0)
    return (remaining + unit // 2) // unit


@expiry.command(
    "persist", "key", "Takes a key's deadline away.", arity=2, flags="write fast", keys=[one("RW UPDATE")],
    since="2.2.0",
)  # fmt: skip
def persist(ctx: Context, argv: list[bytes]) -> Reply:
    """1, or 0 where there is no key or no deadline. O(1). Redis: PERSIST."""
    key = argv[1]
    db = ctx.db
    entry = db.find(key)
    if entry is None or entry.deadline == NEVER:
        return 0
    db.set_deadline(key, entry, NEVER)
    db.touch(key, events.GENERIC, b"persist")
    return 1
