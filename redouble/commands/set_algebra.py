"""SINTER, SUNION, SDIFF, their storing forms, and SINTERCARD.

An intersection walks the smallest set and keeps its order; a union and a difference give the order in
which members are met. The encoding of a stored result follows Redis: a union or difference grows like
a set under SADD (and may shrink like one under SREM, see `_takes_out`), an intersection is an intset
whenever it could be one.
"""

from itertools import filterfalse
from typing import Final

from redouble.datatypes.setvalue import SetValue
from redouble.engine.command import Family, counted, one, span
from redouble.engine.context import Context
from redouble.errors import SYNTAX, CommandError
from redouble.keyspace import events
from redouble.keyspace.typed import set_of
from redouble.protocol.numbers import integer_from
from redouble.protocol.reply import Reply, SetReply

set_algebra: Final = Family("set")

_ALL = "O(N) where N is the total number of elements in all given sets."
_COMMON = "O(N*M) worst case where N is the cardinality of the smallest set and M is the number of sets."


@set_algebra.command(
    "sinter", "key [key ...]", "Returns what several sets have in common.", arity=-2, flags="readonly",
    keys=[span("RO ACCESS")], complexity=_COMMON, tips="nondeterministic_output_order",
)  # fmt: skip
def sinter(ctx: Context, argv: list[bytes]) -> Reply:
    """The members that all sets have. O(smallest set * sets). Redis: SINTER."""
    return SetReply(_common(_sets(ctx, argv[1:])))


@set_algebra.command(
    "sintercard", "numkeys key [key ...] [LIMIT limit]", "Counts what several sets have in common.", arity=-3,
    flags="readonly movablekeys", keys=[counted("RO ACCESS")], since="7.0.0", complexity=_COMMON,
)  # fmt: skip
def sintercard(ctx: Context, argv: list[bytes]) -> Reply:
    """How many members all sets have, at most `limit`. O(smallest set * sets). Redis: SINTERCARD."""
    numkeys = integer_from(1, argv[1], b"ERR numkeys should be greater than 0")
    if numkeys > len(argv) - 2:
        raise CommandError(b"ERR Number of keys can't be greater than number of args")
    limit = 0
    for at in range(numkeys + 2, len(argv), 2):
        if argv[at].upper() != b"LIMIT" or at + 1 == len(argv):
            raise CommandError(SYNTAX)
        limit = integer_from(0, argv[at + 1], b"ERR LIMIT can't be negative")
    found = len(_common(_sets(ctx, argv[2 : numkeys + 2])))
    return min(found, limit) if limit else found


@set_algebra.command(
    "sinterstore", "destination key [key ...]", "Stores what several sets have in common.", arity=-3,
    flags="write denyoom", keys=[one("OW UPDATE"), span("RO ACCESS", 2)], complexity=_COMMON,
)  # fmt: skip
def sinterstore(ctx: Context, argv: list[bytes]) -> Reply:
    """The size of the result. O(smallest set * sets). Redis: SINTERSTORE."""
    result = SetValue(ctx.space.limits)
    result.fill(_common(_sets(ctx, argv[2:])))
    return _store(ctx, argv[1], result, b"sinterstore")


@set_algebra.command(
    "sunion", "key [key ...]", "Returns the members of several sets.", arity=-2, flags="readonly",
    keys=[span("RO ACCESS")], complexity=_ALL, tips="nondeterministic_output_order",
)  # fmt: skip
def sunion(ctx: Context, argv: list[bytes]) -> Reply:
    """The members that any set has. O(all members). Redis: SUNION."""
    return SetReply(_union(ctx, argv[1:]).listing())


@set_algebra.command(
    "sunionstore", "destination key [key ...]", "Stores the members of several sets.", arity=-3,
    flags="write denyoom", keys=[one("OW UPDATE"), span("RO ACCESS", 2)], complexity=_ALL,
)  # fmt: skip
def sunionstore(ctx: Context, argv: list[bytes]) -> Reply:
    """The size of the result. O(all members). Redis: SUNIONSTORE."""
    return _store(ctx, argv[1], _union(ctx, argv[2:]), b"sunionstore")


@set_algebra.command(
    "sdiff", "key [key ...]", "Returns the members of a set that others have not.", arity=-2, flags="readonly",
    keys=[span("RO ACCESS")], complexity=_ALL, tips="nondeterministic_output_order",
)  # fmt: skip
def sdiff(ctx: Context, argv: list[bytes]) -> Reply:
    """The members of the first set alone. O(first set * sets). Redis: SDIFF."""
    return SetReply(_difference(ctx, argv[1:]).listing())


@set_algebra.command(
    "sdiffstore", "destination key [key ...]", "Stores the members of a set that others have not.", arity=-3,
    flags="write denyoom", keys=[one("OW UPDATE"), span("RO ACCESS", 2)], complexity=_ALL,
)  # fmt: skip
def sdiffstore(ctx: Context, argv: list[bytes]) -> Reply:
    """The size of the result. O(first set * sets). Redis: SDIFFSTORE."""
    return _store(ctx, argv[1], _difference(ctx, argv[2:]), b"sdiffstore")


def _sets(ctx: Context, keys: list[bytes]) -> list[SetValue | None]:
    return [set_of(ctx.db.read(key)) for key in keys]


def _common(sets: list[SetValue | None]) -> list[bytes]:
    """The members that all sets have, in the order of the smallest set."""
    there = [value for value in sets if value is not None]
    if len(there) < len(sets):
        return []
    there.sort(key=len)
    found = there[0].listing()
    for value in there[1:]:
        found = list(filter(value.members.__contains__, found))
    return found


def _union(ctx: Context, keys: list[bytes]) -> SetValue:
    result = SetValue(ctx.space.limits)
    for value in _sets(ctx, keys):
        if value is not None:
            result.update(value.listing())
    return result


def _difference(ctx: Context, keys: list[bytes]) -> SetValue:
    sets = _sets(ctx, keys)
    result = SetValue(ctx.space.limits)
    first = sets[0]
    if first is None:
        return result
    others = [value for value in sets[1:] if value is not None]
    left = first.listing()
    for value in others:
        left = list(filterfalse(value.members.__contains__, left))
    if _takes_out(first, others):
        result.update(first.listing())
        for member in result.members.keys() - left:
            result.discard(member)
    else:
        result.update(left)
    return result


def _takes_out(first: SetValue, others: list[SetValue]) -> bool:
    """Whether Redis copies the first set and takes out what others have: then the copy's encoding stays. O(sets).

    It does so where that is less work than to look each member of the first set up in the others.
    """
    return len(first) * (len(others) + 1) // 2 > len(first) + sum(map(len, others))


def _store(ctx: Context, key: bytes, result: SetValue, event: bytes) -> int:
    """Put a result at `key`; an empty one removes the key."""
    db = ctx.db
    if len(result):
        db.store(key, result)
        db.touch(key, events.SET, event)
    elif db.find(key) is not None:
        db.remove(key)
        db.touch(key, events.GENERIC, b"del")
    return len(result)
