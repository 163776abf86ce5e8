"""Fault rules: which requests a fault hits, and what becomes of these. `faults.py` is the mechanism.

A rule is a list of conditions, a count and an action. The conditions on the command are settled when the rule is
added, as one truth value for each row of the command table; the others are looked at only where that is true.

The action ERROR takes any text, or one word for an error that Redis knows; see `fault_errors.py`.

Chance is a rule's own: a source of random numbers, seeded from the engine's when the rule is added. So the n-th
request that a rule looks at has the same fate in every run with the same seed, whatever others do.
"""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING, Final, final

from redouble.datatypes.glob import Glob
from redouble.engine import flags as f
from redouble.engine.keyfinder import keys_of, slot_names
from redouble.engine.powers.fault_errors import PRESETS, Preset
from redouble.errors import CommandError
from redouble.protocol.keyslot import key_slot

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command, CommandTable
    from redouble.engine.engine import Engine

ERROR: Final = 0
DELAY: Final = 1
HANG: Final = 2
DROP: Final = 3
CUT: Final = 4
_NAMES: Final[list[bytes]] = [b"ERROR", b"DELAY", b"HANG", b"DROP", b"CUT"]

#: Longest delay, ms: about 24 days. Timers of event loops end not far beyond.
MOST_MS: Final = (1 << 31) - 1
_CODE: Final = re.compile(rb"[A-Z][A-Z0-9_]+ ")


@final
class Action:
    """What becomes of a request that is hit. Made by `error`, `delay`, `hang`, `drop` and `cut`."""

    __slots__ = ("kind", "text", "preset", "ms", "after", "size")

    def __init__(self, kind: int) -> None:
        self.kind: int = kind
        #: ERROR: the whole text, or the preset's word.
        self.text: bytes = b""
        self.preset: Preset | None = None
        #: DELAY.
        self.ms: int = 0
        #: DELAY, DROP, CUT: whether the command runs first.
        self.after: bool = False
        #: CUT: how many bytes of the reply are sent.
        self.size: int = 0

    def described(self) -> bytes:
        """As REDOUBLE FAULT ADD takes it. O(len)."""
        name = _NAMES[self.kind]
        if self.kind == ERROR:
            return name + b" " + self.text
        if self.kind == HANG:
            return name
        if self.kind == CUT:
            return b"%b %d" % (name, self.size)
        when = b"AFTER" if self.after else b"BEFORE"
        return b"%b %d %b" % (name, self.ms, when) if self.kind == DELAY else b"%b %b" % (name, when)


def error(text: bytes) -> Action:
    """Answer with an error: a word of `PRESETS`, or a text, before which `ERR` is put if it has no code."""
    word = text.strip()
    action = Action(ERROR)
    action.preset = PRESETS.get(word.upper())
    if action.preset is not None:
        action.text = word.upper()
    elif not word or (b" " not in word and word == word.upper()):
        known = b" ".join(list(PRESETS))
        raise CommandError(b"ERR '%b' is no error that Redouble knows: write a text, or one of %b" % (word, known))
    else:
        action.text = word if _CODE.match(word) is not None else b"ERR " + word
    return action


def delay(ms: int, after: bool = False) -> Action:
    """Let the request (or, `after` it has run, its reply) wait for so many ms of the server's time."""
    if not 1 <= ms <= MOST_MS:
        raise CommandError(b"ERR DELAY takes 1 to %d milliseconds; for a request without any answer use HANG" % MOST_MS)
    action = Action(DELAY)
    action.ms = ms
    action.after = after
    return action


def hang() -> Action:
    """Let the request wait until the rule is removed."""
    return Action(HANG)


def drop(after: bool = False) -> Action:
    """Close the connection instead of running the command, or (`after`) instead of replying."""
    action = Action(DROP)
    action.after = after
    return action


def cut(size: int) -> Action:
    """Run the command, send the first `size` bytes of its reply, close the connection."""
    if size < 0:
        raise CommandError(b"ERR CUT takes the number of bytes to send, 0 or more")
    action = Action(CUT)
    action.size = size
    action.after = True
    return action


