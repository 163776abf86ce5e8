"""The table of parameters: every one that a server lists, with its kind, default and effect.

A difference between versions is a datum of the row: `since` and `until` say which versions know the
parameter, `name_since` since when it has its present name (older ones know only the alias), `was` what
the default used to be.

Marks: `immutable` (only at start), `protected` (needs enable-protected-configs), `sensitive` (a
password: logs hide it), `hidden` (answered only when asked by its full name).
"""

from __future__ import annotations

from typing import Final, final

from redouble.engine import config_effects as effect
from redouble.engine import config_kinds as kinds
from redouble.engine.config_effects import Effect
from redouble.engine.config_kinds import Kind

_INT: Final = 2**31 - 1
_UINT: Final = 2**32 - 1
_LONG: Final = 2**63 - 1
_ULONG: Final = 2**64 - 1
_MB: Final = 1024 * 1024


@final
class Parameter:
    """A row of the table."""

    __slots__ = (
        "name", "alias", "kind", "default", "effect", "immutable", "hidden", "protected", "sensitive", "since",
        "until", "name_since", "was",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        default: str,
        kind: Kind,
        marks: str = "",
        alias: str = "",
        effect: Effect | None = None,
        since: str = "1.0.0",
        until: str = "",
        name_since: str = "1.0.0",
        was: tuple[str, str] | None = None,
    ) -> None:
        self.name: bytes = name.encode()
        self.alias: bytes = alias.encode()
        self.kind: Kind = kind
        self.default: bytes = default.encode()
        self.effect: Effect | None = effect
        words = marks.split()
        self.immutable: bool = "immutable" in words
        self.hidden: bool = "hidden" in words
        self.protected: bool = "protected" in words
        self.sensitive: bool = "sensitive" in words
        self.since: str = since
        self.until: str = until
        self.name_since: str = name_since
        #: (version, default before it).
        self.was: tuple[str, str] | None = was


P = Parameter
_YES_NO: Final = kinds.YesNo()
_TEXT: Final = kinds.Text()
_PORT: Final = kinds.Number(0, 65535)
_COUNT: Final = kinds.Number(0, _INT)
_POSITIVE: Final = kinds.Number(1, _INT)
_PERCENT: Final = kinds.Number(1, 99)
_SIZE: Final = kinds.Number(0, _LONG)
_BYTES: Final = kinds.Number(0, _LONG, "memory")
_PROTECTED_ACTION: Final = kinds.Choice("no yes local")
_ON_SIGNAL: Final = kinds.Choice("default save nosave now force", several=True)

_CLIENTS: Final[list[Parameter]] = [
    P("protected-mode", "yes", _YES_NO),
    P("port", "6379", _PORT, effect=effect.listeners),
    P("bind", "127.0.0.1", kinds.Addresses(), effect=effect.listeners),
    P("bind-source-addr", "", _TEXT, since="7.0.0"),
    P("unixsocket", "", _TEXT, "immutable"),
    P("unixsocketperm", "0", kinds.Number(0, 0o777, "octal"), "immutable"),
    P("socket-mark-id", "0", kinds.Number(0, _UINT), "immutable", since="7.0.0"),
    P("tcp-backlog", "511", _COUNT, "immutable"),
    P("tcp-keepalive", "300", _COUNT, effect=effect.edge),
    P("timeout", "0", _COUNT, effect=effect.edge),
    P("maxclients", "10000", kinds.Number(1, _UINT), effect=effect.edge),
    P("max-new-connections-per-cycle", "10", kinds.Number(1, 1000), since="7.4.0"),
    P("max-new-tls-connections-per-cycle", "1", kinds.Number(1, 1000), since="7.4.0"),
    P("requirepass", "", _TEXT, "sensitive", effect=effect.password),
    P(
        "client-output-buffer-limit", "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60",
        kinds.OutputLimits(), effect=effect.edge,
    ),
    P("client-query-buffer-limit", "1073741824", kinds.Number(_MB, _LONG, "memory"), effect=effect.edge),
    P("proto-max-bulk-len", "536870912", kinds.Number(_MB, _LONG, "memory"), effect=effect.bulk_length),
    P("io-threads", "1", kinds.Number(1, 128), "immutable"),
    P("io-threads-do-reads", "no", _YES_NO, "immutable", until="8.0.0"),
    P("tracking-table-max-keys", "1000000", _SIZE, effect=effect.tracking_table),
]  # fmt: skip

