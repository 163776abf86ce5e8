"""The powers from Python."""

from __future__ import annotations

import threading

import pytest
import redis

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


def test_autojump_ends_a_wait_that_nobody_will_end(server: Server) -> None:
    server.clock.autojump(1)
    before = server.clock.now_ms
    assert server.execute("BLPOP", "list", 86400) is None
    assert server.clock.now_ms >= before + 86_400_000


def test_the_nodes_of_a_cluster_have_one_time() -> None:
    with redouble.Server(cluster_nodes=3, clock=1_700_000_000_000) as server:
        server.clock.advance(seconds=10)
        assert {engine.clock.now() for engine in server.engines} == {1_700_000_010_000}
        server.reset()
        assert {engine.clock.now() for engine in server.engines} == {1_700_000_000_000}


@pytest.mark.parametrize("wrong", [{"seconds": -1}, {"ms": -5}])
def test_time_is_not_advanced_backwards(server: Server, wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="use SET to go back"):
        server.clock.advance(**wrong)


def test_reset_gives_the_clock_back(server: Server) -> None:
    server.clock.freeze(1_000)
    server.reset()
    assert server.clock.frozen is False
    assert server.clock.now_ms > 1_700_000_000_000


# -- snapshots and chance ---------------------------------------------------------------------------------


def test_a_state_comes_back_by_name(server: Server) -> None:
    server.execute("SET", "key", "old")
    sha = server.execute("SCRIPT", "LOAD", "return 1")
    server.snapshots.save("before")
    server.execute("SET", "key", "new")
    server.execute("RPUSH", "list", "x")
    server.execute("SCRIPT", "FLUSH")
    server.snapshots.restore("before")
    assert server.dump() == {0: {b"key": b"old"}}
    assert server.execute("EVALSHA", sha, 0) == 1
    assert server.snapshots.names() == ["before"]
    server.snapshots.drop("before")
    with pytest.raises(ValueError, match="no such snapshot"):
        server.snapshots.restore("before")


def test_a_block_leaves_the_state_as_it_was(server: Server) -> None:
    server.execute("SET", "key", "old", "EX", 100)
    with server.snapshots.save("block", clock=True):
        server.clock.advance(seconds=101)
        assert server.dump() == {}
    assert server.execute("GET", "key") == b"old"
    assert server.snapshots.names() == []


def test_reset_forgets_snapshots(server: Server) -> None:
    server.snapshots.save("one")
    server.reset()
    assert server.snapshots.names() == []


def test_a_seed_begins_chance_anew(server: Server) -> None:
    def draws() -> list[object]:
        server.reseed(5)
        return [server.execute("SRANDMEMBER", "s") for _ in range(5)]

    server.execute("SADD", "s", *range(1000))
    assert draws() == draws()
    assert server.seed == 5


# -- faults --------------------------------------------------------------------------------------------


@pytest.fixture(params=["direct", "socket"])
def client(request: pytest.FixtureRequest, server: Server) -> redis.Redis:
    """A client that does not try again by itself."""
    if request.param == "direct":
        return redis.Redis(connection_pool=server.connection_pool(retry=None, protocol=2))
    return redis.Redis(port=server.port, retry=None, protocol=2)


def test_an_error_on_demand_comes_as_often_as_was_said(server: Server, client: redis.Redis) -> None:
    fault = server.faults.error("READONLY", times=1)
    assert client.get("key") is None
    with pytest.raises(redis.ReadOnlyError):
        client.set("key", "value")
    assert client.set("key", "value") is True
    assert (fault.hits, fault.matched) == (1, 1)


def test_a_fault_ends_with_its_block(server: Server, client: redis.Redis) -> None:
    with server.faults.error("ERR out of order", command="get", key="a*", name="mine") as fault:
        assert client.get("b") is None
        with pytest.raises(redis.ResponseError, match="out of order"):
            client.get("a1")
        assert [one.name for one in server.faults.all()] == ["mine"]
        assert repr(fault) == "<Fault mine: ERROR ERR out of order, 1 hits>"
    assert server.faults.all() == []
    assert client.get("a1") is None


def test_a_connection_is_dropped_after_its_command_has_run(server: Server, client: redis.Redis) -> None:
    client.ping()
    with server.faults.drop(after=True, command="set"), pytest.raises(redis.ConnectionError):
        client.set("key", "value")
    assert client.get("key") == b"value"


