"""Who runs a command: the only difference between a socket, EXEC, a script and a wake-up.

Each client has one for its own requests; a script gets another with its own database and flags. A
handler reaches everything through it: `ctx.db` for keys, `ctx.client` for the connection, `ctx.engine`
for the server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from redouble.keyspace.database import Database
from redouble.keyspace.space import Keyspace

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.engine import Engine


@final
class Context:
    """The caller of a command. `flags` are the callers' bits of `flags.py`."""

    __slots__ = ("engine", "client", "space", "db", "flags")

    def __init__(self, engine: Engine, client: Client, db: Database, flags: int) -> None:
        self.engine: Engine = engine
        self.client: Client = client
        self.space: Keyspace = engine.space
        self.db: Database = db
        self.flags: int = flags

    @property
    def now(self) -> int:
        """The time of this command, Unix time in ms."""
        return self.space.now
