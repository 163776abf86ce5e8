"""REDOUBLE FAULT as clients meet it: what is hit, what is told, what bad arguments are answered."""

from __future__ import annotations

import socket
import threading

import pytest

from tests.kit import Failure, Flat, Redis, SocketPipe, Status
from tests.servers import SocketTarget
from tests.wire import encode

OK = Status("OK")
QUEUED = Status("QUEUED")
double_only = pytest.mark.only("engine", "resp2", "resp3")
socket_only = pytest.mark.only("resp2", "resp3")


def fault(redis: Redis, *words: object) -> None:
    assert redis("REDOUBLE", "FAULT", *words) == OK


def listed(redis: Redis) -> list[dict[bytes, object]]:
    return [dict(zip(rule[::2], rule[1::2], strict=True)) for rule in redis("REDOUBLE", "FAULT", "LIST")]


# -- as a real server in that state -------------------------------------------------------------------


class State:
    """A state in which a server refuses requests: a real one is brought there, ours is given the fault of its name."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis
        self.client = redis.another(2)
        self._helper = redis.another(2)

    def begin(self, name: str) -> None:
        if not self.redis.real:
            fault(self.redis, "ADD", "state", "ERROR", name)
        elif name in ("READONLY", "MASTERDOWN"):
            if name == "MASTERDOWN":
                self.redis.config("replica-serve-stale-data", "no")
            assert self.redis("REPLICAOF", "127.0.0.1", "1") == OK
        elif name == "OOM":
            self.redis.config("maxmemory", 1)
        elif name == "NOREPLICAS":
            self.redis.config("min-replicas-to-write", 1)
        elif name == "NOAUTH":
            assert self.redis("CONFIG", "SET", "requirepass", "secret") == OK
            self.client = self.redis.another(2)
        elif name == "BUSY":
            self.redis.config("busy-reply-threshold", 1)
            self._helper.send("EVAL", "while true do end", 0)
            self.redis.wait_until(lambda: isinstance(self.redis("PING"), Failure))

    def end(self, name: str) -> None:
        if not self.redis.real:
            assert self.redis("REDOUBLE", "FAULT", "REMOVE", "state") == 1
        elif name in ("READONLY", "MASTERDOWN"):
            assert self.redis("REPLICAOF", "NO", "ONE") == OK
        elif name == "NOAUTH":
            assert self.redis("CONFIG", "SET", "requirepass", "") == OK
        elif name == "BUSY":
            assert self.redis("SCRIPT", "KILL") == OK
            self._helper.receive()


_READONLY = "READONLY You can't write against a read only replica."
_BUSY = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
_MASTERDOWN = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
_OOM = "OOM command not allowed when used memory > 'maxmemory'."
_NOREPLICAS = "NOREPLICAS Not enough good replicas to write."
_NOAUTH = "NOAUTH Authentication required."
_NOSCRIPT = "NOSCRIPT No matching script. Please use EVAL."
_SHA = "0" * 40


@pytest.mark.parametrize(
    ("name", "text", "refused", "served"),
    [
        ("READONLY", _READONLY, ["SET a v", "DEL a", "FLUSHALL", "BLPOP q 1"], ["GET a", "PING", "PUBLISH c m"]),
        ("OOM", _OOM, ["SET a v", "SETRANGE a 0 v"], ["GET a", "DEL a", "PING", "INFO"]),
        ("NOREPLICAS", _NOREPLICAS, ["SET a v", "DEL a"], ["GET a", "PING", "PUBLISH c m"]),
        ("NOAUTH", _NOAUTH, ["GET a", "PING", "INFO"], ["RESET"]),
        ("MASTERDOWN", _MASTERDOWN, ["GET a", "KEYS *"], ["INFO", "SELECT 0", "PUBLISH c m", "CLIENT ID"]),
        ("BUSY", _BUSY, ["GET a", "PING", "SET a v"], ["HELLO 2", "MULTI", "DISCARD"]),
        ("NOSCRIPT", _NOSCRIPT, [f"EVALSHA {_SHA} 0"], ["PING", "GET a"]),
    ],
)
def test_a_preset_error_is_what_a_real_server_in_that_state_says(
    redis: Redis, name: str, text: str, refused: list[str], served: list[str]
) -> None:
    state = State(redis)
    state.begin(name)
    try:
        answers = {line: state.client(*line.split()) for line in refused + served}
    finally:
        state.end(name)
    assert {line: answers[line] for line in refused} == {line: Failure(text) for line in refused}
    assert [line for line in served if isinstance(answers[line], Failure)] == []


@pytest.mark.parametrize("name", ["READONLY", "NOREPLICAS", "OOM"])
def test_in_that_state_transactions_and_scripts_end_as_on_a_real_server(redis: Redis, name: str) -> None:
    text = {"READONLY": _READONLY, "NOREPLICAS": _NOREPLICAS, "OOM": _OOM}[name]
    state = State(redis)
    client = state.client
    script = "redis.call('GET', KEYS[1]) local r = redis.pcall('SET', KEYS[1], 'v') return r.err"
    assert [client("MULTI"), client("SET", "a", "v")] == [OK, QUEUED]
    state.begin(name)
    try:
        early = client("EXEC")
        late = [client("MULTI"), client("SET", "a", "v"), client("EXEC")]
        scripted = client("EVAL", script, 1, "a")
        declared = client("EVAL", "#!lua\n" + script, 1, "a")
        harmless = client("EVAL", "#!lua flags=no-writes\nreturn 1", 0)
    finally:
        state.end(name)
    assert early == Failure("EXECABORT Transaction discarded because of: " + text)
    assert late == [OK, Failure(text), Failure("EXECABORT Transaction discarded because of previous errors.")]
    assert scripted.decode().startswith(text.rstrip("."))
    assert isinstance(declared, Failure)
    assert declared.startswith(name.encode())
    assert harmless == 1
    assert redis("EXISTS", "a") == 0


# -- over the wire ------------------------------------------------------------------------------------


@double_only
def test_a_fault_is_listed_with_its_conditions_and_counts(redis: Redis) -> None:
    fault(
        redis, "ADD", "one", "COMMAND", "get", "KEY", "u:*", "CLIENT", "w*", "SKIP", 1, "TIMES", 3, "PROBABILITY",
        0.5, "ERROR", "TRYLATER", "please",
    )  # fmt: skip
    fault(redis, "add", "two", "command", "set", "delay", 20, "after")
    first, second = listed(redis)
    number: object = b"0.5"
    assert first == {
        b"id": b"one", b"command": b"get", b"key": b"u:*", b"client": b"w*", b"skip": 1, b"times": 3,
        b"probability": number, b"action": b"ERROR TRYLATER please", b"matched": 0, b"hits": 0, b"left": 3,
        b"holding": 0,
    }  # fmt: skip
    assert second == {
        b"id": b"two", b"command": b"set", b"key": None, b"client": None, b"skip": 0, b"times": None,
        b"probability": b"1", b"action": b"DELAY 20 AFTER", b"matched": 0, b"hits": 0, b"left": None,
        b"holding": 0,
    }  # fmt: skip


@double_only
def test_counts_tell_what_was_seen_and_hit(redis: Redis) -> None:
    fault(redis, "ADD", "x", "COMMAND", "get", "SKIP", 1, "TIMES", 2, "ERROR", "boom")
    assert [redis("GET", "a") for _ in range(4)] == [None, Failure("ERR boom"), Failure("ERR boom"), None]
    (rule,) = listed(redis)
    assert (rule[b"matched"], rule[b"hits"], rule[b"left"]) == (3, 2, 0)


@double_only
def test_a_listed_fault_is_a_map_in_resp3_and_flat_in_resp2(redis: Redis) -> None:
    fault(redis, "ADD", "x", "HANG")
    raw = redis.raw("REDOUBLE", "FAULT", "LIST")
    assert raw.startswith(b"*1\r\n%12\r\n" if redis.resp == 3 else b"*1\r\n*24\r\n")
    assert isinstance(redis("REDOUBLE", "FAULT", "LIST")[0], Flat) is (redis.resp == 3)


@double_only
def test_a_fault_can_be_removed_once_and_all_can_be_cleared(redis: Redis) -> None:
    fault(redis, "ADD", "x", "ERROR", "boom")
    fault(redis, "ADD", "y", "ERROR", "bang")
    assert [redis("REDOUBLE", "FAULT", "REMOVE", "x") for _ in range(2)] == [1, 0]
    assert redis("PING") == Failure("ERR bang")
    fault(redis, "CONNECT", "REFUSE")
    fault(redis, "CLEAR")
    assert redis("PING") == Status("PONG")
    assert redis("REDOUBLE", "FAULT", "LIST") == []
    assert redis("REDOUBLE", "FAULT", "CONNECT") is None


@double_only
def test_redouble_s_own_commands_are_never_hit(redis: Redis) -> None:
    fault(redis, "ADD", "x", "COMMAND", "*", "ERROR", "boom")
    assert redis("PING") == Failure("ERR boom")
    assert not isinstance(redis("REDOUBLE", "HELP"), Failure)
    fault(redis, "CLEAR")


@double_only
def test_the_wait_for_a_held_request_can_be_seen_and_ended_from_another_connection(redis: Redis) -> None:
    other = redis.another()
    fault(redis, "ADD", "x", "COMMAND", "set", "HANG")
    other.send("SET", "a", "v")
    redis.wait_until(lambda: listed(redis)[0][b"holding"] == 1)
    assert redis("EXISTS", "a") == 0
    assert redis("REDOUBLE", "FAULT", "REMOVE", "x") == 1
    assert other.receive() == OK
    assert redis("GET", "a") == b"v"


@double_only
def test_a_delay_obeys_the_server_s_clock(redis: Redis) -> None:
    other = redis.another()
    fault(redis, "ADD", "x", "COMMAND", "incr", "DELAY", 3_600_000)
    other.send("INCR", "n")
    redis.wait_until(lambda: listed(redis)[0][b"holding"] == 1)
    redis.pass_time(3_500_000)
    assert other.silent()
    redis.pass_time(100_000)
    assert other.receive() == 1


@socket_only
def test_a_delay_ends_by_itself(redis: Redis) -> None:
    fault(redis, "ADD", "x", "COMMAND", "incr", "DELAY", 20)
    assert redis("INCR", "n") == 1


@double_only
def test_a_dropped_connection_has_run_the_command_or_not_as_it_was_asked(redis: Redis) -> None:
    for when, count in (("BEFORE", 0), ("AFTER", 1)):
        fault(redis, "ADD", "x", "COMMAND", "incr", "DROP", when)
        other = redis.another()
        other.send("INCR", "n")
        assert other.closed()
        assert int(redis("GET", "n") or 0) == count
        fault(redis, "CLEAR")


@double_only
def test_a_cut_reply_ends_in_its_middle(redis: Redis) -> None:
    redis("SET", "a", "hello")
    fault(redis, "ADD", "x", "COMMAND", "get", "CUT", 6)
    other = redis.another(2)
    other.send("GET", "a")
    assert other._pipe.receive(2.0) == b"$5\r\nhe"
    assert other.closed()


@double_only
@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["ADD", "x"], "ERROR text"),
        (["ADD", "x", "COMMAND", "get"], "action is missing"),
        (["ADD", "x", "COMMAND"], "COMMAND needs a value"),
        (["ADD", "x", "FAIL"], "neither a condition"),
        (["ADD", "x", "KEY", "a", "KEY", "b", "HANG"], "given twice"),
        (["ADD", "x", "TIMES", "0", "HANG"], "leave it out"),
        (["ADD", "x", "TIMES", "two", "HANG"], "whole number"),
        (["ADD", "x", "SKIP", "-1", "HANG"], "0 or more"),
        (["ADD", "x", "PROBABILITY", "1.5", "HANG"], "0 to 1"),
        (["ADD", "x", "PROBABILITY", "often", "HANG"], "0 to 1"),
        (["ADD", "x", "COMMAND", "gett", "HANG"], "no command fits 'gett'"),
        (["ADD", "x", "HANG", "now"], "wrong arguments"),
        (["ADD", "x", "DELAY"], "wrong arguments"),
        (["ADD", "x", "DELAY", "0"], "1 to"),
        (["ADD", "x", "DELAY", "9999999999"], "1 to"),
        (["ADD", "x", "DELAY", "soon"], "whole number"),
        (["ADD", "x", "DROP", "LATER"], "BEFORE or AFTER"),
        (["ADD", "x", "CUT"], "wrong arguments"),
        (["ADD", "x", "CUT", "-1"], "0 or more"),
        (["ADD", "x", "ERROR"], "READONLY"),
        (["ADD", "x", "ERROR", "LODING"], "LOADING"),
        (["ADD", "", "HANG"], "not empty"),
        (["CONNECT", "SLOW"], "CONNECT REFUSE"),
        (["CONNECT", "DELAY"], "CONNECT REFUSE"),
        (["CONNECT", "DELAY", "0"], "1 to"),
        (["CONNECT", "REFUSE", "TIMES", "0"], "at least 1"),
        (["CONNECT", "REFUSE", "TWICE"], "TIMES"),
        (["CONNECT", "OFF", "TIMES", "1"], "after OFF"),
        (["REMOVE"], "REDOUBLE HELP"),
        (["LIST", "x"], "REDOUBLE HELP"),
        (["EXPLODE"], "REDOUBLE HELP"),
    ],
)
def test_bad_arguments_say_what_to_write_and_change_nothing(redis: Redis, words: list[str], hint: str) -> None:
    reply = redis("REDOUBLE", "FAULT", *words)
    assert isinstance(reply, Failure)
    assert reply.startswith(b"ERR ")
    assert hint.encode() in reply
    assert redis("REDOUBLE", "FAULT", "LIST") == []
    assert redis("REDOUBLE", "FAULT", "CONNECT") is None


@double_only
def test_a_name_that_is_taken_is_refused(redis: Redis) -> None:
    fault(redis, "ADD", "x", "COMMAND", "get", "ERROR", "boom")
    reply = redis("REDOUBLE", "FAULT", "ADD", "x", "HANG")
    assert isinstance(reply, Failure)
    assert b"REDOUBLE FAULT REMOVE" in reply
    assert redis("GET", "a") == Failure("ERR boom")


# -- new connections ----------------------------------------------------------------------------------


def port_of(redis: Redis) -> int:
    assert isinstance(redis.target, SocketTarget)
    return redis.target.port


@socket_only
def test_new_connections_are_refused_so_many_times_and_old_ones_live_on(redis: Redis) -> None:
    fault(redis, "CONNECT", "REFUSE", "TIMES", 2)
    for _ in range(2):
        pipe = SocketPipe(port_of(redis))
        assert pipe.receive(2.0) == b""
        pipe.close()
    assert redis.another()("PING") == Status("PONG")
    state = redis("REDOUBLE", "FAULT", "CONNECT")
    assert state == [b"action", b"REFUSE", b"times", 2, b"hits", 2, b"left", 0]
    assert redis("REDOUBLE", "FAULT", "LIST") == []


@socket_only
def test_a_new_connection_can_be_reset(redis: Redis) -> None:
    fault(redis, "CONNECT", "RESET", "TIMES", 1)
    # It may come so early that already the connecting fails.
    with pytest.raises(ConnectionResetError), socket.create_connection(("127.0.0.1", port_of(redis)), 5) as raw:
        raw.recv(1)
    assert redis.another()("PING") == Status("PONG")


@socket_only
def test_a_new_connection_can_be_answered_late_and_turning_that_off_lets_it_go_on(redis: Redis) -> None:
    fault(redis, "CONNECT", "DELAY", 3_600_000)
    pipe = SocketPipe(port_of(redis))
    pipe.send(encode("SET", "a", "v") + encode("PING"))
    with pytest.raises(TimeoutError):
        pipe.receive(0.05)
    assert redis("EXISTS", "a") == 0
    fault(redis, "CONNECT", "OFF")
    data = b""
    while len(data) < len(b"+OK\r\n+PONG\r\n"):
        data += pipe.receive(2.0)
    assert data == b"+OK\r\n+PONG\r\n"
    pipe.close()
    assert redis.another()("PING") == Status("PONG")


@socket_only
def test_a_late_answer_comes_by_itself(redis: Redis) -> None:
    fault(redis, "CONNECT", "DELAY", 20, "TIMES", 1)
    assert redis.another()("PING") == Status("PONG")


@socket_only
def test_those_who_hang_up_while_they_are_held_are_forgotten(redis: Redis) -> None:
    fault(redis, "ADD", "x", "COMMAND", "set", "HANG")
    other = redis.another()
    other.send("SET", "a", "v")
    redis.wait_until(lambda: listed(redis)[0][b"holding"] == 1)
    other.close()
    redis.wait_until(lambda: listed(redis)[0][b"holding"] == 0)
    fault(redis, "CLEAR")
    assert redis("EXISTS", "a") == 0


@socket_only
def test_many_clients_at_once_share_the_count_of_a_rule(redis: Redis) -> None:
    fault(redis, "ADD", "x", "COMMAND", "incr", "TIMES", 10, "ERROR", "boom")
    failures = []

    def work(client: Redis) -> None:
        failures.extend([1 for _ in range(20) if isinstance(client("INCR", "n"), Failure)])

    threads = [threading.Thread(target=work, args=[redis.another()]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(failures) == 10
    assert redis("GET", "n") == b"70"
