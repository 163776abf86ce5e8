"""SORT and SORT_RO."""

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis


def test_numbers_sort_by_value_and_texts_by_bytes(redis: Redis) -> None:
    redis("RPUSH", "l", 10, 9, "-1", "1e1", 2.5)
    assert redis("SORT", "l") == [b"-1", b"2.5", b"9", b"10", b"1e1"]
    assert redis("SORT", "l", "DESC") == [b"1e1", b"10", b"9", b"2.5", b"-1"]
    assert redis("SORT", "l", "ALPHA") == [b"-1", b"10", b"1e1", b"2.5", b"9"]


def test_elements_that_are_no_numbers(redis: Redis) -> None:
    bad = Failure("ERR One or more scores can't be converted into double")
    for element in ("abc", "1 ", "nan"):
        redis("DEL", "l")
        redis("RPUSH", "l", "1", element)
        assert redis("SORT", "l") == bad
    redis("DEL", "l")
    redis("RPUSH", "l", "", " 5", "inf", "0x10")
    assert redis("SORT", "l") == [b"", b" 5", b"0x10", b"inf"]


def test_sets_and_sorted_sets_are_sorted_too(redis: Redis) -> None:
    redis("SADD", "s", 3, 1, 2)
    redis("ZADD", "z", 1, 30, 2, 20, 3, 10)
    assert redis("SORT", "s") == [b"1", b"2", b"3"]
    assert redis("SORT", "z") == [b"10", b"20", b"30"]
    assert redis("SORT", "none") == []
    redis("SET", "k", "v")
    assert redis("SORT", "k") == Failure("WRONGTYPE Operation against a key holding the wrong kind of value")


def test_limit(redis: Redis) -> None:
    redis("RPUSH", "l", 5, 4, 3, 2, 1)
    assert redis("SORT", "l", "LIMIT", 1, 2) == [b"2", b"3"]
    assert redis("SORT", "l", "LIMIT", -5, 2) == [b"1", b"2"]
    assert redis("SORT", "l", "LIMIT", 3, -1) == [b"4", b"5"]
    assert redis("SORT", "l", "LIMIT", 2, 0) == []
    assert redis("SORT", "l", "LIMIT", 9, 9) == []


def test_by_and_get_follow_patterns_to_strings_and_hash_fields(redis: Redis) -> None:
    redis("RPUSH", "l", 1, 2, 3)
    redis("MSET", "w1", 30, "w2", 20, "w3", 10)
    redis("HSET", "h1", "f", "one")
    redis("HSET", "h3", "f", "three")
    assert redis("SORT", "l", "BY", "w*") == [b"3", b"2", b"1"]
    got = redis("SORT", "l", "BY", "w*", "GET", "#", "GET", "h*->f", "GET", "fixed", "GET", "w*->f")
    assert got == [b"3", b"three", None, None, b"2", None, None, None, b"1", b"one", None, None]
    assert redis("SORT", "l", "BY", "h*->f", "ALPHA") == [b"2", b"1", b"3"]


def test_elements_without_a_weight_weigh_nothing(redis: Redis) -> None:
    redis("RPUSH", "l", "b", "a", "c")
    redis("SET", "wc", -1)
    assert redis("SORT", "l", "BY", "w*") == [b"c", b"a", b"b"]
    assert redis("SORT", "l", "BY", "w*", "DESC") == [b"b", b"a", b"c"]


def test_a_by_without_a_star_leaves_the_order(redis: Redis) -> None:
    redis("RPUSH", "l", "c", "a", "b")
    redis("ZADD", "z", 1, "c", 2, "a", 3, "b")
    for key in ("l", "z"):
        assert redis("SORT", key, "BY", "nosort") == [b"c", b"a", b"b"]
        assert redis("SORT", key, "BY", "nosort", "DESC") == [b"b", b"a", b"c"]
        assert redis("SORT", key, "BY", "nosort", "LIMIT", 1, 1) == [b"a"]
        assert redis("SORT", key, "BY", "nosort", "DESC", "LIMIT", 0, 2) == [b"b", b"a"]
    assert redis("SORT", "l", "BY", "nosort", "BY", "w*") == [b"c", b"a", b"b"]


def test_an_unordered_set_is_sorted_when_it_is_stored(redis: Redis) -> None:
    redis("SADD", "s", "c", "a", "b")
    assert redis("SORT", "s", "BY", "nosort", "STORE", "to") == 3
    assert redis("LRANGE", "to", 0, -1) == [b"a", b"b", b"c"]


def test_store_makes_a_list_or_deletes(redis: Redis) -> None:
    listener = Listener(redis)
    redis("RPUSH", "l", 2, 1)
    redis("SET", "to", "x", "EX", 100)
    assert redis("SORT", "l", "GET", "#", "GET", "none*", "STORE", "to") == 4
    assert redis("LRANGE", "to", 0, -1) == [b"1", b"", b"2", b""]
    assert redis("TTL", "to") == -1
    assert redis("SORT", "none", "STORE", "to") == 0
    assert redis("EXISTS", "to") == 0
    assert listener.heard(5) == ["rpush l", "set to", "expire to", "sortstore to", "del to"]


def test_a_key_may_be_sorted_into_itself(redis: Redis) -> None:
    redis("SADD", "k", 3, 1, 2)
    assert redis("SORT", "k", "DESC", "STORE", "k") == 3
    assert redis("LRANGE", "k", 0, -1) == [b"3", b"2", b"1"]


def test_sort_ro_stores_nothing(redis: Redis) -> None:
    redis("RPUSH", "l", 2, 1)
    assert redis("SORT_RO", "l") == [b"1", b"2"]
    assert redis("SORT_RO", "l", "STORE", "to") == Failure("ERR syntax error")


def test_sort_options_are_checked(redis: Redis) -> None:
    syntax = Failure("ERR syntax error")
    assert redis("SORT", "l", "LIMIT", 1) == syntax
    assert redis("SORT", "l", "BY") == syntax
    assert redis("SORT", "l", "UP") == syntax
    assert redis("SORT", "l", "LIMIT", "x", 1) == Failure("ERR value is not an integer or out of range")


def test_the_keys_of_a_sort(redis: Redis) -> None:
    assert redis("COMMAND", "GETKEYS", "SORT", "a", "GET", "STORE", "STORE", "x", "STORE", "y") == [b"a", b"y"]
    assert redis("COMMAND", "GETKEYS", "SORT_RO", "a", "BY", "w*") == [b"a"]
