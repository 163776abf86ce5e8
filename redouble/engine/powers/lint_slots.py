"""What LINT remembers of slots and keys while a script or a transaction runs.

A cluster demands three things. The keys of one command share a slot. The commands of a transaction share one, for EXEC
is sent to one node. A script stays in the slot of the keys that it declared, or if it declared
none in that of the first key it touches; without a `#!lua` line Redis lets it reach other slots of the same
node, which is luck, so it counts as crossing here. `allow-cross-slot-keys` says that the luck is meant.

Scripts and transactions never overlap (while one is left in the middle, others can start none), so one of each
is remembered. A new script is known by its caller, which each run has of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f
from redouble.engine.keyfinder import slot_names
from redouble.lua_runtime.shebang import ALLOW_CROSS_SLOT
from redouble.protocol.keyslot import key_slot
from redouble.protocol.quote import shell_words

if TYPE_CHECKING:
    from redouble.engine.command import Command
    from redouble.engine.context import Context
    from redouble.engine.engine import Engine

_TITLE_LENGTH: Final = 60
_DIGEST_SHOWN: Final = 8


@final
class SlotMemory:
    """The script and the transaction that run in one engine."""

    __slots__ = ("engine", "declared", "_script", "_script_key", "_judged", "_client_id", "_transaction_key")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        #: The keys that the running script declared.
        self.declared: frozenset[bytes] = frozenset()
        self._script: Context | None = None
        #: The key whose slot the script must stay in; None until there is one.
        self._script_key: bytes | None = None
        #: Its declared keys cross slots already: that is the caller's fault, and judged there.
        self._judged: bool = False
        #: Whose transaction runs, and the key whose slot it must stay in.
        self._client_id: int = 0
        self._transaction_key: bytes | None = None

    def crossing(self, ctx: Context, command: Command, argv: list[bytes]) -> bytes:
        """Why a cluster would refuse a command because of slots; empty if it would not. O(arguments)."""
        names = slot_names(command, argv)
        apart = _first_apart(names)
        if ctx.flags & f.IN_SCRIPT:
            return self._in_script(ctx, names, apart)
        if ctx.flags & f.IN_EXEC:
            return self._in_transaction(ctx, names, apart)
        if command.flags & f.ENDS_MULTI:
            self._transaction_key = None
        return _apart(names[0], apart) if apart is not None else b""

    def title(self) -> bytes:
        """What to call the running script."""
        return script_title(self.engine, self.engine.scripting.long.name)

    def _in_script(self, ctx: Context, names: list[bytes], apart: bytes | None) -> bytes:
        scripting = self.engine.scripting
        if ctx is not self._script:
            self._script = ctx
            self.declared = frozenset(scripting.keys)
            self._script_key = scripting.keys[0] if scripting.keys else None
            self._judged = _first_apart(scripting.keys) is not None
        if apart is not None:
            return _apart(names[0], apart)
        if not names or self._judged or scripting.flags & ALLOW_CROSS_SLOT:
            return b""
        if self._script_key is None:
            self._script_key = names[0]
        if key_slot(self._script_key) == key_slot(names[0]):
            return b""
        return b"%b: %b" % (self.title(), _apart(self._script_key, names[0]))

    def _in_transaction(self, ctx: Context, names: list[bytes], apart: bytes | None) -> bytes:
        if apart is not None:
            return _apart(names[0], apart)
        if not names:
            return b""
        if self._transaction_key is None or self._client_id != ctx.client.id:
            self._client_id = ctx.client.id
            self._transaction_key = names[0]
        if key_slot(self._transaction_key) == key_slot(names[0]):
            return b""
        return b"the transaction: " + _apart(self._transaction_key, names[0])


def script_title(engine: Engine, name: bytes) -> bytes:
    """What to call a script: a function's name; a digest, with the script's first words where it is known. O(len)."""
    script = engine.scripting.runtime.find(name)
    if script is None:
        return b"function %b" % name
    for line in script.body.split(b"\n"):
        words = line.strip(b" \t\r-[]")
        if words and not words.startswith(b"#!"):
            if len(words) > _TITLE_LENGTH:
                words = words[:_TITLE_LENGTH].rstrip() + b"..."
            return b"script %b (%b)" % (name[:_DIGEST_SHOWN], words)
    return b"script %b" % name[:_DIGEST_SHOWN]


def _first_apart(names: list[bytes]) -> bytes | None:
    """The first name that is in another slot than the first one. O(names)."""
    if len(names) < 2:
        return None
    slot = key_slot(names[0])
    for name in names:
        if key_slot(name) != slot:
            return name
    return None


def _apart(one: bytes, other: bytes) -> bytes:
    return b"%b is in slot %d, %b in slot %d" % (
        shell_words([one]),
        key_slot(one),
        shell_words([other]),
        key_slot(other),
    )
