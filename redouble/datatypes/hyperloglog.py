"""HyperLogLogs: strings that estimate how many different elements they have been given.

A value is an ordinary Redis string, bit for bit as Redis has it, so that GET and SET move it about
and a real server reads what we wrote. 16384 registers keep, each for its share of the elements,
the longest run of zero bits (plus one) seen in a hash; many long runs mean many elements. After
a header of 16 bytes ("HYLL", the encoding, three zeros, the last estimate in 8 bytes whose top bit
says that it is out of date) the registers stand in one of two encodings:

- dense: 6 bits each, from the low bits up, 12288 bytes;
- sparse: runs. ``00nnnnnn`` is 1 to 64 zero registers, ``01nnnnnn nnnnnnnn`` up to 16384 of them,
  ``1vvvvvnn`` 1 to 4 registers of a value from 1 to 32.

A new value is sparse. It becomes dense for good once a register needs more than 32, or the string
grows beyond a limit the server sets. Which runs a sparse value has depends on its history, so an
addition must split and merge runs exactly as Redis does; see `_Sparse`.

The estimate is Otmar Ertl's ("New cardinality estimation algorithms for HyperLogLog sketches",
arXiv:1702.01284, 2017), the hash MurmurHash64A by Austin Appleby.

Work on all registers at once goes through whole-string operations that run in C: a byte table for
shifts and masks, long integers to combine strings, and for the maximum of two strings the carry
trick on a long integer with one register per byte.
"""

from collections.abc import Iterable
from itertools import chain
from math import inf, sqrt
from typing import Final, final

REGISTERS: Final = 16384
#: The length of a dense value.
DENSE_BYTES: Final = 16 + REGISTERS * 6 // 8

_HEADER: Final = 16
_DENSE: Final = 0
_SPARSE: Final = 1
_INDEX_BITS: Final = 14
_RUN_BITS: Final = 64 - _INDEX_BITS
_MAX_SPARSE_VALUE: Final = 32
_MAX_SHORT_ZEROS: Final = 64
_MAX_VALUE_RUN: Final = 4
_MERGE_SCAN: Final = 5
_ALPHA: Final = 0.721347520444481703680
_NO_ESTIMATE: Final = -(1 << 63)

_MASK: Final = (1 << 64) - 1
_MURMUR: Final = 0xC6A4A7935BD1E995
_SEED: Final = 0xADC83B19

_TOP_BITS: Final = int.from_bytes(b"\x80" * REGISTERS, "little")
_LOW_6: Final = bytes([byte & 63 for byte in range(256)])
_LOW_4_UP_2: Final = bytes([(byte & 15) << 2 for byte in range(256)])
_LOW_2_UP_4: Final = bytes([(byte & 3) << 4 for byte in range(256)])
_DOWN_2: Final = bytes([byte >> 2 for byte in range(256)])
_DOWN_4: Final = bytes([byte >> 4 for byte in range(256)])
_DOWN_6: Final = bytes([byte >> 6 for byte in range(256)])
_UP_2: Final = bytes([byte << 2 & 255 for byte in range(256)])
_UP_4: Final = bytes([byte << 4 & 255 for byte in range(256)])
_UP_6: Final = bytes([byte << 6 & 255 for byte in range(256)])


class CorruptedError(ValueError):
    """A value that has a right header, but runs that don't add up.

    Where elements were to be added, its second argument is the value with those before the first that failed.
    """


def empty() -> bytes:
    """A value that has been given nothing; its estimate is out of date, as PFADD leaves it."""
    return b"HYLL" + bytes([_SPARSE]) + bytes(10) + b"\x80" + _zeros(REGISTERS)


def is_hyperloglog(value: bytes) -> bool:
    """Whether the header, and the length of a dense value, are right."""
    if len(value) < _HEADER or not value.startswith(b"HYLL"):
        return False
    return value[4] == _SPARSE or (value[4] == _DENSE and len(value) == DENSE_BYTES)


def is_sparse(value: bytes) -> bool:
    """Whether the encoding is the sparse one."""
    return value[4] == _SPARSE


def add(value: bytes, elements: list[bytes], sparse_bytes: int) -> bytes:
    """PFADD: the value after these elements; the very same object if they change no register.

    Args:
        value: a value of the right header.
        elements: what to count.
        sparse_bytes: the length beyond which a sparse value becomes dense.

    Raises:
        CorruptedError: the runs end before a register that is needed.

    O(elements) if dense, O(elements x length) if sparse.
    """
    changes: list[tuple[int, int]] = [_place(element) for element in elements]
    changed = _set_registers(value, changes, sparse_bytes)
    return value if changed is None else _outdated(changed)


