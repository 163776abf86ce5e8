"""Deadlines of single fields: HEXPIRE, HTTL, HPERSIST and their kin, and HGETEX, HSETEX, HGETDEL.

A field whose deadline has passed is dropped when it is due, or when the hash is looked up before that.
A deadline that is not in the future deletes the field at once. Whenever a deadline becomes the
earliest of its hash, the key is entered in the schedule of deadlines (`Keyspace.schedule_expiry`).
"""

from typing import Final

from redouble.commands.hashes import hash_to_write
from redouble.datatypes.hashvalue import HashValue
from redouble.engine.command import Family, one
from redouble.engine.context import Context
from redouble.errors import CommandError, c_text, invalid_expire, wrong_arity
from redouble.keyspace import events
from redouble.keyspace.database import NEVER
from redouble.keyspace.typed import hash_of
from redouble.protocol.numbers import integer, integer_from
from redouble.protocol.reply import Reply

hash_expiry: Final = Family("hash")

_FIELDS = "O(N) where N is the number of specified fields"
#: The latest time that a field may be given, Unix time in ms.
_LAST_TIME: Final = (1 << 46) - 1

# What is replied for each field.
_NO_FIELD: Final = -2
_NO_DEADLINE: Final = -1
_NOT_MET: Final = 0
_DONE: Final = 1
_DELETED: Final = 2

_FIELDS_MISSING: Final = b"ERR Mandatory argument FIELDS is missing or not at the right position"
_COUNT_WRONG: Final = b"ERR The `numfields` parameter must match the number of arguments"
_COUNT_NOT_POSITIVE: Final = b"ERR Number of fields must be a positive integer"


# -- setting deadlines ---------------------------------------------------------------------------


@hash_expiry.command(
    "hexpire", "key seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
    "Lets fields expire after a time in seconds.", arity=-6, flags="write denyoom fast", keys=[one("RW UPDATE")],
    since="7.4.0", complexity=_FIELDS,
)  # fmt: skip
def hexpire(ctx: Context, argv: list[bytes]) -> Reply:
    """What happened to each field. O(fields * log n). Redis: HEXPIRE."""
    return _expire(ctx, argv, b"hexpire", ctx.now, 1000)


@hash_expiry.command(
    "hpexpire", "key milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
    "Lets fields expire after a time in milliseconds.", arity=-6, flags="write denyoom fast",
    keys=[one("RW UPDATE")], since="7.4.0", complexity=_FIELDS,
)  # fmt: skip
def hpexpire(ctx: Context, argv: list[bytes]) -> Reply:
    """What happened to each field. O(fields * log n). Redis: HPEXPIRE."""
    return _expire(ctx, argv, b"hpexpire", ctx.now, 1)


@hash_expiry.command(
    "hexpireat", "key unix-time-seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
    "Lets fields expire at a Unix time in seconds.", arity=-6, flags="write denyoom fast", keys=[one("RW UPDATE")],
    since="7.4.0", complexity=_FIELDS,
)  # fmt: skip
def hexpireat(ctx: Context, argv: list[bytes]) -> Reply:
    """What happened to each field. O(fields * log n). Redis: HEXPIREAT."""
    return _expire(ctx, argv, b"hexpireat", 0, 1000)


@hash_expiry.command(
    "hpexpireat", "key unix-time-milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
    "Lets fields expire at a Unix time in milliseconds.", arity=-6, flags="write denyoom fast",
    keys=[one("RW UPDATE")], since="7.4.0", complexity=_FIELDS,
)  # fmt: skip
def hpexpireat(ctx: Context, argv: list[bytes]) -> Reply:
    """What happened to each field. O(fields * log n). Redis: HPEXPIREAT."""
    return _expire(ctx, argv, b"hpexpireat", 0, 1)


