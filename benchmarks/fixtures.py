"""What the fixtures cost: a thousand tests with a SET and a GET each, beside a thousand that do nothing.

Each is a run of pytest of its own. What is told is the processor time of the run, its start included, and how long
pytest says that the tests took.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = 1000
_MODULE = """
import pytest

@pytest.fixture
def nothing():
    yield

@pytest.mark.parametrize("number", range({count}))
def test_it({fixture}, number):
    {body}
"""
#: The fixture that each test uses, and what it does with it.
_BODIES = {
    "nothing": "pass",
    "redouble": 'redouble.execute("SET", "k", number); assert redouble.execute("GET", "k") == b"%d" % number',
    "redouble_client": 'redouble_client.set("k", number); assert redouble_client.get("k") == b"%d" % number',
}


def _run(fixture: str, body: str) -> tuple[float, float]:
    """Processor time of a run and pytest's own figure, seconds."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_it.py").write_text(_MODULE.format(count=TESTS, fixture=fixture, body=body))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=folder, capture_output=True, text=True
        )
        spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    told = re.search(rf"{TESTS} passed in ([\d.]+)s", run.stdout)
    assert told is not None, run.stdout + run.stderr
    return spent, float(told[1])


def main(rounds: int) -> None:
    """Print the table."""
    print(f"\n{TESTS:,} tests with a SET and a GET each, best of {rounds}   (seconds)")
    print(f"  {'fixture':<18}{'processor':>12}{'pytest says':>14}")
    for fixture, body in _BODIES.items():
        runs = [_run(fixture, body) for _ in range(rounds)]
        print(
            f"  {fixture:<18}{min(spent for spent, _ in runs):>12.2f}{min(told for _, told in runs):>14.2f}", flush=True
        )
