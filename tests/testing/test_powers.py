"""The powers from Python."""

from __future__ import annotations

import threading

import pytest

import redouble
from redouble import Server


def test_advancing_the_clock_lets_keys_expire(server: Server) -> None:
    server.execute("SET", "key", "value", "EX", 60)
    server.clock.advance(seconds=59)
    assert server.execute("EXISTS", "key") == 1
    server.clock.advance(ms=1001)
    assert server.dump() == {}


def test_a_frozen_clock_moves_only_when_it_is_told_to() -> None:
    with redouble.Server(clock=1_700_000_000_000) as server:
        assert (server.clock.frozen, server.clock.now_ms) == (True, 1_700_000_000_000)
        server.clock.advance(seconds=1.5)
        assert server.execute("TIME") == [b"1700000001", b"500000"]
        server.clock.set(1_600_000_000_000)
        assert server.execute("TIME") == [b"1600000000", b"0"]
        server.clock.resume()
        assert server.clock.frozen is False
        server.clock.freeze()
        assert server.clock.frozen is True


def test_advancing_the_clock_ends_a_wait_in_another_thread() -> None:
    with redouble.Server(clock="frozen") as server:
        replies: list[object] = []
        waiter = threading.Thread(target=lambda: replies.append(server.execute("BLPOP", "list", 3600)))
        waiter.start()
        while b"blocked_clients:1" not in server.execute("INFO", "clients"):
            pass
        server.clock.advance(seconds=3600)
        waiter.join(10)
        assert replies == [None]


def test_a_wait_ends_by_itself_while_the_clock_runs(server: Server) -> None:
    assert server.execute("BLPOP", "list", 0.02) is None


@pytest.mark.parametrize("wrong", [{"seconds": -1}, {"ms": -5}])
def test_time_is_not_advanced_backwards(server: Server, wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="use "):
        server.clock.advance(**wrong)


def test_reset_gives_the_clock_back(server: Server) -> None:
    server.clock.freeze(1_000)
    server.reset()
    assert server.clock.frozen is False
    assert server.clock.now_ms > 1_700_000_000_000
