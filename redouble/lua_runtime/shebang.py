"""The first line of a script or library: `#!lua flags=no-writes,...` or `#!lua name=mylib`.

A script without that line runs in compatible mode (`COMPAT`): nothing is known of it beforehand.
"""

from typing import Final

from redouble.errors import CommandError
from redouble.protocol.inline import split_inline

NO_WRITES: Final = 1
ALLOW_OOM: Final = 2
ALLOW_STALE: Final = 4
NO_CLUSTER: Final = 8
#: The script has no shebang line.
COMPAT: Final = 16
ALLOW_CROSS_SLOT: Final = 32

#: The flags by name, in the order in which FUNCTION LIST shows them.
FLAG_BITS: Final[dict[bytes, int]] = {
    b"no-writes": NO_WRITES,
    b"allow-oom": ALLOW_OOM,
    b"allow-stale": ALLOW_STALE,
    b"no-cluster": NO_CLUSTER,
    b"allow-cross-slot-keys": ALLOW_CROSS_SLOT,
}


def parse_script(body: bytes) -> tuple[int, bytes]:
    """The flags of an EVAL script and the code to compile (its line numbers are kept). O(len)."""
    if not body.startswith(b"#!"):
        return COMPAT, body
    line, code = _cut(body, b"ERR Invalid script shebang")
    parts = split_inline(line)
    if not parts:
        raise CommandError(b"ERR Invalid engine in script shebang")
    if parts[0] != b"#!lua":
        raise CommandError(b"ERR Unexpected engine in script shebang: " + parts[0])
    flags = 0
    for part in parts[1:]:
        if not part.startswith(b"flags="):
            raise CommandError(b"ERR Unknown lua shebang option: " + part)
        for flag in part[6:].split(b",") if len(part) > 6 else ():
            bit = FLAG_BITS.get(flag)
            if bit is None:
                raise CommandError(b"ERR Unexpected flag in script shebang: " + flag)
            flags |= bit
    return flags, code


def parse_library(code: bytes) -> tuple[bytes, bytes, bytes]:
    """A library's engine, its name, and the code to compile. O(len)."""
    if not code.startswith(b"#!"):
        raise CommandError(b"ERR Missing library metadata")
    line, rest = _cut(code, b"ERR Invalid library metadata")
    parts = split_inline(line)
    if not parts:
        raise CommandError(b"ERR Invalid library metadata")
    name: bytes | None = None
    for part in parts[1:]:
        if part[:5].lower() != b"name=":
            raise CommandError(b"ERR Invalid metadata value given: " + part)
        if name is not None:
            raise CommandError(b"ERR Invalid metadata value, name argument was given multiple times")
        name = part[5:]
    if name is None:
        raise CommandError(b"ERR Library name was not given")
    return parts[0][2:], name, rest


def _cut(code: bytes, error: bytes) -> tuple[bytes, bytes]:
    """The first line, and the rest with its line break, so that lines count as the user counts."""
    end = code.find(b"\n")
    zero = code.find(b"\0")
    if end < 0 or 0 <= zero < end:
        raise CommandError(error)
    return code[:end], code[end:]
