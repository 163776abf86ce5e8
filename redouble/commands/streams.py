"""The stream group, the stream itself: XADD, XTRIM, XLEN, XRANGE, XREVRANGE, XDEL, XSETID.

Reading that may wait is in `stream_reading.py`, consumer groups are in `stream_groups.py`, XINFO is in
`stream_info.py`; they share the small helpers at the end of this file. The structure itself, with IDs as
single integers, is in `datatypes/stream.py`.

XADD without options but `*` has the shortest way. XADD and XTRIM share one parser of their options.
"""

from typing import Final, final

from redouble.datatypes.stream import MAX_ENTRY_BYTES, Entry, Stream
from redouble.datatypes.stream_id import MAX_ID, MAX_PART, format_id, parse_id, parse_interval_id, parse_new_id
from redouble.engine.command import Family, one
from redouble.engine.context import Context
from redouble.errors import NO_SUCH_KEY, SYNTAX, CommandError, wrong_arity
from redouble.keyspace import events
from redouble.keyspace.typed import stream_of
from redouble.protocol.numbers import integer
from redouble.protocol.reply import EMPTY, NULL_ARRAY, OK, Bulks, Reply

streams: Final = Family("stream")

INVALID_ID: Final = b"ERR Invalid stream ID specified as stream command argument"
#: Before, XSETID did not compare its ID with those that had been deleted.
_DELETED_COUNT_SINCE: Final = 70200

_NO_MAXLEN: Final = -1
_NO_MINID: Final = -1
#: The ID is for the server to choose.
_AUTOMATIC: Final = -1
#: Without LIMIT, approximate trimming removes up to so many nodes' worth of entries, within these bounds.
_NODES_AT_ONCE: Final = 100
_DEFAULT_AT_ONCE: Final = 10_000
_MOST_AT_ONCE: Final = 1_000_000

_TWO_STRATEGIES: Final = b"ERR syntax error, MAXLEN and MINID options at the same time are not compatible"


# -- adding and trimming --------------------------------------------------------------------


@final
class AddOrTrim:
    """The options of XADD and XTRIM."""

    __slots__ = ("maxlen", "minid", "approximate", "limit", "no_create", "id", "has_sequence", "id_at")

    def __init__(self) -> None:
        self.maxlen: int = _NO_MAXLEN
        self.minid: int = _NO_MINID
        self.approximate: bool = False
        #: The most entries to remove, -1 if not given.
        self.limit: int = -1
        #: NOMKSTREAM.
        self.no_create: bool = False
        #: The new entry's ID as given, and whether its sequence number is.
        self.id: int = _AUTOMATIC
        self.has_sequence: bool = False
        #: Where in argv it stands.
        self.id_at: int = 2

    def trims(self) -> bool:
        """Whether there is a strategy."""
        return self.maxlen != _NO_MAXLEN or self.minid != _NO_MINID

    def trim(self, ctx: Context, stream: Stream) -> int:
        """Remove what the options say from the stream's front; how many entries. See `Stream.trim_by_length`."""
        limit = 0
        if self.approximate:
            limit = self.limit
            if limit < 0:
                limit = _NODES_AT_ONCE * ctx.space.limits.stream_node_entries
                limit = min(limit, _MOST_AT_ONCE) if limit > 0 else _DEFAULT_AT_ONCE
        if self.maxlen != _NO_MAXLEN:
            return stream.trim_by_length(self.maxlen, self.approximate, limit)
        return stream.trim_by_id(self.minid, self.approximate, limit)


@streams.command(
    "xadd",
    "key [NOMKSTREAM] [<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] <* | id> field value [field value ...]",
    "Adds an entry to a stream, which comes into being if need be.", arity=-5, flags="write denyoom fast",
    keys=[one("RW UPDATE")], since="5.0.0", tips="nondeterministic_output",
    complexity="O(1) when adding a new entry, O(N) when trimming where N being the number of entries evicted.",
)  # fmt: skip
def xadd(ctx: Context, argv: list[bytes]) -> Reply:
    """The new entry's ID; null if there is no stream and NOMKSTREAM. O(fields + trimmed). Redis: XADD."""
    options: AddOrTrim | None = None
    at = 2
    if argv[2] != b"*":
        options = _add_or_trim(argv, True)
        at = options.id_at
    count = len(argv) - at
    if count < 3 or count % 2 == 0:
        raise wrong_arity(b"xadd")
    if options is not None and options.id == 0 and options.has_sequence:
        raise CommandError(b"ERR The ID specified in XADD must be greater than 0-0")
    key = argv[1]
    db = ctx.db
    found = stream_of(db.find(key))
    if found is None and options is not None and options.no_create:
        return None
    stream = Stream(ctx.space.limits) if found is None else found
    id = _new_id(ctx, stream, options)
    fields = argv[at + 1 :]
    size = 0
    for text in fields:
        size += len(text)
    if size > MAX_ENTRY_BYTES:
        raise CommandError(b"ERR Elements are too large to be stored")
    if found is None:
        db.add(key, stream)
    stream.append(id, fields)
    db.touch(key, events.STREAM, b"xadd")
    db.wake(key)
    if options is not None and options.trims() and options.trim(ctx, stream):
        db.notify(key, events.STREAM, b"xtrim")
    return format_id(id)


