"""Streams as RDB data: their nodes, their counters, their consumer groups.

A node is a listpack. It begins with a master entry: how many entries it has and how many of those are
deleted, and the names of the first entry's fields. Each entry then tells its flags, its ID as a difference
from the node's, its fields (without names where they are those of the master entry), and how many elements
it took. Three types followed one another: the second brought counters (entries ever added, entries a group
has read), the third the time when a consumer last got something.

Simplified: deleted entries that are still in a node are read and count for the node's size, but they are
not written again, since only their number is known.
"""

from typing import Final

from redouble.datatypes.limits import Limits
from redouble.datatypes.stream import Stream
from redouble.datatypes.stream_delivery import entries_read_at
from redouble.datatypes.stream_groups import UNKNOWN, Consumer, Group
from redouble.datatypes.stream_id import MAX_PART
from redouble.datatypes.stream_node import StreamNode
from redouble.persistence import format as rdb
from redouble.persistence.format import CorruptData
from redouble.persistence.packing import (
    begin_listpack,
    finish_listpack,
    pack_element,
    pack_integer,
    read_listpack,
)
from redouble.persistence.reader import Reader
from redouble.persistence.writer import Writer
from redouble.protocol.numbers import try_integer

_DELETED: Final = 1
_SAME_FIELDS: Final = 2
_ID_BYTES: Final = 16


def stream_type(version: int) -> int:
    """The type that a stream is written as in a format version."""
    if version >= rdb.STREAM_3_SINCE:
        return rdb.STREAM_3
    return rdb.STREAM_2 if version >= rdb.STREAM_2_SINCE else rdb.STREAM_1


# -- writing ------------------------------------------------------------------------------------


def write_stream(out: Writer, stream: Stream) -> None:
    """The stream and its groups. O(size)."""
    kind = stream_type(out.version)
    nodes = stream.nodes()
    out.length(len(nodes))
    for node in nodes:
        out.text(node.first_id.to_bytes(_ID_BYTES, "big"))
        out.text(_pack_node(node))
    out.length(stream.length)
    out.stream_id_parts(stream.last_id)
    if kind != rdb.STREAM_1:
        out.stream_id_parts(stream.first_id())
        out.stream_id_parts(stream.max_deleted_id)
        out.length(stream.entries_added)
    out.length(len(stream.groups))
    for name in sorted(stream.groups):
        out.text(name)
        _write_group(out, kind, stream.groups[name])


def _pack_node(node: StreamNode) -> bytes:
    body = begin_listpack()
    names = node.names()
    pack_integer(body, len(node.ids))
    pack_integer(body, 0)
    pack_integer(body, len(names))
    for name in names:
        pack_element(body, name)
    pack_integer(body, 0)
    count = 4 + len(names)
    for place in range(len(node.ids)):
        count += _pack_entry(body, node, names, place)
    return finish_listpack(body, count)


