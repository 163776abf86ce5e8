"""XADD, XTRIM, XLEN, XRANGE, XREVRANGE, XDEL, XSETID."""

import pytest

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis, Status

INVALID = Failure("ERR Invalid stream ID specified as stream command argument")
SMALLER = Failure("ERR The ID specified in XADD is equal or smaller than the target stream top item")
WRONGTYPE = Failure("WRONGTYPE Operation against a key holding the wrong kind of value")
TWO = Failure("ERR syntax error, MAXLEN and MINID options at the same time are not compatible")
NO_TILDE = Failure("ERR syntax error, LIMIT cannot be used without the special ~ option")
BIGGEST = "18446744073709551615"


def fill(redis: Redis, key: str, count: int) -> None:
    for number in range(1, count + 1):
        redis("XADD", key, f"{number}-0", "n", number)


def ids(reply: list[list[object]]) -> list[object]:
    return [entry[0] for entry in reply]


# -- XADD ---------------------------------------------------------------------------------------


def test_an_entry_comes_back_with_its_fields_in_order(redis: Redis) -> None:
    assert redis("XADD", "s", "1-1", "b", 1, "a", 2, "b", 3) == b"1-1"
    assert redis("XRANGE", "s", "-", "+") == [[b"1-1", [b"b", b"1", b"a", b"2", b"b", b"3"]]]
    assert redis("TYPE", "s") == Status("stream")


def test_automatic_ids_rise_even_within_a_millisecond(redis: Redis) -> None:
    redis("MULTI")
    for _ in range(20):
        redis("XADD", "s", "*", "f", "v")
    added = redis("EXEC")
    parts = [tuple(int(part) for part in id.split(b"-")) for id in added]
    assert parts == sorted(set(parts))


@pytest.mark.since("7.2.0")
def test_time_stands_still_for_ids_in_a_transaction(redis: Redis) -> None:
    redis("MULTI")
    redis("XADD", "s", "*", "f", "v")
    redis("XADD", "s", "*", "f", "v")
    first, second = redis("EXEC")
    assert first.endswith(b"-0")
    assert second == first[:-1] + b"1"


def test_an_automatic_id_follows_a_last_id_of_the_future(redis: Redis) -> None:
    redis("XADD", "s", "99999999999999-7", "f", "v")
    assert redis("XADD", "s", "*", "f", "v") == b"99999999999999-8"
    redis("XADD", "s", f"99999999999999-{BIGGEST}", "f", "v")
    assert redis("XADD", "s", "*", "f", "v") == b"100000000000000-0"


def test_an_id_must_be_above_all_that_ever_were(redis: Redis) -> None:
    redis("XADD", "s", "5-5", "f", "v")
    redis("XDEL", "s", "5-5")
    assert redis("XADD", "s", "5-5", "f", "v") == SMALLER
    assert redis("XADD", "s", "4-9", "f", "v") == SMALLER
    assert redis("XADD", "s", "5", "f", "v") == SMALLER
    assert redis("XLEN", "s") == 0


def test_a_sequence_number_can_be_left_to_the_server(redis: Redis) -> None:
    assert redis("XADD", "s", "0-*", "f", "v") == b"0-1"
    assert redis("XADD", "s", "7-*", "f", "v") == b"7-0"
    assert redis("XADD", "s", "7-*", "f", "v") == b"7-1"
    assert redis("XADD", "s", "6-*", "f", "v") == SMALLER


@pytest.mark.since("7.2.0")
def test_a_millisecond_can_be_full(redis: Redis) -> None:
    redis("XADD", "s", f"7-{BIGGEST}", "f", "v")
    assert redis("XADD", "s", "7-*", "f", "v") == SMALLER


def test_the_smallest_id_is_refused_before_a_stream_comes_into_being(redis: Redis) -> None:
    for id in ("0", "0-0"):
        assert redis("XADD", "s", id, "f", "v") == Failure("ERR The ID specified in XADD must be greater than 0-0")
    assert redis("EXISTS", "s") == 0