_TLS: Final[list[Parameter]] = [
    P("tls-port", "0", _PORT, effect=effect.encrypted_listeners),
    P("tls-cluster", "no", _YES_NO),
    P("tls-replication", "no", _YES_NO),
    P("tls-auth-clients", "yes", kinds.Choice("no yes optional"), effect=effect.encryption),
    P("tls-prefer-server-ciphers", "no", _YES_NO, effect=effect.encryption),
    P("tls-session-caching", "yes", _YES_NO),
    P("tls-session-cache-size", "20480", _COUNT),
    P("tls-session-cache-timeout", "300", _COUNT),
    P("tls-cert-file", "", _TEXT, effect=effect.encryption),
    P("tls-key-file", "", _TEXT, effect=effect.encryption),
    P("tls-key-file-pass", "", _TEXT, "sensitive", effect=effect.encryption),
    P("tls-client-cert-file", "", _TEXT),
    P("tls-client-key-file", "", _TEXT),
    P("tls-client-key-file-pass", "", _TEXT, "sensitive"),
    P("tls-dh-params-file", "", _TEXT),
    P("tls-ca-cert-file", "", _TEXT, effect=effect.encryption),
    P("tls-ca-cert-dir", "", _TEXT, effect=effect.encryption),
    P("tls-protocols", "", _TEXT, effect=effect.encryption),
    P("tls-ciphers", "", _TEXT, effect=effect.encryption),
    P("tls-ciphersuites", "", _TEXT),
]

_PROCESS: Final[list[Parameter]] = [
    P("databases", "16", _POSITIVE, "immutable"),
    P("daemonize", "no", _YES_NO, "immutable"),
    P("supervised", "no", kinds.Choice("upstart systemd auto no"), "immutable"),
    P("pidfile", "", _TEXT, "immutable"),
    P("loglevel", "notice", kinds.Choice("debug verbose notice warning nothing"), effect=effect.logging_level),
    P("logfile", "", _TEXT, "immutable"),
    P("syslog-enabled", "no", _YES_NO, "immutable"),
    P("syslog-ident", "redis", _TEXT, "immutable"),
    P("syslog-facility", "local0", kinds.Choice("user local0 local1 local2 local3 local4 local5 local6 local7"),
      "immutable"),
    P("always-show-logo", "no", _YES_NO, "immutable"),
    P("set-proc-title", "yes", _YES_NO, "immutable"),
    P("proc-title-template", "{title} {listen-addr} {server-mode}", _TEXT),
    P("locale-collate", "", _TEXT, since="7.2.0"),
    P("ignore-warnings", "", _TEXT),
    P("crash-log-enabled", "yes", _YES_NO),
    P("crash-memcheck-enabled", "yes", _YES_NO),
    P("use-exit-on-panic", "no", _YES_NO, "hidden"),
    P("disable-thp", "yes", _YES_NO, "immutable"),
    P("hz", "10", _COUNT, effect=effect.frequency),
    P("dynamic-hz", "yes", _YES_NO),
    P("watchdog-period", "0", _COUNT, "hidden"),
    P("oom-score-adj", "no", kinds.Choice("no yes relative absolute", {b"relative": b"yes"})),
    P("oom-score-adj-values", "0 200 800", kinds.OomScores()),
    P("server-cpulist", "", _TEXT, "immutable", "server_cpulist", name_since="7.2.0"),
    P("bio-cpulist", "", _TEXT, "immutable", "bio_cpulist", name_since="7.2.0"),
    P("aof-rewrite-cpulist", "", _TEXT, "immutable", "aof_rewrite_cpulist", name_since="7.2.0"),
    P("bgsave-cpulist", "", _TEXT, "immutable", "bgsave_cpulist", name_since="7.2.0"),
    P("shutdown-timeout", "10", _COUNT, since="7.0.0"),
    P("shutdown-on-sigint", "default", _ON_SIGNAL, since="7.0.0"),
    P("shutdown-on-sigterm", "default", _ON_SIGNAL, since="7.0.0"),
    P("enable-protected-configs", "no", _PROTECTED_ACTION, "immutable", since="7.0.0"),
    P("enable-debug-command", "local", _PROTECTED_ACTION, "immutable", since="7.0.0"),
    P("enable-module-command", "no", _PROTECTED_ACTION, "immutable", since="7.0.0"),
    P("dir", "", kinds.Folder(), "protected"),
    P("hide-user-data-from-log", "no", _YES_NO, since="7.4.0"),
    P("aclfile", "", _TEXT, "immutable"),
    P("acllog-max-len", "128", _SIZE, effect=effect.access_log),
    P("acl-pubsub-default", "resetchannels", kinds.Choice("allchannels resetchannels"),
      was=("7.0.0", "allchannels"), effect=effect.access_log),
]  # fmt: skip

