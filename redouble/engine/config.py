"""The settings of a server: one table of parameters with their kinds, defaults and effects.

Every parameter that a 7.4 server lists is here, so that CONFIG GET answers as a client expects. What
means something to us has an `apply` that puts the value where the fast path reads it (the engine's
limits, the slow log's threshold, ...); the rest is remembered and has no effect.

Values are kept as the text that CONFIG GET answers. Names are looked up in lower case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from redouble.errors import CommandError
from redouble.keyspace import events

if TYPE_CHECKING:
    from redouble.engine.engine import Engine

Apply = Callable[["Engine", bytes], None]


@final
class Parameter:
    """A parameter of the configuration."""

    __slots__ = ("name", "default", "apply", "mutable", "normalize")

    def __init__(
        self,
        name: bytes,
        default: bytes,
        normalize: Callable[[bytes], bytes],
        apply: Apply | None = None,
        mutable: bool = True,
    ) -> None:
        self.name: bytes = name
        self.default: bytes = default
        #: Checks a value and gives its canonical text; raises `CommandError` with the reason only.
        self.normalize: Callable[[bytes], bytes] = normalize
        self.apply: Apply | None = apply
        self.mutable: bool = mutable


def text(value: bytes) -> bytes:
    """Any text."""
    return value


def yes_no(value: bytes) -> bytes:
    """`yes` or `no`."""
    lower = value.lower()
    if lower not in (b"yes", b"no"):
        raise CommandError(b"argument must be 'yes' or 'no'")
    return lower


def classes(value: bytes) -> bytes:
    """Classes of keyspace events."""
    flags = events.parse_classes(value)
    if flags is None:
        raise CommandError(b"Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
    return events.format_classes(flags)


def _notify(engine: Engine, value: bytes) -> None:
    engine.space.set_notify_classes(events.parse_classes(value) or 0)


PARAMETERS: list[Parameter] = [
    Parameter(b"notify-keyspace-events", b"", classes, _notify),
    Parameter(b"maxmemory-policy", b"noeviction", text),
    Parameter(b"save", b"3600 1 300 100 60 10000", text),
    Parameter(b"appendonly", b"no", yes_no),
]


@final
class Config:
    """The values of one server."""

    __slots__ = ("engine", "parameters", "values")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        self.parameters: dict[bytes, Parameter] = {parameter.name: parameter for parameter in PARAMETERS}
        self.values: dict[bytes, bytes] = {parameter.name: parameter.default for parameter in PARAMETERS}

    def get(self, name: bytes) -> bytes:
        """The text of a parameter."""
        return self.values[name]

    def set(self, name: bytes, value: bytes) -> None:
        """Change a parameter, whether clients may or not. Raises `CommandError` with the reason only."""
        parameter = self.parameters[name]
        canonical = parameter.normalize(value)
        self.values[name] = canonical
        if parameter.apply is not None:
            parameter.apply(self.engine, canonical)
