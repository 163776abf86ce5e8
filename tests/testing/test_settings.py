"""Arguments that can't be are refused at once, and the message says what to write instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import redouble


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        ({"maxmemry": "1mb"}, TypeError, "did you mean maxmemory?"),
        ({"redis_version": "7.0"}, TypeError, "write version"),
        ({"password": "x"}, TypeError, "write requirepass"),
        ({"port": -1}, ValueError, "port must be between 0 and 65535 (0 takes any free port)"),
        ({"port": 65536}, ValueError, "between 0 and 65535"),
        ({"port": "6379"}, TypeError, "port must be an int"),
        ({"version": "5"}, ValueError, "'7.0', '7.2'"),
        ({"version": 7.0}, TypeError, "version must be a str"),
        ({"clock": "stopped"}, ValueError, "'real', 'frozen'"),
        ({"seed": "one"}, TypeError, "seed must be an int"),
        ({"controls": "no"}, TypeError, "True or False"),
        ({"databases": 0}, ValueError, "databases must be between 1"),
        ({"maxmemory": "plenty"}, ValueError, "maxmemory=plenty: argument must be a memory value"),
        ({"maxmemory": 1.5}, TypeError, "maxmemory must be a str, bytes, int, bool"),
        ({"version": "6.2", "busy_reply_threshold": 1}, TypeError, "Redis 6.2.14 has no such parameter"),
        ({"cluster_nodes": 3, "unixsocket": "/tmp/x"}, ValueError, "leave it out"),
    ],
)
def test_a_wrong_argument_is_refused_with_advice(arguments: dict[str, Any], kind: type[Exception], says: str) -> None:
    with pytest.raises(kind) as raised:
        redouble.Server(**arguments)
    assert says in str(raised.value)


def test_parameters_are_written_as_python_values() -> None:
    with redouble.Server(
        maxmemory="10mb", appendonly=False, save=[], maxmemory_policy=b"allkeys-lru", lfu_decay_time=3
    ) as server:
        parameters = server.execute("CONFIG", "GET", "maxmemory*", "save", "appendonly", "lfu-decay-time")
    assert parameters[b"maxmemory"] == b"10485760"
    assert parameters[b"maxmemory-policy"] == b"allkeys-lru"
    assert parameters[b"appendonly"] == b"no"
    assert parameters[b"lfu-decay-time"] == b"3"


def test_it_answers_as_the_version_that_is_asked_for() -> None:
    with redouble.Server(version="6.2") as server:
        assert b"redis_version:6.2.14\r\n" in server.execute("INFO", "server")
        assert server.version == "6.2.14"


def test_a_seed_makes_chance_repeatable() -> None:
    def draws() -> Any:
        with redouble.Server(seed=7) as server:
            server.execute("SADD", "s", *range(1000))
            return [server.execute("SRANDMEMBER", "s") for _ in range(10)]

    first = draws()
    assert draws() == first
    assert len(set(first)) > 1


def test_a_frozen_clock_stands_where_it_is_told_to() -> None:
    with redouble.Server(clock=1_700_000_000_000) as server:
        assert server.execute("TIME") == [b"1700000000", b"0"]
        assert server.execute("XADD", "x", "*", "f", "v") == b"1700000000000-0"


def test_a_unix_socket_may_take_the_place_of_a_port(tmp_path: Path) -> None:
    import redis

    with redouble.Server(unixsocket=tmp_path / "s") as server:
        assert server.url == f"unix://{tmp_path / 's'}"
        assert redis.Redis.from_url(server.url).ping() is True
    assert not (tmp_path / "s").exists()


def test_a_password_stands_in_the_url() -> None:
    import redis

    with redouble.Server(requirepass="a b/c") as server:
        assert redis.Redis.from_url(server.url).ping() is True
        with pytest.raises(redis.AuthenticationError):
            redis.Redis(port=server.port).ping()
        assert redis.Redis(connection_pool=server.connection_pool()).ping() is True
        assert server.execute("ACL", "WHOAMI") == b"default"


def test_importing_the_package_imports_none_of_it() -> None:
    import subprocess
    import sys

    program = "import sys, redouble; print([name for name in sys.modules if name.startswith('redouble.')])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
    with pytest.raises(AttributeError, match="no attribute 'Sever'"):
        _ = redouble.Sever  # type: ignore[attr-defined]
