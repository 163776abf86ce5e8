"""Reply values: what a handler returns, typed, before anybody thinks of bytes.

The type travels with the value, from the handler to the wire and to Lua. Nobody guesses a type
from a content, and nobody parses a reply back.

=================  ======================================  =======================================
value              RESP2                                   RESP3
=================  ======================================  =======================================
``bytes``          bulk string                             bulk string
``int``            integer                                 integer
``None``           null bulk                               null
``list``           array                                   array
`Bulks`            array of bulk strings (one join)        the same
`Simple`           simple string                           simple string
`ErrorReply`       error                                   error
`NULL_ARRAY`       null array                              null
`Map`              flat array                              map
`Pairs`            flat array                              array of arrays of two
`PairMap`          array of arrays of two                  map
`SetReply`         array                                   set
`Push`             array                                   push
`Double`           bulk string                             double
`HumanDouble`      bulk string                             double
`Boolean`          integer 1 or 0                          boolean
`Verbatim`         bulk string                             verbatim string
`BigNumber`        bulk string                             big number
`Deep`             what it holds                           the same
`Several`          its items, one after the other          the same
`Attributed`       its reply                               attribute, then its reply
`NO_REPLY`         nothing                                 nothing
=================  ======================================  =======================================

``str``, ``bool``, ``float`` and ``tuple`` are refused by the encoder: they are slips.
"""

from typing import Any, Final, final


@final
class Simple:
    """A simple string, as in ``+OK``."""

    __slots__ = ("text",)

    def __init__(self, text: bytes) -> None:
        self.text: bytes = text


@final
class ErrorReply:
    """An error with its code; within an array too (EXEC)."""

    __slots__ = ("text",)

    def __init__(self, text: bytes) -> None:
        self.text: bytes = text


@final
class Bulks:
    """An array whose items are all ``bytes``; the encoder joins them at once."""

    __slots__ = ("items",)

    def __init__(self, items: list[bytes]) -> None:
        self.items: list[bytes] = items


@final
class Map:
    """Pairs in order: ``items`` is flat, key after value after key."""

    __slots__ = ("items",)

    def __init__(self, items: list[Any]) -> None:
        self.items: list[Any] = items


@final
class Pairs:
    """Pairs in order, as members with scores: ``items`` is flat. RESP3 nests each pair in an array."""

    __slots__ = ("items",)

    def __init__(self, items: list[Any]) -> None:
        self.items: list[Any] = items


@final
class PairMap:
    """Pairs that RESP2 nests in arrays of two and RESP3 sends as a map (XREAD). ``items`` is flat."""

    __slots__ = ("items",)

    def __init__(self, items: list[Any]) -> None:
        self.items: list[Any] = items


@final
class SetReply:
    """An unordered collection without duplicates."""

    __slots__ = ("items",)

    def __init__(self, items: list[Any]) -> None:
        self.items: list[Any] = items


@final
class Push:
    """Data out of band, such as a published message."""

    __slots__ = ("items",)

    def __init__(self, items: list[Any]) -> None:
        self.items: list[Any] = items


@final
class Attributed:
    """A reply with attributes, a flat list of names and values; RESP2 leaves them out."""

    __slots__ = ("attributes", "reply")

    def __init__(self, attributes: list[Any], reply: Any) -> None:
        self.attributes: list[Any] = attributes
        self.reply: Any = reply


@final
class Several:
    """Several replies in a row for one command, as SUBSCRIBE gives."""

    __slots__ = ("items",)

    def __init__(self, items: list[Any]) -> None:
        self.items: list[Any] = items


@final
class Encoded:
    """Bytes of replies, as they go out: what EXEC had answered before a HELLO in it changed the protocol."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data: bytes = data


@final
class Deep:
    """A list, `Map` or `SetReply` that may be nested so deep that nothing recursive may walk it."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Any = value


@final
class Double:
    """A floating point number, as a score."""

    __slots__ = ("value",)

    def __init__(self, value: float) -> None:
        self.value: float = value


@final
class HumanDouble:
    """A floating point number written without exponent, as a coordinate."""

    __slots__ = ("value",)

    def __init__(self, value: float) -> None:
        self.value: float = value


@final
class Boolean:
    """A truth value."""

    __slots__ = ("value",)

    def __init__(self, value: bool) -> None:
        self.value: bool = value


@final
class Verbatim:
    """Text with a three-letter format, ``txt`` or ``mkd``."""

    __slots__ = ("text", "format")

    def __init__(self, text: bytes, format: bytes = b"txt") -> None:
        self.text: bytes = text
        self.format: bytes = format


@final
class BigNumber:
    """An integer of any size, as its decimal digits."""

    __slots__ = ("digits",)

    def __init__(self, digits: bytes) -> None:
        self.digits: bytes = digits


@final
class NullArray:
    """The null of RESP2's arrays. Use the one instance, `NULL_ARRAY`."""

    __slots__ = ()


@final
class NoReply:
    """Nothing is sent for this command (or it has been sent already). Use `NO_REPLY`."""

    __slots__ = ()


#: What a handler may return. A recursive type would be truer, but mypyc boxes it just the same.
Reply = Any

OK: Final = Simple(b"OK")
QUEUED: Final = Simple(b"QUEUED")
NULL_ARRAY: Final = NullArray()
NO_REPLY: Final = NoReply()
EMPTY: Final = Bulks([])