def test_a_delay_goes_by_the_server_s_clock(client: redis.Redis, server: Server) -> None:
    server.clock.freeze()
    client.ping()
    server.faults.delay(seconds=100, command="get", times=1)
    replies: list[object] = []
    thread = threading.Thread(target=lambda: replies.append(client.get("key")))
    thread.start()
    while not server.faults.all()[0].hits:
        pass
    assert replies == []
    server.clock.advance(seconds=100)
    thread.join(10)
    assert replies == [None]


def test_what_hangs_goes_on_when_the_fault_is_removed(client: redis.Redis, server: Server) -> None:
    client.ping()
    fault = server.faults.hang(command="eval")
    replies: list[object] = []
    thread = threading.Thread(target=lambda: replies.append(client.eval("return 7", 0)))
    thread.start()
    while not fault.hits:
        pass
    fault.remove()
    thread.join(10)
    assert replies == [7]


def test_new_connections_are_refused_and_execute_is_not(client: redis.Redis, server: Server) -> None:
    server.faults.refuse_connections(times=1)
    assert server.execute("PING") == b"PONG"
    with pytest.raises(redis.ConnectionError):
        client.ping()
    assert client.ping() is True


def test_one_connection_too_many_is_an_error_for_direct_ones_too(server: Server) -> None:
    server.execute("CONFIG", "SET", "maxclients", 1)
    with pytest.raises(redis.ConnectionError, match="max number of clients"):
        redis.Redis(connection_pool=server.connection_pool(retry=None)).ping()


def test_a_fault_that_makes_no_sense_is_refused(server: Server) -> None:
    with pytest.raises(ValueError, match="no error that Redouble knows: write a text, or one of"):
        server.faults.error("READONLI")
    with pytest.raises(ValueError, match="no command fits 'gett'"):
        server.faults.error("LOADING", command="gett")
    with pytest.raises(ValueError, match="DELAY takes 1 to"):
        server.faults.delay(ms=0)
    server.faults.hang(name="one")
    with pytest.raises(ValueError, match="there is a fault 'one' already"):
        server.faults.hang(name="one")
    server.faults.clear()
    assert server.faults.all() == []


# -- trace and lint ---------------------------------------------------------------------------------------


def test_a_trace_tells_what_a_script_did(server: Server) -> None:
    with server.trace.start(scripts=True) as trace:
        server.execute("EVAL", "redis.call('INCR', KEYS[1]) return redis.call('GET', KEYS[1])", 1, "n")
    server.execute("GET", "n")
    entry = trace.entries()[0]
    assert [inner.argv for inner in entry.commands] == [[b"INCR", b"n"], [b"GET", b"n"]]
    assert (trace.count("incr"), trace.count("g*", key="n"), trace.count("set")) == (1, 1, 0)
    assert len(trace.entries()) == 1
    with pytest.raises(ValueError, match="holds at least one command"):
        server.trace.start(most=0)


def test_lint_finds_a_key_that_a_script_did_not_declare(server: Server) -> None:
    with server.lint.enable("undeclared-script-key", "no-ttl:session:*") as lint:
        server.execute("EVAL", "return redis.call('GET', 'hidden')", 0)
        server.execute("SET", "session:1", "x")
        server.execute("KEYS", "*")
    assert [(finding.rule, finding.count) for finding in lint.findings()] == [
        (b"undeclared-script-key", 1), (b"no-ttl", 1),
    ]  # fmt: skip
    assert [line for line in server.story() if line.startswith("lint: undeclared-script-key: ")]
    with pytest.raises(ValueError, match="There is no rule 'cross-slots'"):
        server.lint.enable("cross-slots")


def test_reset_ends_faults_traces_and_lint(server: Server) -> None:
    server.faults.hang()
    server.trace.start()
    server.lint.enable()
    server.reset()
    assert server.faults.all() == []
    assert server.execute("KEYS", "*") == []
    assert server.trace.entries() == []
    assert server.lint.findings() == []


def test_a_script_that_waited_behind_a_blocking_command_runs_in_any_thread(server: Server) -> None:
    waiting = redis.Redis(connection_pool=server.connection_pool())
    pipe = waiting.pipeline(transaction=False)
    pipe.blpop(["list"], timeout=10)
    pipe.eval("return redis.call('INCR', 'n')", 0)
    replies: list[object] = []
    thread = threading.Thread(target=lambda: replies.extend(pipe.execute()))
    server.execute("EVAL", "return 1", 0)
    thread.start()
    while b"blocked_clients:1" not in server.execute("INFO", "clients"):
        pass
    server.execute("RPUSH", "list", "x")
    thread.join(10)
    assert replies == [(b"list", b"x"), 1]
    assert server.execute("EVAL", "return 2", 0) == 2
