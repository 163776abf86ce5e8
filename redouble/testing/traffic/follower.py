"""One client's requests to the server that follows, made so that it can follow; and whether it did.

Another server has answered first: the real one, or one whose answers were recorded. It has chosen what
the follower would choose otherwise, and the client goes on with those choices. So before the follower
gets a request, `translate` puts them in:

- XADD's `*`: the id that the reply names (within MULTI too, when EXEC's reply has come);
- cursors of SCAN and its kin: the follower's own, of the same step of the iteration.

After its reply `judge` compares, by the rules of `agreement.py`; EXEC's reply item by item, each by the
rule of the command that was queued. SPOP's choice is taken over: the follower's set is made to hold what
the other's holds (here where the follower is an engine; behind a wire it takes commands, see `replay.py`).

An iteration is compared as a whole when it has ended on one side: the other is read to its end, and both must
have seen the same elements, if nothing was written meanwhile (`changes` tells).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from redouble.datatypes.setvalue import SetValue
from redouble.engine import flags as f
from redouble.engine.command import Command, CommandTable
from redouble.engine.context import Context
from redouble.testing.traffic.agreement import Case, Lookup, groups, verdict
from redouble.testing.traffic.peers import EnginePeer
from redouble.testing.traffic.replies import Reply

_SCANS: Final = {b"scan": 1, b"sscan": 2, b"hscan": 2, b"zscan": 2}
#: Steps to the end of an iteration of ours; more keys than these can't be read.
_MOST_STEPS: Final = 100_000
_OPTIONS_OF_XADD: Final = {b"nomkstream": 0, b"~": 0, b"=": 0, b"maxlen": 1, b"minid": 1, b"limit": 1}
_QUEUED: Final = Reply("+", b"QUEUED")


class _Iteration:
    """An iteration of SCAN: what each side has shown."""

    def __init__(self, changes: int) -> None:
        self.changes = changes
        self.ours: set[tuple[Reply, ...]] = set()
        self.theirs: set[tuple[Reply, ...]] = set()


class Follower:
    """One client's conversation, on the side that follows."""

    def __init__(
        self, table: CommandTable, changes: Callable[[], int], peer: EnginePeer | None, lookup: Lookup | None
    ) -> None:
        self._table = table
        self._changes = changes
        self._peer = peer
        self._lookup = lookup
        #: What time it is for us, and for the other server. Unix time in ms.
        self.our_now = self.their_now = 0.0
        #: The requests of an open MULTI.
        self._queue: list[list[bytes]] | None = None
        #: Our cursor and the iteration, by command, key and their cursor.
        self._iterations: dict[tuple[bytes, ...], tuple[bytes, _Iteration]] = {}

    @property
    def queue(self) -> list[list[bytes]]:
        """The requests of an open MULTI; none where there is none."""
        return self._queue or []

    def command(self, argv: list[bytes]) -> Command | None:
        """The command that a request names."""
        return self._table.find(argv)

    def is_exec(self, argv: list[bytes]) -> bool:
        """Whether a request runs what an open MULTI has queued, whatever it is called here."""
        command = self._table.find(argv)
        return command is not None and command.flags & f.ENDS_MULTI != 0

    def is_pop(self, argv: list[bytes]) -> bool:
        """Whether a request takes members of a set at random."""
        return self._name(argv) == b"spop"

    def translate(self, argv: list[bytes], theirs: Reply) -> list[bytes]:
        """What the follower is asked, when the other has given this reply. O(arguments)."""
        name = self._name(argv)
        if self.is_exec(argv) and self._peer is not None and len(theirs.items) == len(self._peer.client.queue):
            client = self._peer.client
            client.queue = [
                (command, self._translated(self._name(queued), queued, reply))
                for (command, queued), reply in zip(client.queue, theirs.items, strict=True)
            ]
        return self._translated(name, argv, theirs)

    def _translated(self, name: bytes, argv: list[bytes], theirs: Reply) -> list[bytes]:
        at = _id_of_xadd(argv) if name == b"xadd" and theirs.mark == "$" and not theirs.null else 0
        if at:
            return [*argv[:at], theirs.text, *argv[at + 1 :]]
        if name in _SCANS and len(argv) > _SCANS[name]:
            at = _SCANS[name]
            known = self._iterations.get((name, *argv[1 : at + 1]))
            if known is not None:
                return [*argv[:at], known[0], *argv[at + 1 :]]
        return argv

    def _name(self, argv: list[bytes]) -> bytes:
        command = self._table.find(argv)
        return b"" if command is None else command.full_name

    # -- judging ----------------------------------------------------------------------------

    def judge(self, argv: list[bytes], ours: list[Reply], theirs: list[Reply]) -> tuple[str | None, str]:
        """The rule by which the replies agree ("": equal; None: they don't), and where they don't."""
        queue = self._queue
        self._remember(argv, theirs)
        if len(ours) != len(theirs):
            return None, ""
        used = ""
        for our, their in zip(ours, theirs, strict=True):
            if queue and self.is_exec(argv) and len(our.items) == len(their.items) == len(queue):
                for place, (queued, one, other) in enumerate(zip(queue, our.items, their.items, strict=True), 1):
                    rule = self._judge(queued, one, other)
                    if rule is None:
                        return None, f"reply {place} of the transaction, to {queued[0].decode('latin-1').upper()}"
                    used = rule or used
                continue
            rule = self._judge(argv, our, their)
            if rule is None:
                return None, ""
            used = rule or used
        return used, ""

    def _remember(self, argv: list[bytes], theirs: list[Reply]) -> None:
        """Follow MULTI, as the other server has it."""
        name = self._name(argv)
        if theirs[:1] == [_QUEUED] and self._queue is not None:
            self._queue.append(argv)
        elif name == b"multi" and theirs and not theirs[0].is_error:
            self._queue = []
        elif name in (b"exec", b"discard", b"reset"):
            self._queue = None

    def _judge(self, argv: list[bytes], ours: Reply, theirs: Reply) -> str | None:
        name = self._name(argv)
        if name in _SCANS and len(ours.items) == len(theirs.items) == 2:
            return self._judge_scan(name, argv, ours, theirs)
        rule = verdict(Case(argv, ours, theirs, self.our_now, self.their_now, self._lookup), name)
        if rule and name == b"spop" and self._peer is not None:
            return rule if self._take_over(self._peer.client.context, argv[1], ours, theirs) else None
        return rule

    def _take_over(self, ctx: Context, key: bytes, ours: Reply, theirs: Reply) -> bool:
        """Let our set hold what theirs holds; false if theirs has popped what ours never had. O(popped)."""
        entry = ctx.db.peek(key)
        value = None if entry is None else entry.value
        mine, other = ([item.text for item in reply.items or (reply,)] for reply in (ours, theirs))
        if not isinstance(value, SetValue):
            return sorted(mine) == sorted(other)
        # In place, not by SADD and SREM: nobody is to hear of it.
        for member in mine:
            value.add(member)
        return all([value.discard(member) for member in other])

    def _judge_scan(self, name: bytes, argv: list[bytes], ours: Reply, theirs: Reply) -> str | None:
        at = _SCANS[name]
        where = (name, *argv[1:at])
        size = 1 if name in (b"scan", b"sscan") or any(word.upper() == b"NOVALUES" for word in argv) else 2
        iteration = self._iterations.get((*where, argv[at]), (b"", _Iteration(self._changes())))[1]
        iteration.ours.update(groups(ours.items[1], size))
        iteration.theirs.update(groups(theirs.items[1], size))
        our_cursor, their_cursor = ours.items[0].text, theirs.items[0].text
        if their_cursor != b"0":
            # If ours has ended, a further step shows all again, which does no harm.
            self._iterations[(*where, their_cursor)] = (our_cursor, iteration)
            return "part of an iteration" if ours != theirs else ""
        for _ in range(_MOST_STEPS):
            if our_cursor == b"0" or self._lookup is None:
                break
            step = self._lookup([*argv[:at], our_cursor, *argv[at + 1 :]])
            iteration.ours.update(groups(step.items[1], size))
            our_cursor = step.items[0].text
        if iteration.ours == iteration.theirs:
            return "no order" if ours != theirs else ""
        if self._lookup is None and our_cursor != b"0":
            return "part of an iteration"
        return "iteration with writes" if iteration.changes != self._changes() else None


def _id_of_xadd(argv: list[bytes]) -> int:
    """Where XADD's id stands, if the server is to choose (some of) it; else 0."""
    at = 2
    while at < len(argv):
        options = _OPTIONS_OF_XADD.get(argv[at].lower())
        if options is None:
            return at if argv[at].endswith(b"*") else 0
        at += 1 + (argv[at + 1] in (b"~", b"=") if options and at + 1 < len(argv) else 0) + options
    return 0


def changes_keys(command: Command | None) -> bool:
    """Whether a command may change a key."""
    return command is not None and bool(command.flags & (f.WRITE | f.RUNS_SCRIPT | f.ENDS_MULTI))
