"""What was saved when: the figures behind LASTSAVE and INFO persistence."""

from __future__ import annotations

from typing import final


@final
class Saving:
    """The saves of one engine."""

    __slots__ = ("last_save", "saves", "rewrites", "dirty_at_save", "last_duration")

    def __init__(self, now: int) -> None:
        #: Unix time in seconds; when the server started, if it was never saved.
        self.last_save: int = now // 1000
        self.saves: int = 0
        self.rewrites: int = 0
        #: The dirty counter at the last save.
        self.dirty_at_save: int = 0
        #: How long the last background save took, seconds; -1 if there was none.
        self.last_duration: int = -1

    def saved(self, now: int, dirty: int, in_background: bool) -> None:
        """A save has succeeded."""
        self.last_save = now // 1000
        self.saves += 1
        self.dirty_at_save = dirty
        if in_background:
            self.last_duration = 0
