"""What two true replies about data may differ in: rules that `relaxed.py` gives to commands."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from redouble.datatypes import hyperloglog
from tests.fuzz.forked import Parted, common, own_format, plain_zeros
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


def valkey(them: Redis) -> bool:
    """Whether the real server is Valkey."""
    return isinstance(them.target, RealTarget) and them.target.valkey


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
    """A cursor, and items in any order; an iteration that has not ended, or began in its midst, may differ in all."""

    def rule(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
        cursor = argv[1 if argv[0].lower() == b"scan" else 2]
        ended = ours[0] == theirs[0] == cursor == b"0"
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


def popped(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """Random again; `duel.py` then makes both sets the same."""
    return type(ours) is type(theirs) and (not isinstance(ours, list) or len(ours) == len(theirs))


def scripted(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """What a script makes of a reply without order, or of OBJECT ENCODING."""
    if ours == b"int" and theirs == b"embstr":
        return encoded(argv, ours, theirs, us, them)
    unordered = any(arg.lower() in (b"smembers", b"hgetall", b"hkeys", b"hvals") for arg in argv[3:])
    return bool(unordered and type(ours) is type(theirs) and sorted(repr(ours)) == sorted(repr(theirs)))


def sorted_by(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """A set that is not to be sorted by anything has no order, nor have texts that are the same up to a zero byte;
    and LIMIT takes some of it."""
    if not isinstance(ours, list) or not isinstance(theirs, list):
        return False
    words = [arg.upper() for arg in argv[2:]]
    cut = b"ALPHA" in words and any(b"\0" in text for text in (*ours, *theirs) if text)
    some = b"LIMIT" in words and (b"BY" in words or cut)
    return len(ours) == len(theirs) and (some or _shuffled(1, ours, theirs))


def encoded(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """A whole number that INCRBYFLOAT has made is `embstr` there until it is set again; here it is `int`, for a string
    is kept as plain bytes (see `commands/strings.py`). Valkey makes a skip list for a long member even where XX keeps
    ZADD from adding it."""
    if valkey(them) and (ours, theirs) == (b"listpack", b"skiplist"):
        longest = int(us("CONFIG", "GET", "zset-max-listpack-value")[1])
        return all(len(member) <= longest for member in us("ZRANGE", argv[2], 0, -1))
    return bool(ours == b"int" and theirs == b"embstr")


def counted(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """Such a number is none of those that Redis shares between keys, nor is one that COPY has made."""
    return bool(ours == 2147483647 and theirs == 1 and them("OBJECT", "ENCODING", argv[2]) in (b"embstr", b"int"))


def by_member(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """A range of members where scores differ is none; and from a skip list Redis takes it by the chance of its levels.

    A command that has changed the set may have left none of what differed.
    """
    name = argv[0].lower()
    if b"lex" not in name and b"BYLEX" not in [arg.upper() for arg in argv]:
        return False
    for key in argv[1:3]:
        for side in (us, them):
            pairs = side("ZRANGE", key, 0, -1, "WITHSCORES")
            if not isinstance(pairs, Failure) and len(set(pairs[1::2])) > 1:
                if side("OBJECT", "ENCODING", key) == b"skiplist" or b"rem" in name or b"store" in name:
                    raise Parted
    return False


def placed(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """Which of several members at the same place comes first, and is within COUNT, is chance."""
    if not isinstance(ours, list) or not isinstance(theirs, list):
        return False

    def places(found: list[Any]) -> list[Any]:
        told = [item if isinstance(item, list) else [item] for item in found]
        return [[us("ZSCORE", argv[1], item[0]), *item[1:]] for item in told]

    return places(ours) == places(theirs)


def beyond_the_end(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """Redis reads, and cuts, the last run of a corrupted HyperLogLog as if what lies behind it were its own."""
    value = us("GET", argv[2 if argv[0].lower() == b"pfdebug" else 1])
    if isinstance(value, Failure) or not value.startswith(b"HYLL\x01"):
        return False
    try:
        hyperloglog.registers(value)
    except hyperloglog.CorruptedError:
        raise Parted from None
    return False


def idle(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """How long ago something was delivered or seen, anywhere in the reply."""
    if isinstance(ours, list):
        return type(ours) is type(theirs) and len(ours) == len(theirs) and all(
            idle(argv, our, their, us, them) for our, their in zip(ours, theirs, strict=True)
        )  # fmt: skip
    return same(ours, theirs) or (type(ours) is type(theirs) is int and abs(ours - theirs) < APART and ours >= 0)


def pending(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """Entries of XPENDING: id, consumer, idle time, deliveries."""
    return len(ours) == len(theirs) and all(
        len(our) == len(their) == 4 and our[3] == their[3] and idle(argv, our[:3], their[:3], us, them)
        for our, their in zip(ours, theirs, strict=True)
    )


def dumped(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
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
        right = restored(argv, key, server, other, valkey(them))
        server("DEL", "~restored")
        if not right:
            return False
    return True


def restored(argv: Argv, key: bytes, server: Redis, other: Redis, beside_valkey: bool) -> bool:
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
    return idle(argv, server("XINFO", "STREAM", "~restored", *ask), other("XINFO", "STREAM", key, *ask), server, other)
