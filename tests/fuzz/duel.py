"""Runs a script on Redouble and on a real server and compares all that can be seen.

A script is a list of commands; one that begins with ``@2`` goes through a second connection. After the
script every key is read on both sides (type, encoding, time to live, contents, DUMP), and the
keyspace events of the whole run are compared.
"""

from __future__ import annotations

from typing import Any

from redouble.engine.command import parse_version
from redouble.protocol.quote import quoted
from tests.fuzz.forked import MISSES_THERE, Parted, told_alike
from tests.fuzz.grammar import Argv
from tests.fuzz.relaxed import agree, valkey
from tests.kit import EngineTarget, RealTarget, Redis, Target
from tests.wire import Failure, Status

Script = list[Argv]
Events = list[tuple[bytes, bytes]]

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

#: No reply may grow too large, and DUMP shows its bytes plainly.
SETTINGS = {"proto-max-bulk-len": 1 << 20, "rdbcompression": "no"}

#: What is read of a key that is left.
READS = {
    b"string": "GET KEY",
    b"list": "LRANGE KEY 0 -1",
    b"hash": "HGETALL KEY",
    b"set": "SMEMBERS KEY",
    b"zset": "ZRANGE KEY 0 -1 WITHSCORES",
    b"stream": "XINFO STREAM KEY FULL COUNT 0",
}


class Difference(AssertionError):
    """The servers disagree."""


class Side:
    """One server, with its connections."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.control = Redis(target, 2)
        self._watcher = Redis(target, 2)
        # Before 7.2 some commands looked a key up before they read their arguments, so misses differ.
        events = "EAmn" if parse_version(target.version) >= 70200 else "EAn"
        for name, value in {**SETTINGS, "notify-keyspace-events": events}.items():
            assert self.control("CONFIG", "SET", name, value) == Status("OK")
        self._watcher("PSUBSCRIBE", "__key*")
        self._limits = -1
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
        self.control("SELECT", 0)
        self.control("SCRIPT", "FLUSH")
        self.control("FLUSHALL")
        self.events()

    def ask(self, argv: Argv, patience: float = 5.0) -> tuple[Any, bytes]:
        """A command's reply, read and raw; no bytes if the client blocks."""
        client = self._clients[0]
        if argv[0] == b"@2":
            client, argv = self._clients[1], argv[1:]
        client.send(*argv)
        try:
            return client.receive_both(patience)
        except (TimeoutError, EOFError) as error:
            return Failure(f"({type(error).__name__}: no reply)"), b""

    def events(self) -> Events:
        """The keyspace events since the last call: what happened, and to which key."""
        self.control("PUBLISH", "__key-end", "")
        events = []
        while (message := self._watcher.receive())[2] != b"__key-end":
            events.append((message[2].partition(b"@")[2], message[3]))
        return events


