"""The server's own time. Nothing in the inner rooms reads the wall clock: they ask a `Clock`.

Time is milliseconds since the Unix epoch, as in Redis; microseconds where a reply shows them. A
clock either follows the machine's (plus an offset, once somebody has moved it) or is frozen and
moves only when told to. Durations that are only *reported* (slow log, command statistics) come
from `ticks`, which never stands still.

Whoever moves the clock must then let the engine fire what came due; see `engine/powers/timeline.py`.
"""

import time
from typing import Final, final

# Constants of this module are found faster than what is in another one.
_time_ns: Final = time.time_ns
_perf_counter_ns: Final = time.perf_counter_ns


@final
class Clock:
    """Wall time that can be frozen, advanced, set and resumed."""

    __slots__ = ("_frozen_us", "_offset_us")

    def __init__(self) -> None:
        self._frozen_us: int = -1
        self._offset_us: int = 0

    @property
    def frozen(self) -> bool:
        """True while time stands still."""
        return self._frozen_us >= 0

    def now_us(self) -> int:
        """Microseconds since the Unix epoch."""
        if self._frozen_us >= 0:
            return self._frozen_us
        return _time_ns() // 1000 + self._offset_us

    def now(self) -> int:
        """Milliseconds since the Unix epoch."""
        return self.now_us() // 1000

    def freeze(self, at_ms: int | None = None) -> None:
        """Stop time, now or at `at_ms`."""
        self._frozen_us = self.now_us() if at_ms is None else at_ms * 1000

    def advance(self, ms: int) -> None:
        """Move time forward by `ms`, whether it stands or runs."""
        if self._frozen_us >= 0:
            self._frozen_us += ms * 1000
        else:
            self._offset_us += ms * 1000

    def set(self, at_ms: int) -> None:
        """Make it `at_ms`, whether time stands or runs."""
        self.set_us(at_ms * 1000)

    def set_us(self, at_us: int) -> None:
        """Make it so many microseconds since the Unix epoch, whether time stands or runs."""
        if self._frozen_us >= 0:
            self._frozen_us = at_us
        else:
            self._offset_us = at_us - _time_ns() // 1000

    def resume(self) -> None:
        """Let time run on from where it stands."""
        if self._frozen_us >= 0:
            at = self._frozen_us
            self._frozen_us = -1
            self._offset_us = at - _time_ns() // 1000

    def offset_us(self) -> int:
        """How far we are ahead of the machine's clock, in microseconds; negative behind it."""
        if self._frozen_us >= 0:
            return self._frozen_us - _time_ns() // 1000
        return self._offset_us

    def real(self) -> None:
        """Follow the machine's clock again, without any offset."""
        self._frozen_us = -1
        self._offset_us = 0


def ticks() -> int:
    """Nanoseconds of a clock that only measures durations."""
    return _perf_counter_ns()


def hold(seconds: float) -> None:
    """Stand still for so long, and the whole server with us: what DEBUG SLEEP is for."""
    time.sleep(seconds)
