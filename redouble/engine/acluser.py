"""A user: whether it may log in and with which passwords, and its selectors.

Rules are applied one after the other; which there are is told by Redis' page on access control lists.
Passwords are kept as SHA-256 only.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final, final

from redouble.engine.aclselector import DENIED_COMMAND, Selector, channel_listed
from redouble.errors import CommandError
from redouble.protocol.inline import split_inline

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command, CommandTable

_HASH: Final = re.compile(rb"[0-9a-f]{64}\Z")
_NO_HASH: Final = b"The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters"
_SANITIZES_SINCE: Final = 70200
_NO_SUCH_PASSWORD: Final = b"The password you are trying to remove from the user does not exist"


def password_hash(password: bytes) -> bytes:
    """The hexadecimal SHA-256 that is kept of a password. O(len)."""
    return hashlib.sha256(password).hexdigest().encode()


@final
class User:
    """A user. A new one is off, has no password and may do nothing."""

    __slots__ = ("name", "enabled", "nopass", "sanitize", "passwords", "selectors", "unrestricted")

    def __init__(self, name: bytes, table: CommandTable) -> None:
        self.name: bytes = name
        self.enabled: bool = False
        #: Any password will do.
        self.nopass: bool = False
        #: Whether what it RESTOREs is checked closely, as the flag says it; up to 7.0 a new user has none, before
        #: `reset`.
        self.sanitize: bytes = b"sanitize-payload" if table.version >= _SANITIZES_SINCE else b""
        #: Hashes, in the order in which they were added.
        self.passwords: list[bytes] = []
        #: The first is the root, to which rules outside brackets apply.
        self.selectors: list[Selector] = [Selector(table)]
        #: True for a user who may do everything; nothing is checked then.
        self.unrestricted: bool = False

    @property
    def root(self) -> Selector:
        """The selector to which rules outside brackets apply."""
        return self.selectors[0]

    def assign(self, other: User) -> None:
        """Become as another user is, but for the name. O(size)."""
        self.enabled = other.enabled
        self.nopass = other.nopass
        self.sanitize = other.sanitize
        self.passwords = list(other.passwords)
        self.selectors = [selector.copy() for selector in other.selectors]
        self.unrestricted = other.unrestricted

    # -- checking ---------------------------------------------------------------------------

    def accepts(self, password: bytes) -> bool:
        """Whether one can log in with this password. O(passwords)."""
        return self.enabled and (self.nopass or password_hash(password) in self.passwords)

    def check(self, command: Command, argv: list[bytes]) -> tuple[int, int]:
        """Whether a request is allowed: the result of the selector that comes nearest. O(selectors * arguments)."""
        worst = DENIED_COMMAND
        place = 0
        for selector in self.selectors:
            result, at = selector.check(command, argv)
            if not result:
                return result, 0
            if result > worst or (result == worst and at > place):
                worst = result
                place = at
        return worst, place

    def may_read_all_keys(self, command: Command | None, argv: list[bytes]) -> bool:
        """Whether a selector allows a request and to read any key besides. O(selectors * arguments)."""
        for selector in self.selectors:
            if command is not None and not selector.check(command, argv)[0] and selector.reads_all_keys:
                return True
        return False

    def lost_channels(self, before: User) -> list[bytes] | None:
        """The channels it may listen to now, or None if it may listen to all that it might `before`. O(channels)."""
        now: list[bytes] = []
        for selector in self.selectors:
            if selector.all_channels:
                return None
            now.extend(selector.channels)
        for selector in before.selectors:
            if selector.all_channels or [channel for channel in selector.channels if channel not in now]:
                return now
        return None

    # -- rules ------------------------------------------------------------------------------

    def apply(self, rule: bytes, all_channels_by_default: bool) -> None:
        """Change the user as a rule says. Raises `CommandError` with the reason only."""
        word = rule.lower()
        if word in (b"on", b"off"):
            self.enabled = word == b"on"
        elif word in (b"sanitize-payload", b"skip-sanitize-payload"):
            self.sanitize = word
        elif word in (b"nopass", b"resetpass"):
            self.nopass = word == b"nopass"
            self.passwords = []
        elif rule[:1] in (b">", b"#"):
            hashed = _hash_of(rule)
            if hashed not in self.passwords:
                self.passwords.append(hashed)
            self.nopass = False
        elif rule[:1] in (b"<", b"!"):
            hashed = _hash_of(rule)
            if hashed not in self.passwords:
                raise CommandError(_NO_SUCH_PASSWORD)
            self.passwords.remove(hashed)
        elif rule[:1] == b"(" and rule[-1:] == b")":
            selector = Selector(self.root.table)
            for part in split_inline(rule[1:-1]) or []:
                selector.apply(part)
            self.selectors.append(selector)
        elif word == b"clearselectors":
            del self.selectors[1:]
        elif word == b"reset":
            self._reset(all_channels_by_default)
        elif rule:
            self.root.apply(rule)
        self.unrestricted = any(selector.unrestricted for selector in self.selectors)

    def _reset(self, all_channels: bool) -> None:
        self.assign(User(self.name, self.root.table))
        # A new user of an early server has no such flag, but one that was reset has.
        self.sanitize = b"sanitize-payload"
        self.root.all_channels = all_channels

    def flag_names(self) -> list[bytes]:
        """Its flags, in order."""
        found = [b"on" if self.enabled else b"off"]
        if self.nopass:
            found.append(b"nopass")
        if self.sanitize:
            found.append(self.sanitize)
        return found

    def describe(self) -> bytes:
        """The rules, in one line that makes such a user again. O(size)."""
        parts = self.flag_names() + [b"#" + hashed for hashed in self.passwords]
        parts.append(self.root.describe())
        parts.extend([b"(%b)" % selector.describe() for selector in self.selectors[1:]])
        return b" ".join(parts)


def _hash_of(rule: bytes) -> bytes:
    """The hash that a rule about a password means: of a clear text (> <), or given (# !)."""
    if rule[:1] in (b">", b"<"):
        return password_hash(rule[1:])
    if _HASH.match(rule[1:]) is None:
        raise CommandError(_NO_HASH)
    return rule[1:]


def merge_brackets(rules: list[bytes]) -> list[bytes]:
    """Rules with the words between brackets joined to one. Raises `CommandError` with the unmatched rule only."""
    merged: list[bytes] = []
    opened: list[bytes] = []
    for rule in rules:
        if opened or (rule[:1] == b"(" and rule[-1:] != b")"):
            opened.append(rule)
            if rule[-1:] == b")":
                merged.append(b" ".join(opened))
                opened = []
        else:
            merged.append(rule)
    if opened:
        raise CommandError(opened[0])
    return merged


def listens_beyond(client: Client, channels: list[bytes]) -> bool:
    """Whether a client listens to something that is not among these channels. O(subscriptions * channels)."""
    if any(not channel_listed(channels, pattern, True) for pattern in client.patterns):
        return True
    names = [*client.channels, *client.shard_channels]
    return any(not channel_listed(channels, name, False) for name in names)