@final
class Rule:
    """Which requests, how often, and what then. A rule belongs to one engine, which counts in it.

    `command`, `key` and `client` are patterns (of any case for commands); None is no condition. The first `skip`
    requests that fit pass, then `times` are hit (None: all), each with this `probability`. Raises `CommandError`.
    """

    __slots__ = ("id", "action", "command", "key", "client", "skip", "times", "probability", "matched", "hits",
                 "_rows", "_key", "_client", "_random")  # fmt: skip

    def __init__(
        self, id: bytes, action: Action, command: bytes | None = None, key: bytes | None = None,
        client: bytes | None = None, skip: int = 0, times: int | None = None, probability: float = 1.0,
    ) -> None:  # fmt: skip
        if not id:
            raise CommandError(b"ERR a fault needs a name that is not empty")
        if skip < 0:
            raise CommandError(b"ERR SKIP takes the number of requests that pass first, 0 or more")
        if times is not None and times < 1:
            raise CommandError(b"ERR TIMES must be at least 1; leave it out to hit every request")
        if not 0.0 <= probability <= 1.0:
            raise CommandError(b"ERR PROBABILITY must be a number from 0 to 1, such as 0.25")
        self.id: bytes = id
        self.action: Action = action
        self.command: bytes | None = command
        self.key: bytes | None = key
        self.client: bytes | None = client
        self.skip: int = skip
        self.times: int | None = times
        self.probability: float = probability
        #: How many requests fitted the conditions, and how many of them were hit.
        self.matched: int = 0
        self.hits: int = 0
        self._rows: list[bool] = []
        self._key: Glob | None = None if key is None else Glob(key)
        self._client: Glob | None = None if client is None else Glob(client)
        self._random: Random = Random(0)

    @property
    def left(self) -> int | None:
        """How many requests it will still hit; None for no limit."""
        return None if self.times is None else self.times - self.hits

    def prepare(self, table: CommandTable, seed: int) -> None:
        """Find the commands that are meant. Raises `CommandError` if there are none. O(commands)."""
        pattern = self.command
        if pattern is None and self.action.preset is not None and self.action.preset.commands:
            pattern = self.action.preset.commands
        if pattern is None:
            rows = [not row.flags & f.CONTROL for row in table.rows]
        else:
            glob = Glob(pattern.replace(b" ", b"|"), True)
            rows = [not row.flags & f.CONTROL and _is_named(row, glob) for row in table.rows]
        if not any(rows):
            raise CommandError(
                b"ERR no command fits '%b': write a name such as GET or CONFIG|SET, or a pattern such as H*"
                % (pattern or b"")
            )
        self._rows = rows
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Begin another series of chances."""
        self._random = Random(seed)

    def fits(self, client: Client, command: Command, argv: list[bytes], nature: int) -> bool:
        """Whether the conditions hold for a request that amounts to these flags. O(arguments) where keys matter."""
        if not self._rows[command.index] or self.left == 0:
            return False
        if self._client is not None and not _matches(self._client, client.name):
            return False
        preset = self.action.preset
        if self.command is None and preset is not None and not preset.covers(command, argv, nature):
            return False
        if self._key is None:
            return True
        return any([_matches(self._key, key) for key in keys_of(command, argv)])

    def decide(self) -> bool:
        """One more request fits: whether it is hit. O(1)."""
        self.matched += 1
        if self.matched <= self.skip or (self.probability < 1.0 and self._random.random() >= self.probability):
            return False
        self.hits += 1
        return True

    def reaches_scripts(self, wrote: bool) -> bool:
        """Whether it hits what a script calls, which may have written already. O(1)."""
        if self.action.kind != ERROR:
            return False
        if self.command is not None:
            return True
        return self.action.preset is not None and self.action.preset.in_scripts and not wrote

    def error_for(self, engine: Engine, client: Client, command: Command, argv: list[bytes]) -> bytes:
        """The text of its error. A redirection leads to the slot of the first key and back to this server. O(keys)."""
        preset = self.action.preset
        if preset is None:
            return self.action.text
        if preset.text:
            return preset.text
        names = slot_names(command, argv)
        slot = key_slot(names[0]) if names else 0
        return b"%b %d %b" % (self.action.text, slot, _own_address(engine, client))


def _is_named(row: Command, glob: Glob) -> bool:
    return glob.matches(row.full_name) or (row.parent is not None and glob.matches(row.parent.full_name))


def _matches(glob: Glob, text: bytes) -> bool:
    """As a person means it: `*` is everything, nothing included."""
    return glob.matches_all or glob.matches(text)


def _own_address(engine: Engine, client: Client) -> bytes:
    """Where the client has reached this server."""
    node = engine.node
    if node is not None:
        return b"%b:%d" % (node.host(client), node.port(client))
    port = engine.config.get(b"port")
    if client.kind != b"unix" and client.local_address:
        port = client.local_address.rpartition(b":")[2]
    return b"%b:%b" % (client.host_reached(), port)
