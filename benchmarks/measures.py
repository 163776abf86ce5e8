"""What is measured. Each measure drives one server and gives operations per second."""

from __future__ import annotations

import csv
import io
import socket
import statistics
import subprocess
import time
from importlib.resources import files

import hiredis
import msgpack

TESTS = ("set", "get", "incr", "lpush", "rpop", "sadd", "hset", "zadd", "zpopmin", "mset", "lrange_600")


def redis_benchmark(port: int, tests: list[str], requests: int, pipeline: int) -> dict[str, float]:
    """redis-benchmark's own rates, 50 connections."""
    run = subprocess.run(
        [
            "redis-benchmark", "-p", str(port), "-t", ",".join(tests), "-n", str(requests), "-c", "50",
            "-P", str(pipeline), "-r", "100000", "--csv",
        ],
        capture_output=True,
        text=True,
        check=True,
    )  # fmt: skip
    rows = list(csv.reader(io.StringIO(run.stdout)))[1:]
    return {_short(row[0]): float(row[1]) for row in rows if row}


def _short(title: str) -> str:
    """`LPUSH (needed to benchmark LRANGE)` is what the others need, `LRANGE_600 (first 600 elements)` a test."""
    return "setup" if "needed" in title else title.split()[0].lower()


def medians(pairs: list[tuple[float, float]]) -> tuple[float, float, float]:
    """Of the first ones, of the second ones, and of their ratios. O(n log n)."""
    first = statistics.median(a for a, _ in pairs)
    second = statistics.median(b for _, b in pairs)
    return first, second, statistics.median(a / b for a, b in pairs)


class Wire:
    """A pipelining connection."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = hiredis.Reader()

    def all(self, commands: list[tuple[object, ...]]) -> list[object]:
        """Send commands at once, read every reply."""
        self.send_packed(b"".join(hiredis.pack_command(command) for command in commands))
        return self.read(len(commands))

    def send_packed(self, data: bytes) -> None:
        self.socket.sendall(data)

    def read(self, count: int) -> list[object]:
        replies: list[object] = []
        while len(replies) < count:
            reply = self.reader.gets()
            if reply is False:
                self.reader.feed(self.socket.recv(1 << 18))
            elif isinstance(reply, hiredis.ReplyError):
                raise reply
            else:
                replies.append(reply)
        return replies


def add_prioritized_job(port: int, jobs: int, pipeline: int = 50) -> float:
    """Pipelined EVALSHA of BullMQ's untouched addPrioritizedJob-9.lua; jobs per second."""
    wire = Wire(port)
    script = (files("bullmq") / "commands" / "addPrioritizedJob-9.lua").read_bytes()
    wire.all([("FLUSHALL",)])
    sha = wire.all([("SCRIPT", "LOAD", script)])[0]
    prefix = "bull:q:"
    keys = [prefix + key for key in
            ("marker", "meta", "id", "prioritized", "delayed", "completed", "active", "events", "pc")]  # fmt: skip
    arguments = msgpack.packb([prefix, "", "job", 1700000000000, None, None, None, None, None])
    data = '{"payload":"' + "x" * 100 + '"}'
    batches = []
    for start in range(0, jobs, pipeline):
        batch = [
            hiredis.pack_command(
                ("EVALSHA", sha, "9", *keys, arguments, data, msgpack.packb({"priority": 1 + number % 10}))
            )
            for number in range(start, start + pipeline)
        ]
        batches.append(b"".join(batch))
    began = time.perf_counter()
    for batch in batches:
        wire.send_packed(batch)
        wire.read(pipeline)
    return jobs / (time.perf_counter() - began)


def script_calls(port: int, script: str, runs: int, pipeline: int = 50) -> float:
    """Pipelined EVALSHA of a small script; runs per second."""
    wire = Wire(port)
    sha = wire.all([("SCRIPT", "LOAD", script)])[0]
    batch = hiredis.pack_command(("EVALSHA", sha, "1", "key")) * pipeline
    began = time.perf_counter()
    for _ in range(runs // pipeline):
        wire.send_packed(batch)
        wire.read(pipeline)
    return runs / (time.perf_counter() - began)


def zadd_at_size(port: int, members: int, adds: int = 20000) -> float:
    """ZADD of new members into a sorted set of a size, pipelined; microseconds each."""
    wire = Wire(port)
    wire.all([("FLUSHALL",)])
    for start in range(0, members, 1000):
        pairs: list[object] = []
        for number in range(start, min(start + 1000, members)):
            pairs += [(number * 7919) % 1000003, f"m{number}"]
        wire.all([("ZADD", "z", *pairs)])
    batches = []
    for start in range(0, adds, 100):
        batches.append(
            b"".join(
                hiredis.pack_command(("ZADD", "z", str((number * 104729) % 1000003), f"n{number}"))
                for number in range(start, start + 100)
            )
        )
    began = time.perf_counter()
    for batch in batches:
        wire.send_packed(batch)
        wire.read(100)
    return (time.perf_counter() - began) / adds * 1e6


def connect_many(port: int, count: int = 200) -> float:
    """Open connections all at once and PING on each; milliseconds until all have answered."""
    began = time.perf_counter()
    sockets = []
    for _ in range(count):
        sock = socket.socket()
        sock.setblocking(False)
        sock.connect_ex(("127.0.0.1", port))
        sockets.append(sock)
    for sock in sockets:
        sock.settimeout(10)
        sock.sendall(b"PING\r\n")
    for sock in sockets:
        assert sock.recv(16) == b"+PONG\r\n"
        sock.close()
    return (time.perf_counter() - began) * 1000
