"""Whole RDB files: all databases of a server, and the code of its function libraries.

A file is read in two steps: first all of it becomes `Contents`, then that is put in place. So a file that
is damaged at its end changes nothing. Keys that have expired are left out, as Redis does it; so are
collections without elements, which old versions could write.

A file of a newer format than the server's own is refused, and so is what modules wrote. Auxiliary fields
are read over.
"""

import os
from pathlib import Path
from typing import Final, final

from redouble.keyspace.database import NEVER, Database, Entry
from redouble.keyspace.space import Keyspace
from redouble.persistence import format as rdb
from redouble.persistence.crc64 import crc64
from redouble.persistence.decode import read_value
from redouble.persistence.encode import type_of, write_value
from redouble.persistence.format import CorruptData, EmptyValue
from redouble.persistence.lzf import Compressor
from redouble.persistence.reader import Reader
from redouble.persistence.writer import Writer

_MAGIC: Final = b"REDIS"
_HEADER_BYTES: Final = 9
_CHECKSUM_BYTES: Final = 8
_CHECKSUM_SINCE: Final = 5
_LITTLE_ENDIAN_SINCE: Final = 9


@final
class Contents:
    """What a file holds."""

    __slots__ = ("keys", "functions", "expired")

    def __init__(self) -> None:
        #: Number of the database, key, entry; in the order of the file.
        self.keys: list[tuple[int, bytes, Entry]] = []
        #: The code of the function libraries.
        self.functions: list[bytes] = []
        #: How many keys had expired.
        self.expired: int = 0


# -- writing ------------------------------------------------------------------------------------


@final
class Options:
    """How to write: what the configuration says, and what the server is."""

    __slots__ = (
        "version", "server_version", "compressor", "checksum", "keep_idle", "keep_frequency", "used_memory",
        "functions_only",
    )  # fmt: skip

    def __init__(self, version: int, server_version: bytes) -> None:
        #: The format version, see `format_version`.
        self.version: int = version
        self.server_version: bytes = server_version
        #: None if strings must not be compressed.
        self.compressor: Compressor | None = None
        self.checksum: bool = True
        #: Whether the policy of eviction needs the time of the last use, or the frequency.
        self.keep_idle: bool = False
        self.keep_frequency: bool = False
        self.used_memory: int = 0
        #: Leave out the keys.
        self.functions_only: bool = False


def write_rdb(space: Keyspace, functions: list[bytes], options: Options) -> bytes:
    """The file for all keys and these libraries. O(size)."""
    out = Writer(options.version, options.compressor)
    out.data += _MAGIC + b"%04d" % options.version
    _write_facts(out, space, options)
    for code in functions:
        out.byte(rdb.FUNCTION)
        out.text(code)
    for database in space.databases:
        if database.data and not options.functions_only:
            _write_database(out, database, options)
    out.byte(rdb.END)
    checksum = crc64(bytes(out.data)) if options.checksum else 0
    out.data += checksum.to_bytes(_CHECKSUM_BYTES, "little")
    return bytes(out.data)


