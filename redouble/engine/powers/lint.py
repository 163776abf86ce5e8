"""LINT: what works here and now, but would not, or not well, elsewhere or later.

How it works. While LINT is on, `Engine.call` shows each command when it has run (`look`), those of scripts and
transactions too. Each enabled rule is a bit, and a few lines here: they judge the request (`_judge_request`),
what it has done (`_judge_effect`), or its error. A complaint is kept once for each rule, script and command
(`Finding`): how often, and the first example. At most a thousand are told apart; the rest of a
rule is one finding about "(others)".

Rules that need a memory:

- cross-slot: of the slots that the running script or transaction has used (`lint_slots.py`);
- eval-instead-of-evalsha: of the digests that EVAL came with;
- no-ttl: of the keys that were written and match; whether they have a time to live is looked up when the
  report is made, because many set it by a command of its own. So it tells of keys that are still there;
- wrong-type-near-miss: of each key's last type. A command that is answered WRONGTYPE is a finding, and so
  is one that is not only because the key happened to expire or to become empty. Who deletes or overwrites a key
  on purpose is free to use its name for something else.

What was refused before it ran is not judged: the client was told.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha1
from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f
from redouble.engine.blocking import Block
from redouble.engine.command import parse_version
from redouble.engine.keyfinder import keys_of, keys_with_flags
from redouble.engine.powers import lint_rules as r
from redouble.engine.powers.lint_slots import SlotMemory, script_title
from redouble.engine.sizes import key_size
from redouble.engine.slowlog import shortened
from redouble.errors import NO_SCRIPT
from redouble.keyspace.database import NEVER
from redouble.keyspace.typed import type_name
from redouble.protocol.quote import shell_words
from redouble.protocol.reply import ErrorReply, Reply

if TYPE_CHECKING:
    from redouble.engine.command import Command
    from redouble.engine.context import Context
    from redouble.engine.engine import Engine

_MOST_FINDINGS: Final = 1000
_MOST_REMEMBERED: Final = 10_000
_OTHERS: Final = b"(others)"
_FLUSHES: Final = f.EMPTIES_DATABASE | f.EMPTIES_SERVER
#: After these a name may stand for anything.
_FORGETS_TYPES: Final = _FLUSHES | f.SWAPS_DATABASES
#: The type that the commands of a group work on.
_TYPES: Final[dict[str, bytes]] = {
    "string": b"string", "bitmap": b"string", "hyperloglog": b"string", "list": b"list", "set": b"set",
    "sorted-set": b"zset", "geo": b"zset", "hash": b"hash", "stream": b"stream",
}  # fmt: skip
_WRONG_TYPE: Final = b"WRONGTYPE "


@final
class Finding:
    """A complaint: how often, and the first example."""

    __slots__ = ("rule", "command", "script", "count", "example", "client_id", "client_name", "address", "detail",
                 "advice")  # fmt: skip

    def __init__(self, rule: r.Rule, command: bytes, script: bytes) -> None:
        self.rule: bytes = rule.name
        #: The command it is about, in lower case.
        self.command: bytes = command
        #: The digest, or the function's name, if it was in a script; else empty.
        self.script: bytes = script
        self.count: int = 0
        #: The first such request, as one would type it; who sent it.
        self.example: bytes = b""
        self.client_id: int = 0
        self.client_name: bytes = b""
        self.address: bytes = b""
        #: What is wrong with the example.
        self.detail: bytes = b""
        #: What to do instead.
        self.advice: bytes = rule.advice

    def __repr__(self) -> str:
        text = b"<%b: %b (%b), %d times>" % (self.rule, self.detail, self.example, self.count)
        return text.decode("utf-8", "backslashreplace")


@final
class Lint:
    """The findings of one engine."""

    __slots__ = ("engine", "settings", "slots", "_found", "_evals", "_written", "_types")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        self.settings: r.Settings = r.Settings()
        self.slots: SlotMemory = SlotMemory(engine)
        self._found: dict[tuple[int, bytes, bytes], Finding] = {}
        #: How often EVAL came with a script, by digest.
        self._evals: dict[bytes, int] = {}
        #: Keys that should have a time to live, each with what would be said if it has none.
        self._written: dict[tuple[int, bytes], Finding] = {}
        #: The last type of a key.
        self._types: dict[tuple[int, bytes], bytes] = {}

    # -- from outside -------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether commands are being judged."""
        return self.engine.observers & f.LINTED > 0

    def enable(self, rules: Sequence[bytes] = ()) -> None:
        """Judge from now on by these rules (see `lint_rules.py`), without any by all that need no value.

        What was found before is forgotten. Raises `CommandError` for a rule that there is not.
        """
        self.settings = r.parse_rules(list(rules))
        self.slots = SlotMemory(self.engine)
        self._found = {}
        self._evals = {}
        self._written = {}
        self._types = {}
        self.engine.observers |= f.LINTED

    def disable(self) -> None:
        """Judge nothing more; what was found stays."""
        self.engine.observers &= ~f.LINTED

    def findings(self) -> list[Finding]:
        """What was found, the first first; keys without time to live come last, as they are now. O(n)."""
        return list(self._found.values()) + self._without_ttl()

    # -- from the engine ----------------------------------------------------------------------

    def look(self, ctx: Context, command: Command, argv: list[bytes], reply: Reply) -> None:
        """A command has run, or begins to wait. O(arguments)."""
        if command.flags & f.CONTROL:
            return
        if isinstance(reply, ErrorReply) and reply.text == NO_SCRIPT:
            # The client comes again with the script itself.
            return
        if not ctx.flags & f.WAKING:
            self._judge_request(ctx, command, argv)
        if isinstance(reply, ErrorReply):
            if self.settings.rules & r.WRONG_TYPE and reply.text.startswith(_WRONG_TYPE):
                self._complain(r.WRONG_TYPE, ctx, command, argv, reply.text)
        elif not isinstance(reply, Block):
            self._judge_effect(ctx, command, argv)

    def _judge_request(self, ctx: Context, command: Command, argv: list[bytes]) -> None:
        rules = self.settings.rules
        name = command.full_name
        if rules & (r.CROSS_SLOT | r.UNDECLARED):
            self._judge_keys(ctx, command, argv)
        if rules & r.DEPRECATED and command.deprecated and parse_version(command.deprecated) <= self.engine.version:
            since = command.deprecated.encode()
            self._complain(r.DEPRECATED, ctx, command, argv, b"%b is deprecated since %b" % (name.upper(), since))
        if rules & r.KEYS_COMMAND and command.flags & f.WALKS_KEYS:
            self._complain(r.KEYS_COMMAND, ctx, command, argv, b"KEYS over %d keys" % len(ctx.db.data))
        if rules & r.UNBOUNDED and command.flags & f.BLOCKING and not ctx.flags & f.DENY_BLOCKING:
            if r.waits_for_ever(command.flags, argv):
                self._complain(r.UNBOUNDED, ctx, command, argv, b"%b may wait for ever" % name.upper())
        if rules & r.EVAL_AGAIN and command.flags & f.CARRIES_SCRIPT:
            self._count_eval(ctx, command, argv)
        if rules & r.FLUSH and command.flags & _FLUSHES:
            others = self._others(ctx, command.flags & f.EMPTIES_SERVER > 0)
            if others:
                self._complain(r.FLUSH, ctx, command, argv, b"%d other clients use these keys" % others)

    def _judge_keys(self, ctx: Context, command: Command, argv: list[bytes]) -> None:
        slots = self.slots
        crossing = slots.crossing(ctx, command, argv)
        if crossing and self.settings.rules & r.CROSS_SLOT:
            self._complain(r.CROSS_SLOT, ctx, command, argv, crossing)
        if ctx.flags & f.IN_SCRIPT and self.settings.rules & r.UNDECLARED:
            undeclared = [key for key in keys_of(command, argv) if key not in slots.declared]
            if undeclared:
                detail = b"%b touches %b" % (slots.title(), shell_words(shortened(undeclared, 4)))
                self._complain(r.UNDECLARED, ctx, command, argv, detail + b", which is not among its KEYS")

    def _count_eval(self, ctx: Context, command: Command, argv: list[bytes]) -> None:
        digest = sha1(argv[1]).hexdigest().encode()
        count = self._evals.get(digest, 0) + 1
        if count > 1 or len(self._evals) < _MOST_REMEMBERED:
            self._evals[digest] = count
        if count == self.settings.eval_times:
            detail = b"%b was sent by EVAL, %d bytes each time" % (script_title(self.engine, digest), len(argv[1]))
            self._complain(r.EVAL_AGAIN, ctx, command, argv, detail, count)
        elif count > self.settings.eval_times:
            self._complain(r.EVAL_AGAIN, ctx, command, argv, b"")

    def _others(self, ctx: Context, everywhere: bool) -> int:
        """How many other clients have used what is about to be flushed. O(clients)."""
        found = 0
        for client in self.engine.clients.values():
            last = client.last_command
            if client is not ctx.client and last is not None and not last.flags & f.CONTROL:
                if everywhere or client.context.db is ctx.db:
                    found += 1
        return found

    # -- what a command has done --------------------------------------------------------------

    def _judge_effect(self, ctx: Context, command: Command, argv: list[bytes]) -> None:
        rules = self.settings.rules
        if command.flags & f.WRITE and rules & (r.NO_TTL | r.BIG_VALUE):
            for key in keys_of(command, argv):
                entry = ctx.db.data.get(key)
                if entry is None:
                    continue
                size = key_size(key, entry) if rules & r.BIG_VALUE else 0
                if size >= self.settings.big_value:
                    detail = b"%b takes %d bytes" % (shell_words([key]), size)
                    self._complain(r.BIG_VALUE, ctx, command, argv, detail)
                if rules & r.NO_TTL:
                    self._note_written(ctx, command, argv, key)
        if rules & r.WRONG_TYPE:
            self._judge_types(ctx, command, argv)

    def _note_written(self, ctx: Context, command: Command, argv: list[bytes], key: bytes) -> None:
        mark = (ctx.db.index, key)
        if mark in self._written or len(self._written) >= _MOST_REMEMBERED:
            return
        for pattern, glob in self.settings.patterns:
            if glob.matches(key):
                finding = Finding(_rule_of(r.NO_TTL), command.full_name, self._script(ctx, command, argv))
                detail = b"%b matches %b and has no time to live" % (shell_words([key]), pattern)
                self._illustrate(finding, ctx, argv, detail)
                self._written[mark] = finding
                return

    def _without_ttl(self) -> list[Finding]:
        """One finding for each command that has left keys without time to live. O(remembered keys)."""
        found: dict[tuple[bytes, bytes], Finding] = {}
        for (index, key), noted in self._written.items():
            entry = self.engine.space.databases[index].data.get(key)
            if entry is None or entry.deadline != NEVER:
                continue
            place = (noted.script, noted.command)
            if place not in found:
                noted.count = 0
                found[place] = noted
            found[place].count += 1
        return list(found.values())

    def _judge_types(self, ctx: Context, command: Command, argv: list[bytes]) -> None:
        if command.flags & _FORGETS_TYPES:
            self._types.clear()
            return
        wanted = _TYPES.get(command.group)
        for key, flags in keys_with_flags(command, argv):
            mark = (ctx.db.index, key)
            entry = ctx.db.data.get(key)
            known = self._types.get(mark)
            if known is not None and wanted is not None and known != wanted and "OW" not in flags:
                if not command.flags & f.ANY_TYPE:
                    detail = b"%b was a %b before it vanished" % (shell_words([key]), known)
                    self._complain(r.WRONG_TYPE, ctx, command, argv, detail)
            if not command.flags & f.WRITE:
                continue
            if entry is not None:
                self._types[mark] = type_name(entry.value)
                if len(self._types) > _MOST_REMEMBERED:
                    del self._types[next(iter(self._types))]
            elif wanted is None:
                self._types.pop(mark, None)

    # -- findings -----------------------------------------------------------------------------

    def _complain(
        self, bit: int, ctx: Context, command: Command, argv: list[bytes], detail: bytes, times: int = 1
    ) -> None:
        """Count a complaint, and keep it if it is the first. O(arguments)."""
        script = self._script(ctx, command, argv)
        place = (bit, script, command.full_name)
        finding = self._found.get(place)
        if finding is None and len(self._found) >= _MOST_FINDINGS:
            place = (bit, b"", _OTHERS)
            finding = self._found.get(place)
        if finding is None:
            finding = Finding(_rule_of(bit), place[2], place[1])
            self._found[place] = finding
            self._illustrate(finding, ctx, argv, detail)
            if bit == r.DEPRECATED and command.replaced_by:
                finding.advice = b"Use %b." % command.replaced_by.replace("`", "").encode()
        finding.count += times

    def _illustrate(self, finding: Finding, ctx: Context, argv: list[bytes], detail: bytes) -> None:
        client = ctx.client
        finding.example = shell_words(shortened(self.engine.slowlog.shown(argv)))
        finding.client_id = client.id
        finding.client_name = client.name
        finding.address = client.address
        finding.detail = detail

    def _script(self, ctx: Context, command: Command, argv: list[bytes]) -> bytes:
        """The script that a command is part of, or runs; empty for none."""
        if ctx.flags & f.IN_SCRIPT:
            return self.engine.scripting.long.name
        if not command.flags & f.RUNS_SCRIPT:
            return b""
        if command.flags & f.CALLS_FUNCTION:
            return argv[1]
        return sha1(argv[1]).hexdigest().encode() if command.flags & f.CARRIES_SCRIPT else argv[1].lower()


def _rule_of(bit: int) -> r.Rule:
    return r.RULES[bit.bit_length() - 1]
