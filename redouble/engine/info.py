"""INFO: what the server tells about itself, in sections of `name:value` lines.

Tools split these lines, so names, order and formats are Redis'. A field that came with some version
has a place in `_SINCE`; figures that only a C program has (fragmentation, copy-on-write) hold what
they hold in a server that has just been started.
"""

from __future__ import annotations

import os
import platform
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from redouble import __version__
from redouble.datatypes.hashvalue import HashValue
from redouble.engine import flags as f
from redouble.engine import histogram
from redouble.engine.footprint import overflow, query_bytes
from redouble.engine.memory import BASE
from redouble.engine.pubsub import CHANNELS, PATTERNS, SHARD_CHANNELS
from redouble.keyspace.database import NEVER, Database

if TYPE_CHECKING:
    from redouble.engine.engine import Engine

Section = Callable[["Engine"], list[bytes]]

#: Since which version a field is there, for those that are not older than 6.2.
_SINCE: Final[dict[bytes, int]] = {
    b"listener0": 70200, b"listener1": 70200, b"listener2": 70200,
    b"pubsub_clients": 70200, b"watching_clients": 70400, b"total_watched_keys": 70400,
    b"total_blocking_keys": 70200, b"total_blocking_keys_on_nokey": 70200, b"allocator_muzzy": 70400,
    b"mem_overhead_db_hashtable_rehashing": 70400, b"expired_subkeys": 70400, b"evicted_scripts": 70400,
    b"client_query_buffer_limit_disconnections": 70400, b"client_output_buffer_limit_disconnections": 70400,
    b"eventloop_cycles": 70200, b"eventloop_duration_sum": 70200, b"eventloop_duration_cmd_sum": 70200,
    b"instantaneous_eventloop_cycles_per_sec": 70200, b"instantaneous_eventloop_duration_usec": 70200,
    b"acl_access_denied_auth": 70200, b"acl_access_denied_cmd": 70200, b"acl_access_denied_key": 70200,
    b"acl_access_denied_channel": 70200, b"server_time_usec": 60200, b"evicted_clients": 70000,
    b"pubsubshard_channels": 70003, b"current_eviction_exceeded_time": 70000,
    b"total_eviction_exceeded_time": 70000, b"used_memory_vm_eval": 70000, b"used_memory_scripts_eval": 70000,
    b"number_of_functions": 70000, b"number_of_libraries": 70000, b"used_memory_vm_functions": 70000,
    b"used_memory_vm_total": 70000, b"used_memory_vm_total_human": 70000, b"used_memory_functions": 70000,
    b"mem_cluster_links": 70000, b"mem_total_replication_buffers": 70000, b"rdb_saves": 70000,
    b"rdb_last_load_keys_expired": 70000, b"rdb_last_load_keys_loaded": 70000, b"async_loading": 70000,
    b"aof_rewrites": 70000, b"aof_rewrites_consecutive_failures": 70000, b"reply_buffer_shrinks": 70000,
    b"reply_buffer_expands": 70000, b"total_active_defrag_time": 70000, b"current_active_defrag_time": 70000,
    b"total_net_repl_input_bytes": 70000, b"total_net_repl_output_bytes": 70000,
    b"instantaneous_input_repl_kbps": 70000, b"instantaneous_output_repl_kbps": 70000,
}  # fmt: skip

_STATM: Final = Path("/proc/self/statm")
_UNITS: Final[list[bytes]] = [b"K", b"M", b"G", b"T", b"P"]


def human(size: int) -> bytes:
    """A size as people read it: `1006.75K`."""
    if size < 1024:
        return b"%dB" % size
    value = float(size)
    unit = b""
    for name in _UNITS:
        value /= 1024
        unit = name
        if value < 1024:
            break
    return b"%.2f%b" % (value, unit)


def resident() -> int:
    """The memory that the process really takes, bytes."""
    try:
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        scale = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def is_compiled() -> bool:
    """Whether the inner rooms run as machine code."""
    return not __file__.endswith(".py")


