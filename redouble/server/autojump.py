"""When nothing has arrived for a while, time jumps to what is due next (REDOUBLE CLOCK AUTOJUMP).

A timer of the event loop looks now and then whether anything has arrived since it looked last, by a number that the
engine counts anyway. So a request pays nothing, and a jump comes after one to two of the time asked for. The
timer is set only while something is due: `RedoubleServer.arm` begins the watch, which ends by itself.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redouble.server.server import RedoubleServer


class IdleWatch:
    """The watch of one server. In a cluster each has one, and a jump at one of them counts as activity at all."""

    def __init__(self, server: RedoubleServer) -> None:
        self._server = server
        self._timer: asyncio.TimerHandle | None = None
        #: What `_timer` was set for, ms.
        self._period = 0
        self._seen = 0

    def begin(self) -> None:
        """Something is due: look again after a while, if jumps are wanted."""
        timeline = self._server.engine.timeline
        period = timeline.autojump_ms
        if self._timer is not None:
            if self._period == period:
                return
            self.end()
        if period:
            self._period = period
            self._seen = timeline.activity()
            self._timer = asyncio.get_running_loop().call_later(period / 1000, self._server.listen_for_silence)

    def end(self) -> None:
        """Watch no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def look(self) -> None:
        """The time is over: jump if it was silent, and go on while anything is due."""
        self._timer = None
        timeline = self._server.engine.timeline
        if timeline.autojump_ms and timeline.activity() == self._seen:
            timeline.jump()
        if timeline.next_due() is not None:
            self.begin()
