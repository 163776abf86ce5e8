"""Debian's redis-cli on a cluster: following redirections, and its cluster manager."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.clients.conftest import ServerProcess

pytestmark = pytest.mark.skipif(shutil.which("redis-cli") is None, reason="redis-cli is not installed")


def cli(*arguments: str, typed: str = "") -> str:
    """What redis-cli prints."""
    run = subprocess.run(["redis-cli", *arguments], input=typed, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_redirections_are_followed(cluster: ServerProcess) -> None:
    typed = "".join(f"SET key:{number} {number}\n" for number in range(30))
    told = cli("-c", "-p", str(cluster.port), typed=typed)
    assert told.count("OK\n") == 30
    assert told.count("Redirected to slot") > 3
    assert [cli("-c", "-p", str(cluster.port), "GET", f"key:{number}") for number in range(5)] == [
        f"{number}\n" for number in range(5)
    ]
    assert cli("-p", str(cluster.port), "GET", "foo").startswith("MOVED 12182 127.0.0.1:")


def test_the_manager_moves_slots_with_their_keys(cluster: ServerProcess) -> None:
    at = f"127.0.0.1:{cluster.port}"
    cli("-c", "-p", str(cluster.port), typed="SET foo bar EX 1000\nRPUSH {foo}list a b\n")
    names = [line.split()[0] for line in cli("-p", str(cluster.port), "CLUSTER", "NODES").splitlines()]
    cli(
        "--cluster", "reshard", at, "--cluster-from", names[2], "--cluster-to", names[0], "--cluster-slots", "1500",
        "--cluster-yes",
    )  # fmt: skip
    assert "[OK] All 16384 slots covered." in cli("--cluster", "check", at)
    assert cli("-p", str(cluster.port), "GET", "foo") == "bar\n"
    assert cli("-p", str(cluster.port), "LRANGE", "{foo}list", "0", "-1") == "a\nb\n"
    assert 0 < int(cli("-p", str(cluster.port), "TTL", "foo")) <= 1000
