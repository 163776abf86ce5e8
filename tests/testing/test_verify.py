"""`redouble verify` with the real redis-server as the other side."""

from __future__ import annotations

import asyncio
import re
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis

from tests.clients.test_bullmq_python import _prioritized
from tests.kit import RealTarget
from tests.testing.kit import Tool, run


@pytest.fixture
def real(real_server: RealTarget | None) -> RealTarget:
    if real_server is None:
        pytest.skip("redis-server is not installed")
    real_server.empty()
    return real_server


@pytest.fixture
def verify(real: RealTarget) -> Iterator[Callable[..., Tool]]:
    tools: list[Tool] = []

    def start(*options: str) -> Tool:
        tools.append(Tool("verify", "--against", f"redis://127.0.0.1:{real.port}", *options))
        return tools[-1]

    yield start
    for tool in tools:
        tool.stop()


def compared(errors: str) -> tuple[int, int, int, str]:
    """The summary: same, alike, different, and the rules that were used."""
    found = re.search(r"compared: (\d+) the same, (\d+) alike by rule(?: \((.*)\))?, (\d+) different", errors)
    assert found is not None, errors
    return int(found[1]), int(found[2]), int(found[4]), found[3] or ""


def test_a_session_of_every_kind_of_reply_shows_no_difference(verify: Callable[..., Tool]) -> None:
    tool = verify()
    for protocol in (2, 3):
        client = redis.Redis(port=tool.port, protocol=protocol, decode_responses=True)
        client.set("text", "x\r\n\x00", px=100_000)
        assert 0 < client.pttl("text") <= 100_000
        client.hset("hash", mapping={str(at): at for at in range(300)})
        assert len(client.hgetall("hash")) == 300
        client.sadd("set", *(f"member {at}" for at in range(300)))
        client.srem("set", *(f"member {at}" for at in range(0, 300, 7)))
        assert len(client.smembers("set")) == 257
        client.zadd("scores", {"a": 1.5, "b": 2})
        assert client.zrange("scores", 0, -1, withscores=True)
        client.info()
        client.config_get("*")
        client.client_list()
        client.execute_command("OBJECT", "IDLETIME", "text")
        client.time()
        client.flushall()
        client.close()
    status, errors = tool.stop()
    assert status == 0, errors
    same, alike, different, rules = compared(errors)
    assert (same > 12, alike > 5, different) == (True, True, 0)
    assert "no order" in rules and "time of day" in rules and "about the server" in rules


def test_random_choices_of_the_real_server_are_taken_over(verify: Callable[..., Tool]) -> None:
    tool = verify()
    client = redis.Redis(port=tool.port, decode_responses=True)
    client.sadd("set", *range(100))
    for _ in range(10):
        popped = client.spop("set", 5)
        assert not set(popped) & client.smembers("set")
        assert client.srandmember("set", 3)
    pipe = client.pipeline()
    pipe.spop("set", 7)
    pipe.scard("set")
    assert pipe.execute()[1] == 43
    client.smembers("set")
    status, errors = tool.stop()
    assert (status, compared(errors)[2]) == (0, 0), errors
    assert "random choice: 21" in errors


def test_ids_and_cursors_that_the_real_server_gave_lead_on(verify: Callable[..., Tool]) -> None:
    tool = verify()
    client = redis.Redis(port=tool.port, decode_responses=True)
    first = client.xadd("stream", {"a": "1"})
    pipe = client.pipeline()
    pipe.xadd("stream", {"b": "2"}, maxlen=10, approximate=True)
    second = pipe.execute()[0]
    third = client.eval("return redis.call('XADD', KEYS[1], '*', 'c', '3')", 1, "stream")
    assert [entry[0] for entry in client.xrange("stream")] == [first, second, third]
    assert client.xread({"stream": second})[0][1][0][0] == third
    client.mset({f"key{at}": at for at in range(300)})
    assert len(set(client.scan_iter(count=20))) == 301
    status, errors = tool.stop()
    assert (status, compared(errors)[2]) == (0, 0), errors
    # The last step of SCAN compares all that both have shown.
    assert "part of an iteration" in errors and "iteration with writes" not in errors


def test_a_client_that_waits_lets_others_pass(verify: Callable[..., Tool]) -> None:
    tool = verify()
    seen: list[Any] = []

    def wait() -> None:
        waiter = redis.Redis(port=tool.port, decode_responses=True)
        seen.append(waiter.blpop("list", 5))
        seen.append(waiter.blpop("list", 0.05))
        waiter.close()

    thread = threading.Thread(target=wait)
    thread.start()
    client = redis.Redis(port=tool.port)
    while not client.info("clients")["blocked_clients"]:
        pass
    client.rpush("list", "value")
    thread.join(10)
    assert seen == [("list", "value"), None]
    status, errors = tool.stop()
    assert (status, compared(errors)[2]) == (0, 0), errors


def test_a_script_that_only_the_real_server_still_knows_is_loaded_again(
    real: RealTarget, verify: Callable[..., Tool]
) -> None:
    source = "return redis.call('INCR', KEYS[1])"
    redis.Redis(port=real.port).script_load(source)
    tool = verify()
    client = redis.Redis(port=tool.port)
    script = client.register_script(source)
    assert client.script_exists(script.sha) == [False]
    assert [script(keys=["a"]), script(keys=["a"])] == [1, 2]
    with pytest.raises(redis.exceptions.NoScriptError):
        client.evalsha("0" * 40, 0)
    status, errors = tool.stop()
    assert (status, compared(errors)[2]) == (0, 0), errors
    assert "script to be loaded again: 2" in errors


