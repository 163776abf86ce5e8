"""XGROUP, XACK, XPENDING, XCLAIM, XAUTOCLAIM."""

from typing import Any

import pytest

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis, Status

INVALID = Failure("ERR Invalid stream ID specified as stream command argument")
NOT_AN_INTEGER = Failure("ERR value is not an integer or out of range")
SYNTAX = Failure("ERR syntax error")
WRONGTYPE = Failure("WRONGTYPE Operation against a key holding the wrong kind of value")
NO_KEY = Failure(
    "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM "
    "option to create an empty stream automatically."
)


def group_of(redis: Redis, count: int, consumer: str = "a") -> None:
    """A stream of `count` entries, all pending for one consumer of group g."""
    for number in range(1, count + 1):
        redis("XADD", "s", f"{number}-0", "n", number)
    redis("XGROUP", "CREATE", "s", "g", "0")
    redis("XREADGROUP", "GROUP", "g", consumer, "STREAMS", "s", ">")


def owners(redis: Redis) -> list[tuple[bytes, bytes, int]]:
    return [(id, owner, count) for id, owner, _, count in redis("XPENDING", "s", "g", "-", "+", 100)]


def unknown(container: str, word: str) -> Failure:
    return Failure(f"ERR unknown subcommand or wrong number of arguments for '{word}'. Try {container} HELP.")


# -- XGROUP -------------------------------------------------------------------------------------


def test_a_group_can_make_its_stream(redis: Redis) -> None:
    assert redis("XGROUP", "CREATE", "s", "g", "$") == NO_KEY
    assert redis("XGROUP", "CREATE", "s", "g", "x", "MKSTREAM") == INVALID
    assert redis("EXISTS", "s") == 0
    assert redis("XGROUP", "CREATE", "s", "g", "$", "mkstream") == Status("OK")
    assert redis("XLEN", "s") == 0
    busy = Failure("BUSYGROUP Consumer Group name already exists")
    assert redis("XGROUP", "CREATE", "s", "g", "$", "MKSTREAM") == busy
    assert redis("XGROUP", "CREATE", "s", "g", "x") == INVALID


def test_xgroup_reads_its_options_first(redis: Redis) -> None:
    redis("SET", "k", "v")
    assert redis("XGROUP", "CREATE", "k", "g", "x", "FOO") == unknown("XGROUP", "CREATE")
    assert redis("XGROUP", "CREATE", "k", "g", "x", "ENTRIESREAD") == unknown("XGROUP", "CREATE")
    assert redis("XGROUP", "CREATE", "k", "g", "x", "ENTRIESREAD", "x") == NOT_AN_INTEGER
    assert redis("XGROUP", "SETID", "k", "g", "x", "ENTRIESREAD", "-2") == Failure(
        "ERR value for ENTRIESREAD must be positive or -1"
    )
    assert redis("XGROUP", "SETID", "k", "g", "x", "MKSTREAM") == unknown("XGROUP", "SETID")
    assert redis("XGROUP", "CREATE", "k", "g", "x") == WRONGTYPE
    assert redis("XGROUP", "CREATE", "s", "g", "0", *["MKSTREAM"] * 4) == unknown("XGROUP", "CREATE")
    assert redis("EXISTS", "s") == 0


def test_a_group_that_is_not_there(redis: Redis) -> None:
    redis("XADD", "s", "1-0", "f", "v")
    missing = Failure("NOGROUP No such consumer group 'g' for key name 's'")
    for rest in (["SETID", "s", "g", "0"], ["CREATECONSUMER", "s", "g", "c"], ["DELCONSUMER", "s", "g", "c"]):
        assert redis("XGROUP", *rest) == missing
        assert redis("XGROUP", rest[0], "none", *rest[2:]) == NO_KEY
    assert redis("XGROUP", "DESTROY", "s", "g") == 0
    assert redis("XGROUP", "DESTROY", "none", "g") == NO_KEY
    assert redis("XINFO", "CONSUMERS", "s", "g") == missing
    assert redis("XACK", "s", "g", "x") == 0
    assert redis("XACK", "none", "g", "x") == 0
    absent = Failure("NOGROUP No such key 's' or consumer group 'g'")
    assert redis("XPENDING", "s", "g") == absent
    assert redis("XCLAIM", "s", "g", "c", "x", "x") == absent
    assert redis("XAUTOCLAIM", "s", "g", "c", "0", "0") == absent


