"""The list commands that wait: BLPOP, BRPOP, BLMOVE, BRPOPLPUSH, BLMPOP.

Each tries like its brother that does not wait, and returns a `Block` where there is nothing to take.
It is tried again when one of its keys holds a list. A key of the wrong type that comes before that list
is an error even then, as in Redis 7.2 and later, which run the whole command again.
"""

from typing import Final

from redouble.commands.lists import is_left, move, mpop_arguments, pop_many, pop_one
from redouble.datatypes.listvalue import ListValue
from redouble.engine import flags as f
from redouble.engine.blocking import Block, seconds_deadline
from redouble.engine.command import Family, counted, one, span
from redouble.engine.context import Context
from redouble.keyspace.typed import list_of
from redouble.protocol.reply import NULL_ARRAY, Bulks, Reply

list_blocking: Final = Family("list")

_KEYS = "O(N) where N is the number of provided keys."


@list_blocking.command(
    "blpop", "key [key ...] timeout", "Takes the first element of a list; waits for one if there is none.", arity=-3,
    flags="write blocking timeout_last", keys=[span("RW ACCESS DELETE", 1, -2)], since="2.0.0", barred_until="7.2.0",
    complexity=_KEYS,
)  # fmt: skip
def blpop(ctx: Context, argv: list[bytes]) -> Reply:
    """The key and the element, or a null array. O(keys). Redis: BLPOP."""
    return _pop(ctx, argv, True)


@list_blocking.command(
    "brpop", "key [key ...] timeout", "Takes the last element of a list; waits for one if there is none.", arity=-3,
    flags="write blocking timeout_last", keys=[span("RW ACCESS DELETE", 1, -2)], since="2.0.0", barred_until="7.2.0",
    complexity=_KEYS,
)  # fmt: skip
def brpop(ctx: Context, argv: list[bytes]) -> Reply:
    """The key and the element, or a null array. O(keys). Redis: BRPOP."""
    return _pop(ctx, argv, False)


def _pop(ctx: Context, argv: list[bytes], left: bool) -> Reply:
    deadline = seconds_deadline(ctx, argv[-1])
    keys = argv[1:-1]
    for key in keys:
        value = list_of(ctx.db.find(key))
        if value is not None:
            return Bulks([key, pop_one(ctx, key, value, left)])
    return Block(keys, deadline, NULL_ARRAY, ListValue)


@list_blocking.command(
    "blmpop", "timeout numkeys key [key ...] <LEFT | RIGHT> [COUNT count]",
    "Takes elements from the first of several lists that has any; waits if none has.", arity=-5,
    flags="write blocking movablekeys timeout_first", keys=[counted("RW ACCESS DELETE", 2)], since="7.0.0",
    complexity="O(N+M) where N is the number of provided keys and M is the number of elements returned.",
)  # fmt: skip
def blmpop(ctx: Context, argv: list[bytes]) -> Reply:
    """The key and what was taken there, or a null array. O(keys + count). Redis: BLMPOP."""
    keys, left, count = mpop_arguments(argv, 2)
    deadline = seconds_deadline(ctx, argv[1])
    for key in keys:
        value = list_of(ctx.db.find(key))
        if value is not None:
            return [key, Bulks(pop_many(ctx, key, value, left, count))]
    return Block(keys, deadline, NULL_ARRAY, ListValue)


@list_blocking.command(
    "blmove", "source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout",
    "Moves an element from a list's end to another's; waits for one if there is none.", arity=6,
    flags="write denyoom blocking timeout_last", keys=[one("RW ACCESS DELETE"), one("RW INSERT", 2)], since="6.2.0",
    barred_until="7.2.0",
)  # fmt: skip
def blmove(ctx: Context, argv: list[bytes]) -> Reply:
    """The element, or null. O(1). Redis: BLMOVE."""
    from_left = is_left(argv[3])
    to_left = is_left(argv[4])
    return _move(ctx, argv, from_left, to_left)


@list_blocking.command(
    "brpoplpush", "source destination timeout",
    "Moves a list's last element to the front of another; waits for one if there is none.", arity=4,
    flags="write denyoom blocking timeout_last", keys=[one("RW ACCESS DELETE"), one("RW INSERT", 2)], since="2.2.0",
    barred_until="7.2.0",
    deprecated="6.2.0", replaced_by="`BLMOVE` with the `RIGHT` and `LEFT` arguments",
)  # fmt: skip
def brpoplpush(ctx: Context, argv: list[bytes]) -> Reply:
    """The element, or null. O(1). Redis: BRPOPLPUSH."""
    return _move(ctx, argv, False, True)


def _move(ctx: Context, argv: list[bytes], from_left: bool, to_left: bool) -> Reply:
    deadline = seconds_deadline(ctx, argv[-1])
    source = argv[1]
    if list_of(ctx.db.find(source)) is None:
        # Where waiting is denied the reply is a null, not the null array of a time-out.
        on_timeout = None if ctx.flags & f.DENY_BLOCKING else NULL_ARRAY
        return Block([source], deadline, on_timeout, ListValue)
    return move(ctx, source, argv[2], from_left, to_left)
