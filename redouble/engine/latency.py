"""The latency monitor: the worst delays of each event, second by second.

An event is a reason why others had to wait: a slow command (`command`, or `fast-command` for those
that should be quick), expiry, eviction. Each keeps its last 160 seconds in which it was slow at all,
with the worst delay of each second.
"""

from __future__ import annotations

from typing import Final, final

_SAMPLES: Final = 160


@final
class LatencySeries:
    """The samples of one event: (Unix time in seconds, ms), oldest first."""

    __slots__ = ("samples", "worst")

    def __init__(self) -> None:
        self.samples: list[tuple[int, int]] = []
        #: The worst delay ever, ms.
        self.worst: int = 0


@final
class LatencyMonitor:
    """The events of one engine."""

    __slots__ = ("threshold_ms", "events")

    def __init__(self) -> None:
        #: What takes less is not remembered; 0 switches the monitor off.
        self.threshold_ms: int = 0
        self.events: dict[bytes, LatencySeries] = {}

    def add(self, event: bytes, time: int, milliseconds: int) -> None:
        """Remember a delay, if it is long enough. O(1)."""
        if not self.threshold_ms or milliseconds < self.threshold_ms:
            return
        series = self.events.setdefault(event, LatencySeries())
        series.worst = max(series.worst, milliseconds)
        samples = series.samples
        if samples and samples[-1][0] == time:
            samples[-1] = (time, max(samples[-1][1], milliseconds))
            return
        samples.append((time, milliseconds))
        if len(samples) > _SAMPLES:
            del samples[0]

    def reset(self, names: list[bytes]) -> int:
        """Forget events, all of them if none is named; how many there were."""
        doomed = [name for name in (names or list(self.events)) if name in self.events]
        for name in doomed:
            del self.events[name]
        return len(doomed)
