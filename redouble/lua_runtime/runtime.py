"""The Lua runtime: one Lua state, its scripts, and the way in and out of it.

How it works. The files in `lua/` run once in a new lupa state. `lua/sandbox.lua` gets the methods of
`Natives` as C functions and gives back closures: one to run a script for each usual number of keys, and
a few helpers. From then on Python calls only these closures, and Lua only these methods. Scripts
are compiled once and kept by SHA1; KEYS and ARGV are set per run.

The state is made at the first use: thousands of stores that never run a script pay nothing.

Also to touch when this changes: `lua/sandbox.lua` (the other half), `natives.py` (what Lua calls),
`convert.py` (the values).
"""

import hashlib
import pkgutil
from functools import cache
from typing import Any, Final, final

import lupa.lua51

from redouble.errors import CommandError
from redouble.lua_runtime import binary, convert
from redouble.lua_runtime.bytecode import without_tail_calls
from redouble.lua_runtime.host import ScriptHost
from redouble.lua_runtime.library import Function, Library
from redouble.lua_runtime.natives import CHUNK, Natives, lua_message
from redouble.lua_runtime.shebang import parse_script
from redouble.protocol.reply import ErrorReply, Reply, Simple

#: Lua instructions between two calls of the hook.
HOOK_COUNT: Final = 100_000
#: Runs with at most so many keys, and so many keys and arguments together, need no tables from Python.
_MAX_KEYS: Final = 16
_MAX_PLAIN: Final = 50
#: A returned table nested deeper than this is cut off with an error, as Redis' Lua stack does.
_MAX_DEPTH: Final = 7995
#: The longest string that string.rep may make.
_MAX_STRING: Final = 1 << 29
#: Above so much memory (in bytes) Lua calls no more of Python; it gets no more than the second.
_ROOM_ENDS: Final = 1 << 30
_MAX_MEMORY: Final = _ROOM_ENDS + (256 << 20)
_PARTS: Final = (
    "errors",
    "frozen",
    "guarded",
    "pieces",
    "random",
    "redis",
    "results",
    "signs",
    "functions",
    "bit",
    "cjson",
    "cmsgpack",
    "struct",
)
#: math.random knows so many seeds.
_SEEDS: Final = 1 << 32
#: Scripts of EVAL that are kept at a time (7.4 and later).
_MOST_PASSING: Final = 500
_COMPILE_ERROR: Final = b"ERR Error compiling script (new function): "


@final
class Script:
    """A compiled EVAL script."""

    __slots__ = ("body", "sha", "flags", "function", "kept")

    def __init__(self, body: bytes, sha: bytes, flags: int, function: Any) -> None:
        self.body: bytes = body
        self.sha: bytes = sha
        #: Bits of `shebang.py`.
        self.flags: int = flags
        self.function: Any = function
        #: Loaded to stay; else the oldest of many such scripts is forgotten.
        self.kept: bool = False


@final
class ScriptCache:
    """The scripts that were kept at some time, and those of them that may be forgotten, by SHA1."""

    __slots__ = ("scripts", "passing")

    def __init__(self, scripts: dict[bytes, Script], passing: dict[bytes, Script]) -> None:
        self.scripts: dict[bytes, Script] = scripts
        self.passing: dict[bytes, Script] = passing


def _refuse_attribute(target: object, name: object, setting: bool) -> str:
    raise AttributeError("not accessible from Lua")


def _source(name: str) -> bytes:
    data = pkgutil.get_data("redouble.lua_runtime", f"lua/{name}.lua")
    assert data is not None
    return data


@cache
def _own_code() -> dict[bytes, bytes]:
    """The room's Lua files as bytecode without tail calls; made once per process, it never changes."""
    state = lupa.lua51.LuaRuntime(encoding=None)
    dump = state.eval("string.dump")
    names = (*_PARTS, "sandbox")
    return {name.encode(): without_tail_calls(dump(state.compile(_source(name), b"=[C]")), True) for name in names}


