"""The runtime beside redis-server: the same scripts, the same bytes.

`scripts.txt` holds one script a line. The libraries are also compared with made-up input: JSON and MessagePack,
whole and damaged, and all kinds of formats and numbers, from fixed seeds.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from redouble.errors import CommandError
from redouble.lua_runtime import FunctionLibraries
from redouble.protocol.reply import ErrorReply
from tests.kit import RealTarget, Redis
from tests.lua_runtime.host import Lua

#: How many values each library is given; `make fuzz` gives more.
VALUES = int(os.environ.get("FUZZ_VALUES", "200"))

SCRIPTS = [line for line in (Path(__file__).parent / "scripts.txt").read_text().splitlines() if line]

#: Shows types, keys and exact numbers of what a library read.
DESCRIBE = """
local function d(v)
  if type(v) == 'table' then
    local o = {}
    for k, x in pairs(v) do o[#o + 1] = d(k) .. '=' .. d(x) end
    table.sort(o)
    return '{' .. table.concat(o, ';') .. '}'
  elseif type(v) == 'number' then return string.format('%.17g', v)
  elseif type(v) == 'userdata' then return 'null' end
  return type(v) .. ':' .. tostring(v)
end
"""


@pytest.fixture(scope="module")
def real() -> Iterator[Redis]:
    executable = shutil.which("redis-server")
    if executable is None:
        pytest.skip("redis-server is not installed")
    target = RealTarget(executable)
    connection = Redis(target, 2)
    yield connection
    connection.close()
    target.stop()


@pytest.fixture(scope="module")
def lua() -> Lua:
    return Lua("7.0.15")


def compare(real: Redis, lua: Lua, script: str | bytes, *args: bytes) -> None:
    body = script.encode("latin-1") if isinstance(script, str) else script
    assert lua(body, *args) == real.raw("EVAL", body, 0, *args), (body, args)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_gives_the_same_bytes(real: Redis, lua: Lua, script: str) -> None:
    compare(real, lua, script)


def test_random_numbers_are_the_same_for_each_seed(real: Redis, lua: Lua) -> None:
    for seed in (0, 1, -7, 12345, 2**31 - 1, 2**31, 1.5):
        draws = "local t = {} for i = 1, 20 do t[i] = math.random(1, 2000000000) end return t"
        compare(real, lua, f"math.randomseed({seed}) {draws}")


TEXTS = [b"abc", b"", b"a/b", b'"q"', b"\\", b"\n\t", b"\0x", b"\x7f", b"\xc3\xa9", b"\xff\xfe", b"key", b"1", b"nan"]
NUMBERS: list[float] = [
    0, 1, -1, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, -32, -33, -128, -129, -32768,
    -32769, -(2**31), -(2**31) - 1, -(2**63), 0.5, -0.1, 1e15, 123456789012345.6, 1e100, 1e-7, 5e-324, 1.7e308,
]  # fmt: skip
ODD_NUMBERS = [
    b"0x1F", b"01", b"-01", b"+1", b"1.", b".5", b"1e5", b"1E+2", b"-", b"1e", b"inf", b"-inf", b"nan", b"Infinity",
    b"-nan", b"infx", b"0x", b"0x1p4", b"-0", b"1e400", b"nul", b"tru", b"i",
]  # fmt: skip
ODD_ESCAPES = [b"\\u00e9", b"\\ud83d\\ude00", b"\\b\\f", b"\\ud800", b"\\udc00", b"\\u12", b"\\x", b"\\u0000", b"\\/"]


class Maker:
    """Makes values, and their JSON and MessagePack, from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def number(self) -> float:
        r = self.random
        return r.choice([r.choice(NUMBERS), r.randrange(-200, 300), r.uniform(-1e6, 1e6), r.getrandbits(64) - 2**63])

    def value(self, depth: int) -> Any:
        r = self.random
        kind = r.randrange(10) if depth else 0
        if kind < 5:
            return r.choice([self.number(), r.choice(TEXTS), True, False, None])
        if kind < 7:
            return [self.value(depth - 1) for _ in range(r.choice([0, 1, 2, 3, 17]))]
        return {b"%b%d" % (r.choice(TEXTS), r.randrange(5)): self.value(depth - 1) for _ in range(r.choice([0, 1, 4]))}

    def json(self, value: Any) -> bytes:
        r = self.random
        space = r.choice([b"", b"", b" ", b"\n\t"])
        if isinstance(value, bytes):
            text = json.dumps(value.decode("latin-1"), ensure_ascii=r.random() < 0.3).encode("latin-1", "replace")
            return text[:-1] + (r.choice(ODD_ESCAPES) if r.random() < 0.1 else b"") + b'"'
        if isinstance(value, list):
            return b"[" + b",".join(space + self.json(item) for item in value) + space + b"]"
        if isinstance(value, dict):
            members = [space + self.json(key) + b":" + space + self.json(item) for key, item in value.items()]
            return b"{" + b",".join(members) + space + b"}"
        if r.random() < 0.1:
            return r.choice(ODD_NUMBERS)
        return json.dumps(value).encode()

    def msgpack(self, value: Any) -> bytes:
        if isinstance(value, bytes):
            return (bytes((0xA0 + len(value),)) if len(value) < 32 else b"\xda" + struct.pack(">H", len(value))) + value
        if isinstance(value, list):
            head = bytes((0x90 + len(value),)) if len(value) < 16 else b"\xdc" + struct.pack(">H", len(value))
            return head + b"".join(self.msgpack(item) for item in value)
        if isinstance(value, dict):
            head = bytes((0x80 + len(value),))
            return head + b"".join(self.msgpack(key) + self.msgpack(item) for key, item in value.items())
        if value is None or isinstance(value, bool):
            return b"\xc0" if value is None else b"\xc3" if value else b"\xc2"
        if isinstance(value, int) and -(2**63) <= value < 2**63:
            return b"\xd3" + struct.pack(">q", value)
        return b"\xcb" + struct.pack(">d", value)

    def damaged(self, data: bytes) -> bytes:
        r = self.random
        damaged = bytearray(data)
        for _ in range(r.choice([0, 0, 1, 2])):
            if damaged:
                place = r.randrange(len(damaged))
                if r.random() < 0.5:
                    damaged[place] = r.randrange(256)
                else:
                    del damaged[place]
        return bytes(damaged)


def check_cjson(real: Redis, lua: Lua, seed: int) -> None:
    make = Maker(seed)
    text = make.damaged(make.json(make.value(3)))
    compare(real, lua, DESCRIBE + "return d(cjson.decode(ARGV[1]))", text)
    compare(real, lua, "return cjson.encode(cjson.decode(ARGV[1]))", text)


def check_cmsgpack(real: Redis, lua: Lua, seed: int) -> None:
    make = Maker(seed)
    data = make.damaged(make.msgpack(make.value(3)) + (make.msgpack(make.value(1)) if seed % 3 == 0 else b""))
    limit, offset = b"%d" % make.random.choice([0, 1, 2, -1]), b"%d" % make.random.choice([0, 0, 1, 2, -1, 100])
    compare(real, lua, DESCRIBE + "return d({cmsgpack.unpack(ARGV[1])})", data)
    compare(real, lua, DESCRIBE + "return d({cmsgpack.unpack_one(ARGV[1], tonumber(ARGV[2]))})", data, offset)
    script = DESCRIBE + "return d({cmsgpack.unpack_limit(ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]))})"
    compare(real, lua, script, data, limit, offset)
    text = make.json(make.value(3)).replace(b"nan", b"12")
    compare(real, lua, "return cmsgpack.pack(cjson.decode(ARGV[1]))", text)


OPTIONS = [
    ">", "<", "!", "!4", "!8", "!3", "b", "B", "h", "H", "l", "L", "T", "f", "d", "s", "x", " ", "i", "I", "i1", "i2",
    "i3", "i8", "I8", "i9", "i16", "i33", "c", "c0", "c3", "c10", "z", "%", "i0",
]  # fmt: skip


def check_struct(real: Redis, lua: Lua, seed: int) -> None:
    r = random.Random(seed)
    layout = "".join(r.choice(OPTIONS) for _ in range(r.choice([1, 2, 3, 5])))
    values = [
        r.choice([repr(r.choice(NUMBERS)), "'abc'", "'hello world'", "'3'", "nil", "{}"]) for _ in range(seed % 5)
    ]
    compare(real, lua, f"return struct.pack({', '.join([repr(layout), *values])})")
    compare(real, lua, f"return struct.size('{layout}')")
    data = bytes(r.choice([0, 3, 65, r.randrange(256)]) for _ in range(r.choice([0, 4, 8, 30])))
    start = r.choice(["", "", ", 1", ", 3", ", 0", ", -1", ", 100"])
    compare(real, lua, DESCRIBE + f"return d({{struct.unpack('{layout}', ARGV[1]{start})}})", data)


BIT = ["band", "bor", "bxor", "lshift", "rshift", "arshift", "rol", "ror", "bnot", "bswap", "tobit", "tohex"]
ODD_OPERANDS = [
    "'0xff'",
    "'12'",
    "1/0",
    "-1/0",
    "0/0",
    "0.5",
    "1.5",
    "2.5",
    "-0.5",
    "'x'",
    "nil",
    "{}",
    "1e300",
    "2^52",
]


def check_bit(real: Redis, lua: Lua, seed: int) -> None:
    r = random.Random(seed)
    operands = [
        r.choice([repr(r.getrandbits(32)), repr(r.randrange(-40, 40)), repr(r.choice(NUMBERS)), r.choice(ODD_OPERANDS)])
        for _ in range(r.choice([0, 1, 2, 2, 3]))
    ]
    compare(real, lua, f"return {{pcall(bit.{BIT[seed % len(BIT)]}, {', '.join(operands)})}}".replace(", )", ")"))


@pytest.mark.parametrize("check", [check_cjson, check_cmsgpack, check_struct, check_bit])
def test_a_library_gives_the_same_bytes_for_random_values(
    real: Redis, lua: Lua, check: Callable[[Redis, Lua, int], None]
) -> None:
    for seed in range(VALUES):
        check(real, lua, seed)


LIBRARIES = [
    "redis.register_function('f', function() return 1 end)",
    "local x = string.format('a')",
    "x = 1",
    "redis.x = 1",
    "return redis.call('ping')",
    "redis.register_function()",
    "redis.register_function('f')",
    "redis.register_function(1, 2, 3)",
    "redis.register_function({})",
    "redis.register_function({}, 1)",
    "redis.register_function('f', 1)",
    "redis.register_function{function_name='a', callback=function() end, flags={'zz'}}",
    "redis.register_function{function_name='a', callback=function() end, flags={'no-writes', 'no-writes'}}",
    "redis.register_function{function_name='a', callback=function() end, flags=5}",
    "redis.register_function{function_name='a', callback=5}",
    "redis.register_function{function_name=function() end}",
    "redis.register_function{[1]=5}",
    "redis.register_function{[{}]=5}",
    "redis.register_function{foo=5}",
    "redis.register_function{callback=function() end}",
    "redis.register_function{function_name='a'}",
    "redis.register_function{FUNCTION_NAME='a', Callback=function() end, description='d'}",
    "redis.register_function{function_name='a', callback=function() end, description={}}",
    "redis.register_function('a-b', function() end)",
    "redis.register_function('', function() end)",
    "redis.register_function('a', function() end) redis.register_function('a', function() end)",
    "redis.register_function(5, function() end)",
    "for k in pairs(redis) do end",
    "error('x')",
    "syntax error here",
    "redis.log(1)",
    "return _G",
    "\n\nfoo()",
    "",
]


@pytest.mark.parametrize("code", [f"#!lua name=lib\n{code}" for code in LIBRARIES] + [
    "return 1", "#!lua", "#!\n", "#!lua\n", "#!lua name='a\n", "#!lua name=a-b\n", "#!js name=a\n",
    "#!lua name=a name=b\n", "#!lua foo\n", "#!lua name=\n",
    "#!LUA name=z\nredis.register_function('z', function() end)",
])  # fmt: skip
def test_a_library_loads_or_fails_with_the_same_text(real: Redis, lua: Lua, code: str) -> None:
    try:
        reply: Any = FunctionLibraries(lua.runtime).load(code.encode(), True)
    except CommandError as error:
        reply = ErrorReply(error.text)
    want = real.raw("FUNCTION", "LOAD", "REPLACE", code)
    real("FUNCTION", "FLUSH")
    assert lua.encoder.encode(reply) == want
