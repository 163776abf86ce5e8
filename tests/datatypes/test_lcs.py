"""The longest common subsequence, against the textbook's table."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from redouble.datatypes.lcs import lcs_length, lcs_matches

texts = st.text("ab\0", max_size=12).map(str.encode)


def table(a: bytes, b: bytes) -> list[list[int]]:
    rows = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                rows[i][j] = rows[i - 1][j - 1] + 1
            else:
                rows[i][j] = max(rows[i - 1][j], rows[i][j - 1])
    return rows


def matched_pairs(a: bytes, b: bytes) -> list[tuple[int, int]]:
    """The pairs of positions that Redis' walk back through the table finds."""
    rows = table(a, b)
    i, j = len(a), len(b)
    pairs = []
    while i and j:
        if a[i - 1] == b[j - 1]:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif rows[i - 1][j] > rows[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return pairs


@given(texts, texts)
def test_the_length_is_the_tables_last_cell(a: bytes, b: bytes) -> None:
    assert lcs_length(a, b) == table(a, b)[-1][-1]


@given(texts, texts)
def test_the_runs_are_those_of_the_walk_through_the_table(a: bytes, b: bytes) -> None:
    pairs = []
    for match in lcs_matches(a, b):
        pairs += [(match.first + k, match.second + k) for k in reversed(range(match.length))]
    assert pairs == matched_pairs(a, b)


@given(texts, texts)
def test_neighbouring_runs_are_one_run(a: bytes, b: bytes) -> None:
    matches = lcs_matches(a, b)
    for later, earlier in pairwise(matches):
        adjacent = earlier.first + earlier.length == later.first and earlier.second + earlier.length == later.second
        assert not adjacent
