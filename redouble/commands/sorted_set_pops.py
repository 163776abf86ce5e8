"""Taking members from an end of a sorted set: ZPOPMIN, ZPOPMAX, ZMPOP, and those that wait for some.

The shapes of the replies differ: ZPOPMIN without a count is flat in both protocols, with one it nests
in RESP3 only; BZPOPMIN is flat, with the key before; ZMPOP always nests. A command that waits tries
like its brother that does not, and returns a `Block` where there is nothing to take.

A waiter tries again when one of its keys holds a sorted set. A key of the wrong type that comes before
that set is an error even then, as in Redis 7.2 and later, which run the whole command again.
"""

from typing import Final

from redouble.commands.sorted_sets import scored
from redouble.datatypes.skiplist import Pairs as Scored
from redouble.datatypes.sortedset import SortedSet
from redouble.engine.blocking import Block, seconds_deadline
from redouble.engine.command import Family, counted, one, span
from redouble.engine.context import Context
from redouble.errors import MUST_BE_POSITIVE, SYNTAX, CommandError
from redouble.keyspace import events
from redouble.keyspace.typed import zset_of
from redouble.protocol.numbers import integer_from
from redouble.protocol.reply import EMPTY, NULL_ARRAY, Double, Reply

sorted_set_pops: Final = Family("sorted-set")

_TAKEN = "O(log(N)*M) with N being the number of elements in the sorted set, and M being the number of elements popped."
_LOG_N = "O(log(N)) with N being the number of elements in the sorted set."
_KEYS = (
    "O(K) + O(M*log(N)) where K is the number of provided keys, N being the number of elements in the sorted set, and "
    "M being the number of elements popped."
)


@sorted_set_pops.command(
    "zpopmin", "key [count]", "Takes the members with the lowest scores.", arity=-2, flags="write fast",
    keys=[one("RW ACCESS DELETE")], since="5.0.0", complexity=_TAKEN,
)  # fmt: skip
def zpopmin(ctx: Context, argv: list[bytes]) -> Reply:
    """Members with scores, the lowest first. O(count + log n). Redis: ZPOPMIN."""
    return _pop(ctx, argv, False)


@sorted_set_pops.command(
    "zpopmax", "key [count]", "Takes the members with the highest scores.", arity=-2, flags="write fast",
    keys=[one("RW ACCESS DELETE")], since="5.0.0", complexity=_TAKEN,
)  # fmt: skip
def zpopmax(ctx: Context, argv: list[bytes]) -> Reply:
    """Members with scores, the highest first. O(count + log n). Redis: ZPOPMAX."""
    return _pop(ctx, argv, True)


def _pop(ctx: Context, argv: list[bytes], highest: bool) -> Reply:
    key = argv[1]
    if len(argv) > 2:
        return _pop_many(ctx, argv, highest)
    zset = zset_of(ctx.db.find(key))
    if zset is None:
        return EMPTY
    members, scores = _take(ctx, key, zset, highest, 1)
    return [members[0], Double(scores[0])]


def _pop_many(ctx: Context, argv: list[bytes], highest: bool) -> Reply:
    if len(argv) > 3:
        raise CommandError(SYNTAX)
    count = integer_from(0, argv[2], MUST_BE_POSITIVE)
    zset = zset_of(ctx.db.find(argv[1]))
    if zset is None or count == 0:
        return EMPTY
    return scored(_take(ctx, argv[1], zset, highest, count))


def _take(ctx: Context, key: bytes, zset: SortedSet, highest: bool, count: int) -> Scored:
    """Take up to `count` pairs from an end of the set at `key`, and say so."""
    taken = zset.pop_max(count) if highest else zset.pop_min(count)
    ctx.db.taken(key, events.ZSET, b"zpopmax" if highest else b"zpopmin", len(taken[0]), len(zset))
    return taken


# -- from the first of several sets --------------------------------------------------------------


