"""FCALL and FUNCTION: libraries of functions that the server keeps as it keeps keys.

A library loads as a whole or not at all, and a change of libraries counts as a change of the data: it is
told to replicas and stands in RDB files. FLUSHALL leaves libraries alone.
"""

from typing import Final

from redouble.commands.help import bad_subcommand, help_reply
from redouble.commands.scripting import ARGUMENTS, NOT_BY_SCRIPTS, RO_RUN, RUN, keys_and_args, show_request
from redouble.datatypes.glob import Glob
from redouble.engine.command import Family, counted
from redouble.engine.context import Context
from redouble.errors import CommandError, c_text
from redouble.lua_runtime.library import Function, Library
from redouble.lua_runtime.shebang import FLAG_BITS
from redouble.persistence.format import CorruptData, format_version
from redouble.persistence.payload import dump_functions, is_sound, load_functions
from redouble.protocol.reply import OK, Map, Reply, SetReply, Simple

functions: Final = Family("scripting")

_CHANGES: Final = "write noscript"
_MAKES: Final = "write denyoom noscript"
_EVERYWHERE: Final = "request_policy:all_shards response_policy:all_succeeded"
_COST: Final = "Depends on the function that is executed."
_BAD_COUNT: Final = b"ERR Bad number of keys provided"


def _call(ctx: Context, argv: list[bytes], read_only: bool) -> Reply:
    show_request(ctx, argv)
    scripting = ctx.engine.scripting
    function = scripting.libraries.find(argv[1])
    if function is None:
        raise CommandError(b"ERR Function not found")
    keys, args = keys_and_args(argv, _BAD_COUNT)
    return scripting.call_function(ctx, function, argv, keys, args, read_only)


@functions.command(
    "fcall", "function " + ARGUMENTS, "Calls a function.", arity=-3, flags=RUN + " calls_function",
    keys=[counted("RW ACCESS UPDATE", 2)], since="7.0.0", complexity=_COST,
)  # fmt: skip
def fcall(ctx: Context, argv: list[bytes]) -> Reply:
    """Call a function of a library. Redis: FCALL."""
    return _call(ctx, argv, False)


@functions.command(
    "fcall_ro", "function " + ARGUMENTS, "Calls a function that may not write.", arity=-3,
    flags=RO_RUN + " calls_function", keys=[counted("RO ACCESS", 2)], since="7.0.0",
    complexity=_COST,
)  # fmt: skip
def fcall_ro(ctx: Context, argv: list[bytes]) -> Reply:
    """As FCALL, for a function with the flag `no-writes`. Redis: FCALL_RO."""
    return _call(ctx, argv, True)


functions.container("function", "Manages the libraries of functions.", since="7.0.0")


@functions.command(
    "function|load", "[REPLACE] function-code", "Creates a library.", arity=-3, flags=_MAKES, since="7.0.0",
    complexity="O(1) (considering compilation time is redundant)", tips=_EVERYWHERE,
)  # fmt: skip
def function_load(ctx: Context, argv: list[bytes]) -> Reply:
    """The library's name. Redis: FUNCTION LOAD."""
    replace = False
    for word in argv[2:-1]:
        if word.lower() != b"replace":
            raise CommandError(b"ERR Unknown option given: " + c_text(word))
        replace = True
    name = ctx.engine.scripting.load_library(argv[-1], replace)
    ctx.space.dirty += 1
    return name


