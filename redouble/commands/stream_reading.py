"""The stream commands that may wait: XREAD and XREADGROUP.

Both read from several streams, each after an ID, and share the parser. XREAD takes `$` for the last ID
(only what comes from now on) and `+` for the last entry. A wait must not forget where it began, so the
request that runs again on waking has the `$` replaced by the ID it stood for. XREADGROUP takes `>` for what
the group has not been given yet, and any other ID for what the consumer has and has not acknowledged; that
never waits.

Who waits runs its whole request again when an entry comes into one of its streams, or a stream comes into
being. XREADGROUP does so too when a key or group has gone or the key holds another type, and answers the error.
Up to 7.0 Redis served waiters apart from the command: only from the stream that had changed, at most 1000
entries, and with errors of their own. `_narrowed` has that.

Both look each key up twice, all of them before the first is read, as Redis does: it counts hits and misses.
"""

from typing import Final, final

from redouble.commands.streams import announce, entries_reply, strict_id
from redouble.datatypes.stream import Stream
from redouble.datatypes.stream_delivery import MaybeEntry, read_again, read_new
from redouble.datatypes.stream_groups import Consumer, Group
from redouble.datatypes.stream_id import MAX_ID, format_id
from redouble.engine import flags as f
from redouble.engine.blocking import Block, milliseconds_deadline
from redouble.engine.command import Family, after
from redouble.engine.context import Context
from redouble.errors import SYNTAX, CommandError, c_text
from redouble.keyspace.typed import stream_of
from redouble.protocol.numbers import integer
from redouble.protocol.reply import NULL_ARRAY, Bulks, PairMap, Reply

stream_reading: Final = Family("stream")

#: Since then a waiter runs its whole request again, BLOCK is allowed in scripts, and a consumer comes into
#: being with the first request that names it, not with the first entry it gets.
RERUN_SINCE: Final = 70200
_LAST_ENTRY_SINCE: Final = 70400

_NO_BLOCK: Final = -1
_MOST_ON_WAKING: Final = 1000
#: `>` as an ID.
_NEW: Final = MAX_ID

_MEANINGLESS: Final = (
    b"ERR The %b ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by "
    b"specifying a proper ID, or use the > ID to get new messages. The %b ID would just return an empty result set."
)


@final
class ReadRequest:
    """The arguments of XREAD and XREADGROUP. `keys` and `ids` go together."""

    __slots__ = ("count", "deadline", "keys", "ids", "group", "consumer", "no_ack", "grouped")

    def __init__(self) -> None:
        #: 0: all.
        self.count: int = 0
        #: Unix time in ms, 0 for ever, or -1 without BLOCK.
        self.deadline: int = _NO_BLOCK
        self.keys: list[bytes] = []
        self.ids: list[bytes] = []
        self.grouped: bool = False
        self.group: bytes = b""
        self.consumer: bytes = b""
        self.no_ack: bool = False


def _read_request(ctx: Context, argv: list[bytes], grouped: bool) -> ReadRequest:
    """Read the arguments. O(arguments)."""
    request = ReadRequest()
    size = len(argv)
    at = 1
    while at < size:
        word = argv[at].upper()
        more = size - at - 1
        if word == b"STREAMS" and more:
            _take_streams(ctx, request, argv, at + 1, grouped)
            break
        if word == b"BLOCK" and more:
            if ctx.flags & f.IN_SCRIPT and ctx.engine.version < RERUN_SINCE:
                raise CommandError(b"ERR %b command is not allowed with BLOCK option from scripts" % argv[0])
            request.deadline = milliseconds_deadline(ctx, argv[at + 1])
            at += 2
        elif word == b"COUNT" and more:
            request.count = max(integer(argv[at + 1]), 0)
            at += 2
        elif word == b"GROUP" and more >= 2:
            _only_for_groups(grouped, word)
            request.grouped = True
            request.group = argv[at + 1]
            request.consumer = argv[at + 2]
            at += 3
        elif word == b"NOACK":
            _only_for_groups(grouped, word)
            request.no_ack = True
            at += 1
        else:
            raise CommandError(SYNTAX)
    if not request.keys:
        raise CommandError(SYNTAX)
    if grouped and not request.grouped:
        raise CommandError(b"ERR Missing GROUP option for XREADGROUP")
    return request


