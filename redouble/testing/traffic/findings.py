"""What was compared, what differed, and the commands that led there.

`History` keeps the last commands of all clients, in the order in which the servers got them. For a
difference it gives those that touched the same keys (or, like FLUSHALL, all keys), as lines that one can
paste into redis-cli; where a command has no keys, the client's own last ones.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from typing import Final

from redouble.testing.traffic.notation import written_reply, written_request
from redouble.testing.traffic.replies import Reply

_KEPT: Final = 10_000
_SHOWN: Final = 20
_SHOWN_OF_CLIENT: Final = 5
#: How many differences are told at length.
_TOLD: Final = 30
#: How much of a long reply is shown, and how much of that stands before what differs.
_WIDTH: Final = 400
_BEFORE: Final = 60


class Step:
    """A command that was sent to the servers."""

    __slots__ = ("label", "database", "argv", "keys", "sweeping")

    def __init__(self, label: str, database: int, argv: list[bytes], keys: list[bytes], sweeping: bool) -> None:
        self.label = label
        self.database = database
        self.argv = argv
        self.keys = frozenset(keys)
        #: Whether it may change any key.
        self.sweeping = sweeping


class History:
    """The last commands, of all clients."""

    def __init__(self) -> None:
        self._steps: deque[Step] = deque(maxlen=_KEPT)

    def add(self, step: Step) -> None:
        """A command was sent. O(1)."""
        self._steps.append(step)

    def behind(self, last: Step, keys: frozenset[bytes]) -> list[str]:
        """The commands that led to a step, itself the last, as lines. O(commands kept)."""
        if keys:
            steps = [each for each in self._steps if each.sweeping or each.keys & keys][-_SHOWN:]
        else:
            steps = [each for each in self._steps if each.label == last.label][-_SHOWN_OF_CLIENT:]
        if last not in steps:
            steps.append(last)
        lines: list[str] = []
        database = 0
        for step in steps:
            if step.database != database:
                database = step.database
                lines.append(f"SELECT {database}")
            lines.append(written_request(step.argv))
        return lines


class Findings:
    """The count of what was compared, and each difference as it is found, told on stderr."""

    def __init__(self, ours: str, theirs: str) -> None:
        self.differences = 0
        self._names = (theirs, ours)
        self._commands = 0
        self._rules: Counter[str] = Counter()

    def same(self, rule: str) -> None:
        """Replies agree, by a rule or to the byte."""
        self._commands += 1
        if rule:
            self._rules[rule] += 1

    def differ(self, what: str, lines: list[str], ours: list[Reply], theirs: list[Reply]) -> None:
        """Replies differ."""
        self._commands += 1
        self.differences += 1
        if self.differences > _TOLD:
            return
        width = max(map(len, self._names)) + 1
        texts = [", ".join(map(written_reply, replies)) or "(no reply)" for replies in (theirs, ours)]
        start = _first_of_interest(texts[0], texts[1])
        shown = [f"--- difference {self.differences}: {what}", *lines]
        for name, text in zip(self._names, texts, strict=True):
            shown.append(f"  {name + ':':{width}} {_excerpt(text, start)}")
        if self.differences == _TOLD:
            shown.append("--- further differences are only counted: after so many, most follow from the first")
        print("\n".join(shown), file=sys.stderr, flush=True)

    def summary(self) -> str:
        """One line about all."""
        by_rule = sum(self._rules.values())
        rules = ", ".join(f"{name}: {count}" for name, count in self._rules.most_common())
        return (
            f"{self._commands} replies compared: {self._commands - by_rule - self.differences} the same, "
            f"{by_rule} alike by rule{f' ({rules})' if rules else ''}, {self.differences} different"
        )


def _first_of_interest(first: str, second: str) -> int:
    """Where to begin to show two texts: at their beginning, or somewhat before they differ."""
    if max(len(first), len(second)) <= _WIDTH:
        return 0
    same = next((at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other), 0)
    return max(0, same - _BEFORE)


def _excerpt(text: str, start: int) -> str:
    """Some of a text that may be long, from a place on."""
    part = text[start : start + _WIDTH]
    return f"{'... ' if start else ''}{part}{' ...' if start + _WIDTH < len(text) else ''}"
