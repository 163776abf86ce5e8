"""CONFIG: the settings of a running server. The table is `engine/config_table.py`."""

from typing import Final

from redouble.commands.help import help_reply
from redouble.engine.command import Family
from redouble.engine.config_file import rewritten
from redouble.engine.context import Context
from redouble.errors import CommandError
from redouble.protocol.reply import OK, Map, Reply

configuration: Final = Family("server")

_ADMIN: Final = "admin noscript loading stale"

configuration.container("config", "Holds the commands for the settings.", since="2.0.0")


@configuration.command(
    "config|get", "parameter [parameter ...]", "Gives the values of parameters, named or by pattern.", arity=-3,
    flags=_ADMIN, since="2.0.0",
    complexity="O(N) when N is the number of configuration parameters provided",
)  # fmt: skip
def config_get(ctx: Context, argv: list[bytes]) -> Reply:
    """Names and values. O(parameters * patterns). Redis: CONFIG GET."""
    return Map(list(ctx.engine.config.matching(argv[2:])))


@configuration.command(
    "config|set", "parameter value [parameter value ...]", "Changes parameters, all of them or none.", arity=-4,
    flags=_ADMIN, since="2.0.0", tips="request_policy:all_nodes response_policy:all_succeeded",
    complexity="O(N) when N is the number of configuration parameters provided",
)  # fmt: skip
def config_set(ctx: Context, argv: list[bytes]) -> Reply:
    """OK, or why not. O(parameters). Redis: CONFIG SET."""
    config = ctx.engine.config
    for position in range(2, len(argv), 2):
        parameter = config.parameters.get(argv[position].lower())
        if parameter is not None and parameter.sensitive:
            ctx.engine.slowlog.hide(argv, position + 1)
    config.change(argv[2:], ctx.client.is_local())
    return OK


@configuration.command(
    "config|resetstat", "", "Sets the counters of INFO to zero.", arity=2, flags=_ADMIN, since="2.0.0",
    tips="request_policy:all_nodes response_policy:all_succeeded",
)  # fmt: skip
def config_resetstat(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(commands). Redis: CONFIG RESETSTAT."""
    engine = ctx.engine
    engine.stats = engine.stats.anew()
    engine.space.hits = 0
    engine.space.misses = 0
    engine.space.expired = 0
    engine.space.expired_fields = 0
    engine.memory.evicted = 0
    engine.client_eviction.evicted = 0
    return OK


@configuration.command(
    "config|rewrite", "", "Writes the settings into the configuration file.", arity=2, flags=_ADMIN, since="2.8.0",
    tips="request_policy:all_nodes response_policy:all_succeeded",
)  # fmt: skip
def config_rewrite(ctx: Context, argv: list[bytes]) -> Reply:
    """OK, once the file has been written. O(parameters). Redis: CONFIG REWRITE."""
    config = ctx.engine.config
    if not config.file:
        raise CommandError(b"ERR The server is running without a config file")
    try:
        rewritten(config)
    except OSError as error:
        raise CommandError(b"ERR Rewriting config file: " + str(error.strerror).encode()) from None
    return OK


@configuration.command("config|help", "", "Explains the sub-commands.", arity=2, flags="loading stale", since="5.0.0")
def config_help(ctx: Context, argv: list[bytes]) -> Reply:
    """The explanation. Redis: CONFIG HELP."""
    return help_reply(ctx, argv)
