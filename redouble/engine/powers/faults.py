"""Faults on demand: requests that fail, wait, or lose their connection, and connections that are turned away.

How it works. While there is a rule that may still act, the engine carries the bit FAULTY, which sends every request
through `admission.py`; without one nothing is looked at. After all checks of a real server, when the request
would run or be queued next, `strikes` asks the rules in their order; the first that acts decides. So what is
refused anyway is refused as always, and counts for no rule. REDOUBLE's own commands are never hit.

- ERROR refuses, by the one door for that: within MULTI it breaks the transaction, and EXEC's becomes EXECABORT.
- DELAY and HANG hold the client with its request; later requests wait in its inbox. When the hold ends (its time has
  come, or the rule was removed), the request is put before them and passes the checks again, but no rule.
- DROP closes once the replies before it have been sent.
- DROP AFTER, DELAY AFTER and CUT mark the client; `Engine.aftermath` comes back here when the reply is there, which is
  the last piece of the client's output. A blocking command meets its fault when its wait ends. Pushes are no replies.

A delay is measured by the server's clock: a frozen one holds the request until it is moved. A client that goes
takes its hold with it, timer and all, and a held request then never runs.

Queued commands have been looked at when they were queued, so EXEC runs them untouched. What a script calls is
refused too (`script_error`), by ERROR only: a script can neither wait nor lose its connection in the middle.
A replica's own requests are left alone.

`connect` sets what happens to new connections; the edge asks `at_door`. There is one such setting at a time, and
those who are connected already are not concerned, so whoever has set it can take it back. REFUSE is a connection
closed as soon as it is made: to close the listener instead would tell all clients the same but could not be counted.

From outside (not by REDOUBLE): `Engine.tick` and `Engine.flush` let released clients go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f
from redouble.engine.powers.fault_rules import CUT, DELAY, DROP, ERROR, HANG, MOST_MS, Rule
from redouble.errors import CommandError

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command
    from redouble.engine.engine import Engine

#: What becomes of a new connection.
OPEN: Final = 0
REFUSED: Final = 1
RESET: Final = 2
DELAYED: Final = 3
#: States of a client in which it has a `Hold`.
_FAULTED: Final = f.HELD_BY_FAULT | f.FAULT_DUE | f.PAST_FAULT


@final
class Door:
    """What happens to new connections. Raises `CommandError` for numbers that make no sense."""

    __slots__ = ("verdict", "ms", "times", "hits")

    def __init__(self, verdict: int, ms: int = 0, times: int | None = None) -> None:
        if verdict == DELAYED and not 1 <= ms <= MOST_MS:
            raise CommandError(b"ERR CONNECT DELAY takes 1 to %d milliseconds" % MOST_MS)
        if times is not None and times < 1:
            raise CommandError(b"ERR TIMES must be at least 1; leave it out for every connection until CONNECT OFF")
        self.verdict: int = verdict
        self.ms: int = ms
        self.times: int | None = times
        self.hits: int = 0

    @property
    def left(self) -> int | None:
        """How many connections it will still concern; None for no limit."""
        return None if self.times is None else self.times - self.hits


@final
class Hold:
    """A client that a fault concerns now. `rule` is None for a connection that was delayed at the door."""

    __slots__ = ("faults", "client", "rule", "request", "reply", "timer")

    def __init__(self, faults: Faults, client: Client, rule: Rule | None) -> None:
        self.faults: Faults = faults
        self.client: Client = client
        self.rule: Rule | None = rule
        #: What will run, or be sent, when the hold ends.
        self.request: list[bytes] | None = None
        self.reply: bytes = b""
        self.timer: int = 0

    def end(self) -> None:
        """Its time has come."""
        self.timer = 0
        self.faults.release(self)


@final
class Faults:
    """The faults of one engine."""

    __slots__ = ("engine", "door", "_rules", "_holds")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        #: What happens to new connections; None: nothing.
        self.door: Door | None = None
        #: In their order.
        self._rules: dict[bytes, Rule] = {}
        #: What the bits `_FAULTED` of a client stand for.
        self._holds: dict[Client, Hold] = {}

    # -- rules ------------------------------------------------------------------------------

    def add(self, rule: Rule) -> None:
        """Let a rule act after those there are. Raises `CommandError` where its name is taken. O(commands)."""
        if rule.id in self._rules:
            raise CommandError(b"ERR there is a fault '%b' already: remove it first (REDOUBLE FAULT REMOVE)" % rule.id)
        rule.prepare(self.engine.table, self.engine.random.getrandbits(64))
        self._rules[rule.id] = rule
        self._mark()

    def remove(self, id: bytes) -> bool:
        """End a rule; whoever it holds goes on. False if there is none of this name. O(clients held)."""
        rule = self._rules.pop(id, None)
        if rule is None:
            return False
        self._free(rule)
        self._mark()
        return True

    def clear(self) -> None:
        """End all rules, and what happens to new connections; everybody goes on. O(rules * clients held)."""
        for id in list(self._rules):
            self.remove(id)
        self.connect(None)

    def rules(self) -> list[Rule]:
        """All rules in their order, used up or not, with their counts. O(rules)."""
        return list(self._rules.values())

    def reseed(self) -> None:
        """For whoever has given the engine's chance another seed: each rule's follows from it. O(rules)."""
        for rule in self._rules.values():
            rule.reseed(self.engine.random.getrandbits(64))

    def holding(self, rule: Rule) -> int:
        """How many clients wait because of a rule. O(clients held)."""
        return len([1 for hold in self._holds.values() if hold.rule is rule and hold.client.flags & f.HELD_BY_FAULT])

    def _mark(self) -> None:
        """Whether anybody has to ask us."""
        if any([rule.left != 0 for rule in self._rules.values()]):
            self.engine.flags |= f.FAULTY
        else:
            self.engine.flags &= ~f.FAULTY

    # -- requests ---------------------------------------------------------------------------

    def strikes(self, client: Client, command: Command, argv: list[bytes], nature: int) -> bool:
        """Whether a fault takes the place of a request that would run now. O(rules)."""
        if client.flags & f.PAST_FAULT:
            client.flags &= ~f.PAST_FAULT
            if self._holds.pop(client).request is argv:
                return False
        if client.flags & f.FOLLOWER:
            return False
        for rule in self._rules.values():
            if rule.fits(client, command, argv, nature) and rule.decide():
                self._mark()
                return self._act(rule, client, command, argv)
        return False

    def _act(self, rule: Rule, client: Client, command: Command, argv: list[bytes]) -> bool:
        action = rule.action
        if action.kind == ERROR:
            text = rule.error_for(self.engine, client, command, argv)
            self.engine.refuse(client, command, argv, text)
            if action.preset is not None and action.preset.closes:
                client.close_after_reply()
            return True
        hold = Hold(self, client, rule)
        if action.after:
            client.flags |= f.FAULT_DUE
            self._holds[client] = hold
            return False
        if action.kind == DROP:
            client.close_after_reply()
        else:
            hold.request = argv
            self._hold(hold, 0 if action.kind == HANG else action.ms)
        return True

    def script_error(self, client: Client, command: Command, argv: list[bytes], wrote: bool) -> bytes | None:
        """The error that a fault gives to a command of a script, or None. `wrote`: the script has written. O(rules)."""
        for rule in self._rules.values():
            if rule.reaches_scripts(wrote) and rule.fits(client, command, argv, command.flags) and rule.decide():
                self._mark()
                return rule.error_for(self.engine, client, command, argv)
        return None

    def after(self, client: Client, silent: bool) -> None:
        """A request that was hit has been answered, unless the client wants no replies (`silent`). O(1)."""
        client.flags &= ~f.FAULT_DUE
        hold = self._holds.pop(client)
        rule = hold.rule
        assert rule is not None
        reply = b""
        if client.out and not silent:
            reply = client.out[-1]
            client.out[-1] = reply[: rule.action.size] if rule.action.kind == CUT else b""
        if rule.action.kind == DELAY:
            hold.reply = reply
            self._hold(hold, rule.action.ms)
        else:
            client.close_after_reply()

    # -- clients that wait --------------------------------------------------------------------

    def _hold(self, hold: Hold, ms: int) -> None:
        """Let a client wait, for so many ms or (0) until it is released."""
        hold.client.flags |= f.HELD_BY_FAULT
        self._holds[hold.client] = hold
        if ms:
            hold.timer = self.engine.later(self.engine.space.now + ms, hold.end)

    def release(self, hold: Hold) -> None:
        """A client goes on: its request runs next, or its reply is sent."""
        client = hold.client
        client.flags &= ~f.HELD_BY_FAULT
        if hold.timer:
            self.engine.never_mind(hold.timer)
        if hold.request is not None:
            client.put_back([hold.request])
            client.flags |= f.PAST_FAULT
        else:
            del self._holds[client]
            client.push(hold.reply)
            if client.flags & f.ENDING:
                client.close_after_reply()
        self.engine.resume(client)

    def _free(self, rule: Rule | None) -> None:
        """A rule has ended: who waits goes on, and what was still to come does not come."""
        for hold in [hold for hold in self._holds.values() if hold.rule is rule]:
            if hold.client.flags & f.HELD_BY_FAULT:
                self.release(hold)
            elif hold.client.flags & f.FAULT_DUE:
                self.forget(hold.client)

    def forget(self, client: Client) -> None:
        """A client is gone, or nothing is to happen to it any more."""
        client.flags &= ~_FAULTED
        hold = self._holds.pop(client, None)
        if hold is not None and hold.timer:
            self.engine.never_mind(hold.timer)

    # -- new connections ----------------------------------------------------------------------

    def connect(self, door: Door | None) -> None:
        """From now on this happens to new connections, or (None) nothing; whoever was delayed goes on."""
        self.door = door
        self._free(None)

    def at_door(self) -> int:
        """For the edge: what becomes of a connection that has just come. It counts. O(1)."""
        door = self.door
        if door is None or door.left == 0:
            return OPEN
        door.hits += 1
        return door.verdict

    def delay_new(self, client: Client) -> None:
        """Answer a new connection later, as the setting says that `at_door` has just told."""
        assert self.door is not None
        self._hold(Hold(self, client, None), self.door.ms)
