"""Ranges of sorted sets, by rank, score or member: ZRANGE and its family, ZCOUNT, ZREMRANGEBY*.

ZRANGE has swallowed eight older commands, and all nine read the same arguments: two bounds, then
options, some of which the older names fix beforehand. `RangeQuery` is what the arguments say; it
finds the pairs in a set, and the command replies or stores them. Bounds are read only after the
options, because these decide what they are. The plain `ZRANGE key start stop` goes straight.

Simplified: a negative LIMIT offset gives nothing, in any encoding. (Redis 7.4 counts it from the far
end of the range where the set is no listpack; earlier versions give nothing.)
"""

from typing import Final, final

from redouble.commands.sorted_sets import scored, store_members
from redouble.datatypes.ranges import LexRange, ScoreRange, parse_lex_range, parse_score_range
from redouble.datatypes.skiplist import Pairs as Scored
from redouble.datatypes.sortedset import SortedSet
from redouble.engine.command import Family, one
from redouble.engine.context import Context
from redouble.errors import SYNTAX, CommandError
from redouble.keyspace import events
from redouble.keyspace.typed import zset_of
from redouble.protocol.numbers import integer
from redouble.protocol.reply import EMPTY, Bulks, Reply

sorted_set_ranges: Final = Family("sorted-set")

#: What bounds are; `ANY` is for the options to say.
ANY: Final = 0
RANK: Final = 1
SCORE: Final = 2
LEX: Final = 3

_NOT_SCORES: Final = b"ERR min or max is not a float"
_NOT_LEX: Final = b"ERR min or max not valid string range item"
_LIMIT_BY_RANK: Final = b"ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
_SCORES_BY_LEX: Final = b"ERR syntax error, WITHSCORES not supported in combination with BYLEX"

_RETURNED = "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements returned."
_MAY_BE_CONSTANT = (
    "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements being returned. "
    "If M is constant (e.g. always asking for the first 10 elements with LIMIT), you can consider it O(log(N))."
)
_REMOVED = (
    "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements removed by the "
    "operation."
)
_COUNTED = "O(log(N)) with N being the number of elements in the sorted set."


def score_range(least: bytes, greatest: bytes) -> ScoreRange:
    """The range of scores between two bounds, or the error."""
    found = parse_score_range(least, greatest)
    if found is None:
        raise CommandError(_NOT_SCORES)
    return found


def lex_range(least: bytes, greatest: bytes) -> LexRange:
    """The range of members between two bounds, or the error."""
    found = parse_lex_range(least, greatest)
    if found is None:
        raise CommandError(_NOT_LEX)
    return found


@final
class RangeQuery:
    """What is asked for: bounds of some kind, a direction, and a part of what lies between."""

    __slots__ = ("kind", "reverse", "with_scores", "offset", "limit", "start", "stop", "scores", "members")

    def __init__(self, kind: int, reverse: bool) -> None:
        self.kind: int = kind
        self.reverse: bool = reverse
        self.with_scores: bool = False
        self.offset: int = 0
        #: How many at most, negative for all.
        self.limit: int = -1
        # One of three pairs of bounds, as `kind` has it.
        self.start: int = 0
        self.stop: int = 0
        self.scores: ScoreRange | None = None
        self.members: LexRange | None = None

    def parse(self, argv: list[bytes], at: int, storing: bool) -> None:
        """Read bounds (at `at`) and options; those that are fixed already are not taken. O(arguments)."""
        self._parse_options(argv, at + 2, storing)
        if self.kind == ANY:
            self.kind = RANK
        if self.kind == RANK and self.limit != -1:
            raise CommandError(_LIMIT_BY_RANK)
        if self.kind == LEX and self.with_scores:
            raise CommandError(_SCORES_BY_LEX)
        self._parse_bounds(argv[at], argv[at + 1])

    def _parse_options(self, argv: list[bytes], at: int, storing: bool) -> None:
        any_kind = self.kind == ANY
        end = len(argv)
        while at < end:
            word = argv[at].upper()
            if word == b"WITHSCORES" and not storing:
                self.with_scores = True
            elif word == b"LIMIT" and at + 2 < end:
                self.offset = integer(argv[at + 1])
                self.limit = integer(argv[at + 2])
                at += 2
            elif word == b"REV" and any_kind and not self.reverse:
                self.reverse = True
            elif word == b"BYLEX" and self.kind == ANY:
                self.kind = LEX
            elif word == b"BYSCORE" and self.kind == ANY:
                self.kind = SCORE
            else:
                raise CommandError(SYNTAX)
            at += 1

    def _parse_bounds(self, first: bytes, second: bytes) -> None:
        """A reversed range by score or member begins at its greater end; ranks just count from there."""
        if self.kind == RANK:
            self.start = integer(first)
            self.stop = integer(second)
            return
        if self.reverse:
            first, second = second, first
        if self.kind == SCORE:
            self.scores = score_range(first, second)
        else:
            self.members = lex_range(first, second)

    def find(self, zset: SortedSet) -> Scored:
        """The pairs of a set, in the order of the reply. O(log n + results)."""
        if self.scores is not None:
            return zset.range_by_score(self.scores, self.reverse, self.offset, self.limit)
        if self.members is not None:
            return zset.range_by_lex(self.members, self.reverse, self.offset, self.limit)
        return zset.range_by_rank(self.start, self.stop, self.reverse)


