"""How the values of parameters are read and shown: yes or no, numbers, choices, texts and the odd ones.

A kind gets the words of a value and gives the text that CONFIG GET answers, or raises `CommandError`
with the bare reason (CONFIG SET and the start-up put their own sentence before it). Kinds that take
several words say so by `several`: CONFIG SET then splits its one argument at spaces.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, final

from redouble.doubles import parse_double
from redouble.errors import CommandError
from redouble.keyspace import events
from redouble.protocol.numbers import INT64_MAX, INT64_MIN, try_integer

_UNITS: Final[dict[bytes, int]] = {
    b"": 1, b"b": 1, b"k": 1000, b"kb": 1024, b"m": 1000**2, b"mb": 1024**2, b"g": 1000**3, b"gb": 1024**3,
}  # fmt: skip
_BIND_MAX: Final = 16
_DIGITS_MAX: Final = 127
_MOST: Final = 2**64 - 1
#: The classes of clients that have output limits of their own, in the order that CONFIG GET shows.
OUTPUT_CLASSES: Final[list[bytes]] = [b"normal", b"slave", b"pubsub"]


def memory(text: bytes) -> int | None:
    """A number of bytes, with a unit such as `mb` (1024 * 1024) or `m` (1000 * 1000); or None."""
    digits = 0
    while digits < len(text) and text[digits : digits + 1].isdigit():
        digits += 1
    unit = _UNITS.get(text[digits:].lower())
    if unit is None or digits > _DIGITS_MAX:
        return None
    # What 64 bits can't hold is taken as the most that they can, as C's strtoull has it.
    return min(int(text[:digits] or b"0"), _MOST) * unit


class Kind:
    """A way to read values."""

    several: bool = False

    def canonical(self, words: list[bytes], old: bytes) -> bytes:
        """The text of a value; `old` is the present one, for those who change only a part."""
        raise NotImplementedError

    def shown(self, value: bytes) -> bytes:
        """What CONFIG GET answers for a value."""
        return value


@final
class YesNo(Kind):
    """`yes` or `no`."""

    def canonical(self, words: list[bytes], old: bytes) -> bytes:
        """In lower case."""
        lower = words[0].lower()
        if lower not in (b"yes", b"no"):
            raise CommandError(b"argument must be 'yes' or 'no'")
        return lower


@final
class Text(Kind):
    """Any text; a file name where `base_name` is what to call it."""

    def __init__(self, base_name: bytes = b"", empty: bool = True) -> None:
        self.base_name: bytes = base_name
        self.empty: bool = empty

    def canonical(self, words: list[bytes], old: bytes) -> bytes:
        """As it is."""
        value = words[0]
        if not self.empty and not value:
            raise CommandError(self.base_name + b" can't be empty")
        if self.base_name and (b"/" in value or b"\\" in value):
            what = b"dirname" if self.base_name.endswith(b"dirname") else b"filename"
            raise CommandError(self.base_name + b" can't be a path, just a " + what)
        return value


@final
class Number(Kind):
    """An integer within bounds: `plain`, `memory` (with units), `octal`, or `percent` (memory or a percentage)."""

    def __init__(self, low: int, high: int, style: str = "plain") -> None:
        self.low: int = low
        self.high: int = high
        self.style: str = style

    def canonical(self, words: list[bytes], old: bytes) -> bytes:
        """The plain digits."""
        text = words[0]
        if self.style == "percent" and text.endswith(b"%"):
            share = try_integer(text[:-1])
            if share is not None and share >= 0:
                if share > 100:
                    raise CommandError(b"percentage argument must be less or equal to 100")
                return text
        value = self._read(text)
        if not self.low <= value <= self.high:
            shape = (
                b"argument must be between %o and %o inclusive"
                if self.style == "octal"
                else (b"argument must be between %d and %d inclusive")
            )
            raise CommandError(shape % (self.low, self.high))
        return b"%o" % value if self.style == "octal" else b"%d" % value

    def _read(self, text: bytes) -> int:
        value: int | None
        if self.style == "plain":
            value = try_integer(text)
            reason = b"argument couldn't be parsed into an integer"
        elif self.style == "octal":
            value = int(text, 8) if text.isdigit() and not set(text) & set(b"89") else None
            reason = b"argument couldn't be parsed as an octal number"
        else:
            value = memory(text)
            reason = b"argument must be a memory value"
            if self.style == "percent":
                reason = b"argument must be a memory or percent value"
        if value is None:
            raise CommandError(reason)
        return value


@final
class Choice(Kind):
    """One of several names; `synonyms` are shown as their first. With `several`, any of them together."""

    def __init__(self, names: str, synonyms: dict[bytes, bytes] | None = None, several: bool = False) -> None:
        self.names: list[bytes] = names.encode().split()
        self.synonyms: dict[bytes, bytes] = synonyms or {}
        self.several = several

    def canonical(self, words: list[bytes], old: bytes) -> bytes:
        """The name, in lower case."""
        chosen = [word.lower() for word in words]
        if not chosen or [name for name in chosen if name not in self.names]:
            raise CommandError(b"argument(s) must be one of the following: " + b", ".join(self.names))
        if not self.several:
            return self.synonyms.get(chosen[0], chosen[0])
        if b"save" in chosen and b"nosave" in chosen:
            raise CommandError(b"shutdown options SAVE and NOSAVE can't be used simultaneously")
        effective = [name for name in self.names[1:] if name in chosen]
        return b" ".join(effective) or self.names[0]


@final
class SavePoints(Kind):
    """Pairs of seconds and changes; empty for none."""

    def __init__(self) -> None:
        self.several = True

    def canonical(self, words: list[bytes], old: bytes) -> bytes:
        """The pairs."""
        if words == [b""]:
            return b""
        numbers = [_long(word) for word in words]
        if len(numbers) % 2:
            raise CommandError(b"Invalid save parameters")
        for index, number in enumerate(numbers):
            if number is None or number < (1 - index % 2):
                raise CommandError(b"Invalid save parameters")
        return b" ".join([b"%d" % (number or 0) for number in numbers])


def _long(text: bytes) -> int | None:
    """An integer as C's `strtoll` reads it, leading zeros and plus sign included."""
    digits = text[1:] if text[:1] in (b"-", b"+") else text
    if not digits.isdigit():
        return None
    return max(INT64_MIN, min(INT64_MAX, int(text)))


