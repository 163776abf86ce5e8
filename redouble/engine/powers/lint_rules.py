"""The rules of LINT: their names, their settings, and what to do instead.

A rule is asked for by its name, some with a value behind a colon: `big-value:100000`, `no-ttl:cache:*`. `all`
means every rule that needs no value. `no-ttl` needs a pattern, because most keys are meant to stay; it may
be given several times. `parse_rules` reads such words; how each rule looks is in `lint.py`,
what it looks for is said here.
"""

from __future__ import annotations

from typing import Final, final

from redouble.datatypes.glob import Glob
from redouble.doubles import parse_double
from redouble.engine import flags as f
from redouble.errors import CommandError, c_text
from redouble.protocol.numbers import try_integer

UNDECLARED: Final = 1 << 0
CROSS_SLOT: Final = 1 << 1
KEYS_COMMAND: Final = 1 << 2
UNBOUNDED: Final = 1 << 3
EVAL_AGAIN: Final = 1 << 4
FLUSH: Final = 1 << 5
NO_TTL: Final = 1 << 6
BIG_VALUE: Final = 1 << 7
DEPRECATED: Final = 1 << 8
WRONG_TYPE: Final = 1 << 9

ALL: Final = b"all"
#: Bytes, as MEMORY USAGE counts them.
BIG_VALUE_BYTES: Final = 1024 * 1024
#: So often may a script be sent by EVAL.
EVAL_TIMES: Final = 10
_SHOWN: Final = 128


@final
class Rule:
    """One rule. `value` says what may stand behind its name, empty for nothing."""

    __slots__ = ("bit", "name", "value", "advice")

    def __init__(self, bit: int, name: bytes, value: bytes, advice: bytes) -> None:
        self.bit: int = bit
        self.name: bytes = name
        self.value: bytes = value
        self.advice: bytes = advice


RULES: Final[list[Rule]] = [
    Rule(
        UNDECLARED, b"undeclared-script-key", b"",
        b"Pass every key that the script touches by KEYS; a cluster finds the node by them, and so do ACL rules.",
    ),
    Rule(
        CROSS_SLOT, b"cross-slot", b"",
        b"Give keys that are used together a common hash tag, as in {queue}:wait and {queue}:active, or use them in "
        b"commands apart.",
    ),
    Rule(
        KEYS_COMMAND, b"keys-command", b"",
        b"KEYS walks through all keys and holds up everybody. Use SCAN, or keep the names in a set.",
    ),
    Rule(
        UNBOUNDED, b"unbounded-block", b"",
        b"Give a time-out of some seconds and call again: with 0 a lost connection is never noticed.",
    ),
    Rule(
        EVAL_AGAIN, b"eval-instead-of-evalsha", b"times",
        b"Send the script once (SCRIPT LOAD) and then only its digest (EVALSHA); clients have a call for that. Values "
        b"belong into ARGV.",
    ),
    Rule(
        FLUSH, b"flush-in-use", b"",
        b"Others are connected and lose their keys. Delete your own by their prefix, or use a database or a server of "
        b"your own.",
    ),
    Rule(
        NO_TTL, b"no-ttl", b"pattern",
        b"These keys stay for ever. Set the time to live with the value (SET EX) or in the same transaction (EXPIRE).",
    ),
    Rule(
        BIG_VALUE, b"big-value", b"bytes",
        b"A value of this size holds up everybody while it is sent, copied or freed. Split it, or keep it elsewhere "
        b"and only its address here.",
    ),
    Rule(DEPRECATED, b"deprecated-command", b"", b"Use what has replaced it."),
    Rule(
        WRONG_TYPE, b"wrong-type-near-miss", b"",
        b"Two uses of one name with different types: give each a prefix of its own.",
    ),
]  # fmt: skip


@final
class Settings:
    """Which rules are on, as bits, and their values."""

    __slots__ = ("rules", "patterns", "big_value", "eval_times")

    def __init__(self) -> None:
        self.rules: int = 0
        #: Of keys that should have a time to live.
        self.patterns: list[tuple[bytes, Glob]] = []
        self.big_value: int = BIG_VALUE_BYTES
        self.eval_times: int = EVAL_TIMES


def parse_rules(words: list[bytes]) -> Settings:
    """What the words ask for; none means `all`. Raises `CommandError`. O(words)."""
    settings = Settings()
    for word in words or [ALL]:
        name, colon, value = word.partition(b":")
        name = name.lower()
        if name == ALL and not colon:
            settings.rules |= sum([rule.bit for rule in RULES if rule.bit != NO_TTL])
            continue
        rule = _rule(name)
        if rule is None:
            known = b", ".join([_usage(each) for each in RULES])
            raise CommandError(b"ERR There is no rule '%b'. Rules: all, %b" % (c_text(word[:_SHOWN]), known))
        if (colon and not (rule.value and value)) or (rule.bit == NO_TTL and not value):
            raise CommandError(b"ERR Rule '%b' is written %b" % (rule.name, _usage(rule)))
        settings.rules |= rule.bit
        if value:
            _set(settings, rule, value)
    return settings


def _rule(name: bytes) -> Rule | None:
    for rule in RULES:
        if rule.name == name:
            return rule
    return None


def _usage(rule: Rule) -> bytes:
    """How a rule is written."""
    if not rule.value:
        return rule.name
    form = b"%b:%b" if rule.bit == NO_TTL else b"%b[:%b]"
    return form % (rule.name, rule.value)


def _set(settings: Settings, rule: Rule, value: bytes) -> None:
    if rule.bit == NO_TTL:
        settings.patterns.append((value, Glob(value)))
        return
    number = try_integer(value)
    if number is None or number < 1:
        raise CommandError(b"ERR Rule '%b' takes a number of %b, 1 or more" % (rule.name, rule.value))
    if rule.bit == BIG_VALUE:
        settings.big_value = number
    else:
        settings.eval_times = number


def waits_for_ever(flags: int, argv: list[bytes]) -> bool:
    """Whether a command with these flags would wait without a limit: its time-out is 0. O(arguments)."""
    if flags & f.TIMEOUT_OPTION:
        for at in range(1, len(argv) - 1):
            word = argv[at].upper()
            if word == b"STREAMS":
                return False
            if word == b"BLOCK":
                return try_integer(argv[at + 1]) == 0
        return False
    if flags & f.TIMEOUT_LAST:
        return parse_double(argv[-1]) == 0
    return bool(flags & f.TIMEOUT_FIRST) and parse_double(argv[1]) == 0
