"""Debian's redis-cli, scripted over a pipe."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.clients.conftest import ServerProcess

pytestmark = pytest.mark.skipif(shutil.which("redis-cli") is None, reason="redis-cli is not installed")


def cli(server: ServerProcess, *arguments: str, typed: str = "") -> list[str]:
    """What redis-cli prints, line by line."""
    run = subprocess.run(
        ["redis-cli", "-p", str(server.port), *arguments], input=typed, capture_output=True, text=True, timeout=30
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_a_session_over_a_pipe(server: ServerProcess) -> None:
    typed = 'SET greeting "hello world"\nGET greeting\nZADD jobs 2 b 1 a\nZPOPMIN jobs\nNOSUCH\nGET nothing\n'
    assert cli(server, "--no-raw", typed=typed) == [
        "OK",
        '"hello world"',
        "(integer) 2",
        '1) "a"',
        '2) "1"',
        "(error) ERR unknown command 'NOSUCH', with args beginning with: ",
        "(nil)",
    ]


def test_resp3_shows_maps_and_doubles(server: ServerProcess) -> None:
    assert cli(server, "-3", "--no-raw", typed="HSET h f v\nHGETALL h\nZADD z 1.5 m\nZSCORE z m\n") == [
        "(integer) 1",
        '1# "f" => "v"',
        "(integer) 1",
        "(double) 1.5",
    ]


def test_mass_insertion_by_pipe(server: ServerProcess) -> None:
    requests = "".join(f"SET key:{number} {number}\r\n" for number in range(1000))
    assert cli(server, "--pipe", typed=requests)[-1] == "errors: 0, replies: 1000"
    assert cli(server, "DBSIZE") == ["1000"]


def test_scan_lists_each_key_once(server: ServerProcess) -> None:
    cli(server, "--pipe", typed="".join(f"SET key:{number} x\r\n" for number in range(500)))
    assert sorted(cli(server, "--scan", "--pattern", "key:*")) == sorted(f"key:{number}" for number in range(500))


def test_eval_from_a_file(server: ServerProcess, tmp_path: Path) -> None:
    script = tmp_path / "script.lua"
    script.write_text("return {KEYS[1], ARGV[1], redis.call('INCR', KEYS[1])}")
    assert cli(server, "--no-raw", "--eval", str(script), "counter", ",", "argument") == [
        '1) "counter"',
        '2) "argument"',
        "3) (integer) 1",
    ]