@final
class OutputLimits(Kind):
    """`class hard soft seconds`, any number of times; classes that are not named keep theirs."""

    def __init__(self) -> None:
        self.several = True

    def canonical(self, words: list[bytes], old: bytes) -> bytes:
        """All three classes."""
        if len(words) % 4:
            raise CommandError(b"Wrong number of arguments in buffer limit configuration.")
        parts = old.split()
        for at in range(0, len(words), 4):
            name = words[at].lower()
            if name == b"replica":
                name = b"slave"
            if name not in OUTPUT_CLASSES:
                raise CommandError(b"Invalid client class specified in buffer limit configuration.")
            hard, soft, seconds = memory(words[at + 1]), memory(words[at + 2]), _long(words[at + 3])
            if hard is None or soft is None or seconds is None or seconds < 0:
                raise CommandError(b"Error in hard, soft or soft_seconds setting in buffer limit configuration.")
            place = OUTPUT_CLASSES.index(name) * 4
            parts[place : place + 4] = [name, b"%d" % hard, b"%d" % soft, b"%d" % seconds]
        return b" ".join(parts)


@final
class EventClasses(Kind):
    """Classes of keyspace events."""

    def canonical(self, words: list[bytes], old: bytes) -> bytes:
        """The shortest spelling."""
        flags = events.parse_classes(words[0])
        if flags is None:
            raise CommandError(b"Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
        return events.format_classes(flags)

    def shown(self, value: bytes) -> bytes:
        """As Redis shows it: without the class of new keys beside `A`, though `A` does not take that in."""
        return value.replace(b"n", b"") if b"A" in value else value


@final
class Addresses(Kind):
    """Addresses to bind to."""

    def __init__(self) -> None:
        self.several = True

    def canonical(self, words: list[bytes], old: bytes) -> bytes:
        """With single spaces."""
        if len(words) > _BIND_MAX:
            raise CommandError(b"Too many bind addresses specified.")
        return b" ".join(words)


@final
class Percentiles(Kind):
    """Percentiles, each from 0 to 100; empty for none."""

    def __init__(self) -> None:
        self.several = True

    def canonical(self, words: list[bytes], old: bytes) -> bytes:
        """Without trailing zeros."""
        if words == [b""]:
            return b""
        shown = []
        for word in words:
            value = parse_double(word)
            if value is None:
                raise CommandError(b"Invalid latency-tracking-info-percentiles parameters")
            if not 0.0 <= value <= 100.0:
                raise CommandError(b"latency-tracking-info-percentiles parameters should sit between [0.0,100.0]")
            shown.append(trimmed(value))
        return b" ".join(shown)


def trimmed(value: float) -> bytes:
    """A number with up to six decimals, without trailing zeros."""
    return (b"%.6f" % value).rstrip(b"0").rstrip(b".")


@final
class OomScores(Kind):
    """Three numbers for the kernel's out-of-memory killer."""

    def __init__(self) -> None:
        self.several = True

    def canonical(self, words: list[bytes], old: bytes) -> bytes:
        """The numbers."""
        if len(words) != 3:
            raise CommandError(b"wrong number of arguments")
        numbers = [_long(word) for word in words]
        for number in numbers:
            if number is None or not -2000 <= number <= 2000:
                raise CommandError(b"Invalid oom-score-adj-values, elements must be between -2000 and 2000.")
        return b" ".join([b"%d" % (number or 0) for number in numbers])


@final
class Folder(Kind):
    """A directory that exists."""

    def canonical(self, words: list[bytes], old: bytes) -> bytes:
        """Its absolute path. The process itself stays where it is: it may hold many servers."""
        path = Path(os.fsdecode(old)) / os.fsdecode(words[0])
        if not path.exists():
            raise CommandError(b"No such file or directory")
        if not path.is_dir():
            raise CommandError(b"Not a directory")
        return os.fsencode(path.resolve())


@final
class Master(Kind):
    """The address of a master, or `no one`."""

    def __init__(self) -> None:
        self.several = True

    def canonical(self, words: list[bytes], old: bytes) -> bytes:
        """Host and port, or empty."""
        if len(words) != 2:
            raise CommandError(b"wrong number of arguments")
        if words[0].lower() == b"no" and words[1].lower() == b"one":
            return b""
        port = _long(words[1])
        if port is None or not 0 <= port <= 65535:
            raise CommandError(b"Invalid master port")
        return words[0] + b" %d" % port


@final
class HostName(Kind):
    """A host name to announce."""

    def canonical(self, words: list[bytes], old: bytes) -> bytes:
        """As it is."""
        value = words[0]
        if len(value) >= 256:
            raise CommandError(b"Hostnames must be less than 256 characters")
        if not value.replace(b"-", b"").replace(b".", b"").isalnum() and value:
            raise CommandError(b"Hostnames may only contain alphanumeric characters, hyphens or dots")
        return value
