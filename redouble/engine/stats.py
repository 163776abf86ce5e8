"""Counters that INFO shows: of the whole server, of each command, of each error code.

Commands are counted under their row's `index` (see `CommandTable`), so counting costs two list
accesses. Durations are nanoseconds here, microseconds in INFO.
"""

from __future__ import annotations

from typing import Final, final

from redouble.engine import histogram

_RATE_SPAN: Final = 100
_NO_COUNTS: Final[list[int]] = []


@final
class Stats:
    """The counters of one engine."""

    __slots__ = (
        "calls", "nanoseconds", "rejected", "failed", "errors", "commands", "connections", "rejected_connections",
        "error_replies", "input_bytes", "output_bytes", "reads", "writes", "unexpected_errors",
        "output_limit_closes", "query_limit_closes", "denied_auth", "denied_commands", "denied_keys",
        "denied_channels", "lazy_frees", "histograms", "tracking", "_rate", "_rate_from",
    )  # fmt: skip

    def __init__(self, rows: int) -> None:
        #: latency-tracking.
        self.tracking: bool = True
        #: Bugs of ours.
        self.unexpected_errors: int = 0
        self.calls: list[int] = [0] * rows
        self.nanoseconds: list[int] = [0] * rows
        self.rejected: list[int] = [0] * rows
        self.failed: list[int] = [0] * rows
        #: Of each command; empty for one that has not run. See `histogram.py`.
        self.histograms: list[list[int]] = [_NO_COUNTS] * rows
        #: Error code to count.
        self.errors: dict[bytes, int] = {}
        self.commands: int = 0
        self.connections: int = 0
        self.rejected_connections: int = 0
        self.error_replies: int = 0
        self.input_bytes: int = 0
        self.output_bytes: int = 0
        #: How often something was read from, or written to, a connection.
        self.reads: int = 0
        self.writes: int = 0
        #: Clients closed because they did not read, or asked too much at once.
        self.output_limit_closes: int = 0
        self.query_limit_closes: int = 0
        #: What the ACL refused.
        self.denied_auth: int = 0
        self.denied_commands: int = 0
        self.denied_keys: int = 0
        self.denied_channels: int = 0
        #: Values so large that Redis would free them in another thread.
        self.lazy_frees: int = 0
        #: (commands, bytes in, bytes out) per second, and what it is counted from.
        self._rate: tuple[int, int, int] = (0, 0, 0)
        self._rate_from: tuple[int, int, int, int] = (0, 0, 0, 0)

    def track(self, on: bool) -> None:
        """Count the time that each command takes, or stop counting; the histograms stay."""
        self.tracking = on

    def count_duration(self, index: int, nanoseconds: int) -> None:
        """Count what `Engine.call` does not count itself: a command's first call, or a long one."""
        counts = self.histograms[index]
        if not counts:
            counts = histogram.empty()
            self.histograms[index] = counts
        if nanoseconds < histogram.SHORT:
            counts[nanoseconds >> histogram.SHIFT] += 1
        else:
            counts[histogram.long_slot(nanoseconds)] += 1

    def count_error(self, text: bytes) -> None:
        """Count an error reply under its code, the first word."""
        self.error_replies += 1
        code = text.partition(b" ")[0]
        self.errors[code] = self.errors.get(code, 0) + 1

    def rate(self, now: int) -> tuple[int, int, int]:
        """Commands, bytes in and bytes out per second, since it was asked last (at least 100 ms ago)."""
        since, commands, bytes_in, bytes_out = self._rate_from
        span = now - since
        if span < 0:
            # Time has been set back.
            self._rate_from = (now, self.commands, self.input_bytes, self.output_bytes)
        elif span >= _RATE_SPAN:
            self._rate = (
                (self.commands - commands) * 1000 // span,
                (self.input_bytes - bytes_in) * 1000 // span,
                (self.output_bytes - bytes_out) * 1000 // span,
            )
            self._rate_from = (now, self.commands, self.input_bytes, self.output_bytes)
        return self._rate

    def anew(self) -> Stats:
        """What CONFIG RESETSTAT leaves: all zero, but for our own bugs, which must not be forgotten."""
        fresh = Stats(len(self.calls))
        fresh.tracking = self.tracking
        fresh.unexpected_errors = self.unexpected_errors
        return fresh
