"""The direct connection of redis-py beside fakeredis, in one run and in turns."""

from __future__ import annotations

import time

import redis


def rates(client: redis.Redis, calls: int) -> dict[str, float]:
    """Calls per second of SET and GET."""
    found: dict[str, float] = {}
    began = time.perf_counter()
    for _ in range(calls):
        client.set("key", "value")
    found["SET"] = calls / (time.perf_counter() - began)
    began = time.perf_counter()
    for _ in range(calls):
        client.get("key")
    found["GET"] = calls / (time.perf_counter() - began)
    return found


def compare(rounds: int, calls: int = 5000) -> dict[str, tuple[float, float]]:
    """The best rates of each command: ours and fakeredis'."""
    import fakeredis

    from redouble import Server

    best: dict[str, tuple[float, float]] = {"SET": (0.0, 0.0), "GET": (0.0, 0.0)}
    with Server() as server:
        ours = redis.Redis(connection_pool=server.connection_pool())
        theirs = fakeredis.FakeRedis()
        for client in (ours, theirs):
            rates(client, calls // 10)
        for _ in range(rounds):
            mine, other = rates(ours, calls), rates(theirs, calls)
            best = {name: (max(mine[name], was[0]), max(other[name], was[1])) for name, was in best.items()}
    return best


def main(rounds: int) -> None:
    """Print the table."""
    print(f"\nredis-py without a socket, best of {rounds}")
    print(f"  {'':<8}{'redouble':>12}{'fakeredis':>12}{'ratio':>8}   (calls/s)")
    for name, (ours, theirs) in compare(rounds).items():
        print(f"  {name:<8}{ours:>12,.0f}{theirs:>12,.0f}{ours / theirs:>8.2f}", flush=True)
