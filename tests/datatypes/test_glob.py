"""Glob patterns, with redis-server's KEYS and COMMAND LIST as the oracle."""

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from redouble.datatypes.glob import Glob, glob_match

if TYPE_CHECKING:
    from tests.datatypes.conftest import RealRedis

CASES = [
    (b"*", b"anything", True),
    (b"*", b"", False),
    (b"", b"", True),
    (b"", b"a", False),
    (b"h?llo", b"hello", True),
    (b"h?llo", b"hllo", False),
    (b"h*llo", b"hllo", True),
    (b"h[ae]llo", b"hallo", True),
    (b"h[^e]llo", b"hello", False),
    (b"h[z-a]llo", b"hello", True),
    (b"h[]llo", b"h]llo", False),
    (b"h[", b"h[", False),
    (b"h[^", b"hx", True),
    (b"[a-]", b"^", True),
    (b"[\\]]", b"]", True),
    (b"\\*", b"*", True),
    (b"\\*", b"a", False),
    (b"a\\", b"a\\", True),
    (b"a**", b"a", True),
    (b"[a-\\xff", b"a", True),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), CASES)
def test_known_patterns_match_as_documented(pattern: bytes, text: bytes, expected: bool) -> None:
    assert glob_match(pattern, text) is expected


def test_case_is_disregarded_on_request_only() -> None:
    assert not glob_match(b"ABC*", b"abcd")
    assert glob_match(b"ABC*", b"abcd", nocase=True)
    assert glob_match(b"[A-C]", b"b", nocase=True)
    assert not glob_match(b"[Z-a]", b"z", nocase=True)
    assert not glob_match(b"[\\A]", b"a", nocase=True)


def test_many_stars_take_no_more_than_a_moment() -> None:
    pattern = Glob(b"a*" * 60 + b"b")
    began = time.perf_counter()
    assert not pattern.matches(b"a" * 5000)
    assert time.perf_counter() - began < 2.0


def test_filter_keeps_the_order_and_the_star_keeps_all() -> None:
    assert Glob(b"*b").filter([b"cb", b"a", b"", b"ab"]) == [b"cb", b"ab"]
    assert Glob(b"*").filter([b"", b"a"]) == [b"", b"a"]


def test_a_pattern_tells_its_literal_and_its_prefix() -> None:
    assert Glob(b"a\\*b").is_literal
    assert Glob(b"a\\*b").literal == b"a*b"
    assert Glob(b"user:*").prefix == b"user:"
    assert Glob(b"*x").prefix == b""


ALPHABET = [b"a", b"b", b"B", b"*", b"*", b"?", b"[", b"]", b"^", b"-", b"\\", b"\x80", b"\xff"]
patterns = st.lists(st.sampled_from(ALPHABET), max_size=9).map(b"".join)
texts = st.lists(st.sampled_from(ALPHABET), max_size=6).map(b"".join)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(patterns=st.lists(patterns, min_size=1, max_size=20), keys=st.sets(texts, min_size=1))
def test_every_pattern_selects_the_keys_that_the_real_server_selects(
    real_redis: "RealRedis", patterns: list[bytes], keys: set[bytes]
) -> None:
    real_redis.ask("FLUSHALL")
    real_redis.ask_all([("SET", key, b"") for key in keys])
    replies = real_redis.ask_all([("KEYS", pattern) for pattern in patterns])
    for pattern, reply in zip(patterns, replies, strict=True):
        assert set(Glob(pattern).filter(list(keys))) == set(reply), pattern


case_atoms = st.sampled_from([b"g", b"G", b"E", b"t", b"*", b"?", b"[", b"]", b"^", b"-", b"\\"])


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(patterns=st.lists(st.lists(case_atoms, max_size=8).map(b"".join), min_size=1, max_size=20))
def test_without_regard_to_case_it_selects_what_the_real_server_selects(
    real_redis: "RealRedis", patterns: list[bytes]
) -> None:
    names: list[bytes] = real_redis.ask("COMMAND", "LIST")
    question = ("COMMAND", "LIST", "FILTERBY", "PATTERN")
    replies = real_redis.ask_all([(*question, pattern) for pattern in patterns])
    for pattern, reply in zip(patterns, replies, strict=True):
        assert set(Glob(pattern, nocase=True).filter(names)) == set(reply), pattern
