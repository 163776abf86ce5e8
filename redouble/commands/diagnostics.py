"""SLOWLOG, LATENCY, MEMORY: where the time and the memory go."""

from typing import Any, Final

from redouble.commands.help import bad_subcommand, help_reply
from redouble.engine import histogram
from redouble.engine.command import Command, Family, one
from redouble.engine.context import Context
from redouble.engine.info import human
from redouble.engine.latency import LatencySeries
from redouble.engine.memory import BASE
from redouble.engine.sizes import SAMPLES, key_size
from redouble.errors import SYNTAX, CommandError, c_text
from redouble.protocol.numbers import integer
from redouble.protocol.reply import OK, Bulks, Double, Map, Reply, Verbatim

diagnostics: Final = Family("server")

_SLOWLOG: Final = "admin loading stale"
_LATENCY: Final = "admin noscript loading stale"
_ALL_NODES: Final = "request_policy:all_nodes"
_LATENCY_TIPS: Final = "nondeterministic_output request_policy:all_nodes response_policy:special"
_MEMORY_TIPS: Final = "nondeterministic_output request_policy:all_shards response_policy:special"
_GRAPH_COLUMNS: Final = 80
_GRAPH_ROWS: Final = 4

# -- SLOWLOG ------------------------------------------------------------------------------------

diagnostics.container("slowlog", "Holds the commands for the log of slow commands.", since="2.2.12")


@diagnostics.command(
    "slowlog|get", "[count]", "Lists slow commands, the newest first.", arity=-2, flags=_SLOWLOG, since="2.2.12",
    complexity="O(N) where N is the number of entries returned", tips=_ALL_NODES + " nondeterministic_output",
)  # fmt: skip
def slowlog_get(ctx: Context, argv: list[bytes]) -> Reply:
    """Id, time, microseconds, arguments, address and name of each. O(count). Redis: SLOWLOG GET."""
    if len(argv) > 3:
        raise bad_subcommand(argv)
    count = 10
    if len(argv) == 3:
        error = b"ERR count should be greater than or equal to -1"
        count = integer(argv[2], error)
        if count < -1:
            raise CommandError(error)
    entries = list(ctx.engine.slowlog.entries)
    if count >= 0:
        entries = entries[:count]
    return [
        [entry.id, entry.time, entry.microseconds, Bulks(entry.argv), entry.address, entry.name] for entry in entries
    ]


@diagnostics.command(
    "slowlog|len", "", "Counts the slow commands in the log.", arity=2, flags=_SLOWLOG, since="2.2.12",
    tips=_ALL_NODES + " response_policy:agg_sum nondeterministic_output",
)  # fmt: skip
def slowlog_len(ctx: Context, argv: list[bytes]) -> Reply:
    """Their number. O(1). Redis: SLOWLOG LEN."""
    return len(ctx.engine.slowlog.entries)


