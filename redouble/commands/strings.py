"""The string group: GET, SET and what else reads and writes strings.

A string is kept as `bytes`. What changes a part of one (APPEND, SETRANGE, and the bitmaps) makes it a
`bytearray`, so that the next change costs nothing but itself; OBJECT ENCODING calls that `raw`, as Redis
does. Whoever replies with such a value must copy it: see `string_of`.

A plain GET, SET or INCR is what a server does most, so each has the shortest way here and leaves
options, when there are any, to others. Sums of floats are in `protocol/longdouble.py`, the longest
common subsequence is in `datatypes/lcs.py`.

Simplified: the result of INCRBYFLOAT, if whole, counts as `int` to OBJECT ENCODING; in Redis it stays
`embstr`.
"""

from typing import Final, final

from redouble.datatypes.lcs import lcs_length, lcs_matches, table_bytes
from redouble.engine.command import Family, one, span
from redouble.engine.context import Context
from redouble.errors import (
    NAN_OR_INFINITY,
    NOT_A_FLOAT,
    OVERFLOW,
    STRING_TOO_LONG,
    SYNTAX,
    CommandError,
    invalid_expire,
    wrong_arity,
)
from redouble.keyspace import events
from redouble.keyspace.database import NEVER, Entry
from redouble.keyspace.typed import check_string, string_of
from redouble.protocol.longdouble import LongDouble, add_long_doubles, format_long_double, try_long_double
from redouble.protocol.numbers import INT64_MAX, INT64_MIN, integer
from redouble.protocol.reply import OK, Map, Reply

string: Final = Family("string")

_SECONDS: Final = 1000
_MILLISECONDS: Final = 1
#: Before, SET took NX and GET for a contradiction.
_NX_WITH_GET_SINCE: Final = 70000
_READ_COST: Final = "O(N) where N is the length of the returned string."
_KEYS_COST: Final = "O(N) where N is the number of keys to set."


# -- reading --------------------------------------------------------------------------------


@string.command("get", "key", "Gives the string of a key.", arity=2, flags="readonly fast", keys=[one("RO ACCESS")])
def get(ctx: Context, argv: list[bytes]) -> Reply:
    """The string, or null. O(1). Redis: GET."""
    return string_of(ctx.db.read(argv[1]))


@string.command(
    "mget", "key [key ...]", "Gives the strings of several keys at once.", arity=-2, flags="readonly fast any_type",
    keys=[span("RO ACCESS")], complexity="O(N) where N is the number of keys to retrieve.",
    tips="request_policy:multi_shard",
)  # fmt: skip
def mget(ctx: Context, argv: list[bytes]) -> Reply:
    """The strings in order, null for what is none. O(keys). Redis: MGET."""
    db = ctx.db
    values: list[bytes | None] = []
    for index in range(1, len(argv)):
        entry = db.read(argv[index])
        value = None if entry is None else entry.value
        if isinstance(value, bytes):
            values.append(value)
        elif isinstance(value, bytearray):
            values.append(bytes(value))
        else:
            values.append(None)
    return values


@string.command(
    "strlen", "key", "Tells how long the string of a key is.", arity=2, flags="readonly fast", keys=[one("RO")],
    since="2.2.0",
)  # fmt: skip
def strlen(ctx: Context, argv: list[bytes]) -> Reply:
    """The length in bytes, 0 where there is no key. O(1). Redis: STRLEN."""
    entry = ctx.db.read(argv[1])
    if entry is None:
        return 0
    check_string(entry)
    return len(entry.value)


@string.command(
    "getrange", "key start end", "Gives a part of a string.", arity=4, flags="readonly", keys=[one("RO ACCESS")],
    since="2.4.0", complexity=_READ_COST,
)  # fmt: skip
def getrange(ctx: Context, argv: list[bytes]) -> Reply:
    """The bytes from `start` to `end`, both included, negative from the end. O(result). Redis: GETRANGE."""
    start = integer(argv[2])
    end = integer(argv[3])
    entry = ctx.db.read(argv[1])
    if entry is None:
        return b""
    check_string(entry)
    size = len(entry.value)
    if start < 0 and end < 0 and start > end:
        return b""
    if start < 0:
        start = max(start + size, 0)
    if end < 0:
        end = max(end + size, 0)
    return bytes(entry.value[start : end + 1])


