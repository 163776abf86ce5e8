"""BullMQ's own Lua, untouched, from the PyPI package `bullmq`, and how its clients call it."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import Any

import msgpack

from tests.kit import Redis

ADD_PRIORITIZED_JOB = (files("bullmq") / "commands" / "addPrioritizedJob-9.lua").read_bytes()
SHA = hashlib.sha1(ADD_PRIORITIZED_JOB).hexdigest()
KEYS = ("marker", "meta", "id", "prioritized", "delayed", "completed", "active", "events", "pc")


class PriorityQueue:
    """A queue as BullMQ keeps it; `prefix` ends with a colon."""

    def __init__(self, redis: Redis, prefix: str = "bull:q:") -> None:
        self.redis = redis
        self.prefix = prefix
        self.keys = [prefix + key for key in KEYS]
        assert redis("SCRIPT", "LOAD", ADD_PRIORITIZED_JOB) == SHA.encode()

    def key(self, name: str) -> str:
        """A key of this queue."""
        return self.prefix + name

    def add(self, priority: int, job_id: str = "", timestamp: int = 1700000000000) -> Any:
        """Add a job by EVALSHA of the real script; the job's id, or an error."""
        arguments = [self.prefix, job_id, "job", timestamp, None, None, None, None, None]
        options = msgpack.packb({"priority": priority})
        return self.redis(
            "EVALSHA", SHA, len(self.keys), *self.keys, msgpack.packb(arguments), '{"hello":"world"}', options
        )

    def scores(self) -> list[tuple[bytes, int]]:
        """Ids and scores in the order of leaving."""
        return [
            (job, int(score)) for job, score in self.redis.pairs("ZRANGE", self.key("prioritized"), 0, -1, "WITHSCORES")
        ]

    def pop(self) -> bytes:
        """Take the next job, as a worker does."""
        job, _ = self.redis("ZPOPMIN", self.key("prioritized"))
        assert isinstance(job, bytes)
        return job
