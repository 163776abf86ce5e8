"""Keyspace events as a test reads them."""

from tests.kit import Redis


class Listener:
    """A second connection that hears the events of every key."""

    def __init__(self, redis: Redis) -> None:
        redis.config("notify-keyspace-events", "EA")
        self._client = redis.another(2)
        self._client("PSUBSCRIBE", "__keyevent@0__:*")

    def heard(self, count: int) -> list[str]:
        """The next events, each as `event key`."""
        events = []
        for _ in range(count):
            _, _, channel, key = self._client.receive()
            events.append(channel.decode().partition(":")[2] + " " + key.decode())
        return events

    def silent(self) -> bool:
        return self._client.silent()
