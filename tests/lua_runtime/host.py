"""A host for the tests: a handful of commands, and a record of what the runtime asked."""

from __future__ import annotations

from collections.abc import Callable

from redouble.errors import CommandError
from redouble.lua_runtime import LuaRuntime, ScriptHost
from redouble.lua_runtime.host import ACL_ALLOWED, ACL_NO_SUCH_COMMAND
from redouble.protocol.encode import Encoder
from redouble.protocol.reply import (
    OK,
    BigNumber,
    Boolean,
    Bulks,
    Double,
    ErrorReply,
    Map,
    Reply,
    SetReply,
    Verbatim,
)

WRONGTYPE = b"WRONGTYPE Operation against a key holding the wrong kind of value"
UNKNOWN = b"ERR Unknown Redis command called from script"


class Host(ScriptHost):
    """Answers the commands of `REPLIES`, ECHO, ARGS, COUNT and ITEMS; BUG raises."""

    REPLIES: dict[bytes, Reply] = {
        b"get": b"value",
        b"nothing": None,
        b"one": 1,
        b"set": OK,
        b"wrong": ErrorReply(WRONGTYPE),
        b"map": Map([b"a", b"1", b"b", [b"x", 2, None]]),
        b"members": SetReply([b"a", b"b"]),
        b"double": Double(0.1),
        b"yes": Boolean(True),
        b"no": Boolean(False),
        b"text": Verbatim(b"some text"),
        b"big": BigNumber(b"12345678901234567890"),
        b"nested": [1, b"a", None, [b"x", [2, OK]], Bulks([b"p", b"q"]), ErrorReply(b"BAD thing")],
    }

    def __init__(self) -> None:
        self.logged: list[tuple[int, bytes]] = []
        self.resp: list[int] = []
        self.repl: list[int] = []
        self.hooks = 0
        self.hook: Callable[[], bytes | None] = lambda: None

    def call(self, argv: list[bytes]) -> Reply:
        name = argv[0].lower()
        if name == b"echo":
            return argv[1]
        if name == b"args":
            return Bulks(list(argv[1:]))
        if name == b"count":
            return len(argv) - 1
        if name == b"items":
            return Bulks([b"item"] * int(argv[1]))
        if name == b"bug":
            raise ZeroDivisionError("a bug")
        return self.REPLIES.get(name, ErrorReply(UNKNOWN))

    def log(self, level: int, message: bytes) -> None:
        self.logged.append((level, message))

    def set_resp(self, version: int) -> None:
        self.resp.append(version)

    def set_repl(self, flags: int) -> None:
        self.repl.append(flags)

    def acl_check(self, argv: list[bytes]) -> int:
        return ACL_ALLOWED if argv[0].lower() in self.REPLIES else ACL_NO_SUCH_COMMAND

    def on_hook(self) -> bytes | None:
        self.hooks += 1
        return self.hook()


class Lua:
    """A runtime with its host: call it with a script and its arguments, get the bytes of the reply."""

    def __init__(self, version: str = "7.0.15", resp3: bool = False) -> None:
        self.host = Host()
        self.runtime = LuaRuntime(self.host, version.encode())
        self.encoder = Encoder(resp3, version >= "7.2")

    def reply(self, script: str | bytes, *args: bytes, keys: list[bytes] | None = None) -> Reply:
        """The reply value."""
        body = script.encode("latin-1") if isinstance(script, str) else script
        try:
            return self.runtime.run(self.runtime.load(body), keys or [], list(args))
        except CommandError as error:
            return ErrorReply(error.text)

    def __call__(self, script: str | bytes, *args: bytes, keys: list[bytes] | None = None) -> bytes:
        return self.encoder.encode(self.reply(script, *args, keys=keys))

    def error(self, script: str | bytes, *args: bytes) -> str:
        """The text of the error that the script must end with, without the place that follows it."""
        reply = self.reply(script, *args)
        assert isinstance(reply, ErrorReply), reply
        return reply.text.decode("latin-1").partition(" script: ")[0]
