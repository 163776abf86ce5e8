"""LZF and the checksum: what goes in comes out, and damage is noticed."""

from hypothesis import example, given
from hypothesis import strategies as st

from redouble.persistence.crc64 import crc64
from redouble.persistence.lzf import Compressor, decompress

TEXTS = st.one_of(
    st.binary(min_size=3, max_size=200),
    st.lists(st.sampled_from([b"a", b"b", b"ab", b"abc" * 9, b"x" * 40]), min_size=3, max_size=200).map(b"".join),
)


@given(TEXTS)
@example(b"ab" * 5000)
@example(bytes(range(256)) * 40)
def test_what_was_compressed_comes_back(text: bytes) -> None:
    packed = Compressor().compress(text, 2 * len(text) + 8)
    assert packed is not None
    assert decompress(packed, len(text)) == text


@given(st.lists(TEXTS, max_size=6))
def test_strings_before_do_not_change_what_comes_after(texts: list[bytes]) -> None:
    compressor = Compressor()
    assert [compressor.compress(text, len(text)) for text in texts] == [
        Compressor().compress(text, len(text)) for text in texts
    ]


@given(TEXTS)
def test_no_more_room_is_taken_than_there_is(text: bytes) -> None:
    whole = Compressor().compress(text, 2 * len(text) + 8)
    assert whole is not None
    for room in range(len(whole) + 6):
        packed = Compressor().compress(text, room)
        assert packed is None or (packed == whole and len(packed) <= room)


def test_a_match_may_overlap_what_it_makes() -> None:
    # One literal, then 8 bytes from one byte back.
    assert decompress(bytes([0, ord("a"), 6 << 5, 0]), 9) == b"a" * 9


def test_a_long_match_has_a_byte_more() -> None:
    assert decompress(bytes([0, ord("a"), 7 << 5, 255, 0]), 265) == b"a" * 265


@given(st.binary(max_size=40), st.integers(0, 1 << 62))
def test_garbage_is_refused_or_gives_the_promised_size(garbage: bytes, size: int) -> None:
    for promised in (size, size % 300):
        text = decompress(garbage, promised)
        assert text is None or len(text) == promised


def test_the_checksum_is_the_published_one() -> None:
    assert crc64(b"123456789") == 0xE9C6D914C4B8D9CA
    assert crc64(b"") == 0


@given(st.binary(max_size=50), st.binary(max_size=50))
def test_the_checksum_can_be_taken_in_parts(first: bytes, second: bytes) -> None:
    assert crc64(second, crc64(first)) == crc64(first + second)