def _write_facts(out: Writer, space: Keyspace, options: Options) -> None:
    facts = [
        (b"redis-ver", options.server_version),
        (b"redis-bits", b"64"),
        (b"ctime", b"%d" % (space.now // 1000)),
        (b"used-mem", b"%d" % options.used_memory),
        (b"aof-base" if options.version >= rdb.LISTPACKS_SINCE else b"aof-preamble", b"0"),
    ]
    for name, fact in facts:
        out.byte(rdb.AUXILIARY)
        out.text(name)
        out.text(fact)


def _write_database(out: Writer, database: Database, options: Options) -> None:
    out.byte(rdb.SELECT)
    out.length(database.index)
    out.byte(rdb.RESIZE)
    out.length(len(database.data))
    out.length(database.volatile)
    space = database.space
    for key, entry in database.data.items():
        if entry.deadline != NEVER:
            out.byte(rdb.DEADLINE_MS)
            out.time(entry.deadline)
        if options.keep_idle:
            out.byte(rdb.IDLE)
            out.length(max(space.now - entry.access, 0) // 1000)
        if options.keep_frequency:
            out.byte(rdb.FREQUENCY)
            out.byte(entry.frequency)
        out.byte(type_of(entry.value, options.version))
        out.text(key)
        write_value(out, entry.value, space.limits)


# -- reading ------------------------------------------------------------------------------------


def read_rdb(space: Keyspace, data: bytes, version: int, checksum: bool = True) -> Contents:
    """The contents of a file, not put in place yet. Raises `CorruptData`. O(size).

    Args:
        version: the newest format that may be read.
        checksum: whether the checksum must be right (if the file has one).
    """
    source = Reader(data)
    header = source.raw(_HEADER_BYTES)
    if not header.startswith(_MAGIC) or not header[len(_MAGIC) :].isdigit():
        raise CorruptData("wrong signature")
    file_version = int(header[len(_MAGIC) :])
    if not 1 <= file_version <= version:
        raise CorruptData(f"format version {file_version} can't be read")
    contents = Contents()
    _read_records(_Records(space, source, contents))
    if file_version >= _CHECKSUM_SINCE:
        body = source.at
        written = int.from_bytes(source.raw(_CHECKSUM_BYTES), "little")
        if checksum and written and written != crc64(data[:body]):
            raise CorruptData("wrong checksum")
    return contents


@final
class _Records:
    """Where reading has come to: the database that is selected, and what is said about the next key."""

    __slots__ = ("space", "source", "contents", "database", "deadline", "access", "frequency", "seen")

    def __init__(self, space: Keyspace, source: Reader, contents: Contents) -> None:
        self.space: Keyspace = space
        self.source: Reader = source
        self.contents: Contents = contents
        self.database: int = 0
        self.seen: set[tuple[int, bytes]] = set()
        self.deadline: int = NEVER
        self.access: int = space.now
        self.frequency: int = -1

    def forget(self) -> None:
        """The key that was spoken of has been read."""
        self.deadline = NEVER
        self.access = self.space.now
        self.frequency = -1


def _read_records(records: _Records) -> None:
    source = records.source
    while True:
        code = source.byte()
        if code == rdb.END:
            return
        if code == rdb.DEADLINE_MS:
            records.deadline = source.time()
        elif code == rdb.DEADLINE_SECONDS:
            records.deadline = int.from_bytes(source.raw(4), "little", signed=True) * 1000
        elif code == rdb.IDLE:
            records.access = records.space.now - source.length() * 1000
        elif code == rdb.FREQUENCY:
            records.frequency = source.byte()
        elif code == rdb.SELECT:
            records.database = source.length()
            if records.database >= len(records.space.databases):
                raise CorruptData("more databases than the server has")
        elif code == rdb.RESIZE:
            source.length()
            source.length()
        elif code == rdb.SLOT_INFO:
            source.length()
            source.length()
            source.length()
        elif code == rdb.AUXILIARY:
            source.text()
            source.text()
        elif code == rdb.FUNCTION:
            records.contents.functions.append(source.text())
        else:
            _read_key(records, code)


def _read_key(records: _Records, kind: int) -> None:
    source = records.source
    space = records.space
    contents = records.contents
    key = source.text()
    mark = (records.database, key)
    try:
        entry = Entry(read_value(source, kind, space.limits), records.access)
    except EmptyValue:
        records.forget()
        return
    entry.deadline = records.deadline
    if records.frequency >= 0:
        entry.frequency = records.frequency
    records.forget()
    if entry.deadline < space.now:
        contents.expired += 1
        return
    if mark in records.seen:
        raise CorruptData("the same key twice")
    records.seen.add(mark)
    contents.keys.append((records.database, key, entry))


def put_in_place(space: Keyspace, contents: Contents) -> None:
    """Give the databases what was read, in place of keys of the same names. Nobody is told. O(keys)."""
    for index, key, entry in contents.keys:
        database = space.databases[index]
        database.remove(key)
        database.load(key, entry)


# -- files --------------------------------------------------------------------------------------


def save_file(path: Path, data: bytes) -> None:
    """Write a file so that at any time the old or the new one is there. Raises `OSError`."""
    temporary = path.with_name(f"{path.name}.tmp-{os.getpid()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