@functions.command(
    "function|delete", "library-name", "Deletes a library.", arity=3, flags=_CHANGES, since="7.0.0",
    tips=_EVERYWHERE,
)  # fmt: skip
def function_delete(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. Redis: FUNCTION DELETE."""
    ctx.engine.scripting.libraries.delete(argv[2])
    ctx.space.dirty += 1
    return OK


@functions.command(
    "function|flush", "[ASYNC | SYNC]", "Deletes all libraries.", arity=-2, flags=_CHANGES, since="7.0.0",
    complexity="O(N) where N is the number of functions deleted", tips=_EVERYWHERE,
)  # fmt: skip
def function_flush(ctx: Context, argv: list[bytes]) -> Reply:
    """OK; nothing is left to do later. Redis: FUNCTION FLUSH."""
    if len(argv) > 3:
        raise bad_subcommand(argv)
    if len(argv) == 3 and argv[2].lower() not in (b"sync", b"async"):
        raise CommandError(b"ERR FUNCTION FLUSH only supports SYNC|ASYNC option")
    ctx.engine.scripting.libraries.flush()
    ctx.space.dirty += 1
    return OK


@functions.command(
    "function|list", "[LIBRARYNAME library-name-pattern] [WITHCODE]", "Lists the libraries.", arity=-2,
    flags=NOT_BY_SCRIPTS, since="7.0.0", complexity="O(N) where N is the number of functions",
    tips="nondeterministic_output_order",
)  # fmt: skip
def function_list(ctx: Context, argv: list[bytes]) -> Reply:
    """A map for each library, in the order of loading. Redis: FUNCTION LIST."""
    pattern: bytes | None = None
    with_code = False
    at = 2
    while at < len(argv):
        word = argv[at].lower()
        if word == b"withcode" and not with_code:
            with_code = True
        elif word == b"libraryname" and pattern is None:
            at += 1
            if at == len(argv):
                raise CommandError(b"ERR library name argument was not given")
            pattern = argv[at]
        else:
            raise CommandError(b"ERR Unknown argument " + c_text(argv[at]))
        at += 1
    libraries = list(ctx.engine.scripting.libraries.libraries.values())
    if pattern is not None:
        glob = Glob(pattern, True)
        libraries = [library for library in libraries if glob.matches(library.name)]
    return [_described(library, with_code) for library in libraries]


def _described(library: Library, with_code: bool) -> Reply:
    functions = [_function(function) for function in library.functions.values()]
    pairs: list[Reply] = [b"library_name", library.name, b"engine", b"LUA", b"functions", functions]
    if with_code:
        pairs += [b"library_code", library.code]
    return Map(pairs)


def _function(function: Function) -> Reply:
    flags = SetReply([Simple(name) for name, bit in FLAG_BITS.items() if function.flags & bit])
    return Map([b"name", function.name, b"description", function.description, b"flags", flags])


@functions.command(
    "function|stats", "", "Tells about the function that runs, and the engine.", arity=2,
    flags="noscript allow_busy", since="7.0.0",
    tips="nondeterministic_output request_policy:all_shards response_policy:special",
)  # fmt: skip
def function_stats(ctx: Context, argv: list[bytes]) -> Reply:
    """Name, command and duration (ms) of what runs, and how much is loaded. Redis: FUNCTION STATS."""
    scripting = ctx.engine.scripting
    count = scripting.libraries.count()
    engine = Map([b"libraries_count", len(scripting.libraries.libraries), b"functions_count", count])
    return Map([b"running_script", scripting.long.described(), b"engines", Map([b"LUA", engine])])


@functions.command(
    "function|kill", "", "Ends the function that runs.", arity=2, flags="noscript allow_busy", since="7.0.0",
    tips="request_policy:all_shards response_policy:one_succeeded",
)  # fmt: skip
def function_kill(ctx: Context, argv: list[bytes]) -> Reply:
    """OK; it ends at once. Redis: FUNCTION KILL."""
    ctx.engine.scripting.long.kill(True)
    return OK


@functions.command(
    "function|dump", "", "Gives all libraries as bytes that RESTORE understands.", arity=2, flags=NOT_BY_SCRIPTS,
    since="7.0.0", complexity="O(N) where N is the number of functions",
)  # fmt: skip
def function_dump(ctx: Context, argv: list[bytes]) -> Reply:
    """The payload. Redis: FUNCTION DUMP."""
    engine = ctx.engine
    codes = engine.scripting.libraries.codes()
    return dump_functions(codes, format_version(engine.version), engine.saving.compressor())


@functions.command(
    "function|restore", "serialized-value [FLUSH | APPEND | REPLACE]", "Creates libraries from what DUMP gave.",
    arity=-3, flags=_MAKES, since="7.0.0", complexity="O(N) where N is the number of functions on the payload",
    tips=_EVERYWHERE,
)  # fmt: skip
def function_restore(ctx: Context, argv: list[bytes]) -> Reply:
    """OK: all of them, or an error and none. Redis: FUNCTION RESTORE."""
    if len(argv) > 4:
        raise bad_subcommand(argv)
    policy = argv[3].lower() if len(argv) == 4 else b"append"
    if policy not in (b"append", b"replace", b"flush"):
        raise CommandError(b"ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.")
    engine = ctx.engine
    if not is_sound(argv[2], format_version(engine.version), engine.saving.trusting):
        raise CommandError(b"ERR DUMP payload version or checksum are wrong")
    try:
        codes = load_functions(argv[2])
    except CorruptData as error:
        raise CommandError(b"ERR " + str(error).encode()) from None
    engine.scripting.adopt(codes, policy == b"flush", policy == b"replace")
    ctx.space.dirty += 1
    return OK


@functions.command("function|help", "", "Explains the sub-commands.", arity=2, flags="loading stale", since="7.0.0")
def function_help(ctx: Context, argv: list[bytes]) -> Reply:
    """The explanation. Redis: FUNCTION HELP."""
    return help_reply(ctx, argv)
