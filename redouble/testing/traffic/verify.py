"""`redouble verify`: a proxy that sends each command to a real server and to Redouble, and compares.

The client always gets the real server's replies: the ids, cursors and random choices that it sends back
later are that server's, and `follower.py` makes them ours. So one order holds for both: the real server
first, then Redouble, and no other client's command in between. Only a command that may block goes to
Redouble first, since its engine says at once whether the client waits; the next command then goes out when
the real server says the same (`target.py`). Both time-outs run by themselves.

A script, or a transaction with one, runs in Redouble at the millisecond in which it ran in the real server, as far
as that can be seen: by the last id of the streams among its keys. So the ids that it gives are the same.

Where the real server knows a script from earlier days and Redouble does not, Redouble alone answers (NOSCRIPT), and
the client loads the script into both, as clients do.

What can't be seen: effects that differ in no reply; replies to a client that does not wait for them and
hangs up; the order of a client under CLIENT REPLY OFF among the others. A key that expires in the
moment between the two servers may make a difference that is none. What holds up the real server's reply, as CLIENT
PAUSE does, holds up every client.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Final

from redouble.datatypes.stream import Stream
from redouble.engine import flags as f
from redouble.engine.command import Command
from redouble.engine.engine import Engine
from redouble.engine.keyfinder import has_keys, keys_of
from redouble.keyspace.database import Database
from redouble.testing.traffic.cli import DIFFERENT, IMPOSSIBLE, Arguments, run
from redouble.testing.traffic.findings import Findings, History, Step
from redouble.testing.traffic.follower import Follower, changes_keys
from redouble.testing.traffic.front import Front, Session
from redouble.testing.traffic.peers import EnginePeer, ServerError, WirePeer, engine_server
from redouble.testing.traffic.pushes import Pushes
from redouble.testing.traffic.replies import Reply
from redouble.testing.traffic.target import Target

USAGE: Final = """\
Usage: redouble verify --against URL [server options] [-- COMMAND ...]

