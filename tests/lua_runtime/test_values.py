"""Values into scripts and out of them. The expected ones are redis-server's."""

from __future__ import annotations

import pytest

from redouble.protocol.reply import Boolean, Bulks, Deep, Double, Map, SetReply, Simple, Verbatim
from tests.lua_runtime.host import Lua


@pytest.fixture
def lua() -> Lua:
    return Lua()


def test_keys_and_arguments_are_tables(lua: Lua) -> None:
    script = "return {#KEYS, #ARGV, KEYS[2], ARGV[1]}"
    assert lua(script, b"x", keys=[b"a", b"b"]) == b"*4\r\n:2\r\n:1\r\n$1\r\nb\r\n$1\r\nx\r\n"


@pytest.mark.parametrize("count", [0, 1, 16, 17, 60, 9000])
def test_any_number_of_keys_and_arguments_arrives_in_order(lua: Lua, count: int) -> None:
    keys = [b"k%d" % i for i in range(count)]
    args = [b"a%d" % i for i in range(count)]
    script = "return {#KEYS, #ARGV, tostring(KEYS[#KEYS]), tostring(ARGV[#ARGV])}"
    last = count - 1
    want = [count, count, b"k%d" % last, b"a%d" % last] if count else [0, 0, b"nil", b"nil"]
    assert lua.reply(script, *args, keys=keys) == want


def test_keys_of_one_run_are_gone_in_the_next(lua: Lua) -> None:
    assert lua.reply("return #KEYS", keys=[b"a"]) == 1
    assert lua.reply("return #KEYS") == 0


@pytest.mark.parametrize(
    ("script", "reply"),
    [
        ("return 3.99", b":3\r\n"),
        ("return -3.99", b":-3\r\n"),
        ("return 1e300", b":-9223372036854775808\r\n"),
        ("return true", b":1\r\n"),
        ("return false", b"$-1\r\n"),
        ("return nil", b"$-1\r\n"),
        ("return", b"$-1\r\n"),
        ("return print", None),
        ("return redis.call", b"$-1\r\n"),
        ("return {1,2,nil,4}", b"*2\r\n:1\r\n:2\r\n"),
        ("return {}", b"*0\r\n"),
        ("return {a=1}", b"*0\r\n"),
        ("return {{1,{2}},'x',false}", b"*3\r\n*2\r\n:1\r\n*1\r\n:2\r\n$1\r\nx\r\n$-1\r\n"),
        ("return {ok='fine'}", b"+fine\r\n"),
        ("return {ok='a\\r\\nb'}", b"+a  b\r\n"),
        ("return {err='BAD x'}", b"-BAD x\r\n"),
        ("return {1,{err='BAD x'},{ok='y'}}", b"*3\r\n:1\r\n-BAD x\r\n+y\r\n"),
        ("return {double=3.5}", b"$3\r\n3.5\r\n"),
        ("return {big_number='123'}", b"$3\r\n123\r\n"),
        ("return {verbatim_string={format='txt',string='abc'}}", b"$3\r\nabc\r\n"),
        ("return {map={a=1}}", b"*2\r\n$1\r\na\r\n:1\r\n"),
        ("return {set={a=true}}", b"*1\r\n$1\r\na\r\n"),
    ],
)
def test_a_result_becomes_a_reply(lua: Lua, script: str, reply: bytes | None) -> None:
    if reply is None:
        assert lua.error(script).endswith("nonexistent global variable 'print'")
    else:
        assert lua(script) == reply


def test_typed_results_keep_their_types() -> None:
    lua = Lua(resp3=True)
    assert isinstance(lua.reply("return {double=3}"), Double)
    assert isinstance(lua.reply("return {map={a=1}}"), Map)
    assert isinstance(lua.reply("return {set={a=1}}"), SetReply)
    assert isinstance(lua.reply("return {verbatim_string={format='txt',string='abc'}}"), Verbatim)
    assert isinstance(lua.reply("redis.setresp(3) return true"), Boolean)
    assert lua.reply("return true") == 1


@pytest.mark.parametrize("count", [0, 1, 50, 51, 5000])
def test_a_list_of_any_length_goes_in_and_out(lua: Lua, count: int) -> None:
    reply = lua.reply(f"return redis.call('items', {count})")
    assert isinstance(reply, Bulks)
    assert reply.items == [b"item"] * count


def test_a_long_nested_result_arrives_whole(lua: Lua) -> None:
    reply = lua.reply("local t = {} for i = 1, 5000 do t[i] = {i} end return t")
    assert reply == [[i] for i in range(1, 5001)]


