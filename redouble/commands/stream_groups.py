"""Consumer groups but for reading: XGROUP, XACK, XPENDING, XCLAIM, XAUTOCLAIM.

What these change stands beside the stream's entries. Redis counts it as a change of the data set and
publishes events, but breaks no WATCH and invalidates no client's cache for it: so they `announce`, and only
a stream that XGROUP CREATE makes is touched. Destroying a group wakes who waits in it.

Simplified: XAUTOCLAIM of versions before 7.0 leaves its third element out, but does not give deleted
entries as nulls.
"""

from typing import Final, final

from redouble.commands.help import bad_subcommand, help_reply
from redouble.commands.stream_reading import RERUN_SINCE, named_consumer
from redouble.commands.streams import INVALID_ID, announce, entries_reply, range_end, range_start, strict_id
from redouble.datatypes.stream import Stream
from redouble.datatypes.stream_delivery import Claim, autoclaim, claim
from redouble.datatypes.stream_groups import UNKNOWN, Consumer, Group
from redouble.datatypes.stream_id import format_id, parse_any_id, parse_id
from redouble.engine.command import Family, one
from redouble.engine.context import Context
from redouble.errors import SYNTAX, CommandError, c_text
from redouble.keyspace import events
from redouble.keyspace.database import Entry
from redouble.keyspace.typed import stream_of
from redouble.protocol.numbers import INT64_MAX, integer
from redouble.protocol.reply import NULL_ARRAY, OK, Bulks, Reply

stream_groups: Final = Family("stream")

#: Before, there was no ENTRIESREAD, and XAUTOCLAIM did not tell what was deleted.
_COUNTERS_SINCE: Final = 70000

_NO_GROUP: Final = b"NOGROUP No such consumer group '%b' for key name '%b'"
_NO_KEY_OR_GROUP: Final = b"NOGROUP No such key '%b' or consumer group '%b'"
_KEY_REQUIRED: Final = (
    b"ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM "
    b"option to create an empty stream automatically."
)
_CLAIM_COUNT: Final = 100
_MOST_TO_CLAIM: Final = INT64_MAX // 16
#: More than this Redis would not find the memory for.
_MOST_IN_MEMORY: Final = 1 << 40


# -- XGROUP -------------------------------------------------------------------------------------

stream_groups.container("xgroup", "Creates, changes and removes consumer groups.", since="5.0.0")


@stream_groups.command(
    "xgroup|create", "key group <id | $> [MKSTREAM] [ENTRIESREAD entries-read]", "Creates a consumer group.",
    arity=-5, flags="write denyoom", keys=[one("RW INSERT", 2)], since="5.0.0",
)  # fmt: skip
def create(ctx: Context, argv: list[bytes]) -> Reply:
    """OK; the group will read what comes after the ID. O(1). Redis: XGROUP CREATE."""
    make, entries_read = _group_options(ctx, argv, True)
    key = argv[2]
    stream = stream_of(ctx.db.find(key))
    if stream is None and not make:
        raise CommandError(_KEY_REQUIRED)
    if len(argv) > 8:
        raise bad_subcommand(argv)
    if argv[4] == b"$":
        id = 0 if stream is None else stream.last_id
    else:
        id = strict_id(argv[4])
    if stream is None:
        stream = Stream(ctx.space.limits)
        stream.groups[argv[3]] = Group(id, entries_read)
        ctx.db.add(key, stream)
        ctx.db.touch(key, events.STREAM, b"xgroup-create")
        return OK
    if argv[3] in stream.groups:
        raise CommandError(b"BUSYGROUP Consumer Group name already exists")
    stream.groups[argv[3]] = Group(id, entries_read)
    announce(ctx, key, b"xgroup-create")
    return OK


