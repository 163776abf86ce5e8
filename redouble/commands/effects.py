"""How commands are told to replicas: by their effect, so that time, chance and waiting play no part.

An effect is made when the command has run, from its arguments, its reply and the keys as they are now. A
command that is not in the table is told as it came. Those in `_QUIET` change something that no key's
announcement shows (a group's state, a message, the databases' order) and are told whenever they succeed.

Simplified: HSETEX and HGETEX are told as they came, so a relative time-out begins anew on the replica.
"""

from __future__ import annotations

from typing import Any, Final

from redouble.datatypes.hashvalue import HashValue
from redouble.datatypes.stream import Stream
from redouble.datatypes.stream_id import format_id, parse_id
from redouble.engine.context import Context
from redouble.engine.propagation import Effect, EffectTable
from redouble.keyspace.database import NEVER
from redouble.keyspace.typed import string_of
from redouble.protocol.reply import Bulks, Map, PairMap, Pairs, Reply, SetReply

Effects = list[list[bytes]]

_TIMED: Final = (b"EX", b"PX", b"EXAT", b"PXAT")
_EXPIRE_GROUP: Final = (b"expire", b"pexpire", b"expireat", b"pexpireat")
_FIELD_EXPIRE_GROUP: Final = (b"hexpire", b"hpexpire", b"hexpireat", b"hpexpireat")


def _deadline(ctx: Context, key: bytes) -> int | None:
    """The key's deadline, or None if it is gone."""
    entry = ctx.db.data.get(key)
    return None if entry is None else entry.deadline


def _items(reply: Reply) -> list[Any]:
    """What is in a reply that is some sort of collection."""
    if isinstance(reply, (Bulks, Map, PairMap, Pairs, SetReply)):
        return list(reply.items)
    return reply if isinstance(reply, list) else []


def _text(item: Any) -> bytes:
    return item if isinstance(item, bytes) else bytes(item)


# -- strings and keys -----------------------------------------------------------------------------


