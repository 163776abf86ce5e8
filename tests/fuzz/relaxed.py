"""Where two true servers may answer differently, and what must still agree.

Replies that are equal byte for byte agree always. Beyond that:

- what comes out of a hash table has no order (but a compact encoding has one);
- a random choice has a size and comes from what is there;
- clocks: two servers run a command some milliseconds apart.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from redouble.engine.command import parse_version
from tests.fuzz.forked import common, forked, own_format, plain_zeros
from tests.fuzz.grammar import Argv
from tests.kit import RealTarget, Redis
from tests.wire import Failure, Status

#: How far apart the servers may run a command, in ms.
APART = 500

_NEAR_NOW = 10**9
_STREAM_ID = re.compile(rb"(\d{13})-\d+")
#: Members of a set's listpack may have come from another set's hash table, in its order.
_ORDERED = {b"smembers": (b"intset",), b"hgetall": (b"listpack",), b"hkeys": (b"listpack",), b"hvals": (b"listpack",)}

#: argv, our reply, their reply, our server, their server.
Rule = Callable[[Argv, Any, Any, Redis, Redis], bool]


def agree(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """Whether two replies to a command are both right."""
    if same(ours, theirs):
        return True
    name = argv[0].lower()
    if parse_version(them.target.version) < 70200 and _older(name, argv, ours, theirs):
        return True
    if name in (b"object", b"xinfo") and len(argv) > 1:
        name += b"|" + argv[1].lower()
    if valkey(them) and forked(name, argv, ours, theirs):
        return True
    if isinstance(ours, Failure) or isinstance(theirs, Failure) or ours is None or theirs is None:
        return False
    rule = RULES.get(name)
    return rule is not None and rule(argv, ours, theirs, us, them)


def valkey(them: Redis) -> bool:
    """Whether the real server is Valkey."""
    return isinstance(them.target, RealTarget) and them.target.valkey


def _older(name: bytes, argv: Argv, ours: Any, theirs: Any) -> bool:
    """What 7.0 does otherwise, and Redouble does as later versions do whatever version it is."""
    if name in (b"bitcount", b"bitpos"):
        return isinstance(ours, Failure)  # the key is looked up before the arguments are read
    if name in (b"scan", b"sscan", b"hscan", b"zscan"):
        at = 1 if name == b"scan" else 2
        return not bytes(argv[at]).isdigit()  # cursors that are no numbers
    both = isinstance(ours, Failure) and isinstance(theirs, Failure)
    return both and b"timeout" in bytes(ours) and b"timeout" in bytes(theirs)  # one too large is negative


def same(ours: Any, theirs: Any) -> bool:
    """Equal, but for what says what time it is now."""
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if ours == theirs:
        return True
    if isinstance(ours, int):
        now = time.time() * 1000
        return bool(abs(ours - theirs) <= 4 * APART and abs(theirs - now) < _NEAR_NOW)
    if type(ours) is bytes:
        first, second = _STREAM_ID.fullmatch(ours), _STREAM_ID.fullmatch(theirs)
        return first is not None and second is not None and same(int(first[1]), int(second[1]))
    return False


def near(distance: int) -> Rule:
    """Numbers that depend on the clock."""
    return lambda argv, ours, theirs, us, them: type(ours) is type(theirs) is int and abs(ours - theirs) <= distance


def each(rule: Rule) -> Rule:
    """A list whose items follow a rule."""
    return lambda argv, ours, theirs, us, them: (
        len(ours) == len(theirs)
        and all(rule(argv, our, their, us, them) for our, their in zip(ours, theirs, strict=True))
    )


def _shuffled(size: int, ours: Any, theirs: Any) -> bool:
    """The same groups of `size` items in another order."""

    def groups(items: list[Any]) -> list[str]:
        return sorted(repr(items[at : at + size]) for at in range(0, len(items), size))

    return type(ours) is type(theirs) and groups(ours) == groups(theirs)


def unordered(size: int = 1) -> Rule:
    """Items, or groups of items, in any order, unless the key's encoding has an order."""

    def rule(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
        ordered = _ORDERED.get(argv[0].lower())
        if ordered and them("OBJECT", "ENCODING", argv[1]) in ordered:
            return False
        return _shuffled(size, ours, theirs)

    return rule


def scanned(size: int) -> Rule:
    """A cursor, and items in any order; an iteration that has not ended may differ in all."""

    def rule(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
        ended = ours[0] == theirs[0] == b"0"
        return not ended or _shuffled(1 if b"NOVALUES" in argv else size, ours[1], theirs[1])

    return rule


def picked(whole: str) -> Rule:
    """A random choice from what the command `whole` shows of the key."""

    def rule(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
        if type(ours) is not type(theirs) or (isinstance(ours, list) and len(ours) != len(theirs)):
            return False
        there = us(whole, *argv[1:2], *([0, -1, "WITHSCORES"] if whole == "ZRANGE" else []))
        return not there or all(item in _flat(there) for item in _flat(ours))

    return rule


def _flat(reply: Any) -> list[Any]:
    return [part for item in reply for part in _flat(item)] if isinstance(reply, list) else [reply]


def _popped(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """Random again; `duel.py` then makes both sets the same."""
    return type(ours) is type(theirs) and (not isinstance(ours, list) or len(ours) == len(theirs))


def _scripted(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """What a script makes of a reply without order."""
    unordered = any(arg.lower() in (b"smembers", b"hgetall", b"hkeys", b"hvals") for arg in argv[3:])
    return bool(unordered and type(ours) is type(theirs) and sorted(repr(ours)) == sorted(repr(theirs)))


def _sorted(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """A set that is not to be sorted by anything has no order; and LIMIT takes some of it."""
    words = [arg.upper() for arg in argv[2:]]
    some = b"LIMIT" in words and b"BY" in words
    return type(ours) is type(theirs) is list and len(ours) == len(theirs) and (some or _shuffled(1, ours, theirs))


def _encoded(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """A whole number that INCRBYFLOAT has made is `embstr` there until it is set again; here it is `int`."""
    return bool(ours == b"int" and theirs == b"embstr")


def _idle(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """How long ago something was delivered or seen, anywhere in the reply."""
    if isinstance(ours, list):
        return type(ours) is type(theirs) and len(ours) == len(theirs) and all(
            _idle(argv, our, their, us, them) for our, their in zip(ours, theirs, strict=True)
        )  # fmt: skip
    return same(ours, theirs) or (type(ours) is type(theirs) is int and abs(ours - theirs) < APART and ours >= 0)


def _pending(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """Entries of XPENDING: id, consumer, idle time, deliveries."""
    return len(ours) == len(theirs) and all(
        len(our) == len(their) == 4 and our[3] == their[3] and _idle(argv, our[:3], their[:3], us, them)
        for our, their in zip(ours, theirs, strict=True)
    )


def _dumped(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """How elements are spread over nodes, or lie in a hash table, is the server's own affair. But each must
    read what the other has written."""
    key = argv[1]
    if valkey(them):
        if own_format(ours, theirs):
            return True
        ours, theirs = common(ours), common(theirs)
        if ours == theirs:
            return True
    for server, dump in ((us, theirs), (them, ours)):
        if server("RESTORE", "~restored", 0, dump) != Status("OK"):
            return False
        other = them if server is us else us
        right = _restored(argv, key, server, other, valkey(them))
        server("DEL", "~restored")
        if not right:
            return False
    return True


def _restored(argv: Argv, key: bytes, server: Redis, other: Redis, beside_valkey: bool) -> bool:
    """Whether what a server has read from the other's dump is what the other has."""
    restored, original = server("DEBUG", "DIGEST-VALUE", "~restored", key)
    if restored == original or server("PTTL", key) != -1:
        return True
    kind = server("TYPE", key)
    if kind == Status("zset") and beside_valkey:
        ours, theirs = other("ZRANGE", key, 0, -1, "WITHSCORES"), server("ZRANGE", "~restored", 0, -1, "WITHSCORES")
        return bool(plain_zeros(ours) == plain_zeros(theirs))
    if kind != Status("stream"):
        return False
    ask = ("FULL", "COUNT", 0)  # ids that a clock has made differ
    return _idle(argv, server("XINFO", "STREAM", "~restored", *ask), other("XINFO", "STREAM", key, *ask), server, other)


RULES: dict[bytes, Rule] = {
    b"ttl": near(1),
    b"expiretime": near(1),
    b"pttl": near(APART),
    b"httl": each(near(1)),
    b"hexpiretime": each(near(1)),
    b"hpttl": each(near(APART)),
    b"hpexpiretime": each(near(APART)),
    b"pexpiretime": near(APART),
    b"object|encoding": _encoded,
    b"object|idletime": near(2),
    b"keys": unordered(),
    b"smembers": unordered(),
    b"sinter": unordered(),
    b"sunion": unordered(),
    b"sdiff": unordered(),
    b"hkeys": unordered(),
    b"hvals": unordered(),
    b"hgetall": unordered(2),
    b"eval": _scripted,
    b"eval_ro": _scripted,
    b"sort": _sorted,
    b"sort_ro": _sorted,
    b"scan": scanned(1),
    b"sscan": scanned(1),
    b"hscan": scanned(2),
    b"zscan": scanned(2),
    b"randomkey": lambda argv, ours, theirs, us, them: type(ours) is type(theirs),
    b"srandmember": picked("SMEMBERS"),
    b"hrandfield": picked("HGETALL"),
    b"zrandmember": picked("ZRANGE"),
    b"spop": _popped,
    b"xpending": _pending,
    b"xinfo|stream": _idle,
    b"xinfo|consumers": _idle,
    b"dump": _dumped,
}
