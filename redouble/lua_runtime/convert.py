"""Reply values to Lua and back.

To Lua. `ToLua.value` gives what a native function hands over: a plain value, or a tuple whose first
item is ``True``, then a kind and the parts, from which the sandbox makes the table. (That is cheaper
than `table_from` for small tables, and much cheaper for nested ones.) A RESP2 script sees the
shapes of RESP2: flat arrays for maps, texts for doubles. After ``redis.setresp(3)`` it sees tables with
one field: ``map``, ``set``, ``double``, ``big_number``, ``verbatim_string``; and booleans, and nil.

From Lua. The sandbox returns a string, a number, a boolean or nil as such. A table becomes a tuple:
``FLAT, n`` and n strings or numbers, or ``NESTED, n`` and n tokens in pairs, a kind and a value
(the count of items for the containers, whose items follow). Long results are fetched piece by piece.

Numbers are cut to integers on the way out, as C casts a double to a long long.
"""

from typing import Any, Final, final

from redouble.doubles import format_double, format_human, format_nan
from redouble.protocol.reply import (
    EMPTY,
    Attributed,
    BigNumber,
    Boolean,
    Bulks,
    Deep,
    Double,
    ErrorReply,
    HumanDouble,
    Map,
    NullArray,
    PairMap,
    Pairs,
    Push,
    Reply,
    SetReply,
    Simple,
    Verbatim,
)

# What a native function returns after True.
STATUS: Final = 1
ERROR: Final = 2
LIST: Final = 3
VALUE: Final = 4
PANIC: Final = 5
_TREE: Final = 6
_TREE_TABLE: Final = 7

# What the sandbox returns first.
FLAT: Final = 1
NESTED: Final = 2
FAILURE: Final = 3
LONG: Final = 4
OK_TEXT: Final = 5
LONG_FLAT: Final = 6

#: Replies that are nested no deeper may be walked by recursion.
_SHALLOW: Final = 64

# Kinds of tokens.
_SCALAR: Final = 0
_ARRAY: Final = 1
_MAP: Final = 2
_SET: Final = 3
_STATUS: Final = 4
_ERROR: Final = 5
_DOUBLE: Final = 6
_BIG_NUMBER: Final = 7
_VERBATIM: Final = 8
_NULL: Final = 9
_LIMIT: Final = 10

#: Lists and token rows up to this length are handed over item by item, longer ones as a table.
_SHORT: Final = 50
#: Whole numbers up to here are written as integers, larger ones as doubles; shorter ones are the same in either form.
_MOST_EXACT: Final = 1 << 62
_LEAST_EXACT: Final = -_MOST_EXACT
_SHORTEST: Final = 99_999_999_999_999
_LEAST: Final = -9223372036854775808
_TWO_TO_63: Final = 9223372036854775808.0


def error_text(text: bytes) -> bytes:
    """The `err` field for an error reply: cut at a zero byte, with a code before the message."""
    text = text.partition(b"\0")[0]
    if text.startswith(b"-"):
        text = text[1:]
    code, space, message = text.partition(b" ")
    if not space:
        return b"ERR " + code.strip(b"\r\n")
    return code + b" " + message.strip(b"\r\n")


def number_argument(value: int | float, long: bool) -> bytes:
    """A Lua number as an argument of a command; `long` as up to Redis 7.0 (17 digits)."""
    if isinstance(value, int):
        if -_SHORTEST <= value <= _SHORTEST or (not long and _LEAST_EXACT <= value <= _MOST_EXACT):
            return b"%d" % value
    if value != value:
        return format_nan(float(value))
    return format_double(float(value), not long)


