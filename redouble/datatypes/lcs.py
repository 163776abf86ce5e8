"""The longest common subsequence of two strings, as LCS finds it.

The textbook table of n x m lengths is slow here, but its rows hardly carry information: along a row the
length grows by one or not at all. So a row is one big integer with a bit per column, and the next row
comes from it with an addition, a subtraction and a few bit operations (Hyyro, "Bit-parallel LCS-length
computation revisited", 2004). A clear bit means that the length grows in this column.

Going back through the table from its far corner, Redis steps to the upper row if the length there is
greater than to the left, else to the left. Where the last bytes differ, the upper one is greater just
when the length grows in this column, so the bits are all that is needed, and the ranges come out equal.
"""

from typing import Final, final

#: Bytes that Redis' table takes per cell; its size is what the limit is about.
CELL_BYTES: Final = 4


@final
class Match:
    """A run of equal bytes: its first positions in both strings, and its length."""

    __slots__ = ("first", "second", "length")

    def __init__(self, first: int, second: int, length: int) -> None:
        self.first: int = first
        self.second: int = second
        self.length: int = length


def table_bytes(a: bytes, b: bytes) -> int:
    """The memory that Redis would take for these strings."""
    return (len(a) + 1) * (len(b) + 1) * CELL_BYTES


def lcs_length(a: bytes, b: bytes) -> int:
    """How long the longest common subsequence is. O(n * m / 64)."""
    return len(b) - _rows(a, b, False)[-1].bit_count()


def lcs_matches(a: bytes, b: bytes) -> list[Match]:
    """The runs of the longest common subsequence, the last first. O(n * m / 64 + n + m)."""
    rows = _rows(a, b, True)
    width = (len(b) + 7) // 8
    matches: list[Match] = []
    run = 0
    i = len(a)
    j = len(b)
    row_at = -1
    row = b""
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            run += 1
            i -= 1
            j -= 1
            continue
        if run:
            matches.append(Match(i, j, run))
            run = 0
        if row_at != i:
            row = rows[i - 1].to_bytes(width, "little")
            row_at = i
        j -= 1
        if not row[j >> 3] >> (j & 7) & 1:
            i -= 1
            j += 1
    if run:
        matches.append(Match(i, j, run))
    return matches


def _rows(a: bytes, b: bytes, all_rows: bool) -> list[int]:
    """The rows for each prefix of `a`, or only the last one."""
    places: dict[int, int] = {}
    backwards = b[::-1]
    for byte in set(b):
        table = bytearray(b"0" * 256)
        table[byte] = 49
        places[byte] = int(backwards.translate(table), 2)
    full = (1 << len(b)) - 1
    row = full
    rows: list[int] = []
    for byte in a:
        hit = row & places.get(byte, 0)
        if hit:
            row = ((row + hit) | (row - hit)) & full
        if all_rows:
            rows.append(row)
    return rows if all_rows else [row]
