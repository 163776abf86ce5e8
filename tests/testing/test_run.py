"""`redouble run`: the command finds the server, gets our signals, and its exit status is ours."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import redouble

ROOT = Path(redouble.__file__).parent.parent
ENV = dict(os.environ, PYTHONPATH=str(ROOT))


def run(*args: str, timeout: float = 30) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "redouble", "run", *args], capture_output=True, text=True, env=ENV, timeout=timeout
    )


def python(program: str) -> list[str]:
    return ["--", sys.executable, "-c", program]


def test_the_command_finds_the_server_by_its_environment() -> None:
    done = run(*python("""
import os, redis
by_url = redis.Redis.from_url(os.environ["REDIS_URL"])
by_name = redis.Redis(host=os.environ["REDIS_HOST"], port=int(os.environ["REDIS_PORT"]))
by_url.set("key", "value")
print(by_name.get("key"), by_url.info("server")["redis_version"])
"""))  # fmt: skip
    assert (done.stdout, done.stderr, done.returncode) == ("b'value' 7.4.1\n", "", 0)


def test_options_before_the_command_are_the_server_s() -> None:
    program = """
import os, redis
client = redis.Redis.from_url(os.environ["REDIS_URL"])
print(client.info("server")["redis_version"], client.config_get("maxmemory")["maxmemory"], os.environ["REDIS_URL"][:16])
"""
    done = run("--redis-version", "7.0", "--maxmemory", "5mb", "--requirepass", "secret", *python(program))
    assert done.stdout == "7.0.15 5242880 redis://:secret@\n"


def test_the_exit_status_is_the_command_s() -> None:
    assert run(*python("raise SystemExit(7)")).returncode == 7
    assert run(*python("import os; os.kill(os.getpid(), 9)")).returncode == 128 + 9


def test_what_can_not_be_run_is_told_as_shells_tell_it(tmp_path: Path) -> None:
    done = run("--", "no-such-command-anywhere")
    assert (done.returncode, done.stderr) == (127, "redouble run: no such command: no-such-command-anywhere\n")
    (tmp_path / "plain").write_text("")
    assert run("--", str(tmp_path / "plain")).returncode == 126
    done = run("--port", "0")
    assert done.returncode == 2
    assert "say which command to run, after --" in done.stderr
    done = run("--maxmemry", "1", "--", "true")
    assert done.returncode == 1
    assert "Bad directive" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_a_signal_goes_on_to_the_command(number: signal.Signals) -> None:
    program = f"""
import signal, sys
signal.signal({int(number)}, lambda *_: sys.exit(40))
print("ready", flush=True)
signal.pause()
"""
    process = subprocess.Popen(
        [sys.executable, "-m", "redouble", "run", *python(program)], stdout=subprocess.PIPE, text=True, env=ENV,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    assert process.wait(20) == 40


def test_a_report_tells_what_was_used() -> None:
    done = run("--report", *python("""
import os, redis
client = redis.Redis.from_url(os.environ["REDIS_URL"])
client.set("kept", 1)
client.set("passing", 1, ex=100)
client.eval("-- doubles a number\\nreturn redis.call('INCRBY', KEYS[1], 2)", 1, "kept")
try:
    client.lpush("kept", 1)
except redis.ResponseError:
    print("done")
"""))  # fmt: skip
    assert done.stdout == "done\n"
    lines = [line.strip() for line in done.stderr.splitlines()]
    assert "2 set" in lines
    assert "1 incrby" in lines
    assert "1 lpush, 1 failed" in lines
    assert [line for line in lines if line.endswith(" doubles a number")]
    assert [line for line in lines if line.startswith("wrong-type-near-miss: ")]
    assert "keys left without a time to live, by database: 1" in lines
    assert '0: "kept"' in lines


def test_help_names_the_environment() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert "REDIS_URL, REDIS_HOST and REDIS_PORT" in done.stdout
