"""SORT and SORT_RO: the elements of a list, set or sorted set in another order, or with other values.

Each element may be replaced, as the thing to sort by (BY) or to answer (GET), by what a pattern leads to:
a `*` in the pattern stands for the element, the result names a key, or with `->` a field of a hash.

Sorting is by one key of Python's own sort: numbers are ordered by (number, element), so that the result
never depends on the order before; texts by their bytes, elements without a text first. A BY pattern
without `*` means: leave the order as it is. A set has none, so where the result is kept (STORE) or must
be the same everywhere (scripts), it is sorted by bytes instead.

Simplified: texts are compared byte by byte, as a server in the C locale does.
"""

from __future__ import annotations

import math
from typing import Final, final

from redouble.datatypes.listvalue import ListValue
from redouble.datatypes.setvalue import SetValue
from redouble.datatypes.sortedset import SortedSet
from redouble.doubles import parse_double
from redouble.engine import flags as f
from redouble.engine.command import Family, one, unknown
from redouble.engine.context import Context
from redouble.errors import SYNTAX, WRONGTYPE, CommandError
from redouble.keyspace import events
from redouble.keyspace.database import Database
from redouble.keyspace.typed import hash_of
from redouble.protocol.keyslot import key_slot, pattern_slot
from redouble.protocol.numbers import integer
from redouble.protocol.reply import Bulks, Reply

sorting: Final = Family("generic")

_COST: Final = (
    "O(N+M*log(M)) where N is the number of elements in the list or set to sort, and M the number of returned "
    "elements. When the elements are not sorted, complexity is O(N)."
)
_BAD_SCORE: Final = b"ERR One or more scores can't be converted into double"
#: Arguments of options, for who looks for STORE without reading the options in full.
_SKIPPED: Final[dict[bytes, int]] = {b"LIMIT": 2, b"GET": 1, b"BY": 1}


@final
class Pattern:
    """A BY or GET pattern, cut at its `*` and its `->`."""

    __slots__ = ("itself", "fixed", "before", "behind", "field")

    def __init__(self, text: bytes) -> None:
        #: `#`, the element itself.
        self.itself: bool = text == b"#"
        # A NUL byte ends the search for the star, but not the name.
        star = text.partition(b"\0")[0].find(b"*")
        self.fixed: bool = star < 0
        self.before: bytes = text[:star]
        self.behind: bytes = text[star + 1 :]
        self.field: bytes = b""
        arrow = self.behind.find(b"->")
        if arrow >= 0 and arrow + 2 < len(self.behind):
            self.field = self.behind[arrow + 2 :]
            self.behind = self.behind[:arrow]

    def resolve(self, db: Database, element: bytes) -> bytes | None:
        """What the pattern leads to for an element; None where there is nothing, or no string. O(1)."""
        if self.itself:
            return element
        if self.fixed:
            return None
        key = self.before + element + self.behind
        entry = db.read(key)
        if entry is None:
            return None
        value = entry.value
        if self.field:
            try:
                fields = hash_of(db, key, entry)
            except CommandError:
                return None
            return None if fields is None else fields.fields.get(self.field)
        if isinstance(value, bytes):
            return value
        return bytes(value) if isinstance(value, bytearray) else None


@final
class SortOptions:
    """The options of a SORT."""

    __slots__ = ("by", "as_it_is", "descending", "alpha", "start", "count", "patterns", "target")

    def __init__(self) -> None:
        self.by: Pattern | None = None
        #: Some BY had no star; a later one with a star does not change that.
        self.as_it_is: bool = False
        self.descending: bool = False
        self.alpha: bool = False
        self.start: int = 0
        #: Negative: all.
        self.count: int = -1
        self.patterns: list[Pattern] = []
        self.target: bytes | None = None


def find_sort_keys(argv: list[bytes]) -> list[int]:
    """The positions of the key to sort and of the last STORE's destination."""
    target = 0
    at = 2
    while at < len(argv):
        word = argv[at].upper()
        if word == b"STORE" and at + 1 < len(argv):
            target = at + 1
        at += 1 + _SKIPPED.get(word, 0)
    return [1, target] if target else [1]


def find_only_key(argv: list[bytes]) -> list[int]:
    """The position of the key to sort."""
    return [1]


@sorting.command(
    "sort", "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA] "
    "[STORE destination]", "Sorts the elements of a list, set or sorted set.", arity=-2,
    flags="write denyoom movablekeys", keys=[one("RO ACCESS"), unknown("RO ACCESS"), unknown("OW UPDATE")],
    complexity=_COST, categories="set sortedset list dangerous -keyspace", key_finder=find_sort_keys,
)  # fmt: skip
def sort(ctx: Context, argv: list[bytes]) -> Reply:
    """The elements, or with STORE how many they are. O(n log n). Redis: SORT."""
    options = _options(ctx, argv, True)
    elements = _chosen(ctx, argv[1], options)
    if options.target is None:
        return _reply(ctx.db, elements, options.patterns)
    if options.patterns:
        elements = [found or b"" for found in _looked_up(ctx.db, elements, options.patterns)]
    return _store(ctx.db, options.target, elements)


