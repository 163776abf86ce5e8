"""Where two true servers may answer differently, and what must still agree.

Replies that are equal byte for byte agree always. Beyond that:

- what comes out of a hash table has no order (but a compact encoding has one);
- a random choice has a size and comes from what is there;
- clocks: two servers run a command some milliseconds apart.
"""

from __future__ import annotations

from typing import Any

from redouble.engine.command import parse_version
from tests.fuzz import rules, server_rules
from tests.fuzz.forked import Parted, forked
from tests.fuzz.grammar import Argv
from tests.fuzz.rules import APART, Rule, each, near, picked, scanned, unordered, valkey
from tests.kit import Redis
from tests.wire import Failure


def agree(argv: Argv, ours: Any, theirs: Any, us: Redis, them: Redis) -> bool:
    """Whether two replies to a command are both right."""
    if rules.same(ours, theirs):
        return True
    name = argv[0].lower()
    if parse_version(them.target.version) < 70200 and _older(name, argv, ours, theirs, us):
        return True
    if name in CONTAINERS and len(argv) > 1:
        name += b"|" + argv[1].lower()
    if valkey(them) and forked(name, argv, ours, theirs):
        return True
    if len(argv) == 2 and argv[1].lower() == b"help" and isinstance(ours, list) and isinstance(theirs, list):
        return bool(ours[0] == theirs[0])  # the words are each server's own
    if isinstance(ours, Failure) or isinstance(theirs, Failure) or ours is None or theirs is None:
        return False
    rule = RULES.get(name)
    return rule is not None and rule(argv, ours, theirs, us, them)


def _older(name: bytes, argv: Argv, ours: Any, theirs: Any, us: Redis) -> bool:
    """What 7.0 does otherwise, and Redouble does as later versions do whatever version it is."""
    if name in (b"bitcount", b"bitpos"):
        return isinstance(ours, Failure)  # the key is looked up before the arguments are read
    if name in (b"scan", b"sscan", b"hscan", b"zscan"):
        at = 1 if name == b"scan" else 2
        return not bytes(argv[at]).isdigit()  # cursors that are no numbers
    if name == b"command" and argv[2:3] and argv[2].lower() == b"sinterstore" and isinstance(ours, list):
        # The destination was said to be read.
        return isinstance(theirs, list) and [spec[0] for spec in ours] == [spec[0] for spec in theirs]
    if name in (b"command", b"acl") and b"blocking" in [arg.lower() for arg in argv]:
        return isinstance(ours, list) and sorted(set(ours) - {b"wait"}) == sorted(theirs)  # WAIT was not in @blocking
    if name in (b"sort", b"sort_ro") and isinstance(theirs, Failure) and b"converted into double" in theirs:
        return _out_of_range_before(argv, us)
    if isinstance(ours, Failure) and b"timeout is out of range" in ours:
        if isinstance(theirs, Failure) and b"timeout is negative" in theirs:
            return True
        raise Parted  # one too large wraps around, and is long past
    return False


def _out_of_range_before(argv: Argv, us: Redis) -> bool:
    """SORT takes a number for one out of range if the last number that was read before it, by any command, was so."""
    items = us("SORT", argv[1], "BY", "nosort")
    if isinstance(items, Failure):
        return False
    try:
        numbers = [float(item.partition(b"\0")[0] or b"0") for item in items]
    except ValueError:
        return False
    if numbers or argv[1] in argv[2:]:
        raise Parted  # with STORE the servers hold different things from here on
    return False


#: Commands whose rules go by the sub-command.
CONTAINERS = (b"object", b"xinfo", b"function", b"pubsub", b"command", b"acl", b"config", b"client")
RULES: dict[bytes, Rule] = {
    b"ttl": near(1),
    b"expiretime": near(1),
    b"pttl": near(APART),
    b"httl": each(near(1)),
    b"hexpiretime": each(near(1)),
    b"hpttl": each(near(APART)),
    b"hpexpiretime": each(near(APART)),
    b"pexpiretime": near(APART),
    b"object|encoding": rules.encoded,
    b"object|refcount": rules.counted,
    b"object|idletime": near(2),
    b"get": rules.beyond_the_end,
    b"pfdebug": rules.beyond_the_end,
    b"keys": unordered(),
    b"smembers": unordered(),
    b"sinter": unordered(),
    b"sunion": unordered(),
    b"sdiff": unordered(),
    b"hkeys": unordered(),
    b"hvals": unordered(),
    b"hgetall": unordered(2),
    b"eval": rules.scripted,
    b"eval_ro": rules.scripted,
    b"sort": rules.sorted_by,
    b"sort_ro": rules.sorted_by,
    b"scan": scanned(1),
    b"sscan": scanned(1),
    b"hscan": scanned(2),
    b"zscan": scanned(2),
    b"randomkey": lambda argv, ours, theirs, us, them: type(ours) is type(theirs),
    b"srandmember": picked("SMEMBERS"),
    b"hrandfield": picked("HGETALL"),
    b"zrandmember": picked("ZRANGE"),
    **dict.fromkeys(
        (b"zrange", b"zrangebylex", b"zrevrangebylex", b"zlexcount", b"zremrangebylex", b"zrangestore"),
        rules.by_member,
    ),
    **dict.fromkeys(
        (b"geosearch", b"georadius", b"georadius_ro", b"georadiusbymember", b"georadiusbymember_ro"), rules.placed
    ),
    b"spop": rules.popped,
    b"xpending": rules.pending,
    b"xinfo|stream": rules.idle,
    b"xinfo|consumers": rules.idle,
    b"dump": rules.dumped,
    b"function|list": server_rules.any_order,
    b"pubsub|channels": server_rules.any_order,
    b"pubsub|shardchannels": server_rules.any_order,
    b"command|list": server_rules.any_order,
    b"command|docs": server_rules.documented,
    b"command": server_rules.without_notes,
    b"command|info": server_rules.without_notes,
    b"acl|cat": server_rules.any_order,
    b"acl|getuser": server_rules.user,
    b"acl|list": server_rules.user,
    b"acl|log": server_rules.denials,
    b"acl|genpass": lambda argv, ours, theirs, us, them: len(ours) == len(theirs),
    b"client|id": near(1 << 30),
    b"client|info": server_rules.client_lines,
    b"client|list": server_rules.client_lines,
    b"function|dump": lambda argv, ours, theirs, us, them: sorted(ours[:-10]) == sorted(theirs[:-10]),
    b"hello": server_rules.greeting,
    b"unsubscribe": server_rules.left_all,
    b"punsubscribe": server_rules.left_all,
    b"sunsubscribe": server_rules.left_all,
    b"config|get": server_rules.parameters,
    b"info": server_rules.information,
}