_WATCHING: Final[list[Parameter]] = [
    P("notify-keyspace-events", "", kinds.EventClasses(), effect=effect.notifications),
    P("slowlog-log-slower-than", "10000", kinds.Number(-1, _LONG), effect=effect.slow_log),
    P("slowlog-max-len", "128", _SIZE, effect=effect.slow_log),
    P("latency-monitor-threshold", "0", _SIZE, effect=effect.slow_log),
    P("latency-tracking", "yes", _YES_NO, since="7.0.0", effect=effect.latency_tracking),
    P("latency-tracking-info-percentiles", "50 99 99.9", kinds.Percentiles(), since="7.0.0"),
    P("busy-reply-threshold", "5000", _SIZE, alias="lua-time-limit", name_since="7.0.0"),
]

_MEMORY: Final[list[Parameter]] = [
    P("maxmemory", "0", kinds.Number(0, _ULONG, "memory"), effect=effect.memory),
    P("maxmemory-policy", "noeviction", kinds.Choice(
        "volatile-lru volatile-lfu volatile-random volatile-ttl allkeys-lru allkeys-lfu allkeys-random noeviction"
    ), effect=effect.memory),
    P("maxmemory-samples", "5", kinds.Number(1, _INT), until="7.4.0", effect=effect.memory),
    P("maxmemory-samples", "5", kinds.Number(1, 64), since="7.4.0", effect=effect.memory),
    P("maxmemory-eviction-tenacity", "10", kinds.Number(0, 100)),
    P("maxmemory-clients", "0", kinds.Number(0, _LONG, "percent"), since="7.0.0", effect=effect.memory),
    P("lfu-log-factor", "10", _COUNT),
    P("lfu-decay-time", "1", _COUNT),
    P("activerehashing", "yes", _YES_NO),
    P("active-expire-effort", "1", kinds.Number(1, 10)),
    P("activedefrag", "no", _YES_NO, effect=effect.no_defragmentation),
    P("active-defrag-cycle-min", "1", _PERCENT),
    P("active-defrag-cycle-max", "25", _PERCENT),
    P("active-defrag-threshold-lower", "10", kinds.Number(0, 1000)),
    P("active-defrag-threshold-upper", "100", kinds.Number(0, 1000)),
    P("active-defrag-ignore-bytes", "104857600", kinds.Number(1, _LONG, "memory")),
    P("active-defrag-max-scan-fields", "1000", kinds.Number(1, _LONG)),
    P("jemalloc-bg-thread", "yes", _YES_NO),
    P("lazyfree-lazy-eviction", "no", _YES_NO),
    P("lazyfree-lazy-expire", "no", _YES_NO),
    P("lazyfree-lazy-server-del", "no", _YES_NO),
    P("lazyfree-lazy-user-del", "no", _YES_NO),
    P("lazyfree-lazy-user-flush", "no", _YES_NO),
]  # fmt: skip

