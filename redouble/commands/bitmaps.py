"""The bitmap group: strings as arrays of bits, and of integers of any width.

Bit 0 is the highest bit of the first byte. Reading takes a window of bytes as one big integer, whose
bits are then counted, searched or cut out by operations that run in C. Writing makes the string a
`bytearray` (see `strings.py`). Whatever is beyond the end of a string, or a missing key, is zeros.

A string counts as changed only if a bit has changed or it has grown, as in Redis since 6.2.
"""

from typing import Final, final

from redouble.commands.strings import writable
from redouble.engine.command import Family, one, span
from redouble.engine.context import Context
from redouble.errors import SYNTAX, CommandError
from redouble.keyspace import events
from redouble.keyspace.typed import check_string, string_of
from redouble.protocol.numbers import integer, try_integer
from redouble.protocol.reply import Reply

bitmap: Final = Family("bitmap")

#: How many bytes BITPOS looks at in one go.
_WINDOW: Final = 4096
#: Before, BITCOUNT and BITPOS knew bytes only.
_UNITS_SINCE: Final = 70000

_BAD_OFFSET: Final = b"ERR bit offset is not an integer or out of range"
_BAD_BIT: Final = b"ERR bit is not an integer or out of range"
_BAD_TYPE: Final = b"ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."


# -- single bits ----------------------------------------------------------------------------


@bitmap.command(
    "setbit", "key offset value", "Sets or clears a bit of a string.", arity=4, flags="write denyoom",
    keys=[one("RW ACCESS UPDATE")], since="2.2.0",
)  # fmt: skip
def setbit(ctx: Context, argv: list[bytes]) -> Reply:
    """The bit before. O(1), O(offset) where the string must grow. Redis: SETBIT."""
    offset = _offset(ctx, argv[2])
    bit = integer(argv[3], _BAD_BIT)
    if bit != 0 and bit != 1:
        raise CommandError(_BAD_BIT)
    value, grown = _room(ctx, argv[1], offset)
    at = offset >> 3
    mask = 128 >> (offset & 7)
    byte = value[at]
    old = 1 if byte & mask else 0
    if grown or old != bit:
        value[at] = byte | mask if bit else byte & ~mask
        ctx.db.touch(argv[1], events.STRING, b"setbit")
    return old


@bitmap.command(
    "getbit", "key offset", "Gives a bit of a string.", arity=3, flags="readonly fast", keys=[one("RO ACCESS")],
    since="2.2.0",
)  # fmt: skip
def getbit(ctx: Context, argv: list[bytes]) -> Reply:
    """The bit, 0 beyond the end. O(1). Redis: GETBIT."""
    offset = _offset(ctx, argv[2])
    entry = ctx.db.read(argv[1])
    if entry is None:
        return 0
    check_string(entry)
    at = offset >> 3
    if at >= len(entry.value):
        return 0
    return entry.value[at] >> (7 - (offset & 7)) & 1


def _offset(ctx: Context, text: bytes, width: int = 0) -> int:
    """A bit's position; `#n` means the n-th field of `width` bits, where there is a width."""
    times = 1
    if width and text[:1] == b"#":
        text = text[1:]
        times = width
    offset = integer(text, _BAD_OFFSET) * times
    if offset < 0 or offset >> 3 >= ctx.engine.bulk_max:
        raise CommandError(_BAD_OFFSET)
    return offset


def _room(ctx: Context, key: bytes, last_bit: int) -> tuple[bytearray, bool]:
    """The string of a key, long enough to hold a bit, and whether it had to grow."""
    db = ctx.db
    entry = db.find(key)
    check_string(entry)
    size = (last_bit >> 3) + 1
    if entry is None:
        value = bytearray(size)
        db.add(key, value)
        return value, True
    value = writable(entry)
    missing = size - len(value)
    if missing <= 0:
        return value, False
    value.extend(bytes(missing))
    return value, True


# -- ranges of bits -------------------------------------------------------------------------


