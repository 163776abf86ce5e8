"""Users and what they may do."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, final

from redouble.engine import flags as f

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command


def password_hash(password: bytes) -> bytes:
    """The hexadecimal SHA-256 that is kept of a password. O(len)."""
    return hashlib.sha256(password).hexdigest().encode()


@final
class User:
    """A user."""

    __slots__ = ("name", "nopass", "passwords", "enabled", "unrestricted")

    def __init__(self, name: bytes) -> None:
        self.name: bytes = name
        self.enabled: bool = True
        self.nopass: bool = True
        #: Hashes, in the order in which they were added.
        self.passwords: list[bytes] = []
        #: True for a user who may do everything; nothing is checked then.
        self.unrestricted: bool = True


@final
class Acl:
    """The users of a server."""

    __slots__ = ("default", "users")

    def __init__(self) -> None:
        self.default: User = User(b"default")
        self.users: dict[bytes, User] = {b"default": self.default}

    def welcome(self, client: Client) -> None:
        """A connection that is new, or as good as new, belongs to the default user if that needs no password."""
        self.become(client, self.default)
        if not self.default.nopass or not self.default.enabled:
            client.flags |= f.UNAUTHENTICATED
            client.parser.trusted = False

    def become(self, client: Client, user: User) -> None:
        """The connection belongs to a user from now on."""
        client.user = user
        client.flags &= ~(f.UNAUTHENTICATED | f.RESTRICTED)
        client.parser.trusted = True
        if not user.unrestricted:
            client.flags |= f.RESTRICTED

    def authenticate(self, client: Client, name: bytes, password: bytes) -> bool:
        """Log in; False when there is no such user or the password is wrong."""
        user = self.users.get(name)
        if user is None or not user.enabled:
            return False
        if not user.nopass and password_hash(password) not in user.passwords:
            return False
        self.become(client, user)
        return True

    def denial(self, client: Client, command: Command, argv: list[bytes]) -> bytes | None:
        """The NOPERM error for a command that the client's user may not run, or None."""
        return None
