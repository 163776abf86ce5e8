"""The PyPI package `bullmq`, untouched."""

from __future__ import annotations

import asyncio
from typing import Any

from bullmq import Queue, Worker

from tests.clients.conftest import ServerProcess


async def _work(name: str, url: str, count: int) -> list[Any]:
    """Process `count` jobs one at a time; their names in order."""
    seen: list[Any] = []
    done = asyncio.Event()

    async def process(job: Any, token: str) -> str:
        seen.append(job.name)
        return "done"

    def completed(job: Any, result: str) -> None:
        if len(seen) == count:
            done.set()

    worker = Worker(name, process, {"connection": url, "concurrency": 1})
    worker.on("completed", completed)
    await asyncio.wait_for(done.wait(), 20)
    await worker.close()
    return seen


async def _prioritized(url: str) -> tuple[list[Any], dict[str, int]]:
    queue = Queue("q", {"connection": url})
    for name, priority in (("z1", 1), ("c", 3), ("y1", 1), ("b", 2), ("a1", 1)):
        await queue.add(name, {"n": priority}, {"priority": priority})
    counts = await queue.getJobCounts("prioritized")
    order = await _work("q", url, 5)
    await queue.close()
    return order, counts


def test_prioritized_jobs_leave_by_tier_and_within_a_tier_in_order_of_arrival(server: ServerProcess) -> None:
    order, counts = asyncio.run(_prioritized(server.url))
    assert counts == {"prioritized": 5}
    assert order == ["z1", "y1", "a1", "b", "c"]


async def _finished(url: str) -> tuple[str, int]:
    queue = Queue("q", {"connection": url})
    job = await queue.add("job", {"n": 1})
    await _work("q", url, 1)
    state = await queue.getJobState(job.id)
    counts = await queue.getJobCounts("completed")
    await queue.close()
    return state, counts["completed"]


def test_a_processed_job_is_completed(server: ServerProcess) -> None:
    assert asyncio.run(_finished(server.url)) == ("completed", 1)
