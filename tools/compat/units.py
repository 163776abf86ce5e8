"""Which units of the suite are run, and how."""

from __future__ import annotations

from typing import Final

#: Units that the suite runs against an external server, by what they are about. The order is the report's.
GROUPS: Final = {
    "Data": (
        "unit/type/hash", "unit/type/incr", "unit/type/list", "unit/type/list-3", "unit/type/set",
        "unit/type/stream", "unit/type/stream-cgroups", "unit/type/string", "unit/type/zset", "unit/bitfield",
        "unit/bitops", "unit/dump", "unit/expire", "unit/geo", "unit/hyperloglog", "unit/info-command",
        "unit/keyspace", "unit/scan", "unit/sort",
    ),
    "Clients and server": (
        "unit/introspection", "unit/introspection-2", "unit/latency-monitor", "unit/lazyfree", "unit/multi",
        "unit/other", "unit/pause", "unit/protocol", "unit/pubsub", "unit/querybuf", "unit/quit",
        "unit/replybufsize", "unit/slowlog", "unit/tracking", "unit/violations", "integration/redis-cli",
        "integration/replication-buffer",
    ),
    "Scripting": ("unit/scripting", "unit/functions"),
}  # fmt: skip
#: Units that the suite keeps from external servers as a whole, though most of their tests need only one
#: server: run with the tag `external:skip` passed over.
FORCED: Final = (
    "unit/acl", "unit/acl-v2", "unit/auth", "unit/client-eviction", "unit/info", "unit/limits", "unit/maxmemory",
    "unit/obuf-limits", "unit/pubsubshard",
)  # fmt: skip
FORCED_GROUP: Final = "Kept from external servers by the suite, run all the same"
#: Begun first, so that two jobs end together.
LONG: Final = (
    "unit/hyperloglog", "unit/type/list-3", "unit/maxmemory", "unit/type/zset", "unit/geo", "unit/dump",
    "unit/type/list", "unit/type/stream", "unit/obuf-limits", "unit/client-eviction",
)  # fmt: skip
#: Too slow for each change, or at the mercy of the machine: run by `make compat`, not by `make compat-check`.
NOT_IN_CI: Final = ("unit/hyperloglog", "unit/maxmemory", "unit/obuf-limits")


def all_units() -> list[str]:
    """Every unit, in the order of the report."""
    return [unit for units in GROUPS.values() for unit in units] + list(FORCED)


def in_order_of_start(units: list[str]) -> list[str]:
    """The long ones first."""
    return [unit for unit in LONG if unit in units] + [unit for unit in units if unit not in LONG]
