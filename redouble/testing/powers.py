"""What only a double can do, from Python: the typed faces of the engine's powers.

    server.clock.advance(seconds=61)
    server.faults.error("READONLY", command="set", times=1)
    with server.snapshots.save("before"): ...
    with server.trace.start(scripts=True) as trace: ...
    server.lint.enable("cross-slot")

Each face holds the server's lock while it works, so it may be used from any thread. What REDOUBLE would refuse with an
error reply is a `ValueError` here. In a cluster a face speaks of all nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Final

from redouble.engine.powers.lint import Finding
from redouble.engine.powers.snapshots import Snapshots
from redouble.engine.powers.timeline import Timeline
from redouble.engine.powers.trace import MOST, TraceEntry
from redouble.errors import CommandError

if TYPE_CHECKING:
    from redouble.testing.core import Core

_CODE: Final = "ERR "


@contextmanager
def at_work(core: Core) -> Iterator[None]:
    """The lock is held; afterwards what was said goes out, and the timers are set anew. Errors are `ValueError`s."""
    with core.driven():
        try:
            yield
        except CommandError as error:
            raise ValueError(error.text.decode("utf-8", "replace").removeprefix(_CODE)) from None


class ClockFace:
    """The server's time: `server.clock`. All nodes of a cluster have the same."""

    def __init__(self, core: Core) -> None:
        self._core = core

    @property
    def now_ms(self) -> int:
        """The server's time, Unix time in ms."""
        return self._timeline.clock.now()

    @property
    def frozen(self) -> bool:
        """Whether it stands."""
        return self._timeline.clock.frozen

    def freeze(self, at_ms: int | None = None) -> None:
        """Let time stand, now or at a Unix time in ms."""
        with at_work(self._core):
            self._timeline.freeze(at_ms)

    def advance(self, *, seconds: float = 0, ms: int = 0) -> None:
        """Move time forward, whether it stands or runs. What came due has happened, in order, when this returns."""
        with at_work(self._core):
            self._timeline.advance(round(seconds * 1000) + ms)

    def set(self, at_ms: int) -> None:
        """Make it another time, Unix time in ms, later or earlier, whether time stands or runs."""
        with at_work(self._core):
            self._timeline.set(at_ms)

    def resume(self) -> None:
        """Let time run on from where it stands."""
        with at_work(self._core):
            self._timeline.resume()

    def autojump(self, ms: int | None) -> None:
        """Jump to what is due next whenever nothing has arrived for so many real ms; None: no more jumps."""
        with at_work(self._core):
            self._timeline.autojump(ms)

    @property
    def _timeline(self) -> Timeline:
        return self._core.engines[0].timeline


class SnapshotsFace:
    """Whole states by name: `server.snapshots`."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def save(self, name: str, *, clock: bool = False) -> Saved:
        """Keep the state: keys, scripts, functions, with `clock` the time too. In a `with` it is back at the end."""
        with at_work(self._core):
            self._snapshots.save(name.encode(), clock)
        return Saved(self, name)

    def restore(self, name: str) -> None:
        """Bring a state back; connections, settings and users stay as they are."""
        with at_work(self._core):
            self._snapshots.restore(name.encode())

    def drop(self, name: str) -> None:
        """Forget a state."""
        with at_work(self._core):
            self._snapshots.drop(name.encode())

    def names(self) -> list[str]:
        """The names, in the order in which they were first saved."""
        with at_work(self._core):
            return [name.decode() for name in self._snapshots.names()]

    @property
    def _snapshots(self) -> Snapshots:
        return self._core.engines[0].snapshots


class Saved:
    """A state that was saved. As a context manager it is restored and dropped at the end."""

    def __init__(self, snapshots: SnapshotsFace, name: str) -> None:
        self._snapshots = snapshots
        self.name = name

    def __enter__(self) -> Saved:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._snapshots.restore(self.name)
        self._snapshots.drop(self.name)


class TraceFace:
    """What was sent and what scripts did inside: `server.trace`. As a context manager it stops at the end."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def start(self, *, scripts: bool = False, command: str = "*", client: str = "*", most: int = MOST) -> TraceFace:
        """Trace from now on; what was traced before is forgotten.

        `scripts`: the commands inside scripts too. `command` and `client` are globs for the names of commands and of
        clients. `most`: how many commands to hold.
        """
        with at_work(self._core):
            for engine in self._core.engines:
                engine.trace.start(scripts, command.encode(), client.encode(), most)
        return self

    def stop(self) -> None:
        """Trace nothing more; what was traced stays."""
        with at_work(self._core):
            for engine in self._core.engines:
                engine.trace.stop()

    def clear(self) -> None:
        """Forget what was traced; a trace that runs goes on."""
        with at_work(self._core):
            for engine in self._core.engines:
                engine.trace.clear()

    def entries(self) -> list[TraceEntry]:
        """What was traced, the oldest first; of a cluster, node by node. O(n)."""
        with at_work(self._core):
            return [entry for engine in self._core.engines for entry in engine.trace.entries()]

    def count(self, command: str, key: str | bytes | None = None) -> int:
        """How many commands have a name (and a key) that these globs match, those inside others included. O(n).

        Raises `ValueError` if some had to be dropped: the number could be too low.
        """
        wanted = key.encode() if isinstance(key, str) else key
        with at_work(self._core):
            return sum(engine.trace.count(command.encode(), wanted) for engine in self._core.engines)

    def __enter__(self) -> TraceFace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class LintFace:
    """What works here, but would not elsewhere or later: `server.lint`. As a context manager it stops at the end."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def enable(self, *rules: str) -> LintFace:
        """Judge from now on by these rules, without any by all that need no value; what was found is forgotten.

        A rule is a name, or `name:value`: `"cross-slot"`, `"no-ttl:session:*"`.
        """
        words = [rule.encode() for rule in rules]
        with at_work(self._core):
            for engine in self._core.engines:
                engine.lint.enable(words)
        return self

    def disable(self) -> None:
        """Judge nothing more; what was found stays."""
        with at_work(self._core):
            for engine in self._core.engines:
                engine.lint.disable()

    def findings(self) -> list[Finding]:
        """What was found: each finding has a rule, command, count, example, detail and advice. O(n)."""
        with at_work(self._core):
            return [finding for engine in self._core.engines for finding in engine.lint.findings()]

    def __enter__(self) -> LintFace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.disable()
