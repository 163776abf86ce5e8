"""The clock that obeys: freeze, advance, set, resume, and jumps ahead while nobody says anything.

All that the server knows of time hangs on one `Clock`: deadlines of keys and fields, time-outs, idle times, TIME,
stream ids, the timers of `Engine.later`. The nodes of a cluster in one process (and a Sentinel beside a master) share
one timeline, so a test moves the time of all of them by telling one.

Moving forward is done in steps: the clock is set to the next time at which anything is due at any engine,
and what is due fires there, with all that it sets off (waiters served, requests that had waited); then comes
the next. So events, time-outs and expiries interleave as they would have if the time had really passed, and
each sees the time at which it was due. Meanwhile a running clock stands, and then goes on from where it was sent.
The client that moves the time counts as active all the while, so its own `timeout` does not end it.

Moving back is allowed. Nothing is undone: deadlines are points in time, so they are farther away afterwards
(keys live longer, waits last longer), durations since a later time count as 0, and ids of streams still rise.

Autojump, as in trio's MockClock: when nothing has arrived for so many real milliseconds, jump to what is due next. Only
an edge can tell that nothing arrives (`server/autojump.py`); it compares `activity`, so requests pay nothing.

What it simplifies: durations that are only measured (slow log, latency, busy-reply-threshold) are real ones, and so is
the time that a peer may leave its output unread (the soft limit of client-output-buffer-limit). DEBUG SLEEP holds
the server for as long as it says, and time that stands does not move by it. While a script is left in the middle its
engine fires nothing, as always; what came due meanwhile fires when it has ended. After a million steps of one move
the rest fires at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from redouble.clock import Clock
from redouble.engine import flags as f
from redouble.errors import CommandError

if TYPE_CHECKING:
    from redouble.engine.engine import Engine

#: The end of the year 9999, beyond which many clients can't read a date. Unix time in ms.
LATEST: Final = 253_402_300_799_999
#: The longest wait for a jump: a day.
LONGEST_WAIT: Final = 86_400_000
#: `Engine.armed_for` where no timer is set.
NEVER_ARMED: Final = 1 << 62
_MOST_STEPS: Final = 1_000_000
_OUT_OF_RANGE: Final = b"ERR time is out of range, it must be between 0 and %d (the end of the year 9999)" % LATEST


@final
class Timeline:
    """The time of an engine, or of several that share it."""

    __slots__ = ("clock", "engines", "autojump_ms", "_jumps", "_held")

    def __init__(self, engine: Engine) -> None:
        self.clock: Clock = engine.clock
        self.engines: list[Engine] = [engine]
        #: How long nothing must have arrived for a jump, real ms; 0 for no jumps.
        self.autojump_ms: int = 0
        self._jumps: int = 0
        #: Whether the clock stands only as long as a move lasts.
        self._held: bool = False

    def join(self, engine: Engine) -> None:
        """From now on an engine goes by our time."""
        self.engines.append(engine)
        engine.timeline = self
        engine.clock = self.clock
        engine.space.clock = self.clock

    # -- telling ----------------------------------------------------------------------------

    def next_due(self) -> int | None:
        """When anything is due next, Unix time in ms, or None. O(engines), amortised."""
        best: int | None = None
        for engine in self.engines:
            if not engine.flags & f.BUSY_SCRIPT:
                engine.space.prune()
                deadline = engine.next_deadline()
                if deadline is not None and (best is None or deadline < best):
                    best = deadline
        return best

    def activity(self) -> int:
        """A number that changes whenever something arrives, or time has jumped. O(engines)."""
        counts = [engine.stats.reads + engine.stats.connections + engine.stats.commands for engine in self.engines]
        return self._jumps + sum(counts)

    # -- moving -----------------------------------------------------------------------------

    def freeze(self, at_ms: int | None = None) -> int:
        """Let time stand, now or at `at_ms` (Unix time in ms); the time it is then. Raises `CommandError`.

        A later time is reached as by `set`: what is due until then fires.
        """
        if at_ms is not None:
            _check(at_ms)
        self._held = False
        if not self.clock.frozen:
            self.clock.freeze()
        return self._move(self.clock.now_us() if at_ms is None else at_ms * 1000)

    def advance(self, ms: int) -> int:
        """Move forward by so many ms, and fire what comes due, in order; the time it is then. O(k log n).

        Raises `CommandError` for a negative or far too large number.
        """
        if ms < 0:
            raise CommandError(b"ERR time can't be advanced by a negative number, use SET to go back")
        _check(ms)
        target = self.clock.now_us() + ms * 1000
        _check(target // 1000)
        return self._move(target)

    def set(self, at_ms: int) -> int:
        """Make it `at_ms` (Unix time in ms), later or earlier, and fire what came due; the time it is then."""
        _check(at_ms)
        return self._move(at_ms * 1000)

    def resume(self) -> int:
        """Let time run on from where it stands; the time it is. No change if it runs."""
        self._held = False
        self.clock.resume()
        self.settle()
        return self.clock.now()

    def autojump(self, ms: int | None) -> None:
        """Jump to what is due next whenever nothing has arrived for so many real ms; None: no more jumps.

        The jump comes after at least this time, and at most twice of it. Raises `CommandError`.
        """
        if ms is not None and not 1 <= ms <= LONGEST_WAIT:
            raise CommandError(b"ERR AUTOJUMP needs a number of milliseconds between 1 and %d, or OFF" % LONGEST_WAIT)
        self.autojump_ms = ms or 0
        self.settle()

    def jump(self) -> bool:
        """Go to what is due next, and fire it; False where nothing is due, or a script has been left in the middle."""
        for engine in self.engines:
            if engine.flags & f.BUSY_SCRIPT:
                return False
        due = self.next_due()
        if due is None or due > LATEST:
            return False
        self._jumps += 1
        self._move(max(due * 1000, self.clock.now_us()))
        return True

    def reset(self) -> None:
        """Follow the machine's clock again, and no more jumps: as it was at the start."""
        self.autojump_ms = 0
        self._held = False
        self.clock.real()
        self.fire()
        self.settle()

    def put(self, at_us: int, frozen: bool) -> None:
        """Make it another time, standing or running, without any steps. The caller fires what is due."""
        self._held = False
        self.clock.freeze()
        self.clock.set_us(at_us)
        if not frozen:
            self.clock.resume()
        for engine in self.engines:
            engine.space.now = self.clock.now()

    def fire(self) -> None:
        """Let happen at every engine what is due by now, with all that it sets off."""
        for engine in self.engines:
            caller = engine.current
            if engine.flags & f.BUSY_SCRIPT:
                continue
            if caller is not None:
                caller.active = self.clock.now()
            # What others are told now is no part of the reply to whoever moves the time.
            engine.current = None
            engine.clock_moved()
            engine.current = caller

    def _move(self, target: int) -> int:
        """Go to a time (microseconds), forward step by step; the time it is then, in ms."""
        clock = self.clock
        if target > clock.now_us():
            if not clock.frozen:
                clock.freeze()
                self._held = True
            for _ in range(_MOST_STEPS):
                due = self.next_due()
                if due is None or due * 1000 > target:
                    break
                clock.set_us(max(due * 1000, clock.now_us()))
                self.fire()
            # Something that fired may have moved the time itself.
            target = max(target, clock.now_us())
        clock.set_us(target)
        self.fire()
        if self._held:
            self._held = False
            clock.resume()
        self.settle()
        return target // 1000

    def settle(self) -> None:
        """Send what was said, and let the edges set their timers anew."""
        for engine in self.engines:
            engine.armed_for = NEVER_ARMED
            if engine.current is None:
                engine.flush()
            if engine.config.edge.attend is not None:
                engine.config.edge.attend()


def _check(ms: int) -> None:
    if not 0 <= ms <= LATEST:
        raise CommandError(_OUT_OF_RANGE)
