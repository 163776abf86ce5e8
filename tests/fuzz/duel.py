"""Runs a script on Redouble and on a real server and compares all that can be seen.

A script is a list of commands; one that begins with ``@2`` goes through a second connection, and ``@wait``
lets some milliseconds pass. A connection that blocks is sent nothing more until it has its reply. After the
script every key is read on both sides (type, encoding, time to live, contents, DUMP), and the
keyspace events of the whole run are compared.
"""

from __future__ import annotations

import time
from typing import Any

from redouble.commands import FAMILIES
from redouble.engine.command import parse_version
from redouble.engine.engine import Engine
from redouble.protocol.quote import quoted
from tests.fuzz.forked import MISSES_THERE, Parted, told_alike
from tests.fuzz.grammar import Argv
from tests.fuzz.relaxed import agree
from tests.fuzz.rules import same, valkey
from tests.fuzz.server_rules import messages, served_elsewhere
from tests.fuzz.side import SUBSCRIBING, WAIT, Events, Side
from tests.kit import EngineTarget, RealTarget
from tests.wire import Failure, Status

Script = list[Argv]

#: What is read of a key that is left.
READS = {
    b"string": "GET KEY",
    b"list": "LRANGE KEY 0 -1",
    b"hash": "HGETALL KEY",
    b"set": "SMEMBERS KEY",
    b"zset": "ZRANGE KEY 0 -1 WITHSCORES",
    b"stream": "XINFO STREAM KEY FULL COUNT 0",
}


#: Valkey takes a key of HSETEX that is spelled as an option for the option when it tells of the event.
_OPTIONS = (b"FNX", b"FXX", b"FIELDS", b"fnx", b"fxx", b"fields")

#: Commands after which more may come than was asked for.
TALKATIVE = {*SUBSCRIBING, b"client", b"hello"}


class Difference(AssertionError):
    """The servers disagree."""


