"""SUBSCRIBE, PUBLISH and their kin: messages to whoever listens.

One command answers several times here, once for each name: `Several` keeps the answers together, so
that they stand where the reply belongs, in EXEC too.
"""

from __future__ import annotations

from typing import Final

from redouble.commands.help import bad_subcommand, help_reply
from redouble.datatypes.glob import Glob
from redouble.engine import flags as f
from redouble.engine.command import Family, one, span
from redouble.engine.context import Context
from redouble.engine.pubsub import CHANNELS, PATTERNS, SHARD_CHANNELS, Kind
from redouble.errors import CommandError
from redouble.protocol.reply import Bulks, Push, Reply, Several

pubsub: Final = Family("pubsub")

_LISTEN: Final = "pubsub noscript loading stale in_subscriber_mode"
_SEND: Final = "pubsub loading stale fast may_replicate names_channels names_one_channel"
_ASK: Final = "pubsub loading stale"


# -- subscribing ----------------------------------------------------------------------------------------


def _subscribe(ctx: Context, kind: Kind, names: list[bytes]) -> Reply:
    answers: list[Push] = []
    for name in names:
        ctx.engine.pubsub.subscribe(ctx.client, kind, name)
        answers.append(Push([kind.subscribed, name, kind.count(ctx.client)]))
    return Several(list(answers))


def _unsubscribe(ctx: Context, kind: Kind, names: list[bytes]) -> Reply:
    client = ctx.client
    if not names:
        names = list(kind.names_of(client))
        if not names:
            return Push([kind.unsubscribed, None, kind.count(client)])
    answers: list[Push] = []
    for name in names:
        ctx.engine.pubsub.unsubscribe(client, kind, name)
        answers.append(Push([kind.unsubscribed, name, kind.count(client)]))
    return Several(list(answers))


@pubsub.command(
    "subscribe", "channel [channel ...]", "Listens to channels.", arity=-2, flags=_LISTEN + " names_channels",
    since="2.0.0", complexity="O(N) where N is the number of channels to subscribe to.",
)  # fmt: skip
def subscribe(ctx: Context, argv: list[bytes]) -> Reply:
    """Listen to channels; an answer for each. O(channels). Redis: SUBSCRIBE."""
    return _subscribe(ctx, CHANNELS, argv[1:])


@pubsub.command(
    "psubscribe", "pattern [pattern ...]", "Listens to all channels that match patterns.", arity=-2,
    flags=_LISTEN + " names_channels names_patterns", since="2.0.0",
    complexity="O(N) where N is the number of patterns to subscribe to.",
)  # fmt: skip
def psubscribe(ctx: Context, argv: list[bytes]) -> Reply:
    """Listen to patterns; an answer for each. O(patterns). Redis: PSUBSCRIBE."""
    return _subscribe(ctx, PATTERNS, argv[1:])


@pubsub.command(
    "ssubscribe", "shardchannel [shardchannel ...]", "Listens to shard channels.", arity=-2,
    flags=_LISTEN + " names_channels", keys=[span("not_key")], since="7.0.0",
    complexity="O(N) where N is the number of shard channels to subscribe to.",
)  # fmt: skip
def ssubscribe(ctx: Context, argv: list[bytes]) -> Reply:
    """Listen to shard channels; an answer for each. O(channels). Redis: SSUBSCRIBE."""
    if ctx.flags & f.DENY_BLOCKING:
        raise CommandError(b"ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client")
    return _subscribe(ctx, SHARD_CHANNELS, argv[1:])


@pubsub.command(
    "unsubscribe", "[channel [channel ...]]", "Stops listening to channels.", arity=-1, flags=_LISTEN, since="2.0.0",
    complexity="O(N) where N is the number of channels to unsubscribe.",
)  # fmt: skip
def unsubscribe(ctx: Context, argv: list[bytes]) -> Reply:
    """Stop listening to channels, to all where none is named. O(channels). Redis: UNSUBSCRIBE."""
    return _unsubscribe(ctx, CHANNELS, argv[1:])


@pubsub.command(
    "punsubscribe", "[pattern [pattern ...]]", "Stops listening to patterns.", arity=-1, flags=_LISTEN,
    since="2.0.0", complexity="O(N) where N is the number of patterns to unsubscribe.",
)  # fmt: skip
def punsubscribe(ctx: Context, argv: list[bytes]) -> Reply:
    """Stop listening to patterns, to all where none is named. O(patterns). Redis: PUNSUBSCRIBE."""
    return _unsubscribe(ctx, PATTERNS, argv[1:])


@pubsub.command(
    "sunsubscribe", "[shardchannel [shardchannel ...]]", "Stops listening to shard channels.", arity=-1,
    flags=_LISTEN, keys=[span("not_key")], since="7.0.0",
    complexity="O(N) where N is the number of shard channels to unsubscribe.",
)  # fmt: skip
def sunsubscribe(ctx: Context, argv: list[bytes]) -> Reply:
    """Stop listening to shard channels, to all where none is named. O(channels). Redis: SUNSUBSCRIBE."""
    return _unsubscribe(ctx, SHARD_CHANNELS, argv[1:])


