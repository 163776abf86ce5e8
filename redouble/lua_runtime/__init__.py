"""Redis' Lua, on `lupa.lua51`: scripts (EVAL), functions (FCALL), and the sandbox they live in.

This room knows neither keys nor sockets. A script's commands go to a `ScriptHost`, which the
engine implements; a script's result comes back as a reply value (`protocol.reply`).

Scripts::

    runtime = LuaRuntime(host, b"7.4.0")  # makes no Lua state until one is needed
    script = runtime.load(body)           # compiles, or finds by body; CommandError on bad code
    script = runtime.find(sha)            # None if unknown (sha: 40 lower-case hex digits)
    reply = runtime.run(script, keys, args)  # lists of bytes; an ErrorReply if the script failed
    runtime.flush()                       # SCRIPT FLUSH

`Script` has ``body``, ``sha`` and ``flags`` (bits of `shebang.py`: ``NO_WRITES`` ..., and ``COMPAT``
when there is no shebang line). What the flags mean for a call (a write refused, OOM ...) is the
engine's to judge, before `run`. From 7.4 on EVAL loads with ``keep=False``: of such scripts the last
500 are kept, ``runtime.evicted`` counts the others.

Functions::

    libraries = FunctionLibraries(runtime)
    name = libraries.load(code, replace)  # FUNCTION LOAD; CommandError, and then nothing has changed
    libraries.delete(name); libraries.flush(); libraries.join(other, replace)  # FUNCTION RESTORE
    function = libraries.find(name)       # None if unknown
    reply = runtime.call_function(function, keys, args)

``libraries.libraries`` maps names to `Library` (``name``, ``code``, ``functions``), and that maps names to
`Function` (``name``, ``description`` (bytes or None), ``flags``, ``library``).

During a run the runtime calls the host, and only then: see `host.py`. An exception in the host is a bug:
it ends the script and comes out of `run`. After an error reply ``runtime.counted`` says that the error was a
command's own, which the engine has counted in its error statistics already.

A runtime runs one script at a time; ``runtime.running`` says so. A long script can be suspended in a greenlet
so that the server answers others meanwhile, and killed: see `interrupt.py`. ``runtime.memory()`` gives the bytes that
Lua uses.

The files: `runtime.py` (the state, running), `natives.py` (what Lua calls), `convert.py` (values both ways),
`bytecode.py` (line numbers of tail calls), `shebang.py`, `library.py`, `functions.py`, `interrupt.py`, `structs.py` and
`binary.py` (for the libraries), and `lua/` (the sandbox and the libraries).
"""

from redouble.lua_runtime.functions import FunctionLibraries
from redouble.lua_runtime.host import ScriptHost
from redouble.lua_runtime.library import Function, Library
from redouble.lua_runtime.runtime import LuaRuntime, Script

__all__ = ["Function", "FunctionLibraries", "Library", "LuaRuntime", "Script", "ScriptHost"]
