"""One node of a stream: a run of entries, and how big Redis would find it.

Redis packs the entries of a stream into listpacks of up to a hundred entries or 4096 bytes (both
may be configured), and hangs those into a radix tree by the ID of their first entry. Clients can
see where one listpack ends: MAXLEN and MINID with ``~`` remove whole nodes only, and XINFO STREAM
counts nodes. So a stream here is cut into nodes at the very same places.

A node keeps its entries in two lists in step, IDs and fields. A deleted entry leaves those at
once. In Redis it stays as a tombstone: it fills the node, counts as an entry when the node is
measured, and may be its last ID. For that `tombstones`, `last_id`, and the size keep track.

The size is that of the listpack: each element is a number in 1 to 9 bytes or a string with a
header, then its own length once more for reading backwards. The first entry's field names stand at
the start of the node, and an entry with the same names omits them.
"""

from typing import Final, final

from redouble.datatypes.stream_id import MAX_PART

_HEADER_AND_END: Final = 7
_SIGN: Final = 1 << 63
_KEY_BYTES: Final = 16


@final
class StreamNode:
    """A run of entries.

    Args:
        id: the ID of the first entry, which names the node.
        fields: the first entry's fields and values by turns. It must be appended all the same.
    """

    __slots__ = (
        "_body", "_first_ms", "_first_sequence", "_names", "fields", "first_id", "ids", "last_id", "tombstones"
    )  # fmt: skip

    def __init__(self, id: int, fields: list[bytes]) -> None:
        self.first_id: int = id
        self._first_ms: int = id >> 64
        self._first_sequence: int = id & MAX_PART
        #: The last ID ever appended, even if that entry has been deleted.
        self.last_id: int = id
        self.tombstones: int = 0
        self.ids: list[int] = []
        self.fields: list[list[bytes]] = []
        self._names: list[bytes] = fields[::2]
        names = sum([packed_text(name) for name in self._names])
        zero = packed_int(0)
        #: The size but for the two counters at its start, which change their width.
        self._body: int = _HEADER_AND_END + packed_int(len(self._names)) + names + zero

    def packed_bytes(self) -> int:
        """The size of the listpack."""
        return self._body + packed_int(len(self.ids)) + packed_int(self.tombstones)

    def names(self) -> list[bytes]:
        """The names of the first entry's fields, which stand at the start of the node. To be read only."""
        return self._names

    def append(self, id: int, fields: list[bytes]) -> None:
        """Add an entry; its ID must be the largest. O(fields)."""
        self.ids.append(id)
        self.fields.append(fields)
        self.last_id = id
        self._body += packed_int((id >> 64) - self._first_ms)
        self._body += packed_int((id & MAX_PART) - self._first_sequence)
        total = len(fields)
        elements = 3 + total // 2
        position, step = 1, 2
        if not self._has_names_of(fields):
            position, step = 0, 1
            self._body += packed_int(total // 2)
            elements = 4 + total
        while position < total:
            self._body += packed_text(fields[position])
            position += step
        # One element more for the flags, a number below 128.
        self._body += packed_int(elements) + 2

    def _has_names_of(self, fields: list[bytes]) -> bool:
        names = self._names
        if len(fields) != 2 * len(names):
            return False
        position = 0
        for name in names:
            if fields[position] != name:
                return False
            position += 2
        return True

    def remove(self, start: int, stop: int) -> None:
        """Turn the entries at these positions into tombstones."""
        del self.ids[start:stop]
        del self.fields[start:stop]
        self.tombstones += stop - start

    def copy(self) -> "StreamNode":
        """A copy that shares the entries' fields, which never change."""
        other = StreamNode(self.first_id, [])
        other.last_id = self.last_id
        other.tombstones = self.tombstones
        other.ids = self.ids[:]
        other.fields = self.fields[:]
        other._names = self._names
        other._body = self._body
        return other


def packed_int(value: int) -> int:
    """The bytes that a 64-bit number takes up in a listpack, its length included."""
    if 0 <= value <= 127:
        return 2
    if -4096 <= value <= 4095:
        return 3
    if -0x8000 <= value < 0x8000:
        return 4
    if -0x800000 <= value < 0x800000:
        return 5
    if -0x80000000 <= value < 0x80000000:
        return 6
    if value >= _SIGN or value < -_SIGN:
        return packed_int(((value + _SIGN) & MAX_PART) - _SIGN)
    return 10


def packed_text(text: bytes) -> int:
    """The bytes that a string takes up in a listpack; one that reads as a number is a number."""
    size = len(text)
    if 0 < size <= 20 and text[-1] <= 57 and _is_number(text):
        return packed_int(int(text))
    if size < 64:
        size += 1
    elif size < 4096:
        size += 2
    else:
        size += 5
    if size <= 127:
        return size + 1
    if size < 16383:
        return size + 2
    if size < 2097151:
        return size + 3
    return size + (4 if size < 268435455 else 5)


def _is_number(text: bytes) -> bool:
    """Whether the text is a 64-bit number exactly as it would be printed."""
    digits = text[1:] if text[0] == 45 else text
    if not digits.isdigit():
        return False
    if len(text) == 1:
        return True
    if digits[0] == 48:
        return False
    return len(digits) < 19 or -_SIGN <= int(text) < _SIGN


def radix_nodes(keys: list[int]) -> int:
    """How many nodes a compressed radix tree has for these IDs, sorted, as 16-byte keys. O(n).

    It has an empty node for each key at the end of its way, a node at each point where ways part,
    and a node for each stretch without a fork, but for the one byte the fork above it has spent.
    """
    if not keys:
        return 1
    total = 0
    forks: list[int] = []
    before = -1
    for index in range(len(keys)):
        shared = -1
        if index + 1 < len(keys):
            shared = (128 - (keys[index] ^ keys[index + 1]).bit_length()) // 8
        total += 1 + _has_stretch(_KEY_BYTES, max(before, shared))
        while forks and forks[-1] > shared:
            depth = forks.pop()
            total += 1 + _has_stretch(depth, max(forks[-1] if forks else -1, shared))
        if shared >= 0 and (not forks or forks[-1] < shared):
            forks.append(shared)
        before = shared
    return total


def _has_stretch(depth: int, fork_above: int) -> int:
    return 1 if depth - fork_above - 1 > 0 else 0