_ENCODINGS: Final[list[Parameter]] = [
    P("hash-max-listpack-entries", "512", _SIZE, alias="hash-max-ziplist-entries", name_since="7.0.0",
      effect=effect.encodings),
    P("hash-max-listpack-value", "64", _BYTES, alias="hash-max-ziplist-value", name_since="7.0.0",
      effect=effect.encodings),
    P("zset-max-listpack-entries", "128", _SIZE, alias="zset-max-ziplist-entries", name_since="7.0.0",
      effect=effect.encodings),
    P("zset-max-listpack-value", "64", _BYTES, alias="zset-max-ziplist-value", name_since="7.0.0",
      effect=effect.encodings),
    P("list-max-listpack-size", "-2", kinds.Number(-_INT - 1, _INT), alias="list-max-ziplist-size",
      name_since="7.0.0", effect=effect.encodings),
    P("list-compress-depth", "0", _COUNT, effect=effect.encodings),
    P("set-max-intset-entries", "512", _SIZE, effect=effect.encodings),
    P("set-max-listpack-entries", "128", _SIZE, since="7.2.0", effect=effect.encodings),
    P("set-max-listpack-value", "64", _SIZE, since="7.2.0", effect=effect.encodings),
    P("stream-node-max-bytes", "4096", _BYTES, effect=effect.encodings),
    P("stream-node-max-entries", "100", _SIZE, effect=effect.encodings),
    P("hll-sparse-max-bytes", "3000", _BYTES, effect=effect.encodings),
]  # fmt: skip

_PERSISTENCE: Final[list[Parameter]] = [
    P("save", "3600 1 300 100 60 10000", kinds.SavePoints()),
    P("dbfilename", "dump.rdb", kinds.Text(b"dbfilename"), "protected"),
    P("rdbchecksum", "yes", _YES_NO, "immutable"),
    P("rdbcompression", "yes", _YES_NO),
    P("rdb-del-sync-files", "no", _YES_NO),
    P("rdb-save-incremental-fsync", "yes", _YES_NO),
    P("rdb-key-save-delay", "0", kinds.Number(-_INT - 1, _INT), "hidden"),
    P("key-load-delay", "0", kinds.Number(-_INT - 1, _INT), "hidden"),
    P("loading-process-events-interval-bytes", "2097152", kinds.Number(1024, _INT), "hidden"),
    P("stop-writes-on-bgsave-error", "yes", _YES_NO),
    P("sanitize-dump-payload", "no", kinds.Choice("no yes clients")),
    P("appendonly", "no", _YES_NO),
    P("appendfsync", "everysec", kinds.Choice("everysec always no")),
    P("appendfilename", "appendonly.aof", kinds.Text(b"appendfilename", empty=False), "immutable"),
    P("appenddirname", "appendonlydir", kinds.Text(b"appenddirname", empty=False), "immutable", since="7.0.0"),
    P("no-appendfsync-on-rewrite", "no", _YES_NO),
    P("aof-load-truncated", "yes", _YES_NO),
    P("aof-use-rdb-preamble", "yes", _YES_NO),
    P("aof-timestamp-enabled", "no", _YES_NO, since="7.0.0"),
    P("aof-rewrite-incremental-fsync", "yes", _YES_NO),
    P("aof-disable-auto-gc", "no", _YES_NO, since="7.0.0", until="7.2.0"),
    P("auto-aof-rewrite-percentage", "100", _COUNT),
    P("auto-aof-rewrite-min-size", "67108864", _BYTES),
]

