"""Memory: bounded within a script, flat over many."""

from __future__ import annotations

import pytest

from redouble.lua_runtime import runtime as runtime_module
from tests.lua_runtime.host import Lua


@pytest.mark.parametrize(
    "script",
    [
        "local s = 'x' while true do s = s .. s end",
        "local t = {} while true do t[#t + 1] = {} end",
        "local t = {} while true do pcall(function() t[#t + 1] = ('x'):rep(999) .. #t end) redis.pcall('get', 'x') end",
        "local t = {} while true do pcall(function() t[#t + 1] = ('x'):rep(10000) .. #t end) redis.sha1hex('x') end",
        "return ('x'):rep(1e10)",
        "local t = {} for i = 1, 3000000 do t[i] = i end return t",
    ],
)
def test_a_script_that_takes_too_much_memory_ends(script: str, small_memory: Lua) -> None:
    assert "not enough memory" in small_memory.error(script)
    assert small_memory.reply("return redis.call('get', 'x')") == b"value"
    assert small_memory.runtime.memory() < 20 << 20


@pytest.fixture
def small_memory(monkeypatch: pytest.MonkeyPatch) -> Lua:
    options = runtime_module._options
    if not hasattr(options, "__code__"):
        pytest.skip("the limits can only be changed where the module is not compiled")
    monkeypatch.setattr(runtime_module, "_ROOM_ENDS", 16 << 20)
    monkeypatch.setattr(runtime_module, "_MAX_MEMORY", 24 << 20)
    return Lua()


def test_no_lua_state_is_made_before_the_first_script() -> None:
    assert Lua().runtime.memory() == 0


def test_memory_is_flat_over_many_runs() -> None:
    lua = Lua()
    script = """local r = redis.call('nested') redis.call('set') redis.pcall('wrong')
        return {KEYS[1], r[1], cjson.decode('[1]')}"""
    for _ in range(500):
        lua.reply(script, b"a", keys=[b"k"])
    lua.reply("collectgarbage()")
    before = lua.runtime.memory()
    for i in range(5000):
        lua.reply(script, b"%d" % i, keys=[b"%d" % i])
    lua.reply("collectgarbage()")
    assert lua.runtime.memory() <= before + 8192


def test_scripts_of_eval_are_forgotten_beyond_500_and_loaded_ones_kept() -> None:
    runtime = Lua().runtime
    kept = runtime.load(b"return 'kept'")
    passing = [runtime.load(b"return %d" % i, keep=False) for i in range(500)]
    assert runtime.find(passing[0].sha) is passing[0]
    runtime.load(b"return 500", keep=False)
    assert runtime.evicted == 1
    assert runtime.find(passing[1].sha) is None
    assert runtime.find(passing[0].sha) is passing[0]
    assert runtime.find(kept.sha) is kept
    assert len(runtime.scripts) == len(runtime.by_body) == 501


def test_loading_keeps_a_script_of_eval() -> None:
    runtime = Lua().runtime
    script = runtime.load(b"return 'x'", keep=False)
    assert runtime.load(b"return 'x'") is script
    for i in range(600):
        runtime.load(b"return %d" % i, keep=False)
    assert runtime.find(script.sha) is script