def _version_number(version: bytes) -> int:
    major, minor, patch = (int(part) for part in version.split(b"."))
    return major << 16 | minor << 8 | patch


def _callables(natives: Natives) -> dict[bytes, Any]:
    """The functions that Lua calls, by name."""
    return {
        b"call": natives.call,
        b"call_many": natives.call_many,
        b"acl_check": natives.acl_check,
        b"compile": natives.compile,
        b"sha1hex": natives.sha1hex,
        b"error_text": natives.error_text,
        b"log": natives.log,
        b"set_resp": natives.set_resp,
        b"set_repl": natives.set_repl,
        b"on_hook": natives.on_hook,
        b"is_loading": natives.is_loading,
        b"flag_bit": natives.flag_bit,
        b"register": natives.register,
        b"struct_pack": natives.struct_pack,
        b"struct_unpack": natives.struct_unpack,
        b"struct_size": natives.struct_size,
        b"low_bits": binary.low_bits,
        b"strtod": binary.strtod,
        b"pack_double": binary.pack_double,
        b"read_float": binary.read_float,
        b"read_double": binary.read_double,
        b"read_int64": binary.read_int64,
    }


def _options(version: bytes, long: bool) -> dict[bytes, Any]:
    """What the Lua files need to know. `long` tells a server up to 7.0."""
    return {
        b"version": version,
        b"version_number": _version_number(version),
        b"hook_count": HOOK_COUNT,
        b"max_keys": _MAX_KEYS,
        b"max_depth": _MAX_DEPTH,
        b"max_string": _MAX_STRING,
        b"room_ends": _ROOM_ENDS >> 10,
        b"os_clock": not long,
        b"signed_zeros": long,
        b"log_level_error": b"Invalid debug level." if long else b"Invalid log level.",
        b"set_repl_error": b"redis.set_repl() requires " + (b"two arguments." if long else b"one argument."),
    }


