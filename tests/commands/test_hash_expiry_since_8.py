"""HGETEX, HSETEX, HGETDEL, which came with Redis 8.0: no oracle of that version is at hand.

What is expected follows the pages of these commands and, for the errors, the server's published source.
"""

from collections.abc import Iterator

import pytest

from tests.commands.keyevents import Listener
from tests.kit import EngineTarget, Failure, Redis


@pytest.fixture
def redis8() -> Iterator[Redis]:
    target = EngineTarget("8.0.0")
    client = Redis(target, 2)
    yield client
    client.close()
    target.stop()


def test_hsetex_sets_fields_and_deadline_together(redis8: Redis) -> None:
    listener = Listener(redis8)
    assert redis8("HSETEX", "h", "EX", 100, "FIELDS", 2, "a", "1", "b", "2") == 1
    assert redis8("HTTL", "h", "FIELDS", 2, "a", "b") == [100, 100]
    assert redis8("HSETEX", "h", "KEEPTTL", "FIELDS", 1, "a", "3") == 1
    assert redis8("HSETEX", "h", "FIELDS", 1, "b", "4") == 1
    assert redis8("HTTL", "h", "FIELDS", 2, "a", "b") == [100, -1]
    assert listener.heard(4) == ["hset h", "hexpire h", "hset h", "hset h"]


def test_hsetex_may_depend_on_all_fields_or_none(redis8: Redis) -> None:
    assert redis8("HSETEX", "h", "FXX", "FIELDS", 1, "a", "1") == 0
    assert redis8("HSETEX", "h", "FNX", "FIELDS", 1, "a", "1") == 1
    assert redis8("HSETEX", "h", "FNX", "FIELDS", 2, "a", "2", "b", "2") == 0
    assert redis8("HSETEX", "h", "FXX", "FIELDS", 2, "a", "2", "b", "2") == 0
    assert redis8("HGETALL", "h") == [b"a", b"1"]


def test_hsetex_in_the_past_leaves_nothing(redis8: Redis) -> None:
    listener = Listener(redis8)
    assert redis8("HSETEX", "h", "PXAT", 1, "FIELDS", 1, "a", "1") == 1
    assert redis8("EXISTS", "h") == 0
    assert listener.heard(3) == ["hset h", "hdel h", "del h"]


def test_hsetex_checks_its_arguments_in_order(redis8: Redis) -> None:
    wrong_number = Failure("ERR wrong number of arguments for 'hsetex' command")
    assert redis8("HSETEX", "h", "what", "FIELDS", 1, "a", "1") == Failure("ERR unknown argument: what")
    assert redis8("HSETEX", "h", "FNX", "FXX", "FIELDS", 1, "a", "1") == Failure(
        "ERR Only one of FXX or FNX arguments can be specified"
    )
    assert redis8("HSETEX", "h", "EX", 1, "KEEPTTL", "FIELDS", 1, "a", "1") == Failure(
        "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified"
    )
    assert redis8("HSETEX", "h", "EX", -1, "FIELDS", 1, "a", "1") == Failure("ERR invalid expire time, must be >= 0")
    assert redis8("HSETEX", "h", "FIELDS", 0, "a", "1") == Failure("ERR invalid number of fields")
    assert redis8("HSETEX", "h", "FIELDS", 2, "a", "1") == wrong_number
    assert redis8("HSETEX", "h", "FIELDS", 1, "a", "1", "b") == wrong_number


def test_hgetex_reads_and_moves_deadlines(redis8: Redis) -> None:
    redis8("HSET", "h", "a", "1", "b", "2")
    listener = Listener(redis8)
    assert redis8("HGETEX", "h", "FIELDS", 2, "a", "none") == [b"1", None]
    assert redis8("HGETEX", "h", "EX", 100, "FIELDS", 1, "a") == [b"1"]
    assert redis8("HTTL", "h", "FIELDS", 2, "a", "b") == [100, -1]
    assert redis8("HGETEX", "h", "PERSIST", "FIELDS", 2, "a", "b") == [b"1", b"2"]
    assert redis8("HTTL", "h", "FIELDS", 1, "a") == [-1]
    assert redis8("HGETEX", "h", "EXAT", 1, "FIELDS", 2, "a", "b") == [b"1", b"2"]
    assert redis8("EXISTS", "h") == 0
    assert redis8("HGETEX", "h", "PX", 1, "FIELDS", 2, "a", "b") == [None, None]
    assert listener.heard(4) == ["hexpire h", "hpersist h", "hdel h", "del h"]


def test_hgetdel_reads_and_deletes(redis8: Redis) -> None:
    redis8("HSET", "h", "a", "1", "b", "2")
    assert redis8("HGETDEL", "h", "FIELDS", 3, "a", "none", "a") == [b"1", None, None]
    assert redis8("HGETDEL", "h", "FIELDS", 1, "b") == [b"2"]
    assert redis8("EXISTS", "h") == 0
    assert redis8("HGETDEL", "h", "FIELDS", 1, "b") == [None]
    assert redis8("HGETDEL", "h", "FIELD", 1, "b") == Failure(
        "ERR Mandatory argument FIELDS is missing or not at the right position"
    )