def _reply_range(ctx: Context, argv: list[bytes], kind: int, reverse: bool) -> Reply:
    query = RangeQuery(kind, reverse)
    query.parse(argv, 2, False)
    zset = zset_of(ctx.db.read(argv[1]))
    if zset is None:
        return EMPTY
    pairs = query.find(zset)
    return scored(pairs) if query.with_scores else Bulks(pairs[0])


# -- ranges --------------------------------------------------------------------------------------


@sorted_set_ranges.command(
    "zrange", "key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]",
    "Returns a range of a sorted set.", arity=-4, flags="readonly", keys=[one("RO ACCESS")], since="1.2.0",
    complexity=_RETURNED,
)  # fmt: skip
def zrange(ctx: Context, argv: list[bytes]) -> Reply:
    """Members, or members with scores. O(log n + results). Redis: ZRANGE."""
    if len(argv) != 4:
        return _reply_range(ctx, argv, ANY, False)
    start = integer(argv[2])
    stop = integer(argv[3])
    zset = zset_of(ctx.db.read(argv[1]))
    return EMPTY if zset is None else Bulks(zset.range_by_rank(start, stop)[0])


@sorted_set_ranges.command(
    "zrevrange", "key start stop [WITHSCORES]", "Returns a range of a sorted set by rank, in reverse order.",
    arity=-4, flags="readonly", keys=[one("RO ACCESS")], since="1.2.0", complexity=_RETURNED,
    deprecated="6.2.0", replaced_by="`ZRANGE` with the `REV` argument",
)  # fmt: skip
def zrevrange(ctx: Context, argv: list[bytes]) -> Reply:
    """Members, or members with scores. O(log n + results). Redis: ZREVRANGE."""
    return _reply_range(ctx, argv, RANK, True)


@sorted_set_ranges.command(
    "zrangebyscore", "key min max [WITHSCORES] [LIMIT offset count]", "Returns the members with scores in a range.",
    arity=-4, flags="readonly", keys=[one("RO ACCESS")], since="1.0.5", complexity=_MAY_BE_CONSTANT,
    deprecated="6.2.0", replaced_by="`ZRANGE` with the `BYSCORE` argument",
)  # fmt: skip
def zrangebyscore(ctx: Context, argv: list[bytes]) -> Reply:
    """Members, or members with scores. O(log n + results). Redis: ZRANGEBYSCORE."""
    return _reply_range(ctx, argv, SCORE, False)


@sorted_set_ranges.command(
    "zrevrangebyscore", "key max min [WITHSCORES] [LIMIT offset count]",
    "Returns the members with scores in a range, in reverse order.", arity=-4, flags="readonly",
    keys=[one("RO ACCESS")], since="2.2.0", complexity=_MAY_BE_CONSTANT, deprecated="6.2.0",
    replaced_by="`ZRANGE` with the `REV` and `BYSCORE` arguments",
)  # fmt: skip
def zrevrangebyscore(ctx: Context, argv: list[bytes]) -> Reply:
    """Members, or members with scores. O(log n + results). Redis: ZREVRANGEBYSCORE."""
    return _reply_range(ctx, argv, SCORE, True)


@sorted_set_ranges.command(
    "zrangebylex", "key min max [LIMIT offset count]", "Returns the members in a range of the alphabet.", arity=-4,
    flags="readonly", keys=[one("RO ACCESS")], since="2.8.9", complexity=_MAY_BE_CONSTANT, deprecated="6.2.0",
    replaced_by="`ZRANGE` with the `BYLEX` argument",
)  # fmt: skip
def zrangebylex(ctx: Context, argv: list[bytes]) -> Reply:
    """Members. O(log n + results). Redis: ZRANGEBYLEX."""
    return _reply_range(ctx, argv, LEX, False)


@sorted_set_ranges.command(
    "zrevrangebylex", "key max min [LIMIT offset count]",
    "Returns the members in a range of the alphabet, in reverse order.", arity=-4, flags="readonly",
    keys=[one("RO ACCESS")], since="2.8.9", complexity=_MAY_BE_CONSTANT, deprecated="6.2.0",
    replaced_by="`ZRANGE` with the `REV` and `BYLEX` arguments",
)  # fmt: skip
def zrevrangebylex(ctx: Context, argv: list[bytes]) -> Reply:
    """Members. O(log n + results). Redis: ZREVRANGEBYLEX."""
    return _reply_range(ctx, argv, LEX, True)