@final
class ToLua:
    """Turns replies into what native functions return, for one Lua state."""

    __slots__ = ("table_from", "array", "pairs", "long", "resp")

    def __init__(self, table_from: Any, long: bool) -> None:
        self.table_from: Any = table_from
        #: The markers of the sandbox for the two kinds of tables.
        self.array: Any = None
        self.pairs: Any = None
        #: Doubles are written as up to 7.0, with 17 digits.
        self.long: bool = long
        #: The RESP version that the running script asked for.
        self.resp: int = 2

    def value(self, reply: Reply) -> Any:
        """What a native function returns for `reply`. O(size)."""
        if isinstance(reply, (bytes, int)):
            return reply
        if reply is None:
            return False if self.resp == 2 else None
        if isinstance(reply, Simple):
            return True, STATUS, reply.text
        if isinstance(reply, Bulks):
            items = reply.items
            return (True, LIST, *items) if len(items) <= _SHORT else self.table_from(items)
        if isinstance(reply, ErrorReply):
            return True, ERROR, error_text(reply.text), True
        if type(reply) is list and len(reply) <= _SHORT and self.resp == 2:
            plain = _plain(reply)
            if plain is not None:
                return True, LIST, *plain
        tokens: list[Any] = []
        self._put(tokens, reply)
        if len(tokens) <= _SHORT:
            return True, _TREE, *tokens
        return True, _TREE_TABLE, self.table_from(tokens)

    def _put(self, tokens: list[Any], reply: Reply) -> None:
        """Append the tokens of `reply`: scalars as they are, a marker and a count before the items."""
        if isinstance(reply, (bytes, int)):
            tokens.append(reply)
        elif isinstance(reply, list):
            self._put_array(tokens, reply)
        elif reply is None or isinstance(reply, NullArray):
            tokens.append(False if self.resp == 2 else None)
        elif isinstance(reply, Bulks):
            tokens += (self.array, len(reply.items))
            tokens += reply.items
        elif isinstance(reply, Simple):
            tokens += (self.pairs, 1, b"ok", reply.text)
        elif isinstance(reply, ErrorReply):
            tokens += (self.pairs, 2, b"err", error_text(reply.text), b"ignore_error_stats_update", True)
        elif isinstance(reply, Push):
            self._put_array(tokens, reply.items)
        elif isinstance(reply, Attributed):
            self._put(tokens, reply.reply)
        elif isinstance(reply, Deep):
            self._put_deep(tokens, reply.value)
        elif self.resp == 3:
            self._put_typed(tokens, reply)
        else:
            self._put_untyped(tokens, reply)

    def _put_array(self, tokens: list[Any], items: list[Any]) -> None:
        tokens += (self.array, len(items))
        for item in items:
            if isinstance(item, (bytes, int)):
                tokens.append(item)
            else:
                self._put(tokens, item)

    def _put_deep(self, tokens: list[Any], value: Any) -> None:
        """Containers within containers, without recursion: a script that ran within this one has returned them."""
        rest: list[Any] = [value]
        while rest:
            value = rest.pop()
            if isinstance(value, list):
                tokens += (self.array, len(value))
                rest.extend(reversed(value))
            elif not isinstance(value, (Map, SetReply)):
                self._put(tokens, value)
            elif self.resp == 2:
                rest.append(value.items)
            elif isinstance(value, Map):
                tokens += (self.pairs, 1, b"map", self.pairs, len(value.items) // 2)
                rest.extend(reversed(value.items))
            else:
                items: list[Any] = value.items
                tokens += (self.pairs, 1, b"set", self.pairs, len(items))
                for at in range(len(items) - 1, -1, -1):
                    rest += (True, items[at])

    def _put_pairs(self, tokens: list[Any], items: list[Any]) -> None:
        """A flat list of pairs, with an array around each."""
        tokens += (self.array, len(items) // 2)
        for at in range(0, len(items), 2):
            self._put_array(tokens, items[at : at + 2])

    def _put_untyped(self, tokens: list[Any], reply: Reply) -> None:
        """The types that RESP2 lacks, as RESP2 shows them."""
        if isinstance(reply, (Map, SetReply, Pairs)):
            self._put_array(tokens, reply.items)
        elif isinstance(reply, PairMap):
            self._put_pairs(tokens, reply.items)
        elif isinstance(reply, Double):
            tokens.append(format_double(reply.value, not self.long))
        elif isinstance(reply, HumanDouble):
            tokens.append(format_human(reply.value))
        elif isinstance(reply, Boolean):
            tokens.append(1 if reply.value else 0)
        elif isinstance(reply, Verbatim):
            tokens.append(reply.text)
        elif isinstance(reply, BigNumber):
            tokens.append(reply.digits)
        else:
            raise TypeError(f"not a reply value: {reply!r}")

    def _put_typed(self, tokens: list[Any], reply: Reply) -> None:
        """The types that RESP2 lacks, as a script that asked for RESP3 sees them."""
        if isinstance(reply, Map):
            tokens += (self.pairs, 1, b"map", self.pairs, len(reply.items) // 2)
            for item in reply.items:
                self._put(tokens, item)
        elif isinstance(reply, PairMap):
            self._put_typed(tokens, Map(reply.items))
        elif isinstance(reply, Pairs):
            self._put_pairs(tokens, reply.items)
        elif isinstance(reply, SetReply):
            tokens += (self.pairs, 1, b"set", self.pairs, len(reply.items))
            for item in reply.items:
                self._put(tokens, item)
                tokens.append(True)
        elif isinstance(reply, (Double, HumanDouble)):
            tokens += (self.pairs, 1, b"double", reply.value)
        elif isinstance(reply, Boolean):
            tokens.append(reply.value)
        elif isinstance(reply, Verbatim):
            tokens += (self.pairs, 1, b"verbatim_string", self.pairs, 2, b"string", reply.text, b"format", reply.format)
        elif isinstance(reply, BigNumber):
            tokens += (self.pairs, 1, b"big_number", reply.digits)
        else:
            raise TypeError(f"not a reply value: {reply!r}")


def _plain(items: list[Any]) -> list[Any] | None:
    """The items as Lua values, where all are strings, integers and nulls (in RESP2, where no null leaves a hole)."""
    plain: list[Any] = []
    for item in items:
        if isinstance(item, (bytes, int)):
            plain.append(item)
        elif item is None:
            plain.append(False)
        else:
            return None
    return plain


def whole(value: int | float) -> int:
    """A Lua number as C casts it to a 64-bit integer."""
    if isinstance(value, int):
        return value
    if -_TWO_TO_63 <= value < _TWO_TO_63:
        return int(value)
    return _LEAST


def scalar(value: Any, resp: int) -> Reply:
    """The reply for a string, number, boolean or nil that a script returned."""
    if isinstance(value, bytes) or value is None:
        return value
    if isinstance(value, bool):
        if resp == 3:
            return Boolean(value)
        return 1 if value else None
    return whole(value)


def flat(items: list[Any]) -> Reply:
    """The reply for a table of strings and numbers."""
    for item in items:
        if not isinstance(item, bytes):
            return [item if isinstance(item, bytes) else whole(item) for item in items]
    return Bulks(items) if items else EMPTY


def nested(tokens: list[Any], resp: int) -> Reply:
    """The reply that `tokens` spell; `Deep`, because scripts may nest tables thousands deep. O(size)."""
    root: list[Any] = []
    #: The containers being filled, innermost last, and how many items each still lacks.
    open_items: list[list[Any]] = [root]
    missing: list[int] = [1]
    deepest = 0
    at = 0
    size = len(tokens)
    while at < size:
        kind = tokens[at]
        value = tokens[at + 1]
        at += 2
        while missing[-1] == 0:
            missing.pop()
            open_items.pop()
        missing[-1] -= 1
        if kind == _SCALAR:
            open_items[-1].append(scalar(value, resp))
        elif kind == _VERBATIM:
            open_items[-1].append(Verbatim(tokens[at + 1], (value + b"   ")[:3]))
            at += 2
        elif kind in (_ARRAY, _MAP, _SET):
            items: list[Any] = []
            open_items[-1].append(items if kind == _ARRAY else Map(items) if kind == _MAP else SetReply(items))
            open_items.append(items)
            deepest = max(deepest, len(open_items))
            missing.append(value * 2 if kind == _MAP else value)
        else:
            open_items[-1].append(_leaf(kind, value))
    return Deep(root[0]) if deepest > _SHALLOW else root[0]


def _leaf(kind: int, value: Any) -> Reply:
    if kind == _STATUS:
        return Simple(one_line(value))
    if kind == _ERROR:
        return ErrorReply(one_line(value))
    if kind == _DOUBLE:
        return Double(float(value))
    if kind == _BIG_NUMBER:
        return BigNumber(one_line(value))
    if kind == _LIMIT:
        return ErrorReply(b"ERR reached lua stack limit")
    return None


def one_line(text: bytes) -> bytes:
    """`text` as C reads it, with blanks for line breaks."""
    return text.partition(b"\0")[0].replace(b"\r", b" ").replace(b"\n", b" ")