def _only_for_groups(grouped: bool, word: bytes) -> None:
    if not grouped:
        text = b"ERR The %b option is only supported by XREADGROUP. You called XREAD instead."
        raise CommandError(text % word)


def _take_streams(ctx: Context, request: ReadRequest, argv: list[bytes], at: int, grouped: bool) -> None:
    """Read keys and IDs, which stand from `at` to the end."""
    count = len(argv) - at
    if count % 2:
        name, mark = (b"'xreadgroup'", b">") if grouped else (b"'xread'", b"$")
        if ctx.engine.version < RERUN_SINCE:
            name, mark = b"XREAD", b"$"
        text = b"ERR Unbalanced %b list of streams: for each stream key an ID or '%b' must be specified."
        raise CommandError(text % (name, mark))
    middle = at + count // 2
    request.keys = argv[at:middle]
    request.ids = argv[middle:]


# -- XREAD --------------------------------------------------------------------------------------


@stream_reading.command(
    "xread", "[COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]",
    "Gives the entries of several streams after given IDs; can wait for some.", arity=-4,
    flags="readonly blocking movablekeys timeout_option", keys=[after("RO ACCESS", b"STREAMS", 1, -1, 1, 2)],
    since="5.0.0", complexity="",
)  # fmt: skip
def xread(ctx: Context, argv: list[bytes]) -> Reply:
    """By key the entries after its ID, or a null array. O(streams * log n + result). Redis: XREAD."""
    request = _read_request(ctx, argv, False)
    if ctx.flags & f.WAKING and ctx.engine.version < RERUN_SINCE:
        _narrowed(ctx, request)
    db = ctx.db
    found: list[Reply] = []
    ids: list[int] = []
    for at in range(len(request.keys)):
        ids.append(_id_after(ctx, stream_of(db.read(request.keys[at])), request.ids[at]))
    for at in range(len(ids)):
        key = request.keys[at]
        id = ids[at]
        stream = stream_of(db.read(key))
        if stream is not None and stream.last_id > id:
            entries = stream.range(id + 1, MAX_ID, request.count)
            if entries:
                found.append(key)
                found.append(entries_reply(entries))
    if found:
        return PairMap(found)
    if request.deadline == _NO_BLOCK:
        return NULL_ARRAY
    return Block(request.keys, request.deadline, NULL_ARRAY, Stream, _resolved(argv, request, ids))


def _id_after(ctx: Context, stream: Stream | None, text: bytes) -> int:
    """The ID that XREAD's argument stands for."""
    if text == b"$":
        return 0 if stream is None else stream.last_id
    if text == b"+" and ctx.engine.version >= _LAST_ENTRY_SINCE:
        if stream is None:
            return 0
        if stream.last_id == 0:
            raise CommandError(b"ERR the stream last element ID is 0-0")
        return stream.last_id - 1
    if text == b">":
        raise CommandError(
            b"ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option."
        )
    return strict_id(text)


def _resolved(argv: list[bytes], request: ReadRequest, ids: list[int]) -> list[bytes] | None:
    """The request to run on waking, if it differs: with each `$` replaced by what it stood for."""
    if b"$" not in request.ids:
        return None
    texts = [format_id(id) if text == b"$" else text for id, text in zip(ids, request.ids, strict=True)]
    return argv[: -len(texts)] + texts


def _narrowed(ctx: Context, request: ReadRequest) -> None:
    """How Redis 7.0 and older serve a waiter: from the stream that has changed only, and not without limit."""
    at = request.keys.index(ctx.engine.blocking.key)
    request.keys = request.keys[at : at + 1]
    request.ids = request.ids[at : at + 1]
    if not request.count:
        request.count = _MOST_ON_WAKING


# -- XREADGROUP ---------------------------------------------------------------------------------


