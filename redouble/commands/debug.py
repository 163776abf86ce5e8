"""DEBUG: tools for testing servers and clients. Off limits unless enable-debug-command allows it.

Redouble allows it to clients on the same machine, which is where tests run; the real server to nobody
by default. What would crash the real server is refused.
"""

from collections.abc import Callable
from typing import Final

from redouble.clock import hold
from redouble.commands.help import bad_subcommand
from redouble.commands.keys import encoding_name
from redouble.doubles import parse_double
from redouble.engine.client_eviction import LEAST_CLASS
from redouble.engine.command import Family
from redouble.engine.config_file import rewritten
from redouble.engine.config_kinds import memory
from redouble.engine.context import Context
from redouble.engine.digest import NOTHING, redis_dataset_digest, redis_digest
from redouble.engine.sizes import text_size, value_size
from redouble.errors import MUST_BE_POSITIVE, NO_SUCH_KEY, CommandError
from redouble.keyspace.database import Entry
from redouble.protocol.numbers import integer
from redouble.protocol.reply import (
    OK,
    Attributed,
    BigNumber,
    Boolean,
    Double,
    ErrorReply,
    Map,
    Push,
    Reply,
    SetReply,
    Several,
    Simple,
    Verbatim,
)

debug: Final = Family("server")

Tool = Callable[[Context, list[bytes]], Reply]

_PACKED_MAX: Final = (4 << 30) - (1 << 20)


@debug.command(
    "debug", "subcommand [arg ...]", "Holds tools for testing.", arity=-2,
    flags="admin noscript loading stale needs_debug", complexity="Depends on subcommand.",
)  # fmt: skip
def debug_(ctx: Context, argv: list[bytes]) -> Reply:
    """What the tool says. Redis: DEBUG."""
    row = _TOOLS.get(argv[1].lower())
    if row is None or not row[0] <= len(argv) <= row[1]:
        raise bad_subcommand(argv)
    return row[2](ctx, argv)


def _help(ctx: Context, argv: list[bytes]) -> Reply:
    names = [Simple(name.upper()) for name in sorted(_TOOLS)]
    return [Simple(b"DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"), *names]


def _nothing(ctx: Context, argv: list[bytes]) -> Reply:
    """For switches of parts that we have not got."""
    return OK


def _refused(ctx: Context, argv: list[bytes]) -> Reply:
    raise CommandError(b"ERR Redouble does not crash on purpose")


# -- time ---------------------------------------------------------------------------------------


def _sleep(ctx: Context, argv: list[bytes]) -> Reply:
    """Holds the whole server, as the real one."""
    hold(max(0.0, parse_double(argv[2]) or 0.0))
    return OK


def _set_active_expire(ctx: Context, argv: list[bytes]) -> Reply:
    ctx.space.expiry_active = argv[2] != b"0"
    return OK


# -- contents -----------------------------------------------------------------------------------


def _digest(ctx: Context, argv: list[bytes]) -> Reply:
    return Simple(redis_dataset_digest(ctx.space, ctx.engine.encoder2.short_doubles).hex().encode())


def _digest_value(ctx: Context, argv: list[bytes]) -> Reply:
    digests: list[Simple] = []
    for key in argv[2:]:
        entry = ctx.db.data.get(key)
        digest = NOTHING if entry is None else redis_digest(entry, ctx.engine.encoder2.short_doubles)
        digests.append(Simple(digest.hex().encode()))
    return digests


def _entry(ctx: Context, key: bytes) -> Entry:
    entry = ctx.db.data.get(key)
    if entry is None:
        raise CommandError(NO_SUCH_KEY)
    return entry


def _object(ctx: Context, argv: list[bytes]) -> Reply:
    entry = _entry(ctx, argv[2])
    encoding = encoding_name(entry.value)
    text = b"Value at:0x%x refcount:1 encoding:%b serializedlength:%d lru:%d lru_seconds_idle:%d" % (
        id(entry), encoding, value_size(entry.value, 0), entry.access // 1000 & 0xFFFFFF,
        max(0, ctx.now - entry.access) // 1000,
    )  # fmt: skip
    if encoding == b"quicklist":
        count, size = len(entry.value), value_size(entry.value, 0)
        nodes = size // 8192 + 1
        text += b" ql_nodes:%d ql_avg_node:%.2f ql_listpack_max:%d ql_compressed:%d ql_uncompressed_size:%d" % (
            nodes, count / nodes, ctx.space.limits.list_listpack_size,
            1 if ctx.space.limits.list_compress_depth else 0, size,
        )  # fmt: skip
    return Simple(text)


