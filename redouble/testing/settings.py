"""The keyword arguments of a server in a test: from Python values to the options of the command line.

    Server(version="7.0", seed=1, clock="frozen", cluster_nodes=3, requirepass="secret", maxmemory="10mb")

A few arguments are Redouble's own (`_OWN`); every other one is a configuration parameter, with `_` for `-`.
`True` and `False` are yes and no, a list is several words. What can't be is refused at once, by an exception
that says what to write instead; the command line is for people who know redis.conf, this is not.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from typing import Any, Final

from redouble.engine.command import parse_version
from redouble.engine.config_table import PARAMETERS
from redouble.engine.engine import Engine
from redouble.server.nodes import engines_from
from redouble.server.options import DEFAULT_VERSION, VERSIONS, Line, OptionError, Options

_PORT_MAX: Final = 65535
_MOST_NODES: Final = 1000
_MOST_DATABASES: Final = 10000
#: What is not a parameter of Redis.
_OWN: Final = ("version", "seed", "clock", "cluster_nodes", "controls")
#: A server of a test listens where nobody from elsewhere comes, and on whatever port is free.
_DEFAULTS: Final[dict[str, object]] = {"port": 0, "bind": "127.0.0.1"}
#: It is Redouble that has these, spelled as elsewhere.
_ELSEWHERE: Final = {
    "redis_version": "version", "host": "bind", "password": "requirepass", "path": "unixsocket", "db": "databases",
    "nodes": "cluster_nodes", "freeze": 'clock="frozen"',
}  # fmt: skip


class Settings:
    """What a server is made from, checked. Raises `TypeError` or `ValueError`, which say what to write instead."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given: dict[str, Any] = dict(given)
        self.seed: int | None = _whole(given, "seed", None, -(1 << 63), (1 << 63) - 1)
        #: Unix time in ms at which the clock stands; -1 while it follows the machine's, None for the present moment.
        self.frozen_at: int | None = _clock(given.get("clock", "real"))
        self.cluster_nodes: int = _whole(given, "cluster_nodes", 0, 0, _MOST_NODES) or 0
        self.options: Options = self._options()

    @classmethod
    def of(cls, options: Options) -> Settings:
        """What a command line says; it has been checked."""
        settings = cls({})
        settings.seed = options.seed
        settings.cluster_nodes = options.cluster_nodes
        settings.options = options
        return settings

    def _options(self) -> Options:
        given = {**_DEFAULTS, **{name: value for name, value in self.given.items() if name not in _OWN}}
        _whole(given, "port", 0, 0, _PORT_MAX)
        options = Options()
        options.version = _version(self.given.get("version", DEFAULT_VERSION))
        options.seed = self.seed
        options.controls = _truth(self.given.get("controls", True), "controls")
        options.databases = _whole(given, "databases", 16, 1, _MOST_DATABASES) or 16
        options.cluster_nodes = self.cluster_nodes
        if self.cluster_nodes:
            given["cluster_enabled"] = True
            if given.get("unixsocket"):
                raise ValueError("the nodes of a cluster can't share one unixsocket; leave it out")
        for name, value in given.items():
            options.lines.append(Line(0, b"", [_parameter(name, options.version), *_words(name, value)]))
        if given.get("cluster_enabled") in (True, "yes", b"yes"):
            options.databases = 1
            options.lines.append(Line(0, b"", [b"databases", b"1"]))
        return options

    def engines(self, seed: int | None = None) -> list[Engine]:
        """Engines as these settings have them, one for each node; with another seed if one is given.

        Raises `ValueError`.
        """
        self.options.seed = self.seed if seed is None else seed
        try:
            engines = engines_from(self.options)
        except OptionError as error:
            words = error.line.words if error.line is not None else []
            shown = b"=".join(words[:2]).decode("utf-8", "replace")
            raise ValueError(f"{shown}: {error.reason}" if shown else error.reason) from None
        if self.frozen_at != -1:
            timeline = engines[0].timeline
            timeline.put(timeline.clock.now_us() if self.frozen_at is None else self.frozen_at * 1000, True)
        return engines


def _whole(given: Mapping[str, Any], name: str, default: int | None, least: int, most: int) -> int | None:
    """A whole number among the arguments."""
    value: object = given.get(name, default)
    if value is None or value is default:
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {value!r}")
    if not least <= value <= most:
        hint = " (0 takes any free port)" if name == "port" else ""
        raise ValueError(f"{name} must be between {least} and {most}{hint}, not {value}")
    return value


def _truth(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return value


def _clock(value: object) -> int | None:
    if value == "real":
        return -1
    if value == "frozen":
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ValueError(f"clock must be 'real', 'frozen', or the Unix time in ms at which it stands, not {value!r}")


def _version(value: object) -> str:
    known = ", ".join(repr(name) for name in VERSIONS)
    if not isinstance(value, str):
        raise TypeError(f"version must be a str, one of {known} or a whole version such as '7.0.15', not {value!r}")
    whole = VERSIONS.get(value, value)
    parts = whole.split(".")
    if len(parts) != 3 or not all(part.isdigit() for part in parts):
        raise ValueError(f"version must be one of {known}, or a whole version such as '7.0.15', not {value!r}")
    return whole


def _parameter(name: str, version: str) -> bytes:
    """The configuration parameter that an argument means."""
    wanted = name.replace("_", "-").lower()
    number = parse_version(version)
    known = {
        spelling.decode()
        for row in PARAMETERS
        if parse_version(row.since) <= number and not (row.until and parse_version(row.until) <= number)
        for spelling in (row.name if parse_version(row.name_since) <= number else b"", row.alias)
        if spelling
    }
    if wanted in known:
        return wanted.encode()
    if name in _ELSEWHERE:
        raise TypeError(f"unknown argument {name!r}; write {_ELSEWHERE[name]}")
    near = difflib.get_close_matches(wanted, [*known, *(own.replace("_", "-") for own in _OWN)], 1)
    hint = f"did you mean {near[0].replace('-', '_')}?" if near else "CONFIG GET * lists the parameters"
    raise TypeError(f"unknown argument {name!r}: Redis {version} has no such parameter; {hint}")


def _words(name: str, value: object) -> list[bytes]:
    """The words of a line that a Python value stands for."""
    if isinstance(value, list | tuple):
        return [word for item in value for word in _words(name, item)]
    if isinstance(value, bool):
        return [b"yes" if value else b"no"]
    if isinstance(value, int):
        return [b"%d" % value]
    if isinstance(value, bytes):
        return [value]
    if isinstance(value, str | os.PathLike):
        return [os.fsencode(value)]
    raise TypeError(f"{name} must be a str, bytes, int, bool, or a list of them, not {value!r}")
