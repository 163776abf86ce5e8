"""HyperLogLogs: PFADD, PFCOUNT, PFMERGE, and PFDEBUG and PFSELFTEST for who looks inside.

A HyperLogLog is a string of a special form (see `datatypes/hyperloglog.py`): GET, SET and APPEND work on
it too, so each command here checks the form first. PFCOUNT of one key keeps its estimate in the value:
for WATCH and client-side caches that is a change, though no event tells of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Final

from redouble.datatypes import hyperloglog as hll
from redouble.engine.command import Family, one, span
from redouble.engine.context import Context
from redouble.errors import CommandError, c_text
from redouble.keyspace import events
from redouble.keyspace.database import Database, Entry
from redouble.keyspace.typed import string_of
from redouble.protocol.reply import OK, Reply, Simple

hyperloglogs: Final = Family("hyperloglog")

_NOT_ONE: Final = b"WRONGTYPE Key is not a valid HyperLogLog string value."
_CORRUPTED: Final = b"INVALIDOBJ Corrupted HLL object detected"
_SELF_TEST_SIZES: Final[list[int]] = [1, 10, 100, 1000, 10000]
#: The largest error that is believed to be chance, in standard errors.
_SELF_TEST_ERRORS: Final = 6
_STANDARD_ERROR: Final = 1.04 / math.sqrt(hll.REGISTERS)


def _value_of(entry: Entry | None) -> bytes | None:
    """The HyperLogLog of an entry, None where there is no key."""
    value = string_of(entry)
    if value is not None and not hll.is_hyperloglog(value):
        raise CommandError(_NOT_ONE)
    return value


def _values(db: Database, keys: list[bytes]) -> Iterator[bytes]:
    """The HyperLogLogs of the keys that are there. Each is looked up when it is wanted: the first flaw decides
    the error, be it in a key or in a value."""
    for key in keys:
        value = _value_of(db.read(key))
        if value is not None:
            yield value


@hyperloglogs.command(
    "pfadd", "key [element [element ...]]", "Lets a HyperLogLog count elements.", arity=-2,
    flags="write denyoom fast", keys=[one("RW INSERT")], since="2.8.9", complexity="O(1) to add every element.",
)  # fmt: skip
def pfadd(ctx: Context, argv: list[bytes]) -> Reply:
    """1 if the estimate may have changed, else 0. O(elements). Redis: PFADD.

    A corrupted value keeps the elements before the one that showed it to be so, without an event, as in Redis.
    """
    key = argv[1]
    db = ctx.db
    entry = db.find(key)
    old = _value_of(entry)
    try:
        new = hll.add(hll.empty() if old is None else old, argv[2:], ctx.space.limits.hll_sparse_bytes)
    except hll.CorruptedError as error:
        if entry is not None:
            entry.value = bytearray(error.args[1])
        raise CommandError(_CORRUPTED) from None
    if entry is None:
        db.add(key, bytearray(new))
    elif new is old:
        return 0
    else:
        entry.value = bytearray(new)
    db.touch(key, events.STRING, b"pfadd")
    return 1


@hyperloglogs.command(
    "pfcount", "key [key ...]", "Estimates how many elements HyperLogLogs have counted.", arity=-2,
    flags="readonly may_replicate", keys=[span("RW ACCESS")], since="2.8.9",
    complexity="O(1) with a single key, O(N) with N being the number of keys, and much bigger constant times, "
    "when called with multiple keys.",
)  # fmt: skip
def pfcount(ctx: Context, argv: list[bytes]) -> Reply:
    """The estimate, of several keys that of their union. O(keys). Redis: PFCOUNT."""
    db = ctx.db
    try:
        if len(argv) > 2:
            return hll.count_union(_values(db, argv[1:]))
        entry = db.read(argv[1])
        value = _value_of(entry)
        if entry is None or value is None:
            return 0
        estimate = hll.cached_count(value)
        if estimate is None:
            estimate = hll.count(value)
            entry.value = bytearray(hll.with_cached_count(value, estimate))
            db.touch(argv[1], 0, b"")
        return estimate
    except hll.CorruptedError:
        raise CommandError(_CORRUPTED) from None


@hyperloglogs.command(
    "pfmerge", "destkey [sourcekey [sourcekey ...]]", "Merges HyperLogLogs into one.", arity=-2,
    flags="write denyoom", keys=[one("RW ACCESS INSERT"), span("RO ACCESS", 2)], since="2.8.9",
    complexity="O(N) to merge N HyperLogLogs, but with high constant times.",
)  # fmt: skip
def pfmerge(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(keys). Redis: PFMERGE."""
    db = ctx.db
    target = argv[1]
    old = _value_of(db.read(target))
    try:
        merged = bytearray(hll.merge(old, _values(db, argv[2:]), ctx.space.limits.hll_sparse_bytes))
    except hll.CorruptedError:
        raise CommandError(_CORRUPTED) from None
    entry = db.find(target)
    if entry is None:
        db.add(target, merged)
    else:
        entry.value = merged
    db.touch(target, events.STRING, b"pfadd")
    return OK


