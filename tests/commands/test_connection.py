"""PING, SELECT, QUIT, RESET, HELLO, AUTH."""

from collections.abc import Iterator

import pytest

from tests.kit import Failure, Redis, Status

OK = Status("OK")
WRONGPASS = Failure("WRONGPASS invalid username-password pair or user is disabled.")


def _as_pairs(flat: list[object]) -> dict[object, object]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def test_ping_gives_the_message_back(redis: Redis) -> None:
    assert redis("PING") == Status("PONG")
    assert redis("PING", "hello") == b"hello"
    assert redis("PING", "a", "b") == Failure("ERR wrong number of arguments for 'ping' command")


def test_select_takes_a_database_that_exists(redis: Redis) -> None:
    assert redis("SELECT", 15) == OK
    assert redis("SELECT", 16) == Failure("ERR DB index is out of range")
    assert redis("SELECT", -1) == Failure("ERR DB index is out of range")
    assert redis("SELECT", "x") == Failure("ERR value is not an integer or out of range")
    assert redis("SELECT", 1 << 31) == Failure(
        "ERR value is out of range, value must between -2147483648 and 2147483647"
    )


def test_hello_says_what_the_server_is(redis: Redis) -> None:
    facts = _as_pairs(redis("HELLO", redis.resp))
    assert list(facts) == [b"server", b"version", b"proto", b"id", b"mode", b"role", b"modules"]
    assert facts[b"server"] == b"redis"
    assert facts[b"proto"] == redis.resp
    assert facts[b"mode"] == b"standalone"
    assert facts[b"role"] == b"master"
    assert facts[b"modules"] == []
    assert facts[b"id"] == redis("CLIENT", "ID")


def test_hello_changes_the_protocol_and_the_name(redis: Redis) -> None:
    other = redis.another(2)
    assert other.raw("HELLO", 3, "SETNAME", "me")[:4] == b"%7\r\n"
    assert other("CLIENT", "GETNAME") == b"me"
    assert other.raw("GET", "none") == b"_\r\n"
    assert other.raw("HELLO", 2)[:5] == b"*14\r\n"
    assert other.raw("GET", "none") == b"$-1\r\n"


def test_a_hello_that_fails_changes_nothing(redis: Redis) -> None:
    assert redis("HELLO", 4) == Failure("NOPROTO unsupported protocol version")
    assert redis("HELLO", "x") == Failure("ERR Protocol version is not an integer or out of range")
    assert redis("HELLO", 3, "FOO") == Failure("ERR Syntax error in HELLO option 'FOO'")
    assert redis("HELLO", 3, "SETNAME", "a b") == Failure(
        "ERR Client names cannot contain spaces, newlines or special characters."
    )
    assert redis("HELLO", 3, "AUTH", "nobody", "x") == WRONGPASS
    assert redis.raw("GET", "none") == (b"_\r\n" if redis.resp == 3 else b"$-1\r\n")


def test_auth_without_a_password_set_asks_whether_that_is_meant(redis: Redis) -> None:
    assert redis("AUTH", "x") == Failure(
        "ERR AUTH <password> called without any password configured for the default user. Are you sure your "
        "configuration is correct?"
    )
    assert redis("AUTH", "default", "anything") == OK
    assert redis("AUTH", "a", "b", "c") == Failure("ERR syntax error")


@pytest.fixture
def locked(redis: Redis) -> Iterator[Redis]:
    """A server with the password `secret`, and a connection that came before it was set."""
    assert redis("CONFIG", "SET", "requirepass", "secret") == OK
    yield redis
    assert redis("CONFIG", "SET", "requirepass", "") == OK


def test_with_a_password_nothing_else_goes_before_auth(locked: Redis) -> None:
    other = locked.another(2)
    assert other("PING") == Failure("NOAUTH Authentication required.")
    assert other("NOSUCH") == Failure("ERR unknown command 'NOSUCH', with args beginning with: ")
    assert other("HELLO", 3)[:6] == b"NOAUTH"
    assert other("AUTH", "wrong") == WRONGPASS
    assert other("AUTH", "secret") == OK
    assert other("PING") == Status("PONG")
    third = locked.another(2)
    assert third.raw("HELLO", 3, "AUTH", "default", "secret")[:1] == b"%"
    assert third("RESET") == Status("RESET")
    assert third("PING") == Failure("NOAUTH Authentication required.")


def test_who_is_not_logged_in_may_send_small_requests_only(locked: Redis) -> None:
    many = locked.another(2)
    many.send_bytes(b"*11\r\n")
    assert many.receive() == Failure("ERR Protocol error: unauthenticated multibulk length")
    assert many.closed()
    long = locked.another(2)
    long.send_bytes(b"*1\r\n$16385\r\n")
    assert long.receive() == Failure("ERR Protocol error: unauthenticated bulk length")
    assert long.closed()


def test_quit_answers_and_hangs_up(redis: Redis) -> None:
    other = redis.another()
    other.send_bytes(b"QUIT\r\nPING\r\n")
    assert other.receive() == OK
    assert other.closed()


def test_quit_works_within_a_transaction(redis: Redis) -> None:
    other = redis.another()
    other("MULTI")
    assert other("QUIT") == OK
    assert other.closed()


def test_reset_makes_a_connection_new(redis: Redis) -> None:
    other = redis.another()
    other("SELECT", 3)
    other("CLIENT", "SETNAME", "me")
    other("CLIENT", "REPLY", "ON")
    other("WATCH", "k")
    other("MULTI")
    assert other("RESET") == Status("RESET")
    assert other("EXEC") == Failure("ERR EXEC without MULTI")
    assert other("CLIENT", "GETNAME") is None
    line = other("CLIENT", "INFO")
    assert b" db=0 " in line
    assert b" resp=2" in line


def test_reset_leaves_subscriber_mode(redis: Redis) -> None:
    other = redis.another(2)
    other("SUBSCRIBE", "ch")
    assert other("RESET") == Status("RESET")
    assert other("GET", "k") is None
    assert redis("PUBLISH", "ch", "x") == 0


@pytest.mark.parametrize("count", [3_000_000_000, 99_999_999_999])
def test_a_count_beyond_reason_is_refused_at_once(redis: Redis, count: int) -> None:
    other = redis.another()
    other.send_bytes(b"*%d\r\n" % count)
    assert other.receive() == Failure("ERR Protocol error: invalid multibulk length")
    assert other.closed()


def test_a_large_count_costs_nothing_before_the_items_come(redis: Redis) -> None:
    other = redis.another()
    other.send_bytes(b"*1\r\n$4\r\nPING\r\n*100000000\r\n")
    assert other.receive() == Status("PONG")
    assert redis("PING") == Status("PONG")
