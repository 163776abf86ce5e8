"""LPUSH, RPOP, LRANGE and what else works on lists, but for the commands that wait (`list_blocking.py`)."""

from typing import Final

from redouble.datatypes.listvalue import ListValue
from redouble.engine.command import Family, counted, one
from redouble.engine.context import Context
from redouble.errors import INDEX_OUT_OF_RANGE, MUST_BE_POSITIVE, NO_SUCH_KEY, SYNTAX, CommandError, wrong_arity
from redouble.keyspace import events
from redouble.keyspace.typed import list_of
from redouble.protocol.numbers import INT64_MIN, integer, integer_from, negatable_integer
from redouble.protocol.reply import EMPTY, NULL_ARRAY, OK, Bulks, Reply

lists: Final = Family("list")

_EACH = "O(1) for each element added, so O(N) to add N elements when the command is called with multiple arguments."
_TAKEN = "O(N) where N is the number of elements returned"
_ZERO_RANK: Final = (
    b"ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... "
    b"or use negative to start from the end of the list"
)

#: Since when the integer that has no positive counterpart is refused, as LPOS' RANK and as LREM's count.
_RANK_NEGATABLE_SINCE: Final = 70200
_COUNT_NEGATABLE_SINCE: Final = 70400


def _negatable(ctx: Context, text: bytes, since: int) -> int:
    return negatable_integer(text) if ctx.engine.version >= since else integer(text)


# -- pushing and popping -------------------------------------------------------------------------


@lists.command(
    "lpush", "key element [element ...]", "Puts elements before the first one of a list.", arity=-3,
    flags="write denyoom fast", keys=[one("RW INSERT")], complexity=_EACH,
)  # fmt: skip
def lpush(ctx: Context, argv: list[bytes]) -> Reply:
    """The list's new length. O(elements). Redis: LPUSH."""
    return _push(ctx, argv, True, True)


@lists.command(
    "rpush", "key element [element ...]", "Puts elements behind the last one of a list.", arity=-3,
    flags="write denyoom fast", keys=[one("RW INSERT")], complexity=_EACH,
)  # fmt: skip
def rpush(ctx: Context, argv: list[bytes]) -> Reply:
    """The list's new length. O(elements). Redis: RPUSH."""
    return _push(ctx, argv, False, True)


@lists.command(
    "lpushx", "key element [element ...]", "Puts elements before the first one of a list that exists.", arity=-3,
    flags="write denyoom fast", keys=[one("RW INSERT")], since="2.2.0", complexity=_EACH,
)  # fmt: skip
def lpushx(ctx: Context, argv: list[bytes]) -> Reply:
    """The list's new length, or 0. O(elements). Redis: LPUSHX."""
    return _push(ctx, argv, True, False)


@lists.command(
    "rpushx", "key element [element ...]", "Puts elements behind the last one of a list that exists.", arity=-3,
    flags="write denyoom fast", keys=[one("RW INSERT")], since="2.2.0", complexity=_EACH,
)  # fmt: skip
def rpushx(ctx: Context, argv: list[bytes]) -> Reply:
    """The list's new length, or 0. O(elements). Redis: RPUSHX."""
    return _push(ctx, argv, False, False)


def _push(ctx: Context, argv: list[bytes], left: bool, create: bool) -> Reply:
    key = argv[1]
    db = ctx.db
    value = list_of(db.find(key))
    if value is None:
        if not create:
            return 0
        value = ListValue(ctx.space.limits)
        db.add(key, value)
    if left:
        if len(argv) == 3:
            value.push_left(argv[2])
        else:
            value.extend_left(argv[2:])
        db.touch(key, events.LIST, b"lpush", len(argv) - 2)
    else:
        if len(argv) == 3:
            value.push_right(argv[2])
        else:
            value.extend_right(argv[2:])
        db.touch(key, events.LIST, b"rpush", len(argv) - 2)
    return len(value)


@lists.command(
    "lpop", "key [count]", "Takes the first elements of a list.", arity=-2, flags="write fast",
    keys=[one("RW ACCESS DELETE")], complexity=_TAKEN,
)  # fmt: skip
def lpop(ctx: Context, argv: list[bytes]) -> Reply:
    """The first element, or a list of the first `count`. O(count). Redis: LPOP."""
    return _pop(ctx, argv, True)