@bitmap.command(
    "bitcount", "key [start end [BYTE | BIT]]", "Counts the bits of a string that are set.", arity=-2,
    flags="readonly", keys=[one("RO ACCESS")], since="2.6.0", complexity="O(N)",
)  # fmt: skip
def bitcount(ctx: Context, argv: list[bytes]) -> Reply:
    """How many bits are 1 from `start` to `end`, both included. O(bytes). Redis: BITCOUNT."""
    count = len(argv)
    if count == 3 or count > 5:
        raise CommandError(SYNTAX)
    start = 0
    end = -1
    if count > 2:
        start = integer(argv[2])
        end = integer(argv[3])
    in_bits = _in_bits(ctx, argv, 4)
    data = string_of(ctx.db.read(argv[1]))
    if data is None or (start < 0 and end < 0 and start > end):
        return 0
    first, last = _span(len(data), start, end, in_bits)
    if first > last:
        return 0
    window = int.from_bytes(data[first >> 3 : (last >> 3) + 1], "big") >> (7 - (last & 7))
    if first & 7:
        window &= (1 << (last - first + 1)) - 1
    return window.bit_count()


@bitmap.command(
    "bitpos", "key bit [start [end [BYTE | BIT]]]", "Finds the first bit of a string that is set, or clear.",
    arity=-3, flags="readonly", keys=[one("RO ACCESS")], since="2.8.7", complexity="O(N)",
)  # fmt: skip
def bitpos(ctx: Context, argv: list[bytes]) -> Reply:
    """The position from the start of the string, or -1. O(bytes looked at). Redis: BITPOS.

    Without an end, a clear bit is always found: at the latest, right behind the string.
    """
    count = len(argv)
    bit = integer(argv[2])
    if bit != 0 and bit != 1:
        raise CommandError(b"ERR The bit argument must be 1 or 0.")
    if count > 6:
        raise CommandError(SYNTAX)
    start = integer(argv[3]) if count > 3 else 0
    in_bits = _in_bits(ctx, argv, 5)
    end = integer(argv[4]) if count > 4 else -1
    data = string_of(ctx.db.read(argv[1]))
    if data is None:
        return -1 if bit else 0
    first, last = _span(len(data), start, end, in_bits)
    if first > last:
        return -1
    found = _first(data, bit, first, last)
    if found < 0 and bit == 0 and count < 5:
        return len(data) * 8
    return found


def _in_bits(ctx: Context, argv: list[bytes], at: int) -> bool:
    """Whether the range counts in bits, by the word at this position."""
    if len(argv) <= at:
        return False
    word = argv[at].upper()
    if word not in (b"BIT", b"BYTE") or ctx.engine.version < _UNITS_SINCE:
        raise CommandError(SYNTAX)
    return word == b"BIT"


def _span(size: int, start: int, end: int, in_bits: bool) -> tuple[int, int]:
    """The first and the last bit of a range in a string of `size` bytes; it may be empty."""
    total = size * 8 if in_bits else size
    if start < 0:
        start = max(start + total, 0)
    if end < 0:
        end = max(end + total, 0)
    if end >= total:
        end = total - 1
    if in_bits:
        return start, end
    return start * 8, end * 8 + 7


def _first(data: bytes, bit: int, first: int, last: int) -> int:
    """The first place between two bits where `data` has this bit, or -1."""
    at = first >> 3
    end = (last >> 3) + 1
    while at < end:
        stop = min(at + _WINDOW, end)
        width = (stop - at) * 8
        window = int.from_bytes(data[at:stop], "big")
        if bit == 0:
            window ^= (1 << width) - 1
        if at * 8 < first:
            window &= (1 << (width - (first & 7))) - 1
        if stop == end:
            beyond = 7 - (last & 7)
            window = window >> beyond << beyond
        if window:
            return at * 8 + width - window.bit_length()
        at = stop
    return -1


