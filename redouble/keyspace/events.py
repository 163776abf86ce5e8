"""The classes of keyspace events, as `notify-keyspace-events` spells them, and who listens.

`touch` (see `database.py`) is the one door through which a changed key is announced. What happens
behind the door depends on who is interested; nobody is, most of the time, and then it costs one test.
"""

from typing import Final

GENERIC: Final = 1 << 0
STRING: Final = 1 << 1
LIST: Final = 1 << 2
SET: Final = 1 << 3
HASH: Final = 1 << 4
ZSET: Final = 1 << 5
STREAM: Final = 1 << 6
EXPIRED: Final = 1 << 7
EVICTED: Final = 1 << 8
MODULE: Final = 1 << 9
MISS: Final = 1 << 10
NEW: Final = 1 << 11
TO_KEYSPACE: Final = 1 << 12
TO_KEYEVENT: Final = 1 << 13

ALL: Final = GENERIC | STRING | LIST | SET | HASH | ZSET | STREAM | EXPIRED | EVICTED | MODULE

_LETTERS: Final[dict[int, int]] = {
    ord("A"): ALL,
    ord("g"): GENERIC,
    ord("$"): STRING,
    ord("l"): LIST,
    ord("s"): SET,
    ord("h"): HASH,
    ord("z"): ZSET,
    ord("x"): EXPIRED,
    ord("e"): EVICTED,
    ord("K"): TO_KEYSPACE,
    ord("E"): TO_KEYEVENT,
    ord("t"): STREAM,
    ord("m"): MISS,
    ord("d"): MODULE,
    ord("n"): NEW,
}

# Reasons to look closer at a touched key: bits of `Keyspace.interest`.
WATCHED: Final = 1
NOTIFIED: Final = 2
WAITED: Final = 4
TRACKED: Final = 8
FED: Final = 16


def parse_classes(text: bytes) -> int | None:
    """The classes that `text` names, or None for an unknown letter."""
    flags = 0
    for letter in text:
        if letter not in _LETTERS:
            return None
        flags |= _LETTERS[letter]
    return flags


def format_classes(flags: int) -> bytes:
    """The shortest text for `flags`, in Redis' order of letters.

    Beside ``A`` Redis hides the ``n``. Here the text is all that is kept of a setting, so it must tell.
    """
    text = bytearray()
    if flags & ALL == ALL:
        text += b"An" if flags & NEW else b"A"
    else:
        for letter in b"g$lshzxetdn":
            if flags & _LETTERS[letter]:
                text.append(letter)
    for letter in b"KEm":
        if flags & _LETTERS[letter]:
            text.append(letter)
    return bytes(text)
