"""`redouble replay`: what a file says was asked is asked again, and the replies are compared.

Requests go out in the order of the lines, each client's over a connection of its own. A request is awaited
before the next line, unless its client waits; then it is awaited where the file has the reply. So a file
may be cut: a request without a recorded reply is only sent, a reply without its request is passed over.

In a Redouble of our own the clock stands, and moves to the time of each line: times to live, time-outs and the ids of
streams come out as they were, and a day of traffic takes no longer than its commands. A real server lives
in its own time; `--pace` waits between the lines as long as it took then.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Final

from redouble.engine import flags as f
from redouble.engine.engine import Engine
from redouble.engine.keyfinder import has_keys, keys_of
from redouble.testing.traffic.cli import DIFFERENT, IMPOSSIBLE, Arguments, run
from redouble.testing.traffic.findings import Findings, History, Step
from redouble.testing.traffic.follower import Follower, changes_keys
from redouble.testing.traffic.lines import ANSWERED, ASKED, FileError, Line, Traffic, read_traffic
from redouble.testing.traffic.peers import SUBSCRIPTIONS, EnginePeer, Peer, ServerError, engine_server, kind_of
from redouble.testing.traffic.pushes import Pushes
from redouble.testing.traffic.replies import Reply
from redouble.testing.traffic.target import Target

USAGE: Final = """\
Usage: redouble replay FILE [--against URL [--pace]] [server options]

