"""Client-side caching: who has read which keys."""

from __future__ import annotations

from typing import final


@final
class TrackingState:
    """How one client wants to be told of changes."""

    __slots__ = ("redirect",)

    def __init__(self) -> None:
        self.redirect: int = 0
