"""`redouble record`: a Redouble, or a proxy before a real server, that writes down what is said.

Requests of all clients are served one after the other, so that the order of the lines is the order in which
they were run. A request that waits lets the others pass; its reply stands where it came. What is written
is all that was said, passwords too.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from redouble.clock import Clock
from redouble.engine import flags as f
from redouble.engine.engine import Engine
from redouble.server.options import OptionError
from redouble.testing.traffic.cli import IMPOSSIBLE, Arguments, run
from redouble.testing.traffic.front import Front, Session
from redouble.testing.traffic.lines import Writer
from redouble.testing.traffic.peers import EnginePeer, Peer, WirePeer, engine_server
from redouble.testing.traffic.replies import CLOSED, Reply
from redouble.testing.traffic.target import Target

USAGE: Final = """\
Usage: redouble record FILE [--against URL] [server options] [-- COMMAND ...]

Serves as Redouble does, or as a proxy before the server at URL, and writes each request and reply into FILE,
a text that one can read and cut (docs/traffic.md). With COMMAND it lives as long as it, and COMMAND finds
REDIS_URL, REDIS_HOST and REDIS_PORT set. Exit status: COMMAND's own, or 0; 2 if it could not be done.
"""


class Recorder:
    """What all clients share."""

    def __init__(self, engine: Engine, target: Target | None, writer: Writer) -> None:
        self.engine = engine
        self.server = engine_server(engine)
        self.target = target
        self.writer = writer
        #: Pushes that a request has caused which is not written yet.
        self._held: list[tuple[str, Reply]] | None = None

    def now(self) -> int:
        """When what happens now happens: Unix time in ms. The engine's time stands while a command runs."""
        return self.engine.space.now if self.target is None else self.engine.clock.now()

    def ask(self, label: str, peer: Peer, argv: list[bytes]) -> asyncio.Future[list[Reply]]:
        """Ask and write down that it was asked, at the time at which it was run."""
        asked = self.now()
        self._held = []
        answer = peer.ask(argv)
        # An engine reads the clock when it takes a request, so only now it is known.
        self.writer.asked(self.now() if self.target is None else asked, label, argv)
        held, self._held = self._held, None
        for name, push in held:
            self.told(name, push)
        return answer

    def told(self, label: str, push: Reply) -> None:
        """Write down that a client was told something."""
        if self._held is not None:
            self._held.append((label, push))
        else:
            self.writer.told(self.now(), label, push)


class RecordedClient(Session):
    """A client that is written down."""

    def __init__(self, recorder: Recorder, front: Front, transport: asyncio.Transport) -> None:
        super().__init__(front, transport)
        self._all = recorder
        self._peer: Peer | None = None

    async def start(self) -> None:
        """Connect to the server."""
        if self._all.target is None:
            self._peer = EnginePeer(self._all.server, self._heard)
        else:
            self._peer = await self._all.target.connect(self._heard)

    def _heard(self, reply: Reply, raw: bytes, push: bool) -> None:
        self.write(raw)
        if reply == CLOSED:
            self.hang_up()
        elif push:
            self._all.told(self.label, reply)

    async def handle(self, argv: list[bytes]) -> None:
        """Serve a request."""
        assert self._peer is not None
        async with self.front.turn:
            answer = self._all.ask(self.label, self._peer, argv)
            if self._all.target is not None:
                command = self._all.engine.table.find(argv)
                if command is not None and command.flags & f.BLOCKING:
                    await self._all.target.settle(self._peer, answer)
                else:
                    await answer
            if answer.done():
                self._answered(answer.result())
                return
        await self.unless_gone(answer)
        if answer.done():
            self._answered(answer.result())

    def _answered(self, replies: list[Reply]) -> None:
        for reply in replies:
            self._all.writer.answered(self._all.now(), self.label, reply)

    async def end(self) -> None:
        """The client has gone."""
        if isinstance(self._peer, WirePeer) and self._all.target is not None:
            async with self.front.turn:
                await self._all.target.leave(self._peer)
        elif self._peer is not None:
            self._peer.close()


async def _record(arguments: Arguments) -> int:
    path = arguments.file()
    target = await Target.at(arguments.against) if arguments.against else None
    engine = arguments.engine("" if target is None else await target.version())
    try:
        Path(path).write_text("")
    except OSError as error:
        raise OptionError(f"{path}: {error.strerror}") from None
    with Path(path).open("w", buffering=1, encoding="ascii") as file:
        recorder = Recorder(engine, target, Writer(file, Clock().now()))
        front = Front(lambda own, transport: RecordedClient(recorder, own, transport))
        status = await arguments.serve(await arguments.listen(front, engine))
        await front.close()
    if target is not None:
        target.close()
    await recorder.server.close()
    return IMPOSSIBLE if front.failed or engine.stats.unexpected_errors else status


def main(args: list[str]) -> int:
    """Run `redouble record`; the exit status."""
    return run(args, USAGE, _record)
