"""ZADD, ZREM, ZSCORE and what else works on single members of sorted sets.

Its siblings: ranges (`sorted_set_ranges.py`), union and the like (`sorted_set_algebra.py`), taking from
an end (`sorted_set_pops.py`). GEOADD is a ZADD with other scores, so it shares `add_members`.

ZADD and ZINCRBY have one body. Whoever gives neither options nor a second member, as a queue does,
takes the short way. A member's score is decided first (`_decide`: options, increment), then set.

Scores are read as C's `strtod` reads them, not as integers are (see `doubles.py`).
"""

from typing import Final

from redouble.commands.scanning import OF_ZSET, parse_cursor, parse_options, scan_reply
from redouble.datatypes.skiplist import Pairs as Scored
from redouble.datatypes.sortedset import ADDED, UNCHANGED, SortedSet, sorted_set_from
from redouble.doubles import INTEGERS, format_double, parse_double
from redouble.engine.command import Family, one
from redouble.engine.context import Context
from redouble.engine.output_limit import Budget, portions
from redouble.errors import OUT_OF_RANGE, SYNTAX, CommandError, wrong_arity
from redouble.keyspace import events
from redouble.keyspace.typed import zset_of
from redouble.protocol.numbers import INT64_MAX, double, negatable_integer
from redouble.protocol.reply import EMPTY, NULL_ARRAY, Bulks, Double, Pairs, Reply

sorted_sets: Final = Family("sorted-set")

#: The options of ZADD. `ONLY_*` and `INCREMENT` decide about each member's score.
ONLY_NEW: Final = 1
ONLY_OLD: Final = 2
ONLY_GREATER: Final = 4
ONLY_LESS: Final = 8
INCREMENT: Final = 16
COUNT_CHANGED: Final = 32
_DECIDING: Final = ONLY_NEW | ONLY_OLD | ONLY_GREATER | ONLY_LESS | INCREMENT
_OPTIONS: Final[dict[bytes, int]] = {
    b"NX": ONLY_NEW,
    b"XX": ONLY_OLD,
    b"GT": ONLY_GREATER,
    b"LT": ONLY_LESS,
    b"INCR": INCREMENT,
    b"CH": COUNT_CHANGED,
}
#: WITHSCORE came with 7.2.
_WITHOUT_SCORE: Final = ("7.2.0", 3)
_LOG_N = "O(log(N)) where N is the number of elements in the sorted set."


def scored(pairs: Scored) -> Pairs:
    """The reply of members with their scores. O(n)."""
    members, scores = pairs
    flat: list[bytes | Double] = []
    for index in range(len(members)):
        flat.append(members[index])
        flat.append(Double(scores[index]))
    return Pairs(flat)


# -- adding --------------------------------------------------------------------------------------


@sorted_sets.command(
    "zadd", "key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]",
    "Adds members to a sorted set, or changes their scores.", arity=-4, flags="write denyoom fast",
    keys=[one("RW UPDATE")], since="1.2.0",
    complexity="O(log(N)) for each item added, where N is the number of elements in the sorted set.",
)  # fmt: skip
def zadd(ctx: Context, argv: list[bytes]) -> Reply:
    """How many members are new (CH: changed); with INCR the new score. O(members * log n). Redis: ZADD."""
    if len(argv) == 4:
        score = parse_double(argv[2])
        if score is not None:
            return _add_one(ctx, argv[1], score, argv[3])
    return _add(ctx, argv, 0)


@sorted_sets.command(
    "zincrby", "key increment member", "Adds to the score of a member.", arity=4, flags="write denyoom fast",
    keys=[one("RW ACCESS UPDATE")], since="1.2.0", complexity=_LOG_N,
)  # fmt: skip
def zincrby(ctx: Context, argv: list[bytes]) -> Reply:
    """The new score. O(log n). Redis: ZINCRBY."""
    return _add(ctx, argv, INCREMENT)


def _add_one(ctx: Context, key: bytes, score: float, member: bytes) -> Reply:
    db = ctx.db
    zset = zset_of(db.find(key))
    if zset is None:
        zset = SortedSet(ctx.space.limits, 1, len(member))
        db.add(key, zset)
    done = zset.add(member, score)
    if done == UNCHANGED:
        return 0
    db.touch(key, events.ZSET, b"zadd")
    return 1 if done == ADDED else 0


