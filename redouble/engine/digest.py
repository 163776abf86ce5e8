"""A digest of contents: equal for equal keys, however they came to be.

`redis_digest` is what DEBUG DIGEST-VALUE of a real server gives, so that two servers can be compared.
It takes no notice of when a key expires, nor of a stream's groups. `full_digest` does, and of
everything else that a command can change; tests use it to tell whether anything has changed.

Ordered things are mixed one after the other, unordered ones by exclusive or.
"""

from __future__ import annotations

import hashlib
from typing import Final

from redouble.datatypes.hashvalue import HashValue
from redouble.datatypes.listvalue import ListValue
from redouble.datatypes.setvalue import SetValue
from redouble.datatypes.sortedset import SortedSet
from redouble.datatypes.stream import Stream
from redouble.datatypes.stream_id import MAX_PART
from redouble.doubles import format_double, format_shortest
from redouble.keyspace.database import NEVER, Database, Entry
from redouble.keyspace.space import Keyspace

NOTHING: Final = bytes(20)
_SIZE: Final = 20


def _xor(digest: bytes, data: bytes) -> bytes:
    """The digest with data that has no order."""
    return _both(digest, hashlib.sha1(data).digest())


def _both(first: bytes, second: bytes) -> bytes:
    return (int.from_bytes(first, "big") ^ int.from_bytes(second, "big")).to_bytes(_SIZE, "big")


def _mix(digest: bytes, data: bytes) -> bytes:
    """The digest with data that comes next."""
    return hashlib.sha1(_xor(digest, data)).digest()


def redis_digest(entry: Entry, shortest: bool, start: bytes = NOTHING) -> bytes:
    """The digest of a value as a real server computes it. O(size)."""
    value = entry.value
    if isinstance(value, (bytes, bytearray)):
        digest = _mix(_mix(start, _kind(0)), bytes(value))
    elif isinstance(value, ListValue):
        digest = _mix(start, _kind(1))
        for item in value.items():
            digest = _mix(digest, item)
    elif isinstance(value, SetValue):
        digest = _mix(start, _kind(2))
        for member in value.members:
            digest = _xor(digest, member)
    elif isinstance(value, SortedSet):
        digest = _mix(start, _kind(3))
        for member, score in value.scores.items():
            text = format_shortest(score) if shortest else format_double(score, False)
            digest = _xor(digest, _mix(_mix(NOTHING, member), text))
    elif isinstance(value, HashValue):
        digest = _mix(start, _kind(4))
        for field, text in value.fields.items():
            element = _mix(_mix(NOTHING, field), text)
            if field in value.deadlines:
                element = _xor(element, b"!!hexpire!!")
            digest = _xor(digest, element)
    else:
        assert isinstance(value, Stream)
        digest = _mix(start, _kind(6))
        for id, fields in value.range():
            digest = _mix(digest, b"%d.%d" % (id >> 64, id & MAX_PART))
            for text in fields:
                digest = _mix(digest, text)
    return _xor(digest, b"!!expire!!") if entry.deadline != NEVER else digest


def _kind(number: int) -> bytes:
    return number.to_bytes(4, "big")


def redis_dataset_digest(space: Keyspace, shortest: bool) -> bytes:
    """The digest of all keys as DEBUG DIGEST of a real server gives it. O(size)."""
    total = NOTHING
    for database in space.databases:
        if database.data:
            total = _mix(total, _kind(database.index))
            for key, entry in database.data.items():
                total = _xor(total, redis_digest(entry, shortest, _mix(NOTHING, key)))
    return total


def full_digest(entry: Entry) -> bytes:
    """A digest of all that a command can change in a key. O(size)."""
    value = entry.value
    digest = _mix(redis_digest(entry, True), b"%d" % entry.deadline)
    if isinstance(value, HashValue):
        for field, deadline in sorted(value.deadlines.items()):
            digest = _mix(_mix(digest, field), b"%d" % deadline)
    elif isinstance(value, Stream):
        digest = _mix(digest, b"%d %d %d" % (value.last_id, value.max_deleted_id, value.entries_added))
        for name, group in sorted(value.groups.items()):
            digest = _mix(_mix(digest, name), b"%d %d" % (group.last_id, group.entries_read))
            for consumer in sorted(group.consumers):
                digest = _mix(digest, consumer)
            for pending in group.pending.all():
                digest = _mix(digest, pending.consumer)
                digest = _mix(digest, b"%d %d %d" % (pending.id, pending.delivery_time, pending.delivery_count))
    return digest


def key_digest(database: Database, key: bytes) -> bytes:
    """`full_digest` of a key, `NOTHING` where there is none. O(size)."""
    entry = database.data.get(key)
    return NOTHING if entry is None else full_digest(entry)
