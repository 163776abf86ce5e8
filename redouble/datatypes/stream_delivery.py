"""What happens between a stream and one of its groups: reading, claiming, and the lag.

Three ways give an entry to a consumer: reading new ones (XREADGROUP with ``>``), reading again what
the consumer already has (XREADGROUP with an ID), and taking over what somebody has (XCLAIM,
XAUTOCLAIM). An entry may have been deleted from the stream while it was pending: reading again
shows it without fields, claiming drops it from the pending entries.

The lag is the number of entries that a group has still to read. It is counted, not searched: the
stream counts entries ever added, the group entries ever read. Once an entry has been deleted ahead
of the group the count may be wrong, and then the lag is unknown, but for IDs whose number follows
from the length of the stream.

The caller has looked up or created the consumer, and sets its `seen_time`: versions differ in when
a consumer comes into being (since 7.2 at once, before that with the first entry it gets). Times
are in ms.
"""

from typing import Final, final

from redouble.datatypes.stream import Stream
from redouble.datatypes.stream_groups import UNKNOWN, Consumer, Group, Pending
from redouble.datatypes.stream_id import MAX_ID

#: XAUTOCLAIM looks at so many pending entries for each one it may return.
_ATTEMPTS: Final = 10

#: An entry whose fields are None if it has been deleted from the stream.
MaybeEntry = tuple[int, list[bytes] | None]


@final
class Claim:
    """What a claim has done: the entries claimed, and the IDs that were pending but are deleted.

    `next_id` is where XAUTOCLAIM should go on, 0 if it is through.
    """

    __slots__ = ("deleted", "entries", "next_id")

    def __init__(self) -> None:
        self.entries: list[tuple[int, list[bytes]]] = []
        self.deleted: list[int] = []
        self.next_id: int = 0


def read_new(
    stream: Stream, group: Group, consumer: Consumer, count: int, now: int, noack: bool = False
) -> list[tuple[int, list[bytes]]]:
    """XREADGROUP with ``>``: deliver up to `count` (0: all) entries after the group's last ID.

    They become pending for the consumer, unless `noack`. O(log n + entries).
    """
    entries = stream.range(group.last_id + 1, MAX_ID, count)
    for id, _ in entries:
        if group.entries_read != UNKNOWN and not _deleted_from(stream, id):
            group.entries_read += 1
        elif stream.entries_added:
            group.entries_read = entries_read_at(stream, id)
        group.last_id = id
        if not noack:
            group.assign(id, consumer, now, 1)
    if entries and not noack:
        consumer.active_time = now
    return entries


def read_again(stream: Stream, consumer: Consumer, start: int, count: int, now: int) -> list[MaybeEntry]:
    """XREADGROUP with an ID: what is pending for the consumer, from `start` on, at most `count`.

    Counts as one more delivery for each entry that still exists.
    """
    found: list[MaybeEntry] = []
    for pending in consumer.pending.range(start, MAX_ID, count):
        fields = stream.get(pending.id)
        if fields is not None:
            pending.delivery_time = now
            pending.delivery_count += 1
        found.append((pending.id, fields))
    return found


def claim(
    stream: Stream,
    group: Group,
    consumer: Consumer,
    ids: list[int],
    now: int,
    min_idle: int = 0,
    delivery_time: int = -1,
    retry_count: int = -1,
    force: bool = False,
    just_id: bool = False,
) -> Claim:
    """XCLAIM: make these pending entries the consumer's.

    Args:
        stream: where the entries are.
        group: the group; not for its LASTID option, which is the caller's.
        consumer: the new owner.
        ids: the entries, in the order of the reply.
        now: the time.
        min_idle: leave entries alone that were delivered less than so long ago.
        delivery_time: the time to set; if it is negative or still to come, the present.
        retry_count: the number of deliveries to set; if negative, one more.
        force: make entries pending that were not.
        just_id: leave the number of deliveries alone.
    """
    done = Claim()
    if not 0 <= delivery_time <= now:
        delivery_time = now
    for id in ids:
        fields = stream.get(id)
        pending = group.pending.get(id)
        if fields is None:
            if group.acknowledge(id):
                done.deleted.append(id)
        elif pending is None:
            if force:
                deliveries = retry_count if retry_count >= 0 else 1 if just_id else 2
                group.assign(id, consumer, delivery_time, deliveries)
                done.entries.append((id, fields))
        elif min_idle <= 0 or now - pending.delivery_time >= min_idle:
            deliveries = _deliveries(pending, retry_count, just_id)
            group.assign(id, consumer, delivery_time, deliveries)
            done.entries.append((id, fields))
    if done.entries:
        consumer.active_time = now
    return done


def autoclaim(
    stream: Stream,
    group: Group,
    consumer: Consumer,
    start: int,
    count: int,
    now: int,
    min_idle: int = 0,
    just_id: bool = False,
) -> Claim:
    """XAUTOCLAIM: claim up to `count` pending entries from `start` on.

    Deleted entries count, too. No more than ten times as many entries are looked at.
    """
    done = Claim()
    attempts = count * _ATTEMPTS
    room = count
    for pending in group.pending.range(start, MAX_ID, attempts + 1):
        if attempts == 0 or room == 0:
            done.next_id = pending.id
            break
        attempts -= 1
        fields = stream.get(pending.id)
        if fields is None:
            group.acknowledge(pending.id)
            done.deleted.append(pending.id)
            room -= 1
        elif min_idle <= 0 or now - pending.delivery_time >= min_idle:
            group.assign(pending.id, consumer, now, _deliveries(pending, -1, just_id))
            done.entries.append((pending.id, fields))
            room -= 1
    if done.entries:
        consumer.active_time = now
    return done


def lag(stream: Stream, group: Group) -> int | None:
    """How many entries the group has still to read; None if unknown. O(1)."""
    if not stream.entries_added:
        return 0
    if group.entries_read != UNKNOWN and not _deleted_from(stream, group.last_id):
        return stream.entries_added - group.entries_read
    entries_read = entries_read_at(stream, group.last_id)
    return None if entries_read == UNKNOWN else stream.entries_added - entries_read


def entries_read_at(stream: Stream, id: int) -> int:
    """How many entries were ever added up to this ID, or `UNKNOWN`. O(1)."""
    added = stream.entries_added
    if not added:
        return 0
    last_id = stream.last_id
    if id == last_id or (not stream.length and id < last_id):
        return added
    if id > last_id:
        return UNKNOWN
    first_id = stream.first_id()
    if stream.max_deleted_id and stream.max_deleted_id >= first_id:
        return UNKNOWN
    if id < first_id:
        return added - stream.length
    return added - stream.length + 1 if id == first_id else UNKNOWN


def _deleted_from(stream: Stream, id: int) -> bool:
    """Whether an entry may have been deleted at this ID or after it."""
    deleted = stream.max_deleted_id
    if not stream.length or not deleted or stream.first_id() > deleted:
        return False
    return id <= deleted


def _deliveries(pending: Pending, retry_count: int, just_id: bool) -> int:
    if retry_count >= 0:
        return retry_count
    return pending.delivery_count if just_id else pending.delivery_count + 1
