"""`docs/compatibility.md`: what the last whole run gave."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from tools.compat.harness import PASSED, UnitResult
from tools.compat.ledger import BOTH, Reasons
from tools.compat.units import FORCED, FORCED_GROUP, GROUPS

_HEAD: Final = """\
# Compatibility: Redis' own tests

Written by `make compat`; do not edit. The tests are those of Redis {release} (its Tcl suite, from Debian's
source package of redis, unchanged), run against Redouble as an external server, started with
`--redis-version {release}`, a fresh one for each unit. Tests that the suite itself keeps from external
servers are not counted, save in the last group. Assertions on encodings and digests are checked.

`make compat UNITS="unit/type/zset"` runs one unit, `make compat UNITS=unit/scan TEST='SCAN basic'` one
test, `make compat SERVER=redis-server` the same tests on the real server. `make compat-check` is the guard
in CI: a test listed in `tools/compat/passing.txt` may not be lost.

**{passed:,} of {total:,} tests pass.** Of the {failed} others {both} are not passed by redis-server itself in
this harness, {here} have a reason of Redouble's own, and {unexplained} are unexplained.
"""


def markdown(release: str, results: list[UnitResult], reasons: Reasons) -> str:
    """The page."""
    by_unit = {result.unit: result for result in results}
    groups = {**GROUPS, FORCED_GROUP: FORCED}
    marks = [_mark(result.unit, name, reasons) for result in results for name in _failed(result)]
    total = sum(len(result.tests()) for result in results)
    both, unexplained = marks.count(BOTH), marks.count("")
    head = _HEAD.format(
        release=release, passed=total - len(marks), total=total, failed=len(marks), both=both,
        here=len(marks) - both - unexplained, unexplained=unexplained,
    )  # fmt: skip
    parts = [head]
    for group, units in groups.items():
        parts.append(_group(group, [by_unit[unit] for unit in units if unit in by_unit], reasons))
    return "\n".join(parts)


def _group(name: str, results: list[UnitResult], reasons: Reasons) -> str:
    lines = [f"## {name}", "", "| unit | passed | total | not passed by redis-server either |", "|---|--:|--:|--:|"]
    sums = [0, 0, 0]
    for result in results:
        failed = _failed(result)
        total = len(result.tests())
        row = [total - len(failed), total, sum(_mark(result.unit, test, reasons) == BOTH for test in failed)]
        sums = [a + b for a, b in zip(sums, row, strict=True)]
        lines.append(f"| {result.unit} | {row[0]} | {row[1]} | {row[2] or ''} |")
    lines += [f"| **all** | **{sums[0]}** | **{sums[1]}** | {sums[2] or ''} |", ""]
    for result in results:
        lines += _list_of_failed(result, reasons)
    return "\n".join(lines)


def _list_of_failed(result: UnitResult, reasons: Reasons) -> Iterable[str]:
    failed = _failed(result)
    if not failed and not result.note:
        return []
    lines = [f"Not passed in {result.unit}:", ""] if failed else []
    for test in failed:
        table, reason = reasons.of(result.unit, test)
        also = "not by redis-server either: " if table == BOTH else ""
        lines.append(f"- {_plain(test)}: {also}{reason or '**unexplained** (' + _shown(result, test) + ')'}")
    if result.note:
        lines.append(f"- The unit did not run to its end: {_plain(result.note)}")
    return [*lines, ""]


def _failed(result: UnitResult) -> list[str]:
    return [name for name, row in result.tests().items() if row.status != PASSED]


def _mark(unit: str, test: str, reasons: Reasons) -> str:
    return reasons.of(unit, test)[0]


def _shown(result: UnitResult, test: str) -> str:
    row = result.tests()[test]
    return f"{row.status}: {_plain(row.message[:160])}"


def _plain(text: str) -> str:
    """Text without a meaning to Markdown."""
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", text)
