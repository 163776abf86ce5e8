"""SADD, SREM and what else works on the members of one set; set algebra is in `set_algebra.py`."""

from typing import Final

from redouble.commands.scanning import OF_SET, parse_cursor, parse_options, scan_reply
from redouble.datatypes.setvalue import SetValue
from redouble.engine.command import Family, one
from redouble.engine.context import Context
from redouble.engine.output_limit import Budget, portions
from redouble.errors import MUST_BE_POSITIVE, SYNTAX, CommandError
from redouble.keyspace import events
from redouble.keyspace.typed import set_of
from redouble.protocol.numbers import integer_from, negatable_integer
from redouble.protocol.reply import EMPTY, Bulks, Reply, SetReply

sets: Final = Family("set")

NO_MEMBERS: Final = SetReply([])
#: When SPOP takes so many times more than it leaves, Redis builds the set anew from what it leaves.
_MANY_TAKEN: Final = 5


@sets.command(
    "sadd", "key member [member ...]", "Adds members to a set.", arity=-3, flags="write denyoom fast",
    keys=[one("RW INSERT")],
    complexity="O(1) for each element added, so O(N) to add N elements when the command is called with multiple "
    "arguments.",
)  # fmt: skip
def sadd(ctx: Context, argv: list[bytes]) -> Reply:
    """How many are new. O(members). Redis: SADD."""
    key = argv[1]
    db = ctx.db
    count = len(argv)
    value = set_of(db.find(key))
    if value is None:
        value = SetValue(ctx.space.limits)
        value.expect(argv[2], count - 2)
        db.add(key, value)
    elif count > 3:
        value.expect_more(count - 2)
    if count == 3:
        added = 1 if value.add(argv[2]) else 0
    else:
        added = 0
        for at in range(2, count):
            if value.add(argv[at]):
                added += 1
    if added:
        db.touch(key, events.SET, b"sadd", added)
    return added


@sets.command(
    "srem", "key member [member ...]", "Removes members from a set.", arity=-3, flags="write fast",
    keys=[one("RW DELETE")], complexity="O(N) where N is the number of members to be removed.",
)  # fmt: skip
def srem(ctx: Context, argv: list[bytes]) -> Reply:
    """How many there were. O(members). Redis: SREM."""
    key = argv[1]
    db = ctx.db
    value = set_of(db.find(key))
    if value is None:
        return 0
    removed = 0
    for at in range(2, len(argv)):
        if value.discard(argv[at]):
            removed += 1
    if removed:
        db.touch(key, events.SET, b"srem", removed)
        db.remove_if_empty(key, len(value))
    return removed


@sets.command(
    "smove", "source destination member", "Moves a member from one set to another.", arity=4, flags="write fast",
    keys=[one("RW ACCESS DELETE"), one("RW INSERT", 2)],
)  # fmt: skip
def smove(ctx: Context, argv: list[bytes]) -> Reply:
    """1 if it was in the source, else 0. O(1). Redis: SMOVE."""
    source, destination, member = argv[1], argv[2], argv[3]
    db = ctx.db
    origin = db.find(source)
    target_entry = db.find(destination)
    if origin is None:
        return 0
    value = set_of(origin)
    target = set_of(target_entry)
    if value is None or member not in value.members:
        return 0
    if source == destination:
        return 1
    value.discard(member)
    db.taken(source, events.SET, b"srem", 1, len(value))
    if target is None:
        target = SetValue(ctx.space.limits)
        target.expect(member, 1)
        db.add(destination, target)
    if target.add(member):
        db.touch(destination, events.SET, b"sadd")
    return 1


@sets.command("scard", "key", "Counts the members of a set.", arity=2, flags="readonly fast", keys=[one("RO")])
def scard(ctx: Context, argv: list[bytes]) -> Reply:
    """The number of members, 0 where there is no set. O(1). Redis: SCARD."""
    value = set_of(ctx.db.read(argv[1]))
    return 0 if value is None else len(value)


@sets.command(
    "sismember", "key member", "Tells whether a set has a member.", arity=3, flags="readonly fast", keys=[one("RO")]
)
def sismember(ctx: Context, argv: list[bytes]) -> Reply:
    """1 or 0. O(1). Redis: SISMEMBER."""
    value = set_of(ctx.db.read(argv[1]))
    return 1 if value is not None and argv[2] in value.members else 0


