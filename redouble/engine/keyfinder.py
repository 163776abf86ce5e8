"""Which arguments of a request are keys, and what the command does with them.

The answer comes from the command's key specifications: each says where its search begins (at a fixed
position, or behind a keyword) and how keys follow from there (a range with a step, or a count and the
keys behind it). Where a specification does not fit the request (a count that is no number, keys beyond
the end), or says itself that it does not find all (SORT's STORE, MIGRATE's KEYS), the command's
`key_finder` is asked, and without one nothing is found.

SET and BITFIELD change or only read their key depending on their arguments, which a specification
can't say; `_VARIABLE` can. Channels of SSUBSCRIBE and its kin are marked `not_key`: they are specified
for the cluster's sake.

Used by COMMAND GETKEYS, client-side caching, ACL and cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from redouble.protocol.numbers import try_integer

if TYPE_CHECKING:
    from redouble.engine.command import Command, KeySpec

NOT_KEY: Final = "not_key"
INCOMPLETE: Final = "incomplete"
VARIABLE: Final = "variable_flags"


def has_keys(command: Command) -> bool:
    """Whether any request of this command may name keys. O(specifications)."""
    return command.key_finder is not None or any(NOT_KEY not in spec.flags for spec in command.keys)


def keys_of(command: Command, argv: list[bytes]) -> list[bytes]:
    """The keys of a request, in the order of the specifications. O(arguments)."""
    return [argv[at] for at, _ in key_places(command, argv)]


def keys_with_flags(command: Command, argv: list[bytes]) -> list[tuple[bytes, list[str]]]:
    """The keys of a request, each with the flags that say what is done with it. O(arguments)."""
    return [(argv[at], flags) for at, flags in key_places(command, argv)]


def key_places(command: Command, argv: list[bytes]) -> list[tuple[int, list[str]]]:
    """The positions of the keys in argv, each with the flags that say what is done with it. O(arguments)."""
    return _places(command, argv, False)


def slot_names(command: Command, argv: list[bytes]) -> list[bytes]:
    """The names whose slots say to which node of a cluster a request belongs: keys, shard channels. O(arguments)."""
    return [argv[at] for at, _ in _places(command, argv, True)]


def _places(command: Command, argv: list[bytes], channels: bool) -> list[tuple[int, list[str]]]:
    found: list[tuple[int, list[str]]] = []
    for spec in command.keys:
        if not channels and NOT_KEY in spec.flags:
            continue
        places = positions(spec, argv)
        if places is None:
            return _by_finder(command, argv)
        if places:
            flags = spec.flags
            if VARIABLE in flags:
                flags = _VARIABLE[command.full_name](argv)
            found.extend([(at, flags) for at in places])
    return found


def _by_finder(command: Command, argv: list[bytes]) -> list[tuple[int, list[str]]]:
    """The keys that the command's own finder finds: the first is the first specification's, the rest the last's."""
    if command.key_finder is None:
        return []
    found: list[tuple[int, list[str]]] = []
    for at in command.key_finder(argv):
        spec = command.keys[-1 if found else 0]
        found.append((at, [flag for flag in spec.flags if flag != INCOMPLETE]))
    return found


def positions(spec: KeySpec, argv: list[bytes]) -> list[int] | None:
    """Where the keys of one specification stand; None when it does not fit the request. O(arguments)."""
    if spec.index < 0:
        return None
    begin = spec.index
    if spec.keyword:
        begin = _behind_keyword(spec, argv)
        if begin < 0:
            return []
    first = begin
    if spec.counted:
        at = begin + spec.count_at
        count = try_integer(argv[at]) if at < len(argv) else None
        if count is None or count < 0:
            return None
        first += spec.first
        last = first + count - 1
    elif spec.last >= 0:
        last = begin + spec.last
    elif spec.limit:
        last = begin + (len(argv) - begin) // spec.limit + spec.last
    else:
        last = len(argv) + spec.last
    if last < first or last >= len(argv) or INCOMPLETE in spec.flags:
        return None
    return list(range(first, last + 1, spec.step))


def _behind_keyword(spec: KeySpec, argv: list[bytes]) -> int:
    """The position behind the keyword, -1 where it is missing."""
    backwards = spec.start < 0
    at = len(argv) + spec.start if backwards else spec.start
    end = 1 if backwards else len(argv) - 1
    while 0 < at < len(argv) and at != end:
        if argv[at].upper() == spec.keyword:
            return at + 1
        at += -1 if backwards else 1
    return -1


def legacy_range(command: Command) -> tuple[int, int, int]:
    """First key, last key and step, as COMMAND told them before there were specifications. O(specifications)."""
    specs = command.keys
    if len(specs) == 1 and _is_simple(specs[0]):
        spec = specs[0]
        return spec.index, spec.last + spec.index if spec.last >= 0 else spec.last, spec.step
    first = 0
    last = 0
    for spec in specs:
        if not _is_simple(spec) or spec.step != 1 or (last and last != spec.index - 1):
            continue
        first = spec.index if first == 0 else min(first, spec.index)
        end = spec.last + spec.index if spec.last >= 0 else spec.last
        last = end if end < 0 else max(last, end)
    return first, last, 1 if first else 0


def _is_simple(spec: KeySpec) -> bool:
    return spec.index > 0 and not spec.keyword and not spec.counted


def _set_flags(argv: list[bytes]) -> list[str]:
    """SET reads its key only with GET."""
    for arg in argv[3:]:
        if arg.upper() == b"GET":
            return ["RW", "access", "update"]
    return ["OW", "update"]


def _bitfield_flags(argv: list[bytes]) -> list[str]:
    """BITFIELD with nothing but GET changes nothing."""
    at = 2
    while at < len(argv):
        word = argv[at].upper()
        if word == b"GET":
            at += 3
        elif word == b"OVERFLOW":
            at += 2
        else:
            return ["RW", "access", "update"]
    return ["RO", "access"]


#: Commands whose specification says `variable_flags`.
_VARIABLE: Final[dict[bytes, Callable[[list[bytes]], list[str]]]] = {b"set": _set_flags, b"bitfield": _bitfield_flags}
