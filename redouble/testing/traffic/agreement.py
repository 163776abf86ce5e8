"""Whether two replies to one command are both right, though their bytes differ. Rules as data, by command.

`verdict` gives the name of the rule that lets them pass, the empty string where they are equal, or None.
Nothing passes because it is ignored: each rule says what must be the same all the same. `RULES` is the
table, `GENERAL` holds for every command:

- what says what time it is (milliseconds, seconds, stream ids) may be `APART` ms apart, if it is near now;
- sets and maps of RESP3 have no order.

`theirs` is the reply of the server that is believed: the real one, or the one that was recorded. Random
choices are checked against our own keys, which a `Lookup` asks; without one only size and type are.
An error is never like a value, and two errors must be equal, but for the place in a script.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from redouble.datatypes.limits import Limits
from redouble.engine.digest import redis_digest
from redouble.keyspace.database import Entry
from redouble.persistence.payload import load_value
from redouble.testing.traffic.replies import Reply

#: How far apart two servers may run a command, in ms.
APART: Final = 500
_NEAR_NOW_MS: Final = 10**9
_STREAM_ID: Final = re.compile(rb"(\d{13})-\d+")
#: What differs between two machines, or two ways to start a server.
_OWN_SETTINGS: Final = frozenset(
    b"dir port tls-port bind bind-source-addr unixsocket unixsocketperm logfile pidfile dbfilename save maxclients "
    b"loglevel daemonize supervised appendonly enable-debug-command enable-module-command enable-protected-configs "
    b"protected-mode maxmemory client-output-buffer-limit oom-score-adj-values server_cpulist io-threads "
    b"proc-title-template always-show-logo syslog-enabled syslog-ident slaveof replicaof crash-log-enabled "
    b"rdbcompression tcp-backlog jemalloc-bg-thread latency-tracking".split()
)
_OWN_GREETING: Final = frozenset([b"server", b"version", b"id", b"availability_zone"])
_NAME_IN_ERROR: Final = re.compile(rb"(script: \w+, )?on (@\w+:\d+|\w+:\d+)\.?|\w+:\d+:")

#: Asks our server something, in the database of the client whose command it is.
Lookup = Callable[[list[bytes]], Reply]


@dataclass(frozen=True, slots=True)
class Case:
    """Two replies to a command, and what time it was on each side (Unix time in ms)."""

    argv: list[bytes]
    ours: Reply
    theirs: Reply
    our_now: float
    their_now: float
    lookup: Lookup | None = None


Rule = Callable[[Case], bool]


def verdict(case: Case, full_name: bytes = b"") -> str | None:
    """Why the replies of a case agree: "" as they are equal, the name of a rule, None where they don't.

    `full_name` is the command's as the command table has it (`object|idletime`), "" for an unknown one.
    """
    ours, theirs = case.ours, case.theirs
    if ours == theirs:
        return ""
    if ours.is_error or theirs.is_error:
        same_error = full_name in SCRIPTS and ours.is_error and theirs.is_error and _bare(ours) == _bare(theirs)
        return "place in a script" if same_error else None
    for name, rule in (*GENERAL, *RULES.get(full_name, ())):
        if rule(case):
            return name
    return None


def _bare(error: Reply) -> bytes:
    return _NAME_IN_ERROR.sub(b"", error.text)


# -- rules for every command --------------------------------------------------------------------------


def alike(ours: Reply, theirs: Reply, leaf: Callable[[Reply, Reply], bool]) -> bool:
    """The same shape, and in each place equal, or so alike as `leaf` asks; what has no order is put in one."""
    if ours == theirs or leaf(ours, theirs):
        return True
    if ours.mark != theirs.mark or len(ours.items) != len(theirs.items) or not ours.items:
        return False
    first, second = ours, theirs
    if ours.mark in "~%":
        first, second = _in_order(ours), _in_order(theirs)
    return all(alike(our, their, leaf) for our, their in zip(first.items, second.items, strict=True))


def _in_order(reply: Reply) -> Reply:
    return Reply(reply.mark, items=tuple(item for group in sorted(groups(reply), key=repr) for item in group))


def groups(reply: Reply, size: int = 1) -> list[tuple[Reply, ...]]:
    """The items by so many (a map's by two)."""
    step = 2 if reply.mark == "%" else size
    return [reply.items[at : at + step] for at in range(0, len(reply.items), step)]


def time_leaf(case: Case) -> Callable[[Reply, Reply], bool]:
    """Whether two replies are readings of the clocks: times in ms or s, stream ids, what TIME gives."""
    our_now, their_now = case.our_now, case.their_now

    def both_now(ours: int, theirs: int, unit: int) -> bool:
        our_age, their_age = ours * unit - our_now, theirs * unit - their_now
        return abs(our_age - their_age) <= 2 * max(APART, unit) and abs(their_age) < _NEAR_NOW_MS

    def leaf(ours: Reply, theirs: Reply) -> bool:
        if ours.mark != theirs.mark:
            return False
        if ours.mark == "$":
            first, second = _STREAM_ID.fullmatch(ours.text), _STREAM_ID.fullmatch(theirs.text)
            return first is not None and second is not None and both_now(int(first[1]), int(second[1]), 1)
        if ours.mark == "*":
            clocks = _milliseconds(ours), _milliseconds(theirs)
            return min(clocks) > 0 and both_now(*clocks, 1)
        first_number, second_number = ours.number(), theirs.number()
        if first_number is None or second_number is None:
            return False
        return any(both_now(first_number, second_number, unit) for unit in (1, 1000))

    return leaf


def _milliseconds(reply: Reply) -> int:
    """What TIME's reply says; 0 for any other."""
    parts = [item.text for item in reply.items if item.mark == "$"]
    if len(reply.items) != 2 or len(parts) != 2 or not all(part.isdigit() for part in parts):
        return 0
    return int(parts[0]) * 1000 + int(parts[1]) // 1000


def _never(ours: Reply, theirs: Reply) -> bool:
    return False


# -- rules for some -----------------------------------------------------------------------------------


def near(distance: int) -> Rule:
    """Numbers, anywhere in the reply, that depend on how long ago something was."""

    def leaf(ours: Reply, theirs: Reply) -> bool:
        first, second = ours.number(), theirs.number()
        # -1 and -2 say that there is no time: they are like nothing else.
        return first is not None and second is not None and abs(first - second) <= distance and min(first, second) >= 0

    def rule(case: Case) -> bool:
        is_time = time_leaf(case)
        return alike(case.ours, case.theirs, lambda ours, theirs: leaf(ours, theirs) or is_time(ours, theirs))

    return rule


def unordered(size: int = 1) -> Rule:
    """The same groups of `size` items, in any order."""
    return lambda case: (
        case.ours.mark == case.theirs.mark in "*~%>"
        and Counter(groups(case.ours, size)) == Counter(groups(case.theirs, size))
    )


def chosen(*whole: bytes) -> Rule:
    """A random choice: as many as ours, all from what the command `whole` shows of the key."""

    def rule(case: Case) -> bool:
        if case.ours.mark != case.theirs.mark or case.ours.null != case.theirs.null:
            return False
        if len(_leaves(case.ours)) != len(_leaves(case.theirs)):
            return False
        if case.lookup is None:
            return True
        argv = [word if word != b"KEY" else case.argv[1] for word in whole]
        there = {leaf.text for leaf in _leaves(case.lookup(argv))}
        return all(leaf.text in there for leaf in _leaves(case.theirs))

    return rule


def _leaves(reply: Reply) -> list[Reply]:
    if reply.mark in "*~%>":
        return [leaf for item in reply.items for leaf in _leaves(item)]
    return [reply]


def _some_key(case: Case) -> bool:
    """RANDOMKEY: theirs must exist here too."""
    if case.ours.null or case.theirs.null or case.ours.mark != case.theirs.mark:
        return False
    return case.lookup is None or case.lookup([b"EXISTS", case.theirs.text]).text == b"1"


def _popped(case: Case) -> bool:
    """SPOP: as many; whoever compares then lets our set hold what theirs holds."""
    return (
        case.ours.mark == case.theirs.mark
        and case.ours.null == case.theirs.null
        and len(case.ours.items) == len(case.theirs.items)
    )


def _by_name(own: frozenset[bytes]) -> Rule:
    """Names and values, flat or a map: the same names, the same values but for those of `own`."""

    def rule(case: Case) -> bool:
        if case.ours.mark != case.theirs.mark:
            return False
        ours, theirs = (
            {group[0].text: group[1] for group in groups(reply, 2) if len(group) == 2}
            for reply in (case.ours, case.theirs)
        )
        return ours.keys() == theirs.keys() and all(ours[name] == theirs[name] for name in ours if name not in own)

    return rule


def _same_kind(case: Case) -> bool:
    """What says something of a server, not of its keys: a reply of the same type."""
    return case.ours.mark == case.theirs.mark and case.ours.null == case.theirs.null


def _same_contents(case: Case) -> bool:
    """DUMP: how a value lies in memory is a server's own affair, but both must hold the same."""
    if case.ours.null or case.theirs.null:
        return False
    limits = Limits()
    values = [load_value(reply.text, limits) for reply in (case.ours, case.theirs)]
    ours, theirs = (redis_digest(Entry(value, 0), True) for value in values)
    return ours == theirs


def _of_a_script(case: Case) -> bool:
    """A script may have put what has no order into any place: the same values, wherever they stand."""

    def leaves(reply: Reply) -> Counter[Reply]:
        return Counter(_leaves(reply))

    return case.ours.mark == case.theirs.mark and leaves(case.ours) == leaves(case.theirs)


GENERAL: Final[tuple[tuple[str, Rule], ...]] = (
    ("no order", lambda case: alike(case.ours, case.theirs, _never)),
    ("time of day", lambda case: alike(case.ours, case.theirs, time_leaf(case))),
)
SCRIPTS: Final = (b"eval", b"evalsha", b"eval_ro", b"evalsha_ro", b"fcall", b"fcall_ro")


def _table() -> dict[bytes, tuple[tuple[str, Rule], ...]]:
    rows: list[tuple[str, str, Rule]] = [
        ("ttl expiretime httl hexpiretime", "time to live", near(1)),
        ("pttl pexpiretime hpttl hpexpiretime", "time to live", near(APART)),
        ("object|idletime", "idle time", near(2)),
        ("xpending xinfo|stream xinfo|consumers xinfo|groups", "idle time", near(APART)),
        ("lastsave", "time of day", _same_kind),
        ("randomkey", "random choice", _some_key),
        ("srandmember", "random choice", chosen(b"SMEMBERS", b"KEY")),
        ("hrandfield", "random choice", chosen(b"HGETALL", b"KEY")),
        ("zrandmember", "random choice", chosen(b"ZRANGE", b"KEY", b"0", b"-1", b"WITHSCORES")),
        ("spop", "random choice", _popped),
        ("acl|genpass", "random choice", _same_kind),
        ("keys smembers sinter sunion sdiff hkeys hvals sort sort_ro", "no order", unordered()),
        ("pubsub|channels pubsub|shardchannels acl|users acl|list acl|cat", "no order", unordered()),
        ("hgetall pubsub|numsub", "no order", unordered(2)),
        (b" ".join(SCRIPTS).decode(), "no order (of a script)", _of_a_script),
        ("config|get", "setting of a machine", _by_name(_OWN_SETTINGS)),
        ("hello", "name of a server", _by_name(_OWN_GREETING)),
        ("info client|id client|list client|info client|trackinginfo client|getredir", "about the server", _same_kind),
        ("memory|usage memory|stats memory|doctor memory|malloc-stats", "about the server", _same_kind),
        ("object|freq object|help debug lolwut module|list function|stats", "about the server", _same_kind),
        ("slowlog|get slowlog|len latency|latest latency|history latency|histogram", "about the server", _same_kind),
        ("latency|doctor latency|graph latency|reset acl|log role", "about the server", _same_kind),
        ("command command|info command|docs command|list command|count", "about the server", _same_kind),
        ("cluster|nodes cluster|myid cluster|info cluster|shards cluster|slots", "about the server", _same_kind),
        ("dump", "encoding", _same_contents),
    ]
    return {name.encode(): ((reason, rule),) for names, reason, rule in rows for name in names.split()}


RULES: Final = _table()
