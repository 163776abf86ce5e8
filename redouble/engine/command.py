"""One command, one place: everything that the command table knows stands above the handler.

    string = Family("string")

    @string.command("getrange", "key start end", "Returns a part of a string.", arity=4,
                    flags="readonly", keys=[one("RO ACCESS")], since="2.4.0", complexity="O(N)")
    def getrange(ctx: Context, argv: list[bytes]) -> Reply: ...

The row names the syntax, summary, arity, flags, key positions, version and complexity; the family
gives the group and with it the ACL category. The summary stands in the row, not in the docstring,
because compiled functions carry no docstrings. A version difference is a datum of the row (`since`,
`until`), never a branch in the code.

A family is filled while its module is imported and read-only afterwards. `commands/__init__.py`
lists the families; each engine has a `CommandTable` of its own version from them. The rows of a version are
made once and shared by all engines that answer as it; only the names may differ (`rename`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f
from redouble.errors import CommandError, wrong_arity
from redouble.protocol.reply import Reply

if TYPE_CHECKING:
    from redouble.engine.context import Context

Handler = Callable[["Context", list[bytes]], Reply]
#: Positions of the keys within argv, for commands whose key specs can't say.
KeyFinder = Callable[[list[bytes]], list[int]]

GROUP_CATEGORIES: Final[dict[str, str]] = {
    "string": "string",
    "bitmap": "bitmap",
    "generic": "keyspace",
    "list": "list",
    "set": "set",
    "sorted-set": "sortedset",
    "hash": "hash",
    "stream": "stream",
    "geo": "geo",
    "hyperloglog": "hyperloglog",
    "pubsub": "",
    "transactions": "transaction",
    "scripting": "scripting",
    "connection": "connection",
    "server": "",
    "cluster": "",
    "sentinel": "",
}
#: The categories in the order in which COMMAND INFO shows them.
CATEGORY_ORDER: Final[list[str]] = [
    "keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap", "hyperloglog", "geo",
    "stream", "pubsub", "admin", "fast", "slow", "blocking", "dangerous", "connection", "transaction", "scripting",
]  # fmt: skip


@final
class KeySpec:
    """Where keys stand in a command's arguments, as COMMAND INFO's key specifications say it."""

    __slots__ = ("flags", "index", "keyword", "start", "last", "step", "limit", "counted", "count_at", "first")

    def __init__(self, flags: str) -> None:
        #: As COMMAND INFO spells them: the way of access (RO, RW, OW, RM), then what is done, in lower case.
        self.flags: list[str] = [word if len(word) == 2 else word.lower() for word in flags.split()]
        #: The search begins at this position (0: at a keyword instead, -1: unknown).
        self.index: int = 1
        self.keyword: bytes = b""
        self.start: int = 0
        #: A range of keys from there: the last (relative; negative from the end), each `step`th.
        self.last: int = 0
        self.step: int = 1
        self.limit: int = 0
        #: Or a number of keys, found `count_at` further, the first key `first` further.
        self.counted: bool = False
        self.count_at: int = 0
        self.first: int = 1


def one(flags: str, at: int = 1) -> KeySpec:
    """One key at a position."""
    return span(flags, at, 0)


def span(flags: str, at: int = 1, last: int = -1, step: int = 1) -> KeySpec:
    """Keys from a position to `last` (relative to it, or negative: from the end)."""
    spec = KeySpec(flags)
    spec.index = at
    spec.last = last
    spec.step = step
    return spec


def counted(flags: str, at: int = 1) -> KeySpec:
    """A number of keys at a position, and the keys behind it."""
    spec = KeySpec(flags)
    spec.index = at
    spec.counted = True
    return spec


def after(flags: str, keyword: bytes, start: int, last: int = 0, step: int = 1, limit: int = 0) -> KeySpec:
    """Keys behind a keyword that is looked for from position `start` (negative: backwards from the end)."""
    spec = KeySpec(flags)
    spec.index = 0
    spec.keyword = keyword
    spec.start = start
    spec.last = last
    spec.step = step
    spec.limit = limit
    return spec


def unknown(flags: str) -> KeySpec:
    """Keys that no specification can find; see the command's `key_finder`."""
    spec = KeySpec(flags)
    spec.index = -1
    return spec


def parse_version(text: str) -> int:
    """A version as a number that compares: "7.0.15" is 70015."""
    parts = [int(part) for part in text.split(".")] + [0, 0]
    return parts[0] * 10000 + parts[1] * 100 + parts[2]