class Duel:
    """Redouble as a version, and the real server of that version."""

    def __init__(self, program: str, version: str | None = None) -> None:
        real = RealTarget(program)
        self.them = Side(real)
        double = EngineTarget(version or real.version)
        double.engine = Engine(FAMILIES, double.version)  # REDOUBLE would show in lists of commands
        self.us = Side(double)
        self._real = real
        self._early = parse_version(real.version) < 70200
        #: What each connection (the first: False) has in its transaction.
        self._queues: dict[bool, list[Argv]] = {}
        #: The connections that wait for a reply.
        self._blocked: set[bool] = set()
        self._ours_seen: Events = []
        self._theirs_seen: Events = []
        #: Whether both have looked for the same keys, so far.
        self._misses: bool = True

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
        self._blocked.clear()
        self._ours_seen, self._theirs_seen, self._misses = [], [], True
        talks = any(_word(argv) in TALKATIVE for argv in script)
        for at, argv in enumerate(script):
            if argv[0] == b"@wait":
                time.sleep(WAIT)
            elif (argv[0] == b"@2") in self._blocked:
                continue
            else:
                self._step(script[: at + 1], resp, limits)
                talks = talks or bool(self._blocked)
            if talks and script[at + 1 : at + 2] != [[b"@wait"]]:
                self._listen(script[: at + 1], resp, limits)
        self._ours_seen += self.us.events()
        self._theirs_seen += self.them.events()
        if not self._alike(self._ours_seen, self._theirs_seen, self._misses):
            ours, theirs = _lines(self._ours_seen), _lines(self._theirs_seen)
            raise Difference(_report(script, ours, theirs, resp, limits, "events of the script"))
        self._compare_keys(script, resp, limits)

    def _step(self, script: Script, resp: int, limits: int) -> None:
        """Send the script's last command to both."""
        argv = script[-1]
        ours, our_bytes = self.us.ask(argv)
        # Where we block there is nothing to wait for: what comes all the same is heard by `_listen`.
        theirs, their_bytes = self.them.ask(argv, 5.0 if our_bytes else 0.0)
        if not our_bytes and not their_bytes:
            self._blocked.add(argv[0] == b"@2")
        elif our_bytes != their_bytes:
            if self._early and _word(argv) == b"exec" and b"\r\n>" in their_bytes:
                raise Parted  # messages to oneself come in the midst of EXEC's reply, and nobody can read it
            if not self._agree(argv, ours, theirs):
                raise Difference(_report(script, our_bytes, their_bytes, resp, limits))
            # One that refused has perhaps not looked for the key.
            self._misses = self._misses and not isinstance(ours, Failure) and not isinstance(theirs, Failure)
        self._misses = self._misses and argv[0].lower() not in MISSES_THERE
        self._follow(argv, theirs)
        if _word(argv) == b"sort":
            self._look_at_sorted(argv[1:] if argv[0] == b"@2" else argv)
        if argv[0].lower() == b"spop" and our_bytes != their_bytes:
            self._ours_seen += self.us.events()
            self._theirs_seen += self.them.events()
            self._repair(argv[1], ours, theirs)

    def _listen(self, script: Script, resp: int, limits: int) -> None:
        """What has come unasked must be the same; who was blocked has perhaps been answered."""
        ours, theirs = self.us.heard(), self.them.heard()
        if self._early and any(b"WRONGTYPE" in item[2] for item in ours):
            # Woken clients run their whole command again here (see `commands/list_blocking.py`), as servers do since
            # 7.2; before that they only took from the key that woke them.
            raise Parted
        if self._early and served_elsewhere(ours, theirs):
            raise Parted
        # When a key is found to be expired is chance. Valkey says so also where Redis says that it was deleted.
        ends = (b":expired", b":del") if valkey(self.them.control) else (b":expired",)
        told = [messages([[item[0], item[1]] for item in heard], ends) for heard in (ours, theirs)]
        if ours != theirs and not same(*told):
            seen, real = (b" ".join(item[2] for item in heard) for heard in (ours, theirs))
            raise Difference(_report(script, seen, real, resp, limits, "what came unasked"))
        self._blocked.difference_update(item[0] for item in ours)

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
        Redis says ``del`` or sets the key first, and nothing of one that SET has made so: there the events of such
        keys don't count.
        """
        past: set[bytes] = set()
        if valkey(self.them.control):
            past.update(key for event, key in (*ours, *theirs) if event.endswith(b":expired"))
            past.update(_OPTIONS)
            past.update(key for event, key in ours if event.endswith(b":expire") and (event, key) not in theirs)
            ours, theirs = told_alike(ours), told_alike(theirs)

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

    def _look_at_sorted(self, argv: Argv) -> None:
        """What SORT has stored of a set has an order by chance where it was sorted by what some don't have. (Of one
        that it has replaced nobody knows any more whether it was a set.)"""
        words = [arg.upper() for arg in argv]
        if b"STORE" in words[2:-1] and b"BY" in words:
            target = argv[words.index(b"STORE", 2) + 1]
            if target != argv[1] and self.them.control("TYPE", argv[1]) not in (Status("set"), Status("zset")):
                return
            ours, theirs = (side.control("LRANGE", target, 0, -1) for side in (self.us, self.them))
            if ours != theirs and (b"LIMIT" in words or sorted(ours) == sorted(theirs)):
                raise Parted

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
                if bytes(kind) == b"none":
                    continue  # its time has come since it was listed
                for read in ("OBJECT ENCODING KEY", "PTTL KEY", READS[bytes(kind)], "DUMP KEY"):
                    argv = [key if word == "KEY" else word.encode() for word in read.split()]
                    self._same(script, argv, resp, limits)
                if kind == b"hash" and parse_version(self.us.target.version) >= 70400:
                    fields = sorted(self.us.control("HKEYS", key))
                    self._same(script, [b"HPEXPIRETIME", key, b"FIELDS", b"%d" % len(fields), *fields], resp, limits)

    def _same(self, script: Script, argv: Argv, resp: int, limits: int) -> Any:
        """A reply of the control connections, which must agree.

        They are asked once more if they don't: between one and the other a deadline may have passed.
        """
        us, them = self.us.control, self.them.control
        ours, theirs = us(*argv), them(*argv)
        if not agree(argv, ours, theirs, us, them):
            time.sleep(WAIT)
            ours, theirs = us(*argv), them(*argv)
        if not agree(argv, ours, theirs, us, them):
            raise Difference(_report([*script, argv], repr(ours).encode(), repr(theirs).encode(), resp, limits))
        return theirs


def _word(argv: Argv) -> bytes:
    """The command's name."""
    return argv[1 if argv[0] == b"@2" and len(argv) > 1 else 0].lower()


def _lines(events: Events) -> bytes:
    return b" ".join(b"%b:%b" % event for event in events)


def _report(script: Script, ours: bytes, theirs: bytes, resp: int, limits: int, what: str = "the last reply") -> str:
    """The script as redis-cli takes it, and both replies."""
    lines = [b" ".join(arg if arg.isalnum() else quoted(arg) for arg in argv).decode() for argv in script]
    settings = ", small limits" if limits else ""
    return "\n".join([f"RESP{resp}{settings}; {what} differs", *lines, f"redouble: {ours!r}", f"real:     {theirs!r}"])