def test_after_the_largest_id_nothing_can_be_added(redis: Redis) -> None:
    redis("XADD", "s", f"{BIGGEST}-{BIGGEST}", "f", "v")
    full = Failure("ERR The stream has exhausted the last possible ID, unable to add more items")
    assert redis("XADD", "s", "*", "f", "v") == full
    assert redis("XADD", "s", f"{BIGGEST}-*", "f", "v") == full


def test_xadd_wants_pairs(redis: Redis) -> None:
    arity = Failure("ERR wrong number of arguments for 'xadd' command")
    assert redis("XADD", "s", "*", "f") == arity
    assert redis("XADD", "s", "*", "f", "v", "g") == arity
    assert redis("XADD", "s", "MAXLEN", "5", "*") == arity
    assert redis("XADD", "s", "MAXLEN", "5", "NOMKSTREAM") == arity
    assert redis("XADD", "s", "MAXLEN", "~", "5", "LIMIT", "3") == arity
    assert redis("EXISTS", "s") == 0


def test_the_id_is_checked_before_the_number_of_fields_and_the_type(redis: Redis) -> None:
    redis("SET", "k", "v")
    assert redis("XADD", "k", "x", "f") == Failure("ERR wrong number of arguments for 'xadd' command")
    assert redis("XADD", "k", "x", "f", "v", "g") == INVALID
    assert redis("XADD", "k", "-", "f", "v") == INVALID
    assert redis("XADD", "k", "1-1", "f", "v") == WRONGTYPE


def test_nomkstream_makes_no_stream(redis: Redis) -> None:
    assert redis("XADD", "s", "NOMKSTREAM", "*", "f", "v") is None
    assert redis("EXISTS", "s") == 0
    redis("XADD", "s", "1-1", "f", "v")
    assert redis("XADD", "s", "nomkstream", "2-1", "f", "v") == b"2-1"


def test_xadd_trims_and_may_leave_an_empty_stream(redis: Redis) -> None:
    fill(redis, "s", 3)
    assert redis("XADD", "s", "MAXLEN", "=", "2", "9-0", "f", "v") == b"9-0"
    assert ids(redis("XRANGE", "s", "-", "+")) == [b"3-0", b"9-0"]
    assert redis("XADD", "s", "MINID", "9", "9-1", "f", "v") == b"9-1"
    assert ids(redis("XRANGE", "s", "-", "+")) == [b"9-0", b"9-1"]
    redis("XADD", "s", "MAXLEN", "0", "10", "f", "v")
    assert redis("XLEN", "s") == 0
    assert redis("EXISTS", "s") == 1


# -- trimming -----------------------------------------------------------------------------------


def test_a_tilde_removes_whole_nodes_only(redis: Redis) -> None:
    redis.config("stream-node-max-entries", 10)
    fill(redis, "s", 35)
    assert redis("XTRIM", "s", "MAXLEN", "~", "20") == 10
    assert redis("XTRIM", "s", "MAXLEN", "~", "20") == 0
    assert redis("XTRIM", "s", "MINID", "~", "20") == 0
    assert redis("XTRIM", "s", "MINID", "~", "21") == 10
    assert redis("XTRIM", "s", "MAXLEN", "12") == 3
    assert ids(redis("XRANGE", "s", "-", "+", "COUNT", 1)) == [b"24-0"]


def test_a_node_beyond_the_limit_stays(redis: Redis) -> None:
    redis.config("stream-node-max-entries", 10)
    fill(redis, "s", 60)
    assert redis("XTRIM", "s", "MAXLEN", "~", "0", "LIMIT", "9") == 0
    assert redis("XTRIM", "s", "MAXLEN", "~", "0", "LIMIT", "25") == 20
    assert redis("XTRIM", "s", "MAXLEN", "~", "0", "LIMIT", "0") == 40


def test_without_a_limit_a_hundred_nodes_go_at_once(redis: Redis) -> None:
    redis.config("stream-node-max-entries", 1)
    fill(redis, "s", 150)
    assert redis("XTRIM", "s", "MAXLEN", "~", "0") == 100


