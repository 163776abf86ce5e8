"""Consumer groups: who has been given which entry, and has not acknowledged it yet.

Each delivered entry is one `Pending` object, to be found in two lists: that of the whole group and
that of its consumer. A `PendingList` is a dict by ID, with the IDs sorted beside it. IDs nearly
always come in rising order and nearly always go from the front, so the sorted list is kept
lazily: an ID that goes leaves a hole, holes at both ends are closed at once, and when more than
half of the list is holes it is rebuilt. Adding and dropping are O(1) amortised, except that an ID
which comes out of order costs one memory move.

A `Pending` knows its consumer by name, not by reference: no cycles of objects, so nothing here
waits for Python's cycle collector.

Times are in ms. What needs the stream's entries as well is in `stream_delivery`.
"""

from bisect import bisect_left
from typing import Final, final

#: `Group.entries_read` when the number can't be known.
UNKNOWN: Final = -1
_FOREVER: Final = 1 << 63


@final
class Pending:
    """An entry that a consumer has been given."""

    __slots__ = ("consumer", "delivery_count", "delivery_time", "id")

    def __init__(self, id: int, consumer: bytes, delivery_time: int, delivery_count: int) -> None:
        self.id: int = id
        #: The consumer's name.
        self.consumer: bytes = consumer
        self.delivery_time: int = delivery_time
        self.delivery_count: int = delivery_count


@final
class PendingList:
    """Pending entries in the order of their IDs."""

    __slots__ = ("_head", "_items", "_order")

    def __init__(self) -> None:
        self._items: dict[int, Pending] = {}
        #: From `_head` on sorted; an ID that is not in `_items` is a hole. Before it is waste.
        self._order: list[int] = []
        self._head: int = 0

    def __len__(self) -> int:
        return len(self._items)

    def get(self, id: int) -> Pending | None:
        """The pending entry with this ID, if there is one. O(1)."""
        return self._items.get(id)

    def add(self, pending: Pending) -> None:
        """Add an entry, in the place of one with its ID. O(1) if it is the last."""
        id = pending.id
        items = self._items
        order = self._order
        if not order or id > order[-1]:
            order.append(id)
        elif id not in items:
            position = bisect_left(order, id, self._head)
            if order[position] != id:
                if position == self._head > 0:
                    self._head -= 1
                    order[self._head] = id
                else:
                    order.insert(position, id)
        items[id] = pending

    def pop(self, id: int) -> Pending | None:
        """Take out the entry with this ID, if there is one. O(1) amortised."""
        items = self._items
        pending = items.pop(id, None)
        if pending is None:
            return None
        order = self._order
        if not items:
            order.clear()
            self._head = 0
            return pending
        while order[self._head] not in items:
            self._head += 1
        while order[-1] not in items:
            order.pop()
        if len(order) > 2 * len(items) + 16:
            self._order = [id for id in order[self._head :] if id in items]
            self._head = 0
        return pending

    def first_id(self) -> int:
        """The smallest ID; there must be one. O(1)."""
        return self._order[self._head]

    def last_id(self) -> int:
        """The largest ID; there must be one. O(1)."""
        return self._order[-1]

    def range(self, start: int, end: int, count: int = 0, delivered_by: int = _FOREVER) -> list[Pending]:
        """The entries with IDs from `start` to `end`, both included.

        A `count` above 0 limits their number; `delivered_by` leaves out what was delivered later.
        O(log n + entries passed).
        """
        found: list[Pending] = []
        order = self._order
        for position in range(bisect_left(order, start, self._head), len(order)):
            id = order[position]
            if id > end:
                break
            pending = self._items.get(id)
            if pending is not None and pending.delivery_time <= delivered_by:
                found.append(pending)
                if len(found) == count:
                    break
        return found

    def all(self) -> list[Pending]:
        """All entries, in order. O(n)."""
        items = self._items
        return [items[id] for id in self._order[self._head :] if id in items]

    def _check(self) -> None:
        order = self._order[self._head :]
        assert order == sorted(set(order))
        assert set(self._items) <= set(order)
        assert len(self._order) <= 2 * len(self._items) + 16
        if self._items:
            assert self._order[self._head] in self._items
            assert self._order[-1] in self._items
        for id, pending in self._items.items():
            assert pending.id == id


