"""Glob patterns as KEYS, SCAN MATCH, PSUBSCRIBE, CONFIG GET and ACL rules understand them.

A pattern is cut into atoms. Each atom but ``*`` takes exactly one byte, and is kept as the set of
bytes it accepts: one byte for a literal, all 256 for ``?``, any set for a class such as ``[a-z]``.
Working the sets out beforehand leaves every oddity of Redis' rules in one place, `_read_class`.

Most patterns are a literal, a prefix, a suffix, or a part, and the methods of `bytes` decide
them. The rest becomes a regular expression. Between two stars the earliest place where the atoms
fit is always as good as any later one, so each stretch stands in an atomic group and is never
tried again: a pattern such as ``a*a*a*a*b`` costs one pass per star, not a power of the length.

Oddities that are kept, because clients can see them:

- The empty string is matched by the empty pattern only, not even by ``*``. Commands which take
  ``*`` to mean "no pattern" have `matches_all` for that.
- A class without its end bracket ends with the pattern. ``[]`` is an empty class.
- ``[z-a]`` is ``[a-z]``. Bytes above 127 sort below all others in a range, as signed chars do.
- Without regard to case, both ends of a range are lowered after they have been put in order, so
  ``[Z-a]`` is empty; and an escaped byte within a class does regard the case.

- A pattern with more than a thousand stars, one at its end apart, matches nothing: Redis gives up
  there. (Here there would be no need to.)
"""

import re
from typing import Final, final

_ALL_BYTES: Final = bytes(range(256))
_STAR: Final = 42
_QUESTION: Final = 63
_OPEN: Final = 91
_CLOSE: Final = 93
_BACKSLASH: Final = 92
_CARET: Final = 94
_DASH: Final = 45

_LITERAL: Final = 0
_PREFIX: Final = 1
_SUFFIX: Final = 2
_PART: Final = 3
_REGEX: Final = 4
_NOTHING: Final = 5

_MOST_STARS: Final = 1000


@final
class Glob:
    """A compiled pattern.

    Args:
        pattern: the pattern's bytes.
        nocase: whether ASCII letters match in either case.
    """

    __slots__ = ("_kind", "_regex", "_text", "is_literal", "matches_all", "pattern")

    def __init__(self, pattern: bytes, nocase: bool = False) -> None:
        self.pattern: bytes = pattern
        #: Whether this is the pattern ``*``, which many commands take for "everything".
        self.matches_all: bool = pattern == b"*"
        stretches = _cut(pattern, nocase)
        self._kind: int = _kind_of(stretches)
        #: Whether the pattern matches one string only, `literal`.
        self.is_literal: bool = self._kind == _LITERAL
        self._text: bytes = b""
        self._regex: re.Pattern[bytes] | None = None
        if self._kind == _REGEX:
            self._regex = re.compile(_to_regex(stretches), re.DOTALL)
        else:
            self._text = b"".join([atom for stretch in stretches for atom in stretch])

    @property
    def literal(self) -> bytes:
        """The one string that a literal pattern matches, its escapes undone."""
        return self._text

    @property
    def prefix(self) -> bytes:
        """The bytes before the ``*`` if the pattern is of the kind ``prefix*``, else nothing."""
        return self._text if self._kind == _PREFIX else b""

    def matches(self, text: bytes) -> bool:
        """Tell whether the whole of `text` fits. O(length of the text x stars), at worst."""
        if not text:
            return not self.pattern
        kind = self._kind
        if kind == _PREFIX:
            return text.startswith(self._text)
        if kind == _LITERAL:
            return text == self._text
        if kind == _SUFFIX:
            return text.endswith(self._text)
        if kind == _PART:
            return self._text in text
        regex = self._regex
        return regex is not None and regex.match(text) is not None

    def filter(self, texts: list[bytes]) -> list[bytes]:
        """The items of `texts` that match, in their order."""
        if self.matches_all:
            return texts
        return [text for text in texts if self.matches(text)]


