"""The engine: what happens between a request and its reply. Synchronous, no sockets.

    feed -> parser -> process -> call -> handler -> encode -> flush

`feed` takes the bytes of one read, runs every request in them and leaves the replies in the clients'
outputs; `flush` writes each output once. `process` lets a request pass if it may (see `admission.py`)
and `call` runs it: it counts, times, and turns a `CommandError` into an error reply. Whatever runs a
command, runs it through `call`: a socket, EXEC, a script, a waiter that tries again.

An engine owns its clock, chance, keys, clients, statistics and settings. There may be many in one
process. It is not thread-safe: one thread (an event loop, as a rule) drives it.
"""

from __future__ import annotations

import heapq
import logging
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Final, final

from redouble.clock import Clock, ticks
from redouble.datatypes.limits import Limits
from redouble.engine import flags as f
from redouble.engine.acl import Acl
from redouble.engine.admission import admit, not_enabled, refuse
from redouble.engine.blocking import Block, Blocking
from redouble.engine.client import Client, Link
from redouble.engine.client_eviction import ClientEviction
from redouble.engine.cluster import Node
from redouble.engine.command import Command, CommandTable, Family, parse_version
from redouble.engine.config import Config
from redouble.engine.context import Context
from redouble.engine.footprint import query_bytes, requests_size
from redouble.engine.histogram import SHIFT, SHORT
from redouble.engine.memory import Memory
from redouble.engine.monitor import Monitors
from redouble.engine.output_limit import check as check_output
from redouble.engine.pause import Pause
from redouble.engine.powers.chance import Chance
from redouble.engine.powers.faults import Faults
from redouble.engine.powers.lint import Lint
from redouble.engine.powers.snapshots import Snapshots
from redouble.engine.powers.timeline import NEVER_ARMED, Timeline
from redouble.engine.powers.trace import Trace
from redouble.engine.propagation import Propagation
from redouble.engine.pubsub import PubSub
from redouble.engine.replication import Replication
from redouble.engine.saving import Saving
from redouble.engine.scripting import Scripting
from redouble.engine.sentinel import Sentinel
from redouble.engine.slowlog import SlowLog
from redouble.engine.stats import Stats
from redouble.engine.tracking import Tracking
from redouble.errors import INTERNAL, CommandError
from redouble.keyspace import events
from redouble.keyspace.database import Database
from redouble.keyspace.space import KeyListener, Keyspace
from redouble.protocol.encode import Encoder
from redouble.protocol.reply import ErrorReply, Reply

log: Final = logging.getLogger("redouble")

#: A batch that lasts longer than this reads the clock again.
_STALE_AFTER_NS: Final = 500_000
_SHORT_DOUBLES_SINCE: Final = 70200
#: Since then sets and lists have a compact encoding.
_COMPACT_SINCE: Final = 70200


