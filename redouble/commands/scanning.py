"""What SCAN, SSCAN, HSCAN and ZSCAN share: the cursor, the options, the shape of the reply.

Redis reads the cursor first, then looks the key up (a missing key is an empty, finished scan; a wrong
type an error), and reads the options only after that. So a handler of the kin goes

    cursor = parse_cursor(argv[2])
    value = set_of(ctx.db.read(argv[1]))
    if value is None:
        return scan_reply(0, [])
    options = parse_options(ctx, argv, 3, OF_SET)
    cursor, members = ... (everything and cursor 0 where the encoding is a compact one)
    return scan_reply(cursor, options.matching(members))

The pattern is applied after the walk, so a call may well give nothing and still not be at the end.
"""

from __future__ import annotations

import re
from typing import Final, final

from redouble.datatypes.glob import Glob
from redouble.engine.context import Context
from redouble.errors import INVALID_CURSOR, SYNTAX, CommandError, c_text
from redouble.protocol.numbers import integer, try_integer
from redouble.protocol.reply import Bulks, Reply

#: What is scanned: only the keys have TYPE, only a hash has NOVALUES.
OF_KEYS: Final = 0
OF_SET: Final = 1
OF_HASH: Final = 2
OF_ZSET: Final = 3

_DEFAULT_COUNT: Final = 10
_NOVALUES_SINCE: Final = 70400
_KNOWS_TYPES_SINCE: Final = 80000
_TYPES: Final = (b"string", b"list", b"set", b"zset", b"hash", b"stream")
_CURSOR_END: Final = 1 << 64
#: A cursor that is no canonical integer is read as C's strtoull would.
_LOOSE_CURSOR: Final = re.compile(rb"[ \t\n\v\f\r]*([+-]?[0-9]+)\Z")


@final
class ScanOptions:
    """The options of one call."""

    __slots__ = ("count", "pattern", "type_name", "novalues")

    def __init__(self) -> None:
        #: About how many elements to walk over.
        self.count: int = _DEFAULT_COUNT
        #: None where everything matches.
        self.pattern: Glob | None = None
        #: The TYPE that keys must have, in lower case; None for any.
        self.type_name: bytes | None = None
        self.novalues: bool = False

    def matching(self, names: list[bytes]) -> list[bytes]:
        """Those of `names` that the pattern admits. O(n)."""
        return names if self.pattern is None else self.pattern.filter(names)

    def matching_pairs(self, pairs: list[tuple[bytes, bytes]]) -> list[bytes]:
        """Names and values in turn (names alone with NOVALUES) of the pairs that match by name. O(n)."""
        pattern = self.pattern
        flat: list[bytes] = []
        for name, value in pairs:
            if pattern is None or pattern.matches(name):
                flat.append(name)
                if not self.novalues:
                    flat.append(value)
        return flat


def parse_cursor(text: bytes) -> int:
    """The cursor; any 64-bit number is one. Raises 'invalid cursor'."""
    cursor = try_integer(text)
    if cursor is not None:
        if cursor < 0:
            raise CommandError(INVALID_CURSOR)
        return cursor
    loose = _LOOSE_CURSOR.match(c_text(text))
    if loose is None:
        raise CommandError(INVALID_CURSOR)
    cursor = int(loose.group(1))
    if not -_CURSOR_END < cursor < _CURSOR_END:
        raise CommandError(INVALID_CURSOR)
    return cursor % _CURSOR_END


def parse_options(ctx: Context, argv: list[bytes], at: int, what: int) -> ScanOptions:
    """The options from position `at`; `what` is one of the `OF_` constants. O(arguments)."""
    options = ScanOptions()
    end = len(argv)
    while at < end:
        word = argv[at].upper()
        has_value = at + 1 < end
        if word == b"COUNT" and has_value:
            options.count = integer(argv[at + 1])
            if options.count < 1:
                raise CommandError(SYNTAX)
        elif word == b"MATCH" and has_value:
            pattern = argv[at + 1]
            options.pattern = None if pattern == b"*" else Glob(pattern)
        elif word == b"TYPE" and what == OF_KEYS and has_value:
            name = c_text(argv[at + 1])
            options.type_name = name.lower()
            if ctx.engine.version >= _KNOWS_TYPES_SINCE and name.lower() not in _TYPES:
                raise CommandError(b"ERR unknown type name '%b'" % name)
        elif word == b"NOVALUES" and ctx.engine.version >= _NOVALUES_SINCE:
            if what != OF_HASH:
                raise CommandError(b"ERR NOVALUES option can only be used in HSCAN")
            options.novalues = True
            at -= 1
        else:
            raise CommandError(SYNTAX)
        at += 2
    return options


def scan_reply(cursor: int, items: list[bytes]) -> Reply:
    """The next cursor (0: finished) and what was found."""
    return [b"%d" % cursor, Bulks(items)]