def _expire(ctx: Context, argv: list[bytes], name: bytes, base: int, unit: int) -> Reply:
    key = argv[1]
    value = hash_of(ctx.db, key, ctx.db.find(key))
    deadline = _deadline(argv[2], name, base, unit)
    condition = argv[3].upper()
    if condition in (b"NX", b"XX", b"GT", b"LT"):
        fields = _named_fields(argv, 4, b"ERR Parameter `numFields` should be greater than 0")
    else:
        condition = b""
        fields = _named_fields(argv, 3, b"ERR Parameter `numFields` should be greater than 0")
    if value is None:
        return [_NO_FIELD] * len(fields)
    value.keep_deadlines()
    soonest = value.soonest
    results = [_set_deadline(ctx, value, field, deadline, condition) for field in fields]
    _announce(ctx, key, value, results, soonest)
    return results


def _deadline(text: bytes, name: bytes, base: int, unit: int) -> int:
    """The Unix time in ms that `text`, counted in `unit` ms from `base`, means."""
    time = integer(text)
    if time < 0:
        raise CommandError(b"ERR invalid expire time, must be >= 0")
    time *= unit
    if time > _LAST_TIME - base:
        raise invalid_expire(name)
    return time + base


def _named_fields(argv: list[bytes], at: int, not_positive: bytes) -> list[bytes]:
    """The fields of `FIELDS numfields field ...`, which stands at `at` and must end the request."""
    if argv[at].upper() != b"FIELDS":
        raise CommandError(_FIELDS_MISSING)
    if at + 1 == len(argv):
        raise CommandError(not_positive)
    if integer_from(1, argv[at + 1], not_positive) != len(argv) - at - 2:
        raise CommandError(_COUNT_WRONG)
    return argv[at + 2 :]


def _set_deadline(ctx: Context, value: HashValue, field: bytes, deadline: int, condition: bytes) -> int:
    """Give one field a deadline if the condition is met."""
    if field not in value.fields:
        return _NO_FIELD
    if condition:
        old = value.deadline_of(field)
        if condition == b"NX":
            met = old == NEVER
        elif condition == b"XX":
            met = old != NEVER
        elif condition == b"GT":
            met = deadline > old
        else:
            met = deadline < old
        if not met:
            return _NOT_MET
    if deadline <= ctx.now:
        value.discard(field)
        return _DELETED
    value.set_deadline(field, deadline)
    return _DONE


def _announce(ctx: Context, key: bytes, value: HashValue, results: list[int], soonest: int) -> None:
    """Say that deadlines have been set, or fields deleted because theirs have passed.

    `soonest` was the hash's earliest deadline before that; only an earlier one needs an alarm of its own.
    """
    db = ctx.db
    if _DELETED in results:
        db.touch(key, events.HASH, b"hdel")
        db.remove_if_empty(key, len(value))
    elif _DONE in results:
        db.touch(key, events.HASH, b"hexpire")
        if value.soonest < soonest:
            ctx.space.schedule_expiry(db, key, value.soonest)


@hash_expiry.command(
    "hpersist", "key FIELDS numfields field [field ...]", "Removes the deadlines of fields.", arity=-5,
    flags="write fast", keys=[one("RW UPDATE")], since="7.4.0", complexity=_FIELDS,
)  # fmt: skip
def hpersist(ctx: Context, argv: list[bytes]) -> Reply:
    """What happened to each field. O(fields * log n). Redis: HPERSIST."""
    key = argv[1]
    value = hash_of(ctx.db, key, ctx.db.find(key))
    fields = _named_fields(argv, 2, _COUNT_NOT_POSITIVE)
    if value is None:
        return [_NO_FIELD] * len(fields)
    results: list[int] = []
    for field in fields:
        if field not in value.fields:
            results.append(_NO_FIELD)
        else:
            results.append(_DONE if value.persist(field) else _NO_DEADLINE)
    if _DONE in results:
        ctx.db.touch(key, events.HASH, b"hpersist")
    return results


# -- asking for deadlines ------------------------------------------------------------------------


@hash_expiry.command(
    "httl", "key FIELDS numfields field [field ...]", "Returns the seconds until fields expire.", arity=-5,
    flags="readonly fast", keys=[one("RO ACCESS")], since="7.4.0", complexity=_FIELDS,
)  # fmt: skip
def httl(ctx: Context, argv: list[bytes]) -> Reply:
    """A time for each field, or -1 for ever, or -2. O(fields). Redis: HTTL."""
    return _times(ctx, argv, ctx.now, 1000)


