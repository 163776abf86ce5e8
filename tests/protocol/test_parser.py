"""Requests from bytes: both ways through the parser give the same, and errors are Redis' own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redouble.protocol.parser import RequestParser
from tests.wire import encode

BULK_MAX = 512 * 1024 * 1024
requests = st.lists(st.lists(st.binary(max_size=30), min_size=1, max_size=5), min_size=1, max_size=6)


def parse(data: bytes, *, trusted: bool = True) -> tuple[list[list[bytes]], bytes | None]:
    parser = RequestParser(BULK_MAX)
    parser.trusted = trusted
    return parser.feed(data), parser.error


@given(requests)
def test_whole_requests_come_back_as_they_were_sent(argvs: list[list[bytes]]) -> None:
    assert parse(b"".join(encode(*argv) for argv in argvs)) == (argvs, None)


@given(requests, st.data())
def test_requests_may_be_split_anywhere(argvs: list[list[bytes]], data: st.DataObject) -> None:
    stream = b"".join(encode(*argv) for argv in argvs)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=5)))
    parser = RequestParser(BULK_MAX)
    found: list[list[bytes]] = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        if start < end:
            found += parser.feed(stream[start:end])
    assert (found, parser.error, parser.buffered) == (argvs, None, 0)


@given(
    st.lists(
        st.sampled_from([b"*", b"$", b"1", b"2", b"-", b"0", b"\r\n", b"a", b"+", b":", b"PING", b" "]), max_size=14
    )
)
def test_any_bytes_give_the_same_whether_they_come_at_once_or_one_by_one(pieces: list[bytes]) -> None:
    stream = b"".join(pieces)
    at_once = RequestParser(BULK_MAX)
    found = at_once.feed(stream) if stream else []
    one_by_one = RequestParser(BULK_MAX)
    singly: list[list[bytes]] = []
    for byte in stream:
        singly += one_by_one.feed(bytes([byte]))
    assert (found, at_once.error) == (singly, one_by_one.error)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"*1\r\n+PING\r\n", b"expected '$', got '+'"),
        (b"*1\r\n:1\r\n", b"expected '$', got ':'"),
        (b"*1\r\n*1\r\n$4\r\nPING\r\n", b"expected '$', got '*'"),
        (b"*1\r\n$-1\r\n", b"invalid bulk length"),
        (b"*1\r\n$03\r\nabc\r\n", b"invalid bulk length"),
        (b"*1\r\n$4294967296\r\n", b"invalid bulk length"),
        (b"*x\r\n", b"invalid multibulk length"),
        (b"*2147483648\r\n", b"invalid multibulk length"),
        (b"*" + b"1" * 70000, b"too big mbulk count string"),
        (b"*1\r\n$" + b"1" * 70000, b"too big bulk count string"),
        (b"A" * 70000, b"too big inline request"),
        (b'SET "a b\r\n', b"unbalanced quotes in request"),
    ],
)
def test_a_malformed_request_gets_redis_own_error(data: bytes, error: bytes) -> None:
    assert parse(data) == ([], b"ERR Protocol error: " + error)


def test_requests_before_an_error_still_count() -> None:
    assert parse(encode("PING") + b"*1\r\n:1\r\n") == ([[b"PING"]], b"ERR Protocol error: expected '$', got ':'")


@given(st.lists(st.integers(0, 9000), min_size=1, max_size=12), st.integers(0, 3))
def test_a_read_of_many_pieces_gives_what_was_sent(lengths: list[int], arguments: int) -> None:
    argvs = [[b"SET", b"v" * length, *[b"x"] * arguments] for length in lengths]
    assert parse(b"".join(encode(*argv) for argv in argvs)) == (argvs, None)


def test_a_cheat_is_found_wherever_it_is_in_a_long_read() -> None:
    good = encode("SET", "k", "v" * 1000)
    for place in range(12):
        stream = good * place + b"*1\r\n+PING\r\n" + good * (12 - place)
        found, error = parse(stream)
        assert found == [[b"SET", b"k", b"v" * 1000]] * place
        assert error == b"ERR Protocol error: expected '$', got '+'"


def test_a_request_that_announces_millions_waits_for_them() -> None:
    assert parse(b"*9999999\r\n") == ([], None)
    assert parse(encode("PING") + b"*9999999\r\n$1\r\na\r\n") == ([[b"PING"]], None)
    assert parse(b"*1\r\n*9999999\r\n") == ([], b"ERR Protocol error: expected '$', got '*'")


def test_empty_and_null_requests_are_skipped() -> None:
    assert parse(b"*0\r\n*-1\r\n\r\n  \r\n" + encode("PING")) == ([[b"PING"]], None)


def test_inline_words_may_be_quoted() -> None:
    data = b'set "a b" \'c d\'\r\n  get\t"\\x41\\n" \n'
    assert parse(data) == ([[b"set", b"a b", b"c d"], [b"get", b"A\n"]], None)


def test_an_inline_command_may_follow_a_request() -> None:
    assert parse(encode("GET", "a") + b"PING\r\n") == ([[b"GET", b"a"], [b"PING"]], None)


def test_who_has_not_authenticated_may_send_little() -> None:
    eleven = [b"x"] * 11
    assert parse(encode(*eleven), trusted=False)[1] == b"ERR Protocol error: unauthenticated multibulk length"
    assert parse(encode("AUTH", "x" * 16385), trusted=False)[1] == b"ERR Protocol error: unauthenticated bulk length"
    assert parse(encode("AUTH", "secret"), trusted=False) == ([[b"AUTH", b"secret"]], None)
