"""What redis.call takes and gives: many arguments and few, numbers as arguments, and lists with nulls."""

from __future__ import annotations

import pytest

from tests.kit import Failure, Redis


@pytest.mark.parametrize("count", [1, 2, 14, 15, 16, 17, 18, 99, 250])
def test_every_argument_arrives_however_many_they_are(redis: Redis, count: int) -> None:
    values = [b"v%d" % number for number in range(count)]
    assert redis("EVAL", "return redis.call('RPUSH', KEYS[1], unpack(ARGV))", 1, "l", *values) == count
    assert redis("LRANGE", "l", 0, -1) == values


@pytest.mark.parametrize("place", [1, 14, 15, 16, 17, 40])
def test_a_nil_among_the_arguments_is_an_error_wherever_it_is(redis: Redis, place: int) -> None:
    fill = "local t = {} for i = 1, 40 do t[i] = 'v' end t[tonumber(ARGV[1])] = nil "
    reply = redis("EVAL", fill + "return redis.call('DEL', unpack(t, 1, 40))", 0, place)
    assert isinstance(reply, Failure)
    assert b"Lua redis lib command arguments must be strings or integers" in bytes(reply)


def test_a_list_of_nulls_is_a_list_of_false_and_in_resp3_of_nil(redis: Redis) -> None:
    redis("HSET", "h", "b", "1")
    read = "local t = redis.call('HMGET', KEYS[1], 'a', 'b', 'c') return {type(t[1]), t[2], type(t[3])}"
    assert redis("EVAL", read, 1, "h") == [b"boolean", b"1", b"boolean"]
    assert redis("EVAL", "redis.setresp(3) " + read, 1, "h") == [b"nil", b"1", b"nil"]
    assert redis("EVAL", read, 1, "none") == [b"boolean", None, b"boolean"]


def test_whole_numbers_arrive_in_full(redis: Redis) -> None:
    redis("EVAL", "redis.call('RPUSH', KEYS[1], 0, -1, 99999999999999, 2^53, -2^53, 1.5)", 1, "l")
    expected = [b"0", b"-1", b"99999999999999", b"9007199254740992", b"-9007199254740992", b"1.5"]
    assert redis("LRANGE", "l", 0, -1) == expected


ZERO = "local zero = tonumber('-0') "


def test_a_negative_zero_keeps_its_sign(redis: Redis) -> None:
    packed = redis("EVAL", ZERO + "return {struct.pack('<dd', zero, '-0'), tostring(1 / zero)}", 0)
    assert packed == [b"\0\0\0\0\0\0\0\x80" * 2, b"-inf"]
    double = redis.raw("EVAL", ZERO + "return {double = zero}", 0)
    assert double == (b",-0\r\n" if redis.resp == 3 else b"$2\r\n-0\r\n")
    assert redis("EVAL", ZERO + "return {zero}", 0) == [0]


@pytest.mark.since("7.2.0")
def test_a_negative_zero_is_an_argument_like_any_whole_number(redis: Redis) -> None:
    assert redis("EVAL", ZERO + "return redis.call('ECHO', zero)", 0) == b"0"