@bitmap.command(
    "bitop", "<AND | OR | XOR | NOT> destkey key [key ...]", "Combines strings bit by bit into another.", arity=-4,
    flags="write denyoom", keys=[one("OW UPDATE", 2), span("RO ACCESS", 3)], since="2.6.0", complexity="O(N)",
)  # fmt: skip
def bitop(ctx: Context, argv: list[bytes]) -> Reply:
    """The length of the result, that of the longest string. O(all bytes). Redis: BITOP."""
    operation = argv[1].upper()
    if operation not in (b"AND", b"OR", b"XOR", b"NOT"):
        raise CommandError(SYNTAX)
    if operation == b"NOT" and len(argv) != 4:
        raise CommandError(b"ERR BITOP NOT must be called with a single source key.")
    db = ctx.db
    sources = [string_of(db.read(key)) or b"" for key in argv[3:]]
    size = max([len(source) for source in sources])
    target = argv[2]
    if size:
        # Low byte first, so that shorter strings get their zeros at the end.
        numbers = [int.from_bytes(source, "little") for source in sources]
        result = _combined(operation, numbers, size)
        db.store(target, bytearray(result.to_bytes(size, "little")))
        db.touch(target, events.STRING, b"set")
    elif db.find(target) is not None:
        db.remove(target)
        db.touch(target, events.GENERIC, b"del")
    return size


def _combined(operation: bytes, numbers: list[int], size: int) -> int:
    result = numbers[0]
    if operation == b"NOT":
        return result ^ ((1 << size * 8) - 1)
    for number in numbers[1:]:
        if operation == b"AND":
            result &= number
        elif operation == b"OR":
            result |= number
        else:
            result ^= number
    return result


# -- fields ---------------------------------------------------------------------------------

_GET: Final = 0
_SET: Final = 1
_INCREASE: Final = 2

_WRAP: Final = 0
_SATURATE: Final = 1
_FAIL: Final = 2
_OVERFLOWS: Final[dict[bytes, int]] = {b"WRAP": _WRAP, b"SAT": _SATURATE, b"FAIL": _FAIL}


@final
class FieldOperation:
    """One operation of BITFIELD."""

    __slots__ = ("kind", "signed", "bits", "offset", "amount", "overflow")

    def __init__(self, kind: int, signed: bool, bits: int, offset: int, amount: int, overflow: int) -> None:
        self.kind: int = kind
        self.signed: bool = signed
        self.bits: int = bits
        self.offset: int = offset
        #: The value to set, or the increment.
        self.amount: int = amount
        self.overflow: int = overflow

    def read(self, data: bytes | bytearray) -> int:
        """The field's value; what is beyond the end reads as zeros. O(1)."""
        first = self.offset >> 3
        last = (self.offset + self.bits - 1) >> 3
        window = data[first : last + 1]
        number = int.from_bytes(window, "big") << (last + 1 - first - len(window)) * 8
        number = number >> (7 - ((self.offset + self.bits - 1) & 7)) & ((1 << self.bits) - 1)
        if self.signed and number >> (self.bits - 1):
            number -= 1 << self.bits
        return number

    def write(self, data: bytearray, number: int) -> None:
        """Put a value into the field, which is within `data`. O(1)."""
        first = self.offset >> 3
        last = (self.offset + self.bits - 1) >> 3
        shift = 7 - ((self.offset + self.bits - 1) & 7)
        mask = (1 << self.bits) - 1
        window = int.from_bytes(data[first : last + 1], "big") & ~(mask << shift)
        window |= (number & mask) << shift
        data[first : last + 1] = window.to_bytes(last + 1 - first, "big")

    def changed(self, old: int) -> int | None:
        """The field's new value, or None where it would overflow and may not."""
        if self.kind == _INCREASE:
            number = old + self.amount
        elif self.signed:
            number = self.amount
            if self.bits < 64 and number < (1 << (self.bits - 1)) - (1 << 63):
                # So far below that the distance to the highest value is no 64-bit number: counts as too high.
                number += 1 << 64
        else:
            # A negative number counts as a large one, which only matters for SAT.
            number = self.amount & ((1 << 64) - 1)
        low = -(1 << (self.bits - 1)) if self.signed else 0
        high = low + (1 << self.bits) - 1
        if low <= number <= high:
            return number
        if self.overflow == _FAIL:
            return None
        if self.overflow == _SATURATE:
            return low if number < low else high
        return (number - low) % (1 << self.bits) + low


