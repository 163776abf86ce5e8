"""COMMAND: the command table, as a client may read it. Nothing here knows a command by name."""

from __future__ import annotations

from typing import Final

from redouble.commands.help import help_reply
from redouble.commands.syntax import Argument, parse_syntax
from redouble.datatypes.glob import Glob
from redouble.engine import flags as f
from redouble.engine.command import Command, Family, KeySpec
from redouble.engine.context import Context
from redouble.engine.keyfinder import has_keys, keys_with_flags, legacy_range
from redouble.errors import SYNTAX, CommandError
from redouble.protocol.reply import Map, Reply, SetReply, Simple

introspection: Final = Family("server")

_OWN: Final = "loading stale"
_ANY_ORDER: Final = "nondeterministic_output_order"
_LOOK_UP: Final = "O(N) where N is the number of commands to look up"
#: From this version on COMMAND INFO shows tips, key specifications and sub-commands.
_LONG_INFO_SINCE: Final = 70000
_SHORT_INFO: Final = 7
#: Before 7.2 a request that is only a name was too short to be looked at.
_LONGER: Final = ("7.2.0", -4)
_UNKNOWN_SPEC: Final = Map([b"type", b"unknown", b"spec", Map([])])


def _statuses(names: list[str]) -> SetReply:
    return SetReply([Simple(name.encode()) for name in names])


def _row(ctx: Context, name: bytes) -> Command | None:
    """The command that `name` (`container|word` for a sub-command) means. O(1)."""
    words = name.split(b"|")
    command = ctx.engine.table.find(words) if len(words) <= 2 else None
    if command is not None and len(words) == 2 and command.parent is None:
        return None
    return command


# -- INFO -----------------------------------------------------------------------------------------------


def _info(ctx: Context, command: Command | None) -> Reply:
    """A command's entry in COMMAND INFO. O(key specifications + sub-commands)."""
    if command is None:
        return None
    first, last, step = legacy_range(command)
    shown: list[Reply] = [
        command.full_name,
        command.arity,
        _statuses([name for name in f.FLAG_NAMES if command.flags & f.FLAG_NAMES[name]]),
        first,
        last,
        step,
        _statuses(["@" + category for category in command.categories]),
        SetReply([tip.encode() for tip in command.tips]),
        SetReply([_key_spec(spec) for spec in command.keys]),
        [_info(ctx, sub) for sub in _subcommands(command)],
    ]
    return shown if ctx.engine.version >= _LONG_INFO_SINCE else shown[:_SHORT_INFO]


def _subcommands(command: Command) -> list[Command]:
    return list(command.subcommands.values()) if command.subcommands is not None else []


def _key_spec(spec: KeySpec) -> Map:
    return Map([
        b"flags", _statuses(spec.flags), b"begin_search", _begin_search(spec), b"find_keys", _find_keys(spec),
    ])  # fmt: skip


def _begin_search(spec: KeySpec) -> Map:
    if spec.index < 0:
        return _UNKNOWN_SPEC
    if spec.keyword:
        return Map([
            b"type", b"keyword", b"spec", Map([b"keyword", spec.keyword, b"startfrom", spec.start]),
        ])  # fmt: skip
    return Map([b"type", b"index", b"spec", Map([b"index", spec.index])])


def _find_keys(spec: KeySpec) -> Map:
    if spec.index < 0:
        return _UNKNOWN_SPEC
    if spec.counted:
        inner = Map([b"keynumidx", spec.count_at, b"firstkey", spec.first, b"keystep", spec.step])
        return Map([b"type", b"keynum", b"spec", inner])
    return Map([
        b"type", b"range", b"spec", Map([b"lastkey", spec.last, b"keystep", spec.step, b"limit", spec.limit]),
    ])  # fmt: skip


@introspection.command(
    "command", "", "Describes all commands.", arity=-1, flags=_OWN, since="2.8.13", categories="connection",
    complexity="O(N) where N is the total number of Redis commands", tips=_ANY_ORDER,
)  # fmt: skip
def command(ctx: Context, argv: list[bytes]) -> Reply:
    """COMMAND INFO of everything. O(commands). Redis: COMMAND."""
    return [_info(ctx, row) for row in ctx.engine.table.by_name.values()]


@introspection.command(
    "command|info", "[command-name [command-name ...]]", "Describes commands by arity, flags and keys.", arity=-2,
    flags=_OWN, since="2.8.13", complexity=_LOOK_UP, tips=_ANY_ORDER, categories="connection",
)  # fmt: skip
def info(ctx: Context, argv: list[bytes]) -> Reply:
    """Entries, null for a command that does not exist. O(names). Redis: COMMAND INFO."""
    if len(argv) == 2:
        return command(ctx, argv)
    return [_info(ctx, _row(ctx, name)) for name in argv[2:]]


@introspection.command(
    "command|count", "", "Counts the commands.", arity=2, flags=_OWN, since="2.8.13", categories="connection"
)
def count(ctx: Context, argv: list[bytes]) -> Reply:
    """How many there are, sub-commands apart. O(1). Redis: COMMAND COUNT."""
    return len(ctx.engine.table.by_name)


# -- LIST -----------------------------------------------------------------------------------------------