@string.command(
    "substr", "key start end", "Gives a part of a string.", arity=4, flags="readonly", keys=[one("RO ACCESS")],
    complexity=_READ_COST, deprecated="2.0.0", replaced_by="`GETRANGE`",
)  # fmt: skip
def substr(ctx: Context, argv: list[bytes]) -> Reply:
    """As `getrange`, under its old name. Redis: SUBSTR."""
    return getrange(ctx, argv)


# -- setting --------------------------------------------------------------------------------


@final
class SetOptions:
    """The options of SET and GETEX."""

    __slots__ = ("only_new", "only_old", "get", "keep", "persist", "expiry", "unit", "absolute")

    def __init__(self) -> None:
        self.only_new: bool = False
        self.only_old: bool = False
        self.get: bool = False
        #: KEEPTTL.
        self.keep: bool = False
        self.persist: bool = False
        #: The expire time as it was sent, `unit` ms each, from now or from 1970.
        self.expiry: bytes | None = None
        self.unit: int = _SECONDS
        self.absolute: bool = False


@string.command(
    "set", "key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds | "
    "PXAT unix-time-milliseconds | KEEPTTL]", "Sets the string of a key, whatever it held.", arity=-3,
    flags="write denyoom", keys=[one("RW ACCESS UPDATE VARIABLE_FLAGS")],
)  # fmt: skip
def set_(ctx: Context, argv: list[bytes]) -> Reply:
    """OK; null where NX or XX forbid; the old string with GET. O(1). Redis: SET."""
    if len(argv) == 3:
        key = argv[1]
        db = ctx.db
        db.store(key, argv[2])
        db.touch(key, events.STRING, b"set")
        return OK
    options = _set_options(argv, 3, True)
    if options.get and options.only_new and ctx.engine.version < _NX_WITH_GET_SINCE:
        raise CommandError(SYNTAX)
    deadline = _deadline(ctx, options, b"set")
    old = string_of(ctx.db.read(argv[1])) if options.get else None
    done = _set(ctx, argv[1], argv[2], options, deadline)
    if options.get:
        return old
    return OK if done else None


@string.command(
    "setnx", "key value", "Sets the string of a key that does not exist.", arity=3, flags="write denyoom fast",
    keys=[one("OW INSERT")], deprecated="2.6.12", replaced_by="`SET` with the `NX` argument",
)  # fmt: skip
def setnx(ctx: Context, argv: list[bytes]) -> Reply:
    """1, or 0 where there is a key already. O(1). Redis: SETNX."""
    if ctx.db.find(argv[1]) is not None:
        return 0
    ctx.db.add(argv[1], argv[2])
    ctx.db.touch(argv[1], events.STRING, b"set")
    return 1


