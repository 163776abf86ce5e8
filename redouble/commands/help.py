"""HELP of every container, made from the command table: each sub-command's syntax and summary.

So a new sub-command explains itself, and the text is right for the version that answers.
"""

from redouble.engine.command import Command
from redouble.engine.context import Context
from redouble.errors import CommandError, c_text
from redouble.protocol.reply import Reply, Simple

_SHOWN = 128


def help_reply(ctx: Context, argv: list[bytes]) -> Reply:
    """The lines that explain a container, as simple strings. O(sub-commands). Redis: any HELP."""
    name = argv[0].upper()
    lines = [b"%b <subcommand> [<arg> [value] [opt] ...]. Subcommands are:" % name]
    container = ctx.engine.table.find(argv[:1])
    if container is not None and container.subcommands is not None:
        for word in sorted(container.subcommands):
            if word != b"help":
                lines.extend(_explained(container.subcommands[word]))
    lines.append(b"HELP")
    lines.append(b"    Shows this text.")
    return [Simple(line) for line in lines]


def _explained(command: Command) -> list[bytes]:
    syntax = command.syntax.encode()
    name = command.name.upper()
    return [name + b" " + syntax if syntax else name, b"    " + command.summary.encode()]


def bad_subcommand(argv: list[bytes]) -> CommandError:
    """The error of a container for arguments in a number that none of its forms has."""
    text = b"ERR unknown subcommand or wrong number of arguments for '%b'. Try %b HELP."
    return CommandError(text % (c_text(argv[1][:_SHOWN]), argv[0].upper()))
