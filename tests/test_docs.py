"""The pages of `docs/` show what works: the files of a section are written, then its commands must succeed.

A block of code is a file when its first line says so (`# file: name`); in a block of shell, the lines that begin with
`$ ` are the commands.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.conftest import HERE

ROOT = Path(__file__).parent.parent
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"(?:#|//) file: (\S+)\n")
_HEADING = re.compile(r"^## (.*)$", re.MULTILINE)


def sections() -> list[tuple[str, str]]:
    """Title and text of each section that has a command."""
    found = []
    for page in sorted((ROOT / "docs").rglob("*.md")):
        parts = _HEADING.split(page.read_text())
        found += [(f"{page.stem}: {title}", text) for title, text in zip(parts[1::2], parts[2::2], strict=True)]
    return [(title, text) for title, text in found if commands_of(text)]


def files_of(text: str) -> dict[str, str]:
    found = {}
    for _, body in _BLOCK.findall(text):
        named = _FILE.match(body)
        if named is not None:
            found[named[1]] = body[named.end() :]
    return found


def commands_of(text: str) -> list[str]:
    blocks = [body for language, body in _BLOCK.findall(text) if language == "sh"]
    return [line[2:] for body in blocks for line in body.splitlines() if line.startswith("$ ")]


def arguments(command: str) -> list[str]:
    """The command with the programs of this very environment."""
    words = shlex.split(command)
    ours = {
        "pytest": [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        "python": [sys.executable],
        "redouble": [sys.executable, "-m", "redouble"],
    }
    return ours.get(words[0], words[:1]) + words[1:]


@pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="the README is not beside this build")
def test_the_readme_s_test_passes(tmp_path: Path) -> None:
    test = re.search(r"## In tests\n+```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert test is not None
    (tmp_path / "test_readme.py").write_text(test[1])
    run = subprocess.run(arguments("pytest"), cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "1 passed" in run.stdout, run.stdout + run.stderr


@pytest.mark.skipif(not (ROOT / "docs").exists(), reason="the documents are not beside this build")
def test_there_are_sections_to_run() -> None:
    titles = [title for title, _ in sections()]
    for word in ("pytest", "time to live", "RQ", "Celery", "ioredis", "redis-py"):
        assert [title for title in titles if word in title], word


@pytest.mark.skipif(not (ROOT / "docs").exists(), reason="the documents are not beside this build")
def test_each_page_of_a_power_has_something_to_run_and_the_index_names_it() -> None:
    pages = {page.stem for page in (ROOT / "docs" / "powers").glob("*.md")}
    assert pages >= {"clock", "faults", "snapshots", "seed", "trace", "lint", "failover"}
    assert pages <= {title.partition(":")[0] for title, _ in sections()}
    index = (ROOT / "docs" / "testing.md").read_text()
    assert pages == set(re.findall(r"\(powers/([\w-]+)\.md\)", index))


@pytest.mark.parametrize(("title", "text"), [pytest.param(*section, id=section[0]) for section in sections()])
def test_a_section_works_as_it_is_written(title: str, text: str, tmp_path: Path) -> None:
    files = files_of(text)
    assert files, f"{title} has commands and no file"
    if any(name.endswith((".js", ".mjs")) for name in files):
        modules = HERE / "node_modules"
        if shutil.which("node") is None or not (modules / "vitest").exists():
            pytest.skip("Node or the packages of tests/clients/package.json are not installed (`make node-clients`)")
        (tmp_path / "node_modules").symlink_to(modules)
        (tmp_path / "package.json").write_text('{"type": "module"}')
    for name, body in files.items():
        (tmp_path / name).write_text(body)
    for command in commands_of(text):
        run = subprocess.run(
            arguments(command), cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
            text=True, timeout=120,
        )  # fmt: skip
        assert run.returncode == 0, run.stdout + run.stderr
        if command == "pytest":
            assert " passed" in run.stdout and "skipped" not in run.stdout, run.stdout
