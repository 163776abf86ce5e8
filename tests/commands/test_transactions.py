"""MULTI, EXEC, DISCARD, WATCH: what breaks a transaction, and what does not."""

import pytest

from tests.kit import Failure, Redis, Status

QUEUED = Status("QUEUED")
OK = Status("OK")
ABORTED = Failure("EXECABORT Transaction discarded because of previous errors.")


def test_exec_gives_the_replies_in_order(redis: Redis) -> None:
    assert redis("MULTI") == OK
    assert redis("SET", "k", 1) == QUEUED
    assert redis("INCR", "k") == QUEUED
    assert redis("EXEC") == [OK, 2]
    assert redis("EXEC") == Failure("ERR EXEC without MULTI")


def test_an_unknown_command_in_multi_aborts_exec(redis: Redis) -> None:
    redis("MULTI")
    assert redis("NOSUCH") == Failure("ERR unknown command 'NOSUCH', with args beginning with: ")
    assert redis("SET", "k", 1) == QUEUED
    assert redis("EXEC") == ABORTED
    assert redis("GET", "k") is None
    assert redis("EXEC") == Failure("ERR EXEC without MULTI")


def test_a_wrong_number_of_arguments_in_multi_aborts_exec(redis: Redis) -> None:
    redis("MULTI")
    assert redis("GET") == Failure("ERR wrong number of arguments for 'get' command")
    assert redis("EXEC") == ABORTED


def test_exec_with_arguments_ends_the_transaction(redis: Redis) -> None:
    redis("MULTI")
    redis("SET", "k", 1)
    assert redis("EXEC", "now") == Failure(
        "EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command"
    )
    assert redis("EXEC") == Failure("ERR EXEC without MULTI")
    assert redis("EXISTS", "k") == 0


def test_a_command_that_fails_when_it_runs_stops_nobody(redis: Redis) -> None:
    redis("SET", "text", "a")
    redis("MULTI")
    redis("INCR", "text")
    redis("SET", "k", 1)
    assert redis("EXEC") == [Failure("ERR value is not an integer or out of range"), OK]
    assert redis("GET", "k") == b"1"


def test_multi_in_multi_is_refused_but_breaks_nothing(redis: Redis) -> None:
    redis("MULTI")
    assert redis("MULTI") == Failure("ERR MULTI calls can not be nested")
    assert redis("WATCH", "k") == Failure("ERR WATCH inside MULTI is not allowed")
    assert redis("PING") == QUEUED
    assert redis("EXEC") == [Status("PONG")]


def test_discard_forgets_queue_and_watches(redis: Redis) -> None:
    assert redis("DISCARD") == Failure("ERR DISCARD without MULTI")
    redis("WATCH", "k")
    redis("SET", "k", 1)
    redis("MULTI")
    redis("INCR", "k")
    assert redis("DISCARD") == OK
    redis("MULTI")
    redis("PING")
    assert redis("EXEC") == [Status("PONG")]
    assert redis("GET", "k") == b"1"


def test_a_changed_watched_key_makes_exec_answer_null(redis: Redis) -> None:
    other = redis.another()
    redis("WATCH", "k")
    other("SET", "k", "other")
    redis("MULTI")
    redis("SET", "k", "mine")
    assert redis.raw("EXEC") == (b"_\r\n" if redis.resp == 3 else b"*-1\r\n")
    assert redis("GET", "k") == b"other"
    redis("MULTI")
    redis("PING")
    assert redis("EXEC") == [Status("PONG")]


def test_a_queuing_error_weighs_more_than_a_changed_key(redis: Redis) -> None:
    redis("WATCH", "k")
    redis("SET", "k", 1)
    redis("MULTI")
    redis("NOSUCH")
    assert redis("EXEC") == ABORTED


def test_unwatch_forgets_a_change(redis: Redis) -> None:
    redis("WATCH", "k")
    redis("SET", "k", 1)
    assert redis("UNWATCH") == OK
    redis("MULTI")
    redis("PING")
    assert redis("EXEC") == [Status("PONG")]


def _exec_after(redis: Redis, *change: object) -> object:
    if change:
        redis.another()(*change)
    redis("MULTI")
    redis("PING")
    reply = redis("EXEC")
    return "changed" if reply is None else reply


RAN = [Status("PONG")]


def test_a_watched_key_that_expires_is_a_change(redis: Redis) -> None:
    redis("SET", "k", 1, "PX", 20)
    redis("WATCH", "k")
    redis.pass_time(30)
    assert _exec_after(redis) == "changed"


def test_a_key_that_had_expired_when_watched_may_go(redis: Redis) -> None:
    if not redis.real:
        redis("SET", "k", 1, "PX", 20)
    else:
        redis("DEBUG", "SET-ACTIVE-EXPIRE", 0)
        redis("SET", "k", 1, "PX", 20)
    redis.pass_time(30)
    redis("WATCH", "k")
    assert _exec_after(redis, "GET", "k") == RAN
    if redis.real:
        redis("DEBUG", "SET-ACTIVE-EXPIRE", 1)


def test_flushing_changes_the_keys_that_there_were(redis: Redis) -> None:
    redis("WATCH", "absent")
    assert _exec_after(redis, "FLUSHALL") == RAN
    redis("SET", "present", 1)
    redis("WATCH", "present")
    assert _exec_after(redis, "FLUSHDB") == "changed"


def test_swapping_databases_changes_the_keys_of_either(redis: Redis) -> None:
    redis("WATCH", "k")
    assert _exec_after(redis, "SWAPDB", 0, 1) == RAN
    redis("SET", "k", 1)
    redis("WATCH", "k")
    assert _exec_after(redis, "SWAPDB", 0, 1) == "changed"
    redis("WATCH", "k")
    assert _exec_after(redis, "SWAPDB", 0, 1) == "changed"


def test_a_watch_holds_for_its_database_only(redis: Redis) -> None:
    redis("WATCH", "k")
    other = redis.another()
    other("SELECT", 1)
    other("SET", "k", 1)
    assert _exec_after(redis) == RAN


def test_a_blocking_command_in_exec_answers_at_once(redis: Redis) -> None:
    redis("MULTI")
    redis("BLPOP", "empty", 0)
    redis("PING")
    assert redis("EXEC") == [None, Status("PONG")]


@pytest.mark.only("engine", "resp2", "resp3")
def test_a_user_who_lost_a_right_gets_an_error_in_exec(redis: Redis) -> None:
    admin = redis.another()
    admin("ACL", "SETUSER", "u", "on", "nopass", "~*", "+@all")
    redis("AUTH", "u", "x")
    redis("MULTI")
    redis("SET", "k", 1)
    redis("PING")
    admin("ACL", "SETUSER", "u", "-set")
    reply = redis("EXEC")
    assert reply[0].startswith(b"NOPERM ACLs rules changed between the moment")
    assert reply[1] == Status("PONG")
    assert admin("EXISTS", "k") == 0


def test_a_protocol_that_is_changed_within_exec_holds_from_there_on(redis: Redis) -> None:
    other = redis.another(3)
    for command in ("MULTI", "HGETALL none", "HELLO 2", "HGETALL none", "HELLO 3", "HGETALL none"):
        other(*command.split())
    reply = other.raw("EXEC")
    assert reply.startswith(b"*5\r\n%0\r\n*14\r\n")
    assert b"*0\r\n%7\r\n" in reply
    assert reply.endswith(b"%0\r\n")