@sets.command(
    "smismember", "key member [member ...]", "Tells which of several members a set has.", arity=-3,
    flags="readonly fast", keys=[one("RO ACCESS")], since="6.2.0",
    complexity="O(N) where N is the number of elements being checked for membership",
)  # fmt: skip
def smismember(ctx: Context, argv: list[bytes]) -> Reply:
    """1 or 0 for each member. O(members). Redis: SMISMEMBER."""
    value = set_of(ctx.db.read(argv[1]))
    if value is None:
        return [0] * (len(argv) - 2)
    members = value.members
    return [1 if member in members else 0 for member in argv[2:]]


@sets.command(
    "smembers", "key", "Returns all members of a set.", arity=2, flags="readonly", keys=[one("RO ACCESS")],
    complexity="O(N) where N is the set cardinality.", tips="nondeterministic_output_order",
)  # fmt: skip
def smembers(ctx: Context, argv: list[bytes]) -> Reply:
    """The members. O(n). Redis: SMEMBERS."""
    value = set_of(ctx.db.read(argv[1]))
    return NO_MEMBERS if value is None else SetReply(value.listing())


@sets.command(
    "spop", "key [count]", "Takes members out of a set by chance.", arity=-2, flags="write fast",
    keys=[one("RW ACCESS DELETE")],
    complexity="Without the count argument O(1), otherwise O(N) where N is the value of the passed count.",
    tips="nondeterministic_output",
)  # fmt: skip
def spop(ctx: Context, argv: list[bytes]) -> Reply:
    """A member, or a set of `count` members. O(count) expected. Redis: SPOP."""
    if len(argv) > 2:
        return _pop_many(ctx, argv)
    key = argv[1]
    value = set_of(ctx.db.find(key))
    if value is None:
        return None
    member = value.pick(ctx.space.random)
    value.discard(member)
    ctx.db.taken(key, events.SET, b"spop", 1, len(value))
    return member


def _pop_many(ctx: Context, argv: list[bytes]) -> Reply:
    if len(argv) > 3:
        raise CommandError(SYNTAX)
    key = argv[1]
    count = integer_from(0, argv[2], MUST_BE_POSITIVE)
    value = set_of(ctx.db.find(key))
    if value is None or count == 0:
        return NO_MEMBERS
    taken = value.pick_many(ctx.space.random, count)
    for member in taken:
        value.discard(member)
    if 0 < len(value) * _MANY_TAKEN <= count:
        value.thin_out()
    ctx.db.taken(key, events.SET, b"spop", len(taken), len(value))
    return SetReply(taken)


@sets.command(
    "srandmember", "key [count]", "Returns members of a set by chance.", arity=-2, flags="readonly",
    keys=[one("RO ACCESS")],
    complexity="Without the count argument O(1), otherwise O(N) where N is the absolute value of the passed count.",
    tips="nondeterministic_output",
)  # fmt: skip
def srandmember(ctx: Context, argv: list[bytes]) -> Reply:
    """A member, or `count` different ones, or -`count` that may be the same. O(count) expected. Redis: SRANDMEMBER."""
    if len(argv) > 2:
        return _random_members(ctx, argv)
    value = set_of(ctx.db.read(argv[1]))
    return None if value is None else value.pick(ctx.space.random)


def _random_members(ctx: Context, argv: list[bytes]) -> Reply:
    if len(argv) > 3:
        raise CommandError(SYNTAX)
    count = negatable_integer(argv[2])
    value = set_of(ctx.db.read(argv[1]))
    if value is None or count == 0:
        return EMPTY
    rng = ctx.space.random
    if count > 0:
        return Bulks(value.pick_many(rng, count))
    budget = Budget(ctx, -count)
    chosen: list[bytes] = []
    for portion in portions(-count):
        picks = value.pick_repeatedly(rng, portion)
        budget.spend(picks)
        chosen += picks
    return Bulks(chosen)


@sets.command(
    "sscan", "key cursor [MATCH pattern] [COUNT count]", "Walks over the members of a set.", arity=-3,
    flags="readonly", keys=[one("RO ACCESS")], since="2.8.0",
    complexity="O(1) for every call. O(N) for a complete iteration, including enough command calls for the cursor to "
    "return back to 0. N is the number of elements inside the collection.",
    tips="nondeterministic_output",
)  # fmt: skip
def sscan(ctx: Context, argv: list[bytes]) -> Reply:
    """The next cursor, and some members. O(count). Redis: SSCAN."""
    cursor = parse_cursor(argv[2])
    value = set_of(ctx.db.read(argv[1]))
    if value is None:
        return scan_reply(0, [])
    options = parse_options(ctx, argv, 3, OF_SET)
    cursor, members = value.scan(cursor, options.count)
    return scan_reply(cursor, options.matching(members))
