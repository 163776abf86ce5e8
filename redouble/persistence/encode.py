"""From a value to RDB data: which type it is written as, and its bytes.

The choice of type is Redis' own: a compact encoding (see each structure's `encoding`) is written as the
packed string that Redis would hold in memory, any other element by element. So the payload of DUMP for a
small value is Redis' to the byte. For a hash table it can't be, because there the order is that of Redis'
random hash function.

Simplified: a list's nodes are cut as if all had been pushed from the right, and a stream forgets its
tombstones (see `streams.py`).
"""

from typing import Final

from redouble.datatypes.hashvalue import HashValue
from redouble.datatypes.limits import Limits
from redouble.datatypes.listpack import EMPTY_LISTPACK, entry_bytes
from redouble.datatypes.listvalue import ListValue
from redouble.datatypes.setvalue import SetValue
from redouble.datatypes.sortedset import SortedSet
from redouble.datatypes.stream import Stream
from redouble.doubles import INTEGERS, format_double
from redouble.persistence import format as rdb
from redouble.persistence.packing import write_intset, write_listpack, write_ziplist
from redouble.persistence.streams import stream_type, write_stream
from redouble.persistence.writer import Writer

_NODE_BYTES: Final[list[int]] = [4096, 8192, 16384, 32768, 65536]
_SAFE_BYTES: Final = 8192
#: Up to here 6.2 wrote whole scores as integers.
_WHOLE_SCORES_ONCE: Final = 4503599627370495.0
#: Redis' guess of what an element takes beside its data.
_OVERHEAD: Final = 8


def type_of(value: object, version: int) -> int:
    """The type that a value is written as in a format version. O(1)."""
    packs = version >= rdb.LISTPACKS_SINCE
    if isinstance(value, (bytes, bytearray)):
        return rdb.STRING
    if isinstance(value, ListValue):
        return rdb.LIST_OF_NODES if packs else rdb.LIST_OF_ZIPLISTS
    if isinstance(value, SetValue):
        return _SET_TYPES[value.encoding()]
    if isinstance(value, SortedSet):
        if not value.packed:
            return rdb.ZSET_BINARY
        return rdb.ZSET_LISTPACK if packs else rdb.ZSET_ZIPLIST
    if isinstance(value, HashValue):
        return _hash_type(value, packs)
    assert isinstance(value, Stream)
    return stream_type(version)


_SET_TYPES: Final[dict[bytes, int]] = {
    b"intset": rdb.SET_INTSET,
    b"listpack": rdb.SET_LISTPACK,
    b"hashtable": rdb.SET,
}


def _hash_type(value: HashValue, packs: bool) -> int:
    encoding = value.encoding()
    if encoding == b"hashtable":
        return rdb.HASH_DEADLINES if value.deadlines else rdb.HASH
    if encoding == b"listpackex":
        return rdb.HASH_LISTPACK_DEADLINES
    return rdb.HASH_LISTPACK if packs else rdb.HASH_ZIPLIST


def write_value(out: Writer, value: object, limits: Limits) -> None:
    """The value, without its type. O(size)."""
    if isinstance(value, (bytes, bytearray)):
        out.text(bytes(value))
    elif isinstance(value, ListValue):
        _write_list(out, value, limits)
    elif isinstance(value, SetValue):
        _write_set(out, value)
    elif isinstance(value, SortedSet):
        _write_sorted_set(out, value)
    elif isinstance(value, HashValue):
        _write_hash(out, value)
    else:
        assert isinstance(value, Stream)
        write_stream(out, value)


def _packed(out: Writer, elements: list[bytes]) -> bytes:
    """The compact form of the time: a listpack, or a ziplist before there were those."""
    if out.version >= rdb.LISTPACKS_SINCE:
        return write_listpack(elements)
    return write_ziplist(elements)


# -- lists ----------------------------------------------------------------------------------


