"""The errors that a fault can give by one word, and what each hits where a rule names no command.

A rule with READONLY and no command hits what writes, with LOADING what a server refuses while it loads, with MOVED
what has keys. So a client that connects, asks INFO and names itself meets a server as it would be in that state,
and only the requests that would fail there fail here. A rule that names commands hits exactly those.

The texts are Redis', and so is whether the connection ends (a test brings a real server into each of these states).
MOVED and ASK are made for each request, with the slot of its first key (`Rule.error_for`).
Simplified: a real server with a failed save refuses PING too; here MISCONF hits writes only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f
from redouble.engine.keyfinder import slot_names
from redouble.engine.memory import OOM
from redouble.engine.replication import READONLY
from redouble.errors import NO_AUTH, NO_SCRIPT, WRONGTYPE

if TYPE_CHECKING:
    from redouble.engine.command import Command


@final
class Preset:
    """An error that Redis knows, and what it hits where a rule names no command."""

    __slots__ = ("text", "only", "spared", "names", "commands", "in_scripts", "closes")

    def __init__(
        self, text: bytes, only: int = 0, spared: int = 0, names: int = 0, commands: bytes = b"",
        in_scripts: bool = False, closes: bool = False,
    ) -> None:  # fmt: skip
        #: Empty for a redirection, which is made for each request.
        self.text: bytes = text
        #: Flags: a request must have one of `only` (0: none needed) and none of `spared`.
        self.only: int = only
        self.spared: int = spared
        #: So many keys or shard channels it must have at least.
        self.names: int = names
        #: A pattern of command names.
        self.commands: bytes = commands
        #: Whether a script that has not written yet meets it at the command that it calls.
        self.in_scripts: bool = in_scripts
        #: Whether the connection ends with it.
        self.closes: bool = closes

    def covers(self, command: Command, argv: list[bytes], nature: int) -> bool:
        """Whether a real server in this state would refuse such a request. O(arguments) where keys matter."""
        if (self.only and not nature & self.only) or nature & self.spared:
            return False
        return not self.names or len(slot_names(command, argv)) >= self.names


_MASTER_DOWN: Final = b"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
_MISCONF: Final = (
    b"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that "
    b"may modify the data set are disabled, because this instance is configured to report errors during writes if RDB "
    b"snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB "
    b"error."
)
_UNBLOCKED: Final = b"UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)"

PRESETS: Final[dict[bytes, Preset]] = {
    b"ASK": Preset(b"", names=1),
    b"BUSY": Preset(
        b"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", spared=f.ALLOW_BUSY
    ),
    b"CLUSTERDOWN": Preset(b"CLUSTERDOWN The cluster is down", names=1),
    b"CROSSSLOT": Preset(b"CROSSSLOT Keys in request don't hash to the same slot", names=2),
    b"LOADING": Preset(b"LOADING Redis is loading the dataset in memory", spared=f.LOADING),
    b"MASTERDOWN": Preset(_MASTER_DOWN, spared=f.STALE),
    b"MAXCLIENTS": Preset(b"ERR max number of clients reached", closes=True),
    b"MISCONF": Preset(_MISCONF, only=f.WRITE, in_scripts=True),
    b"MOVED": Preset(b"", names=1),
    b"NOAUTH": Preset(NO_AUTH, spared=f.NO_AUTH),
    b"NOREPLICAS": Preset(b"NOREPLICAS Not enough good replicas to write.", only=f.WRITE, in_scripts=True),
    b"NOSCRIPT": Preset(NO_SCRIPT, commands=b"evalsha*"),
    b"OOM": Preset(OOM, only=f.DENYOOM, in_scripts=True),
    b"READONLY": Preset(READONLY, only=f.WRITE, in_scripts=True),
    b"TRYAGAIN": Preset(b"TRYAGAIN Multiple keys request during rehashing of slot", names=2),
    b"UNBLOCKED": Preset(_UNBLOCKED, only=f.BLOCKING, closes=True),
    b"WRONGTYPE": Preset(WRONGTYPE, names=1),
}
