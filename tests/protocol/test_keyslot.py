"""The slots of keys. The numbers are what CLUSTER KEYSLOT of redis-server 7.0.15 says."""

from __future__ import annotations

import pytest

from redouble.protocol.keyslot import key_slot, pattern_slot


@pytest.mark.parametrize(
    ("key", "slot"),
    [
        (b"", 0),
        (b"123456789", 12739),
        (b"foo", 12182),
        (b"{foo}bar", 12182),
        (b"bar{foo}{zap}", 12182),
        (b"foo{}{bar}", 8363),
        (b"foo{{bar}}zap", 4015),
        (b"foo{bar", 15278),
        (b"foo}bar{", 11073),
        (b"\x00\xff", 7920),
    ],
)
def test_a_key_or_its_tag_has_a_slot(key: bytes, slot: int) -> None:
    assert key_slot(key) == slot


@pytest.mark.parametrize(
    ("pattern", "slot"),
    [
        (b"foo", 12182),
        (b"{foo}*", 12182),
        (b"{foo}[ab]?", 12182),
        (b"*{foo}", -1),
        (b"{fo*}", -1),
        (b"{fo?o}a", -1),
        (b"{}a*", -1),
        (b"f\\oo", -1),
        (b"foo*", -1),
    ],
)
def test_a_pattern_has_a_slot_if_all_that_it_matches_has_it(pattern: bytes, slot: int) -> None:
    assert pattern_slot(pattern) == slot
