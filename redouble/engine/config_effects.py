"""What parameters do: each effect reads what it needs from the configuration and puts it where the
fast path looks. An effect that can't be had raises `CommandError` with the bare reason.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from redouble.engine import flags as f
from redouble.engine.acl import password_hash
from redouble.engine.cluster import Cluster
from redouble.engine.edge import NO_LIMIT, OutputLimit
from redouble.engine.idle import watch_idle
from redouble.errors import CommandError
from redouble.keyspace import events

if TYPE_CHECKING:
    from redouble.engine.engine import Engine

Effect = Callable[["Engine"], None]

_LEVELS: Final[dict[bytes, int]] = {
    b"debug": logging.DEBUG,
    b"verbose": logging.DEBUG,
    b"notice": logging.INFO,
    b"warning": logging.WARNING,
    b"nothing": logging.CRITICAL + 1,
}
_HZ_MAX: Final = 500
_BACKLOG_MIN: Final = 16 * 1024


def encodings(engine: Engine) -> None:
    """The sizes at which values change their encoding."""
    config = engine.config
    limits = engine.limits
    limits.hash_entries = config.number(b"hash-max-listpack-entries")
    limits.hash_value = config.number(b"hash-max-listpack-value")
    limits.zset_entries = config.number(b"zset-max-listpack-entries")
    limits.zset_value = config.number(b"zset-max-listpack-value")
    limits.list_listpack_size = config.number(b"list-max-listpack-size")
    limits.list_compress_depth = config.number(b"list-compress-depth")
    limits.set_intset_entries = config.number(b"set-max-intset-entries")
    limits.stream_node_bytes = config.number(b"stream-node-max-bytes")
    limits.stream_node_entries = config.number(b"stream-node-max-entries")
    limits.hll_sparse_bytes = config.number(b"hll-sparse-max-bytes")
    if limits.set_has_listpack:
        limits.set_listpack_entries = config.number(b"set-max-listpack-entries")
        limits.set_listpack_value = config.number(b"set-max-listpack-value")


def notifications(engine: Engine) -> None:
    """The classes of keyspace events."""
    engine.space.set_notify_classes(events.parse_classes(engine.config.get(b"notify-keyspace-events")) or 0)


def slow_log(engine: Engine) -> None:
    """The slow log and the latency monitor."""
    config = engine.config
    engine.slowlog.configure(
        config.number(b"slowlog-log-slower-than"),
        config.number(b"slowlog-max-len"),
        config.number(b"latency-monitor-threshold"),
    )


def latency_tracking(engine: Engine) -> None:
    """Histograms of how long each command takes."""
    engine.stats.track(engine.config.enabled(b"latency-tracking"))


def memory(engine: Engine) -> None:
    """The limits of memory, of keys and of clients, and what happens at them."""
    config = engine.config
    engine.memory.configure(config.number(b"maxmemory"), config.get(b"maxmemory-policy"))
    engine.client_eviction.configure(config.get(b"maxmemory-clients"), engine.memory.limit)
    edge(engine)
    if engine.memory.limit:
        # Not at once: this may be the middle of an EXEC.
        engine.later(engine.space.now, engine.memory.settle)


def no_defragmentation(engine: Engine) -> None:
    """There is no allocator of ours that could defragment."""
    if engine.config.enabled(b"activedefrag"):
        raise CommandError(
            b"Active defragmentation cannot be enabled: it requires a Redis server compiled with a modified Jemalloc "
            b"like the one shipped by default with the Redis source distribution"
        )


def bulk_length(engine: Engine) -> None:
    """The longest argument that a request may hold."""
    engine.bulk_max = engine.config.number(b"proto-max-bulk-len")
    for client in engine.clients.values():
        client.parser.bulk_max = engine.bulk_max


def password(engine: Engine) -> None:
    """The password of the default user."""
    password = engine.config.get(b"requirepass")
    user = engine.acl.default
    user.nopass = not password
    user.passwords = [password_hash(password)] if password else []


def wanted_replicas(engine: Engine) -> None:
    """Writes are refused while there are fewer replicas; there are none."""
    config = engine.config
    if config.number(b"min-replicas-to-write") and config.number(b"min-replicas-max-lag"):
        engine.flags |= f.LACKS_REPLICAS
    else:
        engine.flags &= ~f.LACKS_REPLICAS


def access_log(engine: Engine) -> None:
    """The length of the ACL log, and whether new users may use all channels."""
    engine.acl.log.length = engine.config.number(b"acllog-max-len")
    engine.acl.all_channels_by_default = engine.config.get(b"acl-pubsub-default") == b"allchannels"


def tracking_table(engine: Engine) -> None:
    """How many keys client-side caching remembers; 0 is no limit."""
    engine.tracking.limit(engine.config.number(b"tracking-table-max-keys"))


def frequency(engine: Engine) -> None:
    """The frequency of background work, which we have not, is at least 1 and at most 500."""
    engine.config.values[b"hz"] = b"%d" % max(1, min(_HZ_MAX, engine.config.number(b"hz")))


def backlog(engine: Engine) -> None:
    """What is kept for replicas that come back has a least size."""
    engine.config.values[b"repl-backlog-size"] = b"%d" % max(_BACKLOG_MIN, engine.config.number(b"repl-backlog-size"))


def logging_level(engine: Engine) -> None:
    """How much is logged."""
    logging.getLogger("redouble").setLevel(_LEVELS[engine.config.get(b"loglevel")])


def cluster(engine: Engine) -> None:
    """Whether commands answer as a node of a cluster: alone in it, unless others join."""
    if engine.config.enabled(b"cluster-enabled"):
        engine.flags |= f.CLUSTERED
        engine.mode = b"cluster"
        # It has one database, and yet tells the number that others have.
        if engine.config.get(b"databases") == b"1":
            engine.config.values[b"databases"] = b"16"
        Cluster([engine])


def edge(engine: Engine) -> None:
    """Numbers for the edge."""
    config = engine.config
    settings = config.edge
    settings.max_clients = config.number(b"maxclients")
    settings.keepalive = config.number(b"tcp-keepalive")
    settings.query_limit = config.number(b"client-query-buffer-limit")
    settings.least_query = 0 if engine.client_eviction.limit else settings.query_limit
    idle_ms = config.number(b"timeout") * 1000
    if idle_ms != settings.idle_ms:
        settings.idle_ms = idle_ms
        settings.idle_round += 1
        watch_idle(engine, settings.idle_round)
    words = config.get(b"client-output-buffer-limit").split()
    settings.normal = _output_limit(words[1:4])
    if settings.normal.hard:
        engine.observers |= f.WEIGHED
    else:
        engine.observers &= ~f.WEIGHED
    settings.pubsub = _output_limit(words[9:12])
    settings.least_output = min(settings.normal.hard or NO_LIMIT, settings.pubsub.hard or NO_LIMIT)


def _output_limit(words: list[bytes]) -> OutputLimit:
    return OutputLimit(int(words[0]), int(words[1]), int(words[2]) * 1000)


def listeners(engine: Engine) -> None:
    """The addresses and the port to listen on."""
    relisten = engine.config.edge.relisten
    if relisten is not None and not relisten():
        raise CommandError(b"Unable to listen on this port. Check server logs.")


def encryption(engine: Engine) -> None:
    """Certificates and what else TLS goes by; looked at only where there is a port for it, as in Redis."""
    renew = engine.config.edge.renew_tls
    if renew is not None and engine.config.number(b"tls-port") and not renew():
        raise CommandError(b"Unable to update TLS configuration. Check server logs.")


def encrypted_listeners(engine: Engine) -> None:
    """The port to listen on for TLS."""
    encryption(engine)
    listeners(engine)
