"""How long each command takes: counts of durations, fine enough for percentiles, cheap to add to.

Up to 64 us there is a counter for each 256 ns, because that is where nearly every command ends and a
shift finds the counter. Longer ones share 16 counters per doubling. A histogram is a plain list, so
the engine can add one in place; `long_slot` finds the counter for a long duration.
"""

from __future__ import annotations

from typing import Final

SHIFT: Final = 8
#: Durations below this have counters of 256 ns each. Nanoseconds.
SHORT: Final = 1 << 16
_LINEAR: Final = SHORT >> SHIFT
_STEP_BITS: Final = 4
_DOUBLINGS: Final = 16
SLOTS: Final = _LINEAR + (_DOUBLINGS << _STEP_BITS)
_FIRST_BUCKET: Final = 1024


def empty() -> list[int]:
    """A histogram without counts."""
    return [0] * SLOTS


def long_slot(nanoseconds: int) -> int:
    """The counter for a duration of `SHORT` or more; the last one takes all that is longer still."""
    doubling = nanoseconds.bit_length() - SHORT.bit_length()
    if doubling >= _DOUBLINGS:
        return SLOTS - 1
    step = (nanoseconds >> (doubling + 16 - _STEP_BITS)) & ((1 << _STEP_BITS) - 1)
    return _LINEAR + (doubling << _STEP_BITS) + step


def upper_bound(slot: int) -> int:
    """The longest duration that a counter takes. Nanoseconds."""
    if slot < _LINEAR:
        return ((slot + 1) << SHIFT) - 1
    doubling, step = divmod(slot - _LINEAR, 1 << _STEP_BITS)
    return (((1 << _STEP_BITS) + step + 1) << (doubling + 16 - _STEP_BITS)) - 1


def percentile(histogram: list[int], percent: float) -> int:
    """The duration that `percent` of all do not exceed. Nanoseconds. O(slots)."""
    wanted = max(1, int(sum(histogram) * percent / 100 + 0.5))
    for slot, count in enumerate(histogram):
        wanted -= count
        if count and wanted <= 0:
            return upper_bound(slot)
    return 0


def cumulated(histogram: list[int]) -> list[tuple[int, int]]:
    """(microseconds, how many took at most that), in powers of two, as LATENCY HISTOGRAM has it. O(slots)."""
    pairs: list[tuple[int, int]] = []
    bound, seen, total = _FIRST_BUCKET, 0, sum(histogram)
    shown = 0
    for slot, count in enumerate(histogram):
        while upper_bound(slot) >= bound:
            if seen > shown:
                pairs.append((bound // 1000, seen))
                shown = seen
            bound *= 2
        seen += count
    if total > shown:
        pairs.append((bound // 1000, total))
    return pairs
