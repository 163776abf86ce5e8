"""What the command lines of verify, record and replay have in common.

    redouble verify --against URL [server options] [-- COMMAND ...]

Exit status: 0 where nothing differed, 1 where something did, 2 where the work could not be done; where a
COMMAND was run and nothing differed, its own.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from typing import Final

from redouble.engine.engine import Engine
from redouble.server.options import OptionError, read_options
from redouble.server.startup import engine_from
from redouble.testing.traffic.front import Front, run_command, until_told
from redouble.testing.traffic.peers import ServerError

DIFFERENT: Final = 1
IMPOSSIBLE: Final = 2


class Arguments:
    """A command line, taken apart."""

    def __init__(self, args: list[str]) -> None:
        """Raises `OptionError`."""
        at = args.index("--") if "--" in args else len(args)
        self.command = args[at + 1 :]
        if at < len(args) and not self.command:
            raise OptionError("a command must follow '--'")
        self.rest = args[:at]
        self.against = self._value("--against")
        self.pace = "--pace" in self.rest
        if self.pace:
            self.rest.remove("--pace")

    def _value(self, name: str) -> str:
        if name not in self.rest:
            return ""
        at = self.rest.index(name)
        if at + 1 == len(self.rest):
            raise OptionError(f"{name} needs a value")
        value = self.rest.pop(at + 1)
        self.rest.pop(at)
        return value

    def file(self) -> str:
        """Take the file name that comes first. Raises `OptionError`."""
        if not self.rest or self.rest[0].startswith("-"):
            raise OptionError("a file must be named first")
        return self.rest.pop(0)

    def engine(self, version: str = "") -> Engine:
        """An engine as the server options ask for, of `version` where they name none. Raises `OptionError`."""
        options = read_options(self.rest)
        if version and "--redis-version" not in self.rest:
            options.version = version
        if options.cluster_nodes or options.sentinel_port is not None:
            raise OptionError("a cluster or a Sentinel can't be compared or recorded")
        return engine_from(options)

    async def listen(self, front: Front, engine: Engine) -> str:
        """Listen where the options say, on this machine and any free port if they say nothing; the URL."""
        hosts = engine.config.get(b"bind").decode().split() if "--bind" in self.rest else ["127.0.0.1"]
        port = engine.config.number(b"port") if "--port" in self.rest else 0
        try:
            return await front.listen(hosts, port)
        except OSError as error:
            raise OptionError(f"Could not listen on {hosts[0]} port {port}: {error.strerror or error}") from None

    async def serve(self, url: str) -> int:
        """Say where we are and let the command run, or wait for a signal; the exit status."""
        print(f"READY {url}", flush=True)
        if self.command:
            try:
                return await run_command(self.command, url)
            except OSError as error:
                raise OptionError(f"{self.command[0]}: {error.strerror}") from None
        await until_told()
        return 0


def run(args: list[str], usage: str, work: Callable[[Arguments], Awaitable[int]]) -> int:
    """Do what a command line asks; the exit status."""
    options = args[: args.index("--")] if "--" in args else args
    if "-h" in options or "--help" in options:
        print(usage, end="")
        return 0
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")

    async def all_of_it() -> int:
        return await work(Arguments(args))

    try:
        return asyncio.run(all_of_it())
    except OptionError as error:
        shown = "" if error.line is None else f" in '{error.line.text.decode('utf-8', 'replace')}'"
        print(f"redouble: {error.reason}{shown}", file=sys.stderr)
    except (ServerError, OSError) as error:
        print(f"redouble: {error}", file=sys.stderr)
    return IMPOSSIBLE
