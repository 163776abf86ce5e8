"""The facts of the RDB format: numbers of types and opcodes, and what each format version may hold.

An RDB file is a header, then a sequence of opcodes and key-value pairs, then a checksum. The payload of
DUMP is the type and the value of a single key, then the format version and a checksum. A value's type
says both what it is and how it is packed, so one kind of value has had several types over the years. All
are read; which of them is written follows from the format version, and that from the version of Redis
that the server answers as.

Whoever adds a type touches `encode.py` and `decode.py`.
"""

from typing import Final

# Types of values.
STRING: Final = 0
LIST: Final = 1
SET: Final = 2
ZSET: Final = 3
HASH: Final = 4
ZSET_BINARY: Final = 5
HASH_ZIPMAP: Final = 9
LIST_ZIPLIST: Final = 10
SET_INTSET: Final = 11
ZSET_ZIPLIST: Final = 12
HASH_ZIPLIST: Final = 13
LIST_OF_ZIPLISTS: Final = 14
STREAM_1: Final = 15
HASH_LISTPACK: Final = 16
ZSET_LISTPACK: Final = 17
LIST_OF_NODES: Final = 18
STREAM_2: Final = 19
SET_LISTPACK: Final = 20
STREAM_3: Final = 21
#: With the deadlines of fields; the first two are of release candidates, with absolute times.
HASH_DEADLINES_OLD: Final = 22
HASH_LISTPACK_DEADLINES_OLD: Final = 23
HASH_DEADLINES: Final = 24
HASH_LISTPACK_DEADLINES: Final = 25

# Opcodes, which stand where the type of a value could stand.
SLOT_INFO: Final = 244
FUNCTION: Final = 245
IDLE: Final = 248
FREQUENCY: Final = 249
AUXILIARY: Final = 250
RESIZE: Final = 251
DEADLINE_MS: Final = 252
DEADLINE_SECONDS: Final = 253
SELECT: Final = 254
END: Final = 255

# Special forms of strings, in the low six bits of a length byte whose high two bits are set.
INT8: Final = 0
INT16: Final = 1
INT32: Final = 2
LZF: Final = 3

# How a node of a list is kept.
NODE_PLAIN: Final = 1
NODE_PACKED: Final = 2

# Format versions and what came with them.
LISTPACKS_SINCE: Final = 10
STREAM_2_SINCE: Final = 10
STREAM_3_SINCE: Final = 11
SHORT_DOUBLES_SINCE: Final = 11
FIELD_DEADLINES_SINCE: Final = 12
_VERSIONS: Final[list[tuple[int, int]]] = [(70400, 12), (70200, 11), (70000, 10), (0, 9)]

UINT64: Final = (1 << 64) - 1
#: No field of a hash may expire later, Unix time in ms.
LAST_DEADLINE: Final = (1 << 48) - 1


class CorruptData(Exception):
    """What was read is no RDB data. The text says why, for the log; clients get Redis' own text."""


class EmptyValue(CorruptData):
    """A collection without elements: no value, but a file that has one is read all the same."""


def format_version(server_version: int) -> int:
    """The format that a server of this version (7.2.6 is 70206) writes, and the newest that it reads."""
    for since, version in _VERSIONS:
        if server_version >= since:
            return version
    return 9
