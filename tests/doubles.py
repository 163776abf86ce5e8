"""Servers under test that have REDOUBLE, and its replies as plain dictionaries."""

from __future__ import annotations

from typing import Any

from redouble.commands import CONTROLS, FAMILIES
from redouble.engine.engine import Engine
from tests.kit import EngineTarget, Redis
from tests.servers import LoopThread, SocketTarget


class DoubleEngine(EngineTarget):
    """An engine in process, with the powers."""

    def __init__(self, version: str = "7.4.1") -> None:
        self.version = version
        self.engine = Engine(FAMILIES + CONTROLS, version)


class DoubleSocket(SocketTarget):
    """The same behind a socket."""

    def __init__(self, loop: LoopThread, version: str = "7.4.1") -> None:
        self.version = version
        self._loop = loop
        self.engine = Engine(FAMILIES + CONTROLS, version)
        self.port = loop.run(self._start())


def mapping(flat: list[Any]) -> dict[str, Any]:
    """A flat map as a dictionary."""
    return {name.decode(): value for name, value in zip(flat[::2], flat[1::2], strict=True)}


def traced(redis: Redis) -> list[dict[str, Any]]:
    """The commands of TRACE GET."""
    return [mapping(entry) for entry in mapping(redis("REDOUBLE", "TRACE", "GET"))["commands"]]


def findings(redis: Redis) -> list[dict[str, Any]]:
    """LINT REPORT."""
    return [mapping(finding) for finding in redis("REDOUBLE", "LINT", "REPORT")]
