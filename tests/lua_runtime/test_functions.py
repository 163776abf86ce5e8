"""Function libraries: what they may do, and how they live together."""

from __future__ import annotations

import pytest

from redouble.errors import CommandError
from redouble.lua_runtime import FunctionLibraries
from redouble.lua_runtime.shebang import ALLOW_OOM, NO_WRITES
from redouble.protocol.reply import Bulks, ErrorReply
from tests.lua_runtime.host import Lua


@pytest.fixture
def lua() -> Lua:
    return Lua()


@pytest.fixture
def libraries(lua: Lua) -> FunctionLibraries:
    return FunctionLibraries(lua.runtime)


def load(libraries: FunctionLibraries, code: str, name: str = "lib", replace: bool = False) -> None:
    assert libraries.load(f"#!lua name={name}\n{code}".encode(), replace) == name.encode()


def call(libraries: FunctionLibraries, name: str, *args: bytes) -> object:
    function = libraries.find(name.encode())
    assert function is not None
    return libraries.runtime.call_function(function, [b"key"], list(args))


def refused(libraries: FunctionLibraries, code: str, name: str = "lib", replace: bool = False) -> str:
    with pytest.raises(CommandError) as caught:
        load(libraries, code, name, replace)
    return caught.value.text.decode()


def f(name: str, body: str = "return 1") -> str:
    return f"redis.register_function('{name}', function(keys, args) {body} end)\n"


def test_a_function_gets_keys_and_arguments(libraries: FunctionLibraries) -> None:
    load(libraries, f("hi", "return {keys[1], args[1], #keys, #args}"))
    reply = call(libraries, "hi", b"x")
    assert reply == [b"key", b"x", 1, 1]


def test_a_function_is_found_without_regard_to_case(libraries: FunctionLibraries) -> None:
    load(libraries, f("Hi"))
    assert call(libraries, "hI") == 1
    assert libraries.find(b"ho") is None


def test_the_table_form_carries_flags_and_a_description(libraries: FunctionLibraries) -> None:
    load(
        libraries,
        "redis.register_function{function_name='a', callback=function() end, description='what it does', "
        "flags={'no-writes', 'ALLOW-OOM', 'no-writes'}}",
    )
    function = libraries.libraries[b"lib"].functions[b"a"]
    assert function.flags == NO_WRITES | ALLOW_OOM
    assert function.description == b"what it does"
    assert function.library.code.startswith(b"#!lua name=lib\n")


def test_a_librarys_variables_live_on(libraries: FunctionLibraries) -> None:
    load(libraries, "local n = 0\n" + f("count", "n = n + 1 return n"))
    assert [call(libraries, "count") for _ in range(3)] == [1, 2, 3]


def test_a_running_function_sees_the_globals_but_no_keys(libraries: FunctionLibraries) -> None:
    load(
        libraries,
        f("a", "return type(string) .. type(redis.call) .. tostring(redis.breakpoint)") + f("b", "return KEYS"),
    )
    assert call(libraries, "a") == b"tablefunctionnil"
    reply = call(libraries, "b")
    assert isinstance(reply, ErrorReply)
    assert reply.text == (
        b"ERR user_function:3: Script attempted to access nonexistent global variable 'KEYS' "
        b"script: b, on @user_function:3."
    )


def test_an_error_names_the_function_and_its_line(libraries: FunctionLibraries) -> None:
    load(libraries, f("a", "return redis.call('wrong')") + f("b", "error('boom', 2)"))
    first, second = call(libraries, "a"), call(libraries, "b")
    assert isinstance(first, ErrorReply)
    assert isinstance(second, ErrorReply)
    assert first.text.endswith(b" script: a, on @user_function:2.")
    assert second.text == b"ERR boom script: b, on @user_function:3."


def test_functions_and_scripts_share_no_globals(lua: Lua, libraries: FunctionLibraries) -> None:
    load(libraries, f("a", "return loadstring('return KEYS')()"))
    assert isinstance(call(libraries, "a"), ErrorReply)
    assert lua.reply("return loadstring('return KEYS[1]')()", keys=[b"k"]) == b"k"


def test_register_function_works_only_while_loading(libraries: FunctionLibraries) -> None:
    load(libraries, "local r = redis\n" + f("late", "r.register_function('x', function() end)"))
    reply = call(libraries, "late")
    assert isinstance(reply, ErrorReply)
    assert reply.text.startswith(
        b"ERR redis.register_function can only be called on FUNCTION LOAD command script: late"
    )


def test_a_library_that_fails_leaves_nothing(libraries: FunctionLibraries) -> None:
    assert refused(libraries, f("a") + "oops()").startswith("ERR Error registering functions: ERR user_function:3: ")
    assert libraries.libraries == {}
    assert libraries.find(b"a") is None
    assert refused(libraries, "local x = 1") == "ERR No functions registered"


def test_a_library_is_replaced_only_on_request(libraries: FunctionLibraries) -> None:
    load(libraries, f("a") + f("b"))
    assert refused(libraries, f("a")) == "ERR Library 'lib' already exists"
    load(libraries, f("a", "return 2") + f("c"), replace=True)
    assert call(libraries, "a") == 2
    assert libraries.find(b"b") is None


def test_a_replacement_that_fails_leaves_the_old_one(libraries: FunctionLibraries) -> None:
    load(libraries, f("a"))
    load(libraries, f("b"), name="other")
    assert refused(libraries, f("B"), replace=True) == "ERR Function B already exists"
    assert refused(libraries, "x =", replace=True).startswith("ERR Error compiling function: user_function:2: ")
    assert call(libraries, "a") == 1


def test_names_are_unique_over_all_libraries(libraries: FunctionLibraries) -> None:
    load(libraries, f("a"))
    assert refused(libraries, f("a"), name="other") == "ERR Function a already exists"


def test_a_library_is_deleted_with_its_functions(libraries: FunctionLibraries) -> None:
    load(libraries, f("a"))
    libraries.delete(b"lib")
    assert libraries.find(b"a") is None
    with pytest.raises(CommandError, match="Library not found"):
        libraries.delete(b"lib")


def test_joining_adds_all_or_nothing(lua: Lua, libraries: FunctionLibraries) -> None:
    load(libraries, f("a"))
    other = FunctionLibraries(lua.runtime)
    load(other, f("b"), name="new")
    load(other, f("a", "return 2"))
    with pytest.raises(CommandError, match="Library lib already exists"):
        libraries.join(other, False)
    assert list(libraries.libraries) == [b"lib"]
    libraries.join(other, True)
    assert (call(libraries, "a"), call(libraries, "b")) == (2, 1)


def test_many_arguments_reach_a_function(libraries: FunctionLibraries) -> None:
    load(libraries, f("all", "return args"))
    reply = call(libraries, "all", *[b"%d" % i for i in range(9000)])
    assert isinstance(reply, Bulks)
    assert reply.items[-1] == b"8999"