def count(value: bytes) -> int:
    """The estimate, worked out anew. Raises `CorruptedError`."""
    return _estimate(registers(value))


def cached_count(value: bytes) -> int | None:
    """The estimate kept in the value, None if it is out of date."""
    return None if value[15] & 0x80 else int.from_bytes(value[8:16], "little")


def with_cached_count(value: bytes, estimate: int) -> bytes:
    """The value with this estimate kept in it."""
    return value[:8] + (estimate & _MASK).to_bytes(8, "little") + value[16:]


def count_union(values: Iterable[bytes]) -> int:
    """The estimate for everything the values have been given. Raises `CorruptedError`."""
    return _estimate(_union(values)[0])


def merge(target: bytes | None, sources: Iterable[bytes], sparse_bytes: int) -> bytes:
    """PFMERGE: the target (None: a new one) after all that the sources have been given.

    It becomes dense if any of them is. Raises `CorruptedError`.
    """
    union, any_dense = _union(sources if target is None else chain([target], sources))
    merged = empty() if target is None else target
    if any_dense:
        merged = to_dense(merged)
    changes = [(index, union[index]) for index in range(REGISTERS) if union[index]]
    changed = _set_registers(merged, changes, sparse_bytes)
    return _outdated(merged if changed is None else changed)


def registers(value: bytes) -> bytes:
    """The registers, one per byte. Raises `CorruptedError`."""
    if is_sparse(value):
        return _unpack_sparse(value)
    first, second, third = value[_HEADER::3], value[_HEADER + 1 :: 3], value[_HEADER + 2 :: 3]
    unpacked = bytearray(REGISTERS)
    unpacked[0::4] = first.translate(_LOW_6)
    unpacked[1::4] = _or(first.translate(_DOWN_6), second.translate(_LOW_4_UP_2))
    unpacked[2::4] = _or(second.translate(_DOWN_4), third.translate(_LOW_2_UP_4))
    unpacked[3::4] = third.translate(_DOWN_2)
    return bytes(unpacked)


def to_dense(value: bytes) -> bytes:
    """The same in the dense encoding. Raises `CorruptedError`."""
    if not is_sparse(value):
        return value
    unpacked = _unpack_sparse(value)
    r0, r1, r2, r3 = unpacked[0::4], unpacked[1::4], unpacked[2::4], unpacked[3::4]
    packed = bytearray(DENSE_BYTES)
    packed[:_HEADER] = value[:_HEADER]
    packed[4] = _DENSE
    packed[_HEADER::3] = _or(r0, r1.translate(_UP_6))
    packed[_HEADER + 1 :: 3] = _or(r1.translate(_DOWN_2), r2.translate(_UP_4))
    packed[_HEADER + 2 :: 3] = _or(r2.translate(_DOWN_4), r3.translate(_UP_2))
    return bytes(packed)


def describe_runs(value: bytes) -> bytes:
    """PFDEBUG DECODE: the runs of a sparse value, such as ``Z:16380 v:2,1 z:3``."""
    runs: list[bytes] = []
    position = _HEADER
    while position < len(value):
        op = value[position]
        length = _run_length(value, position)
        if op & 0x80:
            runs.append(b"v:%d,%d" % (_run_value(op), length))
        else:
            runs.append((b"Z:%d" if op & 0x40 else b"z:%d") % length)
        position += _run_bytes(op)
    return b" ".join(runs)


def _place(element: bytes) -> tuple[int, int]:
    """The register an element belongs to, and the value it asks for there."""
    hashed = murmur64(element)
    run = hashed >> _INDEX_BITS | 1 << _RUN_BITS
    return hashed & (REGISTERS - 1), (run & -run).bit_length()


def murmur64(data: bytes) -> int:
    """MurmurHash64A with Redis' seed. O(length)."""
    length = len(data)
    hashed = _SEED ^ (length * _MURMUR & _MASK)
    whole = length & ~7
    for position in range(0, whole, 8):
        block = int.from_bytes(data[position : position + 8], "little") * _MURMUR & _MASK
        hashed = (hashed ^ ((block ^ block >> 47) * _MURMUR & _MASK)) * _MURMUR & _MASK
    if whole < length:
        hashed = (hashed ^ int.from_bytes(data[whole:], "little")) * _MURMUR & _MASK
    hashed = (hashed ^ hashed >> 47) * _MURMUR & _MASK
    return hashed ^ hashed >> 47


