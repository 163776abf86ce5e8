"""HyperLogLogs, bit for bit what redis-server makes of the same elements."""

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from redouble.datatypes import hyperloglog as hll

if TYPE_CHECKING:
    from tests.datatypes.conftest import RealRedis

SPARSE_BYTES = 3000


def elements(count: int, prefix: bytes = b"element-") -> list[bytes]:
    return [prefix + b"%d" % number for number in range(count)]


def test_a_new_value_counts_nothing() -> None:
    value = hll.empty()
    assert hll.is_hyperloglog(value)
    assert hll.is_sparse(value)
    assert hll.cached_count(value) is None
    assert hll.count(value) == 0
    assert hll.describe_runs(value) == b"Z:16384"


def test_an_element_seen_before_changes_nothing() -> None:
    value = hll.add(hll.empty(), [b"a", b"b"], SPARSE_BYTES)
    assert hll.add(value, [b"b", b"a"], SPARSE_BYTES) is value
    dense = hll.to_dense(value)
    assert hll.add(dense, [b"b", b"a"], SPARSE_BYTES) is dense


def test_an_addition_outdates_the_kept_estimate() -> None:
    value = hll.add(hll.empty(), [b"a"], SPARSE_BYTES)
    assert hll.cached_count(value) is None
    value = hll.with_cached_count(value, hll.count(value))
    assert hll.cached_count(value) == 1


def test_a_long_value_becomes_dense_and_keeps_its_registers() -> None:
    sparse = hll.add(hll.empty(), elements(500), 1000000)
    dense = hll.add(hll.empty(), elements(500), 100)
    assert hll.is_sparse(sparse)
    assert not hll.is_sparse(dense)
    assert len(dense) == hll.DENSE_BYTES
    assert hll.registers(sparse) == hll.registers(dense)
    assert hll.count(sparse) == hll.count(dense)
    assert hll.registers(hll.to_dense(sparse)) == hll.registers(sparse)


@pytest.mark.parametrize("count", [10, 1000, 100000])
def test_the_estimate_is_within_three_percent(count: int) -> None:
    value = hll.add(hll.empty(), elements(count), SPARSE_BYTES)
    assert abs(hll.count(value) - count) <= 0.03 * count


def test_a_union_counts_each_element_once() -> None:
    one = hll.add(hll.empty(), elements(3000), SPARSE_BYTES)
    other = hll.add(hll.empty(), elements(4000), SPARSE_BYTES)
    assert hll.count_union([one, other]) == hll.count(other)
    assert hll.count_union([]) == 0
    assert hll.registers(hll.merge(None, [one, other], SPARSE_BYTES)) == hll.registers(other)


@pytest.mark.parametrize(
    "value", [b"", b"HYLL", b"HYLX" + bytes(20), b"HYLL\x02" + bytes(20), b"HYLL\x00" + bytes(12298)]
)
def test_a_wrong_header_or_length_is_no_hyperloglog(value: bytes) -> None:
    assert not hll.is_hyperloglog(value)


@pytest.mark.parametrize("runs", [b"", b"\x00", b"\x7f\xff\x00", b"\x7f\xfe", b"\x7f"])
def test_runs_that_do_not_add_up_are_found_out(runs: bytes, real_redis: "RealRedis") -> None:
    value = b"HYLL\x01" + bytes(10) + b"\x80" + runs
    with pytest.raises(hll.CorruptedError):
        hll.count(value)
    with pytest.raises(hll.CorruptedError):
        hll.merge(None, [value], SPARSE_BYTES)
    _, count, merged = real_redis.ask_all([("SET", "v", value), ("PFCOUNT", "v"), ("PFMERGE", "w", "v")])
    assert "INVALIDOBJ" in str(count)
    assert "INVALIDOBJ" in str(merged)


def test_hand_made_registers_beyond_any_hash_count_as_on_the_real_server(real_redis: "RealRedis") -> None:
    value = b"HYLL\x00" + bytes(10) + b"\x80" + b"\xff" * 12288
    _, count = real_redis.ask_all([("SET", "v", value), ("PFCOUNT", "v")])
    assert hll.count(value) == count


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32),
    sparse_bytes=st.sampled_from([0, 30, 100, 1000, 3000, 15000]),
    batches=st.lists(st.sampled_from([0, 1, 1, 2, 5, 50, 600]), max_size=12),
)
def test_the_same_elements_give_the_bytes_of_the_real_server(
    real_redis: "RealRedis", seed: int, sparse_bytes: int, batches: list[int]
) -> None:
    rng = random.Random(seed)
    real_redis.ask_all([("CONFIG", "SET", "hll-sparse-max-bytes", sparse_bytes), ("DEL", "v"), ("PFADD", "v")])
    value = hll.empty()
    for size in batches:
        batch = [rng.randbytes(rng.randrange(20)) for _ in range(size)]
        changed = hll.add(value, batch, sparse_bytes)
        replies = real_redis.ask_all([("PFADD", "v", *batch), ("GET", "v")])
        assert replies == [int(changed is not value), changed]
        value = changed
        if rng.random() < 0.5:
            value = hll.with_cached_count(value, hll.count(value))
            assert real_redis.ask_all([("PFCOUNT", "v"), ("GET", "v")]) == [hll.cached_count(value), value]
    if hll.is_sparse(value):
        assert real_redis.ask("PFDEBUG", "DECODE", "v") == hll.describe_runs(value)
    assert real_redis.ask("PFDEBUG", "GETREG", "v") == list(hll.registers(value))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32),
    sparse_bytes=st.sampled_from([30, 300, 3000, 15000]),
    sizes=st.lists(st.sampled_from([0, 1, 5, 200, 1500]), min_size=1, max_size=4),
    new_target=st.booleans(),
)
def test_a_merge_gives_the_bytes_of_the_real_server(
    real_redis: "RealRedis", seed: int, sparse_bytes: int, sizes: list[int], new_target: bool
) -> None:
    rng = random.Random(seed)
    real_redis.ask_all([("CONFIG", "SET", "hll-sparse-max-bytes", sparse_bytes), ("FLUSHALL",)])
    values = []
    for number, size in enumerate(sizes):
        batch = [b"%d" % rng.randrange(2000) for _ in range(size)]
        values.append(hll.add(hll.empty(), batch, sparse_bytes))
        if rng.random() < 0.2:
            values[-1] = hll.to_dense(values[-1])
        real_redis.ask("SET", b"v%d" % number, values[-1])
    keys = [b"v%d" % number for number in range(len(sizes))]
    assert real_redis.ask("PFCOUNT", "nothing", *keys) == hll.count_union(values)
    target, merged = ("new", hll.merge(None, values, sparse_bytes))
    if not new_target:
        target, merged = ("v0", hll.merge(values[0], values[1:], sparse_bytes))
    assert real_redis.ask_all([("PFMERGE", target, *keys), ("GET", target)]) == [b"OK", merged]