@final
class Engine(KeyListener):
    """A Redis, but for the sockets.

    `families` are the commands, `version` the Redis version to answer as. `seed` makes every random
    choice repeatable.
    """

    def __init__(self, families: list[Family], version: str, seed: int | None = None, databases: int = 16) -> None:
        self.version_text: str = version
        self.version: int = parse_version(version)
        self.clock: Clock = Clock()
        self.random: Random = Random()
        self.limits: Limits = Limits()
        compact = self.version >= _COMPACT_SINCE
        self.limits.set_has_listpack = self.limits.list_has_listpack = self.limits.looks_ahead = compact
        self.table: CommandTable = CommandTable(families, self.version)
        self.stats: Stats = Stats(len(self.table.rows))
        self.space: Keyspace = Keyspace(self.clock, self.random, self.limits, databases, self)
        short_doubles = self.version >= _SHORT_DOUBLES_SINCE
        self.encoder2: Encoder = Encoder(False, short_doubles)
        self.encoder3: Encoder = Encoder(True, short_doubles)
        self.run_id: bytes = b"%040x" % self.random.getrandbits(160)
        self.started: int = self.clock.now()
        #: proto-max-bulk-len.
        self.bulk_max: int = 512 * 1024 * 1024
        #: States that concern every client; see `flags.py`.
        self.flags: int = 0
        #: Who looks at every command that has run; see `flags.py`.
        self.observers: int = 0
        #: What a flush has to do besides; see `flags.py`.
        self.duties: int = 0
        #: As a node of a cluster, or as a Sentinel: what it is then. INFO and HELLO show the mode.
        self.node: Node | None = None
        self.sentinel: Sentinel | None = None
        self.mode: bytes = b"standalone"
        self.acl: Acl = Acl(self)
        self.config: Config = Config(self)
        self.memory: Memory = Memory(self)
        self.client_eviction: ClientEviction = ClientEviction(self)
        self.saving: Saving = Saving(self, self.started)
        self.replication: Replication = Replication(self)
        self.propagation: Propagation = Propagation(self)
        self.pubsub: PubSub = PubSub()
        self.blocking: Blocking = Blocking(self)
        self.monitors: Monitors = Monitors(self)
        self.tracking: Tracking = Tracking(self)
        self.pause: Pause = Pause(self)
        self.faults: Faults = Faults(self)
        #: What others are told while a script runs too long.
        self.busy_error: bytes = b""
        self.slowlog: SlowLog = SlowLog()
        self.scripting: Scripting = Scripting(self)
        self.trace: Trace = Trace(self)
        self.lint: Lint = Lint(self)
        self.clients: dict[int, Client] = {}
        #: Clients whose output waits to be written.
        self.outbox: list[Client] = []
        #: Clients that may go on with their inbox.
        self.resumed: deque[Client] = deque()
        #: Things to do later: (Unix time in ms, order, what).
        self.timers: list[tuple[int, int, Callable[[], None]]] = []
        self._timer_order: int = 0
        #: The command that runs now, for those who ask what it was.
        self.current: Client | None = None
        #: Set by SHUTDOWN; the edge looks at it.
        self.stopping: bool = False
        #: When the edge will call `tick` next, Unix time in ms.
        self.armed_for: int = NEVER_ARMED
        self._last_client_id: int = 0
        #: When the last command ended, or time was read since; what begins now began then.
        self.last_tick: int = ticks()
        self._stale_at: int = 0
        # The powers that only a double has.
        self.timeline: Timeline = Timeline(self)
        self.chance: Chance = Chance(self)
        self.snapshots: Snapshots = Snapshots(self)
        if seed is not None:
            self.chance.begin(seed)

    # -- connections ------------------------------------------------------------------------

    def connect(self, link: Link) -> Client:
        """A new connection."""
        self.refresh_time()
        self._last_client_id += 1
        client = Client(self, self._last_client_id, link)
        self.clients[client.id] = client
        self.stats.connections += 1
        self.acl.welcome(client)
        return client

    def disconnect(self, client: Client) -> None:
        """The connection is gone, or is to go: forget everything that it waits for or listens to."""
        if self.clients.pop(client.id, None) is None:
            return
        client.flags |= f.CLOSING
        client.inbox = []
        self.faults.forget(client)
        if client.parked is not None:
            self.blocking.unpark(client.parked, None)
        self.pubsub.forget(client)
        client.watch.forget()
        self.monitors.forget(client)
        self.tracking.disable(client)
        self.propagation.forget(client)

    def kill(self, client: Client) -> None:
        """End a connection from our side, without a further reply."""
        self.disconnect(client)
        client.link.abort()

    # -- requests ---------------------------------------------------------------------------

    def receive(self, client: Client, data: bytes) -> bool:
        """`feed` and `flush`; whether the edge must look at `next_deadline` or `stopping`."""
        self.feed(client, data)
        self.flush()
        return self.wants_attention()

    def submit(self, client: Client, requests: list[list[bytes]], size: int) -> bool:
        """As `receive`, for an edge that has parsed the bytes itself, or never had any; `size` is their number."""
        self._take(client, requests, size)
        self.flush()
        return self.wants_attention()

    def wants_attention(self) -> bool:
        """Whether the edge must look at `next_deadline` or `stopping`. O(1)."""
        if self.stopping:
            return True
        if self.space.deadlines or self.timers or self.blocking.deadlines:
            deadline = self.next_deadline()
            return deadline is not None and deadline < self.armed_for
        return False

    def feed(self, client: Client, data: bytes) -> None:
        """Run every request that these bytes complete."""
        self._take(client, client.parser.feed(data), len(data))

    def _take(self, client: Client, requests: list[list[bytes]], size: int) -> None:
        """One read of so many bytes has brought these requests."""
        client.bytes_in += size
        self.stats.input_bytes += size
        self.stats.reads += 1
        self.refresh_time()
        client.active = self.space.now
        if client.flags & f.HELD or client.inbox:
            self._hold(client, requests)
        else:
            self.run(client, requests)
        if client.parser.error is not None:
            self._end_of_protocol(client)
        if not requests and client.parser.buffered > self.config.edge.least_query:
            self._check_query(client)
        while self.resumed:
            self._go_on(self.resumed.popleft())

    def _end_of_protocol(self, client: Client) -> None:
        """A protocol error: say which, then hang up, once the requests before it have been answered."""
        error = client.parser.error
        if error is not None and not client.inbox and not client.flags & (f.CLOSING | f.IN_LONG_SCRIPT):
            self.stats.count_error(error)
            client.send(ErrorReply(error))
            client.close_after_reply()

    def _hold(self, client: Client, requests: list[list[bytes]]) -> None:
        """Requests that have come while their client is held."""
        client.inbox.extend(requests)
        client.waiting += requests_size(requests)
        self._check_query(client)

    def _check_query(self, client: Client) -> None:
        """Close a client of whose requests too much waits."""
        if query_bytes(client) > self.config.edge.query_limit:
            self.stats.query_limit_closes += 1
            self.kill(client)
        elif self.client_eviction.limit:
            self.client_eviction.measure(client, [])

    def run(self, client: Client, requests: list[list[bytes]]) -> None:
        """Run a client's requests, until one of them holds it: the rest waits then."""
        for index in range(len(requests)):
            self.process(client, requests[index])
            if client.flags & f.HELD:
                rest = requests[index if client.flags & f.POSTPONED else index + 1 :]
                if client.flags & f.ENTERS_FIBER:
                    self.scripting.long.run_within(client, rest)
                else:
                    client.put_back(rest)
                return

    def resume(self, client: Client) -> None:
        """A client is no longer held: its waiting requests run when the present one is done."""
        self.resumed.append(client)

    def _go_on(self, client: Client) -> None:
        if client.flags & f.HELD:
            return
        requests = client.inbox
        client.inbox = []
        client.waiting = 0
        self.run(client, requests)
        if client.parser.error is not None:
            self._end_of_protocol(client)

    def process(self, client: Client, argv: list[bytes]) -> None:
        """One request: let it pass or refuse it, run it, serve who waited for what it changed."""
        if self.last_tick >= self._stale_at:
            self.refresh_time()
        command = self.table.lookup.get(argv[0])
        if command is None or command.subcommands is not None:
            command = self.table.find(argv)
        count = len(argv)
        if command is None or client.flags | self.flags or count < command.min_args or count > command.max_args:
            command = admit(self, client, command, argv)
            if command is None:
                if client.flags & f.AFTERMATH and not client.flags & f.UNANSWERED:
                    self.aftermath(client, None, argv)
                return
        client.last_command = command
        if command.flags & f.SPECIAL and self._turned_away(client, command, argv):
            return
        self.perform(client, command, argv)

    def _turned_away(self, client: Client, command: Command, argv: list[bytes]) -> bool:
        """Whether a request that is special (see `flags.SPECIAL`) does not run here. O(1)."""
        if command.flags & f.MUST_BE_ENABLED:
            error = not_enabled(self, client, command.flags)
            if error is not None:
                refuse(self, client, command, argv, error)
            return error is not None
        return self.scripting.long.takes(client, command, argv)

    def perform(self, client: Client, command: Command, argv: list[bytes]) -> None:
        """Run a request that may run, answer it or park the client, and serve who waited."""
        self.current = client
        reply = self.call(client.context, command, argv)
        self.current = None
        if isinstance(reply, Block):
            self.blocking.park(client.context, command, argv, reply)
        else:
            client.send(reply)
            if client.flags & f.AFTERMATH:
                self.aftermath(client, command, argv)
        if self.space.ready:
            self.blocking.serve()

    def aftermath(self, client: Client, command: Command | None, argv: list[bytes]) -> None:
        """States that end, or act, when a request has been answered; `command` is None if it was refused."""
        flags = client.flags
        if flags & f.FAULT_DUE:
            self.faults.after(client, flags & (f.REPLY_OFF | f.REPLY_SKIP) != 0)
        if flags & f.REPLY_SKIP:
            client.flags &= ~f.REPLY_SKIP
        if flags & f.REPLY_SKIP_NEXT:
            client.flags = (client.flags & ~f.REPLY_SKIP_NEXT) | f.REPLY_SKIP
        if flags & f.NO_TOUCH:
            self.space.track_access = True
        if flags & f.PUSHES_WAIT:
            client.flags &= ~f.PUSHES_WAIT
            pushes = client.pushes
            client.pushes = []
            for push in pushes:
                client.push(push)
        if flags & f.TRACKING and client.tracking is not None and not flags & f.IN_MULTI:
            if command is None or not command.flags & f.KEEPS_CACHING:
                client.tracking.caching = False
        if flags & f.ASKING_NEXT and not flags & f.IN_MULTI:
            if command is None or not command.flags & f.KEEPS_ASKING:
                client.flags &= ~f.ASKING_NEXT
        if flags & f.ENDING and not client.flags & f.HELD_BY_FAULT:
            client.close_after_reply()

    def call(self, ctx: Context, command: Command, argv: list[bytes]) -> Reply:
        """Run a command that may run; its reply, an error reply for a `CommandError`, or a `Block`.

        Where blocking is denied a `Block` becomes its time-out reply here.
        """
        started = self.last_tick
        reply: Reply
        try:
            reply = command.handler(ctx, argv)
        except CommandError as error:
            reply = self._failed(command, error.text, error.counted)
        except Exception:
            log.exception("internal error in %r", argv[:8])
            self.stats.unexpected_errors += 1
            reply = self._failed(command, INTERNAL, False)
        if self.observers:
            self._observe(ctx, command, argv, reply, started)
        ended = ticks()
        self.last_tick = ended
        if isinstance(reply, Block):
            if ctx.flags & (f.DENY_BLOCKING | f.WAKING) != f.DENY_BLOCKING:
                return reply
            reply = reply.on_timeout
        stats = self.stats
        index = command.index
        stats.commands += 1
        stats.calls[index] += 1
        duration = ended - started
        stats.nanoseconds[index] += duration
        if stats.tracking:
            counts = stats.histograms[index]
            if duration < SHORT and counts:
                counts[duration >> SHIFT] += 1
            else:
                stats.count_duration(index, duration)
        if duration >= self.slowlog.threshold_ns:
            self.slowlog.add(ctx, command, argv, duration)
        return reply

    def _observe(self, ctx: Context, command: Command, argv: list[bytes], reply: Reply, started: int) -> None:
        """Show a command that has run (since `started`, in ticks) to those who look at every one."""
        if self.observers & f.TRACED:
            self.trace.record(ctx, command, argv, reply, ticks() - started)
        if self.observers & f.LINTED:
            self.lint.look(ctx, command, argv, reply)
        if self.observers & f.MONITORED and not ctx.flags & f.WAKING:
            self.monitors.feed(ctx, command, argv)
        if self.observers & f.TRACKED:
            self.tracking.remember(ctx, command, argv)
        if self.observers & f.FED:
            self.propagation.record(ctx, command, argv, reply)
        if self.observers & f.WEIGHED:
            check_output(ctx, reply)
        if self.observers & f.KEPT:
            self.snapshots.note(ctx, command, argv)

    def _failed(self, command: Command, text: bytes, counted: bool) -> Reply:
        self.stats.failed[command.index] += 1
        if not counted:
            self.stats.count_error(text)
        return ErrorReply(text)

    def refuse(self, client: Client, command: Command | None, argv: list[bytes], text: bytes) -> None:
        """Answer a request that may not run; an open MULTI is broken by it."""
        refuse(self, client, command, argv, text)

    def flush(self) -> None:
        """Write every client's output, once each."""
        if self.duties:
            self.attend_to(self.duties)
        outbox = self.outbox
        while outbox:
            self.outbox = []
            for client in outbox:
                data = b"".join(client.out)
                client.out = []
                client.bytes_out += len(data)
                self.stats.output_bytes += len(data)
                if len(data) > self.config.edge.least_output and self.config.edge.forbids(client, len(data)):
                    self.stats.output_limit_closes += 1
                    self.kill(client)
                    continue
                if data:
                    self.stats.writes += 1
                    client.link.write(data)
                if client.flags & f.CLOSING:
                    self.disconnect(client)
                    client.link.close()
            outbox = self.outbox

    def attend_to(self, duties: int) -> None:
        """What a flush has to do besides, in some states; see `flags.py`."""
        if duties & f.BROADCAST:
            self.duties &= ~f.BROADCAST
            self.tracking.broadcast()
        if duties & f.RELIEVE:
            # First write, then see who does not read.
            told = self.outbox
            self.client_eviction.measure_each(told)
            self.duties &= ~f.RELIEVE
            self.flush()
            self.duties |= f.RELIEVE
            self.client_eviction.measure_each(told)
            self.client_eviction.relieve()

    # -- time -------------------------------------------------------------------------------

    def refresh_time(self) -> None:
        """Read the clock, and let happen what came due."""
        self.last_tick = ticks()
        self._stale_at = self.last_tick + _STALE_AFTER_NS
        now = self.clock.now()
        space = self.space
        if now != space.now and not self.flags & f.BUSY_SCRIPT:
            space.now = now
            if (space.deadlines and space.deadlines[0][0] < now) or self.timers or self.blocking.deadlines:
                self.fire_due()

    def fire_due(self) -> None:
        """Fire timers, end waits and expire keys that are due, in this order, then serve who waited."""
        space = self.space
        while self.timers and self.timers[0][0] <= space.now:
            heapq.heappop(self.timers)[2]()
        if self.slowlog.latency.threshold_ms:
            started = ticks()
            space.expire_due()
            self.slowlog.latency.add(b"expire-cycle", space.now // 1000, (ticks() - started) // 1_000_000)
        else:
            space.expire_due()
        self.blocking.end_due()
        if space.ready:
            self.blocking.serve()

    def tick(self) -> None:
        """For the edge: time has passed, nothing has arrived."""
        if self.flags & f.BUSY_SCRIPT:
            self.scripting.long.go_on()
        self.refresh_time()
        if not self.flags & f.BUSY_SCRIPT:
            self.fire_due()
        while self.resumed:
            self._go_on(self.resumed.popleft())

    def clock_moved(self) -> None:
        """For whoever has moved the clock: let happen what came due; the edge sets its timer anew."""
        self.armed_for = NEVER_ARMED
        self.tick()

    def tick_at(self, now: int) -> None:
        """It is so late (`ticks`), though no command has ended: the time before is not the next one's."""
        self.last_tick = now

    def later(self, at: int, action: Callable[[], None]) -> int:
        """Do something at a time (Unix time in ms); a number for `never_mind`."""
        self._timer_order += 1
        heapq.heappush(self.timers, (at, self._timer_order, action))
        return self._timer_order

    def never_mind(self, number: int) -> None:
        """Don't do after all what `later` gave this number. O(timers)."""
        self.timers = [timer for timer in self.timers if timer[1] != number]
        heapq.heapify(self.timers)

    def next_deadline(self) -> int | None:
        """When `tick` must be called next, Unix time in ms, or None."""
        if self.flags & f.BUSY_SCRIPT:
            return 0
        best = self.space.next_deadline()
        waits = self.blocking.next_deadline()
        if waits is not None and (best is None or waits < best):
            best = waits
        if self.timers and (best is None or self.timers[0][0] < best):
            best = self.timers[0][0]
        return best

    # -- keys that changed ------------------------------------------------------------------

    def key_event(self, database: Database, key: bytes, event: bytes) -> None:
        """Publish a keyspace event."""
        classes = self.space.notify_classes
        if classes & events.TO_KEYSPACE:
            self.pubsub.publish(b"__keyspace@%d__:%b" % (database.index, key), event)
        if classes & events.TO_KEYEVENT:
            self.pubsub.publish(b"__keyevent@%d__:%b" % (database.index, event), key)

    def key_changed(self, database: Database, key: bytes) -> None:
        """Tell the clients that hold the key in their caches."""
        self.tracking.changed(key)
        if self.memory.limit:
            self.memory.measure(database, key)
        if self.snapshots.watching:
            self.snapshots.changed(database, key)

    def keys_flushed(self) -> None:
        """Tell the clients that hold any key in their caches."""
        self.tracking.flushed()
        self.memory.flushed()

    def databases_swapped(self) -> None:
        """Tell the snapshots."""
        self.snapshots.forget()

    def key_lost(self, database: Database, key: bytes) -> None:
        """Tell the replicas."""
        self.propagation.key_lost(database, key)

    def fields_lost(self, database: Database, key: bytes, fields: list[bytes]) -> None:
        """Tell the replicas."""
        self.propagation.fields_lost(database, key, fields)