def _outdated(value: bytes) -> bytes:
    """Mark the kept estimate as out of date."""
    return value[:15] + bytes([value[15] | 0x80]) + value[16:]


def _set_registers(value: bytes, changes: list[tuple[int, int]], sparse_bytes: int) -> bytes | None:
    """Raise registers to at least these values; None if all were."""
    done = 0
    if is_sparse(value):
        sparse = _Sparse(value, sparse_bytes)
        try:
            while done < len(changes):
                index, wanted = changes[done]
                if not sparse.raise_register(index, wanted):
                    break
                done += 1
            value = sparse.value()
            if done == len(changes):
                return value if sparse.changed else None
            value = to_dense(value)
        except CorruptedError as error:
            raise CorruptedError(str(error), _outdated(sparse.value()) if sparse.changed else value) from None
    dense = bytearray(value)
    changed = done > 0
    for index, wanted in changes[done:]:
        if _raise_dense(dense, index, wanted):
            changed = True
    return bytes(dense) if changed else None


def _raise_dense(dense: bytearray, index: int, wanted: int) -> bool:
    bit = index * 6
    position = _HEADER + (bit >> 3)
    shift = bit & 7
    if shift <= 2:
        byte = dense[position]
        if byte >> shift & 63 >= wanted:
            return False
        dense[position] = byte & ~(63 << shift) | wanted << shift
        return True
    pair = dense[position] | dense[position + 1] << 8
    if pair >> shift & 63 >= wanted:
        return False
    pair = pair & ~(63 << shift) | wanted << shift
    dense[position] = pair & 255
    dense[position + 1] = pair >> 8
    return True


@final
class _Sparse:
    """A sparse value while registers are raised.

    To raise a register is to find its run, to cut it into up to three, and to merge equal
    neighbours again: from the run before, over five runs at most, as Redis does.

    Runs can only be found from the left. When registers are raised in rising order, as in a merge,
    the search goes on from the run before the last one found.
    """

    __slots__ = ("_data", "_limit", "_start", "_start_index", "changed")

    def __init__(self, value: bytes, limit: int) -> None:
        self._data: bytes = value
        self._limit: int = limit
        #: Where the search may start, and the first register of the run there.
        self._start: int = _HEADER
        self._start_index: int = 0
        self.changed: bool = False

    def value(self) -> bytes:
        """The whole value, header and all."""
        return self._data

    def raise_register(self, index: int, wanted: int) -> bool:
        """Raise a register to at least `wanted`; False if only a dense value can have that."""
        if wanted > _MAX_SPARSE_VALUE:
            return False
        data = self._data
        if index < self._start_index:
            self._start, self._start_index = _HEADER, 0
        before, position, first, length = _find_run(data, index, self._start, self._start_index)
        if before < 0 and position > _HEADER:
            before, position, first, length = _find_run(data, index, _HEADER, 0)
        op = data[position]
        old = _run_value(op) if op & 0x80 else 0
        if old >= wanted:
            return True
        width = _run_bytes(op)
        runs = _run(old, index - first) + _run(wanted, 1) + _run(old, first + length - 1 - index)
        if len(runs) > width and len(data) + len(runs) - width > self._limit:
            return False
        size = len(data) + len(runs) - width  # so the end of a corrupted value's last run is lost, as in Redis
        data = (data[:position] + runs + data[position + width :])[:size]
        if before < 0:
            before = position
        else:
            self._start, self._start_index = before, first - _run_length(data, before)
        self._data = _merge_runs(data, before)
        self.changed = True
        return True


def _find_run(data: bytes, index: int, position: int, first: int) -> tuple[int, int, int, int]:
    """Find the run of a register, from `position` on, whose run begins with register `first`.

    Gives where the run before is (-1: not seen), where the run is, its first register and length.
    """
    end = len(data)
    before = -1
    while position < end:
        op = data[position]
        if op & 0x80:
            length = (op & 3) + 1
        elif op & 0x40:
            length = _run_length(data, position)
        else:
            length = op + 1
        if index < first + length:
            return before, position, first, length
        before = position
        position += 2 if op & 0xC0 == 0x40 else 1
        first += length
    raise CorruptedError("the runs end too early")