Sends the requests of FILE (docs/traffic.md) to a fresh Redouble, or to the server at URL, and compares
the replies with those in the file. --pace waits between requests as long as it took when they were recorded.
Exit status: 0 no difference, 1 differences, 2 it could not be done.
"""
#: How long a reply may take where none is held back. Seconds.
_PATIENCE: Final = 10.0
_LATE: Final = 0.5
_MOMENT: Final = 0.005


class _Client:
    """A client of the file, and its connection."""

    def __init__(self, peer: Peer, follower: Follower, pushes: Pushes) -> None:
        self.peer = peer
        self.follower = follower
        self.pushes = pushes
        #: The request that has not been compared, its answer, and what was recorded.
        self.step: Step | None = None
        self.answer: asyncio.Future[list[Reply]] | None = None
        self.recorded: list[Reply] = []


class Replayer:
    """One run of a file."""

    def __init__(self, traffic: Traffic, engine: Engine, target: Target | None, pace: bool) -> None:
        self._traffic = traffic
        self.engine = engine
        self._target = target
        self._pace = pace
        self.server = engine_server(engine)
        self.findings = Findings("redouble" if target is None else "server", "recorded")
        self._history = History()
        self._clients: dict[str, _Client] = {}
        self._changes = 0
        self._started = traffic.started or engine.clock.now()
        self._begun = asyncio.get_running_loop().time()
        #: The time of the line, Unix time in ms.
        self._now = self._started
        self._control = EnginePeer(self.server)
        self._control.client.flags &= ~f.UNAUTHENTICATED
        if target is None:
            engine.clock.freeze(self._started)
            engine.clock_moved()

    async def run(self) -> None:
        """Send and compare all."""
        recorded = _replies_of(self._traffic.lines)
        for line in self._traffic.lines:
            await self._reach(line)
            client = self._clients.get(line.label)
            if line.kind == ASKED:
                client = client or await self._join(line.label)
                await self._ask(client, line, recorded[line.number])
            elif client is None or line.reply is None:
                continue
            elif line.kind == ANSWERED:
                await self._finish(client)
            else:
                client.pushes.add(1, line.reply)
        for client in self._clients.values():
            await self._finish(client)
        await self._leave()

    async def _reach(self, line: Line) -> None:
        """Let it be the time of a line."""
        if line.at is None:
            return
        self._now = max(self._now, self._started + line.at)
        if self._target is None:
            if self.engine.clock.now() < self._now:
                self.engine.clock.set(self._now)
                self.engine.clock_moved()
                self.engine.flush()
        elif self._pace:
            passed = asyncio.get_running_loop().time() - self._begun
            await asyncio.sleep(max(0.0, line.at / 1000 - passed))

    async def _join(self, label: str) -> _Client:
        def found(rule: str | None, ours: list[Reply], theirs: list[Reply]) -> None:
            if rule is None:
                self.findings.differ(f"client {label}, sent unasked", [], ours, theirs)
            else:
                self.findings.same(rule)

        pushes = Pushes(found, some=True)

        def heard(reply: Reply, raw: bytes, push: bool) -> None:
            if push:
                pushes.add(0, reply)

        table = self.engine.table
        if self._target is not None:
            wire = await self._target.connect(heard)
            client = _Client(wire, Follower(table, lambda: self._changes, None, None), pushes)
        else:
            peer = EnginePeer(self.server, heard)

            def lookup(argv: list[bytes]) -> Reply:
                self._control.client.context.db = peer.client.context.db
                return self._control.now(argv)

            client = _Client(peer, Follower(table, lambda: self._changes, peer, lookup), pushes)
        self._clients[label] = client
        return client

    async def _ask(self, client: _Client, line: Line, recorded: list[Reply]) -> None:
        await self._finish(client)
        command = client.follower.command(line.argv)
        self._changes += changes_keys(command)
        keys = [] if command is None else keys_of(command, line.argv)
        sweeping = command is not None and bool(command.flags & f.WRITE) and not has_keys(command)
        database = client.peer.client.context.db.index if isinstance(client.peer, EnginePeer) else 0
        client.step = Step(f"{line.label}, line {line.number}", database, line.argv, keys, sweeping)
        self._history.add(client.step)
        client.recorded = recorded
        argv = client.follower.translate(line.argv, recorded[0]) if recorded else line.argv
        client.answer = client.peer.ask(argv)
        if self._target is not None:
            if command is not None and command.flags & f.BLOCKING:
                await self._target.settle(client.peer, client.answer)
            else:
                await asyncio.wait([client.answer], timeout=_PATIENCE)

    async def _finish(self, client: _Client) -> None:
        """Compare what was asked last with what was recorded; nothing where either is not there."""
        step, answer = client.step, client.answer
        if step is None or answer is None:
            return
        client.step = client.answer = None
        if not client.recorded:
            if answer.done():
                client.follower.judge(step.argv, answer.result(), answer.result())
            return
        if not answer.done() and not (isinstance(client.peer, EnginePeer) and client.peer.client.flags & f.BLOCKED):
            await asyncio.wait([answer], timeout=_PATIENCE)
        ours = answer.result() if answer.done() else []
        client.follower.our_now = self.engine.clock.now()
        client.follower.their_now = self._now
        queued = [key for each in client.follower.queue for key in self._keys(client, each)]
        rule, where = client.follower.judge(step.argv, ours, client.recorded)
        if rule is not None:
            self.findings.same(rule)
            if ours != client.recorded and client.follower.is_pop(step.argv) and self._target is not None:
                await _take_over(client.peer, step.argv[1], ours[0], client.recorded[0])
        else:
            lines = self._history.behind(step, step.keys | frozenset(queued))
            self.findings.differ(f"client {step.label}{f', {where}' if where else ''}", lines, ours, client.recorded)

    def _keys(self, client: _Client, argv: list[bytes]) -> list[bytes]:
        command = client.follower.command(argv)
        return [] if command is None else keys_of(command, argv)

    async def _leave(self) -> None:
        """Wait for pushes on their way, then hang up."""
        end = asyncio.get_running_loop().time() + _LATE
        clients = self._clients.values()
        while not all(client.pushes.even for client in clients) and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(_MOMENT)
        for client in clients:
            client.pushes.end()
            client.peer.close()


async def _take_over(peer: Peer, key: bytes, ours: Reply, recorded: Reply) -> None:
    """Both have popped at random: let the server's set hold what the other one held then."""
    mine, other = ([item.text for item in reply.items or (reply,)] for reply in (ours, recorded))
    await peer.ask([b"SADD", key, *mine])
    await peer.ask([b"SREM", key, *other])


def _replies_of(lines: list[Line]) -> dict[int, list[Reply]]:
    """The recorded replies of each request, by its line: one, or as many as say that something was subscribed to.

    A further one has lost its request.
    """
    found: dict[int, list[Reply]] = {}
    last: dict[str, int] = {}
    for line in lines:
        if line.kind == ASKED:
            last[line.label] = line.number
            found[line.number] = []
        elif line.kind == ANSWERED and line.label in last and line.reply is not None:
            replies = found[last[line.label]]
            if not replies or kind_of(line.reply) in SUBSCRIPTIONS:
                replies.append(line.reply)
    return found


async def _replay(arguments: Arguments) -> int:
    try:
        traffic = read_traffic(arguments.file())
    except FileError as error:
        raise ServerError(str(error)) from None
    target = await Target.at(arguments.against) if arguments.against else None
    engine = arguments.engine("" if target is None else await target.version())
    replayer = Replayer(traffic, engine, target, arguments.pace)
    await replayer.run()
    if target is not None:
        target.close()
    await replayer.server.close()
    print(f"replay: {replayer.findings.summary()}", file=sys.stderr)
    if engine.stats.unexpected_errors:
        return IMPOSSIBLE
    return DIFFERENT if replayer.findings.differences else 0


def main(args: list[str]) -> int:
    """Run `redouble replay`; the exit status."""
    return run(args, USAGE, _replay)
