"""Inline commands: a line of words, quoted where they need to be, as telnet users type them.

The rules are those of Redis' configuration lines too: double quotes know the escapes \\n \\r \\t \\b
\\a and \\xHH, single quotes know only \\', and a closing quote must end its word.
"""

from typing import Final

_SPACE: Final = b" \t\n\r\v\f\0"
_ESCAPES: Final[dict[int, int]] = {110: 10, 114: 13, 116: 9, 98: 8, 97: 7}
_HEX: Final = b"0123456789abcdefABCDEF"
_BACKSLASH: Final = 92
_DOUBLE: Final = 34
_SINGLE: Final = 39


def split_inline(line: bytes) -> list[bytes] | None:
    """The words of `line`, or None when its quotes are not balanced. O(len)."""
    words: list[bytes] = []
    pos = 0
    size = len(line)
    while True:
        while pos < size and line[pos] in _SPACE:
            pos += 1
        if pos == size:
            return words
        word = bytearray()
        pos = _word(line, pos, word)
        if pos < 0:
            return None
        words.append(bytes(word))


def _word(line: bytes, pos: int, word: bytearray) -> int:
    """Read one word from `pos` into `word`; the position after it, or -1."""
    size = len(line)
    while pos < size and line[pos] not in _SPACE:
        char = line[pos]
        if char == _DOUBLE or char == _SINGLE:
            pos = _quoted(line, pos + 1, char, word)
            if pos < 0 or (pos < size and line[pos] not in _SPACE):
                return -1
            return pos
        word.append(char)
        pos += 1
    return pos


def _quoted(line: bytes, pos: int, quote: int, word: bytearray) -> int:
    """Read up to the closing quote; the position after it, or -1."""
    size = len(line)
    while pos < size:
        char = line[pos]
        if char == quote:
            return pos + 1
        if char == _BACKSLASH and pos + 1 < size:
            follow = line[pos + 1]
            if quote == _SINGLE:
                if follow == _SINGLE:
                    char = follow
                    pos += 1
            elif follow == 120 and pos + 3 < size and line[pos + 2] in _HEX and line[pos + 3] in _HEX:
                char = int(line[pos + 2 : pos + 4], 16)
                pos += 3
            else:
                char = _ESCAPES.get(follow, follow)
                pos += 1
        word.append(char)
        pos += 1
    return -1
