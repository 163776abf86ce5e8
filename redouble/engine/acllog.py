"""The ACL log: what was denied to whom, newest first; like denials within a minute are one entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from redouble.engine.aclselector import DENIED_CHANNEL, DENIED_COMMAND, DENIED_KEY
from redouble.engine.clientline import client_line

if TYPE_CHECKING:
    from redouble.engine.client import Client

#: A reason of the log's own: a wrong password.
DENIED_LOGIN: Final = 4
REASONS: Final[dict[int, bytes]] = {
    DENIED_COMMAND: b"command",
    DENIED_KEY: b"key",
    DENIED_CHANNEL: b"channel",
    DENIED_LOGIN: b"auth",
}
_SAME_WITHIN_MS: Final = 60_000
#: How far back a like entry is looked for.
_LOOK_BACK: Final = 10


@final
class AclLogEntry:
    """A denial, or several like ones."""

    __slots__ = ("id", "count", "reason", "context", "object", "user", "created", "updated", "client_line")

    def __init__(self, id: int, reason: int, context: bytes, object: bytes, user: bytes, now: int) -> None:
        self.id: int = id
        self.count: int = 0
        self.reason: int = reason
        #: `toplevel`, `multi` or `lua`.
        self.context: bytes = context
        #: The command, key or channel.
        self.object: bytes = object
        self.user: bytes = user
        #: Unix times in ms.
        self.created: int = now
        self.updated: int = now
        self.client_line: bytes = b""

    def is_like(self, other: AclLogEntry) -> bool:
        """Whether both tell of the same within a minute."""
        return (
            self.reason == other.reason
            and self.context == other.context
            and self.object == other.object
            and self.user == other.user
            and abs(self.updated - other.updated) <= _SAME_WITHIN_MS
        )


@final
class AclLog:
    """The denials of one server. `length` is acllog-max-len."""

    __slots__ = ("entries", "length", "_next_id")

    def __init__(self) -> None:
        self.entries: list[AclLogEntry] = []
        self.length: int = 128
        self._next_id: int = 0

    def add(self, client: Client, reason: int, context: bytes, object: bytes, user: bytes) -> None:
        """Remember a denial. O(entries)."""
        if self.length:
            entry = AclLogEntry(self._next_id, reason, context, object, user, client.engine.space.now)
            for at, former in enumerate(self.entries[:_LOOK_BACK]):
                if former.is_like(entry):
                    former.updated = entry.updated
                    entry = former
                    del self.entries[at]
                    break
            else:
                self._next_id += 1
            entry.count += 1
            entry.client_line = client_line(client, [])
            self.entries.insert(0, entry)
        del self.entries[self.length :]