def _machine_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _server(engine: Engine) -> list[bytes]:
    config = engine.config
    uptime = max(0, engine.space.now - engine.started) // 1000
    system = platform.uname()
    lines = [
        b"redis_version:" + engine.version_text.encode(),
        b"redis_git_sha1:00000000",
        b"redis_git_dirty:0",
        b"redis_build_id:0",
        b"redis_mode:" + engine.mode,
        f"os:{system.system} {system.release} {system.machine}".encode(),
        b"arch_bits:64",
        b"monotonic_clock:POSIX clock_gettime",
        b"multiplexing_api:epoll",
        b"atomicvar_api:c11-builtin",
        b"gcc_version:0.0.0",
        b"process_id:%d" % os.getpid(),
        b"process_supervised:no",
        b"run_id:" + engine.run_id,
        b"tcp_port:" + config.get(b"port"),
        b"server_time_usec:%d" % engine.clock.now_us(),
        b"uptime_in_seconds:%d" % uptime,
        b"uptime_in_days:%d" % (uptime // 86400),
        b"hz:" + config.get(b"hz"),
        b"configured_hz:" + config.get(b"hz"),
        b"lru_clock:%d" % (engine.space.now // 1000 & 0xFFFFFF),
        b"executable:" + os.fsencode(sys.executable),
        b"config_file:" + config.file,
        b"io_threads_active:0",
    ]
    for number, address in enumerate(config.edge.addresses):
        lines.append(b"listener%d:%b" % (number, address))
    lines.append(b"redouble_version:" + __version__.encode())
    lines.append(b"redouble_build:" + (b"compiled" if is_compiled() else b"interpreted"))
    return lines


def _clients(engine: Engine) -> list[bytes]:
    clients = list(engine.clients.values())
    watching = [client for client in clients if client.watch.keys]
    databases = engine.space.databases
    return [
        b"connected_clients:%d" % (len(clients) - len(engine.monitors.clients)),
        b"cluster_connections:0",
        b"maxclients:%d" % engine.config.edge.max_clients,
        b"client_recent_max_input_buffer:%d" % max([query_bytes(client) for client in clients] or [0]),
        b"client_recent_max_output_buffer:%d" % max([overflow(client.unread) for client in clients] or [0]),
        b"blocked_clients:%d" % (engine.blocking.count + len(engine.pause.postponed)),
        b"tracking_clients:%d" % len(engine.tracking.clients),
        b"pubsub_clients:%d" % len([client for client in clients if client.flags & f.SUBSCRIBER]),
        b"watching_clients:%d" % len(watching),
        b"clients_in_timeout_table:%d" % len([c for c in clients if c.parked is not None and c.parked.deadline]),
        b"total_watched_keys:%d" % sum([len(database.watchers) for database in databases]),
        b"total_blocking_keys:%d" % sum([len(database.waiters) for database in databases]),
        b"total_blocking_keys_on_nokey:%d" % sum([_waited_even_if_gone(database) for database in databases]),
    ]


def _waited_even_if_gone(database: Database) -> int:
    """How many keys have a waiter that wants to know when they are gone."""
    count = 0
    for queue in database.waiters.values():
        if any(parked.command.flags & f.WAKES_WITHOUT_KEY for parked in queue):
            count += 1
    return count


def _memory(engine: Engine) -> list[bytes]:
    memory = engine.memory
    used = memory.used()
    dataset = used - memory.overhead()
    rss = resident()
    total = _machine_memory()
    scripts = len(engine.scripting.runtime.scripts)
    libraries = engine.scripting.libraries
    return [
        b"used_memory:%d" % used, b"used_memory_human:" + human(used),
        b"used_memory_rss:%d" % rss, b"used_memory_rss_human:" + human(rss),
        b"used_memory_peak:%d" % memory.peak, b"used_memory_peak_human:" + human(memory.peak),
        b"used_memory_peak_perc:%.2f%%" % (used * 100 / memory.peak),
        b"used_memory_overhead:%d" % memory.overhead(), b"used_memory_startup:%d" % BASE,
        b"used_memory_dataset:%d" % dataset,
        b"used_memory_dataset_perc:%.2f%%" % (dataset * 100 / max(1, used - BASE)),
        b"allocator_allocated:%d" % used, b"allocator_active:%d" % rss, b"allocator_resident:%d" % rss,
        b"allocator_muzzy:0",
        b"total_system_memory:%d" % total, b"total_system_memory_human:" + human(total),
        b"used_memory_lua:31744", b"used_memory_vm_eval:31744", b"used_memory_lua_human:31.00K",
        b"used_memory_scripts_eval:%d" % memory.scripts(), b"number_of_cached_scripts:%d" % scripts,
        b"number_of_functions:%d" % libraries.count(), b"number_of_libraries:%d" % len(libraries.libraries),
        b"used_memory_vm_functions:32768",
        b"used_memory_vm_total:64512", b"used_memory_vm_total_human:63.00K", b"used_memory_functions:232",
        b"used_memory_scripts:%d" % (232 + memory.scripts()),
        b"used_memory_scripts_human:" + human(232 + memory.scripts()),
        b"maxmemory:%d" % memory.limit, b"maxmemory_human:" + human(memory.limit),
        b"maxmemory_policy:" + memory.policy,
        b"allocator_frag_ratio:1.00", b"allocator_frag_bytes:0", b"allocator_rss_ratio:1.00",
        b"allocator_rss_bytes:0", b"rss_overhead_ratio:1.00", b"rss_overhead_bytes:0",
        b"mem_fragmentation_ratio:%.2f" % (rss / used), b"mem_fragmentation_bytes:%d" % (rss - used),
        b"mem_not_counted_for_evict:0", b"mem_replication_backlog:0", b"mem_total_replication_buffers:0",
        b"mem_clients_slaves:0", b"mem_clients_normal:%d" % memory.clients(), b"mem_cluster_links:0",
        b"mem_aof_buffer:0", b"mem_allocator:libc", b"mem_overhead_db_hashtable_rehashing:0",
        b"active_defrag_running:0", b"lazyfree_pending_objects:0", b"lazyfreed_objects:%d" % engine.stats.lazy_frees,
    ]  # fmt: skip


def _persistence(engine: Engine) -> list[bytes]:
    saving = engine.saving
    return [
        b"loading:0", b"async_loading:0", b"current_cow_peak:0", b"current_cow_size:0", b"current_cow_size_age:0",
        b"current_fork_perc:0.00", b"current_save_keys_processed:0", b"current_save_keys_total:0",
        b"rdb_changes_since_last_save:%d" % (engine.space.dirty - saving.dirty_at_save),
        b"rdb_bgsave_in_progress:0", b"rdb_last_save_time:%d" % saving.last_save,
        b"rdb_last_bgsave_status:" + (b"err" if saving.last_failed else b"ok"),
        b"rdb_last_bgsave_time_sec:%d" % saving.last_duration,
        b"rdb_current_bgsave_time_sec:-1", b"rdb_saves:%d" % saving.saves, b"rdb_last_cow_size:0",
        b"rdb_last_load_keys_expired:%d" % saving.keys_expired, b"rdb_last_load_keys_loaded:%d" % saving.keys_loaded,
        b"aof_enabled:%d" % (1 if engine.config.enabled(b"appendonly") else 0),
        b"aof_rewrite_in_progress:0", b"aof_rewrite_scheduled:0", b"aof_last_rewrite_time_sec:-1",
        b"aof_current_rewrite_time_sec:-1", b"aof_last_bgrewrite_status:ok", b"aof_rewrites:%d" % saving.rewrites,
        b"aof_rewrites_consecutive_failures:0", b"aof_last_write_status:ok", b"aof_last_cow_size:0",
        b"module_fork_in_progress:0", b"module_fork_last_cow_size:0",
    ]  # fmt: skip


def _stats(engine: Engine) -> list[bytes]:
    stats = engine.stats
    space = engine.space
    pubsub = engine.pubsub
    rate = stats.rate(engine.space.now)
    tracked = engine.tracking.readers
    return [
        b"total_connections_received:%d" % stats.connections,
        b"total_commands_processed:%d" % stats.commands,
        b"instantaneous_ops_per_sec:%d" % rate[0],
        b"total_net_input_bytes:%d" % stats.input_bytes,
        b"total_net_output_bytes:%d" % stats.output_bytes,
        b"total_net_repl_input_bytes:0", b"total_net_repl_output_bytes:0",
        b"instantaneous_input_kbps:%.2f" % (rate[1] / 1024),
        b"instantaneous_output_kbps:%.2f" % (rate[2] / 1024),
        b"instantaneous_input_repl_kbps:0.00", b"instantaneous_output_repl_kbps:0.00",
        b"rejected_connections:%d" % stats.rejected_connections,
        b"sync_full:0", b"sync_partial_ok:0", b"sync_partial_err:0",
        b"expired_subkeys:%d" % space.expired_fields,
        b"expired_keys:%d" % space.expired,
        b"expired_stale_perc:0.00", b"expired_time_cap_reached_count:0", b"expire_cycle_cpu_milliseconds:0",
        b"evicted_keys:%d" % engine.memory.evicted,
        b"evicted_clients:%d" % engine.client_eviction.evicted,
        b"evicted_scripts:%d" % engine.scripting.runtime.evicted,
        b"total_eviction_exceeded_time:0",
        b"current_eviction_exceeded_time:0",
        b"keyspace_hits:%d" % space.hits, b"keyspace_misses:%d" % space.misses,
        b"pubsub_channels:%d" % len(pubsub.listeners[CHANNELS.number]),
        b"pubsub_patterns:%d" % len(pubsub.listeners[PATTERNS.number]),
        b"pubsubshard_channels:%d" % len(pubsub.listeners[SHARD_CHANNELS.number]),
        b"latest_fork_usec:0", b"total_forks:0", b"migrate_cached_sockets:0", b"slave_expires_tracked_keys:0",
        b"active_defrag_hits:0", b"active_defrag_misses:0", b"active_defrag_key_hits:0",
        b"active_defrag_key_misses:0", b"total_active_defrag_time:0", b"current_active_defrag_time:0",
        b"tracking_total_keys:%d" % len(tracked),
        b"tracking_total_items:%d" % sum([len(readers) for readers in tracked.values()]),
        b"tracking_total_prefixes:%d" % len(engine.tracking.prefixes),
        b"unexpected_error_replies:%d" % stats.unexpected_errors,
        b"total_error_replies:%d" % stats.error_replies,
        b"dump_payload_sanitizations:0",
        b"total_reads_processed:%d" % stats.reads, b"total_writes_processed:%d" % stats.writes,
        b"io_threaded_reads_processed:0", b"io_threaded_writes_processed:0",
        b"client_query_buffer_limit_disconnections:%d" % stats.query_limit_closes,
        b"client_output_buffer_limit_disconnections:%d" % stats.output_limit_closes,
        b"reply_buffer_shrinks:0", b"reply_buffer_expands:0",
        b"eventloop_cycles:%d" % stats.reads, b"eventloop_duration_sum:%d" % (sum(stats.nanoseconds) // 1000),
        b"eventloop_duration_cmd_sum:%d" % (sum(stats.nanoseconds) // 1000),
        b"instantaneous_eventloop_cycles_per_sec:0", b"instantaneous_eventloop_duration_usec:0",
        b"acl_access_denied_auth:%d" % stats.denied_auth, b"acl_access_denied_cmd:%d" % stats.denied_commands,
        b"acl_access_denied_key:%d" % stats.denied_keys, b"acl_access_denied_channel:%d" % stats.denied_channels,
    ]  # fmt: skip


def _replication(engine: Engine) -> list[bytes]:
    return engine.replication.info()


def _cpu(engine: Engine) -> list[bytes]:
    own = resource.getrusage(resource.RUSAGE_SELF)
    lines = [
        b"used_cpu_sys:%.6f" % own.ru_stime, b"used_cpu_user:%.6f" % own.ru_utime,
        b"used_cpu_sys_children:0.000000", b"used_cpu_user_children:0.000000",
    ]  # fmt: skip
    if hasattr(resource, "RUSAGE_THREAD"):
        thread = resource.getrusage(resource.RUSAGE_THREAD)
        lines.append(b"used_cpu_sys_main_thread:%.6f" % thread.ru_stime)
        lines.append(b"used_cpu_user_main_thread:%.6f" % thread.ru_utime)
    return lines


def _modules(engine: Engine) -> list[bytes]:
    return []


def _command_stats(engine: Engine) -> list[bytes]:
    stats = engine.stats
    lines: list[bytes] = []
    for row in engine.table.rows:
        calls, failed, rejected = stats.calls[row.index], stats.failed[row.index], stats.rejected[row.index]
        if calls or failed or rejected:
            usec = stats.nanoseconds[row.index] // 1000
            lines.append(
                b"cmdstat_%b:calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d"
                % (row.full_name, calls, usec, usec / calls if calls else 0.0, rejected, failed)
            )
    return lines


def _error_stats(engine: Engine) -> list[bytes]:
    errors = engine.stats.errors
    return [b"errorstat_%b:count=%d" % (code.translate(_SAFE), errors[code]) for code in sorted(errors)]


#: Bytes that would break a line of INFO.
_SAFE: Final = bytes([ord("_") if byte in b"#:\n\r" else byte for byte in range(256)])


def _latency_stats(engine: Engine) -> list[bytes]:
    texts = engine.config.get(b"latency-tracking-info-percentiles").split()
    lines: list[bytes] = []
    if not engine.stats.tracking:
        return lines
    for row in engine.table.rows:
        counts = engine.stats.histograms[row.index]
        if counts:
            shown = [b"p%b=%.3f" % (text, histogram.percentile(counts, float(text)) / 1000) for text in texts]
            lines.append(b"latency_percentiles_usec_" + row.full_name + b":" + b",".join(shown))
    return lines


def _cluster(engine: Engine) -> list[bytes]:
    return [b"cluster_enabled:%d" % (1 if engine.flags & f.CLUSTERED else 0)]


def _keyspace(engine: Engine) -> list[bytes]:
    lines: list[bytes] = []
    subkeys = engine.version >= _SUBEXPIRY_SINCE
    for database in engine.space.databases:
        keys = len(database.data)
        if keys:
            ttl, with_fields = _expiry_figures(database)
            line = b"db%d:keys=%d,expires=%d,avg_ttl=%d" % (database.index, keys, database.volatile, ttl)
            lines.append(line + b",subexpiry=%d" % with_fields if subkeys else line)
    return lines


_SUBEXPIRY_SINCE: Final = 70400
_LOOKED_AT: Final = 1000


def _expiry_figures(database: Database) -> tuple[int, int]:
    """The mean time to live (ms) and the number of hashes with expiring fields. O(keys that may expire)."""
    now = database.space.now
    left: list[int] = []
    hashes = 0
    for deadline, index, key in set(database.space.deadlines):
        if index != database.index:
            continue
        entry = database.data.get(key)
        if entry is None:
            continue
        if entry.deadline == deadline and deadline != NEVER and len(left) < _LOOKED_AT:
            left.append(max(0, deadline - now))
        elif isinstance(entry.value, HashValue) and entry.value.soonest == deadline:
            hashes += 1
    return (sum(left) // len(left) if left else 0), hashes


#: Heading, section, and whether a bare INFO shows it.
_SECTIONS: Final[list[tuple[bytes, Section, bool]]] = [
    (b"Server", _server, True),
    (b"Clients", _clients, True),
    (b"Memory", _memory, True),
    (b"Persistence", _persistence, True),
    (b"Stats", _stats, True),
    (b"Replication", _replication, True),
    (b"CPU", _cpu, True),
    (b"Modules", _modules, True),
    (b"Commandstats", _command_stats, False),
    (b"Errorstats", _error_stats, True),
    (b"Latencystats", _latency_stats, False),
    (b"Cluster", _cluster, True),
    (b"Keyspace", _keyspace, True),
]


def info_text(engine: Engine, wanted: list[bytes]) -> bytes:
    """The sections that are named, in INFO's own order; all usual ones if none is. O(commands + keys sampled)."""
    names = {name.lower() for name in wanted} or {b"default"}
    everything = bool(names & {b"all", b"everything"})
    usual = b"default" in names
    parts: list[bytes] = []
    for heading, section, in_default in _SECTIONS:
        if everything or (usual and in_default) or heading.lower() in names:
            lines = [line for line in section(engine) if _SINCE.get(line.partition(b":")[0], 0) <= engine.version]
            parts.append(b"".join([text + b"\r\n" for text in [b"# " + heading, *lines]]))
    return b"\r\n".join(parts)