def test_setid_moves_a_group_back_and_forth(redis: Redis) -> None:
    group_of(redis, 3)
    read = ["XREADGROUP", "GROUP", "g", "b", "COUNT", "1", "STREAMS", "s", ">"]
    assert redis("XGROUP", "SETID", "s", "g", "1") == Status("OK")
    redis(*read)
    assert owners(redis) == [(b"1-0", b"a", 1), (b"2-0", b"b", 1), (b"3-0", b"a", 1)]
    assert redis("XGROUP", "SETID", "s", "g", "$") == Status("OK")
    assert redis(*read) is None
    assert redis("XGROUP", "SETID", "s", "g", "-") == Status("OK")
    assert redis("XGROUP", "SETID", "s", "g", "(1") == INVALID


def test_a_consumer_takes_what_is_pending_with_it(redis: Redis) -> None:
    group_of(redis, 3)
    assert redis("XGROUP", "CREATECONSUMER", "s", "g", "b") == 1
    assert redis("XGROUP", "CREATECONSUMER", "s", "g", "b") == 0
    redis("XCLAIM", "s", "g", "b", "0", "2-0")
    assert redis("XGROUP", "DELCONSUMER", "s", "g", "a") == 2
    assert redis("XGROUP", "DELCONSUMER", "s", "g", "a") == 0
    assert owners(redis) == [(b"2-0", b"b", 2)]


def test_unknown_subcommands(redis: Redis) -> None:
    assert redis("XGROUP", "FOO", "s", "g") == Failure("ERR unknown subcommand 'FOO'. Try XGROUP HELP.")
    assert redis("XGROUP", "CREATE", "s", "g") == Failure("ERR wrong number of arguments for 'xgroup|create' command")
    assert redis("XGROUP") == Failure("ERR wrong number of arguments for 'xgroup' command")
    assert redis("XGROUP", "HELP")[0].startswith(b"XGROUP <subcommand>")
    assert redis("XINFO", "HELP")[0].startswith(b"XINFO <subcommand>")


