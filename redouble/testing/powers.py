"""What only a double can do, from Python: the typed faces of the engine's powers.

    server.clock.advance(seconds=61)

Each face holds the server's lock while it works, so it may be used from any thread. What the engine refuses with an
error of Redis is a `ValueError` here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redouble.engine.powers.timeline import Timeline
    from redouble.testing.core import Core


class ClockFace:
    """The server's time: `server.clock`. All nodes of a cluster have the same."""

    def __init__(self, core: Core) -> None:
        self._core = core

    @property
    def now_ms(self) -> int:
        """The server's time, Unix time in ms."""
        return self._core.engines[0].clock.now()

    @property
    def frozen(self) -> bool:
        """Whether it stands."""
        return self._core.engines[0].clock.frozen

    def freeze(self, at_ms: int | None = None) -> None:
        """Let time stand, now or at a Unix time in ms."""
        with self._core.lock:
            at_ms = self.now_ms if at_ms is None else _moment(at_ms)
            self._timeline().freeze(at_ms)
            self._moved()

    def advance(self, *, seconds: float = 0, ms: int = 0) -> None:
        """Move time forward, whether it stands or runs; what came due has happened when this returns."""
        step = round(seconds * 1000) + ms
        if step < 0:
            raise ValueError(f"time can't be advanced by {step} ms; use set() to go back")
        with self._core.lock:
            self._timeline().advance(step)
            self._moved()

    def set(self, at_ms: int) -> None:
        """Make it another time, Unix time in ms, whether time stands or runs."""
        with self._core.lock:
            self._timeline().set(_moment(at_ms))
            self._moved()

    def resume(self) -> None:
        """Let time run on from where it stands."""
        with self._core.lock:
            self._timeline().resume()
            self._moved()

    def _timeline(self) -> Timeline:
        """All nodes share one."""
        return self._core.engines[0].timeline

    def _moved(self) -> None:
        for engine in self._core.engines:
            engine.clock_moved()
            engine.flush()
        self._core.attend()


def _moment(at_ms: int) -> int:
    if at_ms < 0:
        raise ValueError(f"a time is Unix time in ms, not {at_ms}")
    return at_ms