@sorted_set_ranges.command(
    "zrangestore", "dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]",
    "Stores a range of a sorted set in another key.", arity=-5, flags="write denyoom",
    keys=[one("OW UPDATE"), one("RO ACCESS", 2)], since="6.2.0",
    complexity="O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements stored "
    "into the destination key.",
)  # fmt: skip
def zrangestore(ctx: Context, argv: list[bytes]) -> Reply:
    """How many members were stored. O(log n + results * log results). Redis: ZRANGESTORE."""
    query = RangeQuery(ANY, False)
    query.parse(argv, 3, True)
    zset = zset_of(ctx.db.read(argv[2]))
    found: dict[bytes, float] = {}
    if zset is not None:
        members, scores = query.find(zset)
        found = dict(zip(members, scores, strict=True))
    # Only by rank does Redis know beforehand how many will come, and makes room for them.
    grown = query.kind != RANK or len(found) <= ctx.space.limits.zset_entries
    return store_members(ctx, argv[1], found, b"zrangestore", grown=grown)


# -- counting ------------------------------------------------------------------------------------


@sorted_set_ranges.command(
    "zcount", "key min max", "Counts the members with scores in a range.", arity=4, flags="readonly fast",
    keys=[one("RO ACCESS")], since="2.0.0", complexity=_COUNTED,
)  # fmt: skip
def zcount(ctx: Context, argv: list[bytes]) -> Reply:
    """How many there are. O(log n). Redis: ZCOUNT."""
    bounds = score_range(argv[2], argv[3])
    zset = zset_of(ctx.db.read(argv[1]))
    return 0 if zset is None else zset.count_by_score(bounds)


@sorted_set_ranges.command(
    "zlexcount", "key min max", "Counts the members in a range of the alphabet.", arity=4, flags="readonly fast",
    keys=[one("RO ACCESS")], since="2.8.9", complexity=_COUNTED,
)  # fmt: skip
def zlexcount(ctx: Context, argv: list[bytes]) -> Reply:
    """How many there are. O(log n). Redis: ZLEXCOUNT."""
    bounds = lex_range(argv[2], argv[3])
    zset = zset_of(ctx.db.read(argv[1]))
    return 0 if zset is None else zset.count_by_lex(bounds)


# -- removing ------------------------------------------------------------------------------------


@sorted_set_ranges.command(
    "zremrangebyrank", "key start stop", "Removes a range of a sorted set by rank.", arity=4, flags="write",
    keys=[one("RW DELETE")], since="2.0.0", complexity=_REMOVED,
)  # fmt: skip
def zremrangebyrank(ctx: Context, argv: list[bytes]) -> Reply:
    """How many were removed. O(log n + removed). Redis: ZREMRANGEBYRANK."""
    start = integer(argv[2])
    stop = integer(argv[3])
    zset = zset_of(ctx.db.find(argv[1]))
    if zset is None:
        return 0
    return _removed(ctx, argv[1], zset, zset.remove_range_by_rank(start, stop), b"zremrangebyrank")


@sorted_set_ranges.command(
    "zremrangebyscore", "key min max", "Removes the members with scores in a range.", arity=4, flags="write",
    keys=[one("RW DELETE")], since="1.2.0", complexity=_REMOVED,
)  # fmt: skip
def zremrangebyscore(ctx: Context, argv: list[bytes]) -> Reply:
    """How many were removed. O(log n + removed). Redis: ZREMRANGEBYSCORE."""
    bounds = score_range(argv[2], argv[3])
    zset = zset_of(ctx.db.find(argv[1]))
    if zset is None:
        return 0
    return _removed(ctx, argv[1], zset, zset.remove_range_by_score(bounds), b"zremrangebyscore")


@sorted_set_ranges.command(
    "zremrangebylex", "key min max", "Removes the members in a range of the alphabet.", arity=4, flags="write",
    keys=[one("RW DELETE")], since="2.8.9", complexity=_REMOVED,
)  # fmt: skip
def zremrangebylex(ctx: Context, argv: list[bytes]) -> Reply:
    """How many were removed. O(log n + removed). Redis: ZREMRANGEBYLEX."""
    bounds = lex_range(argv[2], argv[3])
    zset = zset_of(ctx.db.find(argv[1]))
    if zset is None:
        return 0
    return _removed(ctx, argv[1], zset, zset.remove_range_by_lex(bounds), b"zremrangebylex")


def _removed(ctx: Context, key: bytes, zset: SortedSet, count: int, event: bytes) -> int:
    """Announce that a range has gone."""
    if count:
        ctx.db.touch(key, events.ZSET, event, count)
        ctx.db.remove_if_empty(key, len(zset))
    return count
