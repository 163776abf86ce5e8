"""BLPOP and its kin: who is served, with what, and in which order."""

import pytest

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis, Status

WRONGTYPE = Failure("WRONGTYPE Operation against a key holding the wrong kind of value")


def test_a_list_that_has_elements_answers_at_once(redis: Redis) -> None:
    redis("RPUSH", "b", "1", "2")
    assert redis("BLPOP", "a", "b", 0) == [b"b", b"1"]
    assert redis("BRPOP", "b", "a", 0) == [b"b", b"2"]
    assert redis("EXISTS", "b") == 0


def test_a_push_wakes_who_waits(redis: Redis) -> None:
    other = redis.another()
    other.send("BRPOP", "a", "b", 0)
    redis.wait_blocked(1)
    assert redis("LPUSH", "b", "1", "2") == 2
    assert other.receive() == [b"b", b"1"]
    assert redis("LRANGE", "b", 0, -1) == [b"2"]


def test_waiters_are_served_in_the_order_of_their_coming(redis: Redis) -> None:
    waiters = [redis.another() for _ in range(3)]
    for count, waiter in enumerate(waiters):
        waiter.send("BLPOP", "k", 0)
        redis.wait_blocked(count + 1)
    assert redis("RPUSH", "k", "a", "b") == 2
    assert waiters[0].receive() == [b"k", b"a"]
    assert waiters[1].receive() == [b"k", b"b"]
    assert waiters[2].silent()


def test_a_chain_of_moves_runs_to_its_end(redis: Redis) -> None:
    first, second, third = redis.another(), redis.another(), redis.another()
    first.send("BLMOVE", "a", "b", "LEFT", "RIGHT", 0)
    redis.wait_blocked(1)
    second.send("BRPOPLPUSH", "b", "c", 0)
    redis.wait_blocked(2)
    third.send("BLPOP", "c", 0)
    redis.wait_blocked(3)
    redis("RPUSH", "a", "x")
    assert first.receive() == b"x"
    assert second.receive() == b"x"
    assert third.receive() == [b"c", b"x"]
    assert redis("EXISTS", "a", "b", "c") == 0


def test_a_move_onto_the_own_list_wakes_and_stays(redis: Redis) -> None:
    other = redis.another()
    other.send("BLMOVE", "a", "a", "LEFT", "RIGHT", 0)
    redis.wait_blocked(1)
    redis("RPUSH", "a", "x", "y")
    assert other.receive() == b"x"
    assert redis("LRANGE", "a", 0, -1) == [b"y", b"x"]


def test_a_woken_move_to_a_wrong_type_is_an_error_and_takes_nothing(redis: Redis) -> None:
    redis("SET", "s", "x")
    other = redis.another()
    other.send("BLMOVE", "a", "s", "LEFT", "LEFT", 0)
    redis.wait_blocked(1)
    redis("RPUSH", "a", "1")
    assert other.receive() == WRONGTYPE
    assert redis("LRANGE", "a", 0, -1) == [b"1"]


def test_another_type_at_the_key_wakes_nobody(redis: Redis) -> None:
    other = redis.another()
    other.send("BLPOP", "k", 0)
    redis.wait_blocked(1)
    redis("SET", "k", "text")
    redis("SADD", "set", "m")
    redis("RENAME", "set", "k")
    assert other.silent()
    redis("DEL", "k")
    redis("RPUSH", "k", "a")
    assert other.receive() == [b"k", b"a"]


def test_a_list_in_the_place_of_another_value_wakes_nobody_not_even_by_a_push(redis: Redis) -> None:
    other = redis.another()
    other.send("BLPOP", "k", 0)
    redis.wait_blocked(1)
    redis("SET", "k", "text")
    redis("RPUSH", "x", "1")
    redis("SORT", "x", "STORE", "k")
    redis("RPUSH", "k", "2")
    assert other.silent()
    assert redis("LRANGE", "k", 0, -1) == [b"1", b"2"]
    redis("RENAME", "x", "k")
    assert other.receive() == [b"k", b"1"]