A proxy before the real server at URL (redis://, rediss:// or unix://). Each command goes to that server, whose
replies the client gets, and to a Redouble that runs here. Where their replies differ, stderr tells how,
with the commands that led there. Without --redis-version Redouble answers as the real server's version.

With COMMAND the proxy lives as long as it, and it finds REDIS_URL, REDIS_HOST and REDIS_PORT set.
Exit status: 0 no difference (or COMMAND's own), 1 differences, 2 it could not be done.
"""
#: Commands that name scripts by their digests.
_BY_DIGEST: Final = (b"evalsha", b"evalsha_ro", b"script|exists")
#: How long pushes may be on their way when a client goes. Seconds.
_LATE: Final = 0.5
_MOMENT: Final = 0.005


class Verifier:
    """What all clients share."""

    def __init__(self, engine: Engine, target: Target) -> None:
        self.engine = engine
        self.server = engine_server(engine)
        self.target = target
        self.findings = Findings("redouble", "real")
        self.history = History()
        #: How many commands were sent that may change keys.
        self.changes = 0
        #: Our client of each client of the real server.
        self.clients: dict[bytes, bytes] = {}
        self._control = EnginePeer(self.server)
        self._control.client.flags &= ~f.UNAUTHENTICATED

    def lookup(self, database: Database, argv: list[bytes]) -> Reply:
        """Ask our engine something."""
        self._control.client.context.db = database
        return self._control.now(argv)


class VerifiedClient(Session):
    """A client of the proxy, and its two connections."""

    def __init__(self, verifier: Verifier, front: Front, transport: asyncio.Transport) -> None:
        super().__init__(front, transport)
        self._all = verifier
        self._pushes = Pushes(self._compared_push)
        #: Whether the client gets the reply of Redouble this time.
        self._forwarding = False

    async def start(self) -> None:
        """Connect to both."""
        self._real: WirePeer = await self._all.target.connect(self._from_real)
        self._engine = EnginePeer(self._all.server, self._from_engine)
        self._all.clients[b"%d" % self._real.id] = b"%d" % self._engine.client.id
        self._follower = Follower(
            self._all.engine.table, lambda: self._all.changes, self._engine,
            lambda argv: self._all.lookup(self._engine.client.context.db, argv),
        )  # fmt: skip

    def _from_real(self, reply: Reply, raw: bytes, push: bool) -> None:
        self.write(raw)
        if push:
            self._pushes.add(1, reply)
        if self._real.closed:
            self.hang_up()

    def _from_engine(self, reply: Reply, raw: bytes, push: bool) -> None:
        if push:
            self._pushes.add(0, reply)
        elif self._forwarding:
            self.write(raw)

    async def handle(self, argv: list[bytes]) -> None:
        """Send a command to both, and compare."""
        command = self._follower.command(argv)
        async with self.front.turn:
            if await self._is_foreign_script(command, argv):
                await self._answer_alone(argv)
                return
            step = self._step(argv)
            self._all.history.add(step)
            self._all.changes += changes_keys(command)
            if command is not None and command.flags & f.BLOCKING and not self._engine.client.flags & f.IN_MULTI:
                ours = self._engine.ask(self._with_our_ids(argv))
                theirs = self._real.ask(argv)
                await self._all.target.settle(self._real, theirs)
            else:
                theirs = self._real.ask(argv)
                ours = await self._follow(argv, await theirs)
            if ours.done() and theirs.done():
                self._compare(step, ours.result(), theirs.result())
                return
        await self.unless_gone(ours, theirs)
        if ours.done() and theirs.done():
            self._compare(step, ours.result(), theirs.result())
        elif ours.done() != theirs.done():
            replies = [each.result() if each.done() else [] for each in (ours, theirs)]
            self._differ(step, "only one has answered", replies[0], replies[1])

    async def _is_foreign_script(self, command: Command | None, argv: list[bytes]) -> bool:
        """Whether a request names scripts that the real server knows from earlier days, and Redouble does not."""
        if command is None or command.full_name not in _BY_DIGEST or self._engine.client.flags & f.IN_MULTI:
            return False
        digests = argv[2:] if command.parent is not None else argv[1:2]
        find = self._all.engine.scripting.runtime.find
        unknown = [digest for digest in digests if find(digest.lower()) is None]
        if not unknown:
            return False
        there = await self._all.target.ask(b"SCRIPT", b"EXISTS", *unknown)
        return any(item.text == b"1" for item in there.items)

    async def _answer_alone(self, argv: list[bytes]) -> None:
        """Let Redouble say that it does not know a script: the client will load it, into both."""
        self._forwarding = True
        await self._engine.ask(argv)
        self._forwarding = False
        self._all.findings.same("script to be loaded again")

    async def _follow(self, argv: list[bytes], theirs: list[Reply]) -> asyncio.Future[list[Reply]]:
        """Let Redouble have a command that the real server has answered."""
        at = await self._time_of(argv)
        translated = self._follower.translate(self._with_our_ids(argv), theirs[0]) if theirs else argv
        clock = self._all.engine.clock
        if not at or clock.frozen:
            return self._engine.ask(translated)
        clock.freeze(at)
        try:
            return self._engine.ask(translated)
        finally:
            clock.real()

    def _with_our_ids(self, argv: list[bytes]) -> list[bytes]:
        """CLIENT KILL, UNBLOCK and the like name clients of the real server."""
        if argv[0].lower() != b"client":
            return argv
        return argv[:2] + [self._all.clients.get(word, word) for word in argv[2:]]

    async def _time_of(self, argv: list[bytes]) -> int:
        """When a script ran in the real server, Unix time in ms; 0 where nothing tells. O(keys), each a question."""
        latest = 0
        database = self._engine.client.context.db
        for each in [*self._follower.queue, argv] if self._follower.is_exec(argv) else [argv]:
            command = self._follower.command(each)
            if command is None or not command.flags & f.RUNS_SCRIPT or self._in_queue(argv):
                continue
            for key in keys_of(command, each):
                entry = database.peek(key)
                if entry is None or isinstance(entry.value, Stream):
                    shown = await self._all.target.ask(b"XINFO", b"STREAM", key, database=database.index)
                    words = [item.text for item in shown.items]
                    if b"last-generated-id" in words:
                        milliseconds = words[words.index(b"last-generated-id") + 1].partition(b"-")[0]
                        latest = max(latest, int(milliseconds))
        # A stream that nothing was added to tells an old time.
        return latest if abs(latest - self._all.engine.clock.now()) < _RECENT_MS else 0

    def _in_queue(self, argv: list[bytes]) -> bool:
        return bool(self._engine.client.flags & f.IN_MULTI) and not self._follower.is_exec(argv)

    # -- what is found ----------------------------------------------------------------------

    def _step(self, argv: list[bytes]) -> Step:
        command = self._follower.command(argv)
        keys = [] if command is None else keys_of(command, argv)
        sweeping = command is not None and bool(command.flags & f.WRITE) and not has_keys(command)
        return Step(self.label, self._engine.client.context.db.index, argv, keys, sweeping)

    def _compare(self, step: Step, ours: list[Reply], theirs: list[Reply]) -> None:
        queued = [key for each in self._follower.queue for key in self._step(each).keys]
        self._follower.our_now = self._follower.their_now = self._all.engine.clock.now()
        rule, where = self._follower.judge(step.argv, ours, theirs)
        if rule is not None:
            self._all.findings.same(rule)
        else:
            self._differ(step, where, ours, theirs, queued)

    def _differ(
        self, step: Step, where: str, ours: list[Reply], theirs: list[Reply], queued: list[bytes] | None = None
    ) -> None:
        lines = self._all.history.behind(step, step.keys | frozenset(queued or []))
        about = f"client {self.label}{f', {where}' if where else ''}"
        self._all.findings.differ(about, lines, ours, theirs)

    def _compared_push(self, rule: str | None, ours: list[Reply], theirs: list[Reply]) -> None:
        if rule is not None:
            self._all.findings.same(rule)
        else:
            self._all.findings.differ(f"client {self.label}, sent unasked", [], ours, theirs)

    async def end(self) -> None:
        """The client has gone: wait for pushes on their way, then leave both."""
        if not hasattr(self, "_follower"):
            return
        end = asyncio.get_running_loop().time() + _LATE
        while not self._pushes.even and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(_MOMENT)
        self._pushes.end()
        async with self.front.turn:
            self._engine.close()
            await self._all.target.leave(self._real)
        self._all.clients.pop(b"%d" % self._real.id, None)


#: A script's time is believed if it was so near to now, in ms.
_RECENT_MS: Final = 2000


async def _verify(arguments: Arguments) -> int:
    if not arguments.against:
        raise ServerError("verify needs --against URL, the server to compare with")
    target = await Target.at(arguments.against)
    engine = arguments.engine(await target.version())
    there = await target.ask(b"DBSIZE")
    if there.number():
        print(f"The real server holds {there.number()} keys already; Redouble starts empty.", file=sys.stderr)
    verifier = Verifier(engine, target)
    front = Front(lambda own, transport: VerifiedClient(verifier, own, transport))
    status = await arguments.serve(await arguments.listen(front, engine))
    await front.close()
    target.close()
    await verifier.server.close()
    print(f"verify: {verifier.findings.summary()}", file=sys.stderr)
    if front.failed or engine.stats.unexpected_errors:
        return IMPOSSIBLE
    return DIFFERENT if verifier.findings.differences else status


def main(args: list[str]) -> int:
    """Run `redouble verify`; the exit status."""
    return run(args, USAGE, _verify)
