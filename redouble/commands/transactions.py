"""MULTI, EXEC, DISCARD, WATCH, UNWATCH.

Within MULTI the queue holds `(command, argv)`, put there by `admission.py`; EXEC runs each through
`call` with blocking denied. Nothing else is special: a handler does not know that it runs in EXEC.
"""

from typing import Final

from redouble.engine import flags as f
from redouble.engine.command import Family, span
from redouble.engine.context import Context
from redouble.errors import CommandError
from redouble.protocol.reply import NULL_ARRAY, OK, Encoded, ErrorReply, Reply

transactions: Final = Family("transactions")

_STATE = "noscript loading stale fast allow_busy unqueued"


@transactions.command("multi", "", "Starts a transaction.", arity=1, flags=_STATE, since="1.2.0")
def multi(ctx: Context, argv: list[bytes]) -> Reply:
    """Open a transaction. O(1). Redis: MULTI."""
    if ctx.client.flags & f.IN_MULTI:
        raise CommandError(b"ERR MULTI calls can not be nested")
    ctx.client.flags |= f.IN_MULTI
    return OK


@transactions.command(
    "discard", "", "Gives up a transaction.", arity=1, flags=_STATE, since="2.0.0",
    complexity="O(N), when N is the number of queued commands",
)  # fmt: skip
def discard(ctx: Context, argv: list[bytes]) -> Reply:
    """Forget the queued commands and the watched keys. Redis: DISCARD."""
    if not ctx.client.flags & f.IN_MULTI:
        raise CommandError(b"ERR DISCARD without MULTI")
    ctx.client.end_multi()
    return OK


@transactions.command(
    "exec", "", "Runs all commands of a transaction.", arity=1,
    flags="noscript loading stale skip_slowlog unqueued ends_multi", since="1.2.0",
    complexity="Depends on commands in the transaction",
)  # fmt: skip
def exec_(ctx: Context, argv: list[bytes]) -> Reply:
    """Run the queue, unless a queued command was refused or a watched key has changed. Redis: EXEC."""
    client = ctx.client
    if not client.flags & f.IN_MULTI:
        raise CommandError(b"ERR EXEC without MULTI")
    queue = client.queue
    refused = client.queue_broken
    changed = client.watch.broken or client.watch.any_expired()
    client.end_multi()
    if refused:
        raise CommandError(b"EXECABORT Transaction discarded because of previous errors.")
    if changed:
        return NULL_ARRAY
    replies: list[Reply] = []
    ctx.flags |= f.DENY_BLOCKING | f.IN_EXEC
    for command, queued in queue:
        denied = None
        if client.flags & f.RESTRICTED:
            denied = ctx.engine.acl.exec_denial(client, command, queued)
        if denied is None:
            encoder = client.encoder
            reply = ctx.engine.call(ctx, command, queued)
            if client.encoder is not encoder:
                # HELLO: what was answered before speaks the protocol of that time.
                replies = [Encoded(encoder.encode(before)) for before in replies]
            replies.append(reply)
            continue
        if ctx.engine.observers & f.TRACED:
            ctx.engine.trace.refused(ctx, command, queued, denied)
        replies.append(ErrorReply(denied))
    ctx.flags &= ~(f.DENY_BLOCKING | f.IN_EXEC)
    return replies


@transactions.command(
    "watch", "key [key ...]", "Makes a transaction depend on keys staying as they are.", arity=-2,
    flags=_STATE, keys=[span("RO")], since="2.2.0", complexity="O(1) for every key.",
)  # fmt: skip
def watch(ctx: Context, argv: list[bytes]) -> Reply:
    """Watch keys until the next EXEC or DISCARD. O(keys). Redis: WATCH."""
    if ctx.client.flags & f.IN_MULTI:
        raise CommandError(b"ERR WATCH inside MULTI is not allowed")
    for key in argv[1:]:
        ctx.client.watch.watch(ctx.db, key)
    return OK


@transactions.command(
    "unwatch", "", "Forgets all watched keys.", arity=1, flags="noscript loading stale fast allow_busy",
    since="2.2.0",
)  # fmt: skip
def unwatch(ctx: Context, argv: list[bytes]) -> Reply:
    """Watch nothing any more. O(keys). Redis: UNWATCH."""
    ctx.client.watch.forget()
    return OK