@pytest.mark.since("7.2.0")
def test_a_wrong_type_before_the_list_is_an_error_when_woken(redis: Redis) -> None:
    other = redis.another()
    other.send("BLPOP", "a", "b", 0)
    redis.wait_blocked(1)
    redis("SET", "a", "text")
    assert other.silent()
    redis("RPUSH", "b", "x")
    assert other.receive() == WRONGTYPE
    assert redis("LLEN", "b") == 1


def test_a_list_that_comes_and_goes_in_one_transaction_wakes_nobody(redis: Redis) -> None:
    other = redis.another()
    other.send("BLPOP", "k", 0)
    redis.wait_blocked(1)
    redis("MULTI")
    redis("RPUSH", "k", "a")
    redis("DEL", "k")
    assert redis("EXEC") == [1, 1]
    assert other.silent()


def test_a_transaction_serves_when_it_is_done(redis: Redis) -> None:
    other = redis.another()
    other.send("BLPOP", "k", 0)
    redis.wait_blocked(1)
    redis("MULTI")
    redis("RPUSH", "k", "a")
    redis("LPUSH", "k", "b")
    redis("EXEC")
    assert other.receive() == [b"k", b"b"]


def test_no_wait_within_a_transaction(redis: Redis) -> None:
    redis("MULTI")
    redis("BLPOP", "k", 0)
    redis("BLMOVE", "k", "j", "LEFT", "LEFT", 0)
    redis("BLMPOP", 0, 1, "k", "LEFT")
    null_array = b"_\r\n" if redis.resp == 3 else b"*-1\r\n"
    null = b"_\r\n" if redis.resp == 3 else b"$-1\r\n"
    assert redis.raw("EXEC") == b"*3\r\n" + null_array + null + null_array


def test_a_time_out_answers_a_null_array(redis: Redis) -> None:
    null_array = b"_\r\n" if redis.resp == 3 else b"*-1\r\n"
    for command in ("BLPOP k 0.02", "BLMOVE k j LEFT LEFT 0.02", "BRPOPLPUSH k j 0.02"):
        other = redis.another()
        other.send(*command.split())
        redis.wait_blocked(1)
        redis.pass_time(40)
        assert other._next(2.0)[1] == null_array


def test_time_outs_are_checked_first(redis: Redis) -> None:
    redis("RPUSH", "k", "a")
    assert redis("BLPOP", "k", "x") == Failure("ERR timeout is not a float or out of range")
    assert redis("BLPOP", "k", -1) == Failure("ERR timeout is negative")
    assert redis("BLMOVE", "k", "j", "LEFT", "up", "x") == Failure("ERR syntax error")
    assert redis("BLMPOP", "x", 0, "k", "LEFT") == Failure("ERR numkeys should be greater than 0")
    assert redis("BLMPOP", "x", 1, "k", "LEFT") == Failure("ERR timeout is not a float or out of range")


def test_blmpop_takes_several_when_woken(redis: Redis) -> None:
    other = redis.another()
    other.send("BLMPOP", 0, 2, "a", "b", "RIGHT", "COUNT", 10)
    redis.wait_blocked(1)
    redis("RPUSH", "b", "1", "2", "3")
    assert other.receive() == [b"b", [b"3", b"2", b"1"]]


def test_a_served_pop_is_announced_after_the_push(redis: Redis) -> None:
    listener = Listener(redis)
    other = redis.another()
    other.send("BLMOVE", "a", "b", "RIGHT", "LEFT", 0)
    redis.wait_blocked(1)
    redis("LPUSH", "a", "x")
    assert listener.heard(4) == ["lpush a", "lpush b", "rpop a", "del a"]


def test_an_element_is_not_lost_to_a_client_that_went(redis: Redis) -> None:
    other = redis.another()
    other.send("BLPOP", "k", 0)
    redis.wait_blocked(1)
    other.close()
    redis.wait_blocked(0)
    assert redis("RPUSH", "k", "a") == 1
    assert redis("LLEN", "k") == 1


def test_unblock_can_answer_with_an_error(redis: Redis) -> None:
    other = redis.another()
    number = other("CLIENT", "ID")
    other.send("BLPOP", "k", 0)
    redis.wait_blocked(1)
    assert redis("CLIENT", "UNBLOCK", number, "ERROR") == 1
    assert other.receive() == Failure("UNBLOCKED client unblocked via CLIENT UNBLOCK")
    assert redis("CLIENT", "UNBLOCK", number) == 0
    assert other("SET", "a", "b") == Status("OK")