def _set(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    key = argv[1]
    options = [word.upper() for word in argv[3:]]
    if not any(word in _TIMED for word in options):
        return [argv[:3] + [word for word in argv[3:] if word.upper() != b"GET"]]
    return _set_until(ctx, key, argv[2])


def _setex(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    return _set_until(ctx, argv[1], argv[3])


def _set_until(ctx: Context, key: bytes, value: bytes) -> Effects:
    deadline = _deadline(ctx, key)
    if deadline is None:
        return [[b"DEL", key]]
    return [[b"SET", key, value, b"PXAT", b"%d" % deadline]]


def _getset(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    return [[b"SET", argv[1], argv[2]]]


def _getdel(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    return [[b"DEL", argv[1]]]


def _expire(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    """EXPIRE and its kin, GETEX with a time."""
    deadline = _deadline(ctx, argv[1])
    if deadline is None:
        return [[b"DEL", argv[1]]]
    if deadline == NEVER:
        return [[b"PERSIST", argv[1]]]
    return [[b"PEXPIREAT", argv[1], b"%d" % deadline]]


def _incrbyfloat(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    value = string_of(ctx.db.data[argv[1]])
    return [[b"SET", argv[1], bytes(value or b""), b"KEEPTTL"]]


def _restore(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    deadline = _deadline(ctx, argv[1])
    if deadline is None:
        return [[b"DEL", argv[1]]]
    options = [word.upper() for word in argv[4:]]
    if deadline == NEVER or b"ABSTTL" in options:
        return [argv]
    return [[*argv[:2], b"%d" % deadline, *argv[3:], b"ABSTTL"]]


# -- hashes ---------------------------------------------------------------------------------------


def _hincrbyfloat(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    value = ctx.db.data[argv[1]].value
    assert isinstance(value, HashValue)
    return [[b"HSET", argv[1], argv[2], value.fields[argv[2]]]]


def _hexpire(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    """HEXPIRE and its kin: fields that got a deadline, and fields that were gone at once."""
    key = argv[1]
    at = [word.upper() for word in argv].index(b"FIELDS", 3) + 2
    outcomes = list(zip(argv[at:], _items(reply), strict=False))
    kept = [field for field, outcome in outcomes if outcome == 1]
    gone = [field for field, outcome in outcomes if outcome == 2]
    effects: Effects = []
    entry = ctx.db.data.get(key)
    if kept and entry is not None and isinstance(entry.value, HashValue):
        deadline = entry.value.deadlines[kept[0]]
        effects.append([b"HPEXPIREAT", key, b"%d" % deadline, b"FIELDS", b"%d" % len(kept), *kept])
    if gone:
        effects.append([b"HDEL", key, *gone])
    return effects


# -- pops -----------------------------------------------------------------------------------------


def _spop(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    if len(argv) == 2:
        return [[b"SREM", argv[1], _text(reply)]]
    if argv[1] not in ctx.db.data:
        return [[b"DEL", argv[1]]]
    return [[b"SREM", argv[1], *[_text(member) for member in _items(reply)]]]


def _pop_one(name: bytes) -> Effect:
    """BLPOP and its kin: one element of the key that the reply names."""

    def effect(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
        return [[name, _text(_items(reply)[0])]]

    return effect


def _pop_many(low: bytes, high: bytes, at: int) -> Effect:
    """LMPOP and its kin: `at` is where the number of keys stands; the end to pop from follows the keys."""

    def effect(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
        end = argv[at + 1 + int(argv[at])].upper()
        key, popped = _items(reply)
        count = len(_items(popped))
        if isinstance(popped, (Pairs, PairMap, Map)):
            count //= 2
        return [[low if end in (b"LEFT", b"MIN") else high, _text(key), b"%d" % count]]

    return effect


def _blmove(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    return [[b"LMOVE", *argv[1:5]]]


def _brpoplpush(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    return [[b"RPOPLPUSH", argv[1], argv[2]]]


# -- streams --------------------------------------------------------------------------------------


def _stream(ctx: Context, key: bytes) -> Stream | None:
    entry = ctx.db.data.get(key)
    return entry.value if entry is not None and isinstance(entry.value, Stream) else None


def _trimmed(ctx: Context, argv: list[bytes]) -> list[bytes]:
    """The options of a trim by nearness, replaced by the length that came of it."""
    stream = _stream(ctx, argv[1])
    words = [word.upper() for word in argv]
    for at in range(2, len(argv) - 2):
        if words[at] in (b"MAXLEN", b"MINID") and argv[at + 1] == b"~":
            rest = argv[at + 3 :]
            if rest and rest[0].upper() == b"LIMIT":
                rest = rest[2:]
            return [*argv[:at], b"MAXLEN", b"=", b"%d" % (len(stream) if stream is not None else 0), *rest]
    return argv


def _xadd(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    told = list(_trimmed(ctx, argv))
    # The ID stands behind the options, before an even number of words, the fields and values.
    at = 2
    while told[at].upper() in (b"NOMKSTREAM", b"MAXLEN", b"MINID", b"LIMIT"):
        word = told[at].upper()
        at += 1
        if word in (b"MAXLEN", b"MINID") and told[at] in (b"=", b"~"):
            at += 1
        if word != b"NOMKSTREAM":
            at += 1
    told[at] = _text(reply)
    return [told]


def _xtrim(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    return [_trimmed(ctx, argv)] if reply else []


def _claims(ctx: Context, key: bytes, name: bytes, ids: list[bytes]) -> Effects:
    """XCLAIM for each entry that is pending in a group."""
    stream = _stream(ctx, key)
    group = stream.groups.get(name) if stream is not None else None
    effects: Effects = []
    for text in ids:
        id = parse_id(text)
        if group is None or id is None:
            continue
        pending = group.pending.get(id)
        if pending is None:
            continue
        effects.append([
            b"XCLAIM", key, name, pending.consumer, b"0", text, b"TIME", b"%d" % pending.delivery_time,
            b"RETRYCOUNT", b"%d" % pending.delivery_count, b"FORCE", b"JUSTID", b"LASTID", format_id(group.last_id),
        ])  # fmt: skip
    return effects


def _xreadgroup(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    words = [word.upper() for word in argv]
    name = argv[words.index(b"GROUP") + 1]
    first = words.index(b"STREAMS") + 1
    sources = argv[first : first + (len(argv) - first) // 2]
    starts = argv[first + len(sources) :]
    found = _items(reply)
    read = {_text(found[at]): _items(found[at + 1]) for at in range(0, len(found), 2)}
    effects: Effects = []
    for key, start in zip(sources, starts, strict=True):
        if start != b">" or key not in read:
            continue
        effects += _claims(ctx, key, name, [_text(_items(entry)[0]) for entry in read[key]])
        stream = _stream(ctx, key)
        if b"NOACK" in words[:first] and stream is not None and name in stream.groups:
            group = stream.groups[name]
            effects.append([b"XGROUP", b"CREATECONSUMER", key, name, argv[words.index(b"GROUP") + 2]])
            told = [b"XGROUP", b"SETID", key, name, format_id(group.last_id)]
            effects.append([*told, b"ENTRIESREAD", b"%d" % group.entries_read])
    return effects


def _xclaim(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    return _claims(ctx, argv[1], argv[2], _ids(_items(reply)))


def _xautoclaim(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    parts = _items(reply)
    effects = _claims(ctx, argv[1], argv[2], _ids(_items(parts[1])))
    gone = _ids(_items(parts[2])) if len(parts) > 2 else []
    return effects + ([[b"XACK", argv[1], argv[2], *gone]] if gone else [])


def _ids(entries: list[Any]) -> list[bytes]:
    """The IDs in a list of entries, or of plain IDs."""
    return [entry if isinstance(entry, bytes) else _text(_items(entry)[0]) for entry in entries if entry is not None]


# -- the table ------------------------------------------------------------------------------------


def _as_it_came(ctx: Context, argv: list[bytes], reply: Reply) -> Effects:
    return [argv]


_EFFECTS: Final[dict[bytes, Effect]] = {
    b"set": _set, b"setex": _setex, b"psetex": _setex, b"getset": _getset, b"getdel": _getdel, b"getex": _expire,
    b"incrbyfloat": _incrbyfloat, b"restore": _restore, b"restore-asking": _restore, b"hincrbyfloat": _hincrbyfloat,
    b"spop": _spop, b"blpop": _pop_one(b"LPOP"), b"brpop": _pop_one(b"RPOP"), b"bzpopmin": _pop_one(b"ZPOPMIN"),
    b"bzpopmax": _pop_one(b"ZPOPMAX"), b"lmpop": _pop_many(b"LPOP", b"RPOP", 1),
    b"blmpop": _pop_many(b"LPOP", b"RPOP", 2), b"zmpop": _pop_many(b"ZPOPMIN", b"ZPOPMAX", 1),
    b"bzmpop": _pop_many(b"ZPOPMIN", b"ZPOPMAX", 2), b"blmove": _blmove, b"brpoplpush": _brpoplpush,
    b"xadd": _xadd, b"xtrim": _xtrim, b"xreadgroup": _xreadgroup, b"xclaim": _xclaim, b"xautoclaim": _xautoclaim,
}  # fmt: skip
_QUIET: Final = (
    b"xreadgroup", b"xclaim", b"xautoclaim", b"xack", b"xgroup|create", b"xgroup|setid", b"xgroup|destroy",
    b"xgroup|createconsumer", b"xgroup|delconsumer", b"xsetid", b"publish", b"spublish", b"swapdb", b"flushall",
    b"flushdb", b"function|load", b"function|delete", b"function|flush", b"function|restore",
)  # fmt: skip


def _table() -> EffectTable:
    effects = dict(_EFFECTS)
    for name in _EXPIRE_GROUP:
        effects[name] = _expire
    for name in _FIELD_EXPIRE_GROUP:
        effects[name] = _hexpire
    for name in _QUIET:
        effects.setdefault(name, _as_it_came)
    return EffectTable(effects, frozenset(_QUIET))


EFFECTS: Final[EffectTable] = _table()
