"""The families of commands, by name, and on which real servers they are tried."""

from __future__ import annotations

from importlib import import_module

from tests.fuzz.duel import Script
from tests.fuzz.families import common
from tests.fuzz.grammar import Grammar, Pick

_DATA = [
    "strings", "bitmaps", "keys", "lists", "hashes", "sets", "sorted_sets", "streams", "geo", "hyperloglogs", "scripts",
    "transactions",
]  # fmt: skip
#: The lines of several families in one script.
_MIXED = {"mixed": [*_DATA, "blocking", "expiry"]}

NAMES = [*_DATA, "blocking", "connections", "expiry", "functions", "pubsub", "servers", *_MIXED]

#: As which version Redouble stands beside Valkey 9.1, which left Redis between 7.2 and 7.4 and has taken up some of
#: what came later. (Scripts are left to redis-server: Valkey has reworded what they say.)
BESIDE_VALKEY = {
    **dict.fromkeys([name for name in _DATA if name != "scripts"], "7.4.1"),
    **dict.fromkeys(("blocking", "expiry", "pubsub", "newer"), "7.4.1"),
    "newest": "8.0.0",
}


class Family:
    """A family's own commands, and now and then a common one."""

    def __init__(self, name: str) -> None:
        modules = [import_module(f"tests.fuzz.families.{part}") for part in _MIXED.get(name, [name])]
        self._own = [Grammar(module.LINES, module.WORDS) for module in modules]
        self._common = Grammar(common.LINES, modules[0].WORDS)

    def line(self, pick: Pick) -> Script:
        """The commands of one line, at random."""
        own = self._own[pick(len(self._own))]
        return (self._common if pick(8) == 7 else own).line(pick)
