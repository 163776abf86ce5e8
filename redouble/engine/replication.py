"""The role in replication. There is no link to any master: a replica's is always down, as if it had
not been reached yet, while clients read the keys that are there and may not write. As a master it feeds
replicas (see `propagation.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f

if TYPE_CHECKING:
    from redouble.engine.engine import Engine

READONLY: Final = b"READONLY You can't write against a read only replica."


@final
class Replication:
    """Whom an engine follows."""

    __slots__ = ("engine", "id", "host", "port", "since")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        self.id: bytes = b""
        self.renew_id()
        #: The master's address; empty for a master.
        self.host: bytes = b""
        self.port: int = 0
        #: Since when the link is down, Unix time in ms.
        self.since: int = 0

    def renew_id(self) -> None:
        """Begin another history."""
        self.id = b"%040x" % self.engine.random.getrandbits(160)

    def follow(self, host: bytes, port: int) -> None:
        """Become a replica of somebody, or a master (empty)."""
        self.host = host
        self.port = port
        self.since = self.engine.space.now
        if host:
            self.engine.flags |= f.REPLICA
            self.engine.propagation.drop_all()
        else:
            self.engine.flags &= ~f.REPLICA

    def refuses(self, nature: int) -> bool:
        """Whether a replica may not run a command that amounts to these flags."""
        return nature & f.WRITE != 0 and self.engine.config.enabled(b"replica-read-only")

    def info(self) -> list[bytes]:
        """The lines of INFO replication."""
        lines = [b"role:slave" if self.host else b"role:master"]
        if self.host:
            seconds = max(0, self.engine.space.now - self.since) // 1000
            config = self.engine.config
            lines += [
                b"master_host:" + self.host, b"master_port:%d" % self.port, b"master_link_status:down",
                b"master_last_io_seconds_ago:-1", b"master_sync_in_progress:0", b"slave_read_repl_offset:1",
                b"slave_repl_offset:1", b"master_link_down_since_seconds:%d" % seconds,
                b"slave_priority:" + config.get(b"replica-priority"),
                b"slave_read_only:%d" % (1 if config.enabled(b"replica-read-only") else 0),
                b"replica_announced:1",
            ]  # fmt: skip
        return [
            *lines,
            *self._followers(), b"master_failover_state:no-failover", b"master_replid:" + self.id,
            b"master_replid2:" + b"0" * 40, b"master_repl_offset:%d" % self.engine.propagation.offset,
            b"second_repl_offset:-1",
            b"repl_backlog_active:0", b"repl_backlog_size:" + self.engine.config.get(b"repl-backlog-size"),
            b"repl_backlog_first_byte_offset:0", b"repl_backlog_histlen:0",
        ]  # fmt: skip

    def _followers(self) -> list[bytes]:
        online = self.engine.propagation.online()
        lines = [b"connected_slaves:%d" % len(online)]
        for number, (client, follower) in enumerate(online):
            lag = max(0, self.engine.space.now - follower.heard) // 1000
            facts = (number, follower.host(client), follower.port, follower.acknowledged, lag)
            lines.append(b"slave%d:ip=%b,port=%d,state=online,offset=%d,lag=%d" % facts)
        return lines
