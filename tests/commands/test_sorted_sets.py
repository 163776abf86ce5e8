"""ZADD, ZREM, ZSCORE and other commands on single members."""

import pytest

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis

WRONGTYPE = Failure("WRONGTYPE Operation against a key holding the wrong kind of value")
NOT_A_FLOAT = Failure("ERR value is not a valid float")


def test_members_of_equal_score_come_in_byte_order_not_in_that_of_arrival(redis: Redis) -> None:
    redis("ZADD", "k", 1, "job:zeta")
    redis("ZADD", "k", 1, "job:alpha", 1, "job:ALPHA", 0, "late")
    assert redis("ZRANGE", "k", 0, -1) == [b"late", b"job:ALPHA", b"job:alpha", b"job:zeta"]


def test_zadd_counts_new_members_and_with_ch_changed_ones(redis: Redis) -> None:
    assert redis("ZADD", "k", 1, "a", 2, "b") == 2
    assert redis("ZADD", "k", 5, "a", 2, "b", 3, "c") == 1
    assert redis("ZADD", "k", "CH", 6, "a", 2, "b", 4, "d") == 2
    assert redis("ZADD", "k", 1, "x", 2, "x") == 1
    assert redis("ZSCORE", "k", "x") == b"2"


def test_nx_leaves_old_members_alone_and_xx_adds_none(redis: Redis) -> None:
    redis("ZADD", "k", 1, "a")
    assert redis("ZADD", "k", "NX", 9, "a", 2, "b") == 1
    assert redis("ZADD", "k", "xx", "CH", 8, "a", 3, "c") == 1
    assert redis("ZRANGE", "k", 0, -1, "WITHSCORES") in (
        [b"b", b"2", b"a", b"8"],
        [[b"b", b"2"], [b"a", b"8"]],
    )
    assert redis("ZADD", "missing", "XX", 1, "a") == 0
    assert redis("EXISTS", "missing") == 0


def test_gt_and_lt_still_add_new_members(redis: Redis) -> None:
    redis("ZADD", "k", 5, "a")
    assert redis("ZADD", "k", "GT", "CH", 4, "a", 1, "b") == 1
    assert redis("ZADD", "k", "LT", "CH", 4, "a", 1, "c") == 2
    assert redis("ZMSCORE", "k", "a", "b", "c") == [b"4", b"1", b"1"]


def test_incr_answers_the_new_score_or_null_where_the_options_forbid_it(redis: Redis) -> None:
    assert redis("ZADD", "k", "INCR", 5, "a") == b"5"
    assert redis("ZADD", "k", "INCR", "GT", -1, "a") is None
    assert redis("ZADD", "k", "LT", "INCR", -1, "a") == b"4"
    assert redis("ZADD", "k", "NX", "INCR", 1, "a") is None
    assert redis("ZADD", "k", "XX", "INCR", 1, "b") is None
    assert redis("ZADD", "missing", "XX", "INCR", 1, "b") is None
    assert redis("ZADD", "k", "INCR", 0, "a") == b"4"


def test_clashing_options_are_refused_before_scores_are_read(redis: Redis) -> None:
    both = Failure("ERR XX and NX options at the same time are not compatible")
    exclusive = Failure("ERR GT, LT, and/or NX options at the same time are not compatible")
    assert redis("ZADD", "k", "NX", "XX", "x", "a") == both
    assert redis("ZADD", "k", "NX", "XX", "GT", 1, "a") == both
    assert redis("ZADD", "k", "GT", "LT", 1, "a") == exclusive
    assert redis("ZADD", "k", "NX", "LT", 1, "a") == exclusive
    assert redis("ZADD", "k", "INCR", 1, "a", "x", "b") == Failure(
        "ERR INCR option supports a single increment-element pair"
    )
    assert redis("ZADD", "k", "NX", "GT", 1) == Failure("ERR syntax error")
    assert redis("ZADD", "k", "NX", "CH") == Failure("ERR syntax error")
    assert redis("ZADD", "k", 1, "a", 2) == Failure("ERR syntax error")


def test_one_bad_score_leaves_everything_as_it_was(redis: Redis) -> None:
    assert redis("ZADD", "k", 1, "a", "x", "b") == NOT_A_FLOAT
    assert redis("EXISTS", "k") == 0
    for text in ("nan", " 1", "1 ", "", "1_0", "0x", "1e400"):
        assert redis("ZADD", "k", text, "a") == NOT_A_FLOAT
    assert redis("ZINCRBY", "k", "one", "a") == NOT_A_FLOAT


