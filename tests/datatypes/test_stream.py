"""Streams: entries and nodes, against redis-server where its nodes show, else a plain list."""

import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from redouble.datatypes.limits import Limits
from redouble.datatypes.stream import Stream
from redouble.datatypes.stream_id import MAX_ID, MAX_PART, format_id, make_id
from redouble.datatypes.stream_node import packed_text, radix_nodes

if TYPE_CHECKING:
    from tests.datatypes.conftest import RealRedis


def small_stream(entries: int, node_entries: int = 4) -> Stream:
    """A stream with the IDs 1-0, 2-0 ... in small nodes."""
    limits = Limits()
    limits.stream_node_entries = node_entries
    stream = Stream(limits)
    for number in range(1, entries + 1):
        stream.append(make_id(number, 0), [b"f", b"%d" % number])
    return stream


def numbers(stream: Stream) -> list[int]:
    return [id >> 64 for id, _ in stream.range()]


def test_ids_follow_the_clock_or_the_last_id() -> None:
    stream = Stream(Limits())
    assert stream.next_id(1000) == make_id(1000, 0)
    stream.append(make_id(1000, 0), [b"f", b"v"])
    assert stream.next_id(1000) == make_id(1000, 1)
    assert stream.next_id(500) == make_id(1000, 1)
    assert stream.next_id(1001) == make_id(1001, 0)
    assert stream.next_id_at(1000) == make_id(1000, 1)
    assert stream.next_id_at(2000) == make_id(2000, 0)
    stream.set_id(make_id(1000, MAX_PART))
    assert stream.next_id(1000) == make_id(1001, 0)
    assert stream.next_id_at(1000) == stream.last_id
    stream.set_id(MAX_ID)
    assert stream.next_id(1000) > MAX_ID


def test_an_id_that_is_not_above_the_last_is_a_slip_of_the_caller() -> None:
    stream = small_stream(2)
    with pytest.raises(ValueError, match="above"):
        stream.append(make_id(2, 0), [b"f", b"v"])


def test_a_range_stops_at_its_count_from_either_end() -> None:
    stream = small_stream(10)
    assert [id >> 64 for id, _ in stream.range(make_id(3, 0), make_id(9, 0), 3)] == [3, 4, 5]
    assert [id >> 64 for id, _ in stream.range(make_id(3, 0), make_id(9, 0), 3, reverse=True)] == [9, 8, 7]
    assert stream.range(make_id(5, 1), make_id(5, 9)) == []
    assert stream.range(make_id(6, 0), make_id(5, 0)) == []


def test_an_approximate_trim_takes_whole_nodes_only() -> None:
    stream = small_stream(10)
    assert stream.trim_by_length(5, approximate=True) == 4
    assert stream.trim_by_length(5, approximate=True) == 0
    assert stream.trim_by_id(make_id(9, 0), approximate=True) == 4
    assert numbers(stream) == [9, 10]
    assert stream.max_deleted_id == 0


def test_a_trim_stops_before_a_node_beyond_its_limit() -> None:
    stream = small_stream(12)
    assert stream.trim_by_length(0, approximate=True, limit=7) == 4
    assert stream.trim_by_length(0, approximate=True, limit=8) == 8


def test_a_copy_does_not_follow_the_original() -> None:
    stream = small_stream(6)
    copy = stream.copy()
    stream.delete([make_id(2, 0)])
    stream.append(make_id(7, 0), [b"f", b"7"])
    copy._check()
    assert numbers(copy) == [1, 2, 3, 4, 5, 6]
    assert (copy.max_deleted_id, copy.entries_added) == (0, 6)


def test_the_first_and_last_entry_are_found_behind_deleted_ones() -> None:
    stream = small_stream(6)
    stream.delete([make_id(1, 0), make_id(6, 0)])
    assert stream.first_id() == make_id(2, 0)
    assert stream.top_id() == make_id(5, 0)
    assert stream.last_id == make_id(6, 0)
    stream.delete([make_id(number, 0) for number in range(7)])
    assert (stream.first_id(), stream.top_id(), stream.length) == (0, 0, 0)
    stream._check()


SIZES = [(0, 2), (63, 65), (64, 67), (125, 128), (126, 130), (4095, 4099), (4096, 4103), (16377, 16384), (16378, 16386)]


@pytest.mark.parametrize(("length", "size"), SIZES)
def test_a_string_in_a_listpack_has_a_header_and_its_length_at_the_end(length: int, size: int) -> None:
    assert packed_text(b"x" * length) == size


def info_of(stream: Stream) -> dict[bytes, Any]:
    return {
        b"length": stream.length,
        b"radix-tree-keys": stream.radix_tree_keys(),
        b"radix-tree-nodes": stream.radix_tree_nodes(),
        b"last-generated-id": format_id(stream.last_id),
        b"max-deleted-entry-id": format_id(stream.max_deleted_id),
        b"entries-added": stream.entries_added,
        b"recorded-first-entry-id": format_id(stream.first_id()),
        b"groups": len(stream.groups),
        b"first-entry": as_reply(stream.range(count=1))[0] if stream.length else None,
        b"last-entry": as_reply(stream.range(count=1, reverse=True))[0] if stream.length else None,
    }


def as_reply(entries: list[tuple[int, list[bytes]]]) -> list[Any]:
    return [[format_id(id), fields] for id, fields in entries]


