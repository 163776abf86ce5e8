"""What was used of a server: the report at the end of `redouble run --report`."""

from __future__ import annotations

from typing import Final

from redouble.engine.engine import Engine
from redouble.keyspace.database import NEVER
from redouble.protocol.quote import quoted
from redouble.testing.report import findings
from redouble.testing.server import Server

_MOST_LINES: Final = 20
_MOST_TEXT: Final = 70


def prepare(server: Server) -> None:
    """Before anything is used: what must be noted from the beginning."""
    server.lint.enable()


def usage(server: Server) -> list[str]:
    """What was used, as lines of text. O(commands + scripts + keys)."""
    with server.lock:
        lines = ["", "redouble: what was used"]
        for number, engine in enumerate(server.engines):
            if len(server.engines) > 1:
                lines.append(f"node {number}, port {server.ports[number]}")
            lines += [*_commands(engine), *_scripts(engine)]
            complaints = [f"  {text}" for text in findings(engine)]
            lines += _some("lint", complaints) if complaints else ["lint has found nothing"]
            lines += _lasting_keys(engine)
        return lines


def _commands(engine: Engine) -> list[str]:
    stats = engine.stats
    counts = [
        (row.full_name.decode(), stats.calls[row.index], stats.failed[row.index] + stats.rejected[row.index])
        for row in engine.table.rows
        if stats.calls[row.index] or stats.rejected[row.index]
    ]
    counts.sort(key=lambda item: (-item[1], item[0]))
    lines = ["commands" if counts else "no command"]
    return lines + [f"  {calls:>8} {name}" + (f", {bad} failed" if bad else "") for name, calls, bad in counts]


def _scripts(engine: Engine) -> list[str]:
    """The scripts by digest, each with its first line that says anything."""
    lines = [
        f"  {script.sha.decode()[:12]} {_summary(script.body)}"
        for script in engine.scripting.runtime.scripts.values()
    ]  # fmt: skip
    lines += [f"  library {name.decode('utf-8', 'replace')}" for name in engine.scripting.libraries.libraries]
    return _some("scripts", lines) if lines else []


def _summary(body: bytes) -> str:
    for raw in body.decode("utf-8", "replace").splitlines():
        line = raw.strip().strip("-[]").strip()
        if line:
            return line if len(line) <= _MOST_TEXT else line[:_MOST_TEXT] + "..."
    return ""


def _lasting_keys(engine: Engine) -> list[str]:
    lines = [
        f"  {database.index}: {quoted(key[:_MOST_TEXT]).decode()}"
        for database in engine.space.databases
        for key, entry in database.data.items()
        if entry.deadline == NEVER
    ]
    if not lines:
        return ["no key is left without a time to live"]
    return _some(f"keys left without a time to live, by database: {len(lines)}", lines)


def _some(title: str, lines: list[str]) -> list[str]:
    more = len(lines) - _MOST_LINES
    return [title, *lines[:_MOST_LINES], *([f"  ... and {more} more"] if more > 0 else [])]
