"""The sizes at which a value changes its encoding, as numbers a server may set.

Redis keeps small collections in a compact encoding and converts them one way when they outgrow it.
Our structures have no such encodings, but OBJECT ENCODING must answer as if they had, so each
structure keeps track of which one Redis would use, from one `Limits` shared by the whole server.
CONFIG SET writes the attribute that carries the option's name (dashes as underscores, without the
`max` words); a change rules later conversions only, as in Redis.

The two `has_listpack` flags are facts about versions: sets and lists have that encoding since 7.2. Since
then, too, `looks_ahead`: what is to come into a value in one command counts before it is there.
"""

from typing import final


@final
class Limits:
    """Encoding limits, with the defaults of Redis 7.4."""

    __slots__ = (
        "zset_entries",
        "zset_value",
        "hash_entries",
        "hash_value",
        "set_intset_entries",
        "set_listpack_entries",
        "set_listpack_value",
        "set_has_listpack",
        "list_listpack_size",
        "list_has_listpack",
        "list_compress_depth",
        "looks_ahead",
        "stream_node_bytes",
        "stream_node_entries",
        "hll_sparse_bytes",
    )

    def __init__(self) -> None:
        self.zset_entries: int = 128
        self.zset_value: int = 64
        self.hash_entries: int = 512
        self.hash_value: int = 64
        self.set_intset_entries: int = 512
        self.set_listpack_entries: int = 128
        self.set_listpack_value: int = 64
        self.set_has_listpack: bool = True
        #: Positive: entries; -1 to -5: 4, 8, 16, 32 or 64 KiB.
        self.list_listpack_size: int = -2
        self.list_has_listpack: bool = True
        self.list_compress_depth: int = 0
        self.looks_ahead: bool = True
        self.stream_node_bytes: int = 4096
        self.stream_node_entries: int = 100
        self.hll_sparse_bytes: int = 3000