def _pack_entry(body: bytearray, node: StreamNode, names: list[bytes], place: int) -> int:
    """Append an entry to a node's listpack; how many elements it took."""
    id = node.ids[place]
    fields = node.fields[place]
    same = fields[::2] == names
    pack_integer(body, _SAME_FIELDS if same else 0)
    pack_integer(body, _wrapped((id >> 64) - (node.first_id >> 64)))
    pack_integer(body, _wrapped((id & MAX_PART) - (node.first_id & MAX_PART)))
    elements = 3
    if not same:
        pack_integer(body, len(fields) // 2)
        elements += 1
    texts = fields[1::2] if same else fields
    for text in texts:
        pack_element(body, text)
    elements += len(texts)
    pack_integer(body, elements)
    return elements + 1


def _wrapped(number: int) -> int:
    """A difference as C's signed 64 bits hold it."""
    return ((number + (1 << 63)) & MAX_PART) - (1 << 63)


def _write_group(out: Writer, kind: int, group: Group) -> None:
    out.stream_id_parts(group.last_id)
    if kind != rdb.STREAM_1:
        out.length(group.entries_read & rdb.UINT64)
    pending = group.pending.all()
    out.length(len(pending))
    for item in pending:
        out.stream_id(item.id)
        out.time(item.delivery_time)
        out.length(item.delivery_count)
    names = group.consumer_names()
    out.length(len(names))
    for name in names:
        consumer = group.consumers[name]
        out.text(name)
        out.time(consumer.seen_time)
        if kind == rdb.STREAM_3:
            out.time(consumer.active_time)
        own = consumer.pending.all()
        out.length(len(own))
        for item in own:
            out.stream_id(item.id)


# -- reading ------------------------------------------------------------------------------------


def read_stream(source: Reader, kind: int, limits: Limits) -> Stream:
    """A stream of this type. Raises `CorruptData`. O(size)."""
    stream = Stream(limits)
    last = -1
    for _ in range(source.count()):
        key = source.text()
        if len(key) != _ID_BYTES:
            raise CorruptData("stream: wrong ID of a node")
        node = _read_node(int.from_bytes(key, "big"), source.text())
        if node.first_id <= last:
            raise CorruptData("stream: nodes are not in order")
        last = node.last_id
        stream.add_node(node)
    length = source.length()
    stream.last_id = source.stream_id_parts()
    stream.entries_added = length
    if kind != rdb.STREAM_1:
        source.stream_id_parts()  # the first ID, which is known
        stream.max_deleted_id = source.stream_id_parts()
        stream.entries_added = source.length()
    if length != stream.length or stream.top_id() > stream.last_id:
        raise CorruptData("stream: counters contradict entries")
    for _ in range(source.count()):
        name = source.text()
        if name in stream.groups:
            raise CorruptData("stream: the same group twice")
        stream.groups[name] = _read_group(source, kind, stream)
    return stream


def _number(elements: list[bytes], at: int) -> int:
    number = try_integer(elements[at]) if at < len(elements) else None
    if number is None:
        raise CorruptData("stream: no number where one should be")
    return number


def _read_node(id: int, packed: bytes) -> StreamNode:
    elements = read_listpack(packed)
    count = _number(elements, 0) + _number(elements, 1)
    named = _number(elements, 2)
    at = 4 + named
    if named < 0 or _number(elements, at - 1) != 0:
        raise CorruptData("stream: wrong master entry")
    names = elements[3 : at - 1]
    fields: list[bytes] = []
    for name in names:
        fields += [name, b""]
    node = StreamNode(id, fields)
    deleted: list[int] = []
    for place in range(count):
        if _number(elements, at) & _DELETED:
            deleted.append(place)
        at = _read_entry(node, names, elements, at)
    if at != len(elements):
        raise CorruptData("stream: wrong end of a node")
    for place in reversed(deleted):
        node.remove(place, place + 1)
    return node


def _read_entry(node: StreamNode, names: list[bytes], elements: list[bytes], at: int) -> int:
    """Append an entry to the node; where the next one begins."""
    start = at
    flags = _number(elements, at)
    ms = (node.first_id >> 64) + _number(elements, at + 1)
    sequence = (node.first_id & MAX_PART) + _number(elements, at + 2)
    at += 3
    fields: list[bytes] = []
    if flags & _SAME_FIELDS:
        values = elements[at : at + len(names)]
        at += len(names)
        for place in range(len(values)):
            fields += [names[place], values[place]]
    else:
        size = _number(elements, at)
        at += 1 + 2 * size
        if size < 0 or at > len(elements):
            raise CorruptData("stream: wrong number of fields")
        fields = elements[at - 2 * size : at]
    if _number(elements, at) != at - start:
        raise CorruptData("stream: wrong length of an entry")
    id = (ms & MAX_PART) << 64 | (sequence & MAX_PART)
    if id < node.first_id or (node.ids and id <= node.last_id):
        raise CorruptData("stream: entries are not in order")
    node.append(id, fields)
    return at + 1


def _read_group(source: Reader, kind: int, stream: Stream) -> Group:
    group = Group(source.stream_id_parts())
    if kind == rdb.STREAM_1:
        group.entries_read = entries_read_at(stream, group.last_id)
    else:
        read = source.length()
        group.entries_read = UNKNOWN if read == rdb.UINT64 else read
    ids: list[int] = []
    deliveries: dict[int, tuple[int, int]] = {}
    for _ in range(source.count()):
        id = source.stream_id()
        time = source.time()
        deliveries[id] = (time, source.length())
        ids.append(id)
    if len(deliveries) != len(ids):
        raise CorruptData("stream: the same entry pending twice")
    owners = _read_consumers(source, kind, group)
    if len(owners) != len(ids):
        raise CorruptData("stream: pending entries without consumer")
    for id in ids:
        owner = owners.get(id)
        if owner is None:
            raise CorruptData("stream: a pending entry without consumer")
        group.assign(id, owner, deliveries[id][0], deliveries[id][1])
    return group


def _read_consumers(source: Reader, kind: int, group: Group) -> dict[int, Consumer]:
    """Add the consumers to the group; whose the pending entries are."""
    owners: dict[int, Consumer] = {}
    for _ in range(source.count()):
        name = source.text()
        if name in group.consumers:
            raise CorruptData("stream: the same consumer twice")
        consumer = group.add_consumer(name, source.time())
        consumer.active_time = source.time() if kind == rdb.STREAM_3 else consumer.seen_time
        for _ in range(source.count()):
            id = source.stream_id()
            if id in owners:
                raise CorruptData("stream: an entry pending for two consumers")
            owners[id] = consumer
    return owners