def _new_id(ctx: Context, stream: Stream, options: AddOrTrim | None) -> int:
    """The ID for a new entry; an error if it is not above all others."""
    if stream.last_id == MAX_ID:
        raise CommandError(b"ERR The stream has exhausted the last possible ID, unable to add more items")
    if options is None or options.id == _AUTOMATIC:
        return stream.next_id(ctx.space.now)
    id = options.id if options.has_sequence else stream.next_id_at(options.id >> 64)
    if id <= stream.last_id:
        raise CommandError(b"ERR The ID specified in XADD is equal or smaller than the target stream top item")
    return id


@streams.command(
    "xtrim", "key <MAXLEN | MINID> [= | ~] threshold [LIMIT count]", "Removes entries from the front of a stream.",
    arity=-4, flags="write", keys=[one("RW DELETE")], since="5.0.0", tips="nondeterministic_output",
    complexity="O(N), with N being the number of evicted entries. Constant times are very small however, since "
    "entries are organized in macro nodes containing multiple entries that can be released with a single deallocation.",
)  # fmt: skip
def xtrim(ctx: Context, argv: list[bytes]) -> Reply:
    """How many entries were removed. O(removed). Redis: XTRIM."""
    options = _add_or_trim(argv, False)
    stream = stream_of(ctx.db.find(argv[1]))
    if stream is None:
        return 0
    removed = options.trim(ctx, stream)
    if removed:
        ctx.db.notify(argv[1], events.STREAM, b"xtrim")
        ctx.db.touch(argv[1], 0, b"", removed)
    return removed


def _add_or_trim(argv: list[bytes], adding: bool) -> AddOrTrim:
    """Read the options of XADD (up to the ID) or XTRIM. O(arguments)."""
    options = AddOrTrim()
    size = len(argv)
    at = 2
    while at < size:
        text = argv[at]
        if adding and text == b"*":
            break
        word = text.upper()
        more = size - at - 1
        if (word == b"MAXLEN" or word == b"MINID") and more:
            at = _threshold(options, argv, at, word == b"MAXLEN")
        elif word == b"LIMIT" and more:
            at += 1
            options.limit = integer(argv[at])
            if options.limit < 0:
                raise CommandError(b"ERR The LIMIT argument must be >= 0.")
        elif adding and word == b"NOMKSTREAM":
            options.no_create = True
        elif adding:
            given = parse_new_id(text)
            if given is None:
                raise CommandError(INVALID_ID)
            options.id, options.has_sequence = given
            break
        else:
            raise CommandError(SYNTAX)
        at += 1
    options.id_at = at
    _check_trimming(options, adding)
    return options


def _threshold(options: AddOrTrim, argv: list[bytes], at: int, by_length: bool) -> int:
    """Read MAXLEN or MINID, which stands at `at`; the position of its last word."""
    if options.trims():
        raise CommandError(_TWO_STRATEGIES)
    at += 1
    options.approximate = False
    if at + 1 < len(argv):
        mark = argv[at]
        if mark == b"~":
            options.approximate = True
            at += 1
        elif mark == b"=":
            at += 1
    if by_length:
        options.maxlen = integer(argv[at])
        if options.maxlen < 0:
            raise CommandError(b"ERR The MAXLEN argument must be >= 0.")
    else:
        options.minid = strict_id(argv[at])
    return at


def _check_trimming(options: AddOrTrim, adding: bool) -> None:
    trims = options.trims()
    if options.limit > 0 and not trims:
        raise CommandError(b"ERR syntax error, LIMIT cannot be used without specifying a trimming strategy")
    if not adding and not trims:
        raise CommandError(b"ERR syntax error, XTRIM must be called with a trimming strategy")
    if options.limit >= 0 and not options.approximate:
        raise CommandError(b"ERR syntax error, LIMIT cannot be used without the special ~ option")


# -- reading --------------------------------------------------------------------------------


@streams.command(
    "xlen", "key", "Counts the entries of a stream.", arity=2, flags="readonly fast", keys=[one("RO")], since="5.0.0"
)
def xlen(ctx: Context, argv: list[bytes]) -> Reply:
    """The number of entries, 0 where there is no key. O(1). Redis: XLEN."""
    stream = stream_of(ctx.db.read(argv[1]))
    return 0 if stream is None else stream.length


@streams.command(
    "xrange", "key start end [COUNT count]", "Gives the entries of a stream between two IDs.", arity=-4,
    flags="readonly", keys=[one("RO ACCESS")], since="5.0.0",
    complexity="O(N) with N being the number of elements being returned. If N is constant (e.g. always asking for the "
    "first 10 elements with COUNT), you can consider it O(1).",
)  # fmt: skip
def xrange(ctx: Context, argv: list[bytes]) -> Reply:
    """The entries from `start` to `end`, a null array for COUNT 0. O(log n + result). Redis: XRANGE."""
    return _range(ctx, argv, argv[2], argv[3], False)