def test_events_of_groups(redis: Redis) -> None:
    listener = Listener(redis)
    redis("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    redis("XGROUP", "SETID", "s", "g", "0")
    redis("XGROUP", "CREATECONSUMER", "s", "g", "a")
    redis("XGROUP", "CREATECONSUMER", "s", "g", "a")
    redis("XADD", "s", "1-0", "f", "v")
    redis("XREADGROUP", "GROUP", "g", "b", "STREAMS", "s", ">")
    redis("XCLAIM", "s", "g", "c", "0", "1-0")
    redis("XACK", "s", "g", "1-0")
    redis("XGROUP", "DELCONSUMER", "s", "g", "a")
    redis("XGROUP", "DESTROY", "s", "g")
    events = ["create", "setid", "createconsumer", "xadd", "createconsumer", "createconsumer", "delconsumer", "destroy"]
    assert listener.heard(8) == [event + " s" if event == "xadd" else f"xgroup-{event} s" for event in events]
    assert listener.silent()


# -- XACK, XPENDING -----------------------------------------------------------------------------


def test_xack_acknowledges_all_or_nothing(redis: Redis) -> None:
    group_of(redis, 3)
    assert redis("XACK", "s", "g", "1-0", "x") == INVALID
    assert redis("XACK", "s", "g", "1-0", "1-0", "3", "9-9") == 2
    assert owners(redis) == [(b"2-0", b"a", 1)]
    redis("SET", "k", "v")
    assert redis("XACK", "k", "g", "1-0") == WRONGTYPE


def test_a_summary_of_what_is_pending(redis: Redis) -> None:
    group_of(redis, 3)
    redis("XGROUP", "CREATECONSUMER", "s", "g", "idle")
    redis("XCLAIM", "s", "g", "b", "0", "2-0")
    assert redis("XPENDING", "s", "g") == [3, b"1-0", b"3-0", [[b"a", b"2"], [b"b", b"1"]]]
    redis("XACK", "s", "g", "1", "2", "3")
    nothing = b"_\r\n_\r\n_\r\n" if redis.resp == 3 else b"$-1\r\n$-1\r\n*-1\r\n"
    assert redis.raw("XPENDING", "s", "g") == b"*4\r\n:0\r\n" + nothing


def test_pending_entries_of_a_range(redis: Redis) -> None:
    group_of(redis, 4)
    redis("XCLAIM", "s", "g", "b", "0", "2-0")

    def listed(*args: object) -> list[bytes]:
        return [pending[0] for pending in redis("XPENDING", "s", "g", *args)]

    assert listed("(1", "+", 2) == [b"2-0", b"3-0"]
    assert listed("-", "(3-0", 9) == [b"1-0", b"2-0"]
    assert listed("-", "+", 9, "b") == [b"2-0"]
    assert listed("-", "+", 9, "nobody") == []
    assert listed("-", "+", -1) == []
    assert listed("IDLE", 0, "-", "+", 9, "a") == [b"1-0", b"3-0", b"4-0"]
    assert listed("IDLE", 1000000, "-", "+", 9) == []


def test_pending_entries_grow_old(redis: Redis) -> None:
    group_of(redis, 2)
    redis.pass_time(30)
    redis("XCLAIM", "s", "g", "b", "0", "2-0")
    assert redis("XPENDING", "s", "g", "-", "+", 9)[0][2] >= 30
    assert [pending[0] for pending in redis("XPENDING", "s", "g", "IDLE", 25, "-", "+", 9)] == [b"1-0"]


def test_bad_ranges_of_xpending(redis: Redis) -> None:
    assert redis("XPENDING", "s", "g", "-") == SYNTAX
    assert redis("XPENDING", "s", "g", "IDLE", "x", "-", "+") == NOT_AN_INTEGER
    assert redis("XPENDING", "s", "g", "IDLE", "1", "-", "+") == SYNTAX
    assert redis("XPENDING", "s", "g", "x", "x", "x") == NOT_AN_INTEGER
    assert redis("XPENDING", "s", "g", "x", "(0", "1") == INVALID
    assert redis("XPENDING", "s", "g", "-", "(0-0", "1") == Failure("ERR invalid end ID for the interval")
    assert redis("XPENDING", "s", "g", "-", "+", "1", "c", "c", "c", "c") == SYNTAX


# -- XCLAIM -------------------------------------------------------------------------------------


def test_a_claim_changes_the_owner_and_counts(redis: Redis) -> None:
    group_of(redis, 3)
    assert redis("XCLAIM", "s", "g", "b", "0", "1-0", "9-9") == [[b"1-0", [b"n", b"1"]]]
    assert redis("XCLAIM", "s", "g", "b", "0", "2-0", "JUSTID") == [b"2-0"]
    assert redis("XCLAIM", "s", "g", "b", "0", "3-0", "RETRYCOUNT", "7", "JUSTID") == [b"3-0"]
    assert owners(redis) == [(b"1-0", b"b", 2), (b"2-0", b"b", 1), (b"3-0", b"b", 7)]
    assert redis("XCLAIM", "s", "g", "a", "100000", "1-0") == []


def test_force_claims_what_was_not_pending(redis: Redis) -> None:
    group_of(redis, 2)
    redis("XACK", "s", "g", "1-0", "2-0")
    assert redis("XCLAIM", "s", "g", "b", "100000", "1-0") == []
    assert redis("XCLAIM", "s", "g", "b", "100000", "1-0", "2-0", "8-8", "FORCE", "JUSTID") == [b"1-0", b"2-0"]
    assert owners(redis) == [(b"1-0", b"b", 1), (b"2-0", b"b", 1)]


def test_a_claim_drops_what_was_deleted(redis: Redis) -> None:
    group_of(redis, 3)
    redis("XDEL", "s", "1-0")
    assert redis("XCLAIM", "s", "g", "b", "0", "1-0", "2-0", "JUSTID") == [b"2-0"]
    assert [owner[0] for owner in owners(redis)] == [b"2-0", b"3-0"]


def test_a_claim_sets_the_idle_time(redis: Redis) -> None:
    group_of(redis, 3)
    redis("XCLAIM", "s", "g", "b", "0", "1-0", "IDLE", "50000")
    redis("XCLAIM", "s", "g", "b", "0", "2-0", "TIME", "1000")
    redis("XCLAIM", "s", "g", "b", "0", "3-0", "TIME", "99999999999999")
    idle = [pending[2] for pending in redis("XPENDING", "s", "g", "-", "+", 9)]
    assert 50000 <= idle[0] < 60000
    assert idle[1] > 1600000000000
    assert idle[2] < 10000


def test_lastid_moves_the_group_forward_only(redis: Redis) -> None:
    group_of(redis, 3)
    redis("XGROUP", "SETID", "s", "g", "2")
    redis("XCLAIM", "s", "g", "b", "0", "1-0", "LASTID", "1-0")
    assert redis("XINFO", "GROUPS", "s")[0][7] == b"2-0"
    redis("XCLAIM", "s", "g", "b", "0", "1-0", "LASTID", "5-0")
    assert redis("XINFO", "GROUPS", "s")[0][7] == b"5-0"


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["x", "1-0"], "ERR Invalid min-idle-time argument for XCLAIM"),
        (["0", "1-0", "IDLE", "x"], "ERR Invalid IDLE option argument for XCLAIM"),
        (["0", "1-0", "TIME", "x"], "ERR Invalid TIME option argument for XCLAIM"),
        (["0", "1-0", "RETRYCOUNT", "x"], "ERR Invalid RETRYCOUNT option argument for XCLAIM"),
        (["0", "1-0", "RETRYCOUNT"], "ERR Unrecognized XCLAIM option 'RETRYCOUNT'"),
        (["0", "1-0", "LASTID", "x"], "ERR Invalid stream ID specified as stream command argument"),
        (["0", "1-0", "foo", "2-0"], "ERR Unrecognized XCLAIM option 'foo'"),
    ],
)
def test_bad_claims_change_nothing(redis: Redis, args: list[str], error: str) -> None:
    group_of(redis, 1)
    assert redis("XCLAIM", "s", "g", "b", *args) == Failure(error)
    assert owners(redis) == [(b"1-0", b"a", 1)]


