"""Redis' source tree, from Debian's source package, into `build/`.

The machine's own package sources are left alone: apt reads a list written here, of the mirrors that the
machine already uses (for Debian's suites only), and keeps its indexes here as well, so root is needed only
where a tool is missing. The version is the one of the installed redis-server. Debian drops a revision from
its mirrors when the next one comes; then another revision of the same Redis release is taken, and said so.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

#: Tools and the Debian packages that bring them.
TOOLS: Final = {"tclsh": "tcl", "dpkg-source": "dpkg-dev", "redis-server": "redis-server", "redis-cli": "redis-tools"}
_TARGET: Final = "$(CREATED_BY)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)"


class SourceError(Exception):
    """Why the suite can't be had."""


def source_tree(build: Path) -> Path:
    """The unpacked source, fetched if it is not there yet. Raises `SourceError`."""
    _install_missing_tools()
    version = _installed_version()
    release = re.sub(r"^\d+:", "", version).partition("-")[0]
    tree = build / f"redis-{release}"
    if not (tree / "tests/test_helper.tcl").is_file():
        _fetch(build, version, release)
    if not (tree / "tests/test_helper.tcl").is_file():
        raise SourceError(f"the source package has no {tree.name}/tests/test_helper.tcl")
    return tree


def _install_missing_tools() -> None:
    if shutil.which("apt-get") is None:
        raise SourceError("there is no apt-get here: the suite comes from Debian's source package")
    missing = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if not missing:
        return
    if os.geteuid() != 0:
        raise SourceError(f"these Debian packages are missing, and only root may install them: {' '.join(missing)}")
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    _run(["apt-get", "update", "-qq"], environment)
    _run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing], environment)


def _installed_version() -> str:
    try:
        return _run(["dpkg-query", "--show", "--showformat=${Version}", "redis-server"])
    except SourceError as error:
        raise SourceError(f"the redis-server of this machine is not Debian's package: {error}") from None


def _fetch(build: Path, version: str, release: str) -> None:
    apt = build / "apt"
    (apt / "lists/partial").mkdir(parents=True, exist_ok=True)
    (apt / "cache/archives/partial").mkdir(parents=True, exist_ok=True)
    (apt / "sources.list").write_text("".join(_source_lines()))
    options = [
        f"-oDir::Etc::sourcelist={apt}/sources.list", "-oDir::Etc::sourceparts=/dev/null",
        f"-oDir::State::lists={apt}/lists", f"-oDir::Cache={apt}/cache", "-oAPT::Sandbox::User=",
    ]  # fmt: skip
    _run(["apt-get", *options, "-qq", "update"])
    offered = _run(["apt-cache", *options, "showsrc", "--only-source", "redis"])
    versions = re.findall(r"^Version: (\S+)$", offered, re.MULTILINE)
    same = [each for each in versions if re.sub(r"^\d+:", "", each).partition("-")[0] == release]
    chosen = version if version in versions else same[-1] if same else ""
    if not chosen:
        raise SourceError(f"no source of redis {release} on Debian's mirrors, only {', '.join(versions) or 'nothing'}")
    if chosen != version:
        print(f"NOTE: the source of redis {version} is gone from Debian's mirrors; {chosen} is taken.", flush=True)
    _run(["apt-get", *options, "-qq", "source", f"redis={chosen}"], cwd=build)


def _source_lines() -> list[str]:
    """`deb-src` lines for the mirrors of Debian's own suites that this machine uses."""
    codename = _codename()
    lines = set()
    for target in _run(["apt-get", "indextargets", "--format", _TARGET]).splitlines():
        kind, uri, suite, component = target.split("|")
        if kind == "Packages" and component == "main" and suite.partition("-")[0] == codename:
            lines.add(f"deb-src {uri} {suite} {component}\n")
    if not lines:
        raise SourceError(f"this machine uses no mirror of Debian's {codename}")
    return sorted(lines)


def _codename() -> str:
    found = re.search(r"^VERSION_CODENAME=(\w+)$", Path("/etc/os-release").read_text(), re.MULTILINE)
    if found is None:
        raise SourceError("/etc/os-release names no Debian release")
    return found[1]


def _run(command: list[str], environment: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    try:
        done = subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, check=False)
    except OSError as error:
        raise SourceError(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        tail = " ".join((done.stderr or done.stdout).split()[-60:])
        raise SourceError(f"{' '.join(command)} failed: {tail}")
    return done.stdout
