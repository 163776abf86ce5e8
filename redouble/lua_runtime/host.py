"""What the Lua runtime asks of the server: the one class through which a script acts.

The engine's scripting module derives from `ScriptHost`. No method may raise: an expected error
is returned as an `ErrorReply`; a bug that raises all the same ends the script, and the exception
comes out of `LuaRuntime.run`.
"""

from typing import Final

from mypy_extensions import mypyc_attr

from redouble.protocol.reply import Reply

#: `ScriptHost.acl_check` answers one of these.
ACL_DENIED: Final = 0
ACL_ALLOWED: Final = 1
ACL_NO_SUCH_COMMAND: Final = -1


@mypyc_attr(allow_interpreted_subclasses=True)
class ScriptHost:
    """The server as a running script sees it."""

    def call(self, argv: list[bytes]) -> Reply:
        """Run one command for the running script, all checks included, and return its reply."""
        raise NotImplementedError

    def log(self, level: int, message: bytes) -> None:
        """Write to the server's log; `level` is 0 (debug) to 3 (warning)."""
        raise NotImplementedError

    def set_resp(self, version: int) -> None:
        """The script wants the replies of RESP `version`, 2 or 3."""
        raise NotImplementedError

    def set_repl(self, flags: int) -> None:
        """Where writes are propagated from now on: 1 AOF, 2 replicas, 3 both, 0 nowhere."""
        raise NotImplementedError

    def acl_check(self, argv: list[bytes]) -> int:
        """May the caller run this command? One of the three constants above."""
        raise NotImplementedError

    def on_hook(self) -> bytes | None:
        """Called every 100,000 instructions; an error text ends the script, None lets it go on."""
        raise NotImplementedError