def test_an_exact_trim_knows_no_limit(redis: Redis) -> None:
    redis.config("stream-node-max-entries", 1)
    fill(redis, "s", 150)
    assert redis("XTRIM", "s", "MAXLEN", "=", "3") == 147


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["MAXLEN", "-1"], "ERR The MAXLEN argument must be >= 0."),
        (["MAXLEN", "x"], "ERR value is not an integer or out of range"),
        (["MAXLEN", "~", "5", "LIMIT", "-1"], "ERR The LIMIT argument must be >= 0."),
        (["MAXLEN", "5", "LIMIT", "0"], NO_TILDE),
        (["MAXLEN", "=", "5", "LIMIT", "3"], NO_TILDE),
        (["MAXLEN", "5", "MINID", "3"], TWO),
        (["MINID", "3", "MAXLEN", "x"], TWO),
        (["MINID", "+"], INVALID),
    ],
)
def test_bad_trimming_options(redis: Redis, options: list[str], error: str | Failure) -> None:
    expected = Failure(error) if isinstance(error, str) else error
    assert redis("XTRIM", "s", *options) == expected
    assert redis("XADD", "s", *options, "*", "f", "v") == expected


def test_xtrim_needs_a_strategy_and_knows_it_by_name(redis: Redis) -> None:
    unlimited = Failure("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy")
    assert redis("XTRIM", "s", "LIMIT", "5") == unlimited
    assert redis("XADD", "s", "LIMIT", "5", "*", "f", "v") == unlimited
    assert redis("XADD", "s", "LIMIT", "0", "*", "f", "v") == NO_TILDE
    assert redis("XTRIM", "s", "LIMIT", "0") == Failure(
        "ERR syntax error, XTRIM must be called with a trimming strategy"
    )
    assert redis("XTRIM", "s", "NOMKSTREAM", "1") == Failure("ERR syntax error")
    assert redis("XTRIM", "s", "MAXLEN", "1", "MAXLEN") == Failure("ERR syntax error")
    assert redis("XTRIM", "s", "MAXLEN", "1") == 0
    redis("SET", "k", "v")
    assert redis("XTRIM", "k", "MAXLEN", "1") == WRONGTYPE


# -- reading and deleting -------------------------------------------------------------------------


def test_a_range_can_leave_its_ends_out(redis: Redis) -> None:
    for id in ("1-1", "1-2", "2-1", "3-0"):
        redis("XADD", "s", id, "f", "v")
    assert ids(redis("XRANGE", "s", "(1-1", "(3-0")) == [b"1-2", b"2-1"]
    assert ids(redis("XRANGE", "s", "1", "1")) == [b"1-1", b"1-2"]
    assert ids(redis("XREVRANGE", "s", "+", "(1-1", "COUNT", "2")) == [b"3-0", b"2-1"]
    assert ids(redis("XREVRANGE", "s", "(3-0", "-")) == [b"2-1", b"1-2", b"1-1"]
    assert redis("XRANGE", "s", "3", "1") == []


def test_an_end_that_leaves_out_too_much_is_an_error(redis: Redis) -> None:
    start = Failure("ERR invalid start ID for the interval")
    end = Failure("ERR invalid end ID for the interval")
    assert redis("XRANGE", "s", f"({BIGGEST}-{BIGGEST}", "(0") == start
    assert redis("XRANGE", "s", "-", "(0-0") == end
    assert redis("XREVRANGE", "s", "(0-0", f"({BIGGEST}-{BIGGEST}") == start
    assert redis("XRANGE", "s", "(-", "+") == INVALID
    assert redis("XRANGE", "s", "(", "+") == INVALID


def test_count_nought_is_a_null_but_for_a_key_that_is_not_there(redis: Redis) -> None:
    assert redis.raw("XRANGE", "s", "-", "+", "COUNT", "0") == b"*0\r\n"
    redis("XADD", "s", "1-1", "f", "v")
    nothing = b"_\r\n" if redis.resp == 3 else b"*-1\r\n"
    assert redis.raw("XRANGE", "s", "-", "+", "COUNT", "0") == nothing
    assert redis.raw("XREVRANGE", "s", "+", "-", "COUNT", "-5") == nothing
    assert redis("XRANGE", "s", "-", "+", "COUNT") == Failure("ERR syntax error")
    assert len(redis("XRANGE", "s", "-", "+", "COUNT", "0", "COUNT", "1")) == 1


