"""Faults driven by redis-py with plain commands, and what redis-py makes of them."""

from __future__ import annotations

import time
from typing import Any

import pytest
import redis
from redis.backoff import NoBackoff
from redis.exceptions import BusyLoadingError, ConnectionError, ReadOnlyError, ResponseError, TimeoutError
from redis.retry import Retry

from tests.clients.conftest import ServerProcess


class Control:
    """The connection that sets the faults."""

    def __init__(self, port: int, protocol: int) -> None:
        self.client = redis.Redis(port=port, protocol=protocol)

    def fault(self, *words: object) -> None:
        assert self.client.execute_command("REDOUBLE", "FAULT", *words) in (b"OK", "OK")

    def counts(self) -> dict[bytes, Any]:
        """What FAULT LIST says of the first rule: a map in RESP3, a flat list in RESP2."""
        rule = self.client.execute_command("REDOUBLE", "FAULT", "LIST")[0]
        return rule if isinstance(rule, dict) else dict(zip(rule[::2], rule[1::2], strict=True))


@pytest.fixture(params=[2, 3])
def control(request: pytest.FixtureRequest, server: ServerProcess) -> Control:
    return Control(server.port, request.param)


def client_of(control: Control, retries: int, **options: Any) -> redis.Redis:
    settings = control.client.connection_pool.connection_kwargs
    retry = Retry(NoBackoff(), retries)
    return redis.Redis(port=settings["port"], protocol=settings["protocol"], retry=retry, **options)


def test_readonly_is_an_error_of_its_own_and_can_be_tried_again(control: Control) -> None:
    control.fault("ADD", "failover", "TIMES", 3, "ERROR", "READONLY")
    with pytest.raises(ReadOnlyError):
        client_of(control, 0).set("a", "v")
    assert client_of(control, 2, retry_on_error=[ReadOnlyError]).set("a", "v") is True
    assert control.counts()[b"hits"] == 3
    assert control.client.get("a") == b"v"


def test_a_server_that_loads_is_asked_again(control: Control) -> None:
    control.fault("ADD", "restart", "CLIENT", "app", "TIMES", 2, "ERROR", "LOADING")
    with pytest.raises(BusyLoadingError):
        client_of(control, 0, client_name="app").get("a")
    assert client_of(control, 1, client_name="app").get("a") is None
    assert control.counts()[b"hits"] == 2


@pytest.mark.parametrize(("when", "count"), [("BEFORE", 1), ("AFTER", 2)])
def test_a_retried_increment_counts_twice_if_the_connection_was_lost_after_it(
    control: Control, when: str, count: int
) -> None:
    # redis-py sends INCRBY for incr.
    control.fault("ADD", "lost", "COMMAND", "INCR*", "TIMES", 1, "DROP", when)
    assert client_of(control, 1).incr("n") == count


def test_a_reply_that_ends_in_its_middle_is_a_lost_connection(control: Control) -> None:
    control.client.set("a", "x" * 100)
    control.fault("ADD", "torn", "COMMAND", "GET", "CUT", 50)
    with pytest.raises(ConnectionError):
        client_of(control, 0).get("a")


def test_a_server_that_hangs_is_a_time_out_and_the_command_never_runs(control: Control) -> None:
    control.fault("ADD", "stuck", "COMMAND", "SET", "HANG")
    client = client_of(control, 0, socket_timeout=0.1)
    with pytest.raises(TimeoutError):
        client.set("a", "v")
    client.close()
    end = time.monotonic() + 5
    while control.counts()[b"holding"]:
        assert time.monotonic() < end, "the server has not noticed that the client is gone"
    control.fault("CLEAR")
    assert control.client.exists("a") == 0


def test_a_server_that_is_slow_is_waited_for(control: Control) -> None:
    control.fault("ADD", "slow", "COMMAND", "SET", "DELAY", 30)
    assert client_of(control, 0, socket_timeout=5).set("a", "v") is True


@pytest.mark.parametrize("how", ["REFUSE", "RESET"])
def test_connecting_is_tried_again(control: Control, how: str) -> None:
    control.client.ping()
    control.fault("CONNECT", how, "TIMES", 2)
    with pytest.raises(ConnectionError):
        client_of(control, 0).ping()
    assert client_of(control, 1).ping() is True


def test_a_script_that_is_not_there_any_more_is_loaded_again(control: Control) -> None:
    script = control.client.register_script("return ARGV[1]")
    assert script(args=["x"]) == b"x"
    control.fault("ADD", "restarted", "TIMES", 1, "ERROR", "NOSCRIPT")
    assert script(args=["x"]) == b"x"
    assert control.counts()[b"hits"] == 1


def test_a_pipeline_fails_as_a_whole_where_a_queued_command_is_refused(control: Control) -> None:
    control.fault("ADD", "full", "COMMAND", "LPUSH", "KEY", "big*", "ERROR", "OOM")
    pipe = client_of(control, 0).pipeline()
    pipe.set("a", "v")
    pipe.lpush("big:1", "x")
    with pytest.raises(ResponseError, match="maxmemory"):
        pipe.execute()
    assert control.client.exists("a") == 0
