"""The command line and the configuration file: from words to lines of name and values.

As in Redis everything becomes lines of one configuration text: first the file's, then one for each
`--name value ...`; the last line that sets a parameter counts. Lines that mean something to Redouble
alone (`_OWN`) are read here, the rest by `Config.load`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from redouble.protocol.inline import split_inline
from redouble.protocol.quote import quoted

#: What `--redis-version` may leave out, and what is meant.
VERSIONS: Final = {"6.2": "6.2.14", "7.0": "7.0.15", "7.2": "7.2.6", "7.4": "7.4.1", "8.0": "8.0.0"}
DEFAULT_VERSION: Final = "7.4.1"
#: What is for Redouble alone.
_OWN: Final = (b"redis-version", b"seed", b"controls", b"cluster-nodes", b"sentinel-port", b"sentinel-master")
_MOST_NODES: Final = 1000
_PORT_MAX: Final = 65535
#: Lines of older files that mean nothing any more.
_FORGOTTEN: Final = (b"list-max-ziplist-entries", b"list-max-ziplist-value", b"lua-replicate-commands")


class Line:
    """A line of configuration."""

    __slots__ = ("number", "text", "words")

    def __init__(self, number: int, text: bytes, words: list[bytes]) -> None:
        self.number = number
        self.text = text
        self.words = words


class OptionError(Exception):
    """What is wrong, and in which line (if it is about one)."""

    def __init__(self, reason: str, line: Line | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class Options:
    """All that a server is started with."""

    def __init__(self) -> None:
        self.version = DEFAULT_VERSION
        self.seed: int | None = None
        self.controls = True
        self.databases = 16
        #: How many nodes of a cluster to be; 0 for none.
        self.cluster_nodes = 0
        #: Where a Sentinel listens (0: any free port), and what it calls the master.
        self.sentinel_port: int | None = None
        self.sentinel_master = "mymaster"
        self.file = ""
        #: For the configuration of the engine, in order.
        self.lines: list[Line] = []


def read_options(args: list[str]) -> Options:
    """The options that a command line means. Raises `OptionError`."""
    options = Options()
    args = list(args)
    text = b""
    if args and not args[0].startswith("-"):
        options.file = str(Path(args.pop(0)).absolute())
        text = _contents(options.file)
    if "-" in (args[:1] + args[-1:]):
        args.remove("-")
        text += b"\n" + sys.stdin.buffer.read()
    _read_text(options, text + b"\n" + command_line_text(args))
    _settle_cluster(options)
    return options


def command_line_text(args: list[str]) -> bytes:
    """The lines that `--name value ...` stand for."""
    lines: list[bytes] = []
    complete = True
    for at, arg in enumerate(args):
        if complete and arg.startswith("--"):
            lines.append(arg[2:].encode())
            follows = args[at + 1].startswith("--") if at + 1 < len(args) else True
            complete = len(arg.split()) > 1
            if follows and arg.lower() == "--save":
                lines[-1] += b' ""'
                complete = True
        else:
            if not lines:
                lines.append(b"")
            lines[-1] += b" " + quoted(arg.encode())
            complete = True
    return b"\n".join(lines)


def _contents(path: str) -> bytes:
    """A file's text; of all files where the name is a pattern."""
    paths = [Path(path)]
    if any(mark in path for mark in "*?["):
        paths = sorted(Path(Path(path).anchor).glob(str(Path(path).relative_to(Path(path).anchor))))
    try:
        return b"\n".join([each.read_bytes() for each in paths])
    except OSError as error:
        raise OptionError(f"Fatal error, can't open config file '{path}': {error.strerror}") from None


def _read_text(options: Options, text: bytes) -> None:
    for number, raw in enumerate(text.split(b"\n"), 1):
        shown = raw.strip(b" \t\r\n")
        if not shown or shown.startswith(b"#"):
            continue
        words = split_inline(shown)
        if words is None:
            raise OptionError("Unbalanced quotes in configuration line", Line(number, shown, []))
        if words:
            _read_line(options, Line(number, shown, words))


def _read_line(options: Options, line: Line) -> None:
    name = line.words[0].lower()
    values = [word.decode("latin-1") for word in line.words[1:]]
    if name == b"include" and len(values) == 1:
        _read_text(options, _contents(values[0]))
    elif name in _OWN:
        if len(values) != 1:
            raise OptionError("wrong number of arguments", line)
        _read_own(options, name, values[0], line)
    elif name not in _FORGOTTEN:
        if name == b"databases" and len(values) == 1 and values[0].isdigit():
            options.databases = max(1, int(values[0]))
        options.lines.append(line)


def _read_own(options: Options, name: bytes, value: str, line: Line) -> None:
    if name == b"redis-version":
        options.version = _version(value, line)
    elif name == b"seed":
        if not value.lstrip("-").isdigit():
            raise OptionError("argument couldn't be parsed into an integer", line)
        options.seed = int(value)
    elif name == b"controls":
        if value.lower() not in ("yes", "no"):
            raise OptionError("argument must be 'yes' or 'no'", line)
        options.controls = value.lower() == "yes"
    elif name == b"cluster-nodes":
        options.cluster_nodes = _number(value, _MOST_NODES, line)
    elif name == b"sentinel-port":
        options.sentinel_port = _number(value, _PORT_MAX, line)
    else:
        options.sentinel_master = value


def _number(text: str, most: int, line: Line) -> int:
    if not text.isdigit() or int(text) > most:
        raise OptionError(f"argument must be between 0 and {most} inclusive", line)
    return int(text)


def _settle_cluster(options: Options) -> None:
    """Several nodes are a cluster, and a node of a cluster has one database, whatever the lines say."""
    if options.cluster_nodes:
        options.lines.append(Line(0, b"", [b"cluster-enabled", b"yes"]))
    enabled = [line.words[-1].lower() for line in options.lines if line.words[0].lower() == b"cluster-enabled"]
    if enabled and enabled[-1] == b"yes":
        options.databases = 1


def _version(text: str, line: Line) -> str:
    version = VERSIONS.get(text, text)
    parts = version.split(".")
    if len(parts) != 3 or not all(part.isdigit() for part in parts):
        known = ", ".join(VERSIONS)
        raise OptionError(f"redis-version must be one of {known}, or a whole version such as 7.0.15", line)
    return version
