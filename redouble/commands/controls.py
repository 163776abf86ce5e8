"""REDOUBLE: the powers that only a double has, for clients in any language.

One container; its sub-commands stand in `controls_*.py`, one file for each power, and only read arguments
and shape replies: the powers themselves are `engine/powers/`. These commands are no part of Redis, so they
are a list apart (`CONTROLS`), which a server with `--controls no` doesn't have: there REDOUBLE is unknown.

They run at once whatever state the server is in (busy, paused, loading), are not shown to MONITOR and the slow
log, and neither faults nor traces touch them. They may not stand in a transaction or a script: there
time stands still.
"""

from typing import Final

from redouble.commands.help import help_reply
from redouble.engine.command import Family
from redouble.engine.context import Context
from redouble.protocol.reply import Reply

controls: Final = Family("server")

#: Of every sub-command.
CONTROL: Final = "admin noscript loading stale skip_monitor skip_slowlog allow_busy no_multi unpaused control"

controls.container("redouble", "Holds the commands for what only a test double can do.", since="1.0.0", flags="control")


@controls.command("redouble|help", "", "Explains the sub-commands.", arity=2, flags=CONTROL, since="1.0.0")
def redouble_help(ctx: Context, argv: list[bytes]) -> Reply:
    """The explanation."""
    return help_reply(ctx, argv)