@sorting.command(
    "sort_ro", "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA]",
    "Sorts the elements of a list, set or sorted set; writes nothing.", arity=-2, flags="readonly movablekeys",
    keys=[one("RO ACCESS"), unknown("RO ACCESS")], since="7.0.0", complexity=_COST,
    categories="set sortedset list dangerous -keyspace", key_finder=find_only_key,
)  # fmt: skip
def sort_ro(ctx: Context, argv: list[bytes]) -> Reply:
    """The elements. O(n log n). Redis: SORT_RO."""
    options = _options(ctx, argv, False)
    return _reply(ctx.db, _chosen(ctx, argv[1], options), options.patterns)


def _options(ctx: Context, argv: list[bytes], may_store: bool) -> SortOptions:
    options = SortOptions()
    at = 2
    while at < len(argv):
        word = argv[at].upper()
        rest = len(argv) - at - 1
        if word == b"ASC":
            options.descending = False
        elif word == b"DESC":
            options.descending = True
        elif word == b"ALPHA":
            options.alpha = True
        elif word == b"LIMIT" and rest >= 2:
            options.start = max(integer(argv[at + 1]), 0)
            options.count = integer(argv[at + 2])
            at += 2
        elif word == b"STORE" and may_store and rest >= 1:
            at += 1
            options.target = argv[at]
        elif word == b"BY" and rest >= 1:
            at += 1
            options.by = Pattern(argv[at])
            if options.by.fixed:
                options.as_it_is = True
            else:
                _check_slot(ctx, argv[1], argv[at], b"BY")
                _check_access(ctx, argv, b"BY")
        elif word == b"GET" and rest >= 1:
            at += 1
            options.patterns.append(Pattern(argv[at]))
            _check_slot(ctx, argv[1], argv[at], b"GET")
            _check_access(ctx, argv, b"GET")
        else:
            raise CommandError(SYNTAX)
        at += 1
    return options


def _check_slot(ctx: Context, key: bytes, pattern: bytes, option: bytes) -> None:
    """In a cluster a pattern may lead only to keys in the slot of the key that is sorted."""
    if ctx.engine.node is not None and pattern_slot(pattern) != key_slot(key):
        raise CommandError(
            b"ERR " + option + b" option of SORT denied in Cluster mode when "
            b"keys formed by the pattern may be in different slots."
        )


def _check_access(ctx: Context, argv: list[bytes], option: bytes) -> None:
    """Patterns lead to any key, so whoever uses them must be allowed to read all keys."""
    user = ctx.client.user
    if not user.unrestricted and not user.may_read_all_keys(ctx.engine.table.find(argv), argv):
        raise CommandError(b"ERR " + option + b" option of SORT denied due to insufficient ACL permissions.")


def _reply(db: Database, elements: list[bytes], patterns: list[Pattern]) -> Reply:
    return _looked_up(db, elements, patterns) if patterns else Bulks(elements)


def _looked_up(db: Database, elements: list[bytes], patterns: list[Pattern]) -> list[bytes | None]:
    """What the GET patterns lead to, for each element in turn."""
    return [pattern.resolve(db, element) for element in elements for pattern in patterns]


def _chosen(ctx: Context, key: bytes, options: SortOptions) -> list[bytes]:
    """The elements in order, those within LIMIT."""
    db = ctx.db
    entry = db.read(key)
    value = None if entry is None else entry.value
    by = options.by
    if isinstance(value, SetValue):
        elements = value.listing()
        if options.as_it_is and (options.target is not None or ctx.flags & f.IN_SCRIPT):
            options.as_it_is = False
            options.alpha = True
            by = None
    elif isinstance(value, ListValue):
        elements = value.items()
    elif isinstance(value, SortedSet):
        elements = value.items()[0]
        # Redis sorts from the larger encoding, and leaves the set in it.
        value.packed = False
    elif value is None:
        elements = []
    else:
        raise CommandError(WRONGTYPE)
    if options.as_it_is:
        if options.descending and not isinstance(value, SetValue):
            elements.reverse()
    else:
        elements = _in_order(db, elements, by, options)
    end = len(elements) if options.count < 0 else options.start + options.count
    return elements[options.start : end]


def _in_order(db: Database, elements: list[bytes], by: Pattern | None, options: SortOptions) -> list[bytes]:
    if options.alpha and by is None:
        return sorted(elements, reverse=options.descending)
    weights = elements if by is None else [by.resolve(db, element) for element in elements]
    if options.alpha:
        texts = [(weight is not None, weight or b"") for weight in weights]
        places = sorted(range(len(elements)), key=texts.__getitem__, reverse=options.descending)
        return [elements[place] for place in places]
    pairs = [(0.0 if weight is None else _number(weight), elements[at]) for at, weight in enumerate(weights)]
    pairs.sort(reverse=options.descending)
    return [element for _, element in pairs]


def _number(text: bytes) -> float:
    """The number that C's strtod reads at the start of a text, if it ends the text."""
    text = text.partition(b"\0")[0]
    if not text:
        return 0.0
    number = parse_double(text.lstrip(b" \t\n\v\f\r"))
    if number is None or (math.isinf(number) and b"n" not in text.lower()):
        raise CommandError(_BAD_SCORE)
    return number


def _store(db: Database, target: bytes, results: list[bytes]) -> int:
    count = len(results)
    old = db.find(target)
    if count:
        db.store(target, ListValue(db.space.limits, results))
        db.touch(target, events.LIST, b"sortstore", count)
    elif old is not None:
        db.remove(target)
        db.touch(target, events.GENERIC, b"del")
    return count
