"""What two true replies about servers and connections may differ in: rules that `relaxed.py` gives to commands."""

from __future__ import annotations

import re
from typing import Any

from tests.fuzz.grammar import Argv
from tests.kit import Redis

_PLACES = (b"bind", b"dir", b"enable-debug-command", b"notify-keyspace-events", b"pidfile", b"port", b"save")
#: Fields of INFO that tell of the server's state, not of the process, the clock or what the harness asks besides.
_STATE = re.compile(
    rb"redis_version|redis_mode|role|maxmemory.*|(configured_)?hz|.*_clients|pubsub.*_channels|loading|aof_enabled"
    rb"|cluster_enabled|connected_slaves|evicted_.*|rdb_bgsave_in_progress|rdb_last_bgsave_status"
    rb"|number_of_(functions|libraries)|repl_backlog_(active|size)|tracking_total_keys"
)
#: What INFO says of commands and errors since the start, in which all families have their part, of keys, which may
#: expire any moment, and what only Redouble says.
_ABOUT = (b"cmdstat_", b"latency_percentiles_", b"errorstat_", b"db", b"redouble_")
#: When an entry of the ACL's log was made.
_WHEN = (b"age-seconds", b"timestamp-created", b"timestamp-last-updated")
_LEAVING = (b"unsubscribe", b"punsubscribe", b"sunsubscribe")


def any_order(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """Tables within tables, all without order."""

    def plain(reply: Any) -> str:
        return "[" + " ".join(sorted(map(plain, reply))) + "]" if isinstance(reply, list) else repr(reply)

    return plain(ours) == plain(theirs)


def user(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """A user's rules. Commands that are allowed one by one come in the order of a hash table."""

    def plain(reply: Any) -> Any:
        if isinstance(reply, list):
            return [plain(item) for item in reply]
        return sorted(reply.split()) if isinstance(reply, bytes) else reply

    return bool(plain(ours) == plain(theirs))


def parameters(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """The same parameters in any order, and but for what tells where a server is and how the harness has started it
    the same values."""
    mine, other = (dict(zip(reply[::2], reply[1::2], strict=True)) for reply in (ours, theirs))
    return mine.keys() == other.keys() and all(mine[name] == other[name] or name.lower() in _PLACES for name in mine)


def client_lines(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """Lines about connections, with the same fields; what is in them is the server's own."""
    names = [[re.findall(rb"([a-z-]+)=", line) for line in lines.splitlines()] for lines in (ours, theirs)]
    return bool(names[0] == names[1] and names[0])


def information(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """The same sections and fields in the same order, and the same state of the server."""

    def told(text: bytes) -> list[bytes]:
        lines = [line.partition(b":") for line in text.splitlines() if not line.startswith(_ABOUT)]
        return [name + b":" + value if _STATE.fullmatch(name) else name for name, _, value in lines]

    return told(ours) == told(theirs)


def denials(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """The log of the ACL: the same entries, each some milliseconds apart, by connections that tell the same of
    themselves."""

    def told(reply: Any) -> list[Any]:
        entries = [dict(zip(entry[::2], entry[1::2], strict=True)) for entry in reply]
        return [
            [(name, re.findall(rb"([a-z-]+)=", entry[name]) if name == b"client-info" else entry[name])
             for name in entry if name not in _WHEN]
            for entry in entries
        ]  # fmt: skip

    return isinstance(ours, list) and isinstance(theirs, list) and told(ours) == told(theirs)


def documented(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """The same commands, each described in the server's own words."""
    return sorted(ours[::2]) == sorted(theirs[::2])


def without_notes(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """Redis' notes on key specifications are prose, and Redouble has none. The whole table has no order; its rows are
    compared by tests/commands/test_introspection.py."""
    if len(argv) < 3:
        return sorted(row[0] for row in ours) == sorted(row[0] for row in theirs)

    def bare(reply: Any) -> Any:
        if not isinstance(reply, list):
            return reply
        if reply[:1] == [b"notes"]:
            reply = reply[2:]
        return list(map(bare, reply))

    return bool(bare(ours) == bare(theirs))


def greeting(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """Connections have other numbers."""
    return all(our == their or ours[at - 1] == b"id" for at, (our, their) in enumerate(zip(ours, theirs, strict=True)))


def unsubscribed(reply: Any) -> Any:
    """A message; that of having left a channel does not name it, for a client leaves all in any order."""
    if isinstance(reply, list) and len(reply) == 3 and reply[0] in _LEAVING:
        return [reply[0], reply[2]]
    return reply


def _by_pattern(reply: Any) -> list[Any]:
    """Channel and text of a message that a pattern has let through."""
    return reply[2:] if isinstance(reply, list) and reply[:1] == [b"pmessage"] else []


def messages(heard: list[Any], ends: tuple[bytes, ...]) -> list[Any]:
    """Connections and their messages, without events of keys that end so; what one PUBLISH brings to several patterns
    comes in any order."""
    kept: list[Any] = []
    start = 0
    for second, reply in heard:
        if isinstance(reply, list) and reply[:1] == [b"pmessage"] and reply[2].endswith(ends):
            continue
        item = [second, unsubscribed(reply)]
        if not kept or not (_by_pattern(item[1]) == _by_pattern(kept[-1][1]) != []):
            start = len(kept)
        kept.append(item)
        kept[start:] = sorted(kept[start:], key=repr)
    return kept


def served_elsewhere(ours: list[Any], theirs: list[Any]) -> bool:
    """Whether a waiter was served from another of its keys.

    Up to 7.0 that is the key that was filled first, since then the first that the waiter named.
    """
    replies = [(our[1], their[1]) for our, their in zip(ours, theirs, strict=False) if our[1] != their[1]]
    return any(isinstance(our, list) and isinstance(their, list) and our[:1] != their[:1] for our, their in replies)


def left_all(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    return len(argv) == 1 and bool(unsubscribed(ours) == unsubscribed(theirs))
