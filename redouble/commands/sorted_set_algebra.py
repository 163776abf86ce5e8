"""Union, intersection and difference of sorted sets, and of plain sets, whose members count as 1.

An `Input` is a dict from member to score, straight from the set, or to None from a plain set; and a
weight. The operations make a dict from member to score, which is then sorted for the reply or becomes
a set of its own. Union and intersection take the smaller inputs first. That saves work, and shows: sums
of doubles depend on their order.

An infinite score times zero, and infinity less infinity, count as zero, not NaN. In an intersection a
NaN product turns the whole sum so far to zero, in a union only itself: Redis does so.
"""

from array import array
from typing import Any, Final, final

from redouble.commands.sorted_sets import scored, store_members
from redouble.datatypes.setvalue import SetValue
from redouble.datatypes.sortedset import SortedSet
from redouble.engine.command import Family, counted, one
from redouble.engine.context import Context
from redouble.errors import SYNTAX, WRONGTYPE, CommandError
from redouble.protocol.numbers import double, integer, integer_from
from redouble.protocol.reply import Bulks, Reply

sorted_set_algebra: Final = Family("sorted-set")

SUM: Final = 0
MIN: Final = 1
MAX: Final = 2
_AGGREGATES: Final[dict[bytes, int]] = {b"SUM": SUM, b"MIN": MIN, b"MAX": MAX}

# Which options a command knows.
_WEIGHTS: Final = 1
_SCORES: Final = 2
_LIMIT: Final = 4

_OPTIONS = "[WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]"
_UNION = (
    "O(N)+O(M*log(M)) with N being the sum of the sizes of the input sorted sets, and M being the number of elements "
    "in the resulting sorted set."
)
_INTERSECTION = (
    "O(N*K)+O(M*log(M)) worst case with N being the smallest input sorted set, K being the number of input sorted "
    "sets and M being the number of elements in the resulting sorted set."
)
_DIFFERENCE = (
    "O(L + (N-K)log(N)) worst case where L is the total number of elements in all the sets, N is the size of the "
    "first set, and K is the size of the result set."
)


@final
class Input:
    """A set to combine with others."""

    __slots__ = ("members", "weight")

    def __init__(self, members: dict[bytes, Any]) -> None:
        #: Member to score, or to None where each counts as 1. Not to be changed.
        self.members: dict[bytes, Any] = members
        self.weight: float = 1.0

    def score(self, member: bytes) -> float:
        """The weighted score of a member that is here; NaN for an infinite score of no weight."""
        score = self.members[member]
        return self.weight if score is None else self.weight * float(score)


@final
class Request:
    """The inputs, and what to do with them."""

    __slots__ = ("inputs", "aggregate", "with_scores", "limit")

    def __init__(self, inputs: list[Input]) -> None:
        self.inputs: list[Input] = inputs
        self.aggregate: int = SUM
        self.with_scores: bool = False
        #: How many members to count at most, 0 for all.
        self.limit: int = 0

    def from_smallest(self) -> list[Input]:
        """The inputs, the smaller ones first; equal ones keep their order."""
        return sorted(self.inputs, key=_size)

    def parse(self, argv: list[bytes], at: int, known: int) -> None:
        """Read the options. O(arguments)."""
        end = len(argv)
        while at < end:
            word = argv[at].upper()
            if word == b"WEIGHTS" and known & _WEIGHTS and end - at > len(self.inputs):
                for given in self.inputs:
                    at += 1
                    given.weight = double(argv[at], b"ERR weight value is not a float")
            elif word == b"AGGREGATE" and known & _WEIGHTS and at + 1 < end:
                at += 1
                self.aggregate = _AGGREGATES.get(argv[at].upper(), -1)
                if self.aggregate < 0:
                    raise CommandError(SYNTAX)
            elif word == b"WITHSCORES" and known & _SCORES:
                self.with_scores = True
            elif word == b"LIMIT" and known & _LIMIT and at + 1 < end:
                at += 1
                self.limit = integer_from(0, argv[at], b"ERR LIMIT can't be negative")
            else:
                raise CommandError(SYNTAX)
            at += 1


def _size(given: Input) -> int:
    return len(given.members)


def _request(ctx: Context, argv: list[bytes], at: int, known: int) -> Request:
    """The inputs, whose number stands at `at`, and the options. The keys are looked up first, as in Redis."""
    count = integer(argv[at])
    if count < 1:
        raise CommandError(b"ERR at least 1 input key is needed for '" + argv[0].lower() + b"' command")
    end = at + 1 + count
    if end > len(argv):
        raise CommandError(SYNTAX)
    request = Request([_input(ctx, key) for key in argv[at + 1 : end]])
    request.parse(argv, end, known)
    return request


def _input(ctx: Context, key: bytes) -> Input:
    entry = ctx.db.read(key)
    if entry is None:
        return Input({})
    value = entry.value
    if isinstance(value, SortedSet):
        return Input(value.scores)
    if isinstance(value, SetValue):
        return Input(value.members)
    raise CommandError(WRONGTYPE)


# -- the operations ------------------------------------------------------------------------------


def _union(request: Request) -> dict[bytes, float]:
    result: dict[bytes, float] = {}
    for given in request.from_smallest():
        for member in given.members:
            score = given.score(member)
            if score != score:
                score = 0.0
            old = result.get(member)
            result[member] = score if old is None else _aggregate(old, score, request.aggregate)
    return result


def _intersection(request: Request) -> dict[bytes, float]:
    inputs = request.from_smallest()
    result: dict[bytes, float] = {}
    for member in _common(inputs):
        score = inputs[0].score(member)
        if score != score:
            score = 0.0
        for given in inputs[1:]:
            score = _aggregate(score, given.score(member), request.aggregate)
        result[member] = score
    return result


