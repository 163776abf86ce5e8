"""What two servers send a client unasked, compared: for each channel by itself, in order.

How messages of two channels, or messages and replies, fall between each other is chance. What MONITOR shows
holds times and addresses and is not compared. When a key expires is chance too, so of its events only
those that both have sent are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from redouble.testing.traffic.agreement import Case, verdict
from redouble.testing.traffic.peers import kind_of
from redouble.testing.traffic.replies import CLOSED, Reply

Waiting = tuple[deque[Reply], deque[Reply]]


class Pushes:
    """The pushes of one client. `found` is told of each pair, and of one without the other.

    Theirs may be only `some` of what was sent (of a file that was cut): then each must come, and what ours
    has between them does not matter; that shows at the end.
    """

    def __init__(self, found: Callable[[str | None, list[Reply], list[Reply]], None], some: bool = False) -> None:
        self._found = found
        self._some = some
        self._waiting: dict[bytes, Waiting] = {}

    def add(self, side: int, reply: Reply) -> None:
        """A push has come from our side (0) or theirs (1). O(1)."""
        kind = kind_of(reply)
        if reply == CLOSED or not kind:
            return
        channel = b" ".join([kind, *[item.text for item in reply.items[1:-1]]])
        queues = self._waiting.setdefault(channel, (deque(), deque()))
        queues[side].append(reply)
        if queues[0] and queues[1] and not self._some:
            ours, theirs = queues[0].popleft(), queues[1].popleft()
            self._found(_rule(ours, theirs), [ours], [theirs])

    @property
    def even(self) -> bool:
        """Whether as many have come from both sides; from ours at least as many, if theirs are only some."""
        return all(
            len(ours) == len(theirs) or (self._some and len(ours) > len(theirs))
            for ours, theirs in self._waiting.values()
        )

    def end(self) -> None:
        """Nothing more will come: tell what only one side has sent."""
        for channel, (ours, theirs) in self._waiting.items():
            if self._some:
                self._end_some(ours, theirs)
            elif not channel.endswith((b":expired", b":evicted")):
                for one in ours:
                    self._found(None, [one], [])
                for one in theirs:
                    self._found(None, [], [one])
        self._waiting.clear()

    def _end_some(self, ours: deque[Reply], theirs: deque[Reply]) -> None:
        for wanted in theirs:
            at = next((at for at, one in enumerate(ours) if _rule(one, wanted) is not None), None)
            if at is None:
                self._found(None, list(ours)[:1], [wanted])
            else:
                self._found(_rule(ours[at], wanted), [ours[at]], [wanted])
                for _ in range(at + 1):
                    ours.popleft()


def _rule(ours: Reply, theirs: Reply) -> str | None:
    return verdict(Case([], ours, theirs, 0, 0))
