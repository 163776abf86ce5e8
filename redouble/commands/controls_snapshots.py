"""REDOUBLE SNAPSHOT: whole states by name; what they are stands in `engine/powers/snapshots.py`."""

from __future__ import annotations

from typing import Final

from redouble.commands.controls import CONTROL
from redouble.commands.help import bad_subcommand
from redouble.engine.command import Family
from redouble.engine.context import Context
from redouble.errors import SYNTAX, CommandError, c_text
from redouble.protocol.reply import OK, Boolean, Map, Reply

controls_snapshots: Final = Family("server")

#: Not in the middle of a script.
_FLAGS: Final = CONTROL.replace(" allow_busy", "")


@controls_snapshots.command(
    "redouble|snapshot", "SAVE name [CLOCK] | RESTORE name | DROP name | LIST",
    "Keeps all keys, scripts and functions (and the time) under a name, and brings them back.", arity=-3, flags=_FLAGS,
    since="1.0.0", complexity="O(N) with the number of keys, and what differs between now and then.",
)  # fmt: skip
def redouble_snapshot(ctx: Context, argv: list[bytes]) -> Reply:
    """OK; for LIST a map of names. O(keys + what differs)."""
    snapshots = ctx.engine.snapshots
    word = argv[2].upper()
    count = len(argv)
    if word == b"SAVE" and count in (4, 5):
        if count == 5 and argv[4].upper() != b"CLOCK":
            raise CommandError(SYNTAX)
        snapshots.save(argv[3], count == 5)
    elif word == b"RESTORE" and count == 4:
        snapshots.restore(argv[3])
    elif word == b"DROP" and count == 4:
        snapshots.drop(argv[3])
    elif word == b"LIST" and count == 3:
        return _listed(ctx)
    elif word in (b"SAVE", b"RESTORE", b"DROP", b"LIST"):
        raise bad_subcommand(argv)
    else:
        raise CommandError(b"ERR unknown action '%b', SNAPSHOT knows SAVE, RESTORE, DROP and LIST" % c_text(argv[2]))
    return OK


def _listed(ctx: Context) -> Map:
    """Each name with its facts: keys (of this node), when it was saved (Unix time in ms), whether with the clock."""
    items: list[Reply] = []
    for name in ctx.engine.snapshots.names():
        snapshot = ctx.engine.snapshots.find(name)
        facts: list[Reply] = [
            b"keys", snapshot.count(), b"saved-at", snapshot.at_us // 1000, b"clock", Boolean(snapshot.has_clock),
        ]  # fmt: skip
        items += [name, Map(facts)]
    return Map(items)
