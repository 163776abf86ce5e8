"""The pytest plugin, by runs of pytest within pytest."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.kit import RealTarget

pytest_plugins = ["pytester"]


@pytest.fixture
def run(pytester: pytest.Pytester) -> object:
    """Write a test module and run it."""

    def write_and_run(source: str, *args: str) -> pytest.RunResult:
        pytester.makepyfile(source)
        return pytester.runpytest("-p", "no:cacheprovider", *args)

    return write_and_run


def test_each_test_finds_an_empty_server(run) -> None:  # type: ignore[no-untyped-def]
    result = run("""
        import pytest, redis

        @pytest.mark.parametrize("turn", range(3))
        def test_it(redouble, redouble_url, redouble_client, turn):
            assert redouble.dump() == {}
            assert redouble_client.incr("n") == 1
            assert redis.Redis.from_url(redouble_url).incr("n") == 2
            assert redouble.execute("GET", "n") == b"2"
            redouble.execute("CONFIG", "SET", "maxmemory", 1)

        def test_settings_are_back(redouble):
            assert redouble.execute("CONFIG", "GET", "maxmemory") == {b"maxmemory": b"0"}
    """)
    result.assert_outcomes(passed=4)


def test_a_marker_gives_settings_and_the_nearest_one_counts(run) -> None:  # type: ignore[no-untyped-def]
    result = run("""
        import pytest
        pytestmark = pytest.mark.redouble(version="6.2", maxmemory="5mb")

        def test_module(redouble):
            assert redouble.version == "6.2.14"

        @pytest.mark.redouble(version="7.0", clock=1_700_000_000_000)
        def test_nearest(redouble):
            assert redouble.version == "7.0.15"
            assert redouble.execute("CONFIG", "GET", "maxmemory") == {b"maxmemory": b"5242880"}
            assert redouble.execute("TIME") == [b"1700000000", b"0"]

        @pytest.mark.redouble(cluster_nodes=3, version="7.4")
        def test_cluster(redouble, redouble_client):
            assert len(redouble.ports) == 3
            assert redouble_client.set("key", "value") is True

        @pytest.mark.redouble(seed=5)
        def test_seed(redouble):
            assert redouble.seed == 5
    """)
    result.assert_outcomes(passed=4)


def test_a_wrong_marker_says_what_to_write(run) -> None:  # type: ignore[no-untyped-def]
    result = run("""
        import pytest

        @pytest.mark.redouble(versoin="7.0")
        def test_it(redouble):
            pass
    """)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*TypeError: unknown argument 'versoin'*did you mean version?*"])


def test_the_ini_file_gives_the_defaults(run, pytester: pytest.Pytester) -> None:  # type: ignore[no-untyped-def]
    pytester.makeini("""
        [pytest]
        redouble_version = 7.2
        redouble_clock = frozen
        redouble_parameters =
            maxmemory=3mb
            hash-max-listpack-entries = 7
    """)
    result = run("""
        def test_it(redouble, redouble_server):
            assert redouble.version == redouble_server.version == "7.2.6"
            assert redouble.execute("TIME") == redouble.execute("TIME")
            names = redouble.execute("CONFIG", "GET", "maxmemory", "hash-max-listpack-entries")
            assert names == {b"maxmemory": b"3145728", b"hash-max-listpack-entries": b"7"}
    """)
    result.assert_outcomes(passed=1)


def test_lint_may_judge_every_test_and_a_failure_shows_what_it_found(run, pytester: pytest.Pytester) -> None:  # type: ignore[no-untyped-def]
    pytester.makeini("""
        [pytest]
        redouble_lint = keys-command no-ttl:session:*
    """)
    result = run("""
        def test_it(redouble):
            redouble.execute("KEYS", "*")
            redouble.execute("SET", "session:1", "x")
            assert False
    """)
    result.stdout.fnmatch_lines(["lint: keys-command: *first: KEYS *", "lint: no-ttl: *SET session:1 x"])


def test_the_server_of_the_run_keeps_what_it_has(run) -> None:  # type: ignore[no-untyped-def]
    result = run("""
        def test_one(redouble_server, redouble):
            redouble_server.execute("SET", "kept", 1)
            assert redouble.dump() == {}

        def test_two(redouble, redouble_server):
            assert redouble_server.execute("GET", "kept") == b"1"
    """)
    result.assert_outcomes(passed=2)


def test_the_asyncio_client_works_in_every_loop(run) -> None:  # type: ignore[no-untyped-def]
    result = run("""
        import asyncio, pytest

        @pytest.mark.parametrize("turn", range(2))
        def test_it(redouble_aclient, turn):
            async def work():
                assert await redouble_aclient.incr("n") == 1
                waiting = asyncio.create_task(redouble_aclient.blpop("list", timeout=5))
                await redouble_aclient.rpush("list", "x")
                assert await waiting == (b"list", b"x")
            asyncio.run(work())

        @pytest.fixture
        def anyio_backend():
            return "asyncio"

        @pytest.mark.anyio
        async def test_anyio(redouble_aclient):
            assert await redouble_aclient.incr("n") == 1
    """)
    result.assert_outcomes(passed=3)


def test_a_failure_shows_the_last_commands_and_the_seed(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        """
        import redis

        def test_it(redouble, redouble_client):
            redouble_client.set("key", "a b")
            redis.Redis(port=redouble.port).get("key")
            assert redouble_client.get("key") == b"x"
    """,
        "--redouble-seed=77",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "*- redouble -*",
        "seed 77 (--redouble-seed=77 makes the same choices again)",
        "last commands:",
        '*client 1: SET key "a b"',
        "*client 2: GET key",
        "*client 1: GET key",
    ])  # fmt: skip


def test_a_passing_test_shows_nothing(run) -> None:  # type: ignore[no-untyped-def]
    result = run("def test_it(redouble): redouble.execute('PING')", "-rA")
    result.stdout.no_fnmatch_line("*last commands*")


def test_the_seed_of_a_failure_makes_the_same_choices(run) -> None:  # type: ignore[no-untyped-def]
    source = """
        def test_it(redouble):
            redouble.execute("SADD", "s", *range(100000))
            assert False, [redouble.seed, redouble.execute("SRANDMEMBER", "s", 3)]
    """
    first = run(source).stdout.str()
    seed = first.partition("--redouble-seed=")[2].partition(" ")[0]
    chosen = next(line for line in first.splitlines() if "AssertionError: [" in line)
    assert chosen in run(source, f"--redouble-seed={seed}").stdout.str()
    assert chosen not in run(source, "--redouble-seed=1").stdout.str()


_BUG = """
    def broken(ctx, argv):
        raise ZeroDivisionError("a bug")

    def break_ping(server):
        from redouble.engine.command import Command
        table = server.engine.table
        table.lookup = {**table.lookup, b"PING": Command("ping", "", "", "connection", broken)}
