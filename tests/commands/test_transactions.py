"""MULTI, EXEC, DISCARD, WATCH."""

from tests.kit import Failure, Redis, Status


def test_exec_gives_the_replies_in_order(redis: Redis) -> None:
    assert redis("MULTI") == Status("OK")
    assert redis("SET", "a", "1") == Status("QUEUED")
    assert redis("INCR", "a") == Status("QUEUED")
    assert redis("EXEC") == [Status("OK"), 2]


def test_an_unknown_command_in_multi_aborts_exec(redis: Redis) -> None:
    redis("MULTI")
    redis("SET", "a", "1")
    assert redis("NOSUCH", "x") == Failure("ERR unknown command 'NOSUCH', with args beginning with: 'x' ")
    assert redis("EXEC") == Failure("EXECABORT Transaction discarded because of previous errors.")
    assert redis("GET", "a") is None


def test_a_changed_watched_key_makes_exec_answer_null(redis: Redis) -> None:
    redis("WATCH", "a")
    redis.another()("SET", "a", "2")
    redis("MULTI")
    redis("SET", "a", "3")
    assert redis("EXEC") is None
    assert redis("GET", "a") == b"2"
