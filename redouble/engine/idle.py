"""Closing clients that have said nothing for `timeout` seconds.

One timer of the engine looks at all clients when the first of them may be due. Who waits for keys,
listens to channels or watches commands may be silent as long as he likes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from redouble.engine import flags as f

if TYPE_CHECKING:
    from redouble.engine.engine import Engine

_PATIENT: Final = f.BLOCKED | f.SUBSCRIBER | f.MONITOR
#: Between two looks. Milliseconds.
_LEAST_PAUSE: Final = 100


def watch_idle(engine: Engine, began: int) -> None:
    """Close who is due, and look again when the next may be; `began` is the `idle_round`. O(clients)."""
    settings = engine.config.edge
    if not settings.idle_ms or settings.idle_round != began:
        return
    now = engine.space.now
    next_look = now + settings.idle_ms
    for client in list(engine.clients.values()):
        if client.flags & _PATIENT:
            continue
        due = client.active + settings.idle_ms
        if due <= now and client is not engine.current:
            engine.kill(client)
        else:
            next_look = min(next_look, due)
    engine.later(max(next_look, now + _LEAST_PAUSE), lambda: watch_idle(engine, began))
