"""One line about a client: CLIENT LIST, CLIENT INFO, ACL LOG.

Tools split the line at spaces and equals signs, so the fields, their order and their names are Redis'.
What they say of buffers (`rbs`, `qbuf-free`, ...) is told by `footprint.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from redouble.engine import flags as f
from redouble.engine import footprint as size

if TYPE_CHECKING:
    from redouble.engine.client import Client

#: Since which version a field is there.
_SINCE: Final[dict[bytes, int]] = {
    b"ssub": 70003,
    b"multi-mem": 70000,
    b"rbs": 70000,
    b"rbp": 70000,
    b"resp": 70000,
    b"lib-name": 70200,
    b"lib-ver": 70200,
    b"watch": 70400,
}
#: The flags' letters, in order. Those of tracking, of WATCH and of the socket are not among them.
_STATE_LETTERS: Final[list[tuple[int, bytes]]] = [
    (f.FOLLOWER, b"S"),
    (f.MONITOR, b"O"),
    (f.SUBSCRIBER, b"P"),
    (f.IN_MULTI, b"x"),
    (f.BLOCKED | f.POSTPONED, b"b"),
]
_LATER_LETTERS: Final[list[tuple[int, bytes]]] = [
    (f.READONLY_NODE, b"r"),
    (f.NO_EVICT, b"e"),
    (f.NO_TOUCH, b"T"),
]


def client_line(client: Client, request: list[bytes]) -> bytes:
    """The line, without its end; `request` is what the client runs just now, if anything. O(len)."""
    version = client.engine.version
    return b" ".join([
        name + b"=" + value for name, value in _fields(client, request) if _SINCE.get(name, 0) <= version
    ])  # fmt: skip


def _fields(client: Client, request: list[bytes]) -> list[tuple[bytes, bytes]]:
    now = client.engine.space.now
    query = size.query_bytes(client) + size.request_size(request)
    unread = size.unread_bytes(client)
    overflow = size.overflow(unread)
    room = size.reply_room(client, unread)
    tracking = client.tracking
    command = client.last_command
    return [
        (b"id", b"%d" % client.id),
        (b"addr", client.address),
        (b"laddr", client.local_address),
        (b"fd", b"%d" % client.fd),
        (b"name", client.name),
        (b"age", b"%d" % (max(0, now - client.created) // 1000)),
        (b"idle", b"%d" % (max(0, now - client.active) // 1000)),
        (b"flags", _letters(client)),
        (b"db", b"%d" % client.context.db.index),
        (b"sub", b"%d" % len(client.channels)),
        (b"psub", b"%d" % len(client.patterns)),
        (b"ssub", b"%d" % len(client.shard_channels)),
        (b"multi", b"%d" % (len(client.queue) if client.flags & f.IN_MULTI else -1)),
        (b"watch", b"%d" % len(client.watch.keys)),
        (b"qbuf", b"%d" % query),
        (b"qbuf-free", b"%d" % size.query_room(client, query)),
        (b"argv-mem", b"%d" % size.argument_bytes(client, request)),
        (b"multi-mem", b"%d" % (size.queue_bytes(client) if client.queue else 0)),
        (b"rbs", b"%d" % room),
        (b"rbp", b"%d" % min(unread, room)),
        (b"obl", b"%d" % (0 if overflow else unread)),
        (b"oll", b"%d" % size.reply_nodes(unread)),
        (b"omem", b"%d" % overflow),
        (b"tot-mem", b"%d" % size.footprint(client, request)),
        (b"events", b"r"),
        (b"cmd", b"NULL" if command is None else command.full_name),
        (b"user", client.user.name),
        (b"redir", b"%d" % (tracking.redirect if tracking is not None else -1)),
        (b"resp", b"%d" % client.resp),
        (b"lib-name", client.lib_name),
        (b"lib-ver", client.lib_version),
    ]


def _letters(client: Client) -> bytes:
    flags = client.flags
    letters = b"".join([letter for bit, letter in _STATE_LETTERS if flags & bit])
    tracking = client.tracking
    if tracking is not None:
        letters += tracking.letters()
    if client.watch.broken:
        letters += b"d"
    if flags & f.ENDING:
        letters += b"c"
    if flags & f.CLOSING:
        letters += b"A"
    if client.kind == b"unix":
        letters += b"U"
    letters += b"".join([letter for bit, letter in _LATER_LETTERS if flags & bit])
    return letters or b"N"