# -- looking inside -------------------------------------------------------------------------


@hyperloglogs.command(
    "pfdebug", "subcommand key", "Shows the inside of a HyperLogLog.", arity=3, flags="write denyoom admin",
    keys=[one("RW ACCESS", 2)], since="2.8.9", complexity="N/A",
)  # fmt: skip
def pfdebug(ctx: Context, argv: list[bytes]) -> Reply:
    """GETREG: the registers, DECODE: the runs, ENCODING: its name, TODENSE. Redis: PFDEBUG."""
    entry = ctx.db.find(argv[2])
    value = _value_of(entry)
    if entry is None or value is None:
        raise CommandError(b"ERR The specified key does not exist")
    look = _LOOKS.get(argv[1].upper())
    if look is None:
        raise CommandError(b"ERR Unknown PFDEBUG subcommand '%b'" % c_text(argv[1]))
    try:
        return look(ctx, entry, value)
    except hll.CorruptedError:
        raise CommandError(_CORRUPTED) from None


def _registers(ctx: Context, entry: Entry, value: bytes) -> Reply:
    _make_dense(ctx, entry, value)
    return list(hll.registers(value))


def _runs(ctx: Context, entry: Entry, value: bytes) -> Reply:
    if not hll.is_sparse(value):
        raise CommandError(b"ERR HLL encoding is not sparse")
    return hll.describe_runs(value)


def _encoding(ctx: Context, entry: Entry, value: bytes) -> Reply:
    return Simple(b"sparse" if hll.is_sparse(value) else b"dense")


def _make_dense(ctx: Context, entry: Entry, value: bytes) -> Reply:
    """1 if it was sparse, else 0. Nobody is told of the change, as in Redis."""
    if not hll.is_sparse(value):
        return 0
    entry.value = bytearray(hll.to_dense(value))
    ctx.space.dirty += 1
    return 1


_LOOKS: Final[dict[bytes, Callable[[Context, Entry, bytes], Reply]]] = {
    b"GETREG": _registers,
    b"DECODE": _runs,
    b"ENCODING": _encoding,
    b"TODENSE": _make_dense,
}


@hyperloglogs.command(
    "pfselftest", "", "Checks that HyperLogLogs estimate well.", arity=1, flags="admin", since="2.8.9",
    complexity="N/A",
)  # fmt: skip
def pfselftest(ctx: Context, argv: list[bytes]) -> Reply:
    """OK, or what is wrong. Both encodings must agree and be right within chance. Redis: PFSELFTEST."""
    start = ctx.space.random.getrandbits(60)
    sparse = hll.empty()
    dense = hll.to_dense(sparse)
    done = 0
    for size in _SELF_TEST_SIZES:
        elements = [(start + number).to_bytes(8, "little") for number in range(done, size)]
        done = size
        sparse = hll.add(sparse, elements, ctx.space.limits.hll_sparse_bytes)
        dense = hll.add(dense, elements, 0)
        estimate = hll.count(dense)
        if estimate != hll.count(sparse):
            raise CommandError(b"ERR TESTFAILED dense/sparse disagree")
        error = abs(estimate - size)
        if error > math.ceil(_SELF_TEST_ERRORS * _STANDARD_ERROR * size):
            raise CommandError(b"ERR TESTFAILED Too big error. card:%d abserr:%d" % (size, error))
    return OK