@stream_reading.command(
    "xreadgroup",
    "GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK] STREAMS key [key ...] id [id ...]",
    "Gives a consumer new entries of its group's streams, or those it already has; can wait for new ones.", arity=-7,
    flags="write blocking movablekeys wakes_without_key timeout_option",
    keys=[after("RO ACCESS", b"STREAMS", 4, -1, 1, 2)], since="5.0.0",
    complexity="For each stream mentioned: O(M) with M being the number of elements returned. If M is constant (e.g. "
    "always asking for the first 10 elements with COUNT), you can consider it O(1). On the other side when XREADGROUP "
    "blocks, XADD will pay the O(N) time in order to serve the N clients blocked on the stream getting new data.",
)  # fmt: skip
def xreadgroup(ctx: Context, argv: list[bytes]) -> Reply:
    """By key the entries (null fields: deleted), or a null array. O(streams * log n + result). Redis: XREADGROUP."""
    request = _read_request(ctx, argv, True)
    if ctx.flags & f.WAKING and ctx.engine.version < RERUN_SINCE:
        _narrowed(ctx, request)
        _check_still_there(ctx, request)
    ids: list[int] = []
    for at in range(len(request.keys)):
        _stream_and_group(ctx, request.keys[at], request.group)
        ids.append(_group_id(ctx, request.ids[at]))
    found: list[Reply] = []
    for at in range(len(ids)):
        entries = _deliver(ctx, request, request.keys[at], ids[at])
        if entries is not None:
            found.append(request.keys[at])
            found.append(entries)
    if found:
        return PairMap(found)
    if request.deadline == _NO_BLOCK:
        return NULL_ARRAY
    return Block(request.keys, request.deadline, NULL_ARRAY, Stream)


def _check_still_there(ctx: Context, request: ReadRequest) -> None:
    """The errors of Redis 7.0 and older for a waiter whose stream or group has gone."""
    entry = ctx.db.peek(request.keys[0])
    stream = None if entry is None else entry.value
    if not isinstance(stream, Stream):
        raise CommandError(b"UNBLOCKED the stream key no longer exists")
    if request.group not in stream.groups:
        raise CommandError(b"NOGROUP the consumer group this client was blocked on no longer exists")


def _group_id(ctx: Context, text: bytes) -> int:
    """The ID that XREADGROUP's argument stands for, `_NEW` for `>`."""
    if text == b">":
        return _NEW
    if text == b"$" or (text == b"+" and ctx.engine.version >= _LAST_ENTRY_SINCE):
        raise CommandError(_MEANINGLESS % (text, text))
    return strict_id(text)


def _stream_and_group(ctx: Context, key: bytes, name: bytes) -> tuple[Stream, Group]:
    stream = stream_of(ctx.db.read(key))
    group = None if stream is None else stream.groups.get(name)
    if stream is None or group is None:
        text = b"NOGROUP No such key '%b' or consumer group '%b' in XREADGROUP with GROUP option"
        raise CommandError(text % (c_text(key), c_text(name)))
    return stream, group


def _deliver(ctx: Context, request: ReadRequest, key: bytes, id: int) -> list[Reply] | None:
    """What the consumer gets of one stream; None if it asks for new entries and there are none."""
    stream, group = _stream_and_group(ctx, key, request.group)
    now = ctx.space.now
    any_new = stream.last_id > group.last_id and stream.length > 0 and stream.top_id() > group.last_id
    if id == _NEW and not any_new and ctx.engine.version < RERUN_SINCE:
        return None
    consumer = named_consumer(ctx, key, group, request.consumer)
    if id != _NEW:
        return _maybe_entries(read_again(stream, consumer, id + 1, request.count, now))
    if not any_new:
        return None
    entries = read_new(stream, group, consumer, request.count, now, request.no_ack)
    ctx.space.dirty += 1
    return entries_reply(entries)


def named_consumer(ctx: Context, key: bytes, group: Group, name: bytes) -> Consumer:
    """The consumer of this name, now seen; it comes into being, and says so, if it is not there."""
    consumer = group.consumers.get(name)
    if consumer is None:
        consumer = group.add_consumer(name, ctx.space.now)
        announce(ctx, key, b"xgroup-createconsumer")
    consumer.seen_time = ctx.space.now
    return consumer


def _maybe_entries(entries: list[MaybeEntry]) -> list[Reply]:
    found: list[Reply] = []
    for id, fields in entries:
        found.append([format_id(id), NULL_ARRAY if fields is None else Bulks(fields)])
    return found