# -- XAUTOCLAIM ---------------------------------------------------------------------------------


def test_autoclaim_goes_on_where_it_stopped(redis: Redis) -> None:
    group_of(redis, 5)
    redis("XDEL", "s", "2-0")
    claim = ["XAUTOCLAIM", "s", "g", "b", "0"]
    assert redis(*claim, "-", "COUNT", "2") == [b"3-0", [[b"1-0", [b"n", b"1"]]], [b"2-0"]]
    assert redis(*claim, "3-0", "COUNT", "2", "JUSTID") == [b"5-0", [b"3-0", b"4-0"], []]
    assert redis(*claim, "(4", "JUSTID") == [b"0-0", [b"5-0"], []]
    assert owners(redis) == [(b"1-0", b"b", 2), (b"3-0", b"b", 1), (b"4-0", b"b", 1), (b"5-0", b"b", 1)]


def test_autoclaim_looks_at_ten_times_its_count(redis: Redis) -> None:
    group_of(redis, 15)
    redis.pass_time(30)
    redis("XCLAIM", "s", "g", "a", "0", *[f"{number}-0" for number in range(1, 12)], "JUSTID")
    assert redis("XAUTOCLAIM", "s", "g", "b", "25", "-", "COUNT", "1", "JUSTID") == [b"11-0", [], []]
    assert redis("XAUTOCLAIM", "s", "g", "b", "25", "11-0", "COUNT", "1", "JUSTID") == [b"13-0", [b"12-0"], []]