def glob_match(pattern: bytes, text: bytes, nocase: bool = False) -> bool:
    """Match once. Keep a `Glob` where the same pattern meets many texts."""
    return Glob(pattern, nocase).matches(text)


def _cut(pattern: bytes, nocase: bool) -> list[list[bytes]]:
    """The atoms as sets of bytes, cut at each run of stars: n stars give n + 1 stretches."""
    stretches: list[list[bytes]] = [[]]
    position = 0
    end = len(pattern)
    while position < end:
        byte = pattern[position]
        if byte == _STAR:
            if position == 0 or stretches[-1] or len(stretches) == 1:
                stretches.append([])
            position += 1
        elif byte == _QUESTION:
            stretches[-1].append(_ALL_BYTES)
            position += 1
        elif byte == _OPEN:
            atom, position = _read_class(pattern, position + 1, nocase)
            stretches[-1].append(atom)
        else:
            if byte == _BACKSLASH and position + 1 < end:
                position += 1
                byte = pattern[position]
            stretches[-1].append(_one_byte(byte, nocase))
            position += 1
    return stretches


def _one_byte(byte: int, nocase: bool) -> bytes:
    text = bytes([byte])
    if nocase and text.isalpha():
        return text.upper() + text.lower()
    return text


def _read_class(pattern: bytes, position: int, nocase: bool) -> tuple[bytes, int]:
    """Read a class from after its bracket; give the bytes it accepts and the place after it."""
    end = len(pattern)
    negated = position < end and pattern[position] == _CARET
    if negated:
        position += 1
    accepted: set[int] = set()
    while position < end and pattern[position] != _CLOSE:
        byte = pattern[position]
        if byte == _BACKSLASH and position + 1 < end:
            accepted.add(pattern[position + 1])
            position += 2
        elif position + 2 < end and pattern[position + 1] == _DASH:
            accepted.update(_range(byte, pattern[position + 2], nocase))
            position += 3
        else:
            accepted.update(_one_byte(byte, nocase))
            position += 1
    return bytes([byte for byte in range(256) if (byte in accepted) != negated]), position + 1


def _range(first: int, last: int, nocase: bool) -> list[int]:
    """The bytes of a range, whichever way round it is written, in the order of signed chars."""
    low, high = sorted((_signed(first), _signed(last)))
    if not nocase:
        return [byte for byte in range(256) if low <= _signed(byte) <= high]
    low, high = _lower(low), _lower(high)
    return [byte for byte in range(256) if low <= _lower(_signed(byte)) <= high]


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def _lower(char: int) -> int:
    return char + 32 if 65 <= char <= 90 else char


def _kind_of(stretches: list[list[bytes]]) -> int:
    if len(stretches) - (1 if stretches[-1] else 2) > _MOST_STARS:
        return _NOTHING
    for stretch in stretches:
        for atom in stretch:
            if len(atom) != 1:
                return _REGEX
    if len(stretches) == 1:
        return _LITERAL
    if len(stretches) == 2 and not stretches[1]:
        return _PREFIX
    if len(stretches) == 2 and not stretches[0]:
        return _SUFFIX
    if len(stretches) == 3 and not stretches[0] and not stretches[2]:
        return _PART
    return _REGEX


def _to_regex(stretches: list[list[bytes]]) -> bytes:
    parts = [_stretch_regex(stretches[0])]
    for stretch in stretches[1:-1]:
        parts.append(b"(?>.*?" + _stretch_regex(stretch) + b")")
    if len(stretches) > 1:
        parts.append(b".*" + _stretch_regex(stretches[-1]))
    parts.append(rb"\Z")
    return b"".join(parts)


def _stretch_regex(stretch: list[bytes]) -> bytes:
    return b"".join([_atom_regex(atom) for atom in stretch])


def _atom_regex(atom: bytes) -> bytes:
    if len(atom) == 1:
        return re.escape(atom)
    if len(atom) == 256:
        return b"."
    if not atom:
        return b"(?!)"
    return b"[" + b"".join([b"\\x%02x" % byte for byte in atom]) + b"]"
