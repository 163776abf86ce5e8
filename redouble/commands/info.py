"""INFO. What it says is made in `engine/info.py`."""

from typing import Final

from redouble.engine.command import Family
from redouble.engine.context import Context
from redouble.engine.info import info_text
from redouble.protocol.reply import Reply, Verbatim

info: Final = Family("server")


@info.command(
    "info", "[section [section ...]]", "Tells about the server, in sections of name:value lines.", arity=-1,
    flags="loading stale", complexity="O(1)", categories="dangerous",
    tips="nondeterministic_output request_policy:all_shards response_policy:special",
)  # fmt: skip
def info_(ctx: Context, argv: list[bytes]) -> Reply:
    """The sections as one text. Redis: INFO."""
    return Verbatim(info_text(ctx.engine, argv[1:]))
