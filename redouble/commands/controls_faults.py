"""REDOUBLE FAULT: faults on demand. What they do is `engine/powers/faults.py`; here are arguments and replies.

The action ends the line: whatever follows ERROR is its text, quoted or not.
"""

from __future__ import annotations

from typing import Final

from redouble.commands.controls import CONTROL
from redouble.commands.help import bad_subcommand
from redouble.engine.command import Family
from redouble.engine.context import Context
from redouble.engine.powers.fault_rules import Action, Rule, cut, delay, drop, error, hang
from redouble.engine.powers.faults import DELAYED, REFUSED, RESET, Door
from redouble.errors import CommandError
from redouble.protocol.numbers import double, try_integer
from redouble.protocol.reply import OK, Double, Map, Reply

controls_faults: Final = Family("server")

_CONDITIONS: Final = (b"COMMAND", b"KEY", b"CLIENT", b"SKIP", b"TIMES", b"PROBABILITY")
_ACTIONS: Final = b"ERROR text, DELAY ms [BEFORE|AFTER], HANG, DROP [BEFORE|AFTER], CUT bytes"
_DOORS: Final[list[bytes]] = [b"OFF", b"REFUSE", b"RESET", b"DELAY"]


@controls_faults.command(
    "redouble|fault",
    "<ADD id [COMMAND pattern] [KEY pattern] [CLIENT pattern] [SKIP count] [TIMES count] [PROBABILITY chance] "
    "<ERROR text | DELAY ms [BEFORE | AFTER] | HANG | DROP [BEFORE | AFTER] | CUT bytes> | LIST | REMOVE id | CLEAR | "
    "CONNECT [REFUSE | RESET | DELAY ms | OFF] [TIMES count]>",
    "Lets requests or new connections fail.", arity=-3, flags=CONTROL, since="1.0.0",
    complexity="O(commands) for ADD",
)  # fmt: skip
def fault(ctx: Context, argv: list[bytes]) -> Reply:
    """Add, show, remove faults. A map for each in LIST. Raises for what makes no sense."""
    word = argv[2].upper()
    if word == b"ADD":
        return _add(ctx, argv)
    if word == b"CONNECT":
        return _connect(ctx, argv)
    faults = ctx.engine.faults
    if word == b"REMOVE" and len(argv) == 4:
        return 1 if faults.remove(argv[3]) else 0
    if word == b"LIST" and len(argv) == 3:
        return [_shown(ctx, rule) for rule in faults.rules()]
    if word == b"CLEAR" and len(argv) == 3:
        faults.clear()
        return OK
    raise bad_subcommand(argv)


def _shown(ctx: Context, rule: Rule) -> Reply:
    return Map([
        b"id", rule.id, b"command", rule.command, b"key", rule.key, b"client", rule.client, b"skip", rule.skip,
        b"times", rule.times, b"probability", Double(rule.probability), b"action", rule.action.described(),
        b"matched", rule.matched, b"hits", rule.hits, b"left", rule.left,
        b"holding", ctx.engine.faults.holding(rule),
    ])  # fmt: skip


# -- rules -----------------------------------------------------------------------------------------


def _add(ctx: Context, argv: list[bytes]) -> Reply:
    if len(argv) < 5:
        raise CommandError(b"ERR write REDOUBLE FAULT ADD id [conditions] action, the action one of " + _ACTIONS)
    conditions: dict[bytes, bytes] = {}
    at = 4
    while at < len(argv) and argv[at].upper() in _CONDITIONS:
        word = argv[at].upper()
        if at + 1 == len(argv):
            raise CommandError(b"ERR %b needs a value, and an action after it: one of %b" % (word, _ACTIONS))
        if word in conditions:
            raise CommandError(b"ERR %b is given twice; one fault takes one, add another fault for the other" % word)
        conditions[word] = argv[at + 1]
        at += 2
    if at == len(argv):
        raise CommandError(b"ERR the action is missing: write one of " + _ACTIONS)
    action = _action(argv[at].upper(), argv[at + 1 :])
    times = conditions.get(b"TIMES")
    chance = conditions.get(b"PROBABILITY")
    rule = Rule(
        argv[3], action, conditions.get(b"COMMAND"), conditions.get(b"KEY"), conditions.get(b"CLIENT"),
        _count(b"SKIP", conditions.get(b"SKIP", b"0")), None if times is None else _count(b"TIMES", times),
        1.0 if chance is None else double(chance, b"ERR PROBABILITY must be a number from 0 to 1, such as 0.25"),
    )  # fmt: skip
    ctx.engine.faults.add(rule)
    return OK


def _action(word: bytes, rest: list[bytes]) -> Action:
    """The action with its arguments, `rest`, which must be no more than it takes."""
    if word == b"ERROR":
        return error(b" ".join(rest))
    if word == b"HANG" and not rest:
        return hang()
    if word == b"DROP" and len(rest) < 2:
        return drop(_is_after(rest))
    if word == b"DELAY" and 0 < len(rest) < 3:
        return delay(_count(word, rest[0]), _is_after(rest[1:]))
    if word == b"CUT" and len(rest) == 1:
        return cut(_count(word, rest[0]))
    if word in (b"HANG", b"DROP", b"DELAY", b"CUT"):
        raise CommandError(b"ERR wrong arguments for the action %b: write one of %b" % (word, _ACTIONS))
    known = b", ".join(list(_CONDITIONS))
    raise CommandError(b"ERR '%b' is neither a condition (%b) nor an action (%b)" % (word, known, _ACTIONS))


def _is_after(words: list[bytes]) -> bool:
    when = words[0].upper() if words else b"BEFORE"
    if when not in (b"BEFORE", b"AFTER"):
        raise CommandError(b"ERR '%b' is no time for a fault: write BEFORE or AFTER the command has run" % words[0])
    return when == b"AFTER"


def _count(what: bytes, word: bytes) -> int:
    value = try_integer(word)
    if value is None:
        raise CommandError(b"ERR %b takes a whole number, not '%b'" % (what, word))
    return value


# -- new connections -----------------------------------------------------------------------------


def _connect(ctx: Context, argv: list[bytes]) -> Reply:
    """Set what happens to new connections; without arguments, what that is."""
    faults = ctx.engine.faults
    if len(argv) == 3:
        door = faults.door
        if door is None:
            return None
        action = _DOORS[door.verdict] + (b" %d" % door.ms if door.verdict == DELAYED else b"")
        return Map([b"action", action, b"times", door.times, b"hits", door.hits, b"left", door.left])
    faults.connect(_door(argv[3].upper(), argv[4:]))
    return OK


def _door(word: bytes, rest: list[bytes]) -> Door | None:
    ms = 0
    if word == b"DELAY" and rest:
        ms = _count(b"CONNECT DELAY", rest[0])
        rest = rest[1:]
    elif word not in (b"OFF", b"REFUSE", b"RESET"):
        raise CommandError(b"ERR write CONNECT REFUSE, CONNECT RESET, CONNECT DELAY ms (each with TIMES count), or "
                           b"CONNECT OFF")  # fmt: skip
    times: int | None = None
    if len(rest) == 2 and rest[0].upper() == b"TIMES" and word != b"OFF":
        times = _count(b"TIMES", rest[1])
    elif rest:
        raise CommandError(b"ERR after CONNECT %b only TIMES count may follow (nothing after OFF)" % word)
    if word == b"OFF":
        return None
    verdicts = {b"REFUSE": REFUSED, b"RESET": RESET, b"DELAY": DELAYED}
    return Door(verdicts[word], ms, times)