@string.command(
    "setex", "key seconds value", "Sets the string of a key, and when it expires.", arity=4,
    flags="write denyoom", keys=[one("OW UPDATE")], since="2.0.0", deprecated="2.6.12",
    replaced_by="`SET` with the `EX` argument",
)  # fmt: skip
def setex(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(1). Redis: SETEX."""
    return _set_with_expiry(ctx, argv, _SECONDS, b"setex")


@string.command(
    "psetex", "key milliseconds value", "Sets the string of a key, and when it expires in ms.", arity=4,
    flags="write denyoom", keys=[one("OW UPDATE")], since="2.6.0", deprecated="2.6.12",
    replaced_by="`SET` with the `PX` argument",
)  # fmt: skip
def psetex(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(1). Redis: PSETEX."""
    return _set_with_expiry(ctx, argv, _MILLISECONDS, b"psetex")


def _set_with_expiry(ctx: Context, argv: list[bytes], unit: int, name: bytes) -> Reply:
    options = SetOptions()
    options.expiry = argv[2]
    options.unit = unit
    _set(ctx, argv[1], argv[3], options, _deadline(ctx, options, name))
    return OK


@string.command(
    "getset", "key value", "Sets the string of a key and gives the one before.", arity=3,
    flags="write denyoom fast", keys=[one("RW ACCESS UPDATE")], deprecated="6.2.0",
    replaced_by="`SET` with the `!GET` argument",
)  # fmt: skip
def getset(ctx: Context, argv: list[bytes]) -> Reply:
    """The old string, or null. O(1). Redis: GETSET."""
    old = string_of(ctx.db.read(argv[1]))
    ctx.db.store(argv[1], argv[2])
    ctx.db.touch(argv[1], events.STRING, b"set")
    return old


@string.command(
    "getdel", "key", "Gives the string of a key and deletes the key.", arity=2, flags="write fast",
    keys=[one("RW ACCESS DELETE")], since="6.2.0",
)  # fmt: skip
def getdel(ctx: Context, argv: list[bytes]) -> Reply:
    """The string, or null. O(1). Redis: GETDEL."""
    value = string_of(ctx.db.read(argv[1]))
    if value is not None:
        ctx.db.remove(argv[1])
        ctx.db.touch(argv[1], events.GENERIC, b"del")
    return value


@string.command(
    "getex", "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]",
    "Gives the string of a key and changes when it expires.", arity=-2, flags="write fast",
    keys=[one("RW ACCESS UPDATE")], since="6.2.0",
)  # fmt: skip
def getex(ctx: Context, argv: list[bytes]) -> Reply:
    """The string, or null. O(1). Redis: GETEX."""
    options = _set_options(argv, 2, False)
    key = argv[1]
    db = ctx.db
    entry = db.read(key)
    value = string_of(entry)
    if entry is None:
        return None
    deadline = _deadline(ctx, options, b"getex")
    if options.absolute and deadline <= ctx.space.now:
        db.remove(key)
        db.touch(key, events.GENERIC, b"del")
    elif deadline != NEVER:
        db.set_deadline(key, entry, deadline)
        db.touch(key, events.GENERIC, b"expire")
    elif options.persist and entry.deadline != NEVER:
        db.set_deadline(key, entry, NEVER)
        db.touch(key, events.GENERIC, b"persist")
    return value


def _set_options(argv: list[bytes], at: int, for_set: bool) -> SetOptions:
    """Read the options of SET, or of GETEX, from position `at`. Contradictions are syntax errors."""
    options = SetOptions()
    end = len(argv)
    while at < end:
        word = argv[at].upper()
        timed = options.expiry is not None
        if word == b"NX" and for_set and not options.only_old:
            options.only_new = True
        elif word == b"XX" and for_set and not options.only_new:
            options.only_old = True
        elif word == b"GET" and for_set:
            options.get = True
        elif word == b"KEEPTTL" and for_set and not timed:
            options.keep = True
        elif word == b"PERSIST" and not for_set and not timed:
            options.persist = True
        elif not (options.keep or options.persist) and at + 1 < end and _read_expiry(options, word, argv[at + 1]):
            at += 1
        else:
            raise CommandError(SYNTAX)
        at += 1
    return options


def _read_expiry(options: SetOptions, word: bytes, value: bytes) -> bool:
    """Take EX, PX, EXAT or PXAT and its value; False if it is none of them, or another than before."""
    unit = _MILLISECONDS if word[:1] == b"P" else _SECONDS
    absolute = word[2:] == b"AT"
    if word not in (b"EX", b"PX", b"EXAT", b"PXAT"):
        return False
    if options.expiry is not None and (options.unit != unit or options.absolute != absolute):
        return False
    options.expiry = value
    options.unit = unit
    options.absolute = absolute
    return True


def _deadline(ctx: Context, options: SetOptions, name: bytes) -> int:
    """The deadline that the options ask for (Unix time in ms), or `NEVER`."""
    if options.expiry is None:
        return NEVER
    deadline = integer(options.expiry) * options.unit
    if deadline > 0 and not options.absolute:
        # Seconds must fit into 64 bits before the present time is added.
        deadline = deadline + ctx.space.now if deadline <= INT64_MAX else -1
    if deadline <= 0 or deadline > INT64_MAX:
        raise invalid_expire(name)
    return deadline


def _set(ctx: Context, key: bytes, value: bytes, options: SetOptions, deadline: int) -> bool:
    """Set the string unless NX or XX forbid; whether it was set."""
    db = ctx.db
    entry = db.find(key)
    if options.only_old if entry is None else options.only_new:
        return False
    if entry is not None and (options.keep or deadline != NEVER):
        entry.value = value
    else:
        entry = db.store(key, value)
    db.touch(key, events.STRING, b"set")
    if deadline != NEVER:
        db.set_deadline(key, entry, deadline)
        db.notify(key, events.GENERIC, b"expire")
    return True


@string.command(
    "mset", "key value [key value ...]", "Sets the strings of several keys at once.", arity=-3,
    flags="write denyoom", keys=[span("OW UPDATE", step=2)], since="1.0.1", complexity=_KEYS_COST,
    tips="request_policy:multi_shard response_policy:all_succeeded",
)  # fmt: skip
def mset(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(keys). Redis: MSET."""
    if len(argv) % 2 == 0:
        raise wrong_arity(b"mset")
    _set_all(ctx, argv)
    return OK


@string.command(
    "msetnx", "key value [key value ...]", "Sets the strings of several keys, if none of them exists.", arity=-3,
    flags="write denyoom", keys=[span("OW INSERT", step=2)], since="1.0.1", complexity=_KEYS_COST,
)  # fmt: skip
def msetnx(ctx: Context, argv: list[bytes]) -> Reply:
    """1, or 0 where one of the keys exists already. O(keys). Redis: MSETNX."""
    if len(argv) % 2 == 0:
        raise wrong_arity(b"msetnx")
    for index in range(1, len(argv), 2):
        if ctx.db.find(argv[index]) is not None:
            return 0
    _set_all(ctx, argv)
    return 1


def _set_all(ctx: Context, argv: list[bytes]) -> None:
    db = ctx.db
    for index in range(1, len(argv), 2):
        key = argv[index]
        db.store(key, argv[index + 1])
        db.touch(key, events.STRING, b"set")


# -- counting -------------------------------------------------------------------------------


@string.command(
    "incr", "key", "Adds one to the integer of a key.", arity=2, flags="write denyoom fast",
    keys=[one("RW ACCESS UPDATE")],
)  # fmt: skip
def incr(ctx: Context, argv: list[bytes]) -> Reply:
    """The new value. O(1). Redis: INCR."""
    return _add(ctx, argv[1], 1)


@string.command(
    "decr", "key", "Takes one from the integer of a key.", arity=2, flags="write denyoom fast",
    keys=[one("RW ACCESS UPDATE")],
)  # fmt: skip
def decr(ctx: Context, argv: list[bytes]) -> Reply:
    """The new value. O(1). Redis: DECR."""
    return _add(ctx, argv[1], -1)


@string.command(
    "incrby", "key increment", "Adds a number to the integer of a key.", arity=3, flags="write denyoom fast",
    keys=[one("RW ACCESS UPDATE")],
)  # fmt: skip
def incrby(ctx: Context, argv: list[bytes]) -> Reply:
    """The new value. O(1). Redis: INCRBY."""
    return _add(ctx, argv[1], integer(argv[2]))


@string.command(
    "decrby", "key decrement", "Takes a number from the integer of a key.", arity=3, flags="write denyoom fast",
    keys=[one("RW ACCESS UPDATE")],
)  # fmt: skip
def decrby(ctx: Context, argv: list[bytes]) -> Reply:
    """The new value. O(1). Redis: DECRBY."""
    amount = integer(argv[2])
    if amount == INT64_MIN:
        raise CommandError(b"ERR decrement would overflow")
    return _add(ctx, argv[1], -amount)


def _add(ctx: Context, key: bytes, amount: int) -> int:
    db = ctx.db
    entry = db.find(key)
    if entry is None:
        db.add(key, b"%d" % amount)
        db.touch(key, events.STRING, b"incrby")
        return amount
    value = integer(string_of(entry) or b"") + amount
    if value > INT64_MAX or value < INT64_MIN:
        raise CommandError(OVERFLOW)
    entry.value = b"%d" % value
    db.touch(key, events.STRING, b"incrby")
    return value


@string.command(
    "incrbyfloat", "key increment", "Adds a floating point number to the number of a key.", arity=3,
    flags="write denyoom fast", keys=[one("RW ACCESS UPDATE")], since="2.6.0",
)  # fmt: skip
def incrbyfloat(ctx: Context, argv: list[bytes]) -> Reply:
    """The new value as text, with up to 17 decimals. O(1). Redis: INCRBYFLOAT."""
    key = argv[1]
    db = ctx.db
    entry = db.find(key)
    old = string_of(entry)
    value = _long_double(b"0" if old is None else old)
    total = add_long_doubles(value, _long_double(argv[2]))
    if total is None:
        raise CommandError(NAN_OR_INFINITY)
    text = format_long_double(total)
    if entry is None:
        db.add(key, text)
    else:
        entry.value = text
    db.touch(key, events.STRING, b"incrbyfloat")
    return text


def _long_double(text: bytes) -> LongDouble:
    number = try_long_double(text)
    if number is None:
        raise CommandError(NOT_A_FLOAT)
    return number


# -- changing in place ----------------------------------------------------------------------


def writable(entry: Entry) -> bytearray:
    """The string of an entry as one that may be changed in place. O(1), O(len) the first time."""
    value = entry.value
    if isinstance(value, bytearray):
        return value
    grown = bytearray(value)
    entry.value = grown
    return grown


@string.command(
    "append", "key value", "Puts a string at the end of another.", arity=3, flags="write denyoom fast",
    keys=[one("RW INSERT")], since="2.0.0", complexity="O(1) amortized.",
)  # fmt: skip
def append(ctx: Context, argv: list[bytes]) -> Reply:
    """The new length. O(appended). Redis: APPEND."""
    key = argv[1]
    db = ctx.db
    entry = db.find(key)
    if entry is None:
        db.add(key, argv[2])
        size = len(argv[2])
    else:
        check_string(entry)
        size = len(entry.value) + len(argv[2])
        if size > ctx.engine.bulk_max:
            raise CommandError(STRING_TOO_LONG)
        value = writable(entry)
        value += argv[2]
    db.touch(key, events.STRING, b"append")
    return size


@string.command(
    "setrange", "key offset value", "Overwrites a part of a string.", arity=4, flags="write denyoom",
    keys=[one("RW UPDATE")], since="2.2.0", complexity="O(M) with M being the length of the value argument.",
)  # fmt: skip
def setrange(ctx: Context, argv: list[bytes]) -> Reply:
    """The new length; zeros fill a gap. O(written). Redis: SETRANGE."""
    offset = integer(argv[2])
    if offset < 0:
        raise CommandError(b"ERR offset is out of range")
    key = argv[1]
    part = argv[3]
    db = ctx.db
    entry = db.find(key)
    check_string(entry)
    if not part:
        return 0 if entry is None else len(entry.value)
    end = offset + len(part)
    if end > ctx.engine.bulk_max:
        raise CommandError(STRING_TOO_LONG)
    if entry is None:
        entry = db.add(key, bytearray(end))
    value = writable(entry)
    if len(value) < end:
        value.extend(bytes(end - len(value)))
    value[offset:end] = part
    db.touch(key, events.STRING, b"setrange")
    return len(value)


# -- comparing ------------------------------------------------------------------------------


@string.command(
    "lcs", "key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN]",
    "Finds the longest common subsequence of two strings.", arity=-3, flags="readonly",
    keys=[span("RO ACCESS", last=1)], since="7.0.0",
    complexity="O(N*M) where N and M are the lengths of s1 and s2, respectively",
)  # fmt: skip
def lcs(ctx: Context, argv: list[bytes]) -> Reply:
    """The subsequence, its length (LEN), or where it matches (IDX). O(n * m / 64). Redis: LCS."""
    first = ctx.db.read(argv[1])
    second = ctx.db.read(argv[2])
    try:
        a = string_of(first) or b""
        b = string_of(second) or b""
    except CommandError:
        raise CommandError(b"ERR The specified keys must contain string values") from None
    length_only, ranges, with_length, shortest = _lcs_options(argv)
    if length_only and ranges:
        raise CommandError(b"ERR If you want both the length and indexes, please just use IDX.")
    if table_bytes(a, b) > ctx.engine.bulk_max:
        raise CommandError(b"ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len")
    if length_only:
        return lcs_length(a, b)
    matches = lcs_matches(a, b)
    if not ranges:
        return b"".join([a[match.first : match.first + match.length] for match in reversed(matches)])
    found: list[Reply] = []
    for match in matches:
        if match.length >= shortest:
            item: list[Reply] = [
                [match.first, match.first + match.length - 1],
                [match.second, match.second + match.length - 1],
            ]
            if with_length:
                item.append(match.length)
            found.append(item)
    return Map([b"matches", found, b"len", sum([match.length for match in matches])])


def _lcs_options(argv: list[bytes]) -> tuple[bool, bool, bool, int]:
    """LEN, IDX, WITHMATCHLEN and the value of MINMATCHLEN."""
    length_only = ranges = with_length = False
    shortest = 0
    at = 3
    while at < len(argv):
        word = argv[at].upper()
        if word == b"IDX":
            ranges = True
        elif word == b"LEN":
            length_only = True
        elif word == b"WITHMATCHLEN":
            with_length = True
        elif word == b"MINMATCHLEN" and at + 1 < len(argv):
            at += 1
            shortest = integer(argv[at])
        else:
            raise CommandError(SYNTAX)
        at += 1
    return length_only, ranges, with_length, shortest
