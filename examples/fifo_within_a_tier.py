"""Three jobs of one tier, scored in three ways: which of them keeps the order of arrival?

    python examples/fifo_within_a_tier.py [redis://127.0.0.1:6379]

By priority alone all scores tie, and a sorted set breaks ties by the bytes of the member. A timestamp of
one millisecond ties as soon as two jobs arrive in the same one. The counter of INCR never ties. Without
a URL the example starts a Redouble of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import redis

from redouble import Server

ARRIVALS = ("zeta", "mike", "alpha")
PRIORITY = 1
MILLISECOND = 1_700_000_000_123


def by_priority(client: redis.Redis) -> int:
    """The tier and nothing else."""
    return PRIORITY * 2**32


def by_timestamp(client: redis.Redis) -> int:
    """The tier, then the millisecond of arrival (its low 32 bits)."""
    return PRIORITY * 2**32 + MILLISECOND % 2**32


def by_counter(client: redis.Redis) -> int:
    """The tier, then how many came before: what BullMQ does."""
    return PRIORITY * 2**32 + int(client.incr("pc")) % 2**32


def show(client: redis.Redis, title: str, score: Callable[[redis.Redis], int]) -> bool:
    """Add the jobs, take them all, print a table; whether arrival and leaving agree."""
    client.flushdb()
    scores = {}
    for job in ARRIVALS:
        scores[job] = score(client)
        client.zadd("jobs", {job: scores[job]})
    leaving = [job.decode() for job, _ in client.zpopmin("jobs", len(ARRIVALS))]
    print(f"\nscored by {title}")
    print(f"  {'arrived':<9}{'job':<8}{'score':>12}  {'left'}")
    for place, job in enumerate(ARRIVALS, 1):
        print(f"  {place:<9}{job:<8}{scores[job]:>12}  {leaving.index(job) + 1}")
    fifo = leaving == list(ARRIVALS)
    print(f"  first in, first out: {'yes' if fifo else 'no, ' + ', '.join(leaving)}")
    return fifo


def run(url: str) -> int:
    """Run the three; 0 if only the counter keeps the order."""
    client = redis.Redis.from_url(url)
    kept = [
        show(client, "priority alone", by_priority),
        show(client, "priority and a timestamp of one millisecond", by_timestamp),
        show(client, "priority and the arrival counter", by_counter),
    ]
    return 0 if kept == [False, False, True] else 1


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(run(sys.argv[1]))
    with Server() as server:
        sys.exit(run(server.url))
