"""One server for the tests of this folder that only use it; each test finds it as just started."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import redouble


@pytest.fixture(scope="package")
def shared_server() -> Iterator[redouble.Server]:
    with redouble.Server() as server:
        yield server


@pytest.fixture
def server(shared_server: redouble.Server) -> Iterator[redouble.Server]:
    shared_server.reset()
    yield shared_server
    assert shared_server.engine.stats.unexpected_errors == 0
