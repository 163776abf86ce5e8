"""Redis' Lua, on `lupa.lua51`: scripts (EVAL), functions (FCALL), and the sandbox they live in.

This room knows neither keys nor sockets. A script's commands go to a `ScriptHost`, which the
engine implements; a script's result comes back as a reply value (`protocol.reply`).

How to use it::

    runtime = LuaRuntime(host, b"7.4.0", libraries=())  # makes no Lua state until one is needed
    script = runtime.load(body)           # compiles, or finds by body; CommandError on bad code
    script = runtime.find(sha)            # None if unknown (sha: 40 lower-case hex digits)
    reply = runtime.run(script, keys, args)     # list[bytes], list[bytes]; an ErrorReply if it failed
    runtime.flush()                       # SCRIPT FLUSH: forget all scripts

    library = runtime.load_library(code)  # FUNCTION LOAD: compiles and registers; CommandError
    reply = runtime.call_function(library.functions[name], keys, args)

`Script` has ``body``, ``sha``, ``flags`` (bits of `flags.py`: ``NO_WRITES``, ``ALLOW_OOM``,
``ALLOW_STALE``, ``NO_CLUSTER``, ``ALLOW_CROSS_SLOT``, and ``COMPAT`` when the body has no
shebang line). `Library` has ``name``, ``code``, and ``functions`` (a dict from name to
`Function`: ``name``, ``description`` (bytes or None), ``flags``, ``library``). What the flags mean
for a call (a write refused, OOM, ...) is the engine's to judge before it calls `run`.

During a run the runtime calls the host, and only then:

- ``host.call(argv) -> Reply``: run one command; errors are returned as `ErrorReply`.
- ``host.set_resp(version)``: the script asked for RESP 2 or 3; ``host.call`` must answer with
  reply values as always, the runtime converts them for the chosen version. Each run starts with 2.
- ``host.set_repl(flags)``, ``host.acl_check(argv)``, ``host.log(level, message)``.
- ``host.on_hook() -> int``: called every 100,000 Lua instructions; answer `GO_ON`, `KILL`
  or `TIME_OUT` (see `interrupt.py`).

A runtime runs one script at a time. ``runtime.running`` says whether one is in progress (with
greenlets, a long script may be suspended while the event loop runs).
"""

from redouble.lua_runtime.host import ScriptHost
from redouble.lua_runtime.runtime import LuaRuntime, Script

__all__ = ["LuaRuntime", "Script", "ScriptHost"]
