"""Where Valkey 9.1 answers otherwise, on purpose, than the Redis that Redouble plays beside it.

Valkey left Redis between 7.2 and 7.4 and has gone its own way since. Each rule names one such place, and
why it is no fault of Redouble's (what Redis does was looked up in Redis' own sources of 7.4 and 8.0);
a command without a rule must agree. Where the servers do different things, not only say them
differently, what they hold differs from then on: the rule raises `Parted` and ends the script there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from redouble.persistence.crc64 import crc64
from tests.fuzz.grammar import Argv
from tests.wire import Failure

#: Redis' types of dump for hashes whose fields have deadlines, and Valkey's own: neither reads the other's.
_HASHES_WITH_DEADLINES = (24, 25, 22)
#: Commands that announce a miss in Valkey alone: it looks the key up to read it, Redis to write to it.
MISSES_THERE = (b"hgetex",)

#: The newest format of dumps that both read.
_COMMON_FORMAT = 11
_FOOTER = 10
#: Beside a key of more bytes Valkey has no room for a short value.
_LONG_KEY = 32
_SCRIPT = re.compile(rb" script: .*|Redis |Valkey ")

_ODD_NUMBER = re.compile(rb"[(]?([+-]?0[xX]|\s|\Z|.*\0)", re.S)

#: argv, our reply, their reply.
Rule = Callable[[Argv, Any, Any], bool]


class Parted(Exception):
    """Both servers are right, and hold different things from here on."""


def forked(name: bytes, argv: Argv, ours: Any, theirs: Any) -> bool:
    """Whether replies differ in a way that is Valkey's own. Raises `Parted`."""
    if name.lstrip(b"b").startswith(b"z") and plain_zeros(ours) == plain_zeros(theirs):
        return True
    if _is_odd_number(argv, ours, theirs):
        raise Parted
    rule = RULES.get(name)
    return rule is not None and rule(argv, ours, theirs)


def plain_zeros(reply: Any) -> Any:
    """A reply without the minus of zeros: a score of -0 loses it in a listpack, and Valkey makes no listpack to begin
    with if a later member of the same ZADD is too long for one, where Redis looks at the first."""
    if isinstance(reply, list):
        return [plain_zeros(item) for item in reply]
    return b"0" if reply == b"-0" else reply


def own_format(ours: bytes, theirs: bytes) -> bool:
    """Whether one of the dumps is of a kind that the other server does not know."""
    return ours[0] in _HASHES_WITH_DEADLINES or theirs[0] in _HASHES_WITH_DEADLINES


