"""Publish and subscribe: who listens to what.

There are three kinds of names: channels, patterns, shard channels. Each kind is a dictionary from name
to clients in order of subscription; patterns are compiled once and matched for each message. A message
is encoded once for each protocol and put into each receiver's output at once, so its order among
replies is the order in which things happened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from redouble.datatypes.glob import Glob
from redouble.engine import flags as f
from redouble.protocol.reply import Push

if TYPE_CHECKING:
    from redouble.engine.client import Client

Listeners = dict[bytes, dict["Client", None]]


@final
class Kind:
    """A kind of names to listen to, and how its answers begin."""

    __slots__ = ("number", "subscribed", "unsubscribed")

    def __init__(self, number: int, letter: bytes) -> None:
        self.number: int = number
        self.subscribed: bytes = letter + b"subscribe"
        self.unsubscribed: bytes = letter + b"unsubscribe"

    def names_of(self, client: Client) -> dict[bytes, None]:
        """What a client listens to."""
        if self.number == 0:
            return client.channels
        return client.patterns if self.number == 1 else client.shard_channels

    def count(self, client: Client) -> int:
        """The number that answers show: channels and patterns together, shard channels apart."""
        return len(client.shard_channels) if self.number == 2 else client.subscriptions()


CHANNELS: Final = Kind(0, b"")
PATTERNS: Final = Kind(1, b"p")
SHARD_CHANNELS: Final = Kind(2, b"s")


@final
class PubSub:
    """The subscriptions of an engine. `listeners` is indexed by `Kind.number`."""

    __slots__ = ("listeners", "_globs")

    def __init__(self) -> None:
        self.listeners: list[Listeners] = [{}, {}, {}]
        self._globs: dict[bytes, Glob] = {}

    def subscribe(self, client: Client, kind: Kind, name: bytes) -> None:
        """Listen. O(1)."""
        kind.names_of(client)[name] = None
        self.listeners[kind.number].setdefault(name, {})[client] = None
        if kind is PATTERNS and name not in self._globs:
            self._globs[name] = Glob(name)
        client.flags |= f.SUBSCRIBER

    def unsubscribe(self, client: Client, kind: Kind, name: bytes) -> None:
        """Stop listening, if one did. O(1)."""
        names = kind.names_of(client)
        if name not in names:
            return
        del names[name]
        listeners = self.listeners[kind.number]
        clients = listeners[name]
        del clients[client]
        if not clients:
            del listeners[name]
            if kind is PATTERNS:
                del self._globs[name]
        if not client.channels and not client.patterns and not client.shard_channels:
            client.flags &= ~f.SUBSCRIBER

    def forget(self, client: Client) -> None:
        """Stop listening to anything, without a word. O(subscriptions)."""
        for kind in (CHANNELS, PATTERNS, SHARD_CHANNELS):
            for name in list(kind.names_of(client)):
                self.unsubscribe(client, kind, name)

    def publish(self, channel: bytes, message: bytes) -> int:
        """Send a message to all who listen; how many that were. O(receivers + patterns)."""
        count = 0
        listeners = self.listeners[0].get(channel)
        if listeners is not None:
            count = _deliver(listeners, Push([b"message", channel, message]))
        patterns = self.listeners[1]
        if patterns:
            for pattern, listeners in patterns.items():
                if self._globs[pattern].matches(channel):
                    count += _deliver(listeners, Push([b"pmessage", pattern, channel, message]))
        return count

    def publish_shard(self, channel: bytes, message: bytes) -> int:
        """Send a message to all who listen to a shard channel. O(receivers)."""
        listeners = self.listeners[2].get(channel)
        if listeners is None:
            return 0
        return _deliver(listeners, Push([b"smessage", channel, message]))


def _deliver(clients: dict[Client, None], push: Push) -> int:
    """Give a message to clients, encoded once for each protocol; how many they are."""
    data2 = b""
    data3 = b""
    for client in clients:
        if client.resp == 3:
            if not data3:
                data3 = client.encoder.encode(push)
            client.hear(data3)
        else:
            if not data2:
                data2 = client.encoder.encode(push)
            client.hear(data2)
    return len(clients)