def _common(inputs: list[Input]) -> list[bytes]:
    """The members that are in every input, of which the first is the smallest."""
    members = list(inputs[0].members)
    for given in inputs[1:]:
        others = given.members
        members = [member for member in members if member in others]
    return members


def _difference(request: Request) -> dict[bytes, float]:
    first = request.inputs[0]
    members = list(first.members)
    for given in request.inputs[1:]:
        others = given.members
        members = [member for member in members if member not in others]
    return {member: first.score(member) for member in members}


def _aggregate(old: float, score: float, how: int) -> float:
    if how == SUM:
        total = old + score
        return total if total == total else 0.0
    if how == MIN:
        return score if score < old else old
    return score if score > old else old


def _reply(request: Request, result: dict[bytes, float]) -> Reply:
    pairs = sorted(zip(result.values(), result, strict=True))
    members = [pair[1] for pair in pairs]
    return scored((members, array("d", [pair[0] for pair in pairs]))) if request.with_scores else Bulks(members)


# -- the commands --------------------------------------------------------------------------------


@sorted_set_algebra.command(
    "zunion", f"numkeys key [key ...] {_OPTIONS} [WITHSCORES]", "Returns the union of sorted sets.", arity=-3,
    flags="readonly movablekeys any_type", keys=[counted("RO ACCESS")], since="6.2.0", complexity=_UNION,
)  # fmt: skip
def zunion(ctx: Context, argv: list[bytes]) -> Reply:
    """Members, or members with scores. Redis: ZUNION."""
    request = _request(ctx, argv, 1, _WEIGHTS | _SCORES)
    return _reply(request, _union(request))


@sorted_set_algebra.command(
    "zinter", f"numkeys key [key ...] {_OPTIONS} [WITHSCORES]", "Returns the intersection of sorted sets.", arity=-3,
    flags="readonly movablekeys any_type", keys=[counted("RO ACCESS")], since="6.2.0", complexity=_INTERSECTION,
)  # fmt: skip
def zinter(ctx: Context, argv: list[bytes]) -> Reply:
    """Members, or members with scores. Redis: ZINTER."""
    request = _request(ctx, argv, 1, _WEIGHTS | _SCORES)
    return _reply(request, _intersection(request))


@sorted_set_algebra.command(
    "zdiff", "numkeys key [key ...] [WITHSCORES]", "Returns what is in the first of several sorted sets only.",
    arity=-3, flags="readonly movablekeys any_type", keys=[counted("RO ACCESS")], since="6.2.0", complexity=_DIFFERENCE,
)  # fmt: skip
def zdiff(ctx: Context, argv: list[bytes]) -> Reply:
    """Members, or members with scores. Redis: ZDIFF."""
    request = _request(ctx, argv, 1, _SCORES)
    return _reply(request, _difference(request))


@sorted_set_algebra.command(
    "zintercard", "numkeys key [key ...] [LIMIT limit]", "Counts the members that several sorted sets share.",
    arity=-3, flags="readonly movablekeys any_type", keys=[counted("RO ACCESS")], since="7.0.0",
    complexity="O(N*K) worst case with N being the smallest input sorted set, K being the number of input sorted "
    "sets.",
)  # fmt: skip
def zintercard(ctx: Context, argv: list[bytes]) -> Reply:
    """How many there are, `limit` at most. Redis: ZINTERCARD."""
    request = _request(ctx, argv, 1, _LIMIT)
    count = len(_common(request.from_smallest()))
    return min(count, request.limit) if request.limit else count


@sorted_set_algebra.command(
    "zunionstore", f"destination numkeys key [key ...] {_OPTIONS}", "Stores the union of sorted sets in a key.",
    arity=-4, flags="write denyoom movablekeys any_type", keys=[one("OW UPDATE"), counted("RO ACCESS", 2)],
    since="2.0.0",
    complexity="O(N)+O(M log(M)) with N being the sum of the sizes of the input sorted sets, and M being the number "
    "of elements in the resulting sorted set.",
)  # fmt: skip
def zunionstore(ctx: Context, argv: list[bytes]) -> Reply:
    """How many members were stored. Redis: ZUNIONSTORE."""
    result = _union(_request(ctx, argv, 2, _WEIGHTS))
    return store_members(ctx, argv[1], result, b"zunionstore")


@sorted_set_algebra.command(
    "zinterstore", f"destination numkeys key [key ...] {_OPTIONS}",
    "Stores the intersection of sorted sets in a key.", arity=-4, flags="write denyoom movablekeys any_type",
    keys=[one("OW UPDATE"), counted("RO ACCESS", 2)], since="2.0.0", complexity=_INTERSECTION,
)  # fmt: skip
def zinterstore(ctx: Context, argv: list[bytes]) -> Reply:
    """How many members were stored. Redis: ZINTERSTORE."""
    result = _intersection(_request(ctx, argv, 2, _WEIGHTS))
    return store_members(ctx, argv[1], result, b"zinterstore")


@sorted_set_algebra.command(
    "zdiffstore", "destination numkeys key [key ...]",
    "Stores what is in the first of several sorted sets only in a key.", arity=-4,
    flags="write denyoom movablekeys any_type", keys=[one("OW UPDATE"), counted("RO ACCESS", 2)], since="6.2.0",
    complexity=_DIFFERENCE,
)  # fmt: skip
def zdiffstore(ctx: Context, argv: list[bytes]) -> Reply:
    """How many members were stored. Redis: ZDIFFSTORE."""
    result = _difference(_request(ctx, argv, 2, 0))
    return store_members(ctx, argv[1], result, b"zdiffstore")
