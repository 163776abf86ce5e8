"""placeholder"""

from typing import final


@final
class HashValue:
    __slots__ = ("soonest",)

    def __init__(self) -> None:
        self.soonest: int = 1 << 63

    def __len__(self) -> int:
        return 0

    def drop_expired(self, now: int) -> list[bytes]:
        return []