class Pair:
    """A stream here and the same on the real server; each step is done and compared on both."""

    def __init__(self, real: "RealRedis", node_entries: int, node_bytes: int) -> None:
        self.real = real
        limits = Limits()
        limits.stream_node_entries = node_entries
        limits.stream_node_bytes = node_bytes
        self.stream = Stream(limits)
        real.ask_all(
            [
                ("CONFIG", "SET", "stream-node-max-entries", node_entries),
                ("CONFIG", "SET", "stream-node-max-bytes", node_bytes),
                ("DEL", "s"),
                ("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM"),
                ("XGROUP", "DESTROY", "s", "g"),
            ]
        )

    def add(self, id: int, fields: list[bytes]) -> None:
        if id <= self.stream.last_id or id > MAX_ID:
            return
        self.stream.append(id, fields)
        assert self.real.ask("XADD", "s", format_id(id), *fields) == format_id(id)

    def delete(self, ids: list[int]) -> None:
        if ids:
            assert self.real.ask("XDEL", "s", *[format_id(id) for id in ids]) == self.stream.delete(ids)

    def trim(self, by_id: bool, bound: int, approximate: bool, limit: int) -> None:
        words: list[bytes | str | int] = ["XTRIM", "s", "MINID" if by_id else "MAXLEN"]
        words += ["~" if approximate else "=", format_id(bound) if by_id else bound]
        if approximate:
            words += ["LIMIT", limit]
        trim = self.stream.trim_by_id if by_id else self.stream.trim_by_length
        assert self.real.ask(*words) == trim(bound, approximate, limit if approximate else 0), words

    def compare(self) -> None:
        self.stream._check()
        flat = self.real.ask("XINFO", "STREAM", "s")
        assert info_of(self.stream) == dict(zip(flat[::2], flat[1::2], strict=True))
        assert as_reply(self.stream.range()) == self.real.ask("XRANGE", "s", "-", "+")


def random_id(rng: random.Random, last: int) -> int:
    kind = rng.randrange(8)
    if kind == 0:
        return last + rng.randrange(1, 1 << rng.randrange(1, 100))
    if kind == 1:
        return ((last >> 64) + rng.randrange(1, 70000) << 64) + rng.randrange(3)
    return last + rng.randrange(1, 4) if kind < 5 else ((last >> 64) + rng.randrange(1, 300)) << 64


def random_text(rng: random.Random) -> bytes:
    kind = rng.randrange(6)
    if kind == 0:
        return b"%d" % rng.randrange(-(1 << rng.randrange(1, 66)), 1 << rng.randrange(1, 66))
    if kind == 1:
        return rng.choice([b"", b"-", b"0", b"-0", b"00", b"007", b"+5", b" 5", b"5 ", b"9" * 19, b"-" + b"9" * 19])
    if kind == 2:
        return b"x" * rng.choice([62, 63, 64, 65, 125, 126, 127, 128, 200])
    return rng.choice([b"name", b"value", b"a", b"status"])


def random_fields(rng: random.Random) -> list[bytes]:
    if rng.randrange(3):
        return [b"name", random_text(rng), b"status", random_text(rng)]
    return [random_text(rng) for _ in range(2 * rng.randrange(1, 4))]


def random_known_id(rng: random.Random, stream: Stream) -> int:
    entries = stream.range()
    if not entries or not rng.randrange(5):
        return rng.randrange(MAX_ID)
    return rng.choice(entries)[0] + rng.choice([0, 0, 0, 1, -1])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32),
    node_entries=st.sampled_from([0, 1, 3, 5, 100, 200]),
    node_bytes=st.sampled_from([0, 100, 300, 1000, 4096]),
)
def test_adding_deleting_and_trimming_leave_the_nodes_that_the_real_server_has(
    real_redis: "RealRedis", seed: int, node_entries: int, node_bytes: int
) -> None:
    rng = random.Random(seed)
    pair = Pair(real_redis, node_entries, node_bytes)
    for _ in range(rng.randrange(40)):
        kind = rng.randrange(10)
        if kind < 7:
            for _ in range(rng.randrange(1, 8 if node_entries < 100 else 150)):
                pair.add(random_id(rng, pair.stream.last_id), random_fields(rng))
        elif kind == 7:
            pair.delete([random_known_id(rng, pair.stream) for _ in range(rng.randrange(1, 10))])
        elif kind == 8:
            pair.trim(False, rng.randrange(0, pair.stream.length + 5), rng.random() < 0.6, rng.choice([0, 0, 3, 20]))
        else:
            bound = min(max(random_known_id(rng, pair.stream), 0), MAX_ID)
            pair.trim(True, bound, rng.random() < 0.6, rng.choice([0, 0, 3, 20]))
        pair.compare()


@settings(max_examples=200, deadline=None)
@given(st.sets(st.integers(0, 40), max_size=25), st.integers(0, 45), st.integers(0, 45), st.integers(0, 8))
def test_a_range_is_what_a_plain_list_would_give(deleted: set[int], start: int, end: int, count: int) -> None:
    stream = small_stream(40)
    stream.delete([make_id(number, 0) for number in deleted])
    plain = [number for number in range(1, 41) if number not in deleted and start <= number <= end]
    forward = [id >> 64 for id, _ in stream.range(make_id(start, 0), make_id(end, 0), count)]
    backward = [id >> 64 for id, _ in stream.range(make_id(start, 0), make_id(end, 0), count, reverse=True)]
    assert forward == plain[: count or None]
    assert backward == plain[::-1][: count or None]
    for number in range(45):
        expected = None if number in deleted or not 1 <= number <= 40 else [b"f", b"%d" % number]
        assert stream.get(make_id(number, 0)) == expected


def test_an_empty_radix_tree_has_its_root_only() -> None:
    assert radix_nodes([]) == 1
    assert radix_nodes([make_id(1, 0)]) == 2
