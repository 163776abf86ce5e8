"""What FUNCTION LOAD makes: libraries and their functions, and the rules for their names."""

import re
from typing import Any, Final, final

_NAME: Final = re.compile(rb"[a-zA-Z0-9_]+\Z")
BAD_NAME: Final = (
    b"Library names can only contain letters, numbers, or underscores(_) and must be at least one character long"
)


def is_valid_name(name: bytes) -> bool:
    """May a library or a function be called so?"""
    return _NAME.match(name) is not None


@final
class Library:
    """The code of FUNCTION LOAD and the functions it registered, by name, in order."""

    __slots__ = ("name", "code", "functions")

    def __init__(self, name: bytes, code: bytes) -> None:
        self.name: bytes = name
        #: As it was sent, shebang line included.
        self.code: bytes = code
        self.functions: dict[bytes, Function] = {}


@final
class Function:
    """One registered function."""

    __slots__ = ("name", "description", "flags", "library", "callback")

    def __init__(self, name: bytes, description: bytes | None, flags: int, library: Library, callback: Any) -> None:
        self.name: bytes = name
        self.description: bytes | None = description
        #: Bits of `shebang.py`.
        self.flags: int = flags
        self.library: Library = library
        #: The Lua function.
        self.callback: Any = callback