def test_xdel_looks_for_the_key_before_it_reads_the_ids(redis: Redis) -> None:
    assert redis("XDEL", "s", "x") == 0
    fill(redis, "s", 3)
    assert redis("XDEL", "s", "1-0", "x") == INVALID
    assert redis("XDEL", "s", "1-0", "1-0", "7-0", "3") == 2
    assert ids(redis("XRANGE", "s", "-", "+")) == [b"2-0"]
    assert redis("XDEL", "s", "2-0") == 1
    assert redis("EXISTS", "s") == 1


# -- XSETID -------------------------------------------------------------------------------------


def test_xsetid_guards_the_entries(redis: Redis) -> None:
    assert redis("XSETID", "s", "1-1") == Failure("ERR no such key")
    fill(redis, "s", 3)
    assert redis("XSETID", "s", "2-9") == Failure(
        "ERR The ID specified in XSETID is smaller than the target stream top item"
    )
    assert redis("XSETID", "s", "9-0", "ENTRIESADDED", "2") == Failure(
        "ERR The entries_added specified in XSETID is smaller than the target stream length"
    )
    assert redis("XSETID", "s", "9-0", "ENTRIESADDED", "-1") == Failure("ERR entries_added must be positive")
    assert redis("XSETID", "s", "9-0", "MAXDELETEDID", "9-1") == Failure(
        "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id"
    )
    assert redis("XSETID", "s", "9-0", "ENTRIESADDED") == Failure("ERR syntax error")
    assert redis("XSETID", "s", "-") == INVALID
    assert redis("XSETID", "s", "9-0", "MAXDELETEDID", "8-0", "ENTRIESADDED", "70") == Status("OK")
    assert redis("XADD", "s", "9-0", "f", "v") == SMALLER


@pytest.mark.since("7.2.0")
def test_xsetid_does_not_go_back_behind_what_was_deleted(redis: Redis) -> None:
    fill(redis, "s", 3)
    redis("XDEL", "s", "3-0")
    assert redis("XSETID", "s", "2-9") == Failure(
        "ERR The ID specified in XSETID is smaller than current max_deleted_entry_id"
    )


# -- events ---------------------------------------------------------------------------------------


def test_events_of_a_stream(redis: Redis) -> None:
    listener = Listener(redis)
    fill(redis, "s", 3)
    redis("XADD", "s", "MAXLEN", "9", "4", "f", "v")
    redis("XADD", "s", "MAXLEN", "2", "5", "f", "v")
    redis("XTRIM", "s", "MAXLEN", "1")
    redis("XTRIM", "s", "MAXLEN", "1")
    redis("XDEL", "s", "5-0", "5-0")
    redis("XDEL", "s", "5-0")
    redis("XSETID", "s", "7-0")
    events = ["xadd"] * 5 + ["xtrim", "xtrim", "xdel", "xsetid"]
    assert listener.heard(9) == [event + " s" for event in events]
    assert listener.silent()


def test_what_breaks_a_watch(redis: Redis) -> None:
    other = redis.another()
    fill(redis, "s", 3)
    redis("XGROUP", "CREATE", "s", "g", "0")
    for harmless in (
        ["XSETID", "s", "9"], ["XGROUP", "CREATE", "s", "h", "0"], ["XACK", "s", "g", "1"], ["XDEL", "s", "8"],
        ["XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">"], ["XTRIM", "s", "MAXLEN", "50"],
    ):  # fmt: skip
        redis("WATCH", "s")
        other(*harmless)
        redis("MULTI")
        redis("PING")
        assert redis("EXEC") == [Status("PONG")], harmless
    for harmful in (["XADD", "s", "*", "f", "v"], ["XDEL", "s", "1"], ["XTRIM", "s", "MAXLEN", "0"]):
        redis("WATCH", "s")
        other(*harmful)
        redis("MULTI")
        assert redis("EXEC") is None, harmful
