"""Engines of one version share their rows, and nothing that one of them may change."""

from __future__ import annotations

from redouble.commands import FAMILIES
from redouble.engine import flags as f
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


def test_every_command_that_may_wait_says_where_its_time_out_stands() -> None:
    places = f.TIMEOUT_FIRST | f.TIMEOUT_LAST | f.TIMEOUT_OPTION
    words = {f.TIMEOUT_FIRST: "timeout ", f.TIMEOUT_LAST: " timeout", f.TIMEOUT_OPTION: "[BLOCK milliseconds]"}
    for row in Engine(FAMILIES, "8.0.0").table.rows:
        place = row.flags & places
        assert bool(place) == bool(row.flags & f.BLOCKING), row.full_name
        if place == f.TIMEOUT_FIRST:
            assert row.syntax.startswith(words[place]), row.full_name
        elif place == f.TIMEOUT_LAST:
            assert row.syntax.endswith(words[place]), row.full_name
        elif place:
            assert words[place] in row.syntax, row.full_name
