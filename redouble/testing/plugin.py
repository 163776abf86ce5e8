"""The pytest plugin: fixtures of servers and clients, fresh for each test.

    def test_a_session_expires(redouble, redouble_client):
        redouble_client.set("session", "x", ex=60)

`redouble` is a `redouble.Server` that is as just started; `@pytest.mark.redouble(version="7.0", clock="frozen")` gives
it settings, the ini file the defaults (`redouble_version`, ...). `redouble_url` is its address for programs,
`redouble_client` and `redouble_aclient` are redis-py's clients to it, without a socket. `redouble_server` is another
server, one for the whole run, that nobody resets.

pytest loads this module in every run of every project where Redouble is installed, so it imports nothing but
pytest; the rest comes when a test asks for a fixture (`servers.py`), and so do the hooks that look at every test.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import redis
    import redis.asyncio

    from redouble.testing.real import RealServer
    from redouble.testing.server import Server
    from redouble.testing.servers import Servers

_SERVERS: pytest.StashKey[Servers] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Our options."""
    group = parser.getgroup("redouble", "Redouble, a Redis double")
    group.addoption(
        "--redouble-url", default="", metavar="URL",
        help="run the tests on the real Redis, Valkey or cluster at this URL; it is emptied before each test",
    )  # fmt: skip
    group.addoption(
        "--redouble-seed", type=int, default=None, metavar="N",
        help="seed the server's random choices with this number, as the report of a failed test tells it",
    )  # fmt: skip
    parser.addini("redouble_version", "the Redis version to answer as: 7.0, 7.2, 7.4, 8.0, 7.0.15 ...", default="")
    parser.addini("redouble_clock", "real, frozen, or the Unix time in ms at which the clock stands", default="")
    parser.addini("redouble_cluster_nodes", "how many nodes of a cluster to be", default="")
    parser.addini("redouble_lint", "rules of LINT for every test: all, no-ttl:session:* ...", type="args", default=[])
    parser.addini("redouble_parameters", "further parameters, one a line: maxmemory=10mb", type="linelist", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Our marker."""
    config.addinivalue_line(
        "markers", "redouble(**settings): settings of the fixture's server, those of redouble.Server(...)"
    )


def pytest_unconfigure(config: pytest.Config) -> None:
    """Nothing is left over."""
    servers = config.stash.get(_SERVERS, None)
    if servers is not None:
        servers.close()


def _defaults(config: pytest.Config) -> dict[str, Any]:
    """What the ini file says."""
    found: dict[str, Any] = {}
    if config.getini("redouble_version"):
        found["version"] = config.getini("redouble_version")
    clock = str(config.getini("redouble_clock"))
    if clock:
        found["clock"] = int(clock) if clock.isdigit() else clock
    nodes = str(config.getini("redouble_cluster_nodes"))
    if nodes:
        if not nodes.isdigit():
            raise pytest.UsageError(f"redouble_cluster_nodes must be a number, not {nodes!r}")
        found["cluster_nodes"] = int(nodes)
    for line in config.getini("redouble_parameters"):
        name, equals, value = line.partition("=")
        if not equals:
            raise pytest.UsageError(f"redouble_parameters: write name=value, not {line!r}")
        found[name.strip().replace("-", "_")] = value.strip()
    return found


def _servers(config: pytest.Config) -> Servers:
    servers = config.stash.get(_SERVERS, None)
    if servers is None:
        from redouble.testing.servers import Reports, Servers

        worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
        number = int(worker) if worker.isdigit() else 0
        url = config.getoption("redouble_url")
        lint = config.getini("redouble_lint")
        servers = Servers(_defaults(config), lint, url, number, config.getoption("redouble_seed"))
        config.stash[_SERVERS] = servers
        config.pluginmanager.register(Reports(servers), "redouble-reports")
    return servers


# -- fixtures ------------------------------------------------------------------------------------------


@pytest.fixture
def redouble(request: pytest.FixtureRequest) -> Iterator[Server | RealServer]:
    """A server as just started, for this test alone."""
    settings: dict[str, Any] = {}
    for marker in reversed(list(request.node.iter_markers("redouble"))):
        if marker.args:
            raise pytest.UsageError("@pytest.mark.redouble takes settings by name, such as version='7.0'")
        settings.update(marker.kwargs)
    servers = _servers(request.config)
    server = servers.fresh(request.node.nodeid, settings)
    request.node.stash[servers.of_test] = server
    yield server
    servers.check(server)


@pytest.fixture(scope="session")
def redouble_server(request: pytest.FixtureRequest) -> Server | RealServer:
    """A server for the whole run. What one test leaves in it, the next one finds."""
    return _servers(request.config).session()


@pytest.fixture
def redouble_url(redouble: Server | RealServer) -> str:
    """The address of the test's server."""
    return redouble.url


@pytest.fixture
def redouble_client(redouble: Server | RealServer) -> Iterator[redis.Redis]:
    """A redis-py client of the test's server."""
    client = redouble.client()
    yield client
    client.close()


@pytest.fixture
def redouble_aclient(redouble: Server | RealServer) -> redis.asyncio.Redis:
    """A redis.asyncio client of the test's server, for whichever loop uses it first: anyio's, asyncio.run's ..."""
    client: redis.asyncio.Redis = redouble.async_client()
    return client
