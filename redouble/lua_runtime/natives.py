"""What Lua calls: the Python half of the sandbox's functions.

Each method answers errors as values: a tuple of ``True``, a kind and a text (see `convert.py`). Should
one raise (a bug), the exception is kept in `failure` and the script ends like a killed one;
`LuaRuntime.run` raises it then. It may not reach Lua: lupa would hand the exception to the script.
"""

import hashlib
from typing import Any, Final, final

import lupa.lua51

from redouble.lua_runtime import structs
from redouble.lua_runtime.bytecode import without_tail_calls
from redouble.lua_runtime.convert import ERROR, PANIC, VALUE, ToLua, error_text, number_argument
from redouble.lua_runtime.host import ACL_ALLOWED, ACL_NO_SUCH_COMMAND, ScriptHost
from redouble.lua_runtime.library import BAD_NAME, Function, Library, is_valid_name
from redouble.lua_runtime.shebang import FLAG_BITS
from redouble.protocol.reply import Reply

#: More bytes than this are not given to Lua at once.
MOST_BYTES: Final = 128 << 20
_NO_MEMORY: Final = (True, ERROR, b"ERR not enough memory")
#: Values fetched from Lua at once.
CHUNK: Final = 4000
_BAD_ARGUMENT: Final = (True, ERROR, b"ERR Lua redis lib command arguments must be strings or integers")
_NO_ARGUMENT: Final = (True, ERROR, b"ERR Please specify at least one argument for this redis lib call")
_NO_COMMAND: Final = (True, ERROR, b"ERR Invalid command passed to redis.acl_check_cmd()")


def lua_message(error: Exception) -> bytes:
    """The text of a Lua error: lupa gives bytes, or a str of single bytes."""
    text = error.args[0] if error.args else b"not enough memory"
    return text if isinstance(text, bytes) else str(text).encode("latin-1", "replace")


