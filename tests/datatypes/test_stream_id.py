"""The text of stream IDs, with redis-server as the oracle of what is accepted."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from redouble.datatypes.stream_id import (
    MAX_ID,
    MAX_PART,
    format_id,
    make_id,
    parse_any_id,
    parse_id,
    parse_interval_id,
    parse_new_id,
)

if TYPE_CHECKING:
    from tests.datatypes.conftest import RealRedis


def test_an_id_is_printed_as_two_numbers() -> None:
    assert format_id(make_id(1526919030474, 55)) == b"1526919030474-55"
    assert format_id(MAX_ID) == b"18446744073709551615-18446744073709551615"


def test_an_incomplete_id_takes_the_missing_sequence() -> None:
    assert parse_id(b"5") == make_id(5, 0)
    assert parse_id(b"5", MAX_PART) == make_id(5, MAX_PART)
    assert parse_id(b"5-7", MAX_PART) == make_id(5, 7)


def test_the_ends_of_all_ids_are_refused_where_an_id_must_be_given() -> None:
    assert parse_id(b"-") is None
    assert parse_id(b"+") is None
    assert parse_any_id(b"-") == 0
    assert parse_any_id(b"+") == MAX_ID


def test_an_open_end_must_be_a_plain_id() -> None:
    assert parse_interval_id(b"(5", MAX_PART) == (make_id(5, MAX_PART), True)
    assert parse_interval_id(b"5-1", 0) == (make_id(5, 1), False)
    assert parse_interval_id(b"+", 0) == (MAX_ID, False)
    assert parse_interval_id(b"(+", 0) is None
    assert parse_interval_id(b"(", 0) is None


def test_the_id_of_a_new_entry_may_leave_its_sequence_open() -> None:
    assert parse_new_id(b"5-*") == (make_id(5, 0), False)
    assert parse_new_id(b"5") == (make_id(5, 0), True)
    assert parse_new_id(b"5-6") == (make_id(5, 6), True)
    assert parse_new_id(b"5-*x") is None
    assert parse_new_id(b"5-6-*") is None


PIECES = [b"0", b"1", b"7", b"18446744073709551615", b"18446744073709551616", b"9223372036854775808"]
PIECES += [b"-", b"-", b"+", b"*", b" ", b"\t", b"\0", b"x", b"(", b"1" * 60]
odd_ids = st.lists(st.sampled_from(PIECES), max_size=5).map(b"".join)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(odd_ids, min_size=1, max_size=20))
def test_the_real_server_reads_every_text_alike(real_redis: "RealRedis", texts: list[bytes]) -> None:
    for text in texts:
        real_redis.ask_all([("DEL", "s"), ("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")])
        if text == b"$":
            continue
        reply = real_redis.ask("XGROUP", "SETID", "s", "g", text)
        group = real_redis.ask("XINFO", "GROUPS", "s")[0]
        read = group[group.index(b"last-delivered-id") + 1]
        ours = parse_any_id(text)
        assert (reply == b"OK") == (ours is not None), text
        assert read == format_id(ours or 0), text


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(odd_ids, min_size=1, max_size=20))
def test_the_real_server_takes_the_same_ids_for_new_entries(real_redis: "RealRedis", texts: list[bytes]) -> None:
    for text in texts:
        if text.split(b"\0")[0] == b"*":
            continue
        _, reply = real_redis.ask_all([("DEL", "s"), ("XADD", "s", text, "f", "v")])
        ours = parse_new_id(text)
        if ours is None:
            assert b"Invalid stream ID" in str(reply).encode(), text
        elif ours == (0, True):
            assert b"greater than 0-0" in str(reply).encode(), text
        else:
            id, given_sequence = ours
            assert reply == format_id(id if given_sequence or id else 1), text


@pytest.mark.parametrize("text", [b"1" * 128, b"1-" + b"0" * 126])
def test_more_than_127_bytes_are_no_id(text: bytes) -> None:
    assert parse_id(text) is None
    assert parse_id(text[:-1]) == (None if text.startswith(b"11") else make_id(1, 0))
