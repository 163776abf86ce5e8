"""Engines of one version share their rows, and nothing that one of them may change."""

from __future__ import annotations

from redouble.commands import FAMILIES
from redouble.engine.engine import Engine


def test_a_command_that_one_engine_renames_keeps_its_name_elsewhere() -> None:
    first, second = Engine(FAMILIES, "7.4.1"), Engine(FAMILIES, "7.4.1")
    assert first.table.rename(b"flushall", b"hidden") is True
    assert first.table.find([b"FLUSHALL"]) is None
    assert first.table.find([b"HIDDEN"]) is second.table.find([b"flushall"]) is not None
    assert second.table.find([b"hidden"]) is None
    assert Engine(FAMILIES, "7.4.1").table.find([b"FLUSHALL"]) is not None


def test_engines_of_different_versions_have_commands_of_their_own() -> None:
    old, new = Engine(FAMILIES, "6.2.14"), Engine(FAMILIES, "7.4.1")
    assert old.table.find([b"hexpire"]) is None
    assert new.table.find([b"hexpire"]) is not None
    assert [row.index for row in new.table.rows] == list(range(len(new.table.rows)))


def test_a_parameter_that_one_engine_changes_stays_elsewhere() -> None:
    first, second = Engine(FAMILIES, "7.4.1"), Engine(FAMILIES, "7.4.1")
    first.config.set(b"maxmemory", b"1mb")
    assert (first.config.get(b"maxmemory"), second.config.get(b"maxmemory")) == (b"1048576", b"0")
