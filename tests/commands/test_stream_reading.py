"""XREAD and XREADGROUP, and waiting in them."""

import re

import pytest

from tests.commands.keyevents import Listener
from tests.kit import EngineTarget, Failure, Redis, Status

INVALID = Failure("ERR Invalid stream ID specified as stream command argument")
WRONGTYPE = Failure("WRONGTYPE Operation against a key holding the wrong kind of value")


def entry(id: str, field: str = "f", value: str = "v") -> list[object]:
    return [id.encode(), [field.encode(), value.encode()]]


def read(*streams: object) -> list[object]:
    """What a read answers, with keys and entries by turns."""
    return [[streams[at], streams[at + 1]] for at in range(0, len(streams), 2)]


def flat(reply: list[object]) -> list[object]:
    """RESP3 sends a map, which comes flattened: nest it as RESP2 does."""
    if reply and not isinstance(reply[0], list):
        return [[reply[at], reply[at + 1]] for at in range(0, len(reply), 2)]
    return reply


def no_group(key: str, group: str) -> Failure:
    return Failure(f"NOGROUP No such key '{key}' or consumer group '{group}' in XREADGROUP with GROUP option")


# -- XREAD --------------------------------------------------------------------------------------


def test_xread_gives_what_comes_after_the_ids(redis: Redis) -> None:
    for id in ("1-0", "2-0", "3-0"):
        redis("XADD", "s", id, "f", "v")
    redis("XADD", "t", "5-5", "f", "v")
    reply = redis("XREAD", "COUNT", 1, "STREAMS", "s", "nothing", "t", "1-0", "0", "5")
    assert flat(reply) == read(b"s", [entry("2-0")], b"t", [entry("5-5")])
    assert flat(redis("XREAD", "STREAMS", "s", "t", "2", "5-5")) == read(b"s", [entry("3-0")])


def test_nothing_to_read_is_a_null_array(redis: Redis) -> None:
    redis("XADD", "s", "1-0", "f", "v")
    nothing = b"_\r\n" if redis.resp == 3 else b"*-1\r\n"
    assert redis.raw("XREAD", "STREAMS", "s", "$") == nothing
    assert redis.raw("XREAD", "COUNT", "-3", "STREAMS", "s", "1-0") == nothing
    assert redis.raw("XREAD", "STREAMS", "s", "18446744073709551615-18446744073709551615") == nothing


