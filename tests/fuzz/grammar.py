r"""Random commands from text that looks like Redis' own syntax lines.

    SET key value {NX|XX|GET|EX seconds}

==========  =============================================================================
``WORD``    itself; ``\x00`` escapes are understood
``"a b"``   text that the rules below would take apart; also the empty string
``name``    what `words` defines under this name, again as text
``a b``     one after the other
``a|b``     one of them
``(a)``     groups
``[a]``     a, or nothing
``a...``    a, one to four times
``{a|b}``   up to three of them, in any order, and the same one again: so options clash
``<a b>``   the arguments of a and b as one, with spaces between
``a ; b``   (at the top of a line) two commands that belong together
==========  =============================================================================

Every choice is asked of a `Pick`, so the same grammar serves Hypothesis and a plain random source, and
picking 0 throughout gives the simplest command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

#: A number from 0 to n - 1.
Pick = Callable[[int], int]
Argv = list[bytes]
Maker = Callable[[Pick], Argv]
#: What names stand for: more grammar, or a list of texts to be taken as they are.
Words = Mapping[str, str | list[str]]

_TOKEN = re.compile(r'"[^"]*"|\.\.\.|[\[\](){}|<>]|(?:[^\s\[\](){}|<>."]|\.(?!\.\.))+')
_ENDS = ("|", ")", "]", "}", ">")

#: Words that every family may use. Times to live are far away or past: no test waits for them.
WORDS: dict[str, str | list[str]] = {
    "key": "a|b|c|d",
    "value": r'x|y|1|-7|hello|3.5|""|\x00\xff\r\n|10|a-longer-value-than-others|9223372036854775807|" 5"|big',
    "big": "0123456789012345678901234567890123456789012345678901234567890123456789",
    "integer": "1|0|2|-1|3|-3|10|100|-100|9223372036854775807|-9223372036854775808",
    "index": "0|1|-1|2|-2|3|5|-5|100|-100|4294967296",
    "count": "1|2|0|3|10|100|-1",
    "increment": "1|-1|5|100|-100|9223372036854775807|-9223372036854775808|9223372036854775800|0",
    "float": "1|0.5|-0.5|3|1e3|-1.25e-3|0.1|1e17|1e300|inf|-inf|5.0|0x10|-0|123456789.123456789|1e-10|3.0e2",
    "score": "1|2|0|-1|1.5|2|3|inf|-inf|1e20|0.1|-0|10|1e-5|123456789012345678",
    "seconds": "100|1000|100000|0|-1|-100|9223372036854775807|9223372036854775|4102444800",
    "milliseconds": "100000|1000000|100000000|0|-1|-100000|9223372036854775807|-9223372036854775808",
    "unix": "4102444800|4102444801|4102444900|1|0|-1|9223372036854775807|9223372036854775",
    "unix_ms": "4102444800000|4102444800001|4102444900000|1|0|-1|9223372036854775807|-9223372036854775808",
    "pattern": r'*|a*|?|"[a-c]*"|*b|\\*|"[^a]"|"["|""|h?llo|*1*',
}

#: What is put in the place of an argument, or behind the last one.
ODD = [
    b"abc", b"", b"0", b"-1", b"1", b"1.5", b" 1", b"1 ", b"+1", b"01", b"0x1", b"1e3", b"nan", b"inf", b"-inf", b"-0",
    b"9223372036854775807", b"9223372036854775808", b"-9223372036854775808", b"-9223372036854775809",
    b"18446744073709551615", b"18446744073709551616", b"1e400", b"\x00", b"\xff\xfe", b"$", b"*", b"-", b"+", b"(",
    b"LIMIT", b"COUNT", b"STORE", b"WITHSCORES", b"GET", b"NX", b"a", b"b", b"c", b"x" * 100, b"1\x00", b"5-",
    b"[", b"5-5",
]  # fmt: skip


class Grammar:
    """The commands of a family."""

    def __init__(self, lines: str, words: Words | None = None) -> None:
        self._words: Words = {**WORDS, **(words or {})}
        self._known: dict[str, Maker] = {}
        #: Each line is one or more commands.
        self.lines = [[self.compile(part) for part in line.split(" ; ")] for line in lines.strip().splitlines()]

    def line(self, pick: Pick) -> list[Argv]:
        """One line's commands, one time in eight spoiled."""
        commands = [make(pick) for make in self.lines[pick(len(self.lines))]]
        if pick(8) == 7:
            longest = max(commands, key=len)
            if longest[0] != b"@2":
                spoil(longest, pick)
        return commands

    def compile(self, text: str) -> Maker:
        """What makes the arguments that a text describes."""
        tokens = _TOKEN.findall(text)
        maker = self._alternatives(tokens)
        assert not tokens, f"{text}: {tokens} are left over"
        return maker

    def _alternatives(self, tokens: list[str]) -> Maker:
        makers = self._list(tokens)
        return makers[0] if len(makers) == 1 else _one_of(makers)

    def _list(self, tokens: list[str]) -> list[Maker]:
        makers = [self._sequence(tokens)]
        while tokens and tokens[0] == "|":
            tokens.pop(0)
            makers.append(self._sequence(tokens))
        return makers

    def _sequence(self, tokens: list[str]) -> Maker:
        makers: list[Maker] = []
        while tokens and tokens[0] not in _ENDS:
            token = tokens.pop(0)
            if token == "...":
                makers.append(_repeated(makers.pop()))
            else:
                makers.append(self._item(token, tokens))
        return makers[0] if len(makers) == 1 else _joined(makers)

    def _item(self, token: str, tokens: list[str]) -> Maker:
        if token in "([{":
            makers = self._list(tokens)
            tokens.pop(0)
            if token == "{":
                return _options(makers)
            maker = makers[0] if len(makers) == 1 else _one_of(makers)
            return maker if token == "(" else _one_of([_joined([]), maker])
        if token == "<":
            maker = self._sequence(tokens)
            tokens.pop(0)
            return lambda pick: [b" ".join(maker(pick))]
        if token in self._words:
            return self._word(token)
        literal = token.strip('"').encode().decode("unicode_escape").encode("latin-1")
        return lambda pick: [literal]

    def _word(self, name: str) -> Maker:
        if name not in self._known:
            word = self._words[name]
            self._known[name] = self.compile(word) if isinstance(word, str) else _literals(word)
        return self._known[name]