@lists.command(
    "rpop", "key [count]", "Takes the last elements of a list.", arity=-2, flags="write fast",
    keys=[one("RW ACCESS DELETE")], complexity=_TAKEN,
)  # fmt: skip
def rpop(ctx: Context, argv: list[bytes]) -> Reply:
    """The last element, or a list of the last `count`, last first. O(count). Redis: RPOP."""
    return _pop(ctx, argv, False)


def _pop(ctx: Context, argv: list[bytes], left: bool) -> Reply:
    key = argv[1]
    if len(argv) > 2:
        return _pop_many(ctx, argv, left)
    value = list_of(ctx.db.find(key))
    if value is None:
        return None
    return pop_one(ctx, key, value, left)


def _pop_many(ctx: Context, argv: list[bytes], left: bool) -> Reply:
    if len(argv) > 3:
        raise wrong_arity(b"lpop" if left else b"rpop")
    count = integer_from(0, argv[2], MUST_BE_POSITIVE)
    value = list_of(ctx.db.find(argv[1]))
    if value is None:
        return NULL_ARRAY
    if count == 0:
        return EMPTY
    return Bulks(pop_many(ctx, argv[1], value, left, count))


def pop_one(ctx: Context, key: bytes, value: ListValue, left: bool) -> bytes:
    """Take an end's element out of the list at `key`, and say so. O(1)."""
    element = value.pop_left() if left else value.pop_right()
    popped(ctx, key, value, left, 1)
    return element


def pop_many(ctx: Context, key: bytes, value: ListValue, left: bool, count: int) -> list[bytes]:
    """Take up to `count` elements from an end of the list at `key`, and say so. O(count)."""
    elements = value.pop_many_left(count) if left else value.pop_many_right(count)
    popped(ctx, key, value, left, len(elements))
    return elements


def popped(ctx: Context, key: bytes, value: ListValue, left: bool, changes: int) -> None:
    """Announce that elements have been popped, which counts as so many changes."""
    ctx.db.taken(key, events.LIST, b"lpop" if left else b"rpop", changes, len(value))


@lists.command(
    "lmpop", "numkeys key [key ...] <LEFT | RIGHT> [COUNT count]",
    "Takes elements from the first of several lists that has any.", arity=-4, flags="write movablekeys",
    keys=[counted("RW ACCESS DELETE")], since="7.0.0",
    complexity="O(N+M) where N is the number of provided keys and M is the number of elements returned.",
)  # fmt: skip
def lmpop(ctx: Context, argv: list[bytes]) -> Reply:
    """The key and what was taken there, or a null array. O(keys + count). Redis: LMPOP."""
    keys, left, count = mpop_arguments(argv, 1)
    for key in keys:
        value = list_of(ctx.db.find(key))
        if value is not None:
            return [key, Bulks(pop_many(ctx, key, value, left, count))]
    return NULL_ARRAY


def mpop_arguments(argv: list[bytes], at: int) -> tuple[list[bytes], bool, int]:
    """The keys, the end, and the count of LMPOP and BLMPOP, whose number of keys stands at `at`."""
    numkeys = integer_from(1, argv[at], b"ERR numkeys should be greater than 0")
    end = at + 1 + numkeys
    if end >= len(argv):
        raise CommandError(SYNTAX)
    left = is_left(argv[end])
    count = 1
    if len(argv) > end + 1:
        if argv[end + 1].upper() != b"COUNT" or len(argv) == end + 2:
            raise CommandError(SYNTAX)
        count = integer_from(1, argv[end + 2], b"ERR count should be greater than 0")
        if len(argv) > end + 3:
            raise CommandError(SYNTAX)
    return argv[at + 1 : end], left, count


def is_left(word: bytes) -> bool:
    """Whether `word` is LEFT, not RIGHT; anything else is a syntax error."""
    word = word.upper()
    if word == b"LEFT":
        return True
    if word != b"RIGHT":
        raise CommandError(SYNTAX)
    return False


# -- moving --------------------------------------------------------------------------------------


@lists.command(
    "lmove", "source destination <LEFT | RIGHT> <LEFT | RIGHT>", "Moves an element from a list's end to another's.",
    arity=5, flags="write denyoom", keys=[one("RW ACCESS DELETE"), one("RW INSERT", 2)], since="6.2.0",
)  # fmt: skip
def lmove(ctx: Context, argv: list[bytes]) -> Reply:
    """The element, or null. O(1). Redis: LMOVE."""
    from_left = is_left(argv[3])
    to_left = is_left(argv[4])
    return move(ctx, argv[1], argv[2], from_left, to_left)


