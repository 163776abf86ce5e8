"""The set of function libraries of one server: FUNCTION LOAD, DELETE, FLUSH, RESTORE.

A library loads as a whole or not at all. Function names are unique over all libraries and found without
regard to case; library names are exact. `FunctionLibraries` is a plain value beside the runtime, so
that FUNCTION RESTORE can build a second one and then `join` or swap it.
"""

from typing import final

from redouble.errors import CommandError
from redouble.lua_runtime.library import BAD_NAME, Function, Library, is_valid_name
from redouble.lua_runtime.runtime import LuaRuntime
from redouble.lua_runtime.shebang import parse_library


@final
class FunctionLibraries:
    """Libraries by name, and all their functions by name."""

    __slots__ = ("runtime", "libraries", "_functions")

    def __init__(self, runtime: LuaRuntime) -> None:
        self.runtime: LuaRuntime = runtime
        self.libraries: dict[bytes, Library] = {}
        #: By name in lower case.
        self._functions: dict[bytes, Function] = {}

    def load(self, code: bytes, replace: bool) -> bytes:
        """FUNCTION LOAD: the library's name, or `CommandError` and nothing has changed. O(len)."""
        engine, name, body = parse_library(code)
        if not is_valid_name(name):
            raise CommandError(b"ERR " + BAD_NAME)
        if engine.lower() != b"lua":
            raise CommandError(b"ERR Engine '" + engine + b"' not found")
        old = self.libraries.get(name)
        if old is not None and not replace:
            raise CommandError(b"ERR Library '" + name + b"' already exists")
        library = Library(name, code)
        self.runtime.load_library(library, body)
        if not library.functions:
            raise CommandError(b"ERR No functions registered")
        self._check_collisions([library], [] if old is None else [old])
        if old is not None:
            self._unlink(old)
        self._link(library)
        return name

    def find(self, name: bytes) -> Function | None:
        """The function of that name. O(1)."""
        return self._functions.get(name.lower())

    def count(self) -> int:
        """How many functions there are. O(1)."""
        return len(self._functions)

    def codes(self) -> list[bytes]:
        """The code of each library, as it was sent. O(libraries)."""
        return [library.code for library in self.libraries.values()]

    def delete(self, name: bytes) -> None:
        """FUNCTION DELETE; `CommandError` if there is no such library."""
        library = self.libraries.get(name)
        if library is None:
            raise CommandError(b"ERR Library not found")
        self._unlink(library)

    def copy(self) -> "FunctionLibraries":
        """The same libraries as an independent set. O(functions)."""
        twin = FunctionLibraries(self.runtime)
        twin.libraries = self.libraries.copy()
        twin._functions = self._functions.copy()
        return twin

    def flush(self) -> None:
        """FUNCTION FLUSH."""
        self.libraries.clear()
        self._functions.clear()

    def join(self, other: "FunctionLibraries", replace: bool) -> None:
        """FUNCTION RESTORE: add the libraries of `other`, all or (`CommandError`) none."""
        replaced: list[Library] = []
        for name in other.libraries:
            old = self.libraries.get(name)
            if old is not None:
                if not replace:
                    raise CommandError(b"ERR Library " + name + b" already exists")
                replaced.append(old)
        self._check_collisions(list(other.libraries.values()), replaced)
        for old in replaced:
            self._unlink(old)
        for library in other.libraries.values():
            self._link(library)

    def _check_collisions(self, coming: list[Library], going: list[Library]) -> None:
        for library in coming:
            for name in library.functions:
                other = self.find(name)
                if other is not None and other.library not in going:
                    raise CommandError(b"ERR Function " + name + b" already exists")

    def _link(self, library: Library) -> None:
        self.libraries[library.name] = library
        for name, function in library.functions.items():
            self._functions[name.lower()] = function

    def _unlink(self, library: Library) -> None:
        del self.libraries[library.name]
        for name in library.functions:
            self._functions.pop(name.lower(), None)