# -- publishing -----------------------------------------------------------------------------------------


@pubsub.command(
    "publish", "channel message", "Sends a message to a channel.", arity=3,
    flags=_SEND, since="2.0.0",
    complexity="O(N+M) where N is the number of clients subscribed to the receiving channel and M is the total number "
    "of subscribed patterns (by any client).",
)  # fmt: skip
def publish(ctx: Context, argv: list[bytes]) -> Reply:
    """How many connections got the message. O(receivers + patterns). Redis: PUBLISH."""
    if ctx.engine.node is not None:
        ctx.engine.node.publish(argv[1], argv[2])
    return ctx.engine.pubsub.publish(argv[1], argv[2])


@pubsub.command(
    "spublish", "shardchannel message", "Sends a message to a shard channel.", arity=3,
    flags=_SEND, keys=[one("not_key")], since="7.0.0",
    complexity="O(N) where N is the number of clients subscribed to the receiving shard channel.",
)  # fmt: skip
def spublish(ctx: Context, argv: list[bytes]) -> Reply:
    """How many connections got the message. O(receivers). Redis: SPUBLISH."""
    return ctx.engine.pubsub.publish_shard(argv[1], argv[2])


# -- asking ---------------------------------------------------------------------------------------------

pubsub.container("pubsub", "Holds the commands about subscriptions.", since="2.8.0")


def _active(ctx: Context, kind: Kind, argv: list[bytes]) -> Reply:
    if len(argv) > 3:
        raise bad_subcommand(argv)
    names = list(ctx.engine.pubsub.listeners[kind.number])
    if len(argv) == 3:
        # KEYS and SCAN take "*" for "everything"; here it is a pattern, which doesn't match the empty name.
        pattern = Glob(argv[2])
        names = [name for name in names if pattern.matches(name)]
    return Bulks(names)


def _counts(ctx: Context, kind: Kind, names: list[bytes]) -> Reply:
    listeners = ctx.engine.pubsub.listeners[kind.number]
    reply: list[Reply] = []
    for name in names:
        reply.append(name)
        reply.append(len(listeners[name]) if name in listeners else 0)
    return reply


@pubsub.command(
    "pubsub|channels", "[pattern]", "Lists the channels that somebody listens to.", arity=-2, flags=_ASK,
    since="2.8.0",
    complexity="O(N) where N is the number of active channels, and assuming constant time pattern matching "
    "(relatively short channels and patterns)",
)  # fmt: skip
def channels(ctx: Context, argv: list[bytes]) -> Reply:
    """Names of channels, patterns apart. O(channels). Redis: PUBSUB CHANNELS."""
    return _active(ctx, CHANNELS, argv)


@pubsub.command(
    "pubsub|shardchannels", "[pattern]", "Lists the shard channels that somebody listens to.", arity=-2, flags=_ASK,
    since="7.0.0",
    complexity="O(N) where N is the number of active shard channels, and assuming constant time pattern matching "
    "(relatively short shard channels).",
)  # fmt: skip
def shardchannels(ctx: Context, argv: list[bytes]) -> Reply:
    """Names of shard channels. O(channels). Redis: PUBSUB SHARDCHANNELS."""
    return _active(ctx, SHARD_CHANNELS, argv)


@pubsub.command(
    "pubsub|numsub", "[channel [channel ...]]", "Counts the listeners of channels.", arity=-2, flags=_ASK,
    since="2.8.0", complexity="O(N) for the NUMSUB subcommand, where N is the number of requested channels",
)  # fmt: skip
def numsub(ctx: Context, argv: list[bytes]) -> Reply:
    """Each name and its number of listeners. O(names). Redis: PUBSUB NUMSUB."""
    return _counts(ctx, CHANNELS, argv[2:])


@pubsub.command(
    "pubsub|shardnumsub", "[shardchannel [shardchannel ...]]", "Counts the listeners of shard channels.", arity=-2,
    flags=_ASK, since="7.0.0",
    complexity="O(N) for the SHARDNUMSUB subcommand, where N is the number of requested shard channels",
)  # fmt: skip
def shardnumsub(ctx: Context, argv: list[bytes]) -> Reply:
    """Each name and its number of listeners. O(names). Redis: PUBSUB SHARDNUMSUB."""
    return _counts(ctx, SHARD_CHANNELS, argv[2:])


@pubsub.command(
    "pubsub|numpat", "", "Counts the patterns that somebody listens to.", arity=2, flags=_ASK, since="2.8.0"
)
def numpat(ctx: Context, argv: list[bytes]) -> Reply:
    """How many different patterns there are. O(1). Redis: PUBSUB NUMPAT."""
    return len(ctx.engine.pubsub.listeners[PATTERNS.number])


@pubsub.command("pubsub|help", "", "Explains the sub-commands.", arity=2, flags="loading stale", since="6.2.0")
def help_(ctx: Context, argv: list[bytes]) -> Reply:
    """A text. Redis: PUBSUB HELP."""
    return help_reply(ctx, argv)
