"""`redouble run -- command ...`: a server for as long as a command runs, for tests in any language.

    redouble run --redis-version 7.0 --report -- npx vitest run

The command finds the server by REDIS_URL, REDIS_HOST and REDIS_PORT. Signals go on to it, and its exit status is ours
(128 and more where a signal has ended it, as shells have it). What stands before `--` are options of the server;
it listens on 127.0.0.1, on any free port, unless they say otherwise. `--report` tells on stderr what was used.

From a terminal Ctrl-C reaches the command by itself, as it reaches every process in the foreground; then we
don't send it a second time.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
from types import FrameType
from typing import Final

from redouble.server.options import Line, OptionError, Options, read_options
from redouble.testing.server import Server
from redouble.testing.settings import Settings
from redouble.testing.usage import prepare, usage

_USAGE: Final = "Usage: redouble run [--name value ...] [--report] -- command [argument ...]"
_HELP: Final = f"""{_USAGE}

Starts a server on a free port, then the command with REDIS_URL, REDIS_HOST and REDIS_PORT in its environment.

  --name value ...   any option of the server, see redouble --help
  --report           at the end tell on stderr which commands and scripts were used, what LINT has found, and
                     which keys are left without a time to live
"""
_FORWARDED: Final = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGWINCH")
#: Those that a terminal sends to the command as well as to us.
_FROM_TERMINAL: Final = ("SIGINT", "SIGQUIT", "SIGWINCH")
_NOT_EXECUTABLE: Final = 126
_NOT_FOUND: Final = 127
_MISUSED: Final = 2


class RunServer(Server):
    """The server of a command line, not of keyword arguments."""

    def __init__(self, options: Options) -> None:
        self._prepare(Settings.of(options))

    def _new_loop(self) -> asyncio.AbstractEventLoop:
        try:
            import uvloop
        except ImportError:
            return super()._new_loop()
        return uvloop.new_event_loop()


def main(args: list[str]) -> int:
    """Run the command line after the word `run`; the exit status."""
    if args[:1] in (["-h"], ["--help"]):
        print(_HELP, end="")
        return 0
    if "--" not in args or args[-1] == "--":
        print(f"redouble run: say which command to run, after --\n{_USAGE}", file=sys.stderr)
        return _MISUSED
    at = args.index("--")
    own, command = args[:at], args[at + 1 :]
    report = "--report" in own
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="redouble: %(message)s")
    try:
        server = RunServer(_options([arg for arg in own if arg != "--report"]))
        with server:
            if report:
                prepare(server)
            status = _run(command, server)
            if report:
                print("\n".join(usage(server)), file=sys.stderr)
        return status
    except (OptionError, OSError, ValueError) as error:
        print(f"redouble run: {error}", file=sys.stderr)
        return 1


def _options(args: list[str]) -> Options:
    options = read_options(args)
    options.lines[:0] = [Line(0, b"", [b"port", b"0"]), Line(0, b"", [b"bind", b"127.0.0.1"])]
    return options


def _environment(server: Server) -> dict[str, str]:
    return {**os.environ, "REDIS_URL": server.url, "REDIS_HOST": server.host, "REDIS_PORT": str(server.port)}


def _run(command: list[str], server: Server) -> int:
    """Run a command to its end; its exit status."""
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def forward(number: int, frame: FrameType | None) -> None:
        if signal.Signals(number).name in _FROM_TERMINAL and _in_foreground():
            return
        if child is None:
            early.append(number)
        else:
            child.send_signal(number)

    numbers = [getattr(signal, name) for name in _FORWARDED if hasattr(signal, name)]
    before = {number: signal.signal(number, forward) for number in numbers}
    try:
        try:
            child = subprocess.Popen(command, env=_environment(server))
        except FileNotFoundError:
            print(f"redouble run: no such command: {command[0]}", file=sys.stderr)
            return _NOT_FOUND
        except PermissionError:
            print(f"redouble run: not executable: {command[0]}", file=sys.stderr)
            return _NOT_EXECUTABLE
        for number in early:
            child.send_signal(number)
        status = child.wait()
        return status if status >= 0 else 128 - status
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_foreground() -> bool:
    """Whether what the terminal sends comes to the command too."""
    for stream in (0, 1, 2):
        with contextlib.suppress(OSError, AttributeError):
            return os.tcgetpgrp(stream) == os.getpgrp()
    return False
