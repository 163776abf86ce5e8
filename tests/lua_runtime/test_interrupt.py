"""Long scripts: the hook, killing, and leaving a script in the middle."""

from __future__ import annotations

import pytest

from redouble.errors import CommandError
from redouble.lua_runtime import FunctionLibraries
from redouble.lua_runtime.interrupt import KILLED, LOAD_TIMEOUT, SUSPENDED, ScriptFiber
from redouble.protocol.reply import ErrorReply
from tests.lua_runtime.host import Lua

#: Scripts that never end, and catch all errors they can.
ENDLESS = [
    "while true do end",
    "while true do pcall(function() while true do end end) end",
    "while true do xpcall(function() while true do end end, function() while true do end end) end",
    "local function f() while true do end end while true do coroutine.resume(coroutine.create(f)) end",
    "while true do pcall(coroutine.wrap(function() while true do pcall(function() while true do end end) end end)) end",
    "while true do load(function() while true do end end) end",
    "while true do pcall(table.sort, {3, 2, 1}, function() while true do end end) end",
    "while true do pcall(string.gsub, 'a', 'a', function() while true do end end) end",
    "local t = setmetatable({}, {__index = function() while true do end end}) "
    "while true do pcall(function() return t.x end) end",
    "while true do redis.pcall('get', 'x') end",
    "while true do cjson.decode('[1,2,[3]]') end",
]


def kill_after(lua: Lua, hooks: int) -> None:
    lua.host.hook = lambda: KILLED if lua.host.hooks >= hooks else None


@pytest.mark.parametrize("script", ENDLESS)
def test_a_killed_script_ends_whatever_it_catches(script: str) -> None:
    lua = Lua()
    kill_after(lua, 2)
    assert lua.error(script) == "ERR Script killed by user with SCRIPT KILL..."
    assert not lua.runtime.running
    lua.host.hook = lambda: None
    assert lua.reply("return pcall(error)") is None


def test_the_error_of_a_kill_names_the_place() -> None:
    lua = Lua()
    kill_after(lua, 1)
    reply = lua.reply("\nwhile true do end")
    assert isinstance(reply, ErrorReply)
    assert reply.text.endswith(b", on @user_script:2.")


def test_a_short_script_meets_no_hook() -> None:
    lua = Lua()
    assert lua.reply("for i = 1, 1000 do end return 1") == 1
    assert lua.host.hooks == 0


def test_a_hook_that_raises_ends_the_script_and_comes_out() -> None:
    lua = Lua()
    lua.host.hook = lambda: b"" if 1 // 0 else None
    with pytest.raises(ZeroDivisionError):
        lua.reply("while true do pcall(function() while true do end end) end")
    lua.host.hook = lambda: None
    assert lua.reply("return 1") == 1


def test_a_library_that_does_not_end_its_loading_is_stopped() -> None:
    lua = Lua()
    lua.host.hook = lambda: LOAD_TIMEOUT
    with pytest.raises(CommandError) as caught:
        FunctionLibraries(lua.runtime).load(b"#!lua name=lib\nwhile true do end", False)
    assert caught.value.text == b"ERR Error registering functions: ERR FUNCTION LOAD timeout"


class Suspending:
    """A runtime whose scripts run in a fiber and leave it at each hook, until they are killed."""

    def __init__(self) -> None:
        pytest.importorskip("greenlet")
        self.lua = Lua()
        self.fiber = ScriptFiber()
        self.killed = False
        self.lua.host.hook = self.on_hook

    def on_hook(self) -> bytes | None:
        self.fiber.suspend()
        return KILLED if self.killed else None

    def start(self, body: str) -> object:
        script = self.lua.runtime.load(body.encode())
        return self.fiber.run(lambda: self.lua.runtime.run(script, [], []))


def test_a_long_script_is_left_and_resumed() -> None:
    case = Suspending()
    reply = case.start("local n = 0 while n < 500000 do n = n + 1 end return n")
    times = 0
    while reply is SUSPENDED:
        assert case.lua.runtime.running
        assert case.fiber.active
        times += 1
        reply = case.fiber.resume()
    assert reply == 500000
    assert times >= 10
    assert not case.fiber.active
    assert not case.lua.runtime.running
    assert case.start("return 1") == 1


@pytest.mark.parametrize("script", ENDLESS)
def test_a_suspended_script_can_be_killed(script: str) -> None:
    case = Suspending()
    assert case.start(script) is SUSPENDED
    case.killed = True
    reply = case.fiber.resume()
    assert isinstance(reply, ErrorReply)
    assert reply.text.startswith(KILLED)
    assert case.start("return 1") == 1


def test_an_exception_in_a_fiber_comes_out_of_it() -> None:
    case = Suspending()
    with pytest.raises(ZeroDivisionError):
        case.start("redis.call('bug')")
    assert case.start("return 1") == 1


def test_a_fiber_can_be_closed_in_the_middle_of_a_script() -> None:
    case = Suspending()
    assert case.start("while true do end") is SUSPENDED
    case.fiber.close()
    assert not case.lua.runtime.running
    assert not case.fiber.active


def test_other_runtimes_run_while_one_is_suspended() -> None:
    case = Suspending()
    assert case.start("local n = 0 while n < 300000 do n = n + 1 end return n") is SUSPENDED
    assert Lua().reply("return redis.call('get', 'x')") == b"value"
    reply: object = SUSPENDED
    while reply is SUSPENDED:
        reply = case.fiber.resume()
    assert reply == 300000