@streams.command(
    "xrevrange", "key end start [COUNT count]", "Gives the entries of a stream between two IDs, the last first.",
    arity=-4, flags="readonly", keys=[one("RO ACCESS")], since="5.0.0",
    complexity="O(N) with N being the number of elements returned. If N is constant (e.g. always asking for the "
    "first 10 elements with COUNT), you can consider it O(1).",
)  # fmt: skip
def xrevrange(ctx: Context, argv: list[bytes]) -> Reply:
    """As `xrange`, from the end. O(log n + result). Redis: XREVRANGE."""
    return _range(ctx, argv, argv[3], argv[2], True)


def _range(ctx: Context, argv: list[bytes], first: bytes, last: bytes, reverse: bool) -> Reply:
    start = range_start(first)
    end = range_end(last)
    count = -1
    for at in range(4, len(argv), 2):
        if argv[at].upper() != b"COUNT" or at + 1 == len(argv):
            raise CommandError(SYNTAX)
        count = max(integer(argv[at + 1]), 0)
    stream = stream_of(ctx.db.read(argv[1]))
    if stream is None:
        return EMPTY
    if count == 0:
        return NULL_ARRAY
    return entries_reply(stream.range(start, end, count, reverse))


# -- deleting, setting ------------------------------------------------------------------------


@streams.command(
    "xdel", "key id [id ...]", "Deletes entries of a stream by their IDs.", arity=-3, flags="write fast",
    keys=[one("RW DELETE")], since="5.0.0",
    complexity="O(1) for each single item to delete in the stream, regardless of the stream size.",
)  # fmt: skip
def xdel(ctx: Context, argv: list[bytes]) -> Reply:
    """How many entries were there to be deleted; the stream stays, even empty. O(IDs * log n). Redis: XDEL."""
    stream = stream_of(ctx.db.find(argv[1]))
    if stream is None:
        return 0
    deleted = stream.delete([strict_id(text) for text in argv[2:]])
    if deleted:
        ctx.db.touch(argv[1], events.STREAM, b"xdel", deleted)
    return deleted


@streams.command(
    "xsetid", "key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]",
    "Sets the counters of a stream, for replication.", arity=-3, flags="write denyoom fast",
    keys=[one("RW UPDATE")], since="5.0.0",
)  # fmt: skip
def xsetid(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(1). Redis: XSETID."""
    id = strict_id(argv[2])
    added = -1
    deleted = 0
    for at in range(3, len(argv), 2):
        word = argv[at].upper()
        if word == b"ENTRIESADDED" and at + 1 < len(argv):
            added = integer(argv[at + 1])
            if added < 0:
                raise CommandError(b"ERR entries_added must be positive")
        elif word == b"MAXDELETEDID" and at + 1 < len(argv):
            deleted = strict_id(argv[at + 1])
            if id < deleted:
                raise CommandError(b"ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id")
        else:
            raise CommandError(SYNTAX)
    stream = stream_of(ctx.db.find(argv[1]))
    if stream is None:
        raise CommandError(NO_SUCH_KEY)
    if id < stream.max_deleted_id and ctx.engine.version >= _DELETED_COUNT_SINCE:
        raise CommandError(b"ERR The ID specified in XSETID is smaller than current max_deleted_entry_id")
    if stream.length:
        if id < stream.top_id():
            raise CommandError(b"ERR The ID specified in XSETID is smaller than the target stream top item")
        if 0 <= added < stream.length:
            raise CommandError(b"ERR The entries_added specified in XSETID is smaller than the target stream length")
    stream.set_id(id, added, deleted)
    announce(ctx, argv[1], b"xsetid")
    return OK


# -- for all stream commands --------------------------------------------------------------------


def announce(ctx: Context, key: bytes, event: bytes) -> None:
    """Publish a change of what stands beside the entries (counters, groups). Redis breaks no WATCH for it."""
    ctx.space.dirty += 1
    ctx.db.notify(key, events.STREAM, event)


def strict_id(text: bytes) -> int:
    """The ID that `text` spells, sequence 0 if it has none; not "-" or "+"."""
    id = parse_id(text)
    if id is None:
        raise CommandError(INVALID_ID)
    return id


def range_start(text: bytes) -> int:
    """The first ID of a range that begins with `text`."""
    end = parse_interval_id(text, 0)
    if end is None:
        raise CommandError(INVALID_ID)
    id, exclusive = end
    if not exclusive:
        return id
    if id == MAX_ID:
        raise CommandError(b"ERR invalid start ID for the interval")
    return id + 1


def range_end(text: bytes) -> int:
    """The last ID of a range that ends with `text`."""
    end = parse_interval_id(text, MAX_PART)
    if end is None:
        raise CommandError(INVALID_ID)
    id, exclusive = end
    if not exclusive:
        return id
    if id == 0:
        raise CommandError(b"ERR invalid end ID for the interval")
    return id - 1


def entries_reply(entries: list[Entry]) -> list[Reply]:
    """Entries as clients get them: each an ID and its fields."""
    return [[format_id(id), Bulks(fields)] for id, fields in entries]
