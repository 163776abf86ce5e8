"""Ranges of a sorted set, by score and by member, and how a client writes them.

A range of scores has two ends, each open or closed: `1.5`, `(1.5`, `-inf`. A range of members ("lex")
has `[a` (closed), `(a` (open), `-` (before all) and `+` (after all).

Members are bytes in plain order, so the next member after `m` is `m + b"\\0"`, and every end of a lex
range is a cut before some member: `[a` at the start and `(a` at the stop cut before `a`; `(a` at the
start and `[a` at the stop cut before `a\\0`; `-` cuts before the empty member; only `+` needs a flag.
`Cut` is that place. A range whose start is not before its stop is empty, with no further rule.
"""

from math import inf, nextafter
from typing import final

from redouble.doubles import parse_bound


@final
class ScoreRange:
    """The scores from `min` to `max`; an `exclusive` end is not part of it."""

    __slots__ = ("min", "min_exclusive", "max", "max_exclusive")

    def __init__(self, min: float, min_exclusive: bool, max: float, max_exclusive: bool) -> None:
        self.min: float = min
        self.min_exclusive: bool = min_exclusive
        self.max: float = max
        self.max_exclusive: bool = max_exclusive

    def holds(self, score: float) -> bool:
        """Whether the score lies within."""
        if score < self.min or (self.min_exclusive and score == self.min):
            return False
        return score < self.max or (score == self.max and not self.max_exclusive)


@final
class Cut:
    """The place just before `member`, or after all members (`last`)."""

    __slots__ = ("member", "last")

    def __init__(self, member: bytes, last: bool = False) -> None:
        self.member: bytes = member
        self.last: bool = last

    def precedes(self, member: bytes) -> bool:
        """Whether the member lies after this place."""
        return not self.last and self.member <= member


@final
class LexRange:
    """The members between two cuts."""

    __slots__ = ("start", "stop")

    def __init__(self, start: Cut, stop: Cut) -> None:
        self.start: Cut = start
        self.stop: Cut = stop

    def is_empty(self) -> bool:
        """Whether no member at all can lie within."""
        if self.start.last:
            return True
        return not self.stop.last and self.stop.member <= self.start.member


def after(score: float) -> float:
    """The least score greater than this one, which must not be infinity."""
    return nextafter(score, inf)


def parse_score_bound(text: bytes) -> tuple[float, bool] | None:
    """A score and whether it is exclusive; None if it is no float (see `doubles`)."""
    exclusive = text.startswith(b"(")
    score = parse_bound(text[1:] if exclusive else text)
    return None if score is None else (score, exclusive)


def parse_score_range(min: bytes, max: bytes) -> ScoreRange | None:
    """The range between two bounds; None stands for "min or max is not a float"."""
    lower = parse_score_bound(min)
    upper = parse_score_bound(max)
    if lower is None or upper is None:
        return None
    return ScoreRange(lower[0], lower[1], upper[0], upper[1])


def parse_lex_bound(text: bytes, is_max: bool) -> Cut | None:
    """The cut that a bound means at the one or the other end; None if it is malformed.

    As in Redis, what follows `-` or `+` is ignored if it begins with a NUL.
    """
    kind = text[:1]
    if kind == b"[" or kind == b"(":
        closed = kind == b"["
        return Cut(text[1:] + b"\0" if closed == is_max else text[1:])
    if text[1:2] not in (b"", b"\0"):
        return None
    if kind == b"-":
        return Cut(b"")
    return Cut(b"", True) if kind == b"+" else None


def parse_lex_range(min: bytes, max: bytes) -> LexRange | None:
    """The range between two bounds; None stands for "min or max not valid string range item"."""
    start = parse_lex_bound(min, False)
    stop = parse_lex_bound(max, True)
    return None if start is None or stop is None else LexRange(start, stop)
