"""`python -m tools.compat`: the command line behind `make compat` and `make compat-check`.

The exit status is 0 if no test of `passing.txt` was lost, 1 if one was, 2 if the suite can't be had.
"""

from __future__ import annotations

import argparse
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from tools.compat.harness import PASSED, Bench, UnitResult
from tools.compat.ledger import Reasons, lost, read_passing, write_passing
from tools.compat.report import markdown
from tools.compat.servers import ServerError
from tools.compat.source import SourceError, source_tree
from tools.compat.units import FORCED, NOT_IN_CI, all_units, in_order_of_start

ROOT: Final = Path(__file__).parents[2]
BUILD: Final = ROOT / "build/compat"
PAGE: Final = ROOT / "docs/compatibility.md"


def main() -> int:
    args = _arguments()
    BUILD.mkdir(parents=True, exist_ok=True)
    try:
        source = source_tree(BUILD)
        units, forced = _chosen(args, source)
        session = Session(source, args.server, args.jobs, args.test, forced, retry=args.check)
    except (SourceError, ServerError) as error:
        print(f"\nNO SUITE, SO NO PROOF: {error}\n", file=sys.stderr)
        return 2
    results = session.run(units)
    whole = set(units) == set(all_units()) and not args.test and args.server == "redouble"
    missing = 0 if args.test or args.server != "redouble" else _tell_lost(results)
    silent = [result.unit for result in results if result.note and not result.rows]
    if silent:
        print(f"\nNOTHING RAN in {' '.join(silent)}, so nothing is written.\n", file=sys.stderr)
        return 1
    if whole and not args.check:
        write_passing(results, forget_lost=args.accept)
        PAGE.write_text(markdown(session.release, results, Reasons()), "utf-8")
        print(f"written: {PAGE.relative_to(ROOT)}")
    return 1 if missing and not args.accept else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools.compat", description="Redis' own Tcl suite against Redouble.")
    parser.add_argument("--check", action="store_true", help="the guard: one retry, without the slow units")
    parser.add_argument("--units", default="", help="names of units, or `forced`; all if not given")
    parser.add_argument("--test", action="append", help="a test's name, or /regex; may be repeated")
    parser.add_argument("--force", action="store_true", help="run what the suite keeps from external servers")
    parser.add_argument("--jobs", type=int, default=2, help="units at a time")
    parser.add_argument("--server", default="redouble", help="redouble, or redis-server to compare")
    parser.add_argument("--accept", action="store_true", help="take lost tests out of passing.txt")
    args = parser.parse_args()
    args.test = [name for name in args.test or [] if name]
    return args


def _chosen(args: argparse.Namespace, source: Path) -> tuple[list[str], set[str]]:
    """The units to run, and those of them that run with `external:skip` passed over."""
    if args.units == "forced":
        units = list(FORCED)
    elif args.units:
        units = args.units.split()
    else:
        units = [unit for unit in all_units() if not (args.check and unit in NOT_IN_CI)]
    absent = [unit for unit in units if not (source / f"tests/{unit}.tcl").is_file()]
    if absent:
        raise SourceError(f"the suite has no {' '.join(absent)}")
    return units, set(units) if args.force else set(FORCED)


def _tell_lost(results: list[UnitResult]) -> int:
    passing = read_passing()
    count = 0
    for result in results:
        for name in sorted(lost(result, passing)):
            count += 1
            row = result.tests().get(name)
            print(f"LOST {result.unit}\t{name}\t{row.message if row else result.note or 'it did not run'}")
    return count


class Session:
    """Some units on some jobs."""

    def __init__(self, source: Path, server: str, jobs: int, only: list[str], forced: set[str], retry: bool) -> None:
        self.release = source.name.rpartition("-")[2]
        self._jobs = jobs
        self._forced = forced
        self._retry = retry
        self._passing = read_passing()
        self._telling = threading.Lock()
        self._benches: SimpleQueue[Bench] = SimpleQueue()
        for number in range(jobs):
            self._benches.put(Bench(source, BUILD / f"{server}-{number + 1}", server, only))

    def run(self, units: list[str]) -> list[UnitResult]:
        """The results, in the order given."""
        with ThreadPoolExecutor(self._jobs) as pool:
            running = {unit: pool.submit(self._run_unit, unit) for unit in in_order_of_start(units)}
            return [running[unit].result() for unit in units]

    def _run_unit(self, unit: str) -> UnitResult:
        bench = self._benches.get()
        try:
            result = bench.run(unit, unit in self._forced)
            self._tell(result)
            if self._retry and lost(result, self._passing):
                print(f"{unit}: once more, for what was lost", flush=True)
                again = bench.run(unit, unit in self._forced)
                self._tell(again)
                result = _best_of(result, again)
            return result
        finally:
            self._benches.put(bench)

    def _tell(self, result: UnitResult) -> None:
        tests = result.tests()
        failed = {name: row for name, row in tests.items() if row.status != PASSED}
        with self._telling:
            print(f"{result.unit:34s} {len(tests) - len(failed):4d} of {len(tests):4d} {result.seconds:7.1f} s", end="")
            print(f"  {result.note}", flush=True)
            for name, row in failed.items():
                print(f"    {row.status:4s} {name}: {row.message[:200]}", flush=True)


def _best_of(first: UnitResult, second: UnitResult) -> UnitResult:
    """The second run, with the rows of the first where a test passed only there."""
    passed = {name: row for name, row in first.tests().items() if row.status == PASSED}
    rows = [passed.pop(name, row) if row.status != PASSED else row for name, row in second.tests().items()]
    rows += [row for name, row in passed.items() if name not in second.tests()]
    return UnitResult(second.unit, rows, first.seconds + second.seconds, second.note)


if __name__ == "__main__":
    sys.exit(main())