def test_scores_are_read_as_strtod_reads_them(redis: Redis) -> None:
    for text, score in ((b"0x10", b"16"), (b"+5", b"5"), (b"1e3", b"1000"), (b".5", b"0.5"), (b"-InFinity", b"-inf")):
        redis("ZADD", "k", text, "a")
        assert redis("ZSCORE", "k", "a") == score


def test_scores_up_to_2_to_53_are_exact(redis: Redis) -> None:
    for score in (b"4294967297", b"9007199254740991", b"-9007199254740992"):
        redis("ZADD", "k", score, "a")
        assert redis("ZSCORE", "k", "a") == score
    assert redis("ZINCRBY", "k", 9007199254740992 + 2**21 * 4096, "a") == b"8589934592"


@pytest.mark.since("7.2.0")
def test_a_fraction_is_written_with_the_fewest_digits(redis: Redis) -> None:
    assert redis("ZADD", "k", "INCR", "0.1", "a") == b"0.1"
    assert redis("ZINCRBY", "k", "0.2", "a") == b"0.30000000000000004"
    assert redis("ZINCRBY", "k", "1e20", "a") == b"1e+20"


@pytest.mark.until("7.2.0")
def test_a_fraction_was_written_with_17_digits(redis: Redis) -> None:
    assert redis("ZADD", "k", "INCR", "0.1", "a") == b"0.10000000000000001"


def test_infinity_less_infinity_is_an_error_and_changes_nothing(redis: Redis) -> None:
    nan = Failure("ERR resulting score is not a number (NaN)")
    redis("ZADD", "k", "+inf", "a")
    assert redis("ZINCRBY", "k", "-inf", "a") == nan
    assert redis("ZADD", "k", "INCR", "-inf", "a") == nan
    assert redis("ZSCORE", "k", "a") == b"inf"
    assert redis("ZINCRBY", "k", "1", "a") == b"inf"


def test_zrem_counts_what_there_was_and_the_last_member_takes_the_key_away(redis: Redis) -> None:
    redis("ZADD", "k", 1, "a", 2, "b")
    assert redis("ZREM", "k", "a", "a", "x") == 1
    assert redis("ZCARD", "k") == 1
    assert redis("ZREM", "k", "b", "c") == 1
    assert redis("EXISTS", "k") == 0
    assert redis("ZREM", "k", "b") == 0


def test_a_missing_score_is_null(redis: Redis) -> None:
    redis("ZADD", "k", 1, "a")
    assert redis("ZSCORE", "k", "b") is None
    assert redis("ZSCORE", "missing", "a") is None
    assert redis("ZMSCORE", "k", "b", "a") == [None, b"1"]
    assert redis("ZMSCORE", "missing", "b", "a") == [None, None]


def test_zrank_counts_from_the_lowest_and_zrevrank_from_the_highest(redis: Redis) -> None:
    redis("ZADD", "k", 3, "c", 1, "a", 2, "b", 3, "d")
    assert [redis("ZRANK", "k", member) for member in "abcd"] == [0, 1, 2, 3]
    assert [redis("ZREVRANK", "k", member) for member in "abcd"] == [3, 2, 1, 0]
    assert redis("ZRANK", "k", "x") is None


@pytest.mark.since("7.2.0")
def test_a_missing_rank_with_score_is_a_null_array(redis: Redis) -> None:
    redis("ZADD", "k", 3, "c")
    assert redis("ZREVRANK", "k", "c", "withscore") == [0, b"3"]
    null = b"_\r\n" if redis.resp == 3 else b"*-1\r\n"
    assert redis.raw("ZRANK", "k", "x", "WITHSCORE") == null
    assert redis.raw("ZRANK", "missing", "x", "WITHSCORE") == null
    assert redis("ZRANK", "k", "c", "WITHSCORES") == Failure("ERR syntax error")
    assert redis("ZRANK", "k", "c", "WITHSCORE", "x") == Failure("ERR wrong number of arguments for 'zrank' command")


def test_other_types_are_refused(redis: Redis) -> None:
    redis("SET", "s", "x")
    for command in (("ZADD", "s", 1, "a"), ("ZINCRBY", "s", 1, "a"), ("ZREM", "s", "a"), ("ZSCORE", "s", "a"),
                    ("ZCARD", "s"), ("ZRANK", "s", "a"), ("ZRANDMEMBER", "s"), ("ZSCAN", "s", 0)):  # fmt: skip
        assert redis(*command) == WRONGTYPE
    assert redis("ZADD", "s", "x", "a") == NOT_A_FLOAT


