"""From an entry to the value of the type that a command works on, or WRONGTYPE.

Use them on what `Database.find`, `read` or `peek` returned: `list_of(db.read(key))` is the list, or
None where there is no key. A string comes as it is kept: `bytes`, or `bytearray` once it has been
changed in place; `string_of` gives `bytes` for those who only read.
"""

from typing import Final

from redouble.datatypes.hashvalue import HashValue
from redouble.datatypes.listvalue import ListValue
from redouble.datatypes.setvalue import SetValue
from redouble.datatypes.sortedset import SortedSet
from redouble.datatypes.stream import Stream
from redouble.errors import WRONGTYPE, CommandError
from redouble.keyspace.database import Database, Entry

STRING_NAME: Final = b"string"


def string_of(entry: Entry | None) -> bytes | None:
    """The string as bytes. O(1), or O(len) for one that was changed in place."""
    if entry is None:
        return None
    value = entry.value
    if isinstance(value, bytes):
        return value
    if isinstance(value, bytearray):
        return bytes(value)
    raise CommandError(WRONGTYPE)


def check_string(entry: Entry | None) -> None:
    """Raise WRONGTYPE where there is something that is no string."""
    if entry is not None and not isinstance(entry.value, (bytes, bytearray)):
        raise CommandError(WRONGTYPE)


def list_of(entry: Entry | None) -> ListValue | None:
    """The list, or None where there is no key."""
    if entry is None:
        return None
    value = entry.value
    if isinstance(value, ListValue):
        return value
    raise CommandError(WRONGTYPE)


def set_of(entry: Entry | None) -> SetValue | None:
    """The set, or None where there is no key."""
    if entry is None:
        return None
    value = entry.value
    if isinstance(value, SetValue):
        return value
    raise CommandError(WRONGTYPE)


def zset_of(entry: Entry | None) -> SortedSet | None:
    """The sorted set, or None where there is no key."""
    if entry is None:
        return None
    value = entry.value
    if isinstance(value, SortedSet):
        return value
    raise CommandError(WRONGTYPE)


def stream_of(entry: Entry | None) -> Stream | None:
    """The stream, or None where there is no key."""
    if entry is None:
        return None
    value = entry.value
    if isinstance(value, Stream):
        return value
    raise CommandError(WRONGTYPE)


def hash_of(db: Database, key: bytes, entry: Entry | None) -> HashValue | None:
    """The hash with its expired fields gone, or None where there is no key (any more)."""
    if entry is None:
        return None
    value = entry.value
    if isinstance(value, HashValue):
        if value.soonest <= db.space.now and db.expire_fields(key, value):
            return None
        return value
    raise CommandError(WRONGTYPE)


def type_name(value: object) -> bytes:
    """The name that TYPE answers for a value."""
    if isinstance(value, (bytes, bytearray)):
        return STRING_NAME
    if isinstance(value, ListValue):
        return b"list"
    if isinstance(value, SetValue):
        return b"set"
    if isinstance(value, SortedSet):
        return b"zset"
    if isinstance(value, HashValue):
        return b"hash"
    return b"stream"


def duplicate(value: object) -> object:
    """A value that shares nothing which may change. O(n), O(1) for a string."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, (HashValue, ListValue, SetValue, SortedSet, Stream)):
        return value.copy()
    assert isinstance(value, bytearray)
    return bytearray(value)
