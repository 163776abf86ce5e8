"""Chance by seed: from here on every random choice can be had again.

One source, `Engine.random`, is asked by SRANDMEMBER, SPOP, RANDOMKEY, HRANDFIELD, ZRANDMEMBER, eviction, ACL GENPASS
and whatever else draws. math.random of scripts is a generator of its own (Redis' drand48), and so is that of each
rule of faults. `seed` sets all of them, and draws from the seed what an engine draws when it is made: the order of
SCAN, the run id, the replication id, and the names of a cluster's nodes. `--seed` at the start does nothing else, so
both give the same sequence.

Same seed, same keys and same commands: same replies. Choices from large collections go by indexes that remember in
which order members came and went; they are dropped, so only the members and their order count.
The clock is another matter (stream ids, TIME): freeze it.

Two things are left as they are. Client ids are counted, never drawn: they repeat anyway where connections come in
the same order, and must not be given twice. What the seed yields is no secret, ACL GENPASS included: a double guards
nothing.

In a cluster all nodes are seeded, each with a number one higher than the one before, as `--seed` does it. A cursor
of a SCAN that has not ended means nothing afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from redouble.datatypes.hashvalue import HashValue
from redouble.datatypes.setvalue import SetValue
from redouble.datatypes.sortedset import SortedSet

if TYPE_CHECKING:
    from redouble.engine.engine import Engine

_ID_BITS: Final = 160


@final
class Chance:
    """The random choices of an engine."""

    __slots__ = ("engine", "given")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        #: The seed, None if there was none: then each run is different.
        self.given: int | None = None

    def seed(self, number: int) -> None:
        """Begin a sequence anew, at every node of a cluster. O(keys)."""
        node = self.engine.node
        if node is None:
            self.begin(number)
            return
        for place, each in enumerate(node.cluster.nodes):
            each.engine.chance.begin(number + place)

    def begin(self, number: int) -> None:
        """Begin a sequence anew at this engine alone. O(keys)."""
        engine = self.engine
        self.given = number
        engine.random.seed(number)
        engine.scripting.runtime.seed(number)
        engine.space.scan_seed = engine.random.getrandbits(32)
        engine.run_id = b"%040x" % engine.random.getrandbits(_ID_BITS)
        engine.replication.renew_id()
        if engine.node is not None:
            engine.node.take_names()
        engine.faults.reseed()
        for database in engine.space.databases:
            database.order = None
            for entry in database.data.values():
                if isinstance(entry.value, (SetValue, HashValue, SortedSet)):
                    entry.value.forget_order()