@lists.command(
    "rpoplpush", "source destination", "Moves a list's last element to the front of another.", arity=3,
    flags="write denyoom", keys=[one("RW ACCESS DELETE"), one("RW INSERT", 2)], since="1.2.0",
    deprecated="6.2.0", replaced_by="`LMOVE` with the `RIGHT` and `LEFT` arguments",
)  # fmt: skip
def rpoplpush(ctx: Context, argv: list[bytes]) -> Reply:
    """The element, or null. O(1). Redis: RPOPLPUSH."""
    return move(ctx, argv[1], argv[2], False, True)


def move(ctx: Context, source: bytes, destination: bytes, from_left: bool, to_left: bool) -> Reply:
    """Move an element between two lists, which may be one; null if there is none. O(1)."""
    db = ctx.db
    value = list_of(db.find(source))
    if value is None:
        return None
    target = list_of(db.find(destination))
    if target is value:
        element = value.rotate(from_left, to_left)
    else:
        element = value.pop_left() if from_left else value.pop_right()
        if target is None:
            target = ListValue(ctx.space.limits)
            db.add(destination, target)
        if to_left:
            target.push_left(element)
        else:
            target.push_right(element)
    db.touch(destination, events.LIST, b"lpush" if to_left else b"rpush")
    popped(ctx, source, value, from_left, 0)
    return element


# -- reading -------------------------------------------------------------------------------------


@lists.command("llen", "key", "Counts the elements of a list.", arity=2, flags="readonly fast", keys=[one("RO")])
def llen(ctx: Context, argv: list[bytes]) -> Reply:
    """The length, 0 where there is no list. O(1). Redis: LLEN."""
    value = list_of(ctx.db.read(argv[1]))
    return 0 if value is None else len(value)


@lists.command(
    "lrange", "key start stop", "Returns a part of a list.", arity=4, flags="readonly", keys=[one("RO ACCESS")],
    complexity="O(S+N) where S is the distance of start offset from HEAD for small lists, from nearest end (HEAD or "
    "TAIL) for large lists; and N is the number of elements in the specified range.",
)  # fmt: skip
def lrange(ctx: Context, argv: list[bytes]) -> Reply:
    """The elements from `start` to `stop`, both included. O(elements returned). Redis: LRANGE."""
    start = integer(argv[2])
    stop = integer(argv[3])
    value = list_of(ctx.db.read(argv[1]))
    if value is None:
        return EMPTY
    size = len(value)
    if start < 0:
        start = max(start + size, 0)
    if stop < 0:
        stop += size
    if start > stop or start >= size:
        return EMPTY
    return Bulks(value.slice(start, min(stop + 1, size)))


@lists.command(
    "lindex", "key index", "Returns the element at a position of a list.", arity=3, flags="readonly",
    keys=[one("RO ACCESS")],
    complexity="O(N) where N is the number of elements to traverse to get to the element at index. This makes asking "
    "for the first or the last element of the list O(1).",
)  # fmt: skip
def lindex(ctx: Context, argv: list[bytes]) -> Reply:
    """The element, or null. O(1). Redis: LINDEX."""
    value = list_of(ctx.db.read(argv[1]))
    return None if value is None else value.get(integer(argv[2]))


@lists.command(
    "lpos", "key element [RANK rank] [COUNT num-matches] [MAXLEN len]", "Finds the positions of an element in a list.",
    arity=-3, flags="readonly", keys=[one("RO ACCESS")], since="6.0.6",
    complexity="O(N) where N is the number of elements in the list, for the average case. When searching for elements "
    "near the head or the tail of the list, or when the MAXLEN option is provided, the command may run in constant "
    "time.",
)  # fmt: skip
def lpos(ctx: Context, argv: list[bytes]) -> Reply:
    """The position of a match, or with COUNT a list of them. O(n). Redis: LPOS."""
    rank, count, within = _lpos_options(ctx, argv)
    value = list_of(ctx.db.read(argv[1]))
    if value is None:
        return None if count < 0 else EMPTY
    size = len(value)
    skipped = abs(rank) - 1
    wanted = size if count == 0 else abs(count)
    found = value.positions(argv[2], rank < 0, skipped + wanted, within if within else size)[skipped:]
    if count < 0:
        return found[0] if found else None
    return found


