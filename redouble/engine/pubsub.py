"""Publish and subscribe: who listens to what.

Channels and shard channels are dictionaries from name to clients in order of subscription; patterns
are compiled once and matched for each message. A message is put into each receiver's output at once,
so its order among replies is the order in which things happened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from redouble.datatypes.glob import Glob
from redouble.engine import flags as f
from redouble.protocol.reply import Push

if TYPE_CHECKING:
    from redouble.engine.client import Client

Listeners = dict[bytes, dict["Client", None]]


@final
class PubSub:
    """The subscriptions of an engine."""

    __slots__ = ("channels", "patterns", "shard_channels", "_globs")

    def __init__(self) -> None:
        self.channels: Listeners = {}
        self.patterns: Listeners = {}
        self.shard_channels: Listeners = {}
        self._globs: dict[bytes, Glob] = {}

    def subscribe(self, client: Client, channel: bytes) -> None:
        """Listen to a channel. O(1)."""
        client.channels[channel] = None
        self.channels.setdefault(channel, {})[client] = None
        client.flags |= f.SUBSCRIBER

    def subscribe_shard(self, client: Client, channel: bytes) -> None:
        """Listen to a shard channel. O(1)."""
        client.shard_channels[channel] = None
        self.shard_channels.setdefault(channel, {})[client] = None
        client.flags |= f.SUBSCRIBER

    def subscribe_pattern(self, client: Client, pattern: bytes) -> None:
        """Listen to all channels that match. O(1)."""
        client.patterns[pattern] = None
        self.patterns.setdefault(pattern, {})[client] = None
        if pattern not in self._globs:
            self._globs[pattern] = Glob(pattern)
        client.flags |= f.SUBSCRIBER

    def unsubscribe(self, client: Client, channel: bytes) -> None:
        """Stop listening to a channel. O(1)."""
        if channel in client.channels:
            del client.channels[channel]
            _leave(self.channels, channel, client)
            self._settle(client)

    def unsubscribe_shard(self, client: Client, channel: bytes) -> None:
        """Stop listening to a shard channel. O(1)."""
        if channel in client.shard_channels:
            del client.shard_channels[channel]
            _leave(self.shard_channels, channel, client)
            self._settle(client)

    def unsubscribe_pattern(self, client: Client, pattern: bytes) -> None:
        """Stop listening to a pattern. O(1)."""
        if pattern in client.patterns:
            del client.patterns[pattern]
            if _leave(self.patterns, pattern, client):
                del self._globs[pattern]
            self._settle(client)

    def forget(self, client: Client) -> None:
        """Stop listening to anything, without a word. O(subscriptions)."""
        for channel in list(client.channels):
            self.unsubscribe(client, channel)
        for channel in list(client.shard_channels):
            self.unsubscribe_shard(client, channel)
        for pattern in list(client.patterns):
            self.unsubscribe_pattern(client, pattern)

    def publish(self, channel: bytes, message: bytes) -> int:
        """Send a message to all who listen; how many that were. O(receivers + patterns)."""
        count = 0
        listeners = self.channels.get(channel)
        if listeners is not None:
            push = Push([b"message", channel, message])
            for client in listeners:
                client.send(push)
            count += len(listeners)
        if self.patterns:
            for pattern, listeners in self.patterns.items():
                if self._globs[pattern].matches(channel):
                    push = Push([b"pmessage", pattern, channel, message])
                    for client in listeners:
                        client.send(push)
                    count += len(listeners)
        return count

    def publish_shard(self, channel: bytes, message: bytes) -> int:
        """Send a message to all who listen to a shard channel. O(receivers)."""
        listeners = self.shard_channels.get(channel)
        if listeners is None:
            return 0
        push = Push([b"smessage", channel, message])
        for client in listeners:
            client.send(push)
        return len(listeners)

    def _settle(self, client: Client) -> None:
        if not client.channels and not client.patterns and not client.shard_channels:
            client.flags &= ~f.SUBSCRIBER


def _leave(listeners: Listeners, name: bytes, client: Client) -> bool:
    """Take a client from a name's listeners; True when it was the last."""
    clients = listeners[name]
    del clients[client]
    if not clients:
        del listeners[name]
        return True
    return False
