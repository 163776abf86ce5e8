"""One of the two servers of a duel, with its two connections and its keyspace events."""

from __future__ import annotations

import time
from typing import Any

from redouble.engine.command import parse_version
from tests.fuzz.grammar import Argv
from tests.kit import Redis, Target
from tests.wire import Failure, Status

Events = list[tuple[bytes, bytes]]
#: What came on a connection (the first: False) that was not asked for: reply and bytes.
Heard = list[tuple[bool, Any, bytes]]

#: Encodings change at these sizes: the usual ones, and such as a short script reaches.
LIMITS: list[dict[str, int]] = [
    {
        "hash-max-listpack-entries": 512, "hash-max-listpack-value": 64, "set-max-intset-entries": 512,
        "zset-max-listpack-entries": 128, "zset-max-listpack-value": 64, "list-max-listpack-size": -2,
        "stream-node-max-entries": 100, "set-max-listpack-entries": 128, "set-max-listpack-value": 64,
    },
    {
        "hash-max-listpack-entries": 3, "hash-max-listpack-value": 8, "set-max-intset-entries": 3,
        "zset-max-listpack-entries": 3, "zset-max-listpack-value": 8, "list-max-listpack-size": 3,
        "stream-node-max-entries": 3, "set-max-listpack-entries": 3, "set-max-listpack-value": 8,
    },
]  # fmt: skip

#: No reply may grow too large, DUMP shows its bytes plainly, and how fast a command was is nobody's affair.
SETTINGS = {"proto-max-bulk-len": 1 << 20, "rdbcompression": "no", "slowlog-log-slower-than": -1}

#: What a script may set, as it is at first.
CHANGEABLE = {
    "maxmemory-samples": 5, "hz": 500, "slowlog-max-len": 128, "list-compress-depth": 0, "activerehashing": "yes",
    "maxmemory-policy": "noeviction", "busy-reply-threshold": 5000, "tcp-keepalive": 300, "lfu-decay-time": 1,
    "stream-node-max-bytes": 4096, "lfu-log-factor": 10, "lazyfree-lazy-expire": "no", "hll-sparse-max-bytes": 3000,
    "latency-tracking-info-percentiles": "50 99 99.9", "oom-score-adj-values": "0 200 800", "active-expire-effort": 1,
    "client-output-buffer-limit": "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60",
    "repl-backlog-size": 1048576,
}  # fmt: skip

#: Commands whose own reply is a push in RESP3.
SUBSCRIBING = (b"subscribe", b"psubscribe", b"ssubscribe", b"unsubscribe", b"punsubscribe", b"sunsubscribe")

#: Users that a family makes.
_USERS = ("alice", "bob")
#: How long ``@wait`` lets time pass: longer than the times to live and time-outs that go with it.
WAIT = 0.012


class Side:
    """One server, with its connections."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.control = Redis(target, 2)
        self._watcher = Redis(target, 2)
        self.control.patience = 60.0  # who gave up would take the late reply for the next one's
        # Before 7.2 some commands looked a key up before they read their arguments, so misses differ.
        events = "EAmn" if parse_version(target.version) >= 70200 else "EAn"
        self.control("CONFIG", "SET", "hz", 500)  # time-outs and expiry are noticed soon
        for name, value in {**SETTINGS, "notify-keyspace-events": events}.items():
            assert self.control("CONFIG", "SET", name, value) == Status("OK")
        self.control("SLOWLOG", "RESET")
        self._watcher("PSUBSCRIBE", "__key*")
        self._limits = -1
        self._configured = False
        self._early: Heard = []
        self._clients: list[Redis] = []

    def start(self, resp: int, limits: int) -> None:
        """Empty the server, open fresh connections."""
        for client in self._clients:
            client.close()
        self._clients = [Redis(self.target, resp), Redis(self.target, resp)]
        if limits != self._limits:
            for name, value in LIMITS[limits].items():
                if self.control("CONFIG", "GET", name):
                    assert self.control("CONFIG", "SET", name, value) == Status("OK"), name
            self._limits = limits
        if self._configured:
            assert self.control("CONFIG", "SET", *sum(CHANGEABLE.items(), ())) == Status("OK")
            self._configured = False
        self._early.clear()
        self.control("SELECT", 0)
        self.control("SCRIPT", "FLUSH")
        self.control("FLUSHALL")
        self.control("FUNCTION", "FLUSH")
        self.control("ACL", "DELUSER", *_USERS)
        self.events()

    def ask(self, argv: Argv, patience: float = 5.0) -> tuple[Any, bytes]:
        """A command's reply, read and raw; no bytes if none comes, or none is to be waited for."""
        client = self._clients[0]
        if argv[0] == b"@2":
            client, argv = self._clients[1], argv[1:]
        self._configured = self._configured or argv[0].lower() == b"config"
        client.send(*argv)
        if not patience:
            return Failure("(no reply)"), b""
        try:
            reply, data = client.receive_both(patience)
            # Before 7.2 messages of RESP3 that a client's own command has caused came before its reply.
            while data[:1] == b">" and argv[0].lower() not in SUBSCRIBING:
                self._early.append((client is self._clients[1], reply, data))
                reply, data = client.receive_both(patience)
            if [word.lower() for word in argv[:2]] == [b"client", b"pause"]:
                time.sleep(WAIT)  # nobody is answered before the pause is over, the harness neither
            return reply, data
        except (TimeoutError, EOFError) as error:
            return Failure(f"({type(error).__name__}: no reply)"), b""

    def heard(self) -> Heard:
        """All that has come on both connections: messages, and the replies to clients that were blocked."""
        self.control("PING")  # behind it the server has nothing left to write
        found, self._early = self._early, []
        for second, client in enumerate(self._clients):
            try:
                while True:
                    found.append((bool(second), *client.receive_both(1e-6)))
            except (TimeoutError, EOFError):
                pass
        return sorted(found, key=lambda item: item[0])

    def events(self) -> Events:
        """The keyspace events since the last call: what happened, and to which key."""
        self.control("PUBLISH", "__key-end", "")
        events = []
        while (message := self._watcher.receive(60.0))[2] != b"__key-end":
            events.append((message[2].partition(b"@")[2], message[3]))
        return events
