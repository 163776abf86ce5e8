"""The fixture `redis`: each command test runs on four servers, from one source.

- `engine`: the engine in process, no socket;
- `resp2`, `resp3`: Redouble's socket, in both protocols;
- `real`: Debian's redis-server, the oracle. Without it these tests are skipped, and the summary says so.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from redouble.engine.command import parse_version
from tests.doubles import DoubleEngine, DoubleSocket
from tests.kit import EngineTarget, RealTarget, Redis
from tests.servers import LoopThread, SocketTarget


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "since(version): needs a server that answers as this version or a later one")
    config.addinivalue_line("markers", "until(version): needs a server older than this version")
    config.addinivalue_line("markers", "only(*targets): runs on these of engine, resp2, resp3, real")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if shutil.which("redis-server") is None:
        terminalreporter.write_line(
            "NO ORACLE: redis-server is not installed, so no test was compared with the real server.", red=True
        )


@pytest.fixture(scope="session")
def loop_thread() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.stop()


@pytest.fixture(scope="session")
def real_server() -> Iterator[RealTarget | None]:
    executable = shutil.which("redis-server")
    if executable is None:
        yield None
        return
    target = RealTarget(executable)
    yield target
    target.stop()


@pytest.fixture(params=["engine", "resp2", "resp3", "real"])
def redis(request: pytest.FixtureRequest) -> Iterator[Redis]:
    only = request.node.get_closest_marker("only")
    if only is not None and request.param not in only.args:
        pytest.skip(f"not meant for {request.param}")
    if request.param == "real":
        real = request.getfixturevalue("real_server")
        if real is None:
            pytest.skip("redis-server is not installed")
        _check_version(request, real.version)
        real.empty()
        client = Redis(real, 2)
        yield client
        client.close()
        return
    target: EngineTarget | SocketTarget
    if request.param == "engine":
        target = EngineTarget()
    else:
        target = SocketTarget(request.getfixturevalue("loop_thread"))
    _check_version(request, target.version)
    client = Redis(target, 3 if request.param == "resp3" else 2)
    yield client
    client.close()
    target.stop()


@pytest.fixture(params=["engine", "resp2", "resp3"])
def double(request: pytest.FixtureRequest) -> Iterator[Redis]:
    """A server with REDOUBLE, which no real one has."""
    target: DoubleEngine | DoubleSocket
    if request.param == "engine":
        target = DoubleEngine()
    else:
        target = DoubleSocket(request.getfixturevalue("loop_thread"))
    client = Redis(target, 3 if request.param == "resp3" else 2)
    yield client
    client.close()
    target.stop()


def _check_version(request: pytest.FixtureRequest, version: str) -> None:
    since = request.node.get_closest_marker("since")
    if since is not None and parse_version(version) < parse_version(since.args[0]):
        pytest.skip(f"needs {since.args[0]}, this is {version}")
    until = request.node.get_closest_marker("until")
    if until is not None and parse_version(version) >= parse_version(until.args[0]):
        pytest.skip(f"needs a server before {until.args[0]}, this is {version}")
