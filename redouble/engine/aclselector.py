"""One set of permissions of a user: which commands, on which keys and channels.

A user has a root selector, and may have more (in brackets); a request is allowed when one of them alone
allows all of it. Commands are kept as the set of allowed rows, so that a check is one look-up, and also
as the list of rules that led there, because ACL LIST must say them again: a rule that is given anew
removes what it makes void, the same rule before it and those of its sub-commands.

The rules are those of ACL SETUSER (Redis, Access Control List). A rule that can't be applied raises
`CommandError` with the reason only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, final

from redouble.datatypes.glob import Glob
from redouble.engine import flags as f
from redouble.engine.acldescribe import rules_for
from redouble.engine.keyfinder import key_places
from redouble.errors import CommandError

if TYPE_CHECKING:
    from redouble.engine.command import Command, CommandTable

#: Results of a check, the graver the higher.
ALLOWED: Final = 0
DENIED_COMMAND: Final = 1
DENIED_KEY: Final = 2
DENIED_CHANNEL: Final = 3

#: Earlier versions know only which commands are allowed, not by which rules.
_KEEPS_RULES_SINCE: Final = 70200
_SPACE: Final = re.compile(rb"[ \t\n\v\f\r\0]")
_READ: Final = 1
_WRITE: Final = 2
UNKNOWN_NAME: Final = b"Unknown command or category name in ACL"
_SYNTAX: Final = b"Syntax error"
_AFTER_ALL: Final = (
    b"Adding a pattern after the * pattern (or the '%b' flag) is not valid and does not have any effect. Try '%b' to "
    b"start with an empty list of %b"
)
_FIRST_ARG: Final = b"Allowing first-arg of a subcommand is not supported"


@final
class KeyPattern:
    """Keys that may be read, written or both."""

    __slots__ = ("text", "glob", "access")

    def __init__(self, text: bytes, access: int) -> None:
        self.text: bytes = text
        self.glob: Glob = Glob(text)
        self.access: int = access

    def rule(self) -> bytes:
        """As ACL SETUSER takes it."""
        if self.access == _READ | _WRITE:
            return b"~" + self.text
        return (b"%R~" if self.access == _READ else b"%W~") + self.text


@final
class Selector:
    """A set of permissions. A new one allows nothing."""

    __slots__ = (
        "table", "all_keys", "all_channels", "all_commands", "future_commands", "allowed", "first_args", "rules",
        "keys", "channels",
    )  # fmt: skip

    def __init__(self, table: CommandTable) -> None:
        self.table: CommandTable = table
        self.all_keys: bool = False
        self.all_channels: bool = False
        #: Every command is allowed.
        self.all_commands: bool = False
        #: The rules begin with +@all.
        self.future_commands: bool = False
        #: Indexes of allowed rows.
        self.allowed: set[int] = set()
        #: Index of a row, and the first arguments with which alone it is allowed, in lower case.
        self.first_args: dict[int, list[bytes]] = {}
        #: `+get`, `-@admin`, ..., in order.
        self.rules: list[bytes] = []
        self.keys: list[KeyPattern] = []
        self.channels: list[bytes] = []

    def copy(self) -> Selector:
        """An independent copy. O(size)."""
        other = Selector(self.table)
        other.all_keys = self.all_keys
        other.all_channels = self.all_channels
        other.all_commands = self.all_commands
        other.future_commands = self.future_commands
        other.allowed = set(self.allowed)
        other.first_args = {index: list(words) for index, words in self.first_args.items()}
        other.rules = list(self.rules)
        other.keys = [KeyPattern(pattern.text, pattern.access) for pattern in self.keys]
        other.channels = list(self.channels)
        return other

    @property
    def unrestricted(self) -> bool:
        """Whether nothing at all is forbidden."""
        return self.all_commands and self.all_keys and self.all_channels

    @property
    def reads_all_keys(self) -> bool:
        """Whether every key may be read. O(patterns)."""
        return self.all_keys or any(pattern.access & _READ and pattern.text == b"*" for pattern in self.keys)

    # -- checking ---------------------------------------------------------------------------

    def check(self, command: Command, argv: list[bytes]) -> tuple[int, int]:
        """Whether a request is allowed: a result, and the position of the argument that is not. O(arguments)."""
        if not self.all_commands and not command.flags & f.NO_AUTH and not self._may_run(command, argv):
            return DENIED_COMMAND, 0
        if not self.all_keys:
            for at, flags in key_places(command, argv):
                if not self.may_access(argv[at], flags):
                    return DENIED_KEY, at
        if not self.all_channels and command.flags & f.NAMES_CHANNELS:
            last = 2 if command.flags & f.NAMES_ONE_CHANNEL else len(argv)
            literal = command.flags & f.NAMES_PATTERNS != 0
            for at in range(1, last):
                if not channel_listed(self.channels, argv[at], literal):
                    return DENIED_CHANNEL, at
        return ALLOWED, 0

    def _may_run(self, command: Command, argv: list[bytes]) -> bool:
        if command.index in self.allowed:
            return True
        words = self.first_args.get(command.index)
        return words is not None and len(argv) > 1 and argv[1].lower() in words

    def may_access(self, key: bytes, flags: list[str]) -> bool:
        """Whether a key may be used as a key specification's flags say. O(patterns)."""
        wanted = 0
        for flag in flags:
            if flag == "access":
                wanted |= _READ
            elif flag in ("insert", "delete", "update"):
                wanted |= _WRITE
        return any(pattern.access & wanted == wanted and pattern.glob.matches(key) for pattern in self.keys)

    # -- rules ------------------------------------------------------------------------------

    def apply(self, rule: bytes) -> None:
        """Change the permissions as a rule says. O(commands) for categories, O(rules) otherwise."""
        word = rule.lower()
        if word in (b"allkeys", b"~*", b"resetkeys"):
            self.all_keys = word != b"resetkeys"
            self.keys = []
        elif word in (b"allchannels", b"&*", b"resetchannels"):
            self.all_channels = word != b"resetchannels"
            self.channels = []
        elif word in (b"allcommands", b"+@all", b"nocommands", b"-@all"):
            self._all_commands(word in (b"allcommands", b"+@all"))
        elif rule[:1] in (b"~", b"%"):
            self._add_keys(rule)
        elif rule[:1] == b"&":
            self._add_channels(rule[1:])
        elif rule[:2] in (b"+@", b"-@"):
            self._category(word[2:], rule[:1] == b"+")
        elif rule[:1] == b"+":
            self._allow(rule[1:])
        elif rule[:1] == b"-":
            self._deny(rule[1:])
        else:
            raise CommandError(_SYNTAX)

    def _all_commands(self, allow: bool) -> None:
        self.all_commands = allow
        self.future_commands = allow
        self.allowed = set(range(len(self.table.rows))) if allow else set()
        self.rules = []
        self.first_args = {}

    def _add_keys(self, rule: bytes) -> None:
        if self.all_keys:
            raise CommandError(_AFTER_ALL % (b"allkeys", b"resetkeys", b"patterns"))
        access = _READ | _WRITE
        text = rule[1:]
        if rule[:1] == b"%":
            letters, _, text = text.partition(b"~")
            letters = letters.upper()
            if letters not in (b"R", b"W", b"RW", b"WR"):
                raise CommandError(_SYNTAX)
            access = (_READ if b"R" in letters else 0) | (_WRITE if b"W" in letters else 0)
        if has_spaces(text):
            raise CommandError(_SYNTAX)
        for pattern in self.keys:
            if pattern.text == text:
                pattern.access |= access
                return
        self.keys.append(KeyPattern(text, access))

    def _add_channels(self, text: bytes) -> None:
        if self.all_channels:
            raise CommandError(_AFTER_ALL % (b"allchannels", b"resetchannels", b"channels"))
        if has_spaces(text):
            raise CommandError(_SYNTAX)
        if text not in self.channels:
            self.channels.append(text)

    def _category(self, name: bytes, allow: bool) -> None:
        rows = [row for row in self.table.rows if name.decode("latin-1") in row.categories]
        if not rows:
            raise CommandError(UNKNOWN_NAME)
        self._note(b"@" + name, allow)
        for row in rows:
            self._change(row, allow)

    def _allow(self, name: bytes) -> None:
        container, bar, word = name.rpartition(b"|")
        if not bar:
            command = self.table.declared(name)
            if command is None:
                raise CommandError(UNKNOWN_NAME)
            self._change(command, True)
            self._note(command.full_name, True)
            return
        command = self.table.declared(container)
        if command is None:
            raise CommandError(UNKNOWN_NAME)
        if command.parent is not None:
            raise CommandError(_FIRST_ARG)
        if not word:
            raise CommandError(_SYNTAX)
        if command.subcommands is None:
            self.first_args.setdefault(command.index, []).append(word.lower())
        else:
            command = self.table.declared(name)
            if command is None:
                raise CommandError(UNKNOWN_NAME)
            self._change(command, True)
        self._note(name, True)

    def _deny(self, name: bytes) -> None:
        command = self.table.declared(name)
        if command is None:
            raise CommandError(UNKNOWN_NAME)
        self._change(command, False)
        self._note(command.full_name, False)

    def _change(self, command: Command, allow: bool) -> None:
        """Allow or forbid a command with all its sub-commands."""
        rows = [command]
        if command.subcommands is not None:
            rows.extend(command.subcommands.values())
        for row in rows:
            if allow:
                self.allowed.add(row.index)
            else:
                self.allowed.discard(row.index)
                self.all_commands = False
        self.first_args.pop(command.index, None)

    def _note(self, name: bytes, allow: bool) -> None:
        """Remember a rule about commands, in place of those that it makes void."""
        name = name.lower()
        self.rules = [rule for rule in self.rules if rule[1:] != name and not rule[1:].startswith(name + b"|")]
        self.rules.append((b"+" if allow else b"-") + name)

    # -- describing -------------------------------------------------------------------------

    def command_rules(self) -> bytes:
        """The rules about commands, in one line."""
        rules = self.rules
        if self.table.version < _KEEPS_RULES_SINCE:
            rules = rules_for(self.table.rows, self.allowed, self.first_args, not self.future_commands)
        return b" ".join([b"+@all" if self.future_commands else b"-@all", *rules])

    def key_rules(self) -> bytes:
        """The rules about keys, in one line."""
        return b"~*" if self.all_keys else b" ".join([pattern.rule() for pattern in self.keys])

    def channel_rules(self) -> bytes:
        """The rules about channels, in one line."""
        return b"&*" if self.all_channels else b" ".join([b"&" + channel for channel in self.channels])

    def describe(self) -> bytes:
        """All rules, in one line that makes such a selector again. O(size)."""
        channels = self.channel_rules()
        if not self.all_channels:
            channels = b"resetchannels " + channels if channels else b"resetchannels"
        return b" ".join([part for part in (self.key_rules(), channels, self.command_rules()) if part])


def channel_listed(channels: list[bytes], name: bytes, literal: bool) -> bool:
    """Whether one of the patterns allows a channel; a pattern to subscribe to must be named itself. O(patterns)."""
    if literal:
        return name in channels
    return any(Glob(channel).matches(name) for channel in channels)


def has_spaces(text: bytes) -> bool:
    """Whether there is white space or a NUL in it, which would break the lines of an ACL file."""
    return _SPACE.search(text) is not None
