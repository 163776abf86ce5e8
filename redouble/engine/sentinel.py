"""A Sentinel: what it knows of the masters that it watches.

A real Sentinel pings its masters and votes with other Sentinels. This one lives in the process of the
master, so it looks at the master's engine itself: a master is down when it is stopping, and there are
neither replicas nor other Sentinels. Masters that a client has told it to watch by SENTINEL MONITOR, at
an address of which nothing is known here, are always up.

Also to touch when this changes: `commands/sentinel.py` (what clients see of it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.engine import Engine

_DOWN_AFTER_MS: Final = 30000
_FAILOVER_TIMEOUT_MS: Final = 180000


@final
class Master:
    """A master that is watched."""

    __slots__ = (
        "name", "engine", "_host", "_port", "quorum", "since", "down_after_ms", "failover_timeout_ms",
        "parallel_syncs",
    )  # fmt: skip

    def __init__(self, name: bytes, engine: Engine | None, host: bytes, port: int, quorum: int, since: int) -> None:
        self.name: bytes = name
        #: The master itself, if it lives in this process.
        self.engine: Engine | None = engine
        self._host: bytes = host
        self._port: int = port
        self.quorum: int = quorum
        #: Since when it is watched, Unix time in ms.
        self.since: int = since
        self.down_after_ms: int = _DOWN_AFTER_MS
        self.failover_timeout_ms: int = _FAILOVER_TIMEOUT_MS
        self.parallel_syncs: int = 1

    def is_down(self) -> bool:
        """Whether it is gone."""
        return self.engine is not None and self.engine.stopping

    def host(self, client: Client) -> bytes:
        """The address to tell a client: what is announced, else the one at which the client came to us."""
        if self.engine is None:
            return self._host
        return self.engine.config.get(b"replica-announce-ip") or client.host_reached()

    def port(self) -> int:
        """The port to tell clients."""
        if self.engine is None:
            return self._port
        config = self.engine.config
        return config.number(b"replica-announce-port") or config.number(b"port") or config.number(b"tls-port")

    def run_id(self) -> bytes:
        """Its run id, empty where nothing is known."""
        return b"" if self.engine is None else self.engine.run_id


@final
class Sentinel:
    """The masters that an engine watches, by name."""

    __slots__ = ("id", "masters")

    def __init__(self, engine: Engine) -> None:
        self.id: bytes = b"%040x" % engine.random.getrandbits(160)
        self.masters: dict[bytes, Master] = {}
        engine.sentinel = self
        engine.mode = b"sentinel"

    def info(self, client: Client) -> list[bytes]:
        """The lines of INFO sentinel."""
        lines = [
            b"sentinel_masters:%d" % len(self.masters), b"sentinel_tilt:0", b"sentinel_tilt_since_seconds:-1",
            b"sentinel_running_scripts:0", b"sentinel_scripts_queue_length:0",
            b"sentinel_simulate_failure_flags:0",
        ]  # fmt: skip
        for number, master in enumerate(self.masters.values()):
            status = b"odown" if master.is_down() else b"ok"
            shown = (number, master.name, status, master.host(client), master.port())
            lines.append(b"master%d:name=%b,status=%b,address=%b:%d,slaves=0,sentinels=1" % shown)
        return lines
