"""What powers that nobody uses cost: a server that has them beside one with `--controls no`, in the same run.

The two take turns, each time in another order, so that a machine whose speed drifts favours neither. What is measured
is the processor time that a server spends on its requests, which others on the machine disturb least.
`tests/engine/powers/test_cost.py` shows the same without a clock: both run the same lines.
"""

from __future__ import annotations

from benchmarks import measures
from benchmarks.servers import ServerProcess, redouble

_PIPELINE = 16
_TESTS = ("get", "set")
#: Turns of each server for one round of the command line: a few percent are at stake.
_TURNS = 4


def _microseconds(server: ServerProcess, test: str, requests: int) -> float:
    """Processor time of one request."""
    began = server.cpu_seconds()
    measures.redis_benchmark(server.port, [test], requests, _PIPELINE)
    return (server.cpu_seconds() - began) / requests * 1e6


def compare(turns: int, requests: int) -> dict[str, tuple[float, float, float]]:
    """With powers, without (microseconds a request) and the ratio, the medians of so many turns."""
    found: dict[str, list[tuple[float, float]]] = {test: [] for test in _TESTS}
    with redouble() as having, redouble("--controls", "no") as lacking:
        for turn in range(turns):
            order = (having, lacking) if turn % 2 else (lacking, having)
            for test in _TESTS:
                spent = {server.port: _microseconds(server, test, requests) for server in order}
                found[test].append((spent[having.port], spent[lacking.port]))
    return {test: measures.medians(pairs) for test, pairs in found.items()}


def main(rounds: int, requests: int) -> None:
    """Print the table."""
    print(f"\nUnused powers, redis-benchmark with a pipeline of {_PIPELINE}, median of {rounds * _TURNS} turns")
    print(f"  {'':<8}{'powers':>10}{'--controls no':>16}{'ratio':>8}   (microseconds of processor time a request)")
    for test, (having, lacking, ratio) in compare(rounds * _TURNS, requests).items():
        print(f"  {test:<8}{having:>10.2f}{lacking:>16.2f}{ratio:>8.3f}", flush=True)
