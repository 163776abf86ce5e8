"""The settings of a server: values by name, and the ways to read and to change them.

`config_table.py` says which parameters there are, `config_kinds.py` how their values read, and
`config_effects.py` what they do. Values are kept as the text that CONFIG GET answers, under the
parameter's present name; an alias is another way to it. CONFIG SET changes several at once or none.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, final

from redouble.datatypes.glob import glob_match
from redouble.engine.command import parse_version
from redouble.engine.config_effects import Effect
from redouble.engine.config_table import PARAMETERS, Parameter
from redouble.engine.edge import EdgeSettings
from redouble.errors import SYNTAX, CommandError, c_text

if TYPE_CHECKING:
    from redouble.engine.engine import Engine


@final
class Known:
    """What a version knows: its parameters by name, and the defaults. Made once, then only read."""

    __slots__ = ("version", "parameters", "values")

    def __init__(self, version: int) -> None:
        self.version: int = version
        self.parameters: dict[bytes, Parameter] = {}
        self.values: dict[bytes, bytes] = {}
        for parameter in PARAMETERS:
            self.values[parameter.name] = _default(parameter, version)
            until = parameter.until
            if parse_version(parameter.since) > version or (until and parse_version(until) <= version):
                continue
            if parse_version(parameter.name_since) <= version:
                self.parameters[parameter.name] = parameter
            if parameter.alias:
                self.parameters[parameter.alias] = parameter


_KNOWN: Final[dict[int, Known]] = {}


def _known(version: int) -> Known:
    known = _KNOWN.get(version)
    if known is None:
        known = Known(version)
        _KNOWN[version] = known
    return known


def _default(parameter: Parameter, version: int) -> bytes:
    if parameter.was is not None and version < parse_version(parameter.was[0]):
        return parameter.was[1].encode()
    return parameter.default


@final
class Config:
    """The values of one server."""

    __slots__ = ("engine", "parameters", "values", "edge", "file", "_save_loaded")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        self.edge: EdgeSettings = EdgeSettings()
        #: The file that the server was started with, for CONFIG REWRITE; or empty.
        self.file: bytes = b""
        self._save_loaded: bool = False
        known = _known(engine.version)
        #: By every name that this version knows, in lower case.
        self.parameters: dict[bytes, Parameter] = known.parameters
        self.values: dict[bytes, bytes] = dict(known.values)
        self.values[b"databases"] = b"%d" % len(engine.space.databases)
        self.values[b"dir"] = os.getcwdb()  # noqa: PTH109 (a path would only be taken apart again)

    def default(self, parameter: Parameter) -> bytes:
        """The default of a parameter in this version."""
        return _default(parameter, self.engine.version)

    # -- reading ----------------------------------------------------------------------------

    def get(self, name: bytes) -> bytes:
        """The text of a parameter, by its present name."""
        return self.values[name]

    def number(self, name: bytes) -> int:
        """A parameter that is a number."""
        return int(self.values[name])

    def enabled(self, name: bytes) -> bool:
        """A parameter that is yes or no."""
        return self.values[name] == b"yes"

    def matching(self, patterns: list[bytes]) -> list[bytes]:
        """CONFIG GET: names and values, flat, of what the patterns name. O(parameters * patterns)."""
        found: dict[bytes, bytes] = {}
        seen: set[bytes] = set()
        for pattern in patterns:
            lower = pattern.lower()
            if not (b"[" in pattern or b"*" in pattern or b"?" in pattern):
                if lower in self.parameters and lower not in seen:
                    seen.add(lower)
                    found[pattern] = self._shown(self.parameters[lower])
                continue
            for name, parameter in sorted(self.parameters.items()):
                if name not in seen and not parameter.hidden and glob_match(lower, name):
                    seen.add(name)
                    found[name] = self._shown(parameter)
        flat: list[bytes] = []
        for name, value in found.items():
            flat += [name, value]
        return flat

    def _shown(self, parameter: Parameter) -> bytes:
        return parameter.kind.shown(self.values[parameter.name])

    # -- changing ---------------------------------------------------------------------------

    def set(self, name: bytes, value: bytes) -> None:
        """Change a parameter, whether clients may or not. Raises `CommandError` with the bare reason."""
        self.load(name, [value])

    def load(self, name: bytes, words: list[bytes]) -> None:
        """A line of a configuration file or an option of the command line: name and values.

        Raises `CommandError` with the bare reason.
        """
        parameter = self.parameters.get(name.lower())
        if parameter is None:
            raise CommandError(b"Bad directive or wrong number of arguments")
        old = self.values[parameter.name]
        if not parameter.kind.several:
            if len(words) != 1:
                raise CommandError(b"wrong number of arguments")
        elif len(words) == 1 and words[0]:
            words = words[0].split()
        value = parameter.kind.canonical(words, old)
        if parameter.name == b"save":
            if self._save_loaded and value:
                value = (old + b" " + value).strip()
            self._save_loaded = True
        self.values[parameter.name] = value
        if parameter.effect is not None:
            parameter.effect(self.engine)

    def change(self, pairs: list[bytes], local: bool) -> None:
        """CONFIG SET: several parameters at once, all or none. `local` says where the client sits."""
        if len(pairs) % 2:
            raise CommandError(SYNTAX)
        parameters = self._changeable(pairs, local)
        before = dict(self.values)
        at = 0
        applied: list[Effect] = []
        try:
            for parameter in parameters:
                value = pairs[2 * at + 1]
                words = [value]
                if parameter.kind.several:
                    words = value.split(b" ") if value else []
                self.values[parameter.name] = parameter.kind.canonical(words, self.values[parameter.name])
                at += 1
            at = 0
            for parameter in parameters:
                effect = parameter.effect
                if effect is not None and self.values[parameter.name] != before[parameter.name]:
                    effect(self.engine)
                    applied.append(effect)
                at += 1
        except CommandError as error:
            self.values = before
            for effect in applied:
                effect(self.engine)
            raise CommandError(_failure(pairs[2 * at].lower(), error.text)) from None

    def _changeable(self, pairs: list[bytes], local: bool) -> list[Parameter]:
        """The parameters that CONFIG SET names, if they may be changed at all."""
        found: list[Parameter] = []
        names: list[bytes] = []
        for name in pairs[::2]:
            lower = name.lower()
            parameter = self.parameters.get(lower)
            if parameter is None:
                raise CommandError(b"ERR Unknown option or number of arguments for CONFIG SET - '%b'" % c_text(name))
            if parameter.immutable:
                raise CommandError(_failure(name, b"can't set immutable config"))
            if parameter.protected and not self.allows(b"enable-protected-configs", local):
                raise CommandError(_failure(name, b"can't set protected config"))
            if lower in names:
                raise CommandError(_failure(name, b"duplicate parameter"))
            names.append(lower)
            found.append(parameter)
        return found

    def allows(self, name: bytes, local: bool) -> bool:
        """Whether a guarded action (`enable-...`: yes, no or local) is allowed to a client."""
        value = self.values[name]
        return value == b"yes" or (value == b"local" and local)


def _failure(name: bytes, reason: bytes) -> bytes:
    return b"ERR CONFIG SET failed (possibly related to argument '%b') - %b" % (name, reason)
