"""Counters that INFO shows: of the whole server, of each command, of each error code.

Commands are counted under their row's `index` (see `CommandTable`), so counting costs two list
accesses. Durations are nanoseconds here, microseconds in INFO.
"""

from __future__ import annotations

from typing import final


@final
class Stats:
    """The counters of one engine."""

    __slots__ = (
        "calls", "nanoseconds", "rejected", "failed", "errors", "commands", "connections", "rejected_connections",
        "error_replies", "input_bytes", "output_bytes", "started", "unexpected_errors", "peak_memory", "histograms",
    )  # fmt: skip

    def __init__(self, rows: int) -> None:
        self.calls: list[int] = [0] * rows
        self.nanoseconds: list[int] = [0] * rows
        self.rejected: list[int] = [0] * rows
        self.failed: list[int] = [0] * rows
        #: Error code to count.
        self.errors: dict[bytes, int] = {}
        self.commands: int = 0
        self.connections: int = 0
        self.rejected_connections: int = 0
        self.error_replies: int = 0
        self.input_bytes: int = 0
        self.output_bytes: int = 0
        self.unexpected_errors: int = 0

    def count_error(self, text: bytes) -> None:
        """Count an error reply under its code, the first word."""
        self.error_replies += 1
        code = text.partition(b" ")[0]
        self.errors[code] = self.errors.get(code, 0) + 1

    def reset(self) -> None:
        """CONFIG RESETSTAT."""
        rows = len(self.calls)
        self.calls = [0] * rows
        self.nanoseconds = [0] * rows
        self.rejected = [0] * rows
        self.failed = [0] * rows
        self.errors = {}
        self.commands = 0
        self.connections = 0
        self.rejected_connections = 0
        self.error_replies = 0
        self.input_bytes = 0
        self.output_bytes = 0