def _add(ctx: Context, argv: list[bytes], options: int) -> Reply:
    """ZADD's body: the options, the checks, then the pairs."""
    at = 2
    end = len(argv)
    while at < end:
        option = _OPTIONS.get(argv[at].upper(), 0)
        if option == 0:
            break
        options |= option
        at += 1
    if at == end or (end - at) & 1:
        raise CommandError(SYNTAX)
    _check_options(options, (end - at) // 2)
    scores = [double(argv[index]) for index in range(at, end, 2)]
    return add_members(ctx, argv[1], options, scores, argv[at + 1 :: 2])


def _check_options(options: int, pairs: int) -> None:
    if options & ONLY_NEW and options & ONLY_OLD:
        raise CommandError(b"ERR XX and NX options at the same time are not compatible")
    exclusive = options & (ONLY_NEW | ONLY_GREATER | ONLY_LESS)
    if exclusive & (exclusive - 1):
        raise CommandError(b"ERR GT, LT, and/or NX options at the same time are not compatible")
    if options & INCREMENT and pairs > 1:
        raise CommandError(b"ERR INCR option supports a single increment-element pair")


def add_members(ctx: Context, key: bytes, options: int, scores: list[float], members: list[bytes]) -> Reply:
    """What ZADD does and answers once its arguments are read. O(members * log n)."""
    db = ctx.db
    zset = zset_of(db.find(key))
    if zset is None:
        if options & ONLY_OLD:
            return None if options & INCREMENT else 0
        zset = SortedSet(ctx.space.limits, 1, len(members[0]))
        db.add(key, zset)
    zset.expect(len(members))
    added = 0
    changed = 0
    score: float | None = None
    for index in range(len(members)):
        score = scores[index]
        if options & _DECIDING:
            score = _decide(zset, members[index], scores[index], options)
            if score is None:
                continue
        done = zset.add(members[index], score)
        if done != UNCHANGED:
            changed += 1
            if done == ADDED:
                added += 1
    if changed:
        db.touch(key, events.ZSET, b"zincr" if options & INCREMENT else b"zadd", changed)
    if options & INCREMENT:
        return None if score is None else Double(score)
    return changed if options & COUNT_CHANGED else added


def _decide(zset: SortedSet, member: bytes, score: float, options: int) -> float | None:
    """The score to set, or None where the options forbid it. Raises where it would be NaN."""
    old = zset.score(member)
    if old is None:
        return None if options & ONLY_OLD else score
    if options & ONLY_NEW:
        return None
    if options & INCREMENT:
        score += old
        if score != score:
            raise CommandError(b"ERR resulting score is not a number (NaN)")
    if options & ONLY_GREATER and score <= old:
        return None
    if options & ONLY_LESS and score >= old:
        return None
    return score


def store_members(
    ctx: Context, key: bytes, scores: dict[bytes, float], event: bytes, each_counts: bool = False, grown: bool = False
) -> int:
    """Let `key` hold a sorted set of these members, or nothing if there are none; how many. O(n log n).

    `each_counts`: each member is a change, else all together are one. `grown`: see `sorted_set_from`.
    """
    db = ctx.db
    if scores:
        db.store(key, sorted_set_from(ctx.space.limits, scores, grown))
        db.touch(key, events.ZSET, event, len(scores) if each_counts else 1)
    elif db.remove(key) is not None:
        db.touch(key, events.GENERIC, b"del")
    return len(scores)


# -- removing ------------------------------------------------------------------------------------


@sorted_sets.command(
    "zrem", "key member [member ...]", "Removes members from a sorted set.", arity=-3, flags="write fast",
    keys=[one("RW DELETE")], since="1.2.0",
    complexity="O(M*log(N)) with N being the number of elements in the sorted set and M the number of elements to be "
    "removed.",
)  # fmt: skip
def zrem(ctx: Context, argv: list[bytes]) -> Reply:
    """How many there were. O(members * log n). Redis: ZREM."""
    key = argv[1]
    db = ctx.db
    zset = zset_of(db.find(key))
    if zset is None:
        return 0
    removed = 0
    for index in range(2, len(argv)):
        if zset.remove(argv[index]):
            removed += 1
    if removed:
        db.taken(key, events.ZSET, b"zrem", removed, len(zset))
    return removed


# -- reading -------------------------------------------------------------------------------------


@sorted_sets.command(
    "zcard", "key", "Counts the members of a sorted set.", arity=2, flags="readonly fast", keys=[one("RO")],
    since="1.2.0",
)  # fmt: skip
def zcard(ctx: Context, argv: list[bytes]) -> Reply:
    """The number of members, 0 where there is no set. O(1). Redis: ZCARD."""
    zset = zset_of(ctx.db.read(argv[1]))
    return 0 if zset is None else len(zset)


@sorted_sets.command(
    "zscore", "key member", "Returns the score of a member.", arity=3, flags="readonly fast",
    keys=[one("RO ACCESS")], since="1.2.0",
)  # fmt: skip
def zscore(ctx: Context, argv: list[bytes]) -> Reply:
    """The score, or null. O(1). Redis: ZSCORE."""
    zset = zset_of(ctx.db.read(argv[1]))
    return None if zset is None else _score_of(zset, argv[2])


@sorted_sets.command(
    "zmscore", "key member [member ...]", "Returns the scores of members.", arity=-3, flags="readonly fast",
    keys=[one("RO ACCESS")], since="6.2.0", complexity="O(N) where N is the number of members being requested.",
)  # fmt: skip
def zmscore(ctx: Context, argv: list[bytes]) -> Reply:
    """A score or null for each member. O(members). Redis: ZMSCORE."""
    zset = zset_of(ctx.db.read(argv[1]))
    if zset is None:
        return [None] * (len(argv) - 2)
    return [_score_of(zset, member) for member in argv[2:]]


def _score_of(zset: SortedSet, member: bytes) -> Double | None:
    score = zset.score(member)
    return None if score is None else Double(score)


@sorted_sets.command(
    "zrank", "key member [WITHSCORE]", "Returns a member's place, counted from the lowest score.", arity=-3,
    flags="readonly fast", keys=[one("RO ACCESS")], since="2.0.0", complexity="O(log(N))",
    arity_until=_WITHOUT_SCORE,
)  # fmt: skip
def zrank(ctx: Context, argv: list[bytes]) -> Reply:
    """The rank from 0, with WITHSCORE the score too; or null. O(log n). Redis: ZRANK."""
    return _rank(ctx, argv, False)


@sorted_sets.command(
    "zrevrank", "key member [WITHSCORE]", "Returns a member's place, counted from the highest score.", arity=-3,
    flags="readonly fast", keys=[one("RO ACCESS")], since="2.0.0", complexity="O(log(N))",
    arity_until=_WITHOUT_SCORE,
)  # fmt: skip
def zrevrank(ctx: Context, argv: list[bytes]) -> Reply:
    """The rank from 0, with WITHSCORE the score too; or null. O(log n). Redis: ZREVRANK."""
    return _rank(ctx, argv, True)


def _rank(ctx: Context, argv: list[bytes], reverse: bool) -> Reply:
    with_score = len(argv) > 3
    if with_score:
        if len(argv) > 4:
            raise wrong_arity(b"zrevrank" if reverse else b"zrank")
        if argv[3].upper() != b"WITHSCORE":
            raise CommandError(SYNTAX)
    zset = zset_of(ctx.db.read(argv[1]))
    rank = None if zset is None else zset.rank(argv[2], reverse)
    if zset is None or rank is None:
        return NULL_ARRAY if with_score else None
    return [rank, _score_of(zset, argv[2])] if with_score else rank


@sorted_sets.command(
    "zrandmember", "key [count [WITHSCORES]]", "Returns members of a sorted set by chance.", arity=-2,
    flags="readonly", keys=[one("RO ACCESS")], since="6.2.0",
    complexity="O(N) where N is the number of members returned", tips="nondeterministic_output",
)  # fmt: skip
def zrandmember(ctx: Context, argv: list[bytes]) -> Reply:
    """A member, or `count` different ones, or -`count` that may be the same. O(count * log n). Redis: ZRANDMEMBER."""
    if len(argv) > 2:
        return _random_members(ctx, argv)
    zset = zset_of(ctx.db.read(argv[1]))
    return None if zset is None else zset.random_pair(ctx.space.random)[0]


def _random_members(ctx: Context, argv: list[bytes]) -> Reply:
    count = negatable_integer(argv[2])
    with_scores = len(argv) == 4
    if len(argv) > 4 or (with_scores and argv[3].upper() != b"WITHSCORES"):
        raise CommandError(SYNTAX)
    if with_scores and not -INT64_MAX // 2 <= count <= INT64_MAX // 2:
        raise CommandError(OUT_OF_RANGE)
    zset = zset_of(ctx.db.read(argv[1]))
    if zset is None or count == 0:
        return EMPTY
    rng = ctx.space.random
    if count > 0:
        members, scores = zset.random_distinct(rng, count)
    else:
        budget = Budget(ctx, -count)
        members, scores = zset.random_repeated(rng, 0)
        for portion in portions(-count):
            more_members, more_scores = zset.random_repeated(rng, portion)
            budget.spend(more_members)
            members += more_members
            scores += more_scores
    return scored((members, scores)) if with_scores else Bulks(members)


@sorted_sets.command(
    "zscan", "key cursor [MATCH pattern] [COUNT count]", "Walks over the members of a sorted set.", arity=-3,
    flags="readonly", keys=[one("RO ACCESS")], since="2.8.0",
    complexity="O(1) for every call. O(N) for a complete iteration, including enough command calls for the cursor to "
    "return back to 0. N is the number of elements inside the collection.",
    tips="nondeterministic_output",
)  # fmt: skip
def zscan(ctx: Context, argv: list[bytes]) -> Reply:
    """The next cursor, and some members with their scores. O(count). Redis: ZSCAN."""
    cursor = parse_cursor(argv[2])
    zset = zset_of(ctx.db.read(argv[1]))
    if zset is None:
        return scan_reply(0, [])
    options = parse_options(ctx, argv, 3, OF_ZSET)
    cursor, members = zset.scan(cursor, options.count)
    shortest = ctx.engine.encoder2.short_doubles
    flat: list[bytes] = []
    for member in options.matching(members):
        flat.append(member)
        flat.append(_scanned_score(zset, zset.scores[member], shortest))
    return scan_reply(cursor, flat)


def _scanned_score(zset: SortedSet, score: float, shortest: bool) -> bytes:
    """The compact encoding keeps whole numbers as integers; outside it, ZSCAN shows 17 digits in all versions."""
    if not zset.packed:
        return format_double(score, False)
    if -INTEGERS <= score <= INTEGERS and score == int(score):
        return b"%d" % int(score)
    return format_double(score, shortest)
