"""What a newcomer is shown must be so: the example, and the code in the README."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.conftest import HERE, ServerProcess
from tests.clients.node import needs_node

ROOT = Path(__file__).parent.parent


def run_example(name: str) -> str:
    """What an example prints that starts a server of its own; it must succeed."""
    run = subprocess.run(
        [sys.executable, f"examples/{name}"], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_the_example_shows_that_only_the_counter_keeps_the_order() -> None:
    printed = run_example("fifo_within_a_tier.py")
    tables = printed.split("scored by ")[1:]
    assert [re.findall(r"first in, first out: (\w+)", table) for table in tables] == [["no"], ["no"], ["yes"]]
    assert re.findall(r"(\w+) +(\d{10}) +\d", tables[2]) == [
        ("zeta", "4294967297"),
        ("mike", "4294967298"),
        ("alpha", "4294967299"),
    ]


def test_the_example_finds_the_script_that_would_fail_in_a_cluster() -> None:
    printed = run_example("find_cross_slot_script.py")
    first, second = printed.split("the second queue")
    assert re.findall(r"^  (\S+), \d+ times: (\w+)", first, re.MULTILINE) == [
        ("cross-slot", "LMOVE"),
        ("undeclared-script-key", "HSET"),
        ("cross-slot", "EVALSHA"),
    ]
    assert "HSET mail:7 state active" in first
    assert "nothing found" in second


FAILOVER = [
    ("as it comes", r"failed: (READONLY )?You can't write against a read only replica\.", "1"),
    (r"with \w+", "written", "3"),
]


def check_failover(printed: str) -> None:
    """What the two examples of a failover print: who does not try again fails, who does gets through."""
    lines = printed.splitlines()
    assert len(lines) == len(FAILOVER)
    for line, (title, outcome, refusals) in zip(lines, FAILOVER, strict=True):
        assert re.fullmatch(f"{title}: {outcome}, after {refusals} refusals", line), line


def test_the_example_shows_that_redis_py_gets_through_a_failover_if_told_to_try_again() -> None:
    check_failover(run_example("readonly_failover.py"))


@needs_node("ioredis")
def test_the_example_shows_that_ioredis_gets_through_a_failover_if_told_to_connect_anew() -> None:
    server = ServerProcess()
    # It must lie where Node finds the packages.
    script = HERE / f"failover-{os.getpid()}.mjs"
    script.write_text((ROOT / "examples" / "readonly_failover.mjs").read_text())
    try:
        run = subprocess.run(["node", script.name, server.url], cwd=HERE, capture_output=True, text=True, timeout=60)
    finally:
        script.unlink()
        server.stop()
    assert run.returncode == 0, run.stdout + run.stderr
    check_failover(run.stdout)


@pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="the README is not beside this build")
@needs_node("bullmq")
def test_the_readme_s_bullmq_program_prints_what_it_says() -> None:
    program = re.search(r"```js\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert program is not None
    server = ServerProcess()
    script = HERE / f"readme-{os.getpid()}.mjs"
    script.write_text(program[1].replace("port: 6379", f"port: {server.port}"))
    try:
        node = subprocess.Popen(["node", script.name], cwd=HERE, stdout=subprocess.PIPE, text=True)
        assert node.stdout is not None
        printed = [node.stdout.readline().strip() for _ in range(3)]
        node.send_signal(signal.SIGKILL)
        node.wait()
    finally:
        script.unlink()
        server.stop()
    promised = re.findall(r"^// (.*)$", program[1], re.MULTILINE)
    assert printed == promised[-1].split(", ")
