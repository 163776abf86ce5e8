"""Users and what they may do: the registry, logging in, and the check of a request.

The default user may do everything, and a client that belongs to such a user carries no flag, so nothing
is checked for it. Any other user's clients carry RESTRICTED, and then `denial` asks the user's
selectors (see `aclselector.py`). Users are told apart by identity: a change of rules takes effect for
connections that are already logged in, and a deleted user's connections are closed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f
from redouble.engine.acllog import DENIED_LOGIN, AclLog
from redouble.engine.aclselector import ALLOWED, DENIED_CHANNEL, DENIED_COMMAND, DENIED_KEY, has_spaces
from redouble.engine.acluser import User, listens_beyond, merge_brackets, password_hash
from redouble.errors import CommandError, c_text

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command
    from redouble.engine.engine import Engine

__all__ = ["Acl", "User", "password_hash"]

DEFAULT: Final = b"default"
_EVERYTHING: Final = (b"+@all", b"~*", b"&*", b"on", b"nopass")
#: From this version on an error names the user, and the log numbers its entries.
_NAMES_USER_SINCE: Final = 70200
#: What a script was told before that, by result.
_EARLY_SCRIPT_REASONS: Final[dict[int, bytes]] = {
    DENIED_COMMAND: b"can't run this command or subcommand",
    DENIED_KEY: b"can't access at least one of the keys mentioned in the command arguments",
    DENIED_CHANNEL: b"can't publish to the channel mentioned in the command",
}
_CHANGED: Final = (
    b"NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command is "
    b"no longer allowed for the following reason: "
)


@final
class Acl:
    """The users of a server."""

    __slots__ = ("engine", "default", "users", "log", "all_channels_by_default")

    def __init__(self, engine: Engine) -> None:
        self.engine: Engine = engine
        self.log: AclLog = AclLog()
        #: acl-pubsub-default.
        self.all_channels_by_default: bool = False
        self.default: User = self._omnipotent()
        self.users: dict[bytes, User] = {DEFAULT: self.default}

    def _omnipotent(self) -> User:
        user = User(DEFAULT, self.engine.table)
        for rule in _EVERYTHING:
            user.apply(rule, False)
        return user

    def fresh_user(self, name: bytes) -> User:
        """A user as ACL SETUSER creates it, not registered yet."""
        user = User(name, self.engine.table)
        user.root.all_channels = self.all_channels_by_default
        return user

    # -- logging in -------------------------------------------------------------------------

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

    def authenticate(self, client: Client, name: bytes, password: bytes, asked_by: bytes) -> bool:
        """Log in; False when there is no such user or the password is wrong. `asked_by` is the command's name."""
        user = self.users.get(name)
        if user is None or not user.accepts(password):
            self.engine.stats.denied_auth += 1
            self.log.add(client, DENIED_LOGIN, self._context(client), asked_by, name)
            return False
        self.become(client, user)
        return True

    # -- checking ---------------------------------------------------------------------------

    def denial(self, client: Client, command: Command, argv: list[bytes]) -> bytes | None:
        """The NOPERM error for a request that the client's user may not send, or None. O(selectors * arguments)."""
        result, at = client.user.check(command, argv)
        if result == ALLOWED:
            return None
        self._note(client, command, argv, result, at, self._context(client))
        return b"NOPERM " + self._reason(client.user, command, result)

    def script_denial(self, client: Client, command: Command, argv: list[bytes]) -> bytes | None:
        """The same for a command that a script runs."""
        result, at = client.user.check(command, argv)
        if result == ALLOWED:
            return None
        self._note(client, command, argv, result, at, b"lua")
        if self.engine.version < _NAMES_USER_SINCE:
            return b"ERR The user executing the script " + _EARLY_SCRIPT_REASONS[result]
        return b"ERR ACL failure in script: " + self._reason(client.user, command, result)

    def exec_denial(self, client: Client, command: Command, argv: list[bytes]) -> bytes | None:
        """The same for a queued command whose user may have changed since. For EXEC."""
        result, at = client.user.check(command, argv)
        if result == ALLOWED:
            return None
        self._note(client, command, argv, result, at, b"multi")
        if result == DENIED_COMMAND:
            return _CHANGED + b"no permission to execute the command or subcommand"
        if result == DENIED_KEY:
            return _CHANGED + b"no permission to touch the specified keys"
        return _CHANGED + b"no permission to access one of the channels used as arguments"

    def _context(self, client: Client) -> bytes:
        return b"multi" if client.flags & f.IN_MULTI else b"toplevel"

    def _note(self, client: Client, command: Command, argv: list[bytes], result: int, at: int, context: bytes) -> None:
        """Count and log a denial."""
        stats = self.engine.stats
        if result == DENIED_COMMAND:
            stats.denied_commands += 1
        elif result == DENIED_KEY:
            stats.denied_keys += 1
        else:
            stats.denied_channels += 1
        denied = command.full_name if result == DENIED_COMMAND else argv[at]
        self.log.add(client, result, context, denied, client.user.name)

    def _reason(self, user: User, command: Command, result: int) -> bytes:
        """Why a request is denied, without the names of keys and channels."""
        named = self.engine.version >= _NAMES_USER_SINCE
        if result == DENIED_COMMAND:
            who = b"User " + user.name if named else b"this user"
            return b"%b has no permissions to run the '%b' command" % (who, command.full_name)
        what = b"key" if result == DENIED_KEY else b"channel"
        if named:
            return b"No permissions to access a " + what
        return b"this user has no permissions to access one of the %bs used as arguments" % what

    def verbose_denial(self, user: User, command: Command, result: int, name: bytes) -> bytes:
        """Why a request is denied, with the name of the key or channel. For ACL DRYRUN."""
        who = b"User " + user.name if self.engine.version >= _NAMES_USER_SINCE else b"This user"
        if result == DENIED_COMMAND:
            return b"%b has no permissions to run the '%b' command" % (who, command.full_name)
        what = b"key" if result == DENIED_KEY else b"channel"
        return b"%b has no permissions to access the '%b' %b" % (who, name, what)

    # -- changing users ---------------------------------------------------------------------

    def set_user(self, name: bytes, rules: list[bytes]) -> None:
        """Create or change a user: all rules or none. Raises `CommandError`. O(rules * commands + clients)."""
        if has_spaces(name):
            raise CommandError(b"ERR Usernames can't contain spaces or null characters")
        try:
            merged = merge_brackets(rules)
        except CommandError as unmatched:
            raise CommandError(
                b"ERR Unmatched parenthesis in acl selector starting at '%b'." % c_text(unmatched.text)
            ) from None
        user = self.users.get(name)
        draft = self.fresh_user(name)
        if user is not None:
            draft.assign(user)
        for rule in merged:
            try:
                draft.apply(rule, self.all_channels_by_default)
            except CommandError as reason:
                raise CommandError(
                    b"ERR Error in ACL SETUSER modifier '%b': %b" % (c_text(rule), reason.text)
                ) from None
        if user is None:
            self.users[name] = draft
        else:
            self.replace(user, draft)

    def replace(self, user: User, draft: User) -> None:
        """A user becomes what the draft is; its connections feel it at once. O(clients)."""
        channels = draft.lost_channels(user)
        user.assign(draft)
        for client in list(self.engine.clients.values()):
            if client.user is not user:
                continue
            if channels is not None and listens_beyond(client, channels):
                self.expel(client)
            elif not client.flags & f.UNAUTHENTICATED:
                self.become(client, user)

    def delete_user(self, name: bytes) -> bool:
        """Forget a user and close its connections; False if there is none. O(clients)."""
        user = self.users.pop(name, None)
        if user is None:
            return False
        for client in list(self.engine.clients.values()):
            if client.user is user:
                self.expel(client)
        return True

    def expel(self, client: Client) -> None:
        """Log a connection out and close it, after the reply where it is its own command that did it."""
        client.user = self.default
        client.flags |= f.UNAUTHENTICATED
        if client is self.engine.current:
            client.flags |= f.ENDING
        else:
            self.engine.kill(client)

    def exchange(self, users: dict[bytes, User]) -> None:
        """Take other users instead, as read from a file; connections go on as the user of their name. O(clients)."""
        default = users.pop(DEFAULT, None) or self._omnipotent()
        former = self.users
        self.users = {DEFAULT: self.default, **users}
        self.replace(self.default, default)
        for client in list(self.engine.clients.values()):
            if client.user is self.default:
                continue
            user = users.get(client.user.name)
            channels = user.lost_channels(former[client.user.name]) if user is not None else []
            if user is None or (channels is not None and listens_beyond(client, channels)):
                self.expel(client)
            else:
                self.become(client, user)
