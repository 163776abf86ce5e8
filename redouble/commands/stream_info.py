"""XINFO: what a stream, its groups and their consumers look like from inside.

Groups and consumers come in the order of their names. The versions differ in which fields they show, never
in a field's meaning, but for `seen-time`: see `stream_reading.RERUN_SINCE`.
"""

from typing import Final

from redouble.commands.help import bad_subcommand, help_reply
from redouble.commands.streams import entries_reply
from redouble.datatypes.stream import Stream
from redouble.datatypes.stream_delivery import lag
from redouble.datatypes.stream_groups import UNKNOWN, Consumer, Group
from redouble.datatypes.stream_id import MAX_ID, format_id
from redouble.engine.command import Family, one
from redouble.engine.context import Context
from redouble.errors import NO_SUCH_KEY, CommandError, c_text
from redouble.keyspace.typed import stream_of
from redouble.protocol.numbers import integer
from redouble.protocol.reply import Map, Reply

stream_info: Final = Family("stream")

#: Since then a stream and its groups count what was added and read.
_COUNTERS_SINCE: Final = 70000
#: Since then a consumer knows when it last got an entry.
_ACTIVE_TIME_SINCE: Final = 70200

_DEFAULT_COUNT: Final = 10

stream_info.container("xinfo", "Tells what a stream looks like from inside.", since="5.0.0")


@stream_info.command(
    "xinfo|stream", "key [FULL [COUNT count]]", "Tells about a stream.", arity=-3, flags="readonly",
    keys=[one("RO ACCESS", 2)], since="5.0.0",
)  # fmt: skip
def stream_(ctx: Context, argv: list[bytes]) -> Reply:
    """A map; with FULL also of entries, groups and consumers, `count` of each. O(shown). Redis: XINFO STREAM."""
    stream = _stream(ctx, argv)
    options = [word.upper() for word in argv[3:]]
    count = _DEFAULT_COUNT
    if options:
        if len(options) not in (1, 3) or options[0] != b"FULL" or (len(options) == 3 and options[1] != b"COUNT"):
            raise bad_subcommand(argv)
        if len(options) == 3:
            count = integer(argv[5])
            if count < 0:
                count = _DEFAULT_COUNT
    items = _counters(ctx, stream)
    if options:
        items += [b"entries", entries_reply(stream.range(0, MAX_ID, count))]
        names = sorted(stream.groups)
        items += [b"groups", [_whole_group(ctx, stream, name, stream.groups[name], count) for name in names]]
        return Map(items)
    first = entries_reply(stream.range(0, MAX_ID, 1))
    last = entries_reply(stream.range(0, MAX_ID, 1, True))
    items += [b"groups", len(stream.groups)]
    items += [b"first-entry", first[0] if first else None]
    items += [b"last-entry", last[0] if last else None]
    return Map(items)


def _stream(ctx: Context, argv: list[bytes]) -> Stream:
    stream = stream_of(ctx.db.read(argv[2]))
    if stream is None:
        raise CommandError(NO_SUCH_KEY)
    return stream


def _counters(ctx: Context, stream: Stream) -> list[Reply]:
    items: list[Reply] = [
        b"length", stream.length,
        b"radix-tree-keys", stream.radix_tree_keys(),
        b"radix-tree-nodes", stream.radix_tree_nodes(),
        b"last-generated-id", format_id(stream.last_id),
    ]  # fmt: skip
    if ctx.engine.version >= _COUNTERS_SINCE:
        items += [b"max-deleted-entry-id", format_id(stream.max_deleted_id)]
        items += [b"entries-added", stream.entries_added]
        items += [b"recorded-first-entry-id", format_id(stream.first_id())]
    return items


def _whole_group(ctx: Context, stream: Stream, name: bytes, group: Group, count: int) -> Reply:
    items: list[Reply] = [b"name", name, b"last-delivered-id", format_id(group.last_id)]
    items += _progress(ctx, stream, group)
    pending: list[Reply] = [
        [format_id(one.id), one.consumer, one.delivery_time, one.delivery_count]
        for one in group.pending.range(0, MAX_ID, count)
    ]
    items += [b"pel-count", len(group.pending), b"pending", pending]
    consumers = [_whole_consumer(ctx, group.consumers[name], count) for name in group.consumer_names()]
    return Map([*items, b"consumers", consumers])


def _whole_consumer(ctx: Context, consumer: Consumer, count: int) -> Reply:
    items: list[Reply] = [b"name", consumer.name, b"seen-time", consumer.seen_time]
    if ctx.engine.version >= _ACTIVE_TIME_SINCE:
        items += [b"active-time", consumer.active_time]
    pending: list[Reply] = [
        [format_id(one.id), one.delivery_time, one.delivery_count] for one in consumer.pending.range(0, MAX_ID, count)
    ]
    return Map([*items, b"pel-count", len(consumer.pending), b"pending", pending])


def _progress(ctx: Context, stream: Stream, group: Group) -> list[Reply]:
    """How far a group has read."""
    if ctx.engine.version < _COUNTERS_SINCE:
        return []
    read = None if group.entries_read == UNKNOWN else group.entries_read
    return [b"entries-read", read, b"lag", lag(stream, group)]


@stream_info.command(
    "xinfo|groups", "key", "Lists the consumer groups of a stream.", arity=3, flags="readonly",
    keys=[one("RO ACCESS", 2)], since="5.0.0",
)  # fmt: skip
def groups(ctx: Context, argv: list[bytes]) -> Reply:
    """A map for each group. O(groups). Redis: XINFO GROUPS."""
    stream = _stream(ctx, argv)
    found: list[Reply] = []
    for name in sorted(stream.groups):
        group = stream.groups[name]
        items: list[Reply] = [
            b"name", name,
            b"consumers", len(group.consumers),
            b"pending", len(group.pending),
            b"last-delivered-id", format_id(group.last_id),
        ]  # fmt: skip
        found.append(Map(items + _progress(ctx, stream, group)))
    return found


@stream_info.command(
    "xinfo|consumers", "key group", "Lists the consumers of a group.", arity=4, flags="readonly",
    keys=[one("RO ACCESS", 2)], since="5.0.0", tips="nondeterministic_output",
)  # fmt: skip
def consumers(ctx: Context, argv: list[bytes]) -> Reply:
    """A map for each consumer; times in ms. O(consumers). Redis: XINFO CONSUMERS."""
    group = _stream(ctx, argv).groups.get(argv[3])
    if group is None:
        raise CommandError(
            b"NOGROUP No such consumer group '%b' for key name '%b'" % (c_text(argv[3]), c_text(argv[2]))
        )
    now = ctx.space.now
    found: list[Reply] = []
    for name in group.consumer_names():
        consumer = group.consumers[name]
        items: list[Reply] = [b"name", name, b"pending", len(consumer.pending)]
        items += [b"idle", max(now - consumer.seen_time, 0)]
        if ctx.engine.version >= _ACTIVE_TIME_SINCE:
            items += [b"inactive", max(now - consumer.active_time, 0) if consumer.active_time != -1 else -1]
        found.append(Map(items))
    return found


@stream_info.command("xinfo|help", "", "Explains the sub-commands.", arity=2, flags="loading stale", since="5.0.0")
def help_(ctx: Context, argv: list[bytes]) -> Reply:
    """A text. Redis: XINFO HELP."""
    return help_reply(ctx, argv)