def test_scores_are_doubles_in_resp3(redis: Redis) -> None:
    redis("ZADD", "k", 1.5, "a")
    assert redis.raw("ZSCORE", "k", "a") == (b",1.5\r\n" if redis.resp == 3 else b"$3\r\n1.5\r\n")
    assert redis.raw("ZINCRBY", "k", 1, "a") == (b",2.5\r\n" if redis.resp == 3 else b"$3\r\n2.5\r\n")


def test_each_change_is_announced_once(redis: Redis) -> None:
    listener = Listener(redis)
    redis("ZADD", "k", 1, "a", 2, "b")
    redis("ZADD", "k", 1, "a")
    redis("ZINCRBY", "k", 1, "a")
    redis("ZINCRBY", "k", 0, "a")
    redis("ZADD", "k", "XX", 1, "new")
    redis("ZREM", "k", "missing")
    redis("ZREM", "k", "a", "b")
    assert listener.heard(4) == ["zadd k", "zincr k", "zrem k", "del k"]
    assert listener.silent()


def test_a_set_leaves_the_compact_encoding_for_good(redis: Redis) -> None:
    redis.config("zset-max-listpack-entries", 2)
    redis("ZADD", "k", 1, "a", 2, "b")
    assert redis("OBJECT", "ENCODING", "k") == b"listpack"
    redis("ZADD", "k", 3, "c")
    redis("ZREM", "k", "c")
    assert redis("OBJECT", "ENCODING", "k") == b"skiplist"
    redis("ZADD", "long", 1, "x" * 65)
    assert redis("OBJECT", "ENCODING", "long") == b"skiplist"


def test_zrandmember_gives_different_members_for_a_positive_count(redis: Redis) -> None:
    redis("ZADD", "k", *[item for index in range(10) for item in (index, f"m{index}")])
    assert redis("ZRANDMEMBER", "k") in redis("ZRANGE", "k", 0, -1)
    assert len(set(redis("ZRANDMEMBER", "k", 4))) == 4
    assert sorted(redis("ZRANDMEMBER", "k", 20)) == redis("ZRANGE", "k", 0, -1)
    assert len(redis("ZRANDMEMBER", "k", -20)) == 20
    assert dict(redis.pairs("ZRANDMEMBER", "k", 10, "withscores"))[b"m3"] == b"3"


def test_zrandmember_knows_three_kinds_of_nothing(redis: Redis) -> None:
    redis("ZADD", "k", 1, "a")
    assert redis("ZRANDMEMBER", "missing") is None
    assert redis("ZRANDMEMBER", "missing", 3) == []
    assert redis("ZRANDMEMBER", "k", 0) == []
    assert redis("ZRANDMEMBER", "k", 1, "SCORES") == Failure("ERR syntax error")
    assert redis("ZRANDMEMBER", "k", -(2**63)) == Failure(
        "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"
    )
    assert redis("ZRANDMEMBER", "k", 2**62, "WITHSCORES") == Failure("ERR value is out of range")


def test_zscan_of_a_small_set_gives_everything_in_order(redis: Redis) -> None:
    redis("ZADD", "k", 2, "b", 1, "a", 3, "xyz")
    assert redis("ZSCAN", "k", 0, "COUNT", 1) == [b"0", [b"a", b"1", b"b", b"2", b"xyz", b"3"]]
    assert redis("ZSCAN", "k", 0, "MATCH", "x*") == [b"0", [b"xyz", b"3"]]
    assert redis("ZSCAN", "missing", 0) == [b"0", []]


def test_zscan_of_a_large_set_meets_every_member_that_stays(redis: Redis) -> None:
    redis("ZADD", "k", *[item for index in range(300) for item in (index + 0.1, f"m{index}")])
    seen: dict[bytes, bytes] = {}
    cursor = b"0"
    removed = 0
    while True:
        cursor, items = redis("ZSCAN", "k", cursor, "COUNT", 20)
        seen.update(zip(items[::2], items[1::2], strict=True))
        if cursor == b"0":
            break
        redis("ZREM", "k", f"m{removed}")
        removed += 1
    assert {b"m%d" % index for index in range(removed, 300)} <= set(seen)
    assert seen[b"m200"] == b"200.09999999999999"
