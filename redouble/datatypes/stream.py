"""A stream: entries in the order of their IDs, and the consumer groups that read them.

The entries lie in nodes (see `stream_node`), cut exactly where Redis cuts its own, because
approximate trimming shows the cuts. Appending touches the last node only. Everything else finds a
node by bisecting the nodes' first IDs, then an entry by bisecting within the node: O(log n).
Nodes go from the front when a stream is trimmed; moving the rest up is one memory move of a
machine word for each hundred entries.

IDs are single integers (see `stream_id`). An entry's fields are a flat list, names and values by
turns, handed in and handed out without a copy: nobody may change it afterwards.

Errors are the business of the caller, who knows the texts. So `append` expects an ID above
`last_id`, and trimming numbers of at least 0.

`stream_groups` has the groups, `stream_delivery` what happens between a group and its stream.
Whoever changes the rules for cutting nodes must keep `_is_full` and `StreamNode` in step.
"""

from bisect import bisect_left, bisect_right
from typing import Final, final

from redouble.datatypes.limits import Limits
from redouble.datatypes.stream_groups import Group
from redouble.datatypes.stream_id import MAX_ID, MAX_PART
from redouble.datatypes.stream_node import StreamNode, radix_nodes

#: The bytes of all fields of one entry may not be more than this.
MAX_ENTRY_BYTES: Final = 1 << 30

#: An entry: its ID, and its field names and values by turns.
Entry = tuple[int, list[bytes]]


