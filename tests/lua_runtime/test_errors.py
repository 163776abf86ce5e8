"""Errors: their texts, their places, and what catches them."""

from __future__ import annotations

import pytest

from redouble.errors import CommandError
from redouble.protocol.reply import ErrorReply
from tests.lua_runtime.host import UNKNOWN, WRONGTYPE, Lua


@pytest.fixture
def lua() -> Lua:
    return Lua()


def text(reply: object) -> str:
    assert isinstance(reply, ErrorReply), reply
    return reply.text.decode()


def test_a_commands_error_names_the_script_and_the_line(lua: Lua) -> None:
    script = lua.runtime.load(b"\n\nredis.call('wrong')")
    reply = lua.runtime.run(script, [], [])
    assert text(reply) == f"{WRONGTYPE.decode()} script: {script.sha.decode()}, on @user_script:3."
    assert lua.runtime.counted


def test_a_tail_call_keeps_its_line(lua: Lua) -> None:
    assert text(lua.reply("\n\nreturn redis.call('wrong')")).endswith(", on @user_script:3.")
    assert text(lua.reply("local function f()\nreturn redis.call('wrong')\nend\nreturn f()")).endswith(":2.")
    assert text(lua.reply("local call = redis.call\nreturn call('wrong')")).endswith(":2.")
    assert lua.error("\nreturn cjson.decode('[')").startswith("ERR user_script:2: Expected value")


def test_pcall_gives_the_error_table_without_a_place(lua: Lua) -> None:
    assert lua("return redis.pcall('wrong')") == b"-" + WRONGTYPE + b"\r\n"
    assert lua("return redis.pcall('wrong').err") == b"$%d\r\n%b\r\n" % (len(WRONGTYPE), WRONGTYPE)
    assert lua("return {pcall(redis.call, 'huh')}") == b"*2\r\n$-1\r\n$%d\r\n%b\r\n" % (len(UNKNOWN), UNKNOWN)


def test_a_scripts_own_error_is_not_counted(lua: Lua) -> None:
    assert lua.error("error('boom')") == "ERR user_script:1: boom"
    assert not lua.runtime.counted
    assert lua.error("error({err='MYCODE hi'})") == "MYCODE hi"
    assert lua.error("error('boom', 0)") == "ERR boom"


def test_an_error_reply_without_a_code_gets_one(lua: Lua) -> None:
    assert lua("return redis.error_reply('word')") == b"-ERR word\r\n"
    assert lua("return redis.error_reply('-CODE word')") == b"-CODE word\r\n"
    assert lua("return redis.error_reply('CODE a\\nb')") == b"-CODE a b\r\n"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("return (", "ERR Error compiling script (new function): user_script:1: unexpected symbol near '<eof>'"),
        ("x = = 1", "ERR Error compiling script (new function): user_script:1: unexpected symbol near '='"),
        ("#!lua", "ERR Invalid script shebang"),
        ("#!python\n", "ERR Unexpected engine in script shebang: #!python"),
        ("#!lua foo\n", "ERR Unknown lua shebang option: foo"),
        ("#!lua flags=no-writes,foo\n", "ERR Unexpected flag in script shebang: foo"),
    ],
)
def test_what_is_no_script_is_refused_and_not_kept(lua: Lua, code: str, message: str) -> None:
    with pytest.raises(CommandError) as caught:
        lua.runtime.load(code.encode())
    assert caught.value.text.decode() == message
    assert lua.runtime.scripts == {}


def test_the_line_after_a_shebang_is_the_second(lua: Lua) -> None:
    assert lua.error("#!lua flags=no-writes\nerror('x')") == "ERR user_script:2: x"


def test_an_exception_of_the_host_ends_the_script_and_comes_out(lua: Lua) -> None:
    with pytest.raises(ZeroDivisionError):
        lua.reply("while true do pcall(redis.call, 'bug') end")
    assert not lua.runtime.running
    assert lua.reply("return 1") == 1


def test_no_python_object_reaches_a_script_by_an_exception(lua: Lua) -> None:
    with pytest.raises(ZeroDivisionError):
        lua.reply("local ok, err = pcall(redis.call, 'bug') return type(err)")


def test_an_error_in_a_coroutine_is_an_error_of_the_script(lua: Lua) -> None:
    assert lua.error("coroutine.wrap(function() redis.call('wrong') end)()") == WRONGTYPE.decode()
    script = "local co = coroutine.create(function() error('x') end) return {coroutine.resume(co)}"
    assert lua(script) == b"*2\r\n$-1\r\n$16\r\nuser_script:1: x\r\n"


def test_recursion_without_end_is_an_error(lua: Lua) -> None:
    assert lua.error("local function f() return 1 + f() end return f()").startswith("ERR user_script:1: stack overflow")
    assert lua.reply("return 1") == 1


def test_a_tail_call_of_an_own_function_needs_no_stack(lua: Lua) -> None:
    script = "local function f(n) if n == 0 then return 'done' end return f(n - 1) end return f(300000)"
    assert lua.reply(script) == b"done"
