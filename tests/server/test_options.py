"""The command line and the configuration file, before any server is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from redouble.engine.engine import Engine
from redouble.server.options import OptionError, Options, command_line_text, read_options
from redouble.server.startup import engine_from


def words_of(options: Options) -> list[list[bytes]]:
    return [line.words for line in options.lines]


def engine(*args: str) -> Engine:
    return engine_from(read_options(list(args)))


def test_each_option_becomes_a_line_with_its_values_quoted() -> None:
    assert command_line_text(["--port", "7000", "--bind", "127.0.0.1", "::1"]) == (
        b'port "7000"\nbind "127.0.0.1" "::1"'
    )


def test_name_and_value_may_stand_in_one_argument() -> None:
    assert words_of(read_options(["--port 7000", "--timeout", "5"])) == [[b"port", b"7000"], [b"timeout", b"5"]]


def test_a_value_may_begin_with_two_dashes() -> None:
    assert words_of(read_options(["--requirepass", "--secret"])) == [[b"requirepass", b"--secret"]]


def test_save_without_a_value_means_no_saving() -> None:
    assert words_of(read_options(["--save", "--port", "1"])) == [[b"save", b""], [b"port", b"1"]]
    assert words_of(read_options(["--save"])) == [[b"save", b""]]
    assert words_of(read_options(["--save", ""])) == [[b"save", b""]]


def test_the_command_line_comes_after_the_file(tmp_path: Path) -> None:
    file = tmp_path / "redis.conf"
    file.write_text("# a comment\n\nport 7000\n  maxmemory 1mb\n")
    assert words_of(read_options([str(file), "--port", "7001"])) == [
        [b"port", b"7000"], [b"maxmemory", b"1mb"], [b"port", b"7001"],
    ]  # fmt: skip


def test_a_file_quotes_as_inline_commands_do(tmp_path: Path) -> None:
    file = tmp_path / "redis.conf"
    file.write_text("requirepass \"a b\\x41\\n\"\nlogfile 'it\\'s'\n")
    assert words_of(read_options([str(file)])) == [[b"requirepass", b"a bA\n"], [b"logfile", b"it's"]]


def test_a_file_includes_others_by_name_and_by_pattern(tmp_path: Path) -> None:
    (tmp_path / "a.inc").write_text("timeout 1\n")
    (tmp_path / "b.inc").write_text("timeout 2\n")
    file = tmp_path / "redis.conf"
    file.write_text(f"include {tmp_path}/a.inc\ninclude {tmp_path}/*.inc\ninclude {tmp_path}/*.none\n")
    assert words_of(read_options([str(file)])) == [[b"timeout", b"1"], [b"timeout", b"1"], [b"timeout", b"2"]]


def test_a_file_that_is_not_there_is_fatal() -> None:
    with pytest.raises(OptionError, match=r"can't open config file '/nowhere/redis\.conf'"):
        read_options(["/nowhere/redis.conf"])


@pytest.mark.parametrize(("text", "version"), [("6.2", 60214), ("7.0", 70015), ("7.4", 70401), ("7.2.1", 70201)])
def test_a_version_may_be_short(text: str, version: int) -> None:
    assert engine("--redis-version", text).version == version


def test_a_version_that_means_nothing_is_fatal() -> None:
    with pytest.raises(OptionError, match="redis-version must be one of"):
        read_options(["--redis-version", "seven"])


def test_the_seed_makes_two_servers_choose_alike() -> None:
    assert engine("--seed", "7").run_id == engine("--seed", "7").run_id
    assert engine("--seed", "7").run_id != engine("--seed", "8").run_id


def test_the_number_of_databases_holds_and_is_told() -> None:
    small = engine("--databases", "3")
    assert len(small.space.databases) == 3
    assert small.config.get(b"databases") == b"3"


def test_a_node_of_a_cluster_has_one_database_and_tells_another_number() -> None:
    # As redis-server 7.0.15 does.
    node = engine("--cluster-enabled", "yes")
    assert len(node.space.databases) == 1
    assert node.config.get(b"databases") == b"16"


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["--nonsense", "1"], "Bad directive or wrong number of arguments"),
        (["--port"], "wrong number of arguments"),
        (["--port", "1", "2"], "wrong number of arguments"),
        (["--port", "70000"], "argument must be between 0 and 65535 inclusive"),
        (["--appendonly", "maybe"], "argument must be 'yes' or 'no'"),
        (["--loglevel", "loud"], "one of the following: debug, verbose, notice, warning, nothing"),
        (["--save", "60"], "Invalid save parameters"),
        (["--rename-command", "NOSUCH", "x"], "No such command in rename-command"),
        (["--maxmemory", "'"], "Unbalanced"),
        (["stray"], "can't open config file"),
    ],
)
def test_what_is_wrong_is_said(args: list[str], reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        if reason == "Unbalanced":
            args = ["--maxmemory '", "1"]
        engine(*args)


def test_save_lines_add_up_and_an_empty_one_clears(tmp_path: Path) -> None:
    assert engine("--save", "60", "1", "--save", "5 2").config.get(b"save") == b"60 1 5 2"
    assert engine("--save", "60", "1", "--save", "").config.get(b"save") == b""


def test_a_command_can_be_renamed_or_taken_away() -> None:
    changed = engine("--rename-command", "SET", "PUT", "--rename-command", "GET", "")
    assert changed.table.find([b"set"]) is None
    assert changed.table.find([b"get"]) is None
    row = changed.table.find([b"Put", b"k", b"v"])
    assert row is not None
    assert row.full_name == b"set"


def test_limits_of_the_options_reach_the_engine() -> None:
    limited = engine("--hash-max-ziplist-entries", "7", "--proto-max-bulk-len", "2mb", "--maxclients", "9")
    assert limited.limits.hash_entries == 7
    assert limited.bulk_max == 2 * 1024 * 1024
    assert limited.config.edge.max_clients == 9


def test_an_older_version_knows_only_the_names_of_its_time() -> None:
    old = engine("--redis-version", "6.2")
    assert old.config.matching([b"hash-max-*-entries"]) == [b"hash-max-ziplist-entries", b"512"]
    assert old.config.matching([b"repl-diskless-sync"]) == [b"repl-diskless-sync", b"no"]
    assert old.config.matching([b"set-max-listpack-entries"]) == []
