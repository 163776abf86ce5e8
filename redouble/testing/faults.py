"""Faults from Python: `server.faults`.

    server.faults.error("READONLY", times=1)                     # the next write is refused
    with server.faults.delay(seconds=2, command="get") as fault:   # until the end of the block
        ...
    assert fault.hits == 3

A fault is one rule at each node. See `engine/powers/faults.py` for what each kind does, and when.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, TypedDict, Unpack

from redouble.engine.powers import fault_rules
from redouble.engine.powers.fault_rules import Action, Rule
from redouble.engine.powers.faults import DELAYED, REFUSED, RESET, Door
from redouble.testing.powers import at_work

if TYPE_CHECKING:
    from redouble.testing.core import Core


class Conditions(TypedDict, total=False):
    """Which requests are hit; what is left out is no condition."""

    #: A pattern of command names: "set", "h*", "config|set".
    command: str
    #: A pattern of keys.
    key: str | bytes
    #: A pattern of client names (CLIENT SETNAME).
    client: str
    #: How many fitting requests pass first.
    skip: int
    #: How many are hit then; without it, all.
    times: int
    #: How likely each of them is hit, 0 to 1. Seeded by the server's seed.
    probability: float
    #: What it is called in REDOUBLE FAULT LIST; else a number.
    name: str


class Fault:
    """A fault that was added. As a context manager it is removed at the end."""

    def __init__(self, core: Core, rules: list[Rule]) -> None:
        self._core = core
        self._rules = rules

    @property
    def name(self) -> str:
        """What it is called."""
        return self._rules[0].id.decode()

    @property
    def hits(self) -> int:
        """How many requests it has hit."""
        return sum(rule.hits for rule in self._rules)

    @property
    def matched(self) -> int:
        """How many requests fitted its conditions, hit or not."""
        return sum(rule.matched for rule in self._rules)

    def remove(self) -> None:
        """End it; whoever it holds goes on. More than once does no harm."""
        with at_work(self._core):
            for engine in self._core.engines:
                if [rule for rule in engine.faults.rules() if rule in self._rules]:
                    engine.faults.remove(self._rules[0].id)

    def __enter__(self) -> Fault:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<Fault {self.name}: {self._rules[0].action.described().decode()}, {self.hits} hits>"


class FaultsFace:
    """What fails on demand."""

    def __init__(self, core: Core) -> None:
        self._core = core

    # -- requests ---------------------------------------------------------------------------

    def error(self, text: str, **conditions: Unpack[Conditions]) -> Fault:
        """Answer with an error: a text, or a word for one that Redis knows: READONLY, LOADING, OOM, MOVED ...

        Such a word hits what a real server in that state would refuse, unless `command` says otherwise.
        """
        return self._add(lambda: fault_rules.error(text.encode()), conditions)

    def delay(self, *, seconds: float = 0, ms: int = 0, after: bool = False, **conditions: Unpack[Conditions]) -> Fault:
        """Let the request (or, `after` it has run, its reply) wait, by the server's clock."""
        return self._add(lambda: fault_rules.delay(round(seconds * 1000) + ms, after), conditions)

    def hang(self, **conditions: Unpack[Conditions]) -> Fault:
        """Let the request wait until the fault is removed."""
        return self._add(fault_rules.hang, conditions)

    def drop(self, *, after: bool = False, **conditions: Unpack[Conditions]) -> Fault:
        """Close the connection instead of running the command, or (`after`) instead of replying."""
        return self._add(lambda: fault_rules.drop(after), conditions)

    def cut(self, size: int, **conditions: Unpack[Conditions]) -> Fault:
        """Run the command, send the first `size` bytes of its reply, close the connection."""
        return self._add(lambda: fault_rules.cut(size), conditions)

    def _add(self, make: Callable[[], Action], given: Conditions) -> Fault:
        rules: list[Rule] = []
        with at_work(self._core):
            name = given.get("name") or self._free_name()
            for engine in self._core.engines:
                rule = Rule(
                    name.encode(), make(), _bytes(given.get("command")), _bytes(given.get("key")),
                    _bytes(given.get("client")), given.get("skip", 0), given.get("times"),
                    given.get("probability", 1.0),
                )  # fmt: skip
                engine.faults.add(rule)
                rules.append(rule)
        return Fault(self._core, rules)

    def _free_name(self) -> str:
        taken = {rule.id for rule in self._core.engines[0].faults.rules()}
        number = 1
        while b"fault-%d" % number in taken:
            number += 1
        return f"fault-{number}"

    # -- new connections ----------------------------------------------------------------------

    def refuse_connections(self, *, times: int | None = None) -> None:
        """Close new connections at once."""
        self._connect(lambda: Door(REFUSED, 0, times))

    def reset_connections(self, *, times: int | None = None) -> None:
        """Close new connections at once, by a reset."""
        self._connect(lambda: Door(RESET, 0, times))

    def delay_connections(self, *, seconds: float = 0, ms: int = 0, times: int | None = None) -> None:
        """Let new connections wait for their first reply, by the server's clock."""
        self._connect(lambda: Door(DELAYED, round(seconds * 1000) + ms, times))

    def accept_connections(self) -> None:
        """Nothing more happens to new connections."""
        self._connect(lambda: None)

    def _connect(self, make: Callable[[], Door | None]) -> None:
        with at_work(self._core):
            for engine in self._core.engines:
                engine.faults.connect(make())

    # -- all of them --------------------------------------------------------------------------

    def all(self) -> list[Fault]:
        """Those that were added, by whomever, used up or not."""
        with at_work(self._core):
            by_name: dict[bytes, list[Rule]] = {}
            for engine in self._core.engines:
                for rule in engine.faults.rules():
                    by_name.setdefault(rule.id, []).append(rule)
        return [Fault(self._core, rules) for rules in by_name.values()]

    def clear(self) -> None:
        """End all of them, and what happens to new connections; everybody goes on."""
        with at_work(self._core):
            for engine in self._core.engines:
                engine.faults.clear()


def _bytes(text: str | bytes | None) -> bytes | None:
    return text.encode() if isinstance(text, str) else text