def test_bad_arguments_of_autoclaim(redis: Redis) -> None:
    claim = ["XAUTOCLAIM", "s", "g", "b"]
    idle = Failure("ERR Invalid min-idle-time argument for XAUTOCLAIM")
    count = Failure("ERR COUNT must be > 0")
    assert redis(*claim, "x", "x") == idle
    assert redis(*claim, "0", "x") == INVALID
    assert redis(*claim, "0", "0", "COUNT", "0") == count
    assert redis(*claim, "0", "0", "COUNT", "x") == count
    assert redis(*claim, "0", "0", "COUNT") == SYNTAX
    assert redis(*claim, "0", "0", "COUNT", str((1 << 63) // 16)) == count


# -- XINFO --------------------------------------------------------------------------------------


def fields(reply: list[Any]) -> dict[bytes, Any]:
    return dict(zip(reply[::2], reply[1::2], strict=True))


def test_xinfo_stream_counts(redis: Redis) -> None:
    redis.config("stream-node-max-entries", 2)
    for number in range(1, 6):
        redis("XADD", "s", f"{number}-0", "n", number)
    redis("XDEL", "s", "4-0")
    redis("XTRIM", "s", "MAXLEN", "3")
    redis("XGROUP", "CREATE", "s", "g", "0")
    assert fields(redis("XINFO", "STREAM", "s")) == {
        b"length": 3,
        b"radix-tree-keys": 3,
        b"radix-tree-nodes": 8,
        b"last-generated-id": b"5-0",
        b"max-deleted-entry-id": b"4-0",
        b"entries-added": 5,
        b"recorded-first-entry-id": b"2-0",
        b"groups": 1,
        b"first-entry": [b"2-0", [b"n", b"2"]],
        b"last-entry": [b"5-0", [b"n", b"5"]],
    }
    redis("XTRIM", "s", "MAXLEN", "0")
    empty = fields(redis("XINFO", "STREAM", "s"))
    assert (empty[b"recorded-first-entry-id"], empty[b"first-entry"], empty[b"last-entry"]) == (b"0-0", None, None)


def test_the_whole_of_a_stream(redis: Redis) -> None:
    group_of(redis, 12)
    redis("XGROUP", "CREATE", "s", "f", "5")
    redis("XCLAIM", "s", "g", "b", "0", "2-0")
    whole = fields(redis("XINFO", "STREAM", "s", "FULL"))
    assert len(whole[b"entries"]) == 10
    first, second = [fields(group) for group in whole[b"groups"]]
    assert (first[b"name"], first[b"entries-read"], first[b"lag"], first[b"consumers"]) == (b"f", None, None, [])
    assert (second[b"name"], second[b"entries-read"], second[b"lag"], second[b"pel-count"]) == (b"g", 12, 0, 12)
    assert [pending[:2] + pending[3:] for pending in second[b"pending"]][:2] == [[b"1-0", b"a", 1], [b"2-0", b"b", 2]]
    consumers = [fields(consumer) for consumer in second[b"consumers"]]
    assert [(one[b"name"], one[b"pel-count"], len(one[b"pending"])) for one in consumers] == [
        (b"a", 11, 10),
        (b"b", 1, 1),
    ]
    everything = fields(redis("XINFO", "STREAM", "s", "full", "count", "0"))
    assert len(everything[b"entries"]) == 12


def test_bad_forms_of_xinfo(redis: Redis) -> None:
    assert redis("XINFO", "STREAM", "s", "FOO") == Failure("ERR no such key")
    redis("XADD", "s", "1-0", "f", "v")
    for rest in (["FOO"], ["FULL", "COUNT"], ["FULL", "COUNTS", "1"], ["FULL", "COUNT", "1", "2"]):
        assert redis("XINFO", "STREAM", "s", *rest) == unknown("XINFO", "STREAM")
    assert redis("XINFO", "STREAM", "s", "FULL", "COUNT", "x") == NOT_AN_INTEGER
    assert redis("XINFO", "GROUPS", "s") == []
    assert redis("XINFO", "GROUPS", "none") == Failure("ERR no such key")
    redis("SET", "k", "v")
    assert redis("XINFO", "GROUPS", "k") == WRONGTYPE


@pytest.mark.since("7.2.0")
def test_a_consumer_that_only_asks_is_seen_but_not_active(redis: Redis) -> None:
    redis("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    redis("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
    assert fields(redis("XINFO", "CONSUMERS", "s", "g")[0])[b"inactive"] == -1
    redis("XADD", "s", "1-0", "f", "v")
    redis("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
    redis.pass_time(30)
    redis("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
    consumer = fields(redis("XINFO", "CONSUMERS", "s", "g")[0])
    assert consumer[b"pending"] == 1
    assert consumer[b"inactive"] >= 30 > consumer[b"idle"]


def test_the_lag_is_counted_until_a_deletion_makes_it_unsure(redis: Redis) -> None:
    for number in range(1, 6):
        redis("XADD", "s", f"{number}-0", "n", number)
    redis("XGROUP", "CREATE", "s", "g", "0")

    def progress() -> tuple[object, object]:
        group = fields(redis("XINFO", "GROUPS", "s")[0])
        return group[b"entries-read"], group[b"lag"]

    assert progress() == (None, 5)
    redis("XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", "s", ">")
    assert progress() == (1, 4)
    redis("XDEL", "s", "3-0")
    assert progress() == (1, None)
    redis("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
    assert progress() == (5, 0)
