"""How much memory a key would take in Redis: for MEMORY USAGE, used_memory and the memory limit.

An estimate by Redis' own layouts on 64 bits: an object of 16 bytes, strings with a header, dictionary
entries of 24 bytes, compact encodings as one block, all rounded up as the allocator does. Collections
that are not compact are judged by their first few elements, as Redis samples them.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from redouble.datatypes.hashvalue import HashValue
from redouble.datatypes.listvalue import ListValue
from redouble.datatypes.setvalue import SetValue
from redouble.datatypes.sortedset import SortedSet
from redouble.datatypes.stream import Stream
from redouble.keyspace.database import Entry
from redouble.protocol.numbers import try_integer

SAMPLES: Final = 5
#: A value whose freeing takes more steps than this is freed later, if at all.
FREED_LATER: Final = 64
_OBJECT: Final = 16
_DICT: Final = 56
_DICT_ENTRY: Final = 24
_ZSET: Final = 16 + 32 + 800
_ZSET_NODE: Final = 40
_QUICKLIST: Final = 40
_QUICKLIST_NODE: Final = 32
_QUICKLIST_BYTES: Final = 8192
_STREAM: Final = 184
_EMBEDDED: Final = 44


def block(size: int) -> int:
    """What the allocator gives for a request: multiples of 8 up to 64, then four steps per doubling."""
    if size <= 64:
        return max(8, (size + 7) & ~7)
    step = 1 << ((size - 1).bit_length() - 3)
    return (size + step - 1) & -step


def text_size(length: int) -> int:
    """A string with its header."""
    header = 1 if length < 32 else 3 if length < 256 else 5 if length < 65536 else 9
    return block(header + length + 1)


def key_size(key: bytes, entry: Entry, samples: int = SAMPLES) -> int:
    """The bytes that a key and its value take, judged by `samples` elements (0: all). O(samples)."""
    return text_size(len(key)) + _DICT_ENTRY + value_size(entry.value, samples)


def is_about_to_go(value: object) -> bool:
    """Whether it is a collection without elements: its key is removed once its change has been announced."""
    return isinstance(value, (ListValue, HashValue, SetValue, SortedSet)) and len(value) == 0


def value_size(value: object, samples: int) -> int:
    """The bytes that a value takes. O(samples)."""
    if isinstance(value, bytes):
        if len(value) <= 20 and try_integer(value) is not None:
            return _OBJECT
        if len(value) <= _EMBEDDED:
            return block(_OBJECT + 3 + len(value) + 1)
        return _OBJECT + text_size(len(value))
    if isinstance(value, bytearray):
        return _OBJECT + text_size(len(value))
    if isinstance(value, ListValue):
        return _list_size(value, samples)
    if isinstance(value, HashValue):
        fields = list(islice(value.fields.items(), samples or None))
        texts = [len(field) for field, _ in fields] + [len(text) for _, text in fields]
        return _dictionary_size(len(value), texts, value.encoding() != b"hashtable", 2)
    if isinstance(value, SetValue):
        texts = [len(member) for member in islice(value.members, samples or None)]
        return _dictionary_size(len(value), texts, value.encoding() != b"hashtable", 1)
    if isinstance(value, SortedSet):
        texts = [len(member) for member in islice(value.scores, samples or None)]
        size = _dictionary_size(len(value), texts, value.packed, 1)
        return size + (len(value) * 3 if value.packed else _ZSET + len(value) * _ZSET_NODE)
    assert isinstance(value, Stream)
    return _OBJECT + _STREAM + sum([block(node_bytes) for node_bytes in _stream_nodes(value)])


def _dictionary_size(count: int, texts: list[int], compact: bool, per_element: int) -> int:
    """A collection in a dictionary, or in one block; `texts` are the lengths of a sample."""
    if not count:
        return _OBJECT
    sampled = len(texts) // per_element
    if compact:
        return _OBJECT + block(7 + sum([length + 2 for length in texts]) * count // sampled)
    buckets = 1 << max(2, (count - 1).bit_length())
    elements = sum([text_size(length) for length in texts]) + _DICT_ENTRY * sampled
    return _OBJECT + _DICT + 8 * buckets + elements * count // sampled


def _list_size(value: ListValue, samples: int) -> int:
    count = len(value)
    texts = [len(item) + 2 for item in value.slice(0, min(count, samples or count))]
    if not texts:
        return _OBJECT
    total = 7 + sum(texts) * count // len(texts)
    if value.encoding() == b"listpack":
        return _OBJECT + block(total)
    return _OBJECT + _QUICKLIST + total + (total // _QUICKLIST_BYTES + 1) * _QUICKLIST_NODE


def _stream_nodes(value: Stream) -> list[int]:
    """A stream's nodes, by the entries that they hold."""
    entries = value.range(count=SAMPLES)
    if not entries:
        return []
    per_entry = sum([16 + sum([len(text) + 2 for text in fields]) for _, fields in entries]) // len(entries)
    return [512 + per_entry * len(value)]


def freeing_steps(value: object) -> int:
    """In how many steps Redis frees a value; see `FREED_LATER`. O(nodes)."""
    if isinstance(value, ListValue):
        return _list_size(value, SAMPLES) // _QUICKLIST_BYTES + 1
    if isinstance(value, (HashValue, SetValue)):
        return len(value) if value.encoding() == b"hashtable" else 1
    if isinstance(value, SortedSet):
        return 1 if value.packed else len(value)
    if isinstance(value, Stream):
        waiting = [len(group.pending) for group in value.groups.values()][:1]
        return value.radix_tree_nodes() + len(value.groups) * (1 + sum(waiting))
    return 1