@final
class Command:
    """A row of the command table."""

    __slots__ = (
        "name", "syntax", "summary", "arity", "flags", "keys", "since", "until", "complexity", "tips", "group",
        "categories", "key_finder", "handler", "subcommands", "parent", "index", "deprecated", "replaced_by",
        "history", "full_name", "min_args", "max_args", "barred_until",
        "arity_until",
    )  # fmt: skip

    def __init__(self, name: str, syntax: str, summary: str, group: str, handler: Handler) -> None:
        #: In lower case; a sub-command's own word only.
        self.name: bytes = name.rpartition("|")[2].encode()
        #: With the container: `client|list`.
        self.full_name: bytes = name.encode()
        self.syntax: str = syntax
        self.summary: str = summary
        self.group: str = group
        self.handler: Handler = handler
        self.arity: int = 1
        #: The length of argv that arity allows.
        self.min_args: int = 1
        self.max_args: int = 1 << 60
        self.flags: int = 0
        self.keys: list[KeySpec] = []
        self.since: str = "1.0.0"
        self.until: str = ""
        self.complexity: str = "O(1)"
        self.tips: list[str] = []
        self.categories: list[str] = []
        self.key_finder: KeyFinder | None = None
        self.subcommands: dict[bytes, Command] | None = None
        self.parent: Command | None = None
        #: The number of its counters in the engine's statistics.
        self.index: int = 0
        #: Scripts may not call it before this version.
        self.barred_until: str = ""
        #: Before a version it took another number of arguments.
        self.arity_until: tuple[str, int] | None = None
        self.deprecated: str = ""
        self.replaced_by: str = ""
        self.history: list[tuple[str, str]] = []

    def set_arity(self, arity: int) -> None:
        """Take so many arguments, the name included; a negative number is the least."""
        self.arity = arity
        self.min_args = abs(arity)
        self.max_args = arity if arity > 0 else 1 << 60

    def fits(self, count: int) -> bool:
        """Whether `count` arguments (the name included) are as arity demands."""
        return self.min_args <= count <= self.max_args


def _flag_bits(names: str) -> int:
    bits = 0
    for name in names.split():
        if name in f.FLAG_NAMES:
            bits |= f.FLAG_NAMES[name]
        else:
            bits |= f.OWN_FLAG_NAMES[name]
    return bits


def _categories(command: Command, extra: str) -> list[str]:
    """The ACL categories that follow from flags and group, and those that are named."""
    found = set(extra.split())
    bits = command.flags
    if bits & f.WRITE:
        found.add("write")
    if bits & f.READONLY and command.group != "scripting":
        found.add("read")
    if bits & f.ADMIN:
        found.update(("admin", "dangerous"))
    if bits & f.PUBSUB:
        found.add("pubsub")
    if bits & f.BLOCKING:
        found.add("blocking")
    found.add("fast" if bits & f.FAST else "slow")
    group = GROUP_CATEGORIES[command.group]
    if group:
        found.add(group)
    return [name for name in CATEGORY_ORDER if name in found and "-" + name not in found]


@final
class Family:
    """The commands of one group, in the order of their module."""

    __slots__ = ("group", "rows")

    def __init__(self, group: str) -> None:
        self.group: str = group
        self.rows: list[Command] = []

    def command(
        self,
        name: str,
        syntax: str,
        summary: str,
        *,
        arity: int,
        flags: str,
        keys: list[KeySpec] | None = None,
        since: str = "1.0.0",
        until: str = "",
        complexity: str = "O(1)",
        tips: str = "",
        categories: str = "",
        key_finder: KeyFinder | None = None,
        barred_until: str = "",
        deprecated: str = "",
        replaced_by: str = "",
        arity_until: tuple[str, int] | None = None,
    ) -> Callable[[Handler], Handler]:
        """Declare a command. `name` is `container|word` for a sub-command.

        `tips`, `flags` and `categories` are lists of words; `-name` takes a category away that the group
        would bring. Scripts may call it from the version `barred_until` on. `arity_until` is a version and the arity
        that was right before it. `deprecated` is the version since when,
        `replaced_by` what to use instead. A container that runs nothing itself is declared by
        `container`.
        """

        def declare(handler: Handler) -> Handler:
            row = Command(name, syntax, summary, self.group, handler)
            row.set_arity(arity)
            row.arity_until = arity_until
            row.flags = _flag_bits(flags)
            row.keys = keys or []
            row.since = since
            row.until = until
            row.complexity = complexity
            row.tips = tips.split()
            row.categories = _categories(row, categories)
            row.key_finder = key_finder
            row.barred_until = barred_until
            row.deprecated = deprecated
            row.replaced_by = replaced_by
            self.rows.append(row)
            return handler

        return declare

    def container(self, name: str, summary: str, *, since: str, categories: str = "", flags: str = "") -> None:
        """Declare a command that only holds sub-commands."""
        decorate = self.command(
            name, "", summary, arity=-2, flags=flags, since=since, complexity="Depends on subcommand.",
            categories=categories,
        )  # fmt: skip
        decorate(_unreachable)
        self.rows[-1].categories = ["slow"]


