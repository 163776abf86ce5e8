"""From RDB data to a value: every type that Redis has written since 2.4, but for those of modules.

What is read may come from anybody. So lengths are checked before anything is allocated for them,
duplicates are refused, and an empty collection is no value. A value gets the encoding that this server's
limits give it, whatever encoding it had where it was written.
"""

from typing import Final

from redouble.datatypes.hashvalue import HashValue
from redouble.datatypes.limits import Limits
from redouble.datatypes.listvalue import ListValue
from redouble.datatypes.setvalue import SetValue
from redouble.datatypes.sortedset import SortedSet, sorted_set_from
from redouble.doubles import parse_double
from redouble.persistence import format as rdb
from redouble.persistence.format import CorruptData, EmptyValue
from redouble.persistence.packing import read_intset, read_listpack, read_ziplist, read_zipmap
from redouble.persistence.reader import Reader
from redouble.persistence.streams import read_stream

_NO_INTEGER: Final = b"-"


def read_value(source: Reader, kind: int, limits: Limits) -> object:
    """The value of this type. Raises `CorruptData`. O(size), O(n log n) for a sorted set."""
    if kind == rdb.STRING:
        return source.text()
    if kind in (rdb.LIST, rdb.LIST_ZIPLIST, rdb.LIST_OF_ZIPLISTS, rdb.LIST_OF_NODES):
        return ListValue(limits, _some(_read_list(source, kind)))
    if kind in (rdb.SET, rdb.SET_INTSET, rdb.SET_LISTPACK):
        return _read_set(source, kind, limits)
    if kind in (rdb.ZSET, rdb.ZSET_BINARY, rdb.ZSET_ZIPLIST, rdb.ZSET_LISTPACK):
        return _read_sorted_set(source, kind, limits)
    if kind in (rdb.HASH, rdb.HASH_ZIPMAP, rdb.HASH_ZIPLIST, rdb.HASH_LISTPACK):
        return _read_hash(source, kind, limits)
    if rdb.HASH_DEADLINES_OLD <= kind <= rdb.HASH_LISTPACK_DEADLINES:
        return _read_hash_with_deadlines(source, kind, limits)
    if kind in (rdb.STREAM_1, rdb.STREAM_2, rdb.STREAM_3):
        return read_stream(source, kind, limits)
    raise CorruptData("unknown type")


def _some(elements: list[bytes]) -> list[bytes]:
    if not elements:
        raise EmptyValue("a collection without elements")
    return elements


def _texts(source: Reader, count: int) -> list[bytes]:
    return [source.text() for _ in range(count)]


# -- lists ----------------------------------------------------------------------------------


def _read_list(source: Reader, kind: int) -> list[bytes]:
    if kind == rdb.LIST_ZIPLIST:
        return read_ziplist(source.text())
    count = source.count()
    if kind == rdb.LIST:
        return _texts(source, count)
    items: list[bytes] = []
    for _ in range(count):
        container = source.length() if kind == rdb.LIST_OF_NODES else rdb.NODE_PACKED
        node = source.text()
        if not node:
            raise CorruptData("list: empty node")
        if container == rdb.NODE_PLAIN:
            items.append(node)
        elif container != rdb.NODE_PACKED:
            raise CorruptData("list: unknown kind of node")
        elif kind == rdb.LIST_OF_NODES:
            items += read_listpack(node)
        else:
            items += read_ziplist(node)
    return items


# -- sets and sorted sets -------------------------------------------------------------------


def _read_set(source: Reader, kind: int, limits: Limits) -> SetValue:
    if kind == rdb.SET_INTSET:
        members = read_intset(source.text())
    elif kind == rdb.SET_LISTPACK:
        members = read_listpack(source.text())
    else:
        members = _texts(source, source.count())
    value = SetValue(limits)
    if kind == rdb.SET_LISTPACK:
        # A set that has been a listpack stays one, even if only integers are left.
        value.expect(_NO_INTEGER, len(members))
    else:
        value.expect_more(len(members))
    value.update(_some(members))
    if len(value) != len(members):
        raise CorruptData("set: the same member twice")
    return value