@final
class LuaRuntime:
    """Runs scripts for one server. See the package's docstring for the use of each method."""

    __slots__ = (
        "host",
        "version",
        "scripts",
        "by_body",
        "evicted",
        "running",
        "counted",
        "_passing",
        "_natives",
        "_runners",
        "_run_tables",
        "_call_function",
        "_load_library",
        "_adopt",
        "_fetch_piece",
        "_forget_long_result",
        "_memory",
        "_take_escaped",
        "_seed",
        "_seeded",
    )

    def __init__(self, host: ScriptHost, version: bytes) -> None:
        self.host: ScriptHost = host
        #: The Redis version to answer as, three numbers.
        self.version: bytes = version
        self.scripts: dict[bytes, Script] = {}
        self.by_body: dict[bytes, Script] = {}
        #: Scripts that were forgotten to make room.
        self.evicted: int = 0
        #: By SHA1, the scripts that may be forgotten, the one used last at the end.
        self._passing: dict[bytes, Script] = {}
        #: A script is in progress (maybe suspended).
        self.running: bool = False
        #: The error of the last run was a command's, which the engine has counted already.
        self.counted: bool = False
        self._natives: Natives | None = None
        #: Closures of the sandbox: one per number of keys, and those of the given names.
        self._runners: list[Any] = []
        self._run_tables: Any = None
        self._call_function: Any = None
        self._load_library: Any = None
        self._adopt: Any = None
        self._fetch_piece: Any = None
        self._forget_long_result: Any = None
        self._memory: Any = None
        self._take_escaped: Any = None
        self._seed: Any = None
        #: What math.random began with, None for what Redis begins with.
        self._seeded: int | None = None

    def load(self, body: bytes, keep: bool = True) -> Script:
        """The script for `body`, compiled if it is new; `CommandError` if it is no script. O(len).

        With `keep` false (EVAL from 7.4 on) it is kept only as long as it is among the 500 used last.
        """
        script = self.by_body.get(body)
        if script is None:
            sha = hashlib.sha1(body).hexdigest().encode()
            flags, code = parse_script(body)
            script = Script(body, sha, flags, self._compile(code))
            self.by_body[body] = script
            self.scripts[sha] = script
        if not script.kept:
            self._touch(script, keep)
        return script

    def find(self, sha: bytes) -> Script | None:
        """The script of that SHA1, in lower case. O(1)."""
        script = self.scripts.get(sha)
        if script is not None and not script.kept:
            self._touch(script, False)
        return script

    def _touch(self, script: Script, keep: bool) -> None:
        """Note the use of a script that may be forgotten; forget the one unused for longest."""
        passing = self._passing
        passing.pop(script.sha, None)
        if keep:
            script.kept = True
            return
        passing[script.sha] = script
        if len(passing) > _MOST_PASSING:
            oldest = passing.pop(next(iter(passing)))
            del self.scripts[oldest.sha]
            del self.by_body[oldest.body]
            self.evicted += 1

    def seed(self, number: int) -> None:
        """Let math.random begin anew; of a larger number the lowest 32 bits count."""
        self._seeded = number % _SEEDS
        if self._natives is not None:
            self._seed(self._seeded)

    def cached(self) -> ScriptCache:
        """Which scripts are kept now, for `restore`. O(scripts)."""
        return ScriptCache(self.scripts.copy(), self._passing.copy())

    def restore(self, cache: ScriptCache) -> None:
        """Keep the scripts again that were kept then, and no others. O(scripts)."""
        self.scripts = cache.scripts.copy()
        self.by_body = {script.body: script for script in self.scripts.values()}
        for script in self.scripts.values():
            script.kept = script.sha not in cache.passing
        self._passing = cache.passing.copy()

    def flush(self) -> None:
        """Forget all scripts."""
        self.scripts.clear()
        self.by_body.clear()
        self._passing.clear()

    def run(self, script: Script, keys: list[bytes], args: list[bytes]) -> Reply:
        """Run a script; what it returns, or its error as an `ErrorReply`."""
        natives = self._natives
        assert natives is not None
        natives.to_lua.resp = 2
        self.counted = False
        count = len(keys)
        self.running = True
        try:
            if count <= _MAX_KEYS and count + len(args) <= _MAX_PLAIN:
                result = self._runners[count](script.function, *keys, *args)
            else:
                table_from = natives.to_lua.table_from
                result = self._run_tables(script.function, table_from(keys), table_from(args))
        except lupa.lua51.LuaError as error:
            result = self._escaped(error)
        finally:
            self.running = False
        if natives.failure is not None or isinstance(result, tuple):
            return self._structured(result, script.sha)
        return convert.scalar(result, natives.to_lua.resp)

    def call_function(self, function: Function, keys: list[bytes], args: list[bytes]) -> Reply:
        """Call a library's function; as `run`."""
        natives = self._natives
        assert natives is not None
        natives.to_lua.resp = 2
        self.counted = False
        self.running = True
        try:
            table_from = natives.to_lua.table_from
            result = self._call_function(function.callback, table_from(keys), table_from(args))
        except lupa.lua51.LuaError as error:
            result = self._escaped(error)
        finally:
            self.running = False
        if natives.failure is not None or isinstance(result, tuple):
            return self._structured(result, function.name)
        return convert.scalar(result, natives.to_lua.resp)

    def load_library(self, library: Library, code: bytes) -> None:
        """Run a library's code, which registers its functions; `CommandError` if it fails."""
        natives = self._open()
        try:
            chunk = natives.compiled(code, b"@user_function")
        except lupa.lua51.LuaError as error:
            raise CommandError(b"ERR Error compiling function: " + lua_message(error)) from None
        natives.library = library
        self.running = True
        try:
            error_text: bytes | None = self._load_library(chunk)
        finally:
            self.running = False
            natives.library = None
        if natives.failure is not None:
            self._raise_failure(natives)
        if error_text is not None:
            raise CommandError(convert.one_line(b"ERR Error registering functions: " + error_text))

    def memory(self) -> int:
        """Bytes that Lua uses now; 0 before the first script."""
        return 0 if self._natives is None else int(self._memory()) * 1024

    def _escaped(self, error: Exception) -> tuple[Any, ...]:
        """The result of a run that failed while its result was made: killed, or out of memory."""
        text: bytes | None = self._take_escaped()
        if text is not None:
            return convert.FAILURE, True, text, False
        return convert.FAILURE, False, lua_message(error), False

    def _raise_failure(self, natives: Natives) -> None:
        """Raise the exception that a native method kept."""
        bug, natives.failure = natives.failure, None
        assert bug is not None
        raise bug

    def _structured(self, result: tuple[Any, ...], name: bytes) -> Reply:
        """The reply for a table or a failure."""
        natives = self._natives
        assert natives is not None
        if natives.failure is not None:
            self._raise_failure(natives)
        kind: int = result[0]
        if kind == convert.OK_TEXT:
            return Simple(convert.one_line(result[1]))
        if kind == convert.FLAT:
            return convert.flat(list(result[2:]))
        if kind == convert.NESTED:
            return convert.nested(list(result[2:]), natives.to_lua.resp)
        if kind == convert.LONG:
            return convert.nested(self._fetch(result[1]), natives.to_lua.resp)
        if kind == convert.LONG_FLAT:
            return convert.flat(self._fetch(result[1]))
        return self._failed(result, name)

    def _fetch(self, count: int) -> list[Any]:
        """The values of a long result."""
        values: list[Any] = []
        for first in range(1, count + 1, CHUNK):
            last = min(first + CHUNK - 1, count)
            piece = self._fetch_piece(first, last)
            if first == last:
                values.append(piece)
            else:
                values.extend(piece)
        self._forget_long_result()
        return values

    def _failed(self, result: tuple[Any, ...], name: bytes) -> ErrorReply:
        """The error reply for a failed run, as Redis words it."""
        self.counted = result[3]
        if not result[1]:
            return ErrorReply(b"ERR Error running script " + name + b", " + result[2][:100])
        text: bytes = result[2] or b"ERR unknown error"
        if len(result) > 4:
            text += b" script: " + name + b", on " + result[4] + b":" + result[5] + b"."
        return ErrorReply(convert.one_line(text))

    def _compile(self, code: bytes) -> Any:
        natives = self._open()
        try:
            return self._adopt(natives.compiled(code, b"@user_script"))
        except lupa.lua51.LuaError as error:
            raise CommandError(_COMPILE_ERROR + lua_message(error)) from None

    def _open(self) -> Natives:
        """The natives of the Lua state, which is made at the first call."""
        if self._natives is not None:
            return self._natives
        state = lupa.lua51.LuaRuntime(
            encoding=None,
            register_eval=False,
            register_builtins=False,
            unpack_returned_tuples=True,
            attribute_filter=_refuse_attribute,
            max_memory=_MAX_MEMORY,
        )
        long = _version_number(self.version) < 0x070200
        natives = Natives(self.host, state, long)
        parts = {name: state.compile(code, b"=[C]") for name, code in _own_code().items()}
        sandbox = parts[b"sandbox"]
        table_from = state.table_from
        lua, runners = sandbox(
            table_from(_callables(natives)), table_from(_options(self.version, long)), table_from(parts)
        )
        natives.to_lua.array = lua[b"array"]
        natives.to_lua.pairs = lua[b"pairs"]
        self._runners = [runners[count] for count in range(_MAX_KEYS + 1)]
        self._run_tables = lua[b"run_tables"]
        self._call_function = lua[b"call_function"]
        self._load_library = lua[b"load_library"]
        self._adopt = lua[b"adopt"]
        self._fetch_piece = lua[b"fetch"]
        self._forget_long_result = lua[b"forget_long_result"]
        self._memory = lua[b"memory"]
        self._take_escaped = lua[b"escaped"]
        self._seed = lua[b"seed"]
        if self._seeded is not None:
            self._seed(self._seeded)
        self._natives = natives
        return natives