def _merge_runs(data: bytes, position: int) -> bytes:
    """Merge equal values that follow each other, looking at five runs from `position` on."""
    for _ in range(_MERGE_SCAN):
        if position >= len(data):
            break
        op = data[position]
        if op & 0x80 and position + 1 < len(data):
            following = data[position + 1]
            length = (op & 3) + (following & 3) + 2
            if op & 0xFC == following & 0xFC and length <= _MAX_VALUE_RUN:
                data = data[:position] + _run(_run_value(op), length) + data[position + 2 :]
                continue
        position += _run_bytes(op)
    return data


def _run(value: int, length: int) -> bytes:
    """The bytes for a run of one value; none for a length of 0."""
    if length <= 0:
        return b""
    return bytes([0x80 | value - 1 << 2 | length - 1]) if value else _zeros(length)


def _zeros(length: int) -> bytes:
    if length <= _MAX_SHORT_ZEROS:
        return bytes([length - 1])
    return bytes([0x40 | length - 1 >> 8, length - 1 & 255])


def _run_bytes(op: int) -> int:
    return 2 if op & 0xC0 == 0x40 else 1


def _run_value(op: int) -> int:
    return (op >> 2 & 31) + 1


def _run_length(data: bytes, position: int) -> int:
    op = data[position]
    if op & 0x80:
        return (op & 3) + 1
    if op & 0x40:
        low = data[position + 1] if position + 1 < len(data) else 0
        return ((op & 63) << 8 | low) + 1
    return op + 1


def _unpack_sparse(value: bytes) -> bytes:
    parts: list[bytes] = []
    total = 0
    position = _HEADER
    while position < len(value):
        op = value[position]
        length = _run_length(value, position)
        total += length
        if total > REGISTERS:
            raise CorruptedError("the runs have too many registers")
        parts.append(bytes([_run_value(op)]) * length if op & 0x80 else bytes(length))
        position += _run_bytes(op)
    if total != REGISTERS:
        raise CorruptedError("the runs have too few registers")
    return b"".join(parts)


def _union(values: Iterable[bytes]) -> tuple[bytes, bool]:
    """The registers' maximum over the values, and whether one of them is dense.

    With the top bit of each byte set in one number, the other can be subtracted without a borrow
    from byte to byte, and the top bit stays where the one was not smaller.
    """
    most = 0
    any_dense = False
    for value in values:
        any_dense = any_dense or not is_sparse(value)
        other = int.from_bytes(registers(value), "little")
        not_smaller = ((most | _TOP_BITS) - other & _TOP_BITS) >> 7
        most = other ^ ((most ^ other) & (not_smaller << 8) - not_smaller)
    return most.to_bytes(REGISTERS, "little"), any_dense


def _or(one: bytes, other: bytes) -> bytes:
    both = int.from_bytes(one, "little") | int.from_bytes(other, "little")
    return both.to_bytes(len(one), "little")


def _estimate(unpacked: bytes) -> int:
    """Ertl's improved estimator, over how many registers have each value."""
    having = _histogram(unpacked)
    total = float(REGISTERS)
    z = total * _tau((total - having[_RUN_BITS + 1]) / total)
    for value in range(_RUN_BITS, 0, -1):
        z = (z + having[value]) * 0.5
    z += total * _sigma(having[0] / total)
    if z == 0.0:
        # Only a value made by hand: Redis shows what rounding infinity gives.
        return _NO_ESTIMATE
    estimate = _ALPHA * total * total / z
    whole = int(estimate)
    return whole + 1 if estimate - whole >= 0.5 else whole


def _histogram(unpacked: bytes) -> list[int]:
    """How many registers have each value. The string soon shrinks, since most values are small."""
    having = [0] * 64
    value = 0
    while unpacked:
        before = len(unpacked)
        unpacked = unpacked.translate(None, bytes([value]))
        having[value] = before - len(unpacked)
        value += 1
    return having


def _sigma(x: float) -> float:
    if x == 1.0:
        return inf
    y = 1.0
    z = x
    while True:
        x *= x
        before = z
        z += x * y
        y += y
        if before == z:
            return z


def _tau(x: float) -> float:
    if x in (0.0, 1.0):
        return 0.0
    y = 1.0
    z = 1.0 - x
    while True:
        x = sqrt(x)
        before = z
        y *= 0.5
        z -= (1.0 - x) * (1.0 - x) * y
        if before == z:
            return z / 3.0