@final
class Consumer:
    """A consumer of a group."""

    __slots__ = ("active_time", "name", "pending", "seen_time")

    def __init__(self, name: bytes, now: int) -> None:
        self.name: bytes = name
        #: When the consumer was last named in a read or a claim.
        self.seen_time: int = now
        #: When it last got an entry; -1: never.
        self.active_time: int = -1
        self.pending: PendingList = PendingList()


@final
class Group:
    """A consumer group.

    Args:
        last_id: the last ID that was delivered; reading new entries starts after it.
        entries_read: how many entries of the stream were ever read up to `last_id`, or `UNKNOWN`.
    """

    __slots__ = ("consumers", "entries_read", "last_id", "pending")

    def __init__(self, last_id: int, entries_read: int = UNKNOWN) -> None:
        self.last_id: int = last_id
        self.entries_read: int = entries_read
        self.pending: PendingList = PendingList()
        #: By name, in no order.
        self.consumers: dict[bytes, Consumer] = {}

    def add_consumer(self, name: bytes, now: int) -> Consumer:
        """Create a consumer that is not here yet."""
        consumer = Consumer(name, now)
        self.consumers[name] = consumer
        return consumer

    def delete_consumer(self, name: bytes) -> int:
        """Delete a consumer with all that is pending for it; give the number of those. O(them)."""
        consumer = self.consumers.pop(name, None)
        if consumer is None:
            return 0
        for pending in consumer.pending.all():
            self.pending.pop(pending.id)
        return len(consumer.pending)

    def consumer_names(self) -> list[bytes]:
        """The names in the order in which replies list them."""
        return sorted(self.consumers)

    def assign(self, id: int, consumer: Consumer, time: int, count: int) -> Pending:
        """Make an entry pending for a consumer, whoever may have had it before. O(1) if last."""
        pending = self.pending.get(id)
        if pending is None:
            pending = Pending(id, consumer.name, time, count)
            self.pending.add(pending)
            consumer.pending.add(pending)
            return pending
        pending.delivery_time = time
        pending.delivery_count = count
        if pending.consumer != consumer.name:
            self.consumers[pending.consumer].pending.pop(id)
            pending.consumer = consumer.name
            consumer.pending.add(pending)
        return pending

    def acknowledge(self, id: int) -> bool:
        """XACK: nobody has to answer for this entry any more; tell whether anybody had. O(1)."""
        pending = self.pending.pop(id)
        if pending is None:
            return False
        self.consumers[pending.consumer].pending.pop(id)
        return True

    def pending_range(
        self, start: int, end: int, count: int, name: bytes | None, delivered_by: int = _FOREVER
    ) -> list[Pending]:
        """XPENDING with a range: at most `count` entries, of one consumer if it is named.

        `delivered_by` is the latest delivery time that counts. O(log n + entries passed).
        """
        listed = self.pending
        if name is not None:
            consumer = self.consumers.get(name)
            if consumer is None:
                return []
            listed = consumer.pending
        return listed.range(start, end, count, delivered_by) if count > 0 else []

    def pending_by_consumer(self) -> list[tuple[bytes, int]]:
        """XPENDING without a range: the consumers that have pending entries, and how many."""
        counts = [(name, len(self.consumers[name].pending)) for name in self.consumer_names()]
        return [pair for pair in counts if pair[1]]

    def copy(self) -> "Group":
        """A copy that shares nothing which may change. O(n)."""
        other = Group(self.last_id, self.entries_read)
        for consumer in self.consumers.values():
            twin = other.add_consumer(consumer.name, consumer.seen_time)
            twin.active_time = consumer.active_time
        for pending in self.pending.all():
            consumer = other.consumers[pending.consumer]
            other.assign(pending.id, consumer, pending.delivery_time, pending.delivery_count)
        return other

    def _check(self) -> None:
        self.pending._check()
        total = 0
        for name, consumer in self.consumers.items():
            assert name == consumer.name
            consumer.pending._check()
            total += len(consumer.pending)
            for pending in consumer.pending.all():
                assert pending.consumer == name
                assert self.pending.get(pending.id) is pending
        assert total == len(self.pending)