@stream_groups.command(
    "xgroup|setid", "key group <id | $> [ENTRIESREAD entries-read]", "Sets where a group goes on to read.", arity=-5,
    flags="write", keys=[one("RW UPDATE", 2)], since="5.0.0",
)  # fmt: skip
def setid(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(1). Redis: XGROUP SETID."""
    _, entries_read = _group_options(ctx, argv, False)
    stream, group = _stream_and_group(ctx, argv)
    if len(argv) not in (5, 7):
        raise bad_subcommand(argv)
    id = stream.last_id if argv[4] == b"$" else parse_any_id(argv[4])
    if id is None:
        raise CommandError(INVALID_ID)
    group.last_id = id
    group.entries_read = entries_read
    announce(ctx, argv[2], b"xgroup-setid")
    return OK


def _group_options(ctx: Context, argv: list[bytes], creating: bool) -> tuple[bool, int]:
    """Read MKSTREAM and ENTRIESREAD of XGROUP CREATE and SETID."""
    make = False
    entries_read = UNKNOWN
    at = 5
    while at < len(argv):
        word = argv[at].upper()
        if creating and word == b"MKSTREAM":
            make = True
            at += 1
        elif word == b"ENTRIESREAD" and at + 1 < len(argv) and ctx.engine.version >= _COUNTERS_SINCE:
            entries_read = integer(argv[at + 1])
            if entries_read < 0 and entries_read != UNKNOWN:
                raise CommandError(b"ERR value for ENTRIESREAD must be positive or -1")
            at += 2
        else:
            raise bad_subcommand(argv)
    return make, entries_read


def _stream_and_group(ctx: Context, argv: list[bytes]) -> tuple[Stream, Group]:
    stream = stream_of(ctx.db.find(argv[2]))
    if stream is None:
        raise CommandError(_KEY_REQUIRED)
    group = stream.groups.get(argv[3])
    if group is None:
        raise CommandError(_NO_GROUP % (c_text(argv[3]), c_text(argv[2])))
    return stream, group


@stream_groups.command(
    "xgroup|destroy", "key group", "Removes a consumer group with all its consumers.", arity=4, flags="write",
    keys=[one("RW DELETE", 2)], since="5.0.0",
    complexity="O(N) where N is the number of entries in the group's pending entries list (PEL).",
)  # fmt: skip
def destroy(ctx: Context, argv: list[bytes]) -> Reply:
    """1, or 0 if there is no such group. O(1). Redis: XGROUP DESTROY."""
    stream = stream_of(ctx.db.find(argv[2]))
    if stream is None:
        raise CommandError(_KEY_REQUIRED)
    if stream.groups.pop(argv[3], None) is None:
        return 0
    announce(ctx, argv[2], b"xgroup-destroy")
    ctx.db.wake(argv[2])
    return 1


@stream_groups.command(
    "xgroup|createconsumer", "key group consumer", "Creates a consumer in a group.", arity=5, flags="write denyoom",
    keys=[one("RW INSERT", 2)], since="6.2.0",
)  # fmt: skip
def createconsumer(ctx: Context, argv: list[bytes]) -> Reply:
    """1, or 0 if there is such a consumer. O(1). Redis: XGROUP CREATECONSUMER."""
    _, group = _stream_and_group(ctx, argv)
    if argv[4] in group.consumers:
        return 0
    group.add_consumer(argv[4], ctx.space.now)
    announce(ctx, argv[2], b"xgroup-createconsumer")
    return 1


@stream_groups.command(
    "xgroup|delconsumer", "key group consumer", "Removes a consumer with what is pending for it.", arity=5,
    flags="write", keys=[one("RW DELETE", 2)], since="5.0.0",
)  # fmt: skip
def delconsumer(ctx: Context, argv: list[bytes]) -> Reply:
    """How many entries were pending for the consumer. O(them). Redis: XGROUP DELCONSUMER."""
    _, group = _stream_and_group(ctx, argv)
    if argv[4] not in group.consumers:
        return 0
    pending = group.delete_consumer(argv[4])
    announce(ctx, argv[2], b"xgroup-delconsumer")
    return pending


@stream_groups.command("xgroup|help", "", "Explains the sub-commands.", arity=2, flags="loading stale", since="5.0.0")
def help_(ctx: Context, argv: list[bytes]) -> Reply:
    """A text. Redis: XGROUP HELP."""
    return help_reply(ctx, argv)


# -- acknowledging ------------------------------------------------------------------------------


@stream_groups.command(
    "xack", "key group id [id ...]", "Confirms that entries are done with.", arity=-4, flags="write fast",
    keys=[one("RW UPDATE")], since="5.0.0", complexity="O(1) for each message ID processed.",
)  # fmt: skip
def xack(ctx: Context, argv: list[bytes]) -> Reply:
    """How many of the entries were pending. O(IDs). Redis: XACK."""
    stream = stream_of(ctx.db.read(argv[1]))
    group = None if stream is None else stream.groups.get(argv[2])
    if group is None:
        return 0
    acknowledged = 0
    for id in [strict_id(text) for text in argv[3:]]:
        if group.acknowledge(id):
            acknowledged += 1
    ctx.space.dirty += acknowledged
    return acknowledged


# -- pending entries ------------------------------------------------------------------------------


@stream_groups.command(
    "xpending", "key group [[IDLE min-idle-time] start end count [consumer]]",
    "Tells what a group's consumers have been given and not confirmed.", arity=-3, flags="readonly",
    keys=[one("RO ACCESS")], since="5.0.0", tips="nondeterministic_output",
    complexity="O(N) with N being the number of elements returned, so asking for a small fixed number of entries per "
    "call is O(1). O(M), where M is the total number of entries scanned when used with the IDLE filter. When the "
    "command returns just the summary and the list of consumers is small, it runs in O(1) time; otherwise, an "
    "additional O(N) time for iterating every consumer.",
)  # fmt: skip
def xpending(ctx: Context, argv: list[bytes]) -> Reply:
    """A summary, or the entries of a range with owner, idle time and deliveries. O(entries). Redis: XPENDING."""
    size = len(argv)
    if size == 3:
        return _pending_summary(_group(argv, ctx.db.read(argv[1]))[1])
    if size < 6 or size > 9:
        raise CommandError(SYNTAX)
    at = 3
    min_idle = 0
    if argv[3].upper() == b"IDLE":
        min_idle = integer(argv[4])
        if size < 8:
            raise CommandError(SYNTAX)
        at = 5
    count = max(integer(argv[at + 2]), 0)
    start = range_start(argv[at])
    end = range_end(argv[at + 1])
    name = argv[at + 3] if at + 3 < size else None
    _, group = _group(argv, ctx.db.read(argv[1]))
    now = ctx.space.now
    delivered_by = now - min_idle if min_idle else INT64_MAX
    found: list[Reply] = []
    for pending in group.pending_range(start, end, count, name, delivered_by):
        idle = max(now - pending.delivery_time, 0)
        found.append([format_id(pending.id), pending.consumer, idle, pending.delivery_count])
    return found


def _pending_summary(group: Group) -> Reply:
    listed = group.pending
    if not len(listed):
        return [0, None, None, NULL_ARRAY]
    owners: list[Reply] = [[name, b"%d" % count] for name, count in group.pending_by_consumer()]
    return [len(listed), format_id(listed.first_id()), format_id(listed.last_id()), owners]


def _group(argv: list[bytes], entry: Entry | None) -> tuple[Stream, Group]:
    """The stream and the group of a command that has both as its first arguments."""
    stream = stream_of(entry)
    group = None if stream is None else stream.groups.get(argv[2])
    if stream is None or group is None:
        raise CommandError(_NO_KEY_OR_GROUP % (c_text(argv[1]), c_text(argv[2])))
    return stream, group


# -- claiming -----------------------------------------------------------------------------------


@final
class ClaimOptions:
    """The options of XCLAIM. Times in ms, -1 where not given."""

    __slots__ = ("force", "just_id", "delivery_time", "retry_count", "last_id")

    def __init__(self) -> None:
        self.force: bool = False
        self.just_id: bool = False
        self.delivery_time: int = -1
        self.retry_count: int = -1
        self.last_id: int = 0


@stream_groups.command(
    "xclaim", "key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-time-milliseconds] "
    "[RETRYCOUNT count] [FORCE] [JUSTID] [LASTID lastid]", "Gives pending entries to another consumer.", arity=-6,
    flags="write fast", keys=[one("RW UPDATE")], since="5.0.0", tips="nondeterministic_output",
    complexity="O(log N) with N being the number of messages in the PEL of the consumer group.",
)  # fmt: skip
def xclaim(ctx: Context, argv: list[bytes]) -> Reply:
    """The entries, or their IDs, that the consumer has got. O(IDs * log n). Redis: XCLAIM."""
    stream, group = _group(argv, ctx.db.read(argv[1]))
    min_idle = max(integer(argv[4], b"ERR Invalid min-idle-time argument for XCLAIM"), 0)
    ids: list[int] = []
    at = 5
    while at < len(argv):
        id = parse_id(argv[at])
        if id is None:
            break
        ids.append(id)
        at += 1
    options = _claim_options(ctx, argv, at)
    moved = options.last_id > group.last_id
    if moved:
        group.last_id = options.last_id
    consumer = _claimer(ctx, argv, group)
    done = claim(
        stream, group, consumer, ids, ctx.space.now, min_idle, options.delivery_time, options.retry_count,
        options.force, options.just_id,
    )  # fmt: skip
    _after_claim(ctx, argv, group, consumer, done)
    if moved and not done.entries and not done.deleted:
        ctx.space.dirty += 1
    return _claimed(done, options.just_id)


def _claim_options(ctx: Context, argv: list[bytes], at: int) -> ClaimOptions:
    options = ClaimOptions()
    while at < len(argv):
        word = argv[at].upper()
        more = at + 1 < len(argv)
        if word == b"FORCE":
            options.force = True
        elif word == b"JUSTID":
            options.just_id = True
        elif word == b"IDLE" and more:
            at += 1
            options.delivery_time = ctx.space.now - integer(argv[at], b"ERR Invalid IDLE option argument for XCLAIM")
        elif word == b"TIME" and more:
            at += 1
            options.delivery_time = integer(argv[at], b"ERR Invalid TIME option argument for XCLAIM")
        elif word == b"RETRYCOUNT" and more:
            at += 1
            options.retry_count = integer(argv[at], b"ERR Invalid RETRYCOUNT option argument for XCLAIM")
        elif word == b"LASTID" and more:
            at += 1
            options.last_id = strict_id(argv[at])
        else:
            raise CommandError(b"ERR Unrecognized XCLAIM option '%b'" % c_text(argv[at]))
        at += 1
    return options


@stream_groups.command(
    "xautoclaim", "key group consumer min-idle-time start [COUNT count] [JUSTID]",
    "Gives pending entries to another consumer, from an ID on.", arity=-6, flags="write fast",
    keys=[one("RW DELETE")], since="6.2.0", complexity="O(1) if COUNT is small.", tips="nondeterministic_output",
)  # fmt: skip
def xautoclaim(ctx: Context, argv: list[bytes]) -> Reply:
    """Where to go on, the entries (or IDs) claimed, the IDs found deleted. O(count). Redis: XAUTOCLAIM."""
    entry = ctx.db.read(argv[1])
    min_idle = max(integer(argv[4], b"ERR Invalid min-idle-time argument for XAUTOCLAIM"), 0)
    start = range_start(argv[5])
    count = _CLAIM_COUNT
    just_id = False
    at = 6
    while at < len(argv):
        word = argv[at].upper()
        if word == b"COUNT" and at + 1 < len(argv):
            at += 1
            count = integer(argv[at], b"ERR COUNT must be > 0")
            if not 0 < count <= _MOST_TO_CLAIM:
                raise CommandError(b"ERR COUNT must be > 0")
        elif word == b"JUSTID":
            just_id = True
        else:
            raise CommandError(SYNTAX)
        at += 1
    stream, group = _group(argv, entry)
    if count > _MOST_IN_MEMORY:
        raise CommandError(b"ERR Insufficient memory, failed allocating transient memory, COUNT too high.")
    consumer = _claimer(ctx, argv, group)
    done = autoclaim(stream, group, consumer, start, count, ctx.space.now, min_idle, just_id)
    _after_claim(ctx, argv, group, consumer, done)
    reply: list[Reply] = [format_id(done.next_id), _claimed(done, just_id)]
    if ctx.engine.version >= _COUNTERS_SINCE:
        reply.append(Bulks([format_id(id) for id in done.deleted]))
    return reply


def _claimer(ctx: Context, argv: list[bytes], group: Group) -> Consumer:
    """The consumer that claims; up to 7.0 it does not come into being until it has got something."""
    if ctx.engine.version >= RERUN_SINCE:
        return named_consumer(ctx, argv[1], group, argv[3])
    consumer = group.consumers.get(argv[3])
    return Consumer(argv[3], ctx.space.now) if consumer is None else consumer


def _after_claim(ctx: Context, argv: list[bytes], group: Group, consumer: Consumer, done: Claim) -> None:
    ctx.space.dirty += len(done.entries) + len(done.deleted)
    if done.entries:
        consumer.seen_time = ctx.space.now
        if consumer.name not in group.consumers:
            group.consumers[consumer.name] = consumer
            announce(ctx, argv[1], b"xgroup-createconsumer")


def _claimed(done: Claim, just_id: bool) -> Reply:
    if just_id:
        return Bulks([format_id(id) for id, _ in done.entries])
    return entries_reply(done.entries)