def _unreachable(ctx: Context, argv: list[bytes]) -> Reply:
    raise CommandError(wrong_arity(argv[0].lower()).text)


@final
class CommandTable:
    """The commands of one version: built once for an engine, read-only afterwards."""

    __slots__ = ("by_name", "by_full_name", "lookup", "rows", "version")

    def __init__(self, families: list[Family], version: int) -> None:
        made = _made(families, version)
        self.version: int = version
        #: Top-level commands by lower-case name, in the order of declaration. Shared, unless names were changed.
        self.by_name: dict[bytes, Command] = made.by_name
        #: The same for the request path: upper case too.
        self.lookup: dict[bytes, Command] = made.lookup
        self.by_full_name: dict[bytes, Command] = made.by_full_name
        #: Every command and sub-command; a row's `index` is its place here.
        self.rows: list[Command] = made.rows

    def find(self, argv: list[bytes]) -> Command | None:
        """The command or sub-command that `argv` names, or None. O(1)."""
        command = self.lookup.get(argv[0])
        if command is None:
            command = self.lookup.get(argv[0].lower())
        if command is None or command.subcommands is None or len(argv) == 1:
            return command
        return command.subcommands.get(argv[1].lower())

    def declared(self, name: bytes) -> Command | None:
        """The command that was declared as `name` (`container|word`), whatever it is called now. O(1)."""
        return self.by_full_name.get(name.lower())

    def rename(self, name: bytes, new: bytes) -> bool:
        """Let a command have another name, or none (empty); false if the new one is taken. O(commands)."""
        if new and new in self.by_name:
            return False
        # Other engines keep the old names.
        self.by_name = dict(self.by_name)
        self.lookup = dict(self.lookup)
        row = self.by_name.pop(name, None)
        if row is not None:
            self.lookup.pop(name)
            self.lookup.pop(name.upper())
            if new:
                self.by_name[new] = row
                self.lookup[new] = row
                self.lookup[new.upper()] = row
        return True


@final
class MadeTable:
    """The rows of one version, made once and shared by every engine that answers as it. Nobody changes them."""

    __slots__ = ("families", "version", "rows", "by_name", "lookup", "by_full_name")

    def __init__(self, families: list[Family], version: int) -> None:
        self.families: list[Family] = list(families)
        self.version: int = version
        self.rows: list[Command] = []
        self.by_name: dict[bytes, Command] = {}
        self.lookup: dict[bytes, Command] = {}
        self.by_full_name: dict[bytes, Command] = {}
        for family in families:
            for declared in family.rows:
                if parse_version(declared.since) <= version and not (
                    declared.until and parse_version(declared.until) <= version
                ):
                    row = _copy(declared)
                    if row.barred_until and parse_version(row.barred_until) > version:
                        row.flags |= f.NOSCRIPT
                    if row.arity_until is not None and parse_version(row.arity_until[0]) > version:
                        row.set_arity(row.arity_until[1])
                    self._add(row)

    def _add(self, row: Command) -> None:
        row.index = len(self.rows)
        self.rows.append(row)
        self.by_full_name[row.full_name] = row
        container, _, _ = row.full_name.rpartition(b"|")
        if not container:
            self.by_name[row.name] = row
            self.lookup[row.name] = row
            self.lookup[row.name.upper()] = row
            return
        parent = self.by_name[container]
        if parent.subcommands is None:
            parent.subcommands = {}
        parent.subcommands[row.name] = row
        row.parent = parent


_MADE: Final[list[MadeTable]] = []


def _made(families: list[Family], version: int) -> MadeTable:
    """The table of a version. O(commands) the first time, then O(families)."""
    for made in _MADE:
        if made.version == version and made.families == families:
            return made
    made = MadeTable(families, version)
    _MADE.append(made)
    return made


def _copy(row: Command) -> Command:
    """A row of one version (its index and sub-commands differ between versions)."""
    copy = Command(row.full_name.decode(), row.syntax, row.summary, row.group, row.handler)
    copy.set_arity(row.arity)
    copy.arity_until = row.arity_until
    copy.flags = row.flags
    copy.keys = row.keys
    copy.since = row.since
    copy.until = row.until
    copy.complexity = row.complexity
    copy.tips = row.tips
    copy.categories = row.categories
    copy.key_finder = row.key_finder
    copy.barred_until = row.barred_until
    copy.deprecated = row.deprecated
    copy.replaced_by = row.replaced_by
    copy.history = row.history
    return copy
