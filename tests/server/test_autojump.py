"""Jumps of the clock where the engine has several drivers, or several nodes share the time."""

from __future__ import annotations

import redouble


def test_a_direct_connection_that_waits_is_let_go_by_a_jump() -> None:
    with redouble.Server(clock="frozen") as server:
        server.execute("REDOUBLE", "CLOCK", "AUTOJUMP", 20)
        before = server.clock.now_ms
        assert server.client().blpop("none", 3600) is None
        assert server.clock.now_ms - before == 3_600_000


def test_jumps_go_on_after_a_reset_and_only_if_wanted_again() -> None:
    with redouble.Server(clock="frozen") as server:
        server.execute("REDOUBLE", "CLOCK", "AUTOJUMP", 20)
        server.execute("SET", "k", "v", "EX", 60)
        server.reset()
        assert server.engine.timeline.autojump_ms == 0
        server.execute("REDOUBLE", "CLOCK", "AUTOJUMP", 20)
        assert server.client().blpop("none", 60) is None


def test_the_nodes_of_a_cluster_jump_together_and_once_for_each_silence() -> None:
    with redouble.Server(clock="frozen", cluster_nodes=3) as server:
        before = server.clock.now_ms
        client = server.client()
        client.set("a", "v", ex=3600)
        server.execute("REDOUBLE", "CLOCK", "AUTOJUMP", 500)
        assert client.blpop("{b}none", 60) is None
        assert server.clock.now_ms - before == 60_000
        assert client.exists("a") == 1