_REPLICATION: Final[list[Parameter]] = [
    P("replicaof", "", kinds.Master(), "immutable", "slaveof"),
    P("masterauth", "", _TEXT, "sensitive"),
    P("masteruser", "", _TEXT, "sensitive"),
    P("repl-timeout", "60", _POSITIVE),
    P("repl-ping-replica-period", "10", _POSITIVE, alias="repl-ping-slave-period"),
    P("repl-disable-tcp-nodelay", "no", _YES_NO),
    P("repl-diskless-sync", "yes", _YES_NO, was=("7.0.0", "no")),
    P("repl-diskless-sync-delay", "5", _COUNT),
    P("repl-diskless-sync-max-replicas", "0", _COUNT, since="7.0.0"),
    P("repl-diskless-load", "disabled", kinds.Choice("disabled on-empty-db swapdb")),
    P("repl-backlog-size", "1048576", kinds.Number(1, _LONG, "memory"), effect=effect.backlog),
    P("repl-backlog-ttl", "3600", _SIZE),
    P("replica-announce-ip", "", _TEXT, alias="slave-announce-ip"),
    P("replica-announce-port", "0", _PORT, alias="slave-announce-port"),
    P("replica-announced", "yes", _YES_NO),
    P("replica-ignore-disk-write-errors", "no", _YES_NO, since="7.0.0"),
    P("replica-ignore-maxmemory", "yes", _YES_NO, alias="slave-ignore-maxmemory"),
    P("replica-lazy-flush", "no", _YES_NO, alias="slave-lazy-flush"),
    P("replica-priority", "100", _COUNT, alias="slave-priority"),
    P("replica-read-only", "yes", _YES_NO, alias="slave-read-only"),
    P("replica-serve-stale-data", "yes", _YES_NO, alias="slave-serve-stale-data"),
    P("min-replicas-to-write", "0", _COUNT, alias="min-slaves-to-write", effect=effect.wanted_replicas),
    P("min-replicas-max-lag", "10", _COUNT, alias="min-slaves-max-lag", effect=effect.wanted_replicas),
    P("propagation-error-behavior", "ignore", kinds.Choice("ignore panic panic-on-replicas"), since="7.0.0"),
]

_CLUSTER: Final[list[Parameter]] = [
    P("cluster-enabled", "no", _YES_NO, "immutable", effect=effect.cluster),
    P("cluster-config-file", "nodes.conf", _TEXT, "immutable"),
    P("cluster-port", "0", _PORT, "immutable", since="7.0.0"),
    P("cluster-node-timeout", "15000", _SIZE),
    P("cluster-ping-interval", "0", _SIZE, "hidden", since="7.2.0"),
    P("cluster-migration-barrier", "1", _COUNT),
    P("cluster-require-full-coverage", "yes", _YES_NO),
    P("cluster-replica-validity-factor", "10", _COUNT, alias="cluster-slave-validity-factor"),
    P("cluster-replica-no-failover", "no", _YES_NO, alias="cluster-slave-no-failover"),
    P("cluster-allow-reads-when-down", "no", _YES_NO),
    P("cluster-allow-pubsubshard-when-down", "yes", _YES_NO, since="7.0.0"),
    P("cluster-allow-replica-migration", "yes", _YES_NO),
    P("cluster-link-sendbuf-limit", "0", kinds.Number(0, _ULONG, "memory"), since="7.0.0"),
    P("cluster-announce-ip", "", _TEXT),
    P("cluster-announce-hostname", "", kinds.HostName(), since="7.0.0"),
    P("cluster-announce-human-nodename", "", _TEXT, since="7.2.0"),
    P("cluster-announce-port", "0", _PORT),
    P("cluster-announce-tls-port", "0", _PORT),
    P("cluster-announce-bus-port", "0", _PORT),
    P("cluster-preferred-endpoint-type", "ip", kinds.Choice("ip hostname unknown-endpoint"), since="7.0.0"),
]

PARAMETERS: Final[list[Parameter]] = (
    _CLIENTS + _TLS + _PROCESS + _WATCHING + _MEMORY + _ENCODINGS + _PERSISTENCE + _REPLICATION + _CLUSTER
)
