"""The servers of one pytest run: made when first wanted, started anew for each test, closed at the end.

Tests with the same settings use the same server, one after the other; a reset makes it new (see `core.py`). Chance
differs from test to test and can be had again: a test's seed is made from its name and one number for the whole run.
"""

from __future__ import annotations

import logging
import random
import zlib
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final

import pytest

from redouble.testing.server import Server

if TYPE_CHECKING:
    from redouble.testing.real import RealServer

_KEPT_TRACEBACKS: Final = 3


class InternalError(Exception):
    """The server met a bug of its own while the test ran."""


class Tracebacks(logging.Handler):
    """Keeps what Redouble logs as an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record, with its traceback."""
        self.texts = [*self.texts, self.format(record)][-_KEPT_TRACEBACKS:]


class Servers:
    """By settings, and a real one instead of all if there is a URL."""

    def __init__(self, defaults: dict[str, Any], lint: list[str], url: str, worker: int, seed: int | None) -> None:
        self._lint = lint
        self._defaults = defaults
        self._seed = seed
        self._run_seed = random.SystemRandom().getrandbits(32)
        self._made: dict[tuple[tuple[str, str], ...], Server] = {}
        self._session: Server | None = None
        self._real: RealServer | None = None
        if url:
            from redouble.testing.real import RealServer

            self._real = RealServer(url, worker)
        self._tracebacks = Tracebacks()
        #: Where a test's item keeps its server.
        self.of_test: pytest.StashKey[Server | RealServer] = pytest.StashKey()
        #: How many internal errors are no news.
        self._told = 0
        logging.getLogger("redouble").addHandler(self._tracebacks)

    def fresh(self, name: str, settings: dict[str, Any]) -> Server | RealServer:
        """A server for one test, as just started. `name` is the test's. Skips what a real server can't do."""
        self._tracebacks.texts = []
        self._told = self._session.internal_errors() if self._session is not None else 0
        if self._real is not None:
            objection = self._real.objection(settings)
            if objection:
                pytest.skip(objection)
            self._real.reset()
            return self._real
        wanted = {**self._defaults, **settings}
        seed = wanted.pop("seed", self._seed)
        if seed is None:
            seed = zlib.crc32(name.encode()) ^ self._run_seed
        key = tuple(sorted((name, repr(value)) for name, value in wanted.items()))
        server = self._made.get(key)
        if server is None or not server.running:
            server = Server(**wanted, seed=seed).start()
            self._made[key] = server
        else:
            server.reset(seed=seed)
        if self._lint:
            server.lint.enable(*self._lint)
        return server

    def session(self) -> Server | RealServer:
        """The server of the whole run, with nothing but the defaults."""
        if self._real is not None:
            return self._real
        if self._session is None:
            self._session = Server(**self._defaults, **({} if self._seed is None else {"seed": self._seed})).start()
        return self._session

    def check(self, server: Server | RealServer) -> None:
        """Raise `InternalError`, once, if the server, or that of the run, has met a bug of its own in this test."""
        errors = server.internal_errors() + (self._session.internal_errors() if self._session is not None else 0)
        told, self._told = self._told, errors
        if errors > told:
            texts = "\n".join(self._tracebacks.texts)
            raise InternalError(f"the server met a bug of its own (the command got -ERR internal error):\n{texts}")

    def close(self) -> None:
        """End all of them."""
        logging.getLogger("redouble").removeHandler(self._tracebacks)
        for server in self._made.values():
            server.close()
        if self._session is not None:
            self._session.close()
        if self._real is not None:
            self._real.close()


class Reports:
    """The hooks that look at every test, once one has asked for a server."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """A bug of the server fails the test that met it."""
        result = yield
        server = item.stash.get(self._servers.of_test, None)
        if server is not None:
            self._servers.check(server)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """A failure shows what was sent, and the seed."""
        report = yield
        server = item.stash.get(self._servers.of_test, None)
        if server is not None and report.failed:
            report.sections.append(("redouble", "\n".join(server.story())))
        return report
