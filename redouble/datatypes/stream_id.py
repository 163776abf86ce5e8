"""Stream IDs: one integer each, and the text that clients use for them.

An ID is a time in milliseconds and a sequence number, both of 64 bits. Here it is the single
number ``ms << 64 | sequence``: comparing, sorting, bisecting and hashing need nothing of our own,
the ID after or before another is plus or minus one, and the span is 0 to `MAX_ID`.

What Redis accepts is wider than ``<ms>-<sequence>``. A number is read by the C library's
`strtoull` where the strict reader fails, so spaces before it, a plus sign, and leading zeros are
let through, and a minus sign before what the strict reader refuses wraps around. A NUL byte ends
the text, and more than 127 bytes are refused.
"""

from typing import Final

#: The largest ID, which "+" stands for. "-" stands for 0.
MAX_ID: Final = (1 << 128) - 1
#: The largest time or sequence number.
MAX_PART: Final = (1 << 64) - 1

_MAX_TEXT: Final = 127
_SPACES: Final = b" \t\n\v\f\r"
_INVALID: Final = -1


def make_id(ms: int, sequence: int) -> int:
    """The ID of two parts."""
    return ms << 64 | sequence


def format_id(id: int) -> bytes:
    """The text ``<ms>-<sequence>``."""
    return b"%d" % (id >> 64) + b"-" + b"%d" % (id & MAX_PART)


def parse_id(text: bytes, missing_sequence: int = 0) -> int | None:
    """Read an ID where "-" and "+" are not allowed; None if it is invalid.

    Args:
        text: ``<ms>-<sequence>``, or ``<ms>`` alone.
        missing_sequence: the sequence number of an ID that has none.
    """
    dash = text.find(b"-")
    if dash < 0:
        if len(text) < 20 and text.isdigit():
            return int(text) << 64 | missing_sequence
    elif 0 < dash < 20 and len(text) - dash < 20:
        head, tail = text[:dash], text[dash + 1 :]
        if head.isdigit() and tail.isdigit():
            return int(head) << 64 | int(tail)
    return _parse_unusual(text, missing_sequence)


def parse_any_id(text: bytes, missing_sequence: int = 0) -> int | None:
    """Read an ID where "-" and "+" stand for the smallest and the largest; None if invalid."""
    if len(text) <= _MAX_TEXT:
        special = _until_nul(text)
        if special == b"-":
            return 0
        if special == b"+":
            return MAX_ID
    return parse_id(text, missing_sequence)


def parse_interval_id(text: bytes, missing_sequence: int) -> tuple[int, bool] | None:
    """Read one end of a range; None if it is invalid.

    A "(" before an ID, which may not be "-" or "+" then, leaves that ID itself out. Gives the ID
    as written and whether it is left out. The caller steps to the next or previous ID, and
    refuses a step beyond 0 or `MAX_ID`.
    """
    if len(text) > 1 and text.startswith(b"("):
        id = parse_id(text[1:], missing_sequence)
        return None if id is None else (id, True)
    id = parse_any_id(text, missing_sequence)
    return None if id is None else (id, False)


def parse_new_id(text: bytes) -> tuple[int, bool] | None:
    """Read the ID for a new entry, but for ``*`` alone; None if it is invalid.

    Gives the ID, and whether its sequence number is given: it is not in ``<ms>-*``, and it is 0
    in ``<ms>``.
    """
    short = _until_nul(text)
    if short.endswith(b"-*") and len(text) <= _MAX_TEXT:
        ms = _parse_part(short[:-2])
        return None if ms == _INVALID or b"-" in short[:-2] else (ms << 64, False)
    id = parse_id(text)
    return None if id is None else (id, True)


def _until_nul(text: bytes) -> bytes:
    nul = text.find(b"\0")
    return text if nul < 0 else text[:nul]


def _parse_unusual(text: bytes, missing_sequence: int) -> int | None:
    if len(text) > _MAX_TEXT:
        return None
    head, dash, tail = _until_nul(text).partition(b"-")
    ms = _parse_part(head)
    sequence = _parse_part(tail) if dash else missing_sequence
    if ms == _INVALID or sequence == _INVALID:
        return None
    return ms << 64 | sequence


def _parse_part(text: bytes) -> int:
    """One number as the C library reads it, or `_INVALID`."""
    digits = text.lstrip(_SPACES)
    negative = digits.startswith(b"-")
    if negative or digits.startswith(b"+"):
        digits = digits[1:]
    if not digits.isdigit():
        return _INVALID
    value = int(digits)
    if value > MAX_PART:
        return _INVALID
    if not negative:
        return value
    plainly_negative = text[:1] == b"-" and digits[:1] != b"0" and value <= 1 << 63
    return _INVALID if plainly_negative else -value & MAX_PART