class Duel:
    """Redouble as a version, and the real server of that version."""

    def __init__(self, program: str, version: str | None = None) -> None:
        real = RealTarget(program)
        self.them = Side(real)
        self.us = Side(EngineTarget(version or real.version))
        self._real = real
        #: What each connection (the first: False) has in its transaction.
        self._queues: dict[bool, list[Argv]] = {}

    def stop(self) -> None:
        """End the real server."""
        self._real.stop()

    def run(self, script: Script, resp: int = 2, limits: int = 0) -> None:
        """Run a script. Raises `Difference` if the servers disagree three times in a row (a busy machine
        may make the clocks differ once)."""
        for chance in range(3):
            try:
                self._run(script, resp, limits)
                return
            except Parted:
                return
            except Difference:
                if chance == 2:
                    raise

    def _run(self, script: Script, resp: int, limits: int) -> None:
        for side in (self.us, self.them):
            side.start(resp, limits)
        self._queues.clear()
        ours_seen: Events = []
        theirs_seen: Events = []
        misses = True
        for at, argv in enumerate(script):
            ours, our_bytes = self.us.ask(argv)
            theirs, their_bytes = self.them.ask(argv, 5.0 if our_bytes else 0.1)
            if not our_bytes and not their_bytes:
                break
            if our_bytes != their_bytes:
                if not self._agree(argv, ours, theirs):
                    raise Difference(_report(script[: at + 1], our_bytes, their_bytes, resp, limits))
                # One that refused has perhaps not looked for the key.
                misses = misses and not isinstance(ours, Failure) and not isinstance(theirs, Failure)
            misses = misses and argv[0].lower() not in MISSES_THERE
            self._follow(argv, theirs)
            if argv[0].lower() == b"spop" and our_bytes != their_bytes:
                ours_seen += self.us.events()
                theirs_seen += self.them.events()
                self._repair(argv[1], ours, theirs)
        ours_seen += self.us.events()
        theirs_seen += self.them.events()
        if not self._alike(ours_seen, theirs_seen, misses):
            text = _report(script, _lines(ours_seen), _lines(theirs_seen), resp, limits, "events of the script")
            raise Difference(text)
        self._compare_keys(script, resp, limits)

    def _agree(self, argv: Argv, ours: Any, theirs: Any) -> bool:
        second = argv[0] == b"@2"
        argv = argv[1:] if second else argv
        queue = self._queues.get(second)
        if queue is not None and argv[0].lower() == b"exec" and isinstance(ours, list) and isinstance(theirs, list):
            return len(ours) == len(theirs) == len(queue) and all(
                agree(queued, our, their, self.us.control, self.them.control)
                for queued, our, their in zip(queue, ours, theirs, strict=True)
            )
        return agree(argv, ours, theirs, self.us.control, self.them.control)

    def _alike(self, ours: Events, theirs: Events, misses: bool) -> bool:
        """The same events.

        When an expired key is noticed is chance, so ``expired`` does not count, nor the order in which SORT looks at
        the elements of a set. Valkey says ``expired`` also of keys that are given a deadline in the past, where
        Redis says ``del`` or sets the key first: there the events of such keys don't count.
        """
        past: set[bytes] = set()
        if valkey(self.them.control):
            past.update(key for event, key in (*ours, *theirs) if event.endswith(b":expired"))
            theirs = told_alike(theirs)

        def kept(events: Events, missed: bool) -> Events:
            return [
                (event, key)
                for event, key in events
                if key not in past and not event.endswith(b":expired") and event.endswith(b":keymiss") == missed
            ]

        if misses and sorted(kept(ours, True)) != sorted(kept(theirs, True)):
            return False
        return kept(ours, False) == kept(theirs, False)

    def _follow(self, argv: Argv, reply: Any) -> None:
        """Remember what a transaction holds."""
        second = argv[0] == b"@2"
        argv = argv[1:] if second else argv
        if reply == Status("QUEUED"):
            self._queues[second].append(argv)
        elif argv[0].lower() == b"multi" and reply == Status("OK"):
            self._queues[second] = []
        elif argv[0].lower() in (b"exec", b"discard") and len(argv) == 1:
            self._queues.pop(second, None)

    def _repair(self, key: bytes, ours: Any, theirs: Any) -> None:
        """Both popped at random: let our set hold what theirs holds."""
        self.us.control("SADD", key, *(ours if isinstance(ours, list) else [ours]))
        self.us.control("SREM", key, *(theirs if isinstance(theirs, list) else [theirs]))
        self.us.events()

    def _compare_keys(self, script: Script, resp: int, limits: int) -> None:
        for database in (b"0", b"1"):
            for side in (self.us, self.them):
                side.control("SELECT", database)
            keys = self._same(script, [b"KEYS", b"*"], resp, limits)
            for key in sorted(keys):
                kind = self._same(script, [b"TYPE", key], resp, limits)
                for read in ("OBJECT ENCODING KEY", "PTTL KEY", READS[bytes(kind)], "DUMP KEY"):
                    argv = [key if word == "KEY" else word.encode() for word in read.split()]
                    self._same(script, argv, resp, limits)
                if kind == b"hash" and parse_version(self.us.target.version) >= 70400:
                    fields = sorted(self.us.control("HKEYS", key))
                    self._same(script, [b"HPEXPIRETIME", key, b"FIELDS", b"%d" % len(fields), *fields], resp, limits)

    def _same(self, script: Script, argv: Argv, resp: int, limits: int) -> Any:
        """A reply of the control connections, which must agree."""
        us, them = self.us.control, self.them.control
        ours, theirs = us(*argv), them(*argv)
        if not agree(argv, ours, theirs, us, them):
            raise Difference(_report([*script, argv], repr(ours).encode(), repr(theirs).encode(), resp, limits))
        return theirs


def _lines(events: Events) -> bytes:
    return b" ".join(b"%b:%b" % event for event in events)


def _report(script: Script, ours: bytes, theirs: bytes, resp: int, limits: int, what: str = "the last reply") -> str:
    """The script as redis-cli takes it, and both replies."""
    lines = [b" ".join(arg if arg.isalnum() else quoted(arg) for arg in argv).decode() for argv in script]
    settings = ", small limits" if limits else ""
    return "\n".join([f"RESP{resp}{settings}; {what} differs", *lines, f"redouble: {ours!r}", f"real:     {theirs!r}"])