def _sdslen(ctx: Context, argv: list[bytes]) -> Reply:
    value = _entry(ctx, argv[2]).value
    if encoding_name(value) not in (b"raw", b"embstr"):
        raise CommandError(b"ERR Not an sds encoded string.")
    key = argv[2]
    return Simple(
        b"key_sds_len:%d, key_sds_avail:0, key_zmalloc: %d, val_sds_len:%d, val_sds_avail:0, val_zmalloc: %d"
        % (len(key), text_size(len(key)), len(value), text_size(len(value)))
    )


def _listpack(ctx: Context, argv: list[bytes]) -> Reply:
    if not encoding_name(_entry(ctx, argv[2]).value).startswith(b"listpack"):
        raise CommandError(b"ERR Not a listpack encoded object.")
    return Simple(b"Listpack structure printed on stdout")


def _quicklist(ctx: Context, argv: list[bytes]) -> Reply:
    if encoding_name(_entry(ctx, argv[2]).value) != b"quicklist":
        raise CommandError(b"ERR Not a quicklist encoded object.")
    return Simple(b"Quicklist structure printed on stdout")


def _populate(ctx: Context, argv: list[bytes]) -> Reply:
    count = integer(argv[2], MUST_BE_POSITIVE)
    size = integer(argv[4], MUST_BE_POSITIVE) if len(argv) == 5 else 0
    if count < 0 or size < 0:
        raise CommandError(MUST_BE_POSITIVE)
    prefix = argv[3] if len(argv) > 3 else b"key"
    for number in range(count):
        key = b"%b:%d" % (prefix, number)
        if ctx.db.find(key) is None:
            value = b"value:%d" % number
            if size:
                value = value[:size].ljust(size, b"\0")
            ctx.db.add(key, value)
            ctx.db.touch(key, 0, b"")
    return OK


def _reload(ctx: Context, argv: list[bytes]) -> Reply:
    """Through a file and back."""
    words = [word.lower() for word in argv[2:]]
    for word in words:
        if word not in (b"merge", b"noflush", b"nosave"):
            raise CommandError(b"ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.")
    saving = ctx.engine.saving
    if b"nosave" not in words and not saving.save():
        raise CommandError(b"ERR")
    if not saving.load(b"noflush" not in words, b"merge" in words):
        raise CommandError(b"ERR Error trying to load the RDB dump, check server logs.")
    return OK


def _skip_checksums(ctx: Context, argv: list[bytes]) -> Reply:
    ctx.engine.saving.trusting = argv[2] != b"0"
    return OK


def _unbar_scripts(ctx: Context, argv: list[bytes]) -> Reply:
    ctx.engine.scripting.unbarred = argv[2] == b"1"
    return OK


def _hash_table_stats(ctx: Context, argv: list[bytes]) -> Reply:
    index = integer(argv[2])
    if not 0 <= index < len(ctx.space.databases):
        raise CommandError(b"ERR Out of range database")
    database = ctx.space.databases[index]
    return Verbatim(b"[Dictionary HT]\n" + _table(len(database.data)) + b"[Expires HT]\n" + _table(database.volatile))


def _hash_table_stats_key(ctx: Context, argv: list[bytes]) -> Reply:
    value = _entry(ctx, argv[2]).value
    if encoding_name(value) not in (b"hashtable", b"skiplist"):
        raise CommandError(b"ERR The value stored at the specified key is not represented using an hash table")
    return Verbatim(_table(len(value)))


def _table(count: int) -> bytes:
    if not count:
        return b"No stats available for empty dictionaries\n"
    size = 1 << max(2, (count - 1).bit_length())
    return b"Hash table 0 stats (main hash table):\n table size: %d\n number of elements: %d\n" % (size, count)


# -- replies ------------------------------------------------------------------------------------


def _error(ctx: Context, argv: list[bytes]) -> Reply:
    return ErrorReply(argv[2])


def _protocol(ctx: Context, argv: list[bytes]) -> Reply:
    """A reply of each type, for testing clients."""
    name = argv[2].lower()
    if name == b"push":
        if ctx.client.resp < 3:
            raise CommandError(b"ERR RESP2 is not supported by this command")
        push = Push([b"server-cpu-usage", 42])
        return Several([push, b"Some real reply following the push reply"])
    replies: dict[bytes, Reply] = {
        b"string": b"Hello World",
        b"integer": 12345,
        b"double": Double(3.141),
        b"bignum": BigNumber(b"1234567999999999999999999999999999999"),
        b"null": None,
        b"array": [0, 1, 2],
        b"set": SetReply([0, 1, 2]),
        b"map": Map([0, Boolean(False), 1, Boolean(True), 2, Boolean(False)]),
        b"attrib": Attributed([b"key-popularity", [b"key:123", 90]], b"Some real reply following the attribute"),
        b"verbatim": Verbatim(b"This is a verbatim\nstring"),
        b"true": Boolean(True),
        b"false": Boolean(False),
    }
    if name not in replies:
        raise CommandError(
            b"ERR Wrong protocol type name. Please use one of the following: string|integer|double|bignum|null|array|"
            b"set|map|attrib|push|verbatim|true|false"
        )
    return replies[name]