@bitmap.command(
    "bitfield", "key [<GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET encoding offset value | INCRBY "
    "encoding offset increment>> [<GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET encoding offset value | "
    "INCRBY encoding offset increment>> ...]]", "Reads and changes integers of any width within a string.", arity=-2,
    flags="write denyoom", keys=[one("RW ACCESS UPDATE VARIABLE_FLAGS")], since="3.2.0",
    complexity="O(1) for each subcommand specified",
)  # fmt: skip
def bitfield(ctx: Context, argv: list[bytes]) -> Reply:
    """A result for each operation: the value, for SET the one before. O(operations). Redis: BITFIELD."""
    operations = _operations(ctx, argv)
    last_written = -1
    for operation in operations:
        if operation.kind != _GET:
            last_written = max(last_written, operation.offset + operation.bits - 1)
    if last_written < 0:
        return _read_all(ctx, argv[1], operations)
    data, grown = _room(ctx, argv[1], last_written)
    replies: list[int | None] = []
    changes = 0
    for operation in operations:
        old = operation.read(data)
        new = old if operation.kind == _GET else operation.changed(old)
        if operation.kind != _GET and new is not None:
            operation.write(data, new)
            if grown or old != new:
                changes += 1
        replies.append(old if operation.kind == _SET and new is not None else new)
    if changes:
        ctx.db.touch(argv[1], events.STRING, b"setbit", changes)
    return replies


@bitmap.command(
    "bitfield_ro", "key [GET encoding offset [GET encoding offset ...]]",
    "Reads integers of any width within a string.", arity=-2, flags="readonly fast", keys=[one("RO ACCESS")],
    since="6.0.0", complexity="O(1) for each subcommand specified",
)  # fmt: skip
def bitfield_ro(ctx: Context, argv: list[bytes]) -> Reply:
    """The values. O(operations). Redis: BITFIELD_RO."""
    operations = _operations(ctx, argv)
    for operation in operations:
        if operation.kind != _GET:
            raise CommandError(b"ERR BITFIELD_RO only supports the GET subcommand")
    return _read_all(ctx, argv[1], operations)


def _read_all(ctx: Context, key: bytes, operations: list[FieldOperation]) -> Reply:
    data = string_of(ctx.db.read(key)) or b""
    return [operation.read(data) for operation in operations]


def _operations(ctx: Context, argv: list[bytes]) -> list[FieldOperation]:
    operations: list[FieldOperation] = []
    overflow = _WRAP
    at = 2
    end = len(argv)
    while at < end:
        word = argv[at].upper()
        rest = end - at - 1
        if word == b"OVERFLOW" and rest >= 1:
            named = _OVERFLOWS.get(argv[at + 1].upper())
            if named is None:
                raise CommandError(b"ERR Invalid OVERFLOW type specified")
            overflow = named
            at += 2
            continue
        if word == b"GET" and rest >= 2:
            kind = _GET
        elif word == b"SET" and rest >= 3:
            kind = _SET
        elif word == b"INCRBY" and rest >= 3:
            kind = _INCREASE
        else:
            raise CommandError(SYNTAX)
        signed, bits = _field_type(argv[at + 1])
        offset = _offset(ctx, argv[at + 2], bits)
        amount = 0 if kind == _GET else integer(argv[at + 3])
        operations.append(FieldOperation(kind, signed, bits, offset, amount, overflow))
        at += 3 if kind == _GET else 4
    return operations


def _field_type(text: bytes) -> tuple[bool, int]:
    """Whether the integers are signed, and their width, from such as `i16` or `u8`."""
    signed = text[:1] == b"i"
    bits = try_integer(text[1:])
    if bits is None or bits < 1 or bits > (64 if signed else 63) or text[:1] not in (b"i", b"u"):
        raise CommandError(_BAD_TYPE)
    return signed, bits