@final
class Stream:
    """A stream.

    Args:
        limits: the server's limits, for the size of nodes.
    """

    __slots__ = (
        "_keys",
        "_limits",
        "_nodes",
        "entries_added",
        "groups",
        "last_id",
        "length",
        "max_deleted_id",
    )

    def __init__(self, limits: Limits) -> None:
        self._limits: Limits = limits
        self._nodes: list[StreamNode] = []
        #: The first ID of each node.
        self._keys: list[int] = []
        #: The number of entries.
        self.length: int = 0
        #: The largest ID ever, or as set by XSETID.
        self.last_id: int = 0
        #: The largest ID ever deleted by XDEL; trimming does not count.
        self.max_deleted_id: int = 0
        #: How many entries were ever added, or as set by XSETID.
        self.entries_added: int = 0
        #: By name, in no order.
        self.groups: dict[bytes, Group] = {}

    def __len__(self) -> int:
        return self.length

    def __bool__(self) -> bool:
        """A stream is a value even when it is empty."""
        return True

    # Adding

    def next_id(self, now: int) -> int:
        """The ID for ``*`` at the time `now` in ms. Above `MAX_ID` if the stream is exhausted."""
        last = self.last_id
        return now << 64 if now > last >> 64 else last + 1

    def next_id_at(self, ms: int) -> int:
        """The ID for ``<ms>-*``; it is not above `last_id` if there is none."""
        last = self.last_id
        if ms != last >> 64:
            return ms << 64
        return last if last & MAX_PART == MAX_PART else last + 1

    def append(self, id: int, fields: list[bytes]) -> None:
        """Add an entry; `id` must be above `last_id`. O(fields)."""
        if id <= self.last_id:
            raise ValueError("the ID of a new entry must be above all others")
        nodes = self._nodes
        if not nodes or self._is_full(nodes[-1], fields):
            nodes.append(StreamNode(id, fields))
            self._keys.append(id)
        nodes[-1].append(id, fields)
        self.length += 1
        self.entries_added += 1
        self.last_id = id

    def _is_full(self, node: StreamNode, fields: list[bytes]) -> bool:
        most = self._limits.stream_node_entries
        if most > 0 and len(node.ids) + node.tombstones >= most:
            return True
        size = 0
        for text in fields:
            size += len(text)
        most = self._limits.stream_node_bytes
        if most <= 0 or most > MAX_ENTRY_BYTES:
            most = MAX_ENTRY_BYTES
        return node.packed_bytes() + size >= most

    # Reading

    def range(self, start: int = 0, end: int = MAX_ID, count: int = 0, reverse: bool = False) -> list[Entry]:
        """The entries from `start` to `end`, both included; the last first if `reverse`.

        A `count` above 0 limits their number. O(log n + entries).
        """
        if end < start:
            return []
        return self._backward(start, end, count) if reverse else self._forward(start, end, count)

    def _forward(self, start: int, end: int, count: int) -> list[Entry]:
        found: list[Entry] = []
        index = max(bisect_right(self._keys, start) - 1, 0)
        while index < len(self._nodes):
            node = self._nodes[index]
            if node.first_id > end:
                break
            low = bisect_left(node.ids, start)
            high = bisect_right(node.ids, end)
            if count > 0:
                high = min(high, low + count - len(found))
            found.extend(zip(node.ids[low:high], node.fields[low:high], strict=False))
            if 0 < count <= len(found):
                break
            index += 1
        return found

    def _backward(self, start: int, end: int, count: int) -> list[Entry]:
        found: list[Entry] = []
        index = bisect_right(self._keys, end) - 1
        while index >= 0:
            node = self._nodes[index]
            if node.last_id < start:
                break
            low = bisect_left(node.ids, start)
            high = bisect_right(node.ids, end)
            if count > 0:
                low = max(low, high - count + len(found))
            part = list(zip(node.ids[low:high], node.fields[low:high], strict=False))
            part.reverse()
            found.extend(part)
            if 0 < count <= len(found):
                break
            index -= 1
        return found

    def get(self, id: int) -> list[bytes] | None:
        """The fields of one entry, or None. O(log n)."""
        index = bisect_right(self._keys, id) - 1
        if index < 0:
            return None
        node = self._nodes[index]
        position = bisect_left(node.ids, id)
        if position < len(node.ids) and node.ids[position] == id:
            return node.fields[position]
        return None

    def first_id(self) -> int:
        """The ID of the first entry, 0 if there is none. O(1) nearly always."""
        for node in self._nodes:
            if node.ids:
                return node.ids[0]
        return 0

    def top_id(self) -> int:
        """The ID of the last entry, 0 if there is none; `last_id` may be larger."""
        for index in range(len(self._nodes) - 1, -1, -1):
            ids = self._nodes[index].ids
            if ids:
                return ids[-1]
        return 0

    # Removing

    def delete(self, ids: list[int]) -> int:
        """XDEL: delete these entries and give the number of those that existed. O(log n) each."""
        deleted = 0
        for id in ids:
            if self._delete_one(id):
                deleted += 1
                if id > self.max_deleted_id:
                    self.max_deleted_id = id
        return deleted

    def _delete_one(self, id: int) -> bool:
        index = bisect_right(self._keys, id) - 1
        if index < 0:
            return False
        node = self._nodes[index]
        position = bisect_left(node.ids, id)
        if position == len(node.ids) or node.ids[position] != id:
            return False
        node.remove(position, position + 1)
        self.length -= 1
        if not node.ids:
            self._drop_nodes(index, index + 1)
        return True

    def trim_by_length(self, maxlen: int, approximate: bool = False, limit: int = 0) -> int:
        """Remove the first entries until `maxlen` are left; see `_trim`."""
        return self._trim(maxlen, -1, approximate, limit)

    def trim_by_id(self, minid: int, approximate: bool = False, limit: int = 0) -> int:
        """Remove the entries with IDs below `minid`; see `_trim`."""
        return self._trim(-1, minid, approximate, limit)

    def _trim(self, maxlen: int, minid: int, approximate: bool, limit: int) -> int:
        """Remove entries from the front and give their number.

        If `approximate`, whole nodes only. A `limit` above 0 is the most that may be removed, and
        a node that goes beyond it stays. O(removed nodes + size of a node).
        """
        removed = 0
        dropped = 0
        partly = False
        for node in self._nodes:
            size = len(node.ids)
            if maxlen >= 0 and self.length - removed <= maxlen:
                break
            if 0 < limit < removed + size:
                break
            fits = node.last_id < minid if maxlen < 0 else self.length - removed - size >= maxlen
            if not fits:
                partly = not approximate
                break
            removed += size
            dropped += 1
        self._drop_nodes(0, dropped)
        self.length -= removed
        if partly:
            removed += self._trim_first_node(maxlen, minid)
        return removed

    def _trim_first_node(self, maxlen: int, minid: int) -> int:
        node = self._nodes[0]
        surplus = bisect_left(node.ids, minid) if maxlen < 0 else self.length - maxlen
        node.remove(0, surplus)
        self.length -= surplus
        return surplus

    def _drop_nodes(self, start: int, stop: int) -> None:
        del self._nodes[start:stop]
        del self._keys[start:stop]

    # The whole

    def set_id(self, last_id: int, entries_added: int = -1, max_deleted_id: int = 0) -> None:
        """XSETID: set the counters; -1 and 0 leave the second and the third as they are."""
        self.last_id = last_id
        if entries_added >= 0:
            self.entries_added = entries_added
        if max_deleted_id:
            self.max_deleted_id = max_deleted_id

    def nodes(self) -> list[StreamNode]:
        """The nodes, for whoever writes the stream to a file. To be read only."""
        return self._nodes

    def add_node(self, node: StreamNode) -> None:
        """Add a node behind all others, when reading from a file. Sets no counter but `length`."""
        self._nodes.append(node)
        self._keys.append(node.first_id)
        self.length += len(node.ids)

    def radix_tree_keys(self) -> int:
        """XINFO STREAM's radix-tree-keys: the number of nodes."""
        return len(self._keys)

    def radix_tree_nodes(self) -> int:
        """XINFO STREAM's radix-tree-nodes. O(nodes)."""
        return radix_nodes(self._keys)

    def copy(self) -> "Stream":
        """A copy, groups included, that shares nothing which may change. O(n)."""
        other = Stream(self._limits)
        other._nodes = [node.copy() for node in self._nodes]
        other._keys = self._keys[:]
        other.length = self.length
        other.last_id = self.last_id
        other.max_deleted_id = self.max_deleted_id
        other.entries_added = self.entries_added
        other.groups = {name: group.copy() for name, group in self.groups.items()}
        return other

    def _check(self) -> None:
        assert self._keys == [node.first_id for node in self._nodes]
        ids: list[int] = []
        for node in self._nodes:
            assert len(node.ids) == len(node.fields)
            assert not node.ids or node.first_id <= node.ids[0] <= node.ids[-1] <= node.last_id
            ids += node.ids
        assert self.length == len(ids)
        assert ids == sorted(set(ids))
        for index in range(1, len(self._nodes)):
            assert self._nodes[index - 1].last_id < self._nodes[index].first_id
        assert not ids or ids[-1] <= self.last_id
        for group in self.groups.values():
            group._check()