# -- the rest -----------------------------------------------------------------------------------


def _change_replication_id(ctx: Context, argv: list[bytes]) -> Reply:
    ctx.engine.replication.renew_id()
    return OK


def _packed_threshold(ctx: Context, argv: list[bytes]) -> Reply:
    size = memory(argv[2])
    if size is None or size > _PACKED_MAX:
        raise CommandError(b"ERR argument must be a memory value bigger than 1 and smaller than 4gb")
    return OK


def _rewrite_all(ctx: Context, argv: list[bytes]) -> Reply:
    try:
        rewritten(ctx.engine.config)
    except OSError as error:
        reason = str(error.strerror).encode()
        raise CommandError(b"ERR CONFIG-REWRITE-FORCE-ALL failed: " + reason) from None
    return OK


def _reply_buffer(ctx: Context, argv: list[bytes]) -> Reply:
    word = argv[2].lower()
    if word == b"peak-reset-time" and argv[3].lower() not in (b"never", b"reset"):
        integer(argv[3])
    elif word not in (b"peak-reset-time", b"resizing"):
        raise bad_subcommand(argv)
    return OK


def _struct_sizes(ctx: Context, argv: list[bytes]) -> Reply:
    return b"bits:64 robj:16 dictentry:24 sdshdr5:1 sdshdr8:3 sdshdr16:5 sdshdr32:9 sdshdr64:17 "


def _client_eviction(ctx: Context, argv: list[bytes]) -> Reply:
    eviction = ctx.engine.client_eviction
    if not eviction.limit:
        raise CommandError(b"ERR maxmemory-clients is disabled.")
    lines: list[bytes] = []
    classes = eviction.classes()
    for place, (size, count) in enumerate(classes):
        least = 1 << (place - 1 + LEAST_CLASS) if place else 0
        bounds = b"bucket %10d - %10d: " % (least, (1 << (place + LEAST_CLASS)) - 1)
        if place == len(classes) - 1:
            bounds = b"bucket %10d+            : " % least
        lines.append(bounds + b"tot-mem: %10d, clients: %d\n" % (size, count))
    return Verbatim(b"".join(lines))


_MANY: Final = 1 << 30
#: The least and the largest number of arguments (DEBUG itself included), and the tool.
_TOOLS: Final[dict[bytes, tuple[int, int, Tool]]] = {
    b"help": (2, 2, _help),
    b"sleep": (3, 3, _sleep),
    b"set-active-expire": (3, 3, _set_active_expire),
    b"digest": (2, 2, _digest),
    b"digest-value": (2, _MANY, _digest_value),
    b"object": (3, 3, _object),
    b"sdslen": (3, 3, _sdslen),
    b"listpack": (3, 3, _listpack),
    b"ziplist": (3, 3, _listpack),
    b"quicklist": (3, 4, _quicklist),
    b"populate": (3, 5, _populate),
    b"reload": (2, _MANY, _reload),
    b"loadaof": (2, 2, _nothing),
    b"htstats": (3, 4, _hash_table_stats),
    b"htstats-key": (3, 4, _hash_table_stats_key),
    b"error": (3, 3, _error),
    b"protocol": (3, 3, _protocol),
    b"change-repl-id": (2, 2, _change_replication_id),
    b"quicklist-packed-threshold": (3, 3, _packed_threshold),
    b"config-rewrite-force-all": (2, 2, _rewrite_all),
    b"replybuffer": (4, 4, _reply_buffer),
    b"structsize": (2, 2, _struct_sizes),
    b"client-eviction": (2, 2, _client_eviction),
    b"log": (3, 3, _nothing),
    b"leak": (3, 3, _nothing),
    b"replicate": (3, _MANY, _nothing),
    b"stringmatch-test": (2, 2, _nothing),
    b"set-skip-checksum-validation": (3, 3, _skip_checksums),
    b"set-disable-deny-scripts": (3, 3, _unbar_scripts),
    b"aof-flush-sleep": (3, 3, _nothing),
    b"drop-cluster-packet-filter": (3, 3, _nothing),
    b"pause-cron": (3, 3, _nothing),
    b"dict-resizing": (3, 3, _nothing),
    b"jmap": (2, _MANY, _nothing),
    b"segfault": (2, 2, _refused),
    b"panic": (2, 2, _refused),
    b"assert": (2, 2, _refused),
    b"oom": (2, 2, _refused),
    b"restart": (2, 3, _refused),
    b"crash-and-recover": (2, 3, _refused),
}
