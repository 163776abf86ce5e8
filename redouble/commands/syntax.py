"""From a command's syntax line to the `arguments` of COMMAND DOCS, from which redis-cli makes its hints.

A line is made of lower-case names, upper-case tokens, `[optional]`, `<one | of>` and `name [name ...]`
for repetition:

    key [NX | XX] [GET] [EX seconds | PX milliseconds | KEEPTTL]

Read left to right; each bracket is a sequence of its own, each `|` parts alternatives. A token binds to
the argument behind it, in a bracket to all of them (`[LIMIT offset count]`). A bracket that ends with
dots and repeats what stands before it marks that as repeated. What kind of thing an argument is follows
from its name. A line is written by us, so it is not checked.
"""

from __future__ import annotations

from typing import Final, final

_INTEGERS: Final = {
    "bits", "count", "offset", "increment", "bit", "numkeys", "client-id", "maxage", "decrement", "seconds",
    "milliseconds", "protover", "numfields", "cursor", "min-match-len", "index", "version", "rank", "num-matches",
    "len", "stop", "db", "ttl", "frequency", "limit", "index1", "index2", "numreplicas", "numlocal", "ms",
    "entries-read", "entries-added", "weight", "port", "destination-db", "slot", "start-slot", "end-slot",
    "config-epoch", "start", "end",
}  # fmt: skip
_DOUBLES: Final = {"longitude", "latitude", "radius", "width", "height", "score", "timeout"}
_KEYS: Final = {"key", "key1", "key2", "destkey", "source", "destination", "sourcekey", "newkey", "dst", "src"}
_MARKS: Final = "[]<>|"


@final
class Argument:
    """An argument, or a group of them, as COMMAND DOCS describes it."""

    __slots__ = ("name", "kind", "token", "optional", "multiple", "multiple_token", "parts", "text")

    def __init__(self, name: str, kind: str, text: str) -> None:
        self.name: str = name
        self.kind: str = kind
        self.token: str = ""
        self.optional: bool = False
        self.multiple: bool = False
        #: The token is repeated with the argument.
        self.multiple_token: bool = False
        self.parts: list[Argument] = []
        #: As it stands in the line, to recognise its repetition.
        self.text: str = text


def parse_syntax(line: str) -> list[Argument]:
    """The arguments that a syntax line describes. O(len)."""
    for mark in _MARKS:
        line = line.replace(mark, f" {mark} ")
    return _bind(_Reader(line.split()).sequence())


@final
class _Reader:
    """The words of a line, and how far they have been read."""

    __slots__ = ("words", "at")

    def __init__(self, words: list[str]) -> None:
        self.words: list[str] = words
        self.at: int = 0

    def sequence(self) -> list[Argument]:
        """Read up to the end of a bracket or alternative, or of the line."""
        found: list[Argument] = []
        while self.at < len(self.words) and self.words[self.at] not in ("]", ">", "|"):
            word = self.words[self.at]
            self.at += 1
            if word == "[":
                self._optional(found)
            elif word == "<":
                found.append(_one_of(self._alternatives()))
            else:
                found.append(Argument(word.lower(), _kind(word), word))
        return found

    def _alternatives(self) -> list[list[Argument]]:
        """Read the alternatives of a bracket, and its end."""
        found = [self.sequence()]
        while self.at < len(self.words) and self.words[self.at] == "|":
            self.at += 1
            found.append(self.sequence())
        self.at += 1
        return found

    def _optional(self, before: list[Argument]) -> None:
        """Read an optional bracket, which may only say that what stands before it repeats."""
        alternatives = self._alternatives()
        last = alternatives[-1]
        if len(alternatives) == 1 and last and last[-1].text == "...":
            _repeat(before, last[:-1])
            return
        argument = _one_of(alternatives)
        argument.optional = True
        before.append(argument)


def _kind(word: str) -> str:
    if word == "..." or word.startswith('"') or not any(char.islower() for char in word):
        return "pure-token"
    if word in _KEYS:
        return "key"
    if word == "pattern":
        return "pattern"
    if word.startswith("unix-time"):
        return "unix-time"
    if word in _DOUBLES:
        return "double"
    return "integer" if word in _INTEGERS else "string"


def _repeat(before: list[Argument], repeated: list[Argument]) -> None:
    """The last of `before`, as many as are repeated, may stand several times."""
    count = len(repeated)
    texts = [argument.text for argument in repeated]
    if [argument.text for argument in before[len(before) - count :]] != texts:
        before.extend(repeated)
        return
    group = _bind(before[len(before) - count :])
    del before[len(before) - count :]
    whole = group[0] if len(group) == 1 else _block(group)
    whole.multiple = True
    whole.multiple_token = repeated[0].kind == "pure-token"
    before.append(whole)


def _one_of(alternatives: list[list[Argument]]) -> Argument:
    """What a bracket holds, as one argument."""
    choices = [_single(_bind(alternative)) for alternative in alternatives if alternative]
    if len(choices) == 1:
        return choices[0]
    whole = Argument("-".join([choice.name for choice in choices[:2]]), "oneof", "<>")
    whole.parts = choices
    return whole


def _single(group: list[Argument]) -> Argument:
    return group[0] if len(group) == 1 else _block(group)


def _block(group: list[Argument], token: Argument | None = None) -> Argument:
    whole = Argument("-".join([argument.name for argument in group[:2]]), "block", "<>")
    whole.parts = group
    if token is not None:
        whole.name = token.name
        whole.token = token.text
    return whole


def _bind(group: list[Argument]) -> list[Argument]:
    """Give each token the argument behind it, or the several plain ones."""
    bound: list[Argument] = []
    at = 0
    while at < len(group):
        argument = group[at]
        at += 1
        if _is_token(argument):
            run = at
            while run < len(group) and _plain(group[run]):
                run += 1
            if run - at > 1:
                argument = _block(group[at:run], argument)
                at = run
            elif at < len(group) and _bindable(group[at]):
                group[at].token = argument.text
                argument = group[at]
                at += 1
        bound.append(argument)
    return bound


def _is_token(argument: Argument) -> bool:
    return argument.kind == "pure-token" and not argument.optional and not argument.token


def _bindable(argument: Argument) -> bool:
    return not argument.optional and not argument.token and argument.kind not in ("pure-token", "block")


def _plain(argument: Argument) -> bool:
    return _bindable(argument) and argument.kind != "oneof"
