"""Random picks from, and scans of, a dict's keys: what sets and hashes share.

A dict has no positions, so a big one gets a `ScanOrder` when somebody first scans it or picks from
it; from then on its owner reports each new and each lost key. A small one is simply listed. All
orders use the same seed, so a cursor outlives a dropped index.
"""

from random import Random
from typing import Any, Final

from redouble.datatypes.scanorder import ScanOrder

#: Up to this size a dict is listed for each pick.
SMALL: Final = 64
_SEED: Final = 0


def order_of(keys: dict[bytes, Any], order: ScanOrder | None) -> ScanOrder | None:
    """The index to pick from, or None while the dict is small and has none. O(n) the first time."""
    if order is None and len(keys) > SMALL:
        return new_order(keys)
    return order


def new_order(keys: dict[bytes, Any]) -> ScanOrder:
    """An index of a dict's keys. O(n)."""
    return ScanOrder(keys, _SEED)


def pick(keys: dict[bytes, Any], order: ScanOrder | None, rng: Random) -> bytes:
    """A key, each with the same chance; there must be one. O(1) expected with an index."""
    if order is not None:
        return order.random(rng)
    listed = list(keys)
    return listed[int(rng.random() * len(listed))]


def pick_repeatedly(keys: dict[bytes, Any], order: ScanOrder | None, rng: Random, count: int) -> list[bytes]:
    """`count` keys, each drawn anew; there must be one. O(count) expected with an index."""
    if order is not None:
        return [order.random(rng) for _ in range(count)]
    listed = list(keys)
    size = len(listed)
    return [listed[int(rng.random() * size)] for _ in range(count)]


def pick_many(keys: dict[bytes, Any], order: ScanOrder | None, rng: Random, count: int) -> list[bytes]:
    """Up to `count` distinct keys by chance, in no order. O(count) expected with an index."""
    if count >= len(keys):
        return list(keys)
    if order is not None:
        return order.sample(rng, count)
    return rng.sample(list(keys), count)