def _lpos_options(ctx: Context, argv: list[bytes]) -> tuple[int, int, int]:
    """The rank, the count (-1: not given), and the length to search (0: all)."""
    rank = 1
    count = -1
    within = 0
    for at in range(3, len(argv), 2):
        word = argv[at].upper()
        if at + 1 == len(argv):
            raise CommandError(SYNTAX)
        if word == b"RANK":
            rank = _negatable(ctx, argv[at + 1], _RANK_NEGATABLE_SINCE)
            if rank == 0:
                raise CommandError(_ZERO_RANK)
        elif word == b"COUNT":
            count = integer_from(0, argv[at + 1], b"ERR COUNT can't be negative")
        elif word == b"MAXLEN":
            within = integer_from(0, argv[at + 1], b"ERR MAXLEN can't be negative")
        else:
            raise CommandError(SYNTAX)
    if rank == INT64_MIN:
        # Early servers negate it in vain: it stays less than any number of matches, whatever COUNT says.
        return -1, min(count, 0), within
    return rank, count, within


# -- changing ------------------------------------------------------------------------------------


@lists.command(
    "lset", "key index element", "Replaces the element at a position of a list.", arity=4, flags="write denyoom",
    keys=[one("RW UPDATE")],
    complexity="O(N) where N is the length of the list. Setting either the first or the last element of the list is "
    "O(1).",
)  # fmt: skip
def lset(ctx: Context, argv: list[bytes]) -> Reply:
    """OK, or an error where there is no such element. O(1). Redis: LSET."""
    value = list_of(ctx.db.find(argv[1]))
    if value is None:
        raise CommandError(NO_SUCH_KEY)
    if not value.set(integer(argv[2]), argv[3]):
        raise CommandError(INDEX_OUT_OF_RANGE)
    ctx.db.touch(argv[1], events.LIST, b"lset")
    return OK


@lists.command(
    "linsert", "key <BEFORE | AFTER> pivot element", "Puts an element before or behind another one of a list.",
    arity=5, flags="write denyoom", keys=[one("RW INSERT")], since="2.2.0",
    complexity="O(N) where N is the number of elements to traverse before seeing the value pivot. This means that "
    "inserting somewhere on the left end on the list (head) can be considered O(1) and inserting somewhere on the "
    "right end (tail) is O(N).",
)  # fmt: skip
def linsert(ctx: Context, argv: list[bytes]) -> Reply:
    """The new length, 0 where there is no list, -1 where there is no pivot. O(n). Redis: LINSERT."""
    where = argv[2].upper()
    if where != b"AFTER" and where != b"BEFORE":
        raise CommandError(SYNTAX)
    value = list_of(ctx.db.find(argv[1]))
    if value is None:
        return 0
    if not value.insert(argv[3], argv[4], where == b"AFTER"):
        return -1
    ctx.db.touch(argv[1], events.LIST, b"linsert")
    return len(value)


@lists.command(
    "lrem", "key count element", "Removes elements of one value from a list.", arity=4, flags="write",
    keys=[one("RW DELETE")],
    complexity="O(N+M) where N is the length of the list and M is the number of elements removed.",
)  # fmt: skip
def lrem(ctx: Context, argv: list[bytes]) -> Reply:
    """How many were removed. O(n). Redis: LREM."""
    key = argv[1]
    count = _negatable(ctx, argv[2], _COUNT_NEGATABLE_SINCE)
    value = list_of(ctx.db.find(key))
    if value is None:
        return 0
    removed = value.remove(argv[3], count)
    if removed:
        ctx.db.touch(key, events.LIST, b"lrem", removed)
        ctx.db.remove_if_empty(key, len(value))
    return removed


@lists.command(
    "ltrim", "key start stop", "Removes elements from both ends of a list.", arity=4, flags="write",
    keys=[one("RW DELETE")], complexity="O(N) where N is the number of elements to be removed by the operation.",
)  # fmt: skip
def ltrim(ctx: Context, argv: list[bytes]) -> Reply:
    """Keep the elements from `start` to `stop`, both included. O(elements removed). Redis: LTRIM."""
    key = argv[1]
    start = integer(argv[2])
    stop = integer(argv[3])
    value = list_of(ctx.db.find(key))
    if value is None:
        return OK
    size = len(value)
    if start < 0:
        start = max(start + size, 0)
    if stop < 0:
        stop += size
    value.trim(min(start, size), min(max(stop + 1, 0), size))
    ctx.db.taken(key, events.LIST, b"ltrim", size - len(value), len(value))
    return OK