def _write_list(out: Writer, value: ListValue, limits: Limits) -> None:
    items = value.items()
    if value.encoding() == b"listpack":
        nodes = [items]
    else:
        nodes = list_nodes(items, limits.list_listpack_size)
    out.length(len(nodes))
    for node in nodes:
        if out.version < rdb.LISTPACKS_SINCE:
            out.text(write_ziplist(node))
        elif len(node) == 1 and limits.list_has_listpack and len(node[0]) > _node_bytes(limits.list_listpack_size):
            out.length(rdb.NODE_PLAIN)
            out.text(node[0])
        else:
            out.length(rdb.NODE_PACKED)
            out.text(write_listpack(node))


def _node_bytes(fill: int) -> int:
    return _NODE_BYTES[min(-fill, len(_NODE_BYTES)) - 1] if fill < 0 else _SAFE_BYTES


def list_nodes(items: list[bytes], fill: int) -> list[list[bytes]]:
    """The nodes of a quicklist to whose right end the items were pushed; `fill` as list-max-listpack-size. O(n)."""
    most_bytes = _node_bytes(fill)
    most_entries = max(fill, 1) if fill >= 0 else len(items)
    nodes: list[list[bytes]] = []
    node: list[bytes] = []
    size = EMPTY_LISTPACK
    for item in items:
        if node and (size + len(item) + _OVERHEAD > most_bytes or len(node) >= most_entries):
            nodes.append(node)
            node = []
            size = EMPTY_LISTPACK
        node.append(item)
        size += entry_bytes(item)
    nodes.append(node)
    return nodes


# -- sets and sorted sets -------------------------------------------------------------------


def _write_set(out: Writer, value: SetValue) -> None:
    encoding = value.encoding()
    members = value.listing()
    if encoding == b"intset":
        out.text(write_intset(members))
    elif encoding == b"listpack":
        out.text(write_listpack(members))
    else:
        out.length(len(members))
        for member in members:
            out.text(member)


def _write_sorted_set(out: Writer, value: SortedSet) -> None:
    members, scores = value.items()
    if value.packed:
        elements: list[bytes] = []
        for place in range(len(members)):
            elements.append(members[place])
            elements.append(_score_text(scores[place], out.version))
        out.text(_packed(out, elements))
        return
    out.length(len(members))
    for place in range(len(members) - 1, -1, -1):
        out.text(members[place])
        out.double(scores[place])


def _score_text(score: float, version: int) -> bytes:
    """A score within a packed sorted set: a whole number without point or exponent where that is exact."""
    most = INTEGERS if version >= rdb.LISTPACKS_SINCE else _WHOLE_SCORES_ONCE
    if -most <= score <= most and score == int(score):
        return b"%d" % int(score)
    return format_double(score, version >= rdb.SHORT_DOUBLES_SINCE)


# -- hashes ---------------------------------------------------------------------------------


def _write_hash(out: Writer, value: HashValue) -> None:
    encoding = value.encoding()
    if encoding == b"listpackex":
        _write_compact_deadlines(out, value)
    elif encoding == b"listpack":
        out.text(_packed(out, value.flat()))
    elif value.deadlines:
        _write_deadlines(out, value)
    else:
        out.length(len(value))
        for field, text in value.fields.items():
            out.text(field)
            out.text(text)


def _write_compact_deadlines(out: Writer, value: HashValue) -> None:
    """Field, value and deadline by turns: who expires first stands first, who never does (0) last."""
    deadlines = value.deadlines
    order = sorted(deadlines, key=deadlines.__getitem__)
    order += [field for field in value.fields if field not in deadlines]
    elements: list[bytes] = []
    for field in order:
        elements += [field, value.fields[field], b"%d" % deadlines.get(field, 0)]
    out.time(value.soonest if deadlines else 0)
    out.text(write_listpack(elements))


def _write_deadlines(out: Writer, value: HashValue) -> None:
    """Deadline, field and value by turns; a deadline is counted from the earliest, plus 1 (0: never)."""
    earliest = value.soonest
    out.time(earliest)
    out.length(len(value))
    for field, text in value.fields.items():
        deadline = value.deadlines.get(field, -1)
        out.length(deadline - earliest + 1 if deadline >= 0 else 0)
        out.text(field)
        out.text(text)