@sorted_set_pops.command(
    "zmpop", "numkeys key [key ...] <MIN | MAX> [COUNT count]",
    "Takes members from the first of several sorted sets that has any.", arity=-4, flags="write movablekeys",
    keys=[counted("RW ACCESS DELETE")], since="7.0.0", complexity=_KEYS,
)  # fmt: skip
def zmpop(ctx: Context, argv: list[bytes]) -> Reply:
    """The key and what was taken there, or a null array. O(keys + count). Redis: ZMPOP."""
    keys, highest, count = _mpop_arguments(argv, 1)
    for key in keys:
        zset = zset_of(ctx.db.find(key))
        if zset is not None:
            return _from_key(ctx, key, zset, highest, count)
    return NULL_ARRAY


def _mpop_arguments(argv: list[bytes], at: int) -> tuple[list[bytes], bool, int]:
    """The keys, the end, and the count of ZMPOP and BZMPOP, whose number of keys stands at `at`."""
    end = at + 1 + integer_from(1, argv[at], b"ERR numkeys should be greater than 0")
    if end >= len(argv):
        raise CommandError(SYNTAX)
    where = argv[end].upper()
    if where != b"MIN" and where != b"MAX":
        raise CommandError(SYNTAX)
    count = 1
    if len(argv) > end + 1:
        if argv[end + 1].upper() != b"COUNT" or len(argv) == end + 2:
            raise CommandError(SYNTAX)
        count = integer_from(1, argv[end + 2], b"ERR count should be greater than 0")
        if len(argv) > end + 3:
            raise CommandError(SYNTAX)
    return argv[at + 1 : end], where == b"MAX", count


def _from_key(ctx: Context, key: bytes, zset: SortedSet, highest: bool, count: int) -> Reply:
    """ZMPOP's reply: the key, and a list of lists of two."""
    members, scores = _take(ctx, key, zset, highest, count)
    return [key, [[members[index], Double(scores[index])] for index in range(len(members))]]


# -- waiting -------------------------------------------------------------------------------------


@sorted_set_pops.command(
    "bzpopmin", "key [key ...] timeout", "Takes the member with the lowest score; waits for one if there is none.",
    arity=-3, flags="write blocking fast timeout_last", keys=[span("RW ACCESS DELETE", 1, -2)], since="5.0.0",
    barred_until="7.2.0", complexity=_LOG_N,
)  # fmt: skip
def bzpopmin(ctx: Context, argv: list[bytes]) -> Reply:
    """The key, the member and its score, or a null array. O(keys + log n). Redis: BZPOPMIN."""
    return _blocking_pop(ctx, argv, False)


@sorted_set_pops.command(
    "bzpopmax", "key [key ...] timeout", "Takes the member with the highest score; waits for one if there is none.",
    arity=-3, flags="write blocking fast timeout_last", keys=[span("RW ACCESS DELETE", 1, -2)], since="5.0.0",
    barred_until="7.2.0", complexity=_LOG_N,
)  # fmt: skip
def bzpopmax(ctx: Context, argv: list[bytes]) -> Reply:
    """The key, the member and its score, or a null array. O(keys + log n). Redis: BZPOPMAX."""
    return _blocking_pop(ctx, argv, True)


def _blocking_pop(ctx: Context, argv: list[bytes], highest: bool) -> Reply:
    deadline = seconds_deadline(ctx, argv[-1])
    keys = argv[1:-1]
    for key in keys:
        zset = zset_of(ctx.db.find(key))
        if zset is not None:
            members, scores = _take(ctx, key, zset, highest, 1)
            return [key, members[0], Double(scores[0])]
    return Block(keys, deadline, NULL_ARRAY, SortedSet)


@sorted_set_pops.command(
    "bzmpop", "timeout numkeys key [key ...] <MIN | MAX> [COUNT count]",
    "Takes members from the first of several sorted sets that has any; waits if none has.", arity=-5,
    flags="write blocking movablekeys timeout_first", keys=[counted("RW ACCESS DELETE", 2)], since="7.0.0",
    complexity=_KEYS,
)  # fmt: skip
def bzmpop(ctx: Context, argv: list[bytes]) -> Reply:
    """The key and what was taken there, or a null array. O(keys + count). Redis: BZMPOP."""
    keys, highest, count = _mpop_arguments(argv, 2)
    deadline = seconds_deadline(ctx, argv[1])
    for key in keys:
        zset = zset_of(ctx.db.find(key))
        if zset is not None:
            return _from_key(ctx, key, zset, highest, count)
    return Block(keys, deadline, NULL_ARRAY, SortedSet)
