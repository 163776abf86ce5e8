"""The families of commands, by name, and on which real servers they are tried."""

from __future__ import annotations

from importlib import import_module

from tests.fuzz.duel import Script
from tests.fuzz.families import common
from tests.fuzz.grammar import Grammar, Pick

NAMES = [
    "strings", "bitmaps", "keys", "lists", "hashes", "sets", "sorted_sets", "streams", "geo", "hyperloglogs", "scripts",
    "transactions",
]  # fmt: skip

#: As which version Redouble stands beside Valkey 9.1, which left Redis between 7.2 and 7.4 and has taken up some of
#: what came later. (Scripts are left to redis-server: Valkey has reworded what they say.)
BESIDE_VALKEY = {
    **dict.fromkeys([name for name in NAMES if name != "scripts"], "7.4.1"),
    "newer": "7.4.1",
    "newest": "8.0.0",
}


class Family:
    """A family's own commands, and now and then a common one."""

    def __init__(self, name: str) -> None:
        module = import_module(f"tests.fuzz.families.{name}")
        self._own = Grammar(module.LINES, module.WORDS)
        self._common = Grammar(common.LINES, module.WORDS)

    def line(self, pick: Pick) -> Script:
        """The commands of one line, at random."""
        return (self._common if pick(8) == 7 else self._own).line(pick)
