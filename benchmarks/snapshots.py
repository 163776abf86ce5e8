"""How long SNAPSHOT RESTORE takes, in process: of an empty state, and of ten thousand keys of five types."""

from __future__ import annotations

import time
from collections.abc import Callable

from redouble import Server

KEYS = 10_000


def _fill(server: Server) -> None:
    """Five types in turn."""
    for number in range(0, KEYS, 5):
        server.execute("SET", f"string:{number}", "value")
        server.execute("HSET", f"hash:{number}", "a", 1, "b", 2, "c", 3)
        server.execute("RPUSH", f"list:{number}", *range(10))
        server.execute("SADD", f"set:{number}", *range(10))
        server.execute("ZADD", f"zset:{number}", 1, "a", 2, "b", 3, "c")


def _touch_all(server: Server) -> None:
    for key in server.dump()[0]:
        server.execute("EXPIRE", key, 1000)


def _milliseconds(server: Server, name: bytes, rounds: int, before: Callable[[Server], object]) -> float:
    """The best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        before(server)
        with server.lock:
            began = time.perf_counter()
            server.engine.snapshots.restore(name)
            best = min(best, time.perf_counter() - began)
    return best * 1000


def main(rounds: int) -> None:
    """Print the table."""
    print(f"\nREDOUBLE SNAPSHOT RESTORE, best of {rounds}   (ms)")
    with Server() as server:
        server.snapshots.save("empty")
        empty = _milliseconds(server, b"empty", rounds, lambda server: server.execute("SET", "key", "value"))
        _fill(server)
        server.snapshots.save("full")
        rows = {
            "an empty state": empty,
            f"{KEYS:,} keys, none changed": _milliseconds(server, b"full", rounds, lambda server: None),
            f"{KEYS:,} keys, all removed": _milliseconds(server, b"full", rounds, lambda s: s.execute("FLUSHALL")),
            f"{KEYS:,} keys, all changed": _milliseconds(server, b"full", rounds, _touch_all),
        }
    for title, best in rows.items():
        print(f"  {title:<28}{best:>10.3f}", flush=True)