@introspection.command(
    "command|list", "[FILTERBY <MODULE module-name | ACLCAT category | PATTERN pattern>]", "Lists the commands' names.",
    arity=-2, flags=_OWN, since="7.0.0", complexity="O(N) where N is the total number of Redis commands",
    tips=_ANY_ORDER, categories="connection",
)  # fmt: skip
def list_(ctx: Context, argv: list[bytes]) -> Reply:
    """Names, sub-commands too, all or those that a filter lets pass. O(commands). Redis: COMMAND LIST."""
    rows = ctx.engine.table.rows
    if len(argv) == 2:
        return [row.full_name for row in rows]
    if len(argv) != 5 or argv[2].upper() != b"FILTERBY":
        raise CommandError(SYNTAX)
    kind = argv[3].upper()
    if kind == b"MODULE":
        return []
    if kind == b"ACLCAT":
        category = argv[4].lower()
        return [row.full_name for row in rows if category in [name.encode() for name in row.categories]]
    if kind == b"PATTERN":
        glob = Glob(argv[4], True)
        return [row.full_name for row in rows if glob.matches(row.full_name)]
    raise CommandError(SYNTAX)


# -- DOCS -----------------------------------------------------------------------------------------------


def _docs(row: Command) -> Map:
    """A command's entry in COMMAND DOCS. O(len of its syntax line)."""
    items: list[Reply] = [
        b"summary", row.summary.encode(), b"since", row.since.encode(), b"group", row.group.encode(),
    ]  # fmt: skip
    if row.complexity:
        items += [b"complexity", row.complexity.encode()]
    if row.deprecated:
        items += [b"doc_flags", _statuses(["deprecated"]), b"deprecated_since", row.deprecated.encode()]
        items += [b"replaced_by", row.replaced_by.encode()]
    if row.history:
        items += [b"history", SetReply([[since.encode(), what.encode()] for since, what in row.history])]
    arguments = parse_syntax(row.syntax)
    if arguments:
        items += [b"arguments", [_argument(row, argument, [0]) for argument in arguments]]
    if row.subcommands is not None:
        items += [b"subcommands", _docs_of(list(row.subcommands.values()))]
    return Map(items)


def _docs_of(rows: list[Command]) -> Map:
    items: list[Reply] = []
    for row in rows:
        items += [row.full_name, _docs(row)]
    return Map(items)


def _argument(row: Command, argument: Argument, seen: list[int]) -> Map:
    """An argument's entry; `seen` counts the keys met so far."""
    items: list[Reply] = [b"name", argument.name.encode(), b"type", argument.kind.encode()]
    if not argument.parts:
        items += [b"display_text", argument.name.encode()]
    if argument.kind == "key" and row.keys:
        items += [b"key_spec_index", min(seen[0], len(row.keys) - 1)]
        seen[0] += 1
    token = argument.text if argument.kind == "pure-token" else argument.token
    if token:
        items += [b"token", token.encode()]
    flags = [
        name
        for name, holds in (
            ("optional", argument.optional),
            ("multiple", argument.multiple),
            ("multiple_token", argument.multiple_token),
        )
        if holds
    ]
    if flags:
        items += [b"flags", _statuses(flags)]
    if argument.parts:
        items += [b"arguments", [_argument(row, part, seen) for part in argument.parts]]
    return Map(items)


@introspection.command(
    "command|docs", "[command-name [command-name ...]]", "Explains commands to people.", arity=-2, flags=_OWN,
    since="7.0.0", complexity=_LOOK_UP, tips=_ANY_ORDER, categories="connection",
)  # fmt: skip
def docs(ctx: Context, argv: list[bytes]) -> Reply:
    """Summaries, syntax and history; names that do not exist are left out. O(names). Redis: COMMAND DOCS."""
    if len(argv) == 2:
        return _docs_of(list(ctx.engine.table.by_name.values()))
    return _docs_of([row for row in [_row(ctx, name) for name in argv[2:]] if row is not None])


# -- keys -----------------------------------------------------------------------------------------------


def _found_keys(ctx: Context, request: list[bytes]) -> list[tuple[bytes, list[str]]]:
    """The keys of a request within COMMAND GETKEYS, or the reason why there are none."""
    row = ctx.engine.table.find(request)
    if row is None:
        raise CommandError(b"ERR Invalid command specified")
    if not has_keys(row):
        raise CommandError(b"ERR The command has no key arguments")
    if not row.fits(len(request)):
        raise CommandError(b"ERR Invalid number of arguments specified for command")
    found = keys_with_flags(row, request)
    if not found and not row.flags & f.NO_MANDATORY_KEYS:
        raise CommandError(b"ERR Invalid arguments specified for command")
    return found


@introspection.command(
    "command|getkeys", "command [arg [arg ...]]", "Finds the keys of a request.", arity=-3, flags=_OWN, since="2.8.13",
    complexity="O(N) where N is the number of arguments to the command", categories="connection",
    arity_until=_LONGER,
)  # fmt: skip
def getkeys(ctx: Context, argv: list[bytes]) -> Reply:
    """The keys that a request names. O(arguments). Redis: COMMAND GETKEYS."""
    return [key for key, _ in _found_keys(ctx, argv[2:])]


@introspection.command(
    "command|getkeysandflags", "command [arg [arg ...]]", "Finds the keys of a request, and what it does with them.",
    arity=-3, flags=_OWN, since="7.0.0", complexity="O(N) where N is the number of arguments to the command",
    categories="connection", arity_until=_LONGER,
)  # fmt: skip
def getkeysandflags(ctx: Context, argv: list[bytes]) -> Reply:
    """Pairs of a key and its access flags. O(arguments). Redis: COMMAND GETKEYSANDFLAGS."""
    return [[key, _statuses(flags)] for key, flags in _found_keys(ctx, argv[2:])]


@introspection.command(
    "command|help", "", "Explains the sub-commands.", arity=2, flags=_OWN, since="5.0.0", categories="connection"
)
def help_(ctx: Context, argv: list[bytes]) -> Reply:
    """A text. Redis: COMMAND HELP."""
    return help_reply(ctx, argv)
