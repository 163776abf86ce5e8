"""The Dockerfile's own lines, run in a clean virtual environment: an engine for images is seldom at hand.

The lines are read from the file. Two things differ from an image: paths lie in a temporary folder, and the wheel
is a pure one, which takes seconds instead of minutes (`make test-compiled` builds the compiled one).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(not (ROOT / "setup.py").exists(), reason="the sources are not beside this build")


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile as (instruction, text), continued lines joined."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line.partition(" ") for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in lines]


def run_line(containing: str) -> str:
    """The part of a RUN line that holds a text."""
    for word, text in instructions():
        if word == "RUN" and containing in text:
            return next(part.strip() for part in text.split("&&") if containing in part)
    raise AssertionError(f"no RUN line with {containing}")


def exec_form(wanted: str) -> list[str]:
    """The words of ENTRYPOINT or CMD, the last one of its kind."""
    return [json.loads(text) for word, text in instructions() if word == wanted][-1]


def health_check() -> list[str]:
    text = next(text for word, text in instructions() if word == "HEALTHCHECK")
    return list(json.loads(text.partition("CMD")[2]))


def test_the_image_would_install_start_and_be_healthy(tmp_path: Path) -> None:
    source, venv, wheels = tmp_path / "src", tmp_path / "venv", tmp_path / "wheels"
    source.mkdir()
    for word, text in instructions():
        if word == "COPY" and not text.startswith("--from"):
            *names, _ = text.split()
            for name in names:
                copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
                copy(ROOT / name, source / name)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    environment = {**os.environ, "PATH": f"{venv}/bin:{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)

    def run(line: str) -> None:
        line = line.replace("/wheels", str(wheels)).replace("REDOUBLE_COMPILE=1", "REDOUBLE_COMPILE=0")
        subprocess.run(line, shell=True, check=True, cwd=source, env=environment, stdout=subprocess.DEVNULL)

    run(run_line("pip wheel"))
    run(run_line("pip install --no-cache-dir --no-index"))
    command = [word if word != "6379" else "0" for word in exec_form("ENTRYPOINT") + exec_form("CMD")]
    server = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        ready = server.stdout.readline()
        port = re.search(r":(\d+)\s*$", ready)
        assert port is not None, ready
        check = [word.replace("6379", port[1]) for word in health_check()]
        assert subprocess.run(check, env=environment, timeout=20).returncode == 0
    finally:
        server.terminate()
        assert server.wait(20) == 0
    assert subprocess.run(check, env=environment, timeout=20, stderr=subprocess.DEVNULL).returncode != 0


def test_the_image_runs_as_nobody_special_and_exposes_the_port() -> None:
    found = dict(instructions())
    assert found["USER"] not in ("root", "0")
    assert found["EXPOSE"] == "6379"
    assert exec_form("CMD")[:2] == ["--bind", "0.0.0.0"]
    assert exec_form("CMD")[-2:] == ["--protected-mode", "no"]