def _one_of(makers: list[Maker]) -> Maker:
    return lambda pick: makers[pick(len(makers))](pick)


def _literals(texts: list[str]) -> Maker:
    args = [text.encode("latin-1") for text in texts]
    return lambda pick: [args[pick(len(args))]]


def _joined(makers: list[Maker]) -> Maker:
    return lambda pick: [arg for maker in makers for arg in maker(pick)]


def _repeated(maker: Maker) -> Maker:
    return lambda pick: [arg for _ in range(pick(4) + 1) for arg in maker(pick)]


def _options(makers: list[Maker]) -> Maker:
    def make(pick: Pick) -> Argv:
        return [arg for _ in range((0, 1, 1, 2, 2, 3)[pick(6)]) for arg in makers[pick(len(makers))](pick)]

    return make


def spoil(argv: Argv, pick: Pick) -> None:
    """Make a command wrong or odd; its name stays."""
    at = 1 + pick(len(argv)) if len(argv) > 1 else 1
    way = pick(6)
    if at >= len(argv) or way == 0:
        argv.insert(at, ODD[pick(len(ODD))])
    elif way == 1:
        del argv[at]
    elif way == 2:
        argv[at] = ODD[pick(len(ODD))]
    elif way == 3:
        argv.insert(at, argv[at])
    elif way == 4:
        other = 1 + pick(len(argv) - 1)
        argv[at], argv[other] = argv[other], argv[at]
    else:
        argv[at] = argv[at].swapcase()
