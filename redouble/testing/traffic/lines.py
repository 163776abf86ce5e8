"""A file of traffic: one line for each request, reply and push. `docs/traffic.md` is its description.

    # redouble traffic 1, started 1764688196123
    0.000 a> SET greeting "hello world"
    0.000 a< OK

A line is the time since the start in seconds, the client's letter with `>` (it asks), `<` (it is answered)
or `!` (it is told something unasked), and what was said, as `notation.py` writes it. Empty lines and those that
begin with `#` say nothing; the first of them may say when it was (Unix time in ms).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from redouble.testing.traffic.notation import read_reply, read_request, written_reply, written_request
from redouble.testing.traffic.replies import Reply

ASKED: Final = ">"
ANSWERED: Final = "<"
TOLD: Final = "!"
_HEAD: Final = re.compile(r"# redouble traffic (\d+)(?:, started (\d+))?")
_LINE: Final = re.compile(r"(?:(\d+\.\d+)\s+)?(\w+)([><!])\s*(.*)")
_FORMAT: Final = 1


class FileError(Exception):
    """What is wrong with a file, and where."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line; `at` is ms since the start, None where the line does not say."""

    number: int
    at: int | None
    label: str
    kind: str
    argv: list[bytes]
    reply: Reply | None


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a file holds; `started` is Unix time in ms, 0 where it does not say."""

    started: int
    lines: list[Line]


def read_traffic(path: str) -> Traffic:
    """Read a file. Raises `FileError`."""
    try:
        text = Path(path).read_text("ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: {error}") from None
    started = 0
    lines: list[Line] = []
    for number, line in enumerate(text.splitlines(), 1):
        head = _HEAD.match(line)
        if head is not None:
            if int(head[1]) != _FORMAT:
                raise FileError(f"{path}:{number}: this is format {head[1]}; only {_FORMAT} is known here")
            started = int(head[2] or 0)
        elif line.strip() and not line.startswith("#"):
            try:
                lines.append(_line(number, line.strip()))
            except ValueError as error:
                raise FileError(f"{path}:{number}: {error}") from None
    return Traffic(started, lines)


def _line(number: int, text: str) -> Line:
    parts = _LINE.fullmatch(text)
    if parts is None:
        raise ValueError("a line must be like '0.001 a> PING', '0.001 a< PONG' or '0.001 a! push[...]'")
    at = None if parts[1] is None else round(float(parts[1]) * 1000)
    if parts[3] == ASKED:
        return Line(number, at, parts[2], ASKED, read_request(parts[4]), None)
    return Line(number, at, parts[2], parts[3], [], read_reply(parts[4]))


class Writer:
    """Writes a file as things happen, a line at a time."""

    def __init__(self, file: TextIO, started: int) -> None:
        self._file = file
        self._started = started
        file.write(f"# redouble traffic {_FORMAT}, started {started}\n")

    def asked(self, now: int, label: str, argv: list[bytes]) -> None:
        """A client has sent a request; `now` is Unix time in ms."""
        self._write(now, label, ASKED, written_request(argv))

    def answered(self, now: int, label: str, reply: Reply) -> None:
        """It has been answered."""
        self._write(now, label, ANSWERED, written_reply(reply))

    def told(self, now: int, label: str, push: Reply) -> None:
        """Something came unasked."""
        self._write(now, label, TOLD, written_reply(push))

    def _write(self, now: int, label: str, kind: str, text: str) -> None:
        since = max(0, now - self._started)
        self._file.write(f"{since // 1000}.{since % 1000:03} {label}{kind} {text}\n")
