"""What a script can reach, and what it can't."""

from __future__ import annotations

import pytest

from tests.lua_runtime.host import Lua

GLOBALS = [
    "_G", "_VERSION", "__redis__err__handler", "assert", "bit", "cjson", "cmsgpack", "collectgarbage",
    "coroutine", "error", "gcinfo", "getmetatable", "ipairs", "load", "loadstring", "math", "next", "pairs",
    "pcall", "rawequal", "rawget", "rawset", "redis", "select", "setmetatable", "string", "struct", "table",
    "tonumber", "tostring", "type", "unpack", "xpcall", "KEYS", "ARGV",
]  # fmt: skip


@pytest.fixture
def lua() -> Lua:
    return Lua()


def test_the_globals_are_those_of_redis(lua: Lua) -> None:
    names = lua.reply("local t = {} for k in pairs(_G) do t[#t + 1] = k end table.sort(t) return table.concat(t, ' ')")
    assert isinstance(names, bytes)
    assert names.decode().split() == sorted(GLOBALS)


def test_os_has_a_clock_and_nothing_else_from_7_2_on() -> None:
    assert Lua("7.4.1").reply("return type(os.clock()) .. tostring(os.execute)") == b"numbernil"
    assert Lua("7.0.15").error("return os").endswith("nonexistent global variable 'os'")


@pytest.mark.parametrize(
    "name",
    ["python", "io", "package", "require", "module", "dofile", "loadfile", "print", "newproxy", "debug", "getfenv",
     "setfenv", "lupa"],
)  # fmt: skip
def test_a_dangerous_global_is_not_there(lua: Lua, name: str) -> None:
    message = f"ERR user_script:1: Script attempted to access nonexistent global variable '{name}'"
    assert lua.error(f"return {name}") == message
    assert lua.error(f"return loadstring('return {name}')()").endswith(f"nonexistent global variable '{name}'")
    assert lua.reply(f"return type(rawget(_G, '{name}'))") == b"nil"
    assert lua.error(f"return coroutine.wrap(function() return {name} end)()").endswith(f"'{name}'")


@pytest.mark.parametrize(
    "code",
    ["x = 1", "_G.x = 1", "string.x = 1", "redis.call = nil", "cjson.decode = nil", "getmetatable('').__index = 1",
     "getmetatable(_G).__index = nil", "table.concat = 1", "KEYS = {}", "loadstring('x = 1')()"],
)  # fmt: skip
def test_shared_tables_are_read_only(lua: Lua, code: str) -> None:
    assert lua.error(code).endswith("Attempt to modify a readonly table")


@pytest.mark.parametrize("code", ["rawset(_G, 'x', 1)", "setmetatable(string, {})", "rawset(redis, 'call', 1)"])
def test_raw_access_to_shared_tables_is_refused(lua: Lua, code: str) -> None:
    assert lua.error(code) == "ERR Attempt to modify a readonly table"


def test_what_gets_into_a_shared_table_by_insert_is_gone_with_the_next_script(lua: Lua) -> None:
    lua.reply("table.insert(string, 'x')")
    assert lua.reply("return tostring(string[1])") == b"nil"


def test_a_shared_table_can_be_listed(lua: Lua) -> None:
    script = "local n = 0 for k, v in pairs(string) do n = n + (string[k] == v and 1 or 0) end return n"
    assert lua.reply(script) == 15
    assert lua.reply("return tostring(next(redis) ~= nil) .. type(rawget(redis, 'call'))") == b"truefunction"


def test_nothing_but_plain_lua_values_can_be_found(lua: Lua) -> None:
    script = """
        local seen, bad = {}, {}
        local function walk(path, value)
          local kind = type(value)
          if kind == 'userdata' and value ~= cjson.null or kind == 'thread' then
            bad[#bad + 1] = path
          elseif kind == 'table' and not seen[value] then
            seen[value] = true
            for k, v in pairs(value) do
              walk(path .. '.' .. tostring(k), k)
              walk(path .. '.' .. tostring(k), v)
            end
            walk(path .. '<meta>', getmetatable(value))
          end
        end
        walk('_G', _G)
        walk('string', getmetatable(''))
        return bad"""
    assert lua(script) == b"*0\r\n"


def test_bytecode_is_refused(lua: Lua) -> None:
    script = "local f, err = loadstring(string.dump(function() return 5 end)) return {tostring(f), err}"
    reply = lua.reply(script)
    assert lua.encoder.encode(reply).startswith(b"*2\r\n$3\r\nnil\r\n")
    assert lua.error("return string.dump(redis.call)") == "ERR user_script:1: unable to dump given function"


def test_load_works_within_the_sandbox(lua: Lua) -> None:
    assert lua.reply("return loadstring('return ARGV[1]')()", b"x") == b"x"
    assert lua.reply("local n = 0 return load(function() n = n + 1 return n == 1 and 'return 7' or nil end)()") == 7
    assert lua.error("loadstring('redis.call(\"wrong\")', '@mine')()").startswith("WRONGTYPE")


def test_random_numbers_are_those_of_redis(lua: Lua) -> None:
    script = "math.randomseed(12345) return {math.random(1000000), math.random(1000000), math.random(1000000)}"
    assert lua.reply(script) == [225329, 919184, 206842]
    assert lua.reply("math.randomseed(1700000000.25) return math.random(1, 1)") == 1


def test_the_log_and_the_settings_reach_the_host(lua: Lua) -> None:
    lua.reply("redis.log(redis.LOG_WARNING, 'a', 5, {}, 'b') redis.set_repl(redis.REPL_AOF)")
    assert lua.host.logged == [(3, b"a 5 b")]
    assert lua.host.repl == [1]
    assert lua.reply("return redis.acl_check_cmd('get', 'x')") == 1
    assert lua.error("return redis.acl_check_cmd('huh')") == "ERR Invalid command passed to redis.acl_check_cmd()"


def test_versions_are_shown_and_differ_in_texts() -> None:
    old, new = Lua("7.0.15"), Lua("7.4.1")
    assert new.reply("return {redis.REDIS_VERSION, redis.REDIS_VERSION_NUM}") == [b"7.4.1", 0x070401]
    assert old.error("redis.log(9, 'x')") == "ERR Invalid debug level."
    assert new.error("redis.log(9, 'x')") == "ERR Invalid log level."
