"""The one class for errors that a client may expect, and the texts that several families share.

A handler raises `CommandError`; the engine's `call` turns it into an error reply, counts it, and
nothing else happens. Any other exception is a bug of ours: it is logged with its traceback and
answered with `-ERR internal error`. So an `except` in a handler is nearly always wrong.

Texts are bytes, complete with their code (`ERR`, `WRONGTYPE`, ...), because they may quote what
the client sent, byte for byte. They never hold a line break: the encoder replaces those.
"""

from typing import Final


class CommandError(Exception):
    """An error reply with exactly this text, its code included.

    `counted` tells that the statistics have it already: a script ends with the error of its command.
    """

    def __init__(self, text: bytes, counted: bool = False) -> None:
        super().__init__(text)
        self.text: bytes = text
        self.counted: bool = counted


SYNTAX: Final = b"ERR syntax error"
WRONGTYPE: Final = b"WRONGTYPE Operation against a key holding the wrong kind of value"
NOT_AN_INTEGER: Final = b"ERR value is not an integer or out of range"
NOT_A_FLOAT: Final = b"ERR value is not a valid float"
NO_SUCH_KEY: Final = b"ERR no such key"
INDEX_OUT_OF_RANGE: Final = b"ERR index out of range"
OUT_OF_RANGE: Final = b"ERR value is out of range"
MUST_BE_POSITIVE: Final = b"ERR value is out of range, must be positive"
OVERFLOW: Final = b"ERR increment or decrement would overflow"
NAN_OR_INFINITY: Final = b"ERR increment would produce NaN or Infinity"
TIMEOUT_NOT_A_FLOAT: Final = b"ERR timeout is not a float or out of range"
TIMEOUT_NEGATIVE: Final = b"ERR timeout is negative"
TIMEOUT_OUT_OF_RANGE: Final = b"ERR timeout is out of range"
STRING_TOO_LONG: Final = b"ERR string exceeds maximum allowed size (proto-max-bulk-len)"
INVALID_CURSOR: Final = b"ERR invalid cursor"
NO_AUTH: Final = b"NOAUTH Authentication required."
NO_SCRIPT: Final = b"NOSCRIPT No matching script. Please use EVAL."
INTERNAL: Final = b"ERR internal error"


def c_text(text: bytes) -> bytes:
    """What the client sent, as far as an error shows it: C's strings end at the first zero byte."""
    return text.partition(b"\0")[0]


def wrong_arity(name: bytes) -> CommandError:
    """The error for a wrong number of arguments; `name` in lower case, `client|list` for sub-commands."""
    return CommandError(b"ERR wrong number of arguments for '" + name + b"' command")


def invalid_expire(name: bytes) -> CommandError:
    """The error for an expire time that is zero, negative where it may not be, or overflows."""
    return CommandError(b"ERR invalid expire time in '" + name + b"' command")
