"""What the repository keeps about the suite: the tests that pass, and why the others don't.

`passing.txt` has a line per test, `unit<TAB>test`, sorted. `reasons.toml` has two tables of units: under
`both` the tests that redis-server itself does not pass in this harness, under `here` those that Redouble
alone does not pass; in each, the test's name and the reason.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

from tools.compat.harness import UnitResult

_HERE: Final = Path(__file__).parent
PASSING: Final = _HERE / "passing.txt"
REASONS: Final = _HERE / "reasons.toml"
#: Where a reason stands.
BOTH: Final = "both"
HERE: Final = "here"


class Reasons:
    """Why tests are not passed."""

    def __init__(self) -> None:
        with REASONS.open("rb") as file:
            self._tables: dict[str, dict[str, dict[str, str]]] = tomllib.load(file)

    def of(self, unit: str, test: str) -> tuple[str, str]:
        """The table a test's reason stands in, and the reason; two empty strings if there is none."""
        for table in (BOTH, HERE):
            reason = self._tables.get(table, {}).get(unit, {}).get(test)
            if reason is not None:
                return table, reason
        return "", ""


def read_passing() -> dict[str, set[str]]:
    """The tests known to pass, by unit."""
    passing: dict[str, set[str]] = {}
    if PASSING.exists():
        for line in PASSING.read_text("utf-8").splitlines():
            unit, _, test = line.partition("\t")
            passing.setdefault(unit, set()).add(test)
    return passing


def lost(result: UnitResult, passing: dict[str, set[str]]) -> set[str]:
    """The tests of a unit that are known to pass and did not."""
    return passing.get(result.unit, set()) - result.passed()


def write_passing(results: list[UnitResult], forget_lost: bool) -> None:
    """Add what passes; take out what is lost only if told so."""
    passing = read_passing()
    for result in results:
        known = set() if forget_lost else passing.get(result.unit, set())
        passing[result.unit] = known | result.passed()
    lines = sorted(f"{unit}\t{test}\n" for unit, tests in passing.items() for test in tests)
    PASSING.write_text("".join(lines), "utf-8")
