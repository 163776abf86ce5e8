"""Scripts that take long: others are answered meanwhile, and may end them.

How it works. Where an edge can wait for us (`use_fiber`), a request that may run a script (EVAL, FCALL, an EXEC
with one of them) runs within a fiber, a stack of its own, and so do the requests that came with it in one read:
to enter costs more than a short script. The runtime asks `on_hook` every 100,000 Lua instructions. Past
busy-reply-threshold that leaves the fiber: the client is held, the engine is marked as busy, and the event loop
goes on. From then on each `Engine.tick` lets the script run on until the next hook; the edge calls it as soon as
it has nothing else to do. When the script has ended, the fiber sends its reply and goes on with the rest.

While the engine is busy only commands that are allowed then get past `admission.py`. Time stands still:
no key expires, nothing is evicted, no waiter is served and no timer fires in the middle of a script.

Without an edge, or without the greenlet package, a script holds everything until it ends; nothing else differs.
A script that has written can't be killed, because half of its work would stay.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, final

from redouble.clock import ticks
from redouble.engine import flags as f
from redouble.errors import CommandError
from redouble.lua_runtime.interrupt import KILLED, LOAD_TIMEOUT, ScriptFiber, Suspended, is_available
from redouble.protocol.reply import Map, Reply

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command
    from redouble.engine.engine import Engine

log: Final = logging.getLogger("redouble")

_NS_PER_MS: Final = 1_000_000
#: How long the loading of a library may take.
_LOAD_NS: Final = 500 * _NS_PER_MS
_BUSY_SCRIPT: Final = b"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
_BUSY_FUNCTION: Final = b"BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE."
_NOT_BUSY: Final = b"NOTBUSY No scripts in execution right now."
_UNKILLABLE: Final = (
    b"UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script "
    b"termination or kill the server in a hard way using the SHUTDOWN NOSAVE command."
)


@final
class LongScripts:
    """The script of one engine that runs, as far as its duration matters."""

    __slots__ = ("engine", "fiber", "name", "is_function", "argv", "started", "killed", "loading", "_client",
                 "_command", "_request", "_rest")  # fmt: skip

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        #: None where scripts can't be left in the middle.
        self.fiber: ScriptFiber | None = None
        #: The script that runs: its name or digest, the request, when it began (`ticks`).
        self.name: bytes = b""
        self.is_function: bool = False
        self.argv: list[bytes] = []
        self.started: int = 0
        self.killed: bool = False
        #: A library is being loaded.
        self.loading: bool = False
        #: Whose request runs in the fiber.
        self._client: Client | None = None
        self._command: Command | None = None
        self._request: list[bytes] = []
        #: What the same read brought after it.
        self._rest: list[list[bytes]] = []

    def use_fiber(self) -> None:
        """From now on long scripts are left in the middle: somebody will call `Engine.tick`."""
        if is_available():
            self.fiber = ScriptFiber()

    def close(self) -> None:
        """The engine ends, and with it a script that has been left."""
        if self.fiber is not None:
            self.fiber.close()

    # -- running ------------------------------------------------------------------------------

    def begin(self, name: bytes, is_function: bool, argv: list[bytes]) -> None:
        """A script is about to run."""
        self.name = name
        self.is_function = is_function
        self.argv = argv
        self.killed = False
        self.started = self.engine.last_tick

    def takes(self, client: Client, command: Command, argv: list[bytes]) -> bool:
        """Whether this request must run within the fiber; `run_within` is to be called then."""
        fiber = self.fiber
        if fiber is None or fiber.active or (command.flags & f.ENDS_MULTI and not _has_script(client)):
            return False
        self._client = client
        self._command = command
        self._request = argv
        client.flags |= f.ENTERS_FIBER
        return True

    def run_within(self, client: Client, rest: list[list[bytes]]) -> None:
        """Run the request that `takes` took, and `rest` after it. They may not have ended at the end."""
        client.flags &= ~f.ENTERS_FIBER
        self._rest = rest
        assert self.fiber is not None
        self.fiber.run(self._work)

    def _work(self) -> Reply:
        client, command, rest = self._client, self._command, self._rest
        assert client is not None and command is not None
        self._rest = []
        self.engine.perform(client, command, self._request)
        if client.flags & f.HELD:
            client.put_back(rest)
        else:
            self.engine.run(client, rest)
        return None

    def end(self) -> None:
        """The script has ended: if it was left in the middle, the engine is free again."""
        engine = self.engine
        client = self._client
        if engine.flags & f.BUSY_SCRIPT and client is not None:
            engine.flags &= ~f.BUSY_SCRIPT
            client.flags &= ~f.IN_LONG_SCRIPT

    def on_hook(self) -> bytes | None:
        """The script has run for a while: an error ends it."""
        now = ticks()
        self.engine.tick_at(now)
        if self.loading:
            return LOAD_TIMEOUT if now - self.started > _LOAD_NS else None
        fiber = self.fiber
        if fiber is None or not fiber.active:
            return None
        if not self.engine.flags & f.BUSY_SCRIPT:
            threshold = self.engine.config.number(b"busy-reply-threshold") * _NS_PER_MS
            if threshold <= 0 or now - self.started < threshold:
                return None
            self._become_busy()
        fiber.suspend()
        self.engine.tick_at(ticks())
        return KILLED if self.killed else None

    def _become_busy(self) -> None:
        engine = self.engine
        client = self._client
        assert client is not None
        word = "FUNCTION" if self.is_function else "SCRIPT"
        log.warning(
            "Slow script detected: %s runs for %d milliseconds now. %s KILL would end it.",
            self.name.decode("latin-1"), self.duration(), word,
        )  # fmt: skip
        client.flags |= f.IN_LONG_SCRIPT
        engine.flags |= f.BUSY_SCRIPT
        engine.busy_error = _BUSY_FUNCTION if self.is_function else _BUSY_SCRIPT
        if engine.config.edge.attend is not None:
            engine.config.edge.attend()

    def go_on(self) -> None:
        """Let the script that was left run on, to its end or to the next hook."""
        engine = self.engine
        client = self._client
        assert self.fiber is not None and client is not None
        engine.current = client
        reply = self.fiber.resume()
        engine.current = None
        if not isinstance(reply, Suspended):
            engine.resume(client)

    # -- from outside -------------------------------------------------------------------------

    def duration(self) -> int:
        """How long the script has run, ms."""
        return (ticks() - self.started) // _NS_PER_MS

    def described(self) -> Reply:
        """The function that runs, for FUNCTION STATS, or None; the error of BUSY if it is a script."""
        if not self.engine.flags & f.BUSY_SCRIPT:
            return None
        if not self.is_function:
            raise CommandError(_BUSY_SCRIPT)
        return Map([b"name", self.name, b"command", list(self.argv), b"duration_ms", self.duration()])

    def kill(self, function: bool) -> None:
        """SCRIPT KILL, FUNCTION KILL: the script ends with an error when it runs on."""
        if not self.engine.flags & f.BUSY_SCRIPT:
            raise CommandError(_NOT_BUSY)
        if self.engine.scripting.wrote:
            raise CommandError(_UNKILLABLE)
        if self.is_function != function:
            raise CommandError(_BUSY_FUNCTION if self.is_function else _BUSY_SCRIPT)
        self.killed = True


def _has_script(client: Client) -> bool:
    """Whether a script is among the commands of the client's transaction. O(queue)."""
    return any([command.flags & f.RUNS_SCRIPT for command, _ in client.queue])