@hash_expiry.command(
    "hpttl", "key FIELDS numfields field [field ...]", "Returns the milliseconds until fields expire.", arity=-5,
    flags="readonly fast", keys=[one("RO ACCESS")], since="7.4.0", complexity=_FIELDS,
)  # fmt: skip
def hpttl(ctx: Context, argv: list[bytes]) -> Reply:
    """A time for each field, or -1 for ever, or -2. O(fields). Redis: HPTTL."""
    return _times(ctx, argv, ctx.now, 1)


@hash_expiry.command(
    "hexpiretime", "key FIELDS numfields field [field ...]", "Returns the Unix time in seconds at which fields expire.",
    arity=-5, flags="readonly fast", keys=[one("RO ACCESS")], since="7.4.0", complexity=_FIELDS,
)  # fmt: skip
def hexpiretime(ctx: Context, argv: list[bytes]) -> Reply:
    """A time for each field, or -1 for ever, or -2. O(fields). Redis: HEXPIRETIME."""
    return _times(ctx, argv, 0, 1000)


@hash_expiry.command(
    "hpexpiretime", "key FIELDS numfields field [field ...]",
    "Returns the Unix time in milliseconds at which fields expire.", arity=-5, flags="readonly fast",
    keys=[one("RO ACCESS")], since="7.4.0", complexity=_FIELDS,
)  # fmt: skip
def hpexpiretime(ctx: Context, argv: list[bytes]) -> Reply:
    """A time for each field, or -1 for ever, or -2. O(fields). Redis: HPEXPIRETIME."""
    return _times(ctx, argv, 0, 1)


