"""Between Python and the protocol: arguments to bytes, replies to plain values, keys to plain data."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import hiredis

from redouble.datatypes.hashvalue import HashValue
from redouble.datatypes.listvalue import ListValue
from redouble.datatypes.setvalue import SetValue
from redouble.datatypes.sortedset import SortedSet
from redouble.datatypes.stream import Stream
from redouble.datatypes.stream_id import MAX_PART
from redouble.engine.engine import Engine
from redouble.keyspace.database import NEVER, Database

#: What a reader gives while a reply is not complete; `False` is a reply.
MISSING: Final = object()


class ReplyError(Exception):
    """The server answered with an error: `code` is its first word, `text` all of it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
        self.code = text.partition(" ")[0]


class Aged(NamedTuple):
    """A key's value, and for how many ms it will still be there (None: for ever)."""

    value: Any
    ttl_ms: int | None


def argument(value: object) -> bytes:
    """An argument of a command as bytes. Raises `TypeError`. O(len)."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"an argument must be bytes, str, int or float, not {value!r}; convert it first")
    return repr(value).encode()


def reader() -> Any:
    """A reader of replies, as plain values: bytes, int, float, None, list, dict; an error as `ReplyError`."""
    return hiredis.Reader(replyError=ReplyError, protocolError=ReplyError, notEnoughData=MISSING)


def contents(engine: Engine, ttl: bool) -> dict[int, dict[bytes, Any]]:
    """All keys that are there now, by database; databases without keys are left out. O(size)."""
    found: dict[int, dict[bytes, Any]] = {}
    for database in engine.space.databases:
        keys = _keys(database, engine.clock.now(), ttl)
        if keys:
            found[database.index] = keys
    return found


def _keys(database: Database, now: int, ttl: bool) -> dict[bytes, Any]:
    keys: dict[bytes, Any] = {}
    for key, entry in database.data.items():
        if entry.deadline < now:
            continue
        value = _plain(entry.value, now)
        if value == {} and isinstance(entry.value, HashValue):
            # Each of its fields has expired.
            continue
        if ttl:
            value = Aged(value, None if entry.deadline == NEVER else entry.deadline - now)
        keys[key] = value
    return keys


def _plain(value: Any, now: int) -> Any:
    """bytes, list, set, {member: score}, {field: value}, or [(id, {field: value})]."""
    if isinstance(value, ListValue):
        return list(value.items())
    if isinstance(value, SetValue):
        return set(value.members)
    if isinstance(value, SortedSet):
        return dict(value.scores)
    if isinstance(value, HashValue):
        gone = {field for field, deadline in value.deadlines.items() if deadline < now}
        return {field: text for field, text in value.fields.items() if field not in gone}
    if isinstance(value, Stream):
        return [
            (b"%d-%d" % (id >> 64, id & MAX_PART), dict(zip(fields[::2], fields[1::2], strict=True)))
            for id, fields in value.range()
        ]
    return bytes(value)