@final
class Natives:
    """The methods that the sandbox calls, and what they need."""

    __slots__ = ("host", "state", "to_lua", "chunk", "dump", "to_number", "failure", "library", "_perform")

    def __init__(self, host: ScriptHost, state: Any, long: bool) -> None:
        self.host: ScriptHost = host
        #: `host.call`, found once: a class that may have interpreted children is asked by name.
        self._perform: Any = host.call
        self.state: Any = state
        self.to_lua: ToLua = ToLua(state.table_from, long)
        #: Lua's `unpack`, `string.dump` and `tonumber`.
        self.chunk: Any = state.eval("unpack")
        self.dump: Any = state.eval("string.dump")
        self.to_number: Any = state.eval("tonumber")
        self.failure: BaseException | None = None
        #: The library that is loading now.
        self.library: Library | None = None

    def panic(self, bug: BaseException) -> Any:
        """Keep the exception and end the script."""
        self.failure = bug
        return True, PANIC, b"ERR internal error"

    def arguments(self, args: tuple[Any, ...]) -> list[bytes]:
        """A command out of strings and numbers; empty if there is anything else, or nothing."""
        for arg in args:
            if not isinstance(arg, bytes):
                return self._converted(args)
        return list(args)

    def _converted(self, args: tuple[Any, ...]) -> list[bytes]:
        argv: list[bytes] = []
        for arg in args:
            if isinstance(arg, bytes):
                argv.append(arg)
            elif isinstance(arg, (int, float)) and not isinstance(arg, bool):
                argv.append(number_argument(arg, self.to_lua.long))
            else:
                return []
        return argv

    def call(self, *args: Any) -> Any:
        """redis.call and redis.pcall: run the command, hand over its reply."""
        try:
            argv = self.arguments(args)
            if not argv:
                return _BAD_ARGUMENT if args else _NO_ARGUMENT
            reply: Reply = self._perform(argv)
            if isinstance(reply, bytes):
                return reply if len(reply) <= MOST_BYTES else _NO_MEMORY
            return self.to_lua.value(reply)
        except BaseException as bug:
            return self.panic(bug)

    def call_many(self, count: int, arguments: Any) -> Any:
        """As `call`, for many arguments: lupa's time to pass them grows with their square."""
        args: list[Any] = []
        for first in range(1, count + 1, CHUNK):
            last = min(first + CHUNK - 1, count)
            piece = self.chunk(arguments, first, last)
            if first == last:
                args.append(piece)
            else:
                args.extend(piece)
        return self.call(*args)

    def acl_check(self, *args: Any) -> Any:
        """redis.acl_check_cmd."""
        try:
            argv = self.arguments(args)
            if not argv:
                return _BAD_ARGUMENT if args else _NO_ARGUMENT
            answer = self.host.acl_check(argv)
            if answer == ACL_NO_SUCH_COMMAND:
                return _NO_COMMAND
            return (True, VALUE, True) if answer == ACL_ALLOWED else False
        except BaseException as bug:
            return self.panic(bug)

    def compile(self, code: bytes, name: bytes) -> Any:
        """loadstring and load: the function, or True and the message."""
        try:
            return self.compiled(code, name)
        except lupa.lua51.LuaError as error:
            return True, VALUE, lua_message(error)
        except BaseException as bug:
            return self.panic(bug)

    def compiled(self, code: bytes, name: bytes) -> Any:
        """The function for `code`, in which tail calls keep their line."""
        if code[:1] == b"\x1b":
            # A space keeps the compiler from taking it for bytecode; it then complains of the byte.
            code = b" " + code
        function = self.state.compile(code, name)
        dump = self.dump(function)
        patched = without_tail_calls(dump, False)
        return function if patched is dump else self.state.compile(patched, name)

    def sha1hex(self, data: bytes) -> bytes:
        """redis.sha1hex."""
        return hashlib.sha1(data).hexdigest().encode()

    def error_text(self, text: bytes) -> bytes:
        """The text of redis.error_reply."""
        return error_text(text)

    def struct_pack(self, layout: bytes, *args: Any) -> Any:
        """struct.pack: the string, or True and what is wrong."""
        try:
            return structs.pack(layout, args, self.to_number)
        except structs.Trouble as trouble:
            return True, trouble.argument, trouble.text, trouble.expected

    def struct_unpack(self, layout: bytes, data: bytes, start: int) -> Any:
        """struct.unpack: False and the values, or True and what is wrong."""
        try:
            return False, *structs.unpack(layout, data, start, self.to_number)
        except structs.Trouble as trouble:
            return True, trouble.argument, trouble.text

    def struct_size(self, layout: bytes) -> Any:
        """struct.size; as `struct_unpack`."""
        try:
            return False, structs.size_of(layout)
        except structs.Trouble as trouble:
            return True, trouble.argument, trouble.text

    def log(self, level: int, message: bytes) -> Any:
        """redis.log."""
        try:
            self.host.log(level, message)
        except BaseException as bug:
            return self.panic(bug)

    def set_resp(self, version: int) -> Any:
        """redis.setresp."""
        try:
            self.to_lua.resp = version
            self.host.set_resp(version)
        except BaseException as bug:
            return self.panic(bug)

    def set_repl(self, flags: int) -> Any:
        """redis.set_repl."""
        try:
            self.host.set_repl(flags)
        except BaseException as bug:
            return self.panic(bug)

    def is_loading(self) -> bool:
        """Is a library loading?"""
        return self.library is not None

    def flag_bit(self, name: bytes) -> int:
        """The bit of a function's flag, 0 if there is none of that name."""
        return FLAG_BITS.get(name.lower(), 0)

    def register(self, name: bytes, description: bytes | None, flags: int, callback: Any) -> bytes | None:
        """redis.register_function, its arguments read: None, or why not."""
        library = self.library
        assert library is not None
        if not is_valid_name(name):
            return BAD_NAME
        if name in library.functions:
            return b"Function already exists in the library"
        library.functions[name] = Function(name, description, flags, library, callback)
        return None

    def on_hook(self) -> bytes | None:
        """The count hook: the error that ends the script, or None."""
        try:
            return self.host.on_hook()
        except BaseException as bug:
            self.failure = bug
            return b"ERR internal error"