def _times(ctx: Context, argv: list[bytes], base: int, unit: int) -> Reply:
    value = hash_of(ctx.db, argv[1], ctx.db.read(argv[1]))
    fields = _named_fields(argv, 2, _COUNT_NOT_POSITIVE)
    if value is None:
        return [_NO_FIELD] * len(fields)
    times: list[int] = []
    for field in fields:
        deadline = value.deadline_of(field)
        if field not in value.fields:
            times.append(_NO_FIELD)
        elif deadline == NEVER:
            times.append(_NO_DEADLINE)
        else:
            times.append((deadline - base + unit - 1) // unit)
    return times


# -- values and deadlines at once ----------------------------------------------------------------


@hash_expiry.command(
    "hgetdel", "key FIELDS numfields field [field ...]", "Returns the values of fields and deletes them.", arity=-5,
    flags="write fast", keys=[one("RW ACCESS DELETE")], since="8.0.0", complexity=_FIELDS,
)  # fmt: skip
def hgetdel(ctx: Context, argv: list[bytes]) -> Reply:
    """A value or null for each field. O(fields). Redis: HGETDEL."""
    key = argv[1]
    db = ctx.db
    value = hash_of(db, key, db.find(key))
    fields = _named_fields(argv, 2, _COUNT_NOT_POSITIVE)
    if value is None:
        return [None] * len(fields)
    size = len(value)
    found: list[bytes | None] = []
    for field in fields:
        found.append(value.fields.get(field))
        value.discard(field)
    if len(value) != size:
        db.touch(key, events.HASH, b"hdel", size - len(value))
        db.remove_if_empty(key, len(value))
    return found


@hash_expiry.command(
    "hgetex",
    "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST] "
    "FIELDS numfields field [field ...]",
    "Returns the values of fields and sets or removes their deadlines.", arity=-5, flags="write fast",
    keys=[one("RW ACCESS UPDATE")], since="8.0.0", complexity=_FIELDS,
)  # fmt: skip
def hgetex(ctx: Context, argv: list[bytes]) -> Reply:
    """A value or null for each field. O(fields * log n). Redis: HGETEX."""
    key = argv[1]
    value = hash_of(ctx.db, key, ctx.db.find(key))
    word = argv[2].upper()
    persist = word == b"PERSIST"
    deadline = -1
    at = 3 if persist else 2
    if word in _UNITS:
        deadline = _deadline_after(ctx, word, argv[3], b"hgetex")
        at = 4
    fields = _named_fields(argv, at, _COUNT_NOT_POSITIVE)
    if value is None:
        return [None] * len(fields)
    found: list[bytes | None] = []
    results: list[int] = []
    soonest = value.soonest
    for field in fields:
        found.append(value.fields.get(field))
        if deadline >= 0:
            results.append(_set_deadline(ctx, value, field, deadline, b""))
        elif persist and value.persist(field):
            results.append(_DONE)
    if not persist:
        _announce(ctx, key, value, results, soonest)
    elif results:
        ctx.db.touch(key, events.HASH, b"hpersist")
    return found


#: The words that name a deadline: how many ms their unit has.
_UNITS: Final[dict[bytes, int]] = {b"EX": 1000, b"PX": 1, b"EXAT": 1000, b"PXAT": 1}


def _deadline_after(ctx: Context, word: bytes, text: bytes, name: bytes) -> int:
    return _deadline(text, name, 0 if len(word) == 4 else ctx.now, _UNITS[word])


@hash_expiry.command(
    "hsetex",
    "key [FNX | FXX] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL] "
    "FIELDS numfields field value [field value ...]",
    "Sets fields together with a deadline.", arity=-6, flags="write denyoom fast", keys=[one("RW UPDATE")],
    since="8.0.0", complexity="O(N) where N is the number of fields being set.",
)  # fmt: skip
def hsetex(ctx: Context, argv: list[bytes]) -> Reply:
    """1 if the fields were set, 0 if the condition was not met. O(fields * log n). Redis: HSETEX."""
    condition, deadline, keep, at = _hsetex_options(ctx, argv)
    key = argv[1]
    db = ctx.db
    value = hash_of(db, key, db.find(key))
    if condition and not _condition_met(value, argv, at, condition == b"FXX"):
        return 0
    if value is None:
        value = hash_to_write(ctx, key)
    value.expect((len(argv) - at) // 2)
    soonest = value.soonest
    results: list[int] = []
    for index in range(at, len(argv), 2):
        if keep:
            value.replace(argv[index], argv[index + 1])
        else:
            value.set(argv[index], argv[index + 1])
        if deadline >= 0:
            results.append(_set_deadline(ctx, value, argv[index], deadline, b""))
    db.touch(key, events.HASH, b"hset")
    _announce(ctx, key, value, results, soonest)
    return 1


def _condition_met(value: HashValue | None, argv: list[bytes], at: int, present: bool) -> bool:
    """Whether the fields to be set are all there, or none of them is."""
    if value is None:
        return not present
    fields = set(argv[at::2])
    there = len(fields & value.fields.keys())
    return there == len(fields) if present else there == 0


def _hsetex_options(ctx: Context, argv: list[bytes]) -> tuple[bytes, int, bool, int]:
    """The condition (or empty), the deadline (or -1), whether deadlines stay, and where the fields begin."""
    condition = b""
    deadline = -1
    keep = False
    at = 2
    while at < len(argv):
        word = argv[at].upper()
        if word == b"FIELDS":
            _check_pairs(argv, at)
            return condition, deadline, keep, at + 2
        if word in (b"FNX", b"FXX"):
            if condition:
                raise CommandError(b"ERR Only one of FXX or FNX arguments can be specified")
            condition = word
        elif word == b"KEEPTTL" or word in _UNITS:
            if keep or deadline >= 0:
                raise CommandError(b"ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified")
            if word == b"KEEPTTL":
                keep = True
            else:
                at += 1
                if at == len(argv):
                    raise CommandError(b"ERR missing expire time")
                deadline = _deadline_after(ctx, word, argv[at], b"hsetex")
        else:
            raise CommandError(b"ERR unknown argument: " + c_text(argv[at]))
        at += 1
    raise CommandError(_FIELDS_MISSING)


def _check_pairs(argv: list[bytes], at: int) -> None:
    """Raise unless `FIELDS numfields field value ...` stands at `at` and ends the request."""
    rest = len(argv) - at - 2
    if rest < 2:
        raise wrong_arity(b"hsetex")
    count = integer_from(1, argv[at + 1], b"ERR invalid number of fields")
    if count > 0x7FFFFFFF:
        raise CommandError(b"ERR invalid number of fields")
    if rest & 1 or count != rest // 2:
        raise wrong_arity(b"hsetex")