def test_a_key_that_expired_before_it_could_be_served_wakes_nobody(redis: Redis) -> None:
    other = redis.another()
    other.send("BLPOP", "k", 0)
    redis.wait_blocked(1)
    redis("MULTI")
    redis("RPUSH", "k", "a")
    redis("PEXPIRE", "k", 5)
    redis("DEBUG", "SLEEP", "0.02")
    assert redis("EXEC") == [1, 1, Status("OK")]
    assert other.silent()
    redis("RPUSH", "k", "b")
    assert other.receive() == [b"k", b"b"]


@pytest.mark.parametrize(
    "commands",
    [
        [["RPUSH", "other", "a"], ["RENAME", "other", "k"]],
        [["RPUSH", "other", "a"], ["COPY", "other", "k"]],
        [["RPUSH", "other", "a"], ["LMOVE", "other", "k", "LEFT", "LEFT"]],
        [["RPUSH", "other", "a"], ["SORT", "other", "BY", "nosort", "STORE", "k"]],
        [["SELECT", 1], ["RPUSH", "k", "a"], ["MOVE", "k", 0], ["SELECT", 0]],
        [["SELECT", 1], ["RPUSH", "k", "a"], ["SWAPDB", 0, 1], ["SELECT", 0], ["DEL", "k"]],
        [
            ["RPUSH", "other", "a"],
            ["EVAL", "redis.call('restore', KEYS[2], 0, redis.call('dump', KEYS[1]))", 2, "other", "k"],
        ],
        [["EVAL", "redis.call('rpush', KEYS[1], 'a') redis.call('rpush', KEYS[1], 'b')", 1, "k"]],
        [["MULTI"], ["SET", "k", 1], ["DEL", "k"], ["RPUSH", "k", "a"], ["EXEC"]],
    ],
    ids=lambda commands: str(commands[-1][0]) if len(commands) < 3 else str(commands[2][0]),
)
def test_whatever_makes_a_list_wakes_who_waits(redis: Redis, commands: list[list[str]]) -> None:
    other = redis.another()
    other.send("BLPOP", "k", 0)
    redis.wait_blocked(1)
    for command in commands:
        redis(*command)
    assert other.receive() == [b"k", b"a"]


@pytest.mark.parametrize(
    ("wait", "command"),
    [
        ("BLPOP k 0", "SORT z BY nosort STORE k"),
        ("BZPOPMIN k 0", "ZUNIONSTORE k 1 z"),
        ("BZPOPMIN k 0", "ZRANGESTORE k z 0 -1"),
        ("BZPOPMIN k 0", "GEOSEARCHSTORE k z FROMLONLAT 0 0 BYRADIUS 1 km"),
    ],
)
def test_a_result_that_takes_another_values_place_serves_nobody(redis: Redis, wait: str, command: str) -> None:
    redis("GEOADD", "z", 0, 0, "a")
    other = redis.another()
    other.send(*wait.split())
    redis.wait_blocked(1)
    redis("SET", "k", "x")
    assert redis(*command.split()) == 1
    assert other.silent()
    redis("DEL", "k")
    redis(*command.split())
    assert other.receive()[:2] == [b"k", b"a"]


def test_what_a_pipeline_brought_behind_a_wait_runs_after_it(redis: Redis) -> None:
    other = redis.another()
    other.send_bytes(b"BLPOP k 0\r\nSET after 1\r\nBLPOP k 0\r\nPING\r\n")
    redis.wait_blocked(1)
    assert redis("GET", "after") is None
    redis("RPUSH", "k", "a")
    assert [other.receive(), other.receive()] == [[b"k", b"a"], Status("OK")]
    assert other.silent()
    redis("RPUSH", "k", "b")
    assert [other.receive(), other.receive()] == [[b"k", b"b"], Status("PONG")]


def test_what_a_pipeline_brought_behind_a_wait_never_runs_for_a_client_that_went(redis: Redis) -> None:
    other = redis.another()
    other.send_bytes(b"BLPOP k 0\r\nSET after 1\r\n")
    redis.wait_blocked(1)
    other.close()
    redis.wait_blocked(0)
    assert redis("RPUSH", "k", "a") == 1
    assert redis("GET", "after") is None
