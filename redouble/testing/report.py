"""What the report of a failing test shows of its server.

The last reads are kept as they came (`Core.recent`), which costs next to nothing; only here they become lines.
Bytes of a socket are parsed again, for each client in order, so a request that came in pieces is shown too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from redouble.protocol.parser import RequestParser
from redouble.protocol.quote import quoted

if TYPE_CHECKING:
    from redouble.engine.engine import Engine
    from redouble.testing.core import Core

_BULK_MAX: Final = 1 << 29
_MOST_ARGUMENTS: Final = 16
_MOST_TEXT: Final = 60
_MOST_LINES: Final = 30


def story(core: Core) -> list[str]:
    """The seed and the last commands. O(what is kept)."""
    lines: list[str] = []
    seed = core.engines[0].chance.given
    if seed is not None:
        lines.append(f"seed {seed} (--redouble-seed={seed} makes the same choices again)")
    commands = last_commands(core)
    lines.append("last commands:" if commands else "no command was sent")
    lines += [f"  {line}" for line in commands]
    return lines + [f"lint: {text}" for engine in core.engines for text in findings(engine)]


def findings(engine: Engine) -> list[str]:
    """What LINT has found, one line each. O(findings)."""
    return [
        f"{finding.rule.decode()}: {finding.detail.decode('utf-8', 'replace')}, {finding.count} times, "
        f"first: {finding.example.decode('utf-8', 'replace')}"
        for finding in engine.lint.findings()
    ]


def last_commands(core: Core) -> list[str]:
    """The last commands that were sent, the oldest first, each with the number of its client."""
    parsers: dict[int, RequestParser] = {}
    lines: list[str] = []
    for number, sent in list(core.recent):
        requests: list[list[bytes]]
        if isinstance(sent, bytes):
            requests = parsers.setdefault(number, RequestParser(_BULK_MAX)).feed(sent)
        else:
            requests = sent
        lines += [f"client {number}: {_shown(argv)}" for argv in requests]
    return lines[-_MOST_LINES:]


def _shown(argv: list[bytes]) -> str:
    words = [_word(arg) for arg in argv[:_MOST_ARGUMENTS]]
    if len(argv) > _MOST_ARGUMENTS:
        words.append(f"... ({len(argv) - _MOST_ARGUMENTS} more)")
    return " ".join(words)


def _word(arg: bytes) -> str:
    """An argument as redis-cli takes it, shortened."""
    shown = arg if len(arg) <= _MOST_TEXT else arg[:_MOST_TEXT]
    text = shown.decode("latin-1") if shown.isalnum() else quoted(shown).decode("latin-1")
    return text if shown is arg else f"{text}... ({len(arg)} bytes)"
