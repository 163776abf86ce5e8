"""The slow log: commands that took longer than a threshold, newest first."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from redouble.engine.command import Command
    from redouble.engine.context import Context

_MAX_ARGS: Final = 32
_MAX_TEXT: Final = 128


@final
class SlowEntry:
    """One slow command."""

    __slots__ = ("id", "time", "microseconds", "argv", "address", "name")

    def __init__(self, id: int, time: int, microseconds: int, argv: list[bytes], address: bytes, name: bytes) -> None:
        self.id: int = id
        #: Unix time in seconds.
        self.time: int = time
        self.microseconds: int = microseconds
        self.argv: list[bytes] = argv
        self.address: bytes = address
        self.name: bytes = name


@final
class SlowLog:
    """The log of one engine. `threshold_ns` and `length` follow the configuration."""

    __slots__ = ("threshold_ns", "length", "entries", "next_id")

    def __init__(self) -> None:
        self.threshold_ns: int = 10_000_000
        self.length: int = 128
        self.entries: deque[SlowEntry] = deque()
        self.next_id: int = 0

    def add(self, ctx: Context, command: Command, argv: list[bytes], nanoseconds: int) -> None:
        """Remember a command. O(1)."""
