"""Users and what they may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command


@final
class User:
    """A user."""

    __slots__ = ("name", "nopass", "passwords", "enabled")

    def __init__(self, name: bytes) -> None:
        self.name: bytes = name
        self.nopass: bool = True
        self.passwords: list[bytes] = []
        self.enabled: bool = True


@final
class Acl:
    """The users of a server."""

    __slots__ = ("default", "users")

    def __init__(self) -> None:
        self.default: User = User(b"default")
        self.users: dict[bytes, User] = {b"default": self.default}

    def denial(self, client: Client, command: Command, argv: list[bytes]) -> bytes | None:
        """The NOPERM error for a command that the client's user may not run, or None."""
        return None
