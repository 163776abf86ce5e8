"""Bytes as Redis shows them in texts: between double quotes, with escapes for what can't be printed."""

import re
from typing import Final

#: Neither white space nor quotes nor backslashes.
_PLAIN: Final = re.compile(rb"[!#-&(-\[\]-~]+\Z")
_NAMED: Final[dict[int, bytes]] = {
    92: b"\\\\",
    34: b'\\"',
    10: b"\\n",
    13: b"\\r",
    9: b"\\t",
    7: b"\\a",
    8: b"\\b",
}


def quoted(data: bytes) -> bytes:
    """`data` within double quotes; `split_inline` reads it back. O(len)."""
    if data.isalnum():
        return b'"' + data + b'"'
    out = bytearray(b'"')
    for byte in data:
        named = _NAMED.get(byte)
        if named is not None:
            out += named
        elif 32 <= byte < 127:
            out.append(byte)
        else:
            out += b"\\x%02x" % byte
    out += b'"'
    return bytes(out)


def shell_words(argv: list[bytes]) -> bytes:
    """A request as one would type it: words in quotes only where they need them; `split_inline` reads it. O(len)."""
    return b" ".join([word if _PLAIN.match(word) is not None else quoted(word) for word in argv])