def test_thousands_of_arguments_are_passed_to_a_command(lua: Lua) -> None:
    assert lua.reply("return redis.call('count', unpack(redis.call('items', 7000)))") == 7000
    assert lua.reply("local a = redis.call('args', unpack(redis.call('items', 101))) return a[101]") == b"item"


@pytest.mark.parametrize("depth", [1, 10, 3000])
def test_a_nested_table_is_not_limited_by_pythons_stack(lua: Lua, depth: int) -> None:
    whole = reply = lua.reply(f"local t = {{}} for i = 1, {depth} do t = {{t}} end return t")
    if isinstance(reply, Deep):
        reply = reply.value
    for _ in range(depth):
        assert isinstance(reply, list)
        reply = reply[0]
    assert reply == []
    assert lua.encoder.encode(whole) == b"*1\r\n" * depth + b"*0\r\n"


@pytest.mark.parametrize(("script", "levels"), [("t[1]=t return t", 7995), ("t.map={x=t} return t", 2665)])
def test_a_table_within_itself_is_cut_off_where_redis_does(lua: Lua, script: str, levels: int) -> None:
    reply = lua.reply("local t = {} " + script)
    assert isinstance(reply, Deep)
    reply = reply.value
    found = 0
    while isinstance(reply, (list, Map)):
        reply = (reply if isinstance(reply, list) else reply.items)[-1]
        found += 1
    assert found == levels
    assert lua.encoder.encode(reply) == b"-ERR reached lua stack limit\r\n"


@pytest.mark.parametrize(
    ("version", "texts"),
    [
        ("7.0.15", [b"1", b"2.5", b"3", b"1e+17", b"0.10000000000000001", b"1700000000123", b"inf"]),
        ("7.4.1", [b"1", b"2.5", b"3", b"100000000000000000", b"0.1", b"1700000000123", b"inf"]),
    ],
)
def test_numbers_become_texts_as_the_version_writes_them(version: str, texts: list[bytes]) -> None:
    reply = Lua(version).reply("return redis.call('args', 1, 2.5, 3.0, 1e17, 0.1, 1700000000123, 1/0)")
    assert isinstance(reply, Bulks)
    assert reply.items == texts


def test_a_reply_of_resp2_has_flat_shapes(lua: Lua) -> None:
    assert lua.reply("return redis.call('map')[4][2]") == 2
    assert lua.reply("return tostring(redis.call('map')[4][3])") == b"false"
    assert lua.reply("return #redis.call('members')") == 2
    assert lua.reply("return redis.call('double')") == b"0.10000000000000001"
    assert lua.reply("return redis.call('yes') + redis.call('no')") == 1
    assert lua.reply("return redis.call('text') .. redis.call('big')") == b"some text12345678901234567890"
    assert lua.reply("return tostring(redis.call('nothing'))") == b"false"
    assert lua.reply("return redis.call('set').ok") == b"OK"


def test_a_reply_of_resp3_has_typed_tables(lua: Lua) -> None:
    def three(script: str) -> object:
        return lua.reply("redis.setresp(3) " + script)

    assert three("return redis.call('map').map.a") == b"1"
    assert three("return tostring(redis.call('map').map.b[3])") == b"nil"
    assert three("return tostring(redis.call('members').set.b)") == b"true"
    assert three("return tostring(redis.call('double').double)") == b"0.1"
    assert three("return tostring(redis.call('yes')) .. tostring(redis.call('no'))") == b"truefalse"
    assert three("return redis.call('text').verbatim_string.format") == b"txt"
    assert three("return redis.call('big').big_number") == b"12345678901234567890"
    assert three("return tostring(redis.call('nothing'))") == b"nil"
    assert lua.reply("return tostring(redis.call('nothing'))") == b"false"
    assert lua.host.resp == [3] * 8


def test_nested_replies_are_nested_tables(lua: Lua) -> None:
    script = "local r = redis.call('nested') return {r[1], r[4][2][2], r[5], r[6].err, #r}"
    simple = lua.reply(script)
    assert isinstance(simple, list)
    assert isinstance(simple[1], Simple)
    assert lua(script) == b"*5\r\n:1\r\n+OK\r\n*2\r\n$1\r\np\r\n$1\r\nq\r\n$9\r\nBAD thing\r\n:6\r\n"


def test_a_status_table_is_fresh_each_time(lua: Lua) -> None:
    assert lua.reply("local a, b = redis.call('set'), redis.call('set') a.ok = 'x' return b.ok") == b"OK"


def test_binary_strings_pass_unchanged(lua: Lua) -> None:
    data = bytes(range(256))
    assert lua.reply("return redis.call('echo', ARGV[1])", data) == data
    assert lua.reply("return #KEYS[1]", keys=[data]) == 256
