"""Runs a unit of the suite against a server and takes down what each test did.

The suite's own program (`tests/test_helper.tcl`) is started for one unit, in a copy of its tree whose only
change is one line that reads `overlay.tcl`. The overlay writes a line per test into a file. Where the
program dies with the server, or stops altogether, the unit is begun again on a fresh server with the guilty
test left out, and only what comes after it is added; so one bad test costs one test.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple

from tools.compat.servers import Server, ServerError, end_group

OVERLAY: Final = Path(__file__).with_name("overlay.tcl")
#: Statuses of a test that ran: passed; assertion failed; ended by an unexpected error; never ended.
PASSED: Final = "ok"
RAN: Final = ("ok", "err", "exc", "hang")
#: Seconds: one test, one reply, one unit with its repetitions.
TEST_LIMIT: Final = 240
READ_LIMIT: Final = 90
UNIT_LIMIT: Final = 900
REPETITIONS: Final = 8
#: The line before which the copy of the helper reads the overlay.
_MARK: Final = "\nif {$::client} {\n"


class Row(NamedTuple):
    """A line of the overlay: a test (or a block, or a command of the harness) and what became of it."""

    number: int
    status: str
    milliseconds: int
    tags: str
    name: str
    message: str


class UnitResult(NamedTuple):
    """What a unit did. `left_out` counts the tests that the suite keeps from this kind of server."""

    unit: str
    rows: list[Row]
    seconds: float
    note: str

    def tests(self) -> dict[str, Row]:
        """The tests that ran by name; the second of a name is called `name #2`."""
        found: dict[str, Row] = {}
        seen: Counter[str] = Counter()
        for row in self.rows:
            if row.status in RAN:
                seen[row.name] += 1
                found[row.name if seen[row.name] == 1 else f"{row.name} #{seen[row.name]}"] = row
        return found

    def passed(self) -> set[str]:
        return {name for name, row in self.tests().items() if row.status == PASSED}


class Bench:
    """A copy of the suite's tree and a place for servers: what one job works with."""

    def __init__(self, source: Path, folder: Path, kind: str, only: list[str]) -> None:
        self.kind = kind
        self.release = source.name.rpartition("-")[2]
        self.only = only
        self.logs = folder / "logs"
        self._server_folder = folder / "server"
        self._tree = folder / "tree"
        shutil.rmtree(folder, ignore_errors=True)
        self.logs.mkdir(parents=True)
        shutil.copytree(source / "tests", self._tree / "tests", symlinks=True)
        (self._tree / "tests/tmp").mkdir(exist_ok=True)
        (self._tree / "src").mkdir()
        for tool in ("redis-server", "redis-cli", "redis-benchmark", "redis-check-aof", "redis-check-rdb"):
            path = shutil.which(tool)
            if path:
                (self._tree / "src" / tool).symlink_to(path)
        helper = self._tree / "tests/test_helper.tcl"
        text = helper.read_text("latin-1")
        if text.count(_MARK) != 1:
            raise ServerError(f"the suite's helper is not as the overlay knows it: {helper}")
        helper.write_text(text.replace(_MARK, f"\nif {{$::client}} {{ source {{{OVERLAY}}} }}\n{_MARK}"), "latin-1")

    def run(self, unit: str, forced: bool) -> UnitResult:
        """Run a unit to its end."""
        begun = time.monotonic()
        rows: list[Row] = []
        left_out: list[int] = []
        note = ""
        for attempt in range(1, REPETITIONS + 2):
            try:
                server = Server(self.kind, self.release, self._server_folder, self._log(unit, "server.log"))
            except ServerError as error:
                note = str(error)
                break
            try:
                run = _Run(self, unit, attempt, forced, left_out, server.port, begun + UNIT_LIMIT)
            finally:
                server.stop()
            finished, note = run.add_to(rows, left_out)
            if finished or time.monotonic() > begun + UNIT_LIMIT:
                break
        return UnitResult(unit, rows, time.monotonic() - begun, note)

    def _log(self, unit: str, ending: str) -> Path:
        return self.logs / f"{unit.replace('/', '_')}.{ending}"

    def command(self, unit: str, port: int) -> list[str]:
        """The suite's program for one unit against the server on the port."""
        spare = random.randrange(200, 290) * 100
        command = ["tclsh", "tests/test_helper.tcl", "--host", "127.0.0.1", "--port", str(port), "--single", unit]
        command += ["--baseport", str(spare), "--timeout", "100000", "--tags", "-slow"]
        for name in self.only:
            command += ["--only", name]
        return command

    def start(self, command: list[str], environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
        with log.open("wb") as out:
            return subprocess.Popen(
                command, cwd=self._tree, env=dict(os.environ, **environment), stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def log_stem(self, unit: str, attempt: int) -> Path:
        return self._log(unit, str(attempt))


class _Run:
    """One start of the suite's program."""

    def __init__(
        self, bench: Bench, unit: str, attempt: int, forced: bool, left_out: list[int], port: int, deadline: float
    ) -> None:
        stem = bench.log_stem(unit, attempt)
        self._results = stem.with_name(stem.name + ".tsv")
        self._progress = stem.with_name(stem.name + ".progress")
        self._log = stem.with_name(stem.name + ".log")
        for path in (self._results, self._progress):
            path.write_text("")
        environment = {
            "OV_TSV": str(self._results), "OV_PROGRESS": str(self._progress), "OV_FORCE": str(int(forced)),
            "OV_TEST_MS": str(TEST_LIMIT * 1000), "OV_READ_MS": str(READ_LIMIT * 1000),
            "OV_SKIPSEQ": " ".join(map(str, left_out)),
        }  # fmt: skip
        process = bench.start(bench.command(unit, port), environment, self._log)
        self.stopped = self._wait(process, deadline)
        end_group(process)

    def _wait(self, process: subprocess.Popen[bytes], deadline: float) -> str:
        """Wait for the end, or for a reason not to: that reason."""
        size, changed = -1, time.monotonic()
        while process.poll() is None:
            time.sleep(0.05)
            now = time.monotonic()
            written = sum(path.stat().st_size for path in (self._results, self._progress, self._log))
            if written != size:
                size, changed = written, now
            if now > deadline:
                return "the unit took too long"
            if now - changed > TEST_LIMIT + 20:
                return "stuck"
        return ""

    def add_to(self, rows: list[Row], left_out: list[int]) -> tuple[bool, str]:
        """Add what is new. Whether the unit is finished, and if not, why."""
        seen = max((row.number for row in rows), default=0)
        new = read_rows(self._results)
        rows += [row for row in new if row.status not in ("done", "dead") and row.number > seen]
        if any(row.status == "done" for row in new):
            return True, ""
        started = [line.split("\t") for line in self._progress.read_text("utf-8", "replace").splitlines()]
        if not started:
            # The suite's own port may have been another job's: the next attempt draws another one.
            return bool(self.stopped), "nothing ran: " + (self.stopped or tail_of(self._log))
        number, tags, name = int(started[-1][0]), started[-1][1], started[-1][2]
        dead = [row.message for row in new if row.status == "dead"]
        why = dead[0] if dead else self.stopped or "the program died"
        if not any(row.number == number and row.status in RAN for row in rows):
            rows.append(Row(number, "hang" if self.stopped else "exc", 0, tags, name, why))
        # A test that hung may have left the server wedged: it stays away as well.
        left_out += [row.number for row in new if row.status == "hang"]
        left_out.append(number)
        return False, f"{why} (at test {number})"


def read_rows(path: Path) -> list[Row]:
    """The lines of the overlay's file."""
    rows = []
    for line in path.read_text("utf-8", "replace").split("\n"):
        field = line.split("\t")
        if len(field) == 6:
            rows.append(Row(int(field[0]), field[1], int(field[2]), field[3], field[4], field[5]))
    return rows


def tail_of(log: Path) -> str:
    """The last line of a log."""
    lines = log.read_text("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "no output")