def test_the_shape_is_a_map_in_resp3(redis: Redis) -> None:
    redis("XADD", "s", "1-0", "f", "v")
    head = b"%1\r\n" if redis.resp == 3 else b"*1\r\n*2\r\n"
    body = b"$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n"
    assert redis.raw("XREAD", "STREAMS", "s", "0") == head + body


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["XREAD", "COUNT", "x", "STREAMS", "s", "0"], "ERR value is not an integer or out of range"),
        (["XREAD", "BLOCK", "-1", "STREAMS", "s", "0"], "ERR timeout is negative"),
        (["XREAD", "BLOCK", "x", "STREAMS", "s", "0"], "ERR timeout is not an integer or out of range"),
        (["XREAD", "COUNT", "1", "BLOCK", "0"], "ERR syntax error"),
        (["XREAD", "COUNT", "1", "STREAMS"], "ERR syntax error"),
        (["XREAD", "FOO", "STREAMS", "s", "0"], "ERR syntax error"),
        (
            ["XREAD", "GROUP", "g", "c", "STREAMS", "s", "0"],
            "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.",
        ),
        (
            ["XREAD", "NOACK", "STREAMS", "s", "0"],
            "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.",
        ),
        (
            ["XREAD", "STREAMS", "s", ">"],
            "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.",
        ),
        (["XREAD", "STREAMS", "s", "k", "x", "0"], INVALID),
        (["XREAD", "STREAMS", "k", "s", "x", "x"], WRONGTYPE),
        (["XREADGROUP", "COUNT", "1", "BLOCK", "0", "STREAMS", "s", ">"], "ERR Missing GROUP option for XREADGROUP"),
        (["XREADGROUP", "GROUP", "g", "c", "STREAMS", "k", ">"], WRONGTYPE),
        (["XREADGROUP", "GROUP", "g", "c", "STREAMS", "none", "x"], no_group("none", "g")),
        (["XREADGROUP", "GROUP", "h", "c", "STREAMS", "s", "x"], no_group("s", "h")),
        (["XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", "x"], INVALID),
        (
            ["XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", "$"],
            "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer "
            "by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty "
            "result set.",
        ),
    ],
)
def test_bad_arguments(redis: Redis, args: list[str], error: str | Failure) -> None:
    redis("SET", "k", "v")
    redis("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    assert redis(*args) == (Failure(error) if isinstance(error, str) else error)


@pytest.mark.since("7.2.0")
def test_keys_and_ids_must_be_as_many(redis: Redis) -> None:
    assert redis("XREAD", "STREAMS", "a", "b", "0") == Failure(
        "ERR Unbalanced 'xread' list of streams: for each stream key an ID or '$' must be specified."
    )
    assert redis("XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", "a", "b", ">") == Failure(
        "ERR Unbalanced 'xreadgroup' list of streams: for each stream key an ID or '>' must be specified."
    )


@pytest.mark.since("7.4.0")
def test_a_plus_is_the_last_entry(redis: Redis) -> None:
    assert redis("XREAD", "STREAMS", "s", "+") is None
    redis("XADD", "s", "1-0", "f", "v")
    redis("XADD", "s", "2-0", "f", "v")
    assert flat(redis("XREAD", "STREAMS", "s", "+")) == read(b"s", [entry("2-0")])
    redis("XGROUP", "CREATE", "t", "g", "$", "MKSTREAM")
    assert redis("XREAD", "STREAMS", "t", "+") == Failure("ERR the stream last element ID is 0-0")


# -- waiting in XREAD ---------------------------------------------------------------------------


def test_a_dollar_means_the_end_as_it_was_when_the_wait_began(redis: Redis) -> None:
    redis("XADD", "s", "1-0", "f", "v")
    other = redis.another()
    other.send("XREAD", "BLOCK", 0, "STREAMS", "s", "none", "$", "$")
    redis.wait_blocked(1)
    redis("XDEL", "s", "1-0")
    redis("MULTI")
    redis("XADD", "s", "2-0", "f", "v")
    redis("XADD", "s", "3-0", "f", "v")
    redis("EXEC")
    assert flat(other.receive()) == read(b"s", [entry("2-0"), entry("3-0")])


def test_a_script_wakes_a_reader(redis: Redis) -> None:
    other = redis.another()
    other.send("XREAD", "COUNT", 1, "BLOCK", 0, "STREAMS", "s", "0")
    redis.wait_blocked(1)
    redis("EVAL", "redis.call('xadd', KEYS[1], '1-0', 'f', 'v') redis.call('xadd', KEYS[1], '2-0', 'f', 'v')", 1, "s")
    assert flat(other.receive()) == read(b"s", [entry("1-0")])


@pytest.mark.since("7.2.0")
def test_an_entry_that_has_gone_by_the_end_of_a_transaction_wakes_nobody(redis: Redis) -> None:
    other = redis.another()
    other.send("XREAD", "BLOCK", 0, "STREAMS", "s", "0")
    redis.wait_blocked(1)
    redis("MULTI")
    redis("XADD", "s", "1-0", "f", "v")
    redis("XDEL", "s", "1-0")
    redis("EXEC")
    redis("XADD", "s", "MAXLEN", "0", "2-0", "f", "v")
    redis("XGROUP", "CREATE", "s", "g", "0")
    assert other.silent()
    redis("XADD", "s", "3-0", "f", "v")
    assert flat(other.receive()) == read(b"s", [entry("3-0")])


def test_a_new_stream_wakes_only_those_whose_id_it_passes(redis: Redis) -> None:
    first, second = redis.another(), redis.another()
    first.send("XREAD", "BLOCK", 0, "STREAMS", "s", "5-0")
    redis.wait_blocked(1)
    second.send("XREAD", "BLOCK", 0, "STREAMS", "s", "0")
    redis.wait_blocked(2)
    redis("XADD", "s", "5-0", "f", "v")
    assert flat(second.receive()) == read(b"s", [entry("5-0")])
    assert first.silent()
    redis("XADD", "s", "5-1", "f", "v")
    assert flat(first.receive()) == read(b"s", [entry("5-1")])


def test_another_type_does_not_wake_a_reader(redis: Redis) -> None:
    redis("XADD", "s", "1-0", "f", "v")
    other = redis.another()
    other.send("XREAD", "BLOCK", 0, "STREAMS", "s", "t", "$", "0")
    redis.wait_blocked(1)
    redis("SET", "t", "v")
    redis("LPUSH", "u", "v")
    redis("RENAME", "u", "t")
    redis("DEL", "t")
    assert other.silent()
    redis("RENAME", "s", "t")
    assert flat(other.receive()) == read(b"t", [entry("1-0")])


def _misses(redis: Redis) -> int:
    found = re.search(rb"keyspace_misses:(\d+)", redis("INFO", "stats"))
    assert found is not None
    return int(found[1])


QUIET = [
    ["EXPIRE", "s", "100"],
    ["PERSIST", "s"],
    ["XGROUP", "CREATE", "s", "g", "$"],
    ["XGROUP", "SETID", "s", "g", "0"],
    ["XGROUP", "CREATECONSUMER", "s", "g", "c"],
    ["XACK", "s", "g", "1-0"],
    ["XDEL", "s", "1-0"],
    ["XTRIM", "s", "MAXLEN", "0"],
    ["XSETID", "s", "9-0"],
    ["DEL", "s"],
]


def test_a_reader_looks_its_keys_up_again_only_for_a_new_stream_or_entry(redis: Redis) -> None:
    redis("XADD", "s", "1-0", "f", "v")
    redis("XADD", "s", "2-0", "f", "v")
    other = redis.another()
    other.send("XREAD", "BLOCK", 0, "STREAMS", "s", "none", "9-0", "$")
    redis.wait_blocked(1)
    before = _misses(redis)
    for command in QUIET:
        assert not isinstance(redis(*command), Failure)
    assert _misses(redis) == before
    redis("XADD", "s", "9-1", "f", "v")
    assert flat(other.receive()) == read(b"s", [entry("9-1")])


@pytest.mark.since("7.2.0")
def test_a_stream_that_is_woken_twice_by_one_command_is_read_once(redis: Redis) -> None:
    other = redis.another()
    other.send("XREAD", "BLOCK", 0, "STREAMS", "s", "none", "9-0", "0")
    redis.wait_blocked(1)
    before = _misses(redis)
    redis("EVAL", "for id = 1, 5 do redis.call('xadd', KEYS[1], id .. '-0', 'f', 'v') end", 1, "s")
    assert _misses(redis) == before + 2
    assert other.silent()


@pytest.mark.since("7.2.0")
def test_a_woken_reader_runs_its_whole_request_again(redis: Redis) -> None:
    other = redis.another()
    other.send("XREAD", "BLOCK", 0, "STREAMS", "s", "t", "0", "0")
    redis.wait_blocked(1)
    redis("SET", "t", "v")
    assert other.silent()
    redis("XADD", "s", "1-0", "f", "v")
    assert other.receive() == WRONGTYPE


def test_a_wait_ends_with_a_null_array(redis: Redis) -> None:
    nothing = b"_\r\n" if redis.resp == 3 else b"*-1\r\n"
    redis("MULTI")
    redis("XREAD", "BLOCK", 0, "STREAMS", "s", "$")
    assert redis.raw("EXEC") == b"*1\r\n" + nothing
    other = redis.another()
    other.send("XREAD", "BLOCK", 20, "STREAMS", "s", "$")
    redis.wait_blocked(1)
    redis.pass_time(21)
    assert other.receive() is None


@pytest.mark.since("7.2.0")
def test_a_script_may_ask_to_wait_and_does_not(redis: Redis) -> None:
    assert redis("EVAL", "return redis.call('xread', 'BLOCK', '0', 'STREAMS', 's', '$') == false", 0) == 1


# -- XREADGROUP ---------------------------------------------------------------------------------


def test_a_group_gives_each_entry_once_and_shows_what_is_pending(redis: Redis) -> None:
    for id in ("1-0", "2-0", "3-0"):
        redis("XADD", "s", id, "f", "v")
    redis("XGROUP", "CREATE", "s", "g", "0")
    group = ["XREADGROUP", "GROUP", "g"]
    assert flat(redis(*group, "a", "COUNT", 2, "STREAMS", "s", ">")) == read(b"s", [entry("1-0"), entry("2-0")])
    assert flat(redis(*group, "b", "COUNT", 2, "STREAMS", "s", ">")) == read(b"s", [entry("3-0")])
    assert redis(*group, "b", "STREAMS", "s", ">") is None
    assert flat(redis(*group, "b", "STREAMS", "s", "0")) == read(b"s", [entry("3-0")])
    assert flat(redis(*group, "b", "STREAMS", "s", "3-0")) == read(b"s", [])
    assert flat(redis(*group, "c", "BLOCK", 0, "STREAMS", "s", "0")) == read(b"s", [])
    assert [pending[3] for pending in redis("XPENDING", "s", "g", "-", "+", 9)] == [1, 1, 2]


def test_a_pending_entry_that_was_deleted_has_no_fields(redis: Redis) -> None:
    redis("XADD", "s", "1-0", "f", "v")
    redis("XADD", "s", "2-0", "f", "v")
    redis("XGROUP", "CREATE", "s", "g", "0")
    redis("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
    redis("XDEL", "s", "1-0")
    head = b"%1\r\n" if redis.resp == 3 else b"*1\r\n*2\r\n"
    nothing = b"_\r\n" if redis.resp == 3 else b"*-1\r\n"
    body = b"$1\r\ns\r\n*2\r\n*2\r\n$3\r\n1-0\r\n" + nothing + b"*2\r\n$3\r\n2-0\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n"
    assert redis.raw("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", "0") == head + body


def test_noack_leaves_nothing_pending(redis: Redis) -> None:
    redis("XADD", "s", "1-0", "f", "v")
    redis("XGROUP", "CREATE", "s", "g", "0")
    reply = redis("XREADGROUP", "GROUP", "g", "c", "NOACK", "STREAMS", "s", ">")
    assert flat(reply) == read(b"s", [entry("1-0")])
    assert redis("XPENDING", "s", "g")[0] == 0
    assert redis("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">") is None


@pytest.mark.since("7.2.0")
def test_a_consumer_comes_into_being_with_its_first_request(redis: Redis) -> None:
    redis("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    listener = Listener(redis)
    redis("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
    redis("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
    assert listener.heard(1) == ["xgroup-createconsumer s"]
    assert listener.silent()


def test_waiting_consumers_are_served_in_turn(redis: Redis) -> None:
    redis("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    waiting = []
    for number, name in enumerate("abc"):
        other = redis.another()
        other.send("XREADGROUP", "GROUP", "g", name, "COUNT", 1, "BLOCK", 0, "STREAMS", "s", ">")
        redis.wait_blocked(number + 1)
        waiting.append(other)
    redis("MULTI")
    redis("XADD", "s", "1-0", "f", "v")
    redis("XADD", "s", "2-0", "f", "v")
    redis("EXEC")
    assert flat(waiting[0].receive()) == read(b"s", [entry("1-0")])
    assert flat(waiting[1].receive()) == read(b"s", [entry("2-0")])
    assert waiting[2].silent()
    assert [pending[1] for pending in redis("XPENDING", "s", "g", "-", "+", 9)] == [b"a", b"b"]


def _wait_in_group(redis: Redis) -> Redis:
    redis("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    other = redis.another()
    other.send("XREADGROUP", "GROUP", "g", "c", "BLOCK", 0, "STREAMS", "s", ">")
    redis.wait_blocked(1)
    return other


ENDS = [
    [["XGROUP", "DESTROY", "s", "g"]],
    [["DEL", "s"]],
    [["UNLINK", "s"]],
    [["RENAME", "s", "t"]],
    [["FLUSHDB"]],
    [["FLUSHALL"]],
    [["SWAPDB", "0", "1"]],
    [["MULTI"], ["DEL", "s"], ["XADD", "s", "1-0", "f", "v"], ["EXEC"]],
]


@pytest.mark.since("7.2.0")
@pytest.mark.parametrize("commands", ENDS, ids=lambda commands: commands[-1][0])
def test_a_group_that_goes_ends_the_wait(redis: Redis, commands: list[list[str]]) -> None:
    other = _wait_in_group(redis)
    for command in commands:
        redis(*command)
    assert other.receive() == no_group("s", "g")


@pytest.mark.since("7.2.0")
@pytest.mark.parametrize("command", [["SET", "s", "v"], ["LPUSH", "t", "v"]], ids=lambda command: command[0])
def test_another_type_ends_the_wait_in_a_group(redis: Redis, command: list[str]) -> None:
    other = _wait_in_group(redis)
    redis(*command)
    if command[0] == "LPUSH":
        redis("RENAME", "t", "s")
    assert other.receive() == WRONGTYPE


@pytest.mark.since("7.2.0")
def test_an_expired_stream_ends_the_wait(redis: Redis) -> None:
    other = _wait_in_group(redis)
    redis("PEXPIRE", "s", 10)
    redis.pass_time(20)
    redis("EXISTS", "s")
    assert other.receive() == no_group("s", "g")


def test_what_leaves_the_group_alone_does_not_end_the_wait(redis: Redis) -> None:
    other = _wait_in_group(redis)
    redis("XGROUP", "CREATE", "s", "h", "0")
    redis("XGROUP", "DESTROY", "s", "h")
    redis("EXPIRE", "s", 100)
    redis("XGROUP", "SETID", "s", "g", "0")
    redis("COPY", "s", "t")
    assert other.silent()
    redis("XADD", "s", "1-0", "f", "v")
    assert flat(other.receive()) == read(b"s", [entry("1-0")])


def _old() -> Redis:
    return Redis(EngineTarget("7.0.15"), 2)


def _old_errors(redis: Redis) -> None:
    other = _wait_in_group(redis)
    redis("XGROUP", "DESTROY", "s", "g")
    assert other.receive() == Failure("NOGROUP the consumer group this client was blocked on no longer exists")
    gone = Failure("UNBLOCKED the stream key no longer exists")
    for command in (["DEL", "s"], ["SET", "s", "v"], ["FLUSHALL"]):
        redis("DEL", "s")
        other = _wait_in_group(redis)
        redis(*command)
        assert other.receive() == gone
    assert redis("XREAD", "STREAMS", "a", "b", "0") == Failure(
        "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified."
    )
    redis("DEL", "s")
    redis("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    redis("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
    assert redis("XINFO", "CONSUMERS", "s", "g") == []


@pytest.mark.until("7.2.0")
def test_up_to_7_0_waiters_got_errors_of_their_own(redis: Redis) -> None:
    _old_errors(redis)


def test_redouble_as_7_0_gives_waiters_the_errors_of_7_0() -> None:
    redis = _old()
    _old_errors(redis)
    redis.close()


def test_a_waiter_of_7_0_gets_a_thousand_entries_of_the_stream_that_changed() -> None:
    redis = _old()
    other = redis.another()
    other.send("XREAD", "BLOCK", 0, "STREAMS", "s", "t", "0", "0")
    redis.wait_blocked(1)
    redis("MULTI")
    for number in range(1, 1200):
        redis("XADD", "t", f"{number}-0", "f", "v")
    redis("EXEC")
    ((key, entries),) = other.receive()
    assert (key, len(entries)) == (b"t", 1000)
    assert redis("EVAL", "return redis.pcall('xread', 'BLOCK', '0', 'STREAMS', 's', '$')", 0) == Failure(
        "ERR xread command is not allowed with BLOCK option from scripts"
    )
    redis.close()


def test_a_client_that_is_unblocked_gets_null_or_the_error(redis: Redis) -> None:
    other = redis.another()
    id = other("CLIENT", "ID")
    other.send("XREAD", "BLOCK", 0, "STREAMS", "s", "$")
    redis.wait_blocked(1)
    assert redis("CLIENT", "UNBLOCK", id) == 1
    assert other.receive() is None
    assert redis("XADD", "s", "1-0", "f", "v") == b"1-0"
    assert other("PING") == Status("PONG")