@diagnostics.command(
    "slowlog|reset", "", "Empties the log.", arity=2, flags=_SLOWLOG, since="2.2.12",
    complexity="O(N) where N is the number of entries in the slowlog",
    tips=_ALL_NODES + " response_policy:all_succeeded",
)  # fmt: skip
def slowlog_reset(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. Redis: SLOWLOG RESET."""
    ctx.engine.slowlog.entries.clear()
    return OK


@diagnostics.command("slowlog|help", "", "Explains the sub-commands.", arity=2, flags="loading stale", since="6.2.0")
def slowlog_help(ctx: Context, argv: list[bytes]) -> Reply:
    """The explanation. Redis: SLOWLOG HELP."""
    return help_reply(ctx, argv)


# -- LATENCY ------------------------------------------------------------------------------------

diagnostics.container("latency", "Holds the commands for delays.", since="2.8.13")


@diagnostics.command(
    "latency|latest", "", "Gives the newest delay of each event.", arity=2, flags=_LATENCY, since="2.8.13",
    tips=_LATENCY_TIPS,
)  # fmt: skip
def latency_latest(ctx: Context, argv: list[bytes]) -> Reply:
    """Event, time, delay and the worst delay of each, ms. O(events). Redis: LATENCY LATEST."""
    return [
        [name, series.samples[-1][0], series.samples[-1][1], series.worst]
        for name, series in ctx.engine.slowlog.latency.events.items()
    ]


@diagnostics.command(
    "latency|history", "event", "Lists the delays of an event.", arity=3, flags=_LATENCY, since="2.8.13",
    tips=_LATENCY_TIPS,
)  # fmt: skip
def latency_history(ctx: Context, argv: list[bytes]) -> Reply:
    """Time and delay (ms) of each. O(160). Redis: LATENCY HISTORY."""
    series = ctx.engine.slowlog.latency.events.get(argv[2])
    if series is None:
        return []
    return [[time, milliseconds] for time, milliseconds in series.samples]


@diagnostics.command(
    "latency|reset", "[event [event ...]]", "Forgets the delays of events.", arity=-2, flags=_LATENCY,
    since="2.8.13", tips=_ALL_NODES + " response_policy:agg_sum",
)  # fmt: skip
def latency_reset(ctx: Context, argv: list[bytes]) -> Reply:
    """How many events there were. O(events). Redis: LATENCY RESET."""
    return ctx.engine.slowlog.latency.reset(argv[2:])


@diagnostics.command(
    "latency|graph", "event", "Draws the delays of an event.", arity=3, flags=_LATENCY, since="2.8.13",
    tips=_LATENCY_TIPS,
)  # fmt: skip
def latency_graph(ctx: Context, argv: list[bytes]) -> Reply:
    """A picture in characters. O(160). Redis: LATENCY GRAPH."""
    series = ctx.engine.slowlog.latency.events.get(argv[2])
    if series is None:
        raise CommandError(b"ERR No samples available for event '%b'" % c_text(argv[2]))
    return Verbatim(_graph(argv[2], series, ctx.now // 1000))


def _graph(event: bytes, series: LatencySeries, now: int) -> bytes:
    samples = series.samples[-_GRAPH_COLUMNS:]
    delays = [milliseconds for _, milliseconds in samples]
    high, low = max(delays), min(delays)
    head = b"%b - high %d ms, low %d ms (all time high %d ms)\n" % (event, high, low, series.worst)
    rows = [b"-" * _GRAPH_COLUMNS]
    for level in range(_GRAPH_ROWS, 0, -1):
        step = (high - low) / _GRAPH_ROWS
        rows.append(b"".join([_mark(delay, low + step * (level - 1), step) for delay in delays]))
    labels = [_ago(max(0, now - time)) for time, _ in samples]
    for line in range(max([len(label) for label in labels])):
        rows.append(b"".join([label[line : line + 1] or b" " for label in labels]))
    return head + b"\n".join(rows) + b"\n"


def _mark(delay: int, floor: float, step: float) -> bytes:
    """The character of one delay on one level."""
    if delay >= floor + step:
        return b"#"
    return b"_" if delay >= floor else b" "


def _ago(seconds: int) -> bytes:
    for unit, size in ((b"s", 60), (b"m", 60), (b"h", 24)):
        if seconds < size:
            return b"%d%b" % (seconds, unit)
        seconds //= size
    return b"%dd" % seconds


@diagnostics.command(
    "latency|doctor", "", "Reports on the delays in words.", arity=2, flags=_LATENCY, since="2.8.13",
    tips=_LATENCY_TIPS,
)  # fmt: skip
def latency_doctor(ctx: Context, argv: list[bytes]) -> Reply:
    """A text. O(events). Redis: LATENCY DOCTOR."""
    latency = ctx.engine.slowlog.latency
    if not latency.events:
        if latency.threshold_ms:
            return Verbatim(b"No delay worth mentioning has been seen.\n")
        return Verbatim(b"The monitor is off. CONFIG SET latency-monitor-threshold <milliseconds> switches it on.\n")
    lines = [b"Delays that have been seen:", b""]
    for number, (name, series) in enumerate(latency.events.items(), 1):
        delays = [milliseconds for _, milliseconds in series.samples]
        mean = sum(delays) / len(delays)
        spread = sum([abs(delay - mean) for delay in delays]) / len(delays)
        lines.append(
            b"%d. %b: %d latency spikes (average %dms, mean deviation %dms). Worst all time event %dms."
            % (number, name, len(delays), mean, spread, series.worst)
        )
    lines += [b"", b"SLOWLOG GET shows which commands took long.", b""]
    return Verbatim(b"\n".join(lines))


@diagnostics.command(
    "latency|histogram", "[command [command ...]]", "Counts how long commands took.", arity=-2, flags=_LATENCY,
    since="7.0.0", complexity="O(N) where N is the number of commands with latency information being retrieved.",
    tips=_LATENCY_TIPS,
)  # fmt: skip
def latency_histogram(ctx: Context, argv: list[bytes]) -> Reply:
    """Of each command its calls, and how many took at most so many us. Redis: LATENCY HISTOGRAM."""
    table = ctx.engine.table
    rows = table.rows
    if len(argv) > 2:
        rows = []
        for name in argv[2:]:
            row = table.find(name.lower().split(b"|", 1))
            if row is not None:
                rows.append(row)
                rows.extend((row.subcommands or {}).values())
    items: list[Any] = []
    for row in rows:
        if ctx.engine.stats.histograms[row.index]:
            items += [row.full_name, _histogram(ctx, row)]
    return Map(items)


def _histogram(ctx: Context, row: Command) -> Map:
    counts = ctx.engine.stats.histograms[row.index]
    flat: list[Any] = []
    for microseconds, calls in histogram.cumulated(counts):
        flat += [microseconds, calls]
    return Map([b"calls", sum(counts), b"histogram_usec", Map(flat)])


@diagnostics.command("latency|help", "", "Explains the sub-commands.", arity=2, flags="loading stale", since="2.8.13")
def latency_help(ctx: Context, argv: list[bytes]) -> Reply:
    """The explanation. Redis: LATENCY HELP."""
    return help_reply(ctx, argv)


# -- MEMORY -------------------------------------------------------------------------------------

diagnostics.container("memory", "Holds the commands for memory.", since="4.0.0")


@diagnostics.command(
    "memory|usage", "key [SAMPLES count]", "Estimates the memory of a key.", arity=-3, flags="readonly",
    keys=[one("RO", at=2)], since="4.0.0", complexity="O(N) where N is the number of samples.",
)  # fmt: skip
def memory_usage(ctx: Context, argv: list[bytes]) -> Reply:
    """Bytes, as Redis would need them, or null. O(samples). Redis: MEMORY USAGE."""
    samples = SAMPLES
    for at in range(3, len(argv), 2):
        if argv[at].lower() != b"samples" or at + 1 >= len(argv):
            raise CommandError(SYNTAX)
        samples = integer(argv[at + 1])
        if samples < 0:
            raise CommandError(SYNTAX)
    entry = ctx.db.peek(argv[2])
    return None if entry is None else key_size(argv[2], entry, samples)


#: Since which version MEMORY STATS has a figure, for those that are not older than 6.2.
_FIGURE_SINCE: Final[dict[bytes, int]] = {
    b"cluster.links": 70000,
    b"functions.caches": 70000,
    b"allocator.muzzy": 70400,
    b"overhead.db.hashtable.lut": 70400,
    b"overhead.db.hashtable.rehashing": 70400,
    b"db.dict.rehashing.count": 70400,
}


@diagnostics.command("memory|stats", "", "Tells where the memory goes.", arity=2, flags="", since="4.0.0",
                     tips=_MEMORY_TIPS)  # fmt: skip
def memory_stats(ctx: Context, argv: list[bytes]) -> Reply:
    """Names and figures. O(databases). Redis: MEMORY STATS."""
    memory = ctx.engine.memory
    used, overhead = memory.used(), memory.overhead()
    keys = sum([len(database.data) for database in ctx.space.databases])
    dataset = used - overhead
    items: list[Any] = [
        b"peak.allocated", memory.peak, b"total.allocated", used, b"startup.allocated", BASE,
        b"replication.backlog", 0, b"clients.slaves", 0, b"clients.normal", memory.clients(), b"cluster.links", 0,
        b"aof.buffer", 0, b"lua.caches", memory.scripts(), b"functions.caches", 232,
    ]  # fmt: skip
    for database in ctx.space.databases:
        if database.data:
            figures = [
                b"overhead.hashtable.main", len(database.data) * 40,
                b"overhead.hashtable.expires", database.volatile * 40,
            ]  # fmt: skip
            items += [b"db.%d" % database.index, Map(figures)]
    items += [
        b"overhead.db.hashtable.lut", keys * 8, b"overhead.db.hashtable.rehashing", 0,
        b"overhead.total", overhead, b"db.dict.rehashing.count", 0, b"keys.count", keys,
        b"keys.bytes-per-key", (used - BASE) // keys if keys else 0, b"dataset.bytes", dataset,
        b"dataset.percentage", Double(dataset * 100 / max(1, used - BASE)),
        b"peak.percentage", Double(used * 100 / memory.peak), b"allocator.allocated", used,
        b"allocator.active", used, b"allocator.resident", used, b"allocator.muzzy", 0,
        b"allocator-fragmentation.ratio", Double(1.0), b"allocator-fragmentation.bytes", 0,
        b"allocator-rss.ratio", Double(1.0), b"allocator-rss.bytes", 0, b"rss-overhead.ratio", Double(1.0),
        b"rss-overhead.bytes", 0, b"fragmentation", Double(1.0), b"fragmentation.bytes", 0,
    ]  # fmt: skip
    return Map(_known(items, ctx.engine.version))


def _known(items: list[Any], version: int) -> list[Any]:
    """Names and figures without those that this version has not got yet."""
    known: list[Any] = []
    for at in range(0, len(items), 2):
        if _FIGURE_SINCE.get(items[at], 0) <= version:
            known += items[at : at + 2]
    return known


@diagnostics.command("memory|doctor", "", "Reports on the memory in words.", arity=2, flags="", since="4.0.0",
                     tips=_MEMORY_TIPS)  # fmt: skip
def memory_doctor(ctx: Context, argv: list[bytes]) -> Reply:
    """A text. O(databases). Redis: MEMORY DOCTOR."""
    memory = ctx.engine.memory
    text = b"The keys and all else would take %b in Redis; nothing looks wrong.\n" % human(memory.used())
    if memory.limit and memory.used() > memory.limit:
        text = b"More memory is used than maxmemory allows.\n"
    return Verbatim(text)


@diagnostics.command(
    "memory|malloc-stats", "", "Tells what the allocator says.", arity=2, flags="", since="4.0.0", tips=_MEMORY_TIPS,
    complexity="Depends on how much memory is allocated, could be slow",
)  # fmt: skip
def memory_malloc_stats(ctx: Context, argv: list[bytes]) -> Reply:
    """It says nothing. O(1). Redis: MEMORY MALLOC-STATS."""
    return b"Stats not supported for the current allocator"


@diagnostics.command(
    "memory|purge", "", "Asks the allocator to give memory back.", arity=2, flags="", since="4.0.0",
    tips="request_policy:all_shards response_policy:all_succeeded",
    complexity="Depends on how much memory is allocated, could be slow",
)  # fmt: skip
def memory_purge(ctx: Context, argv: list[bytes]) -> Reply:
    """OK; Python gives it back by itself. O(1). Redis: MEMORY PURGE."""
    return OK


@diagnostics.command("memory|help", "", "Explains the sub-commands.", arity=2, flags="loading stale", since="4.0.0")
def memory_help(ctx: Context, argv: list[bytes]) -> Reply:
    """The explanation. Redis: MEMORY HELP."""
    return help_reply(ctx, argv)