"""


def test_a_bug_of_the_server_fails_the_test_that_met_it(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        _BUG
        + """
    import pytest, redouble as package

    def test_met(redouble):
        break_ping(redouble)
        with pytest.raises(package.ReplyError, match="internal error"):
            redouble.execute("PING")

    def test_not_met(redouble):
        assert redouble.execute("PING") == b"PONG"
    """
    )
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*InternalError: the server met a bug of its own*", "*ZeroDivisionError: a bug*"])


def test_a_bug_of_the_server_of_the_run_fails_the_test_that_met_it_too(run) -> None:  # type: ignore[no-untyped-def]
    result = run(
        _BUG
        + """
    import pytest, redouble as package

    def test_before(redouble, redouble_server):
        assert redouble_server.execute("PING") == b"PONG"

    def test_met(redouble, redouble_server):
        break_ping(redouble_server)
        with pytest.raises(package.ReplyError, match="internal error"):
            redouble_server.execute("PING")

    def test_after(redouble, redouble_server):
        assert redouble_server.execute("ECHO", "x") == b"x"
    """
    )
    result.assert_outcomes(failed=1, passed=2)


def test_a_test_may_shut_its_server_down(run) -> None:  # type: ignore[no-untyped-def]
    result = run("""
        import pytest, redis

        @pytest.mark.parametrize("turn", range(2))
        def test_it(redouble, redouble_client, turn):
            assert redis.Redis.from_url(redouble.url).ping() is True
            redouble_client.shutdown(nosave=True)
            with pytest.raises(redis.ConnectionError):
                redouble_client.ping()
    """)
    result.assert_outcomes(passed=2)


def test_workers_of_xdist_share_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import os, pathlib, pytest

        @pytest.mark.parametrize("number", range(40))
        def test_it(redouble, number):
            assert redouble.dump() == {}
            redouble.execute("SET", os.environ["PYTEST_XDIST_WORKER"], number)
            assert list(redouble.dump()[0]) == [os.environ["PYTEST_XDIST_WORKER"].encode()]
            pathlib.Path(f"{os.environ['PYTEST_XDIST_WORKER']}-{redouble.port}").touch()
    """)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-n", "2")
    result.assert_outcomes(passed=40)
    servers = [path.name.split("-") for path in pytester.path.glob("gw*-*")]
    assert sorted(worker for worker, _ in servers) == ["gw0", "gw1"]
    assert len({port for _, port in servers}) == 2