def told_alike(events: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The events of either, told alike: of fields that get a deadline in the past Valkey says ``hexpired`` (and HSETEX
    ``hexpire`` first), Redis ``hdel``. So a ``hexpire`` just before does not count."""
    told: list[tuple[bytes, bytes]] = []
    for event, key in events:
        space, _, what = event.rpartition(b":")
        if what in (b"hexpired", b"hdel"):
            what = b"hdel"
            at = len(told)
            while at and told[at - 1][0].endswith(b":keymiss"):
                at -= 1
            while at and told[at - 1] == (space + b":hexpire", key):
                at -= 1
                del told[at]
        told.append((space + b":" + what, key))
    return told


def common(dump: bytes) -> bytes:
    """A dump signed with the newest format that both servers know. (Valkey's own has the number 80, and it
    refuses those of Redis 7.4 and later; what stands before the number is the same.)"""
    data = dump[:-_FOOTER] + _COMMON_FORMAT.to_bytes(2, "little")
    return data + crc64(data).to_bytes(8, "little")


def _is_odd_number(argv: Argv, ours: Any, theirs: Any) -> bool:
    """Valkey no longer takes hexadecimal numbers, nor white space before a number, nor nothing as 0."""
    refused = isinstance(theirs, Failure) and (b"float" in theirs or b"need numeric" in theirs)
    return refused and any(_ODD_NUMBER.match(arg) for arg in argv)


def _refused(ours: Any, theirs: Any) -> bool:
    return isinstance(ours, Failure) and isinstance(theirs, Failure)


def _embedded(argv: Argv, ours: Any, theirs: Any) -> bool:
    """Valkey embeds strings longer than 44 bytes too, but none beside a long key, has no compact encoding for fields
    with deadlines, and makes no hash table for a long value that HSETEX sets with a deadline in the past."""
    if (ours, theirs) == (b"embstr", b"raw"):
        return len(argv[2]) > _LONG_KEY
    return (ours, theirs) in (
        (b"raw", b"embstr"), (b"listpackex", b"hashtable"), (b"listpackex", b"listpack"), (b"hashtable", b"listpack"),
    )  # fmt: skip


def _counted_anew(argv: Argv, ours: Any, theirs: Any) -> bool:
    """Valkey counts anew what a group has read that is behind the stream's first entry, as Redis does since 8.0."""
    return bool(_uncounted(ours) == _uncounted(theirs))


def _uncounted(reply: Any) -> Any:
    if not isinstance(reply, list):
        return reply
    return [
        None if at and reply[at - 1] in (b"entries-read", b"lag") else _uncounted(item) for at, item in enumerate(reply)
    ]


def _counted(argv: Argv, ours: Any, theirs: Any) -> bool:
    """Redis shares small numbers between keys; Valkey keeps value and key in one piece."""
    return bool(ours == 2147483647 and theirs == 1)


def _getex(argv: Argv, ours: Any, theirs: Any) -> bool:
    """Valkey reads the options before it looks the key up, so a time is refused where no key is, or no string."""
    refused = (b"invalid expire time", b"not an integer")
    if not isinstance(theirs, Failure) or not any(text in theirs for text in refused):
        return False
    return ours is None or (isinstance(ours, Failure) and ours.startswith(b"WRONGTYPE"))


def _bitcount(argv: Argv, ours: Any, theirs: Any) -> bool:
    """Valkey lets the end be left out, and looks at the unit before the numbers."""
    return isinstance(ours, Failure) and (isinstance(theirs, Failure) or len(argv) == 3)


def _scan(argv: Argv, ours: Any, theirs: Any) -> bool:
    """Valkey refuses unknown types, as Redis does since 8.0; before that none matches, and later options are read."""
    return isinstance(theirs, Failure) and b"unknown type name" in theirs


def _sort(argv: Argv, ours: Any, theirs: Any) -> bool:
    """For Valkey a text that is empty or has a zero byte in it is no number, for Redis it is 0."""
    if isinstance(ours, Failure) or not isinstance(theirs, Failure) or b"converted into double" not in theirs:
        return False
    if any(arg.upper() == b"STORE" for arg in argv):
        raise Parted
    return True


def _xread(argv: Argv, ours: Any, theirs: Any) -> bool:
    """``+`` of a stream that never had an entry: Redis says an error that it calls impossible, Valkey reads on, or
    waits."""
    impossible = isinstance(ours, Failure) and b"the stream last element ID is 0-0" in ours
    if impossible and isinstance(theirs, Failure):
        raise Parted
    return impossible


def _geo(argv: Argv, ours: Any, theirs: Any) -> bool:
    """Valkey says which member is missing, and knows shapes of many corners too."""
    return _refused(ours, theirs) and (
        (b"could not decode requested zset member" in ours and b"does not exist" in theirs)
        or (b"exactly one of BYRADIUS" in ours and b"BYPOLYGON" in theirs)
    )


def _in_transaction(argv: Argv, ours: Any, theirs: Any) -> bool:
    """Valkey refuses these by one text, and the transaction is spoiled by it."""
    if _refused(ours, theirs) and b"not allowed inside a transaction" in theirs:
        raise Parted
    return False


def _field_deadlines(argv: Argv, ours: Any, theirs: Any) -> bool:
    """Valkey has written the fields' deadlines anew: wrong requests are refused in its own words and order. A time
    may be any that fits 64 bits, where Redis has 46 bits for it; an option may be given twice; HSETEX has NX and XX;
    and FIELDS is found even where the key should stand."""
    words = {arg.upper() for arg in argv}
    if argv[1:2] and argv[1].upper() == b"FIELDS":
        raise Parted
    if isinstance(ours, Failure) and not isinstance(theirs, Failure):
        if b"invalid expire time" in ours or len(words) < len(argv) or words & {b"NX", b"XX"}:
            raise Parted
    return _refused(ours, theirs)


def _script(argv: Argv, ours: Any, theirs: Any) -> bool:
    """Valkey no longer names the script in its errors, nor Redis, nor Lua."""
    if not _refused(ours, theirs):
        return False
    ours = ours.replace(b"Lua redis lib command arguments", b"Command arguments")
    inner = [RULES.get(arg.lower()) for arg in argv[3:]]
    return _SCRIPT.sub(b"", ours) == _SCRIPT.sub(b"", theirs) or _field_deadlines in inner


def _hello(argv: Argv, ours: Any, theirs: Any) -> bool:
    """Another server with another version, whose scripting is a module."""
    if not isinstance(ours, list) or not isinstance(theirs, list):
        return False
    mine, other = (dict(zip(reply[::2], reply[1::2], strict=True)) for reply in (ours, theirs))
    own = (b"server", b"version", b"id", b"modules")
    return list(mine) == list(other) and all(mine[name] == other[name] for name in mine if name not in own)


RULES: dict[bytes, Rule] = {
    b"object|encoding": _embedded,
    b"object|refcount": _counted,
    b"getex": _getex,
    b"bitcount": _bitcount,
    b"scan": _scan,
    b"sort": _sort,
    b"sort_ro": _sort,
    b"xread": _xread,
    b"xinfo|stream": _counted_anew,
    b"xinfo|groups": _counted_anew,
    b"watch": _in_transaction,
    b"multi": _in_transaction,
    b"hello": _hello,
    b"eval": _script,
    b"eval_ro": _script,
    **dict.fromkeys(
        (b"geosearch", b"geosearchstore", b"georadius", b"georadius_ro", b"georadiusbymember", b"georadiusbymember_ro"),
        _geo,
    ),
    **dict.fromkeys(
        (b"hexpire", b"hpexpire", b"hexpireat", b"hpexpireat", b"hpersist", b"httl", b"hpttl", b"hexpiretime",
         b"hpexpiretime", b"hgetex", b"hsetex", b"hgetdel"),
        _field_deadlines,
    ),
}  # fmt: skip
