"""The Lua files of the room, and the bytecode that keeps tail calls' lines."""

from __future__ import annotations

import struct
from pathlib import Path

import lupa.lua51
import pytest

import redouble.lua_runtime
from redouble.lua_runtime import bytecode

FILES = sorted((Path(redouble.lua_runtime.__file__).parent / "lua").glob("*.lua"))
TAILCALL = 29
GLOBAL_ACCESS = (5, 7)


class Compiler:
    """Compiles Lua and shows the instructions of each function."""

    def __init__(self) -> None:
        self.state = lupa.lua51.LuaRuntime(encoding=None)
        self.dump = self.state.eval("string.dump")

    def compile(self, code: bytes) -> bytes:
        result: bytes = self.dump(self.state.compile(code, b"@test"))
        return result

    def functions(self, dump: bytes) -> list[bytecode._Function]:
        found: list[bytecode._Function] = []
        end = bytecode._read(dump, 12, None, 0, found)
        assert end == len(dump)
        return found

    def tail_calls(self, code: str, own: bool = False) -> int:
        dump = bytecode.without_tail_calls(self.compile(code.encode()), own)
        return sum(word & 63 == TAILCALL for f in self.functions(dump) for word in f.code)

    def run(self, dump: bytes) -> object:
        return self.state.compile(dump, b"@test")()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_closure_of_the_sandbox_uses_a_global(path: Path) -> None:
    """The global table is emptied after the start; `sandbox.lua` uses globals only until then."""
    compiler = Compiler()
    names = []
    for function in compiler.functions(compiler.compile(path.read_bytes())):
        if function.parent is not None:
            names += [word >> 14 for word in function.code if word & 63 in GLOBAL_ACCESS]
    if path.name != "sandbox.lua":
        assert names == []


def test_the_sandbox_still_works_when_its_state_has_no_globals() -> None:
    from tests.lua_runtime.host import Lua

    lua = Lua()
    lua.reply("return 1")
    natives = lua.runtime._natives
    assert natives is not None
    assert list(natives.state.globals().keys()) == []
    assert lua.reply("return ('x'):rep(3) .. table.concat({1, 2}) .. #KEYS") == b"xxx120"


@pytest.mark.parametrize(
    ("code", "left"),
    [
        ("return print(1)", 0),
        ("local p = print return p(1)", 0),
        ("local p = print return (function() return p(1) end)()", 1),
        ("local function f() return f() end return f()", 2),
        ("local f f = function() return f() end", 1),
        ("local t = {} function t.f() return t.f() end return t.f(function() return t end)", 0),
        ("return function(f) return f(1) end", 0),
        ("local function f() end local function g() local function h() return f() end return h() end", 2),
        ("return print(function() local a, b = 1, 2 return function() return a, b end end)", 0),
    ],
)
def test_only_tail_calls_of_own_functions_stay(code: str, left: int) -> None:
    assert Compiler().tail_calls(code) == left
    assert Compiler().tail_calls(code, own=True) == 0


def test_a_patched_chunk_computes_the_same() -> None:
    code = b"""
        local function f(a, ...) return select('#', ...), a, ... end
        local g = f
        local t = {f = function(self, x) return g(x, self ~= nil, 'y') end}
        local a, b, c, d = (function() return t:f(5) end)()
        return tostring(a) .. tostring(b) .. tostring(c) .. tostring(d)"""
    compiler = Compiler()
    dump = compiler.compile(code)
    patched = bytecode.without_tail_calls(dump, True)
    assert patched != dump
    assert compiler.run(patched) == compiler.run(dump) == b"25truey"


def test_what_is_no_dump_of_this_machine_is_left_alone() -> None:
    assert bytecode.without_tail_calls(b"\x1bLuaR" + bytes(20), True) == b"\x1bLuaR" + bytes(20)
    assert struct.calcsize("P") == 8