def test_published_messages_are_compared(verify: Callable[..., Tool]) -> None:
    tool = verify()
    client = redis.Redis(port=tool.port, decode_responses=True)
    listener = client.pubsub()
    listener.subscribe("a", "b")
    listener.psubscribe("*")
    for _ in range(3):
        assert listener.get_message(timeout=2)["type"].endswith("subscribe")
    client.publish("a", "hello")
    assert {listener.get_message(timeout=2)["type"] for _ in range(2)} == {"message", "pmessage"}
    listener.close()
    client.close()
    status, errors = tool.stop()
    assert (status, compared(errors)[2]) == (0, 0), errors


def test_a_difference_is_told_with_the_commands_that_led_there(verify: Callable[..., Tool]) -> None:
    tool = verify("--redis-version", "7.4")
    client, other = redis.Redis(port=tool.port, db=1), redis.Redis(port=tool.port, db=1)
    client.hset("hash", "field", "a value")
    client.set("elsewhere", 1)
    other.hset("hash", "two", "\x00")
    with pytest.raises(redis.ResponseError, match="unknown command 'HEXPIRE'"):
        client.hexpire("hash", 100, "field")
    client.close()
    other.close()
    status, errors = tool.stop()
    assert status == 1
    text = errors[errors.index("HSET hash field") :]
    assert text.splitlines()[:3] == [
        'HSET hash field "a value"', 'HSET hash two "\\x00"', "HEXPIRE hash 100 FIELDS 1 field",
    ]  # fmt: skip
    assert "SELECT 1\nHSET" in errors and "elsewhere" not in errors
    assert "  redouble: [1]" in text and "  real:     error \"ERR unknown command 'HEXPIRE'" in text


def test_a_difference_within_a_transaction_is_found(verify: Callable[..., Tool]) -> None:
    tool = verify("--zset-max-listpack-entries", "0")
    client = redis.Redis(port=tool.port)
    pipe = client.pipeline()
    pipe.zadd("scores", {"a": 1})
    pipe.object("ENCODING", "scores")
    assert pipe.execute() == [1, b"listpack"]
    status, errors = tool.stop()
    assert status == 1
    assert "reply 2 of the transaction, to OBJECT" in errors
    assert '  real:     [1, "listpack"]\n  redouble: [1, "skiplist"]' in errors


def test_keys_that_only_the_real_server_had_make_differences(real: RealTarget, verify: Callable[..., Tool]) -> None:
    redis.Redis(port=real.port).set("old", "1")
    tool = verify()
    client = redis.Redis(port=tool.port)
    client.get("old")
    client.randomkey()
    client.srandmember("nothing")
    status, errors = tool.stop()
    assert (status, compared(errors)[2]) == (1, 2), errors
    assert "holds 1 keys already" in errors


@pytest.mark.parametrize(("code", "expected"), [("pass", 0), ("exit(7)", 7), ("r.execute_command('LOLWUT5')", 1)])
def test_a_command_finds_the_proxy_and_its_exit_status_is_passed_on(real: RealTarget, code: str, expected: int) -> None:
    program = f"import os, redis; r = redis.Redis.from_url(os.environ['REDIS_URL']); r.set('a', 1); {code}"
    status, _, errors = run(
        "verify", "--against", f"redis://127.0.0.1:{real.port}", "--", sys.executable, "-c", program
    )
    assert status == expected, errors
    assert compared(errors)[2] == 0


def test_commands_that_would_end_the_real_server_are_refused(real: RealTarget, verify: Callable[..., Tool]) -> None:
    client = redis.Redis(port=verify().port)
    with pytest.raises(redis.ResponseError, match="SHUTDOWN can't go through a proxy"):
        client.execute_command("SHUTDOWN")
    assert redis.Redis(port=real.port).ping()


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ([], "needs --against URL"),
        (["--against", "http://x"], "must begin with redis://"),
        (["--against", "redis://127.0.0.1:1"], "redis://127.0.0.1:1:"),
        (["--against"], "--against needs a value"),
        (["--against", "redis://127.0.0.1:1", "--"], "a command must follow"),
    ],
)
def test_what_can_t_be_done_is_said_with_status_2(args: list[str], text: str) -> None:
    status, _, errors = run("verify", *args)
    assert status == 2
    assert text in errors and "Traceback" not in errors


@pytest.mark.parametrize("tool", ["verify", "record", "replay"])
def test_help_says_how_it_is_used(tool: str) -> None:
    status, shown, errors = run(tool, "--help")
    assert (status, errors) == (0, "")
    assert shown.startswith(f"Usage: redouble {tool} ") and "Exit status" in shown


def test_a_bullmq_queue_with_priorities_shows_no_difference(verify: Callable[..., Tool]) -> None:
    tool = verify()
    order, _ = asyncio.run(_prioritized(tool.url))
    assert order == ["z1", "y1", "a1", "b", "c"]
    status, errors = tool.stop()
    assert (status, compared(errors)[2]) == (0, 0), errors
