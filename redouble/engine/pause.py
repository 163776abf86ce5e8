"""CLIENT PAUSE: requests wait until a time, all of them or only those that may write.

A postponed request waits at the head of its client's inbox and the client is held; when the pause
ends every held client goes on in the order in which it was stopped. While writes are paused no key
expires either (it is only hidden), so that a replica would see no change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from redouble.engine import flags as f

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command
    from redouble.engine.engine import Engine


@final
class Pause:
    """The pause of an engine."""

    __slots__ = ("engine", "until", "all_commands", "postponed", "_timer")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        #: Unix time in ms.
        self.until: int = 0
        self.all_commands: bool = False
        self.postponed: list[Client] = []
        self._timer: int = 0

    def begin(self, until: int, all_commands: bool) -> None:
        """Pause until a time. A pause that holds already is only made longer or stricter."""
        self.all_commands = all_commands or (self.until > 0 and self.all_commands)
        self.until = max(self.until, until)
        self.engine.flags |= f.PAUSED
        self.engine.space.expiry_held = True
        self.engine.never_mind(self._timer)
        self._timer = self.engine.later(self.until, self.end_if_due)

    def end_if_due(self) -> None:
        """The time of some pause has come."""
        if self.until and self.until <= self.engine.space.now:
            self.end()

    def end(self) -> None:
        """Let everybody go on."""
        # What is no longer due must not draw a clock that jumps.
        self.engine.never_mind(self._timer)
        self.until = 0
        self.all_commands = False
        self.engine.flags &= ~f.PAUSED
        self.engine.space.expiry_held = False
        postponed = self.postponed
        self.postponed = []
        for client in postponed:
            client.flags &= ~f.POSTPONED
            self.engine.resume(client)

    def postpones(self, command: Command, nature: int) -> bool:
        """Whether a request must wait; `nature` is what it amounts to, as flags."""
        if command.flags & f.UNPAUSED:
            return False
        return self.all_commands or nature & (f.WRITE | f.MAY_REPLICATE) != 0

    def postpone(self, client: Client) -> None:
        """Let a client wait for the end of the pause; `Engine.run` keeps the request, before those that follow it."""
        client.flags |= f.POSTPONED
        self.postponed.append(client)
