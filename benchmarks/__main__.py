"""`python -m benchmarks`: every figure of the README, each beside redis-server's in the same run.

The servers take turns, so that a machine whose speed drifts does not favour one of them; a ratio is
that of one turn, and what is printed is the median of the turns.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable

from benchmarks import direct, fixtures, measures, powers, snapshots
from benchmarks.servers import ServerProcess, real, redouble

Measure = Callable[[ServerProcess], dict[str, float]]


def turns(count: int, measure: Measure) -> dict[str, tuple[float, float, float]]:
    """Ours, the real server's and the ratio, each the median of `count` turns."""
    ratios: dict[str, list[tuple[float, float]]] = {}
    with redouble() as ours, real() as theirs:
        for _ in range(count):
            mine = measure(ours)
            other = measure(theirs)
            for name, rate in mine.items():
                ratios.setdefault(name, []).append((rate, other[name]))
    return {name: measures.medians(pairs) for name, pairs in ratios.items()}


def show(title: str, rows: dict[str, tuple[float, float, float]], unit: str) -> None:
    """Print a table with the median of its ratios."""
    print(f"\n{title}\n  {'':<26}{'redouble':>12}{'redis-server':>14}{'ratio':>8}   ({unit})")
    for name, (ours, theirs, ratio) in rows.items():
        print(f"  {name:<26}{ours:>12,.0f}{theirs:>14,.0f}{ratio:>8.2f}")
    if len(rows) > 3:
        ratios = [row[2] for row in rows.values()]
        print(
            f"  {'median of the ratios':<26}{statistics.median(ratios):>34.2f}   (lowest {min(ratios):.2f})", flush=True
        )


def commands(pipeline: int, requests: int, rounds: int) -> None:
    """redis-benchmark, one test at a time."""
    rows = {}
    for test in measures.TESTS:

        def measure(server: ServerProcess, test: str = test) -> dict[str, float]:
            # A list to take from, a range to read: the tests that need one get it first.
            tests = {"rpop": ["lpush", "rpop"], "zpopmin": ["zadd", "zpopmin"]}.get(test, [test])
            return {test: measures.redis_benchmark(server.port, tests, requests, pipeline)[test]}

        rows.update(turns(rounds, measure))
    show(f"redis-benchmark, 50 connections, pipeline of {pipeline}", rows, "requests/s")


def scripts(rounds: int) -> None:
    """EVALSHA."""
    three = "redis.call('SET', KEYS[1], 1) redis.call('INCR', KEYS[1]) return redis.call('GET', KEYS[1])"

    def measure(server: ServerProcess) -> dict[str, float]:
        return {
            "addPrioritizedJob-9.lua": measures.add_prioritized_job(server.port, 5000),
            "return 1": measures.script_calls(server.port, "return 1", 20000),
            "three calls": measures.script_calls(server.port, three, 20000),
        }

    show("EVALSHA, pipeline of 50", turns(rounds, measure), "runs/s")


def sorted_sets(rounds: int, largest: int) -> None:
    """ZADD at several sizes."""
    sizes = [size for size in (1000, 100_000, 1_000_000) if size <= largest]

    def measure(server: ServerProcess) -> dict[str, float]:
        return {f"ZADD into {size:,}": measures.zadd_at_size(server.port, size) * 1000 for size in sizes}

    show("Sorted sets: one ZADD, pipeline of 100", turns(rounds, measure), "ns each; a lower ratio is better")


def starting(rounds: int) -> None:
    """Start-up and a crowd of connections."""
    for name, start in (("redouble", redouble), ("redis-server", real)):
        started, crowd = [], []
        for _ in range(rounds):
            with start() as server:
                started.append(server.started_ms)
                crowd.append(measures.connect_many(server.port))
        print(f"  {name:<14} answers after {statistics.median(started):>6.0f} ms, "
              f"200 connections at once in {statistics.median(crowd):>6.0f} ms", flush=True)  # fmt: skip


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="benchmarks", description="Redouble beside redis-server.")
    parser.add_argument(
        "parts",
        nargs="*",
        help="p1, p16, scripts, zset, start (all of these by default), direct, snapshots, powers, fixtures",
    )
    parser.add_argument("--rounds", type=int, default=3, help="turns of each server")
    parser.add_argument("--requests", type=int, default=100_000, help="requests of a redis-benchmark test")
    parser.add_argument("--largest", type=int, default=1_000_000, help="the largest sorted set")
    options = parser.parse_args()
    parts = options.parts or ["start", "p1", "p16", "scripts", "zset"]
    if "start" in parts:
        print("\nStarting")
        starting(options.rounds)
    if "p1" in parts:
        commands(1, options.requests // 2, options.rounds)
    if "p16" in parts:
        commands(16, options.requests * 2, options.rounds)
    if "scripts" in parts:
        scripts(options.rounds)
    if "zset" in parts:
        sorted_sets(1, options.largest)
    if "direct" in parts:
        direct.main(options.rounds)
    if "snapshots" in parts:
        snapshots.main(options.rounds)
    if "powers" in parts:
        powers.main(options.rounds, options.requests)
    if "fixtures" in parts:
        fixtures.main(options.rounds)


if __name__ == "__main__":
    main()
