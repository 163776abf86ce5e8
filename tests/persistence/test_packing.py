"""Packed collections, both ways, and damaged ones."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redouble.datatypes.listpack import listpack_bytes
from redouble.persistence.format import CorruptData
from redouble.persistence.packing import (
    read_intset,
    read_listpack,
    read_ziplist,
    read_zipmap,
    write_intset,
    write_listpack,
    write_ziplist,
)

EDGES = [0, 12, 13, 127, 128, 4095, 4096, -1, -4096, -4097]
EDGES += [sign * (1 << bits) + step for bits in (7, 15, 23, 31, 63) for sign in (1, -1) for step in (-1, 0, 1)]
NUMBERS = st.one_of(st.sampled_from(EDGES), st.integers(-(1 << 64), 1 << 64))
ELEMENTS = st.one_of(
    NUMBERS.map(lambda number: b"%d" % number),
    st.binary(max_size=20),
    st.sampled_from([b"007", b"-0", b"+1", b" 1", b"1.5", b"a" * 63, b"b" * 64, b"c" * 127, b"d" * 4095, b"e" * 4096]),
    st.sampled_from([b"f" * 16383, b"g" * 16384, b"h" * 254, b"i" * 253]),
)


@given(st.lists(ELEMENTS, max_size=12))
def test_a_listpack_gives_back_its_elements(elements: list[bytes]) -> None:
    packed = write_listpack(elements)
    assert read_listpack(packed) == elements
    assert len(packed) == listpack_bytes(elements)


@given(st.lists(ELEMENTS, max_size=12))
def test_a_ziplist_gives_back_its_elements(elements: list[bytes]) -> None:
    assert read_ziplist(write_ziplist(elements)) == elements


@given(st.sets(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1, max_size=12))
def test_an_intset_gives_back_its_members(numbers: set[int]) -> None:
    members = [b"%d" % number for number in sorted(numbers)]
    assert read_intset(write_intset(members)) == members


def test_an_intset_is_as_narrow_as_it_can_be() -> None:
    assert len(write_intset([b"-32768", b"32767"])) == 8 + 2 * 2
    assert len(write_intset([b"-32769", b"32767"])) == 8 + 2 * 4
    assert len(write_intset([b"0", b"2147483648"])) == 8 + 2 * 8


def test_a_zipmap_gives_back_its_pairs_without_the_unused_bytes() -> None:
    assert read_zipmap(b"\x02\x03foo\x03\x00bar\x05hello\x02\x03wo\0\0\0\xff") == [b"foo", b"bar", b"hello", b"wo"]


def test_members_of_an_intset_must_rise() -> None:
    falling = b"\2\0\0\0\2\0\0\0\2\0\1\0"
    with pytest.raises(CorruptData):
        read_intset(falling)


@given(st.data())
def test_a_damaged_byte_is_noticed_or_harmless(data: st.DataObject) -> None:
    elements = data.draw(st.lists(ELEMENTS, max_size=6))
    write, read = data.draw(st.sampled_from([(write_listpack, read_listpack), (write_ziplist, read_ziplist)]))
    packed = bytearray(write(elements))
    packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    with suppress(CorruptData):
        assert all(isinstance(element, bytes) for element in read(bytes(packed)))


@given(st.binary(max_size=40))
def test_garbage_is_refused(garbage: bytes) -> None:
    for read in (read_listpack, read_ziplist, read_intset, read_zipmap):
        with suppress(CorruptData):
            read(garbage)