def test_a_run_that_uses_no_fixture_imports_nothing_of_the_server(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import sys

        def test_it():
            loaded = {name for name in sys.modules if name.startswith("redouble")}
            assert loaded == {"redouble", "redouble.testing", "redouble.testing.plugin"}
            assert "redis" not in sys.modules and "lupa" not in sys.modules
    """)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)


# -- a real server ---------------------------------------------------------------------------------------


@pytest.fixture
def real_url(real_server: RealTarget | None) -> Iterator[str]:
    if real_server is None:
        pytest.skip("redis-server is not installed")
    yield f"redis://127.0.0.1:{real_server.port}"
    real_server.empty()


_FOR_BOTH = """
    import asyncio, pytest

    @pytest.mark.parametrize("turn", range(2))
    def test_everywhere(redouble, redouble_url, redouble_client, turn):
        assert redouble_client.incr("n") == 1
        assert redouble.execute("GET", "n") == b"1"
        assert redouble.execute("SET", "a", "b") == b"OK"
        assert redouble_url == redouble.url

    def test_asyncio(redouble_aclient):
        async def work():
            assert await redouble_aclient.incr("n") == 1
            await redouble_aclient.aclose()
        asyncio.run(work())

    def test_dump(redouble):
        assert redouble.dump() == {}

    @pytest.mark.redouble(clock="frozen")
    def test_clock(redouble):
        assert redouble.execute("TIME") == redouble.execute("TIME")

    @pytest.mark.redouble(version="7.0")
    def test_version(redouble):
        pass

    @pytest.mark.redouble(version="7.4")
    def test_newer(redouble):
        pass
"""


def test_the_same_tests_run_on_the_double(run) -> None:  # type: ignore[no-untyped-def]
    run(_FOR_BOTH).assert_outcomes(passed=7)


def test_they_run_on_a_real_server_which_skips_what_it_can_not_do(run, real_url: str) -> None:  # type: ignore[no-untyped-def]
    result = run(_FOR_BOTH, f"--redouble-url={real_url}", "-rs")
    result.assert_outcomes(passed=4, skipped=3)
    result.stdout.fnmatch_lines_random([
        "*needs dump, which a real server has not",
        "*needs clock='frozen', which can't be had of a real server",
        "*needs version 7.4, the real server is 7.0.15",
    ])  # fmt: skip


def test_a_url_where_nobody_answers_ends_the_run_with_the_reason(run) -> None:  # type: ignore[no-untyped-def]
    result = run("def test_it(redouble): pass", "--redouble-url=redis://127.0.0.1:1")
    assert "no server answers at redis://127.0.0.1:1" in result.stdout.str() + result.stderr.str()
    assert result.ret != 0


def test_the_options_are_explained() -> None:
    run = subprocess.run([sys.executable, "-m", "pytest", "--help"], capture_output=True, text=True, check=True)
    assert "--redouble-url=URL" in run.stdout
    assert "redouble_version (string)" in run.stdout


def test_a_run_without_our_fixtures_has_none_of_our_hooks(run) -> None:  # type: ignore[no-untyped-def]
    result = run("""
        def test_without(pytestconfig):
            assert not pytestconfig.pluginmanager.has_plugin("redouble-reports")

        def test_with(redouble, pytestconfig):
            assert pytestconfig.pluginmanager.has_plugin("redouble-reports")
    """)
    result.assert_outcomes(passed=2)