def _read_sorted_set(source: Reader, kind: int, limits: Limits) -> SortedSet:
    scores: dict[bytes, float] = {}
    if kind in (rdb.ZSET_ZIPLIST, rdb.ZSET_LISTPACK):
        packed = source.text()
        elements = _pairs(read_ziplist(packed) if kind == rdb.ZSET_ZIPLIST else read_listpack(packed))
        count = len(elements) // 2
        for place in range(0, len(elements), 2):
            scores[elements[place]] = _score(parse_double(elements[place + 1]))
    else:
        count = source.count()
        for _ in range(count):
            member = source.text()
            scores[member] = _score(source.double() if kind == rdb.ZSET_BINARY else source.text_double())
    if count == 0:
        raise EmptyValue("a sorted set without members")
    if len(scores) != count:
        raise CorruptData("sorted set: the same member twice")
    return sorted_set_from(limits, scores)


def _score(score: float | None) -> float:
    if score is None or score != score:
        raise CorruptData("sorted set: a score that is no number")
    return score


def _pairs(elements: list[bytes]) -> list[bytes]:
    if len(elements) % 2:
        raise CorruptData("an element without its partner")
    return elements


# -- hashes ---------------------------------------------------------------------------------


def _read_hash(source: Reader, kind: int, limits: Limits) -> HashValue:
    if kind == rdb.HASH:
        elements = _texts(source, 2 * source.count())
    elif kind == rdb.HASH_ZIPMAP:
        elements = read_zipmap(source.text())
    elif kind == rdb.HASH_ZIPLIST:
        elements = read_ziplist(source.text())
    else:
        elements = read_listpack(source.text())
    _pairs(_some(elements))
    value = HashValue(limits)
    value.expect(len(elements) // 2)
    for place in range(0, len(elements), 2):
        if not value.replace(elements[place], elements[place + 1]):
            raise CorruptData("hash: the same field twice")
    return value


def _read_hash_with_deadlines(source: Reader, kind: int, limits: Limits) -> HashValue:
    """Its fields may have expired already; they go when somebody looks, or when they are due."""
    earliest = 0
    if kind in (rdb.HASH_DEADLINES, rdb.HASH_LISTPACK_DEADLINES):
        earliest = source.time()
    value = HashValue(limits)
    value.keep_deadlines()
    if kind in (rdb.HASH_LISTPACK_DEADLINES, rdb.HASH_LISTPACK_DEADLINES_OLD):
        _read_compact_deadlines(value, _some(read_listpack(source.text())))
        return value
    count = source.count()
    if count == 0:
        raise EmptyValue("a hash without fields")
    value.expect(count)
    for _ in range(count):
        deadline = source.length()
        if deadline and kind == rdb.HASH_DEADLINES:
            deadline += earliest - 1
        field = source.text()
        _add_field(value, field, source.text(), deadline)
    return value


def _read_compact_deadlines(value: HashValue, elements: list[bytes]) -> None:
    if len(elements) % 3:
        raise CorruptData("hash: a field without its value or deadline")
    value.expect(len(elements) // 3)
    before = 0
    endless = False
    for place in range(0, len(elements), 3):
        text = elements[place + 2]
        if not text.isdigit() or len(text) > 20:
            raise CorruptData("hash: a deadline that is no number")
        deadline = int(text)
        if deadline and (endless or deadline < before):
            raise CorruptData("hash: deadlines are not in order")
        before = deadline
        endless = deadline == 0
        _add_field(value, elements[place], elements[place + 1], deadline)


def _add_field(value: HashValue, field: bytes, text: bytes, deadline: int) -> None:
    if not value.replace(field, text):
        raise CorruptData("hash: the same field twice")
    if not 0 <= deadline <= rdb.LAST_DEADLINE:
        raise CorruptData("hash: impossible deadline")
    if deadline:
        value.set_deadline(field, deadline)
