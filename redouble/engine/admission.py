"""The ordered checks that a request passes in an unusual state, and the one way to refuse it.

`process` comes here only when the command is unknown, the number of arguments wrong, or a bit is set
in `client.flags | engine.flags`. The order is Redis' own, because it decides which error a client
sees. Whatever is refused in a MULTI breaks the transaction, and `refuse` is the place for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from redouble.engine import flags as f
from redouble.engine.cluster import REDIRECTIONS
from redouble.engine.memory import OOM
from redouble.engine.replication import READONLY
from redouble.errors import NO_AUTH, c_text, wrong_arity
from redouble.protocol.reply import QUEUED, ErrorReply

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command
    from redouble.engine.engine import Engine

_SHOWN: Final = 128
_FAULTS: Final = f.FAULTY | f.PAST_FAULT
_DEPENDS_ON_NATURE: Final = f.MEMORY_LIMITED | f.LACKS_REPLICAS | f.REPLICA | f.MONITOR
_ABOUT_KEYS: Final = f.READONLY | f.WRITE | f.MAY_REPLICATE
#: First words of HTTP: somebody's browser has been made to talk to us.
_CROSS_PROTOCOL: Final = (b"post", b"host:")


def admit(engine: Engine, client: Client, command: Command | None, argv: list[bytes]) -> Command | None:
    """The command if it is to run now; None when it was refused, queued or postponed."""
    client.last_command = command
    if command is None:
        if argv[0].lower() in _CROSS_PROTOCOL:
            client.close_after_reply()
        else:
            refuse(engine, client, None, argv, unknown_command(engine, argv))
        return None
    if not command.fits(len(argv)):
        refuse(engine, client, command, argv, wrong_arity(command.full_name).text)
        return None
    if engine.flags & f.CLIENTS_LIMITED and engine.client_eviction.closes(client, argv):
        return None
    error = _objection(engine, client, command, argv)
    if error is not None:
        refuse(engine, client, command, argv, error)
        return None
    if engine.flags & f.PAUSED and engine.pause.postpones(command, _nature(engine, client, command, argv)):
        engine.pause.postpone(client)
        return None
    if (client.flags | engine.flags) & _FAULTS and _faulty(engine, client, command, argv):
        return None
    if client.flags & f.IN_MULTI and not command.flags & f.UNQUEUED:
        client.queue.append((command, argv))
        client.send(QUEUED)
        return None
    if client.flags & f.NO_TOUCH and not command.flags & f.TOUCHES:
        engine.space.track_access = False
    return command


def _objection(engine: Engine, client: Client, command: Command, argv: list[bytes]) -> bytes | None:
    """Why the command may not run at all, or None. In Redis' order."""
    state = client.flags | engine.flags
    flags = command.flags
    if flags & f.MUST_BE_ENABLED:
        closed = not_enabled(engine, client, flags)
        if closed is not None:
            return closed
    nature = _nature(engine, client, command, argv) if state & _DEPENDS_ON_NATURE else flags
    if state & f.UNAUTHENTICATED and not flags & f.NO_AUTH:
        return NO_AUTH
    if state & f.IN_MULTI and flags & f.NO_MULTI:
        return b"ERR Command not allowed inside a transaction"
    if state & f.RESTRICTED:
        denied = engine.acl.denial(client, command, argv)
        if denied is not None:
            return denied
    if state & f.CLUSTERED and (command.keys or flags & f.ENDS_MULTI) and engine.node is not None:
        elsewhere = engine.node.objection(client, command, argv)
        if elsewhere is not None:
            return elsewhere
    if state & f.MEMORY_LIMITED and not state & f.BUSY_SCRIPT and not engine.memory.admits(client, command, nature):
        return OOM
    if state & f.LACKS_REPLICAS and nature & f.WRITE:
        return b"NOREPLICAS Not enough good replicas to write."
    if state & f.REPLICA and engine.replication.refuses(nature):
        return READONLY
    if state & f.SUBSCRIBER and client.resp == 2 and not flags & f.IN_SUBSCRIBER_MODE:
        return (
            b"ERR Can't execute '%b': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed "
            b"in this context" % command.full_name
        )
    if state & f.REPLICA and not nature & f.STALE and not engine.config.enabled(b"replica-serve-stale-data"):
        return b"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
    if state & f.BUSY_SCRIPT and not flags & f.ALLOW_BUSY:
        return engine.busy_error
    if client.flags & f.MONITOR and nature & _ABOUT_KEYS:
        # Redis takes a monitor for a kind of replica.
        return b"ERR Replica can't interact with the keyspace"
    return None


def not_enabled(engine: Engine, client: Client, flags: int) -> bytes | None:
    """Why this client may not run a command that a parameter must enable, or None. O(1)."""
    name, parameter = (
        (b"DEBUG", b"enable-debug-command") if flags & f.NEEDS_DEBUG else (b"MODULE", b"enable-module-command")
    )
    if engine.config.allows(parameter, client.is_local()):
        return None
    return (
        b'ERR %b command not allowed. If the %b option is set to "local", you can run it from a local connection, '
        b"otherwise you need to set this option in the configuration file, and then restart the server."
        % (name, parameter)
    )


def _faulty(engine: Engine, client: Client, command: Command, argv: list[bytes]) -> bool:
    """Whether a fault takes the place of the request. O(rules + queue)."""
    return engine.faults.strikes(client, command, argv, _nature(engine, client, command, argv))


def _nature(engine: Engine, client: Client, command: Command, argv: list[bytes]) -> int:
    """What a request amounts to, as flags: a script's are those it declares, EXEC's those of its queue. O(queue)."""
    flags = command.flags
    if flags & f.RUNS_SCRIPT:
        return engine.scripting.declared_flags(flags, argv)
    if flags & f.ENDS_MULTI:
        for queued, request in client.queue:
            nature = _nature(engine, client, queued, request)
            flags |= nature & (f.WRITE | f.MAY_REPLICATE | f.DENYOOM)
            if not nature & f.STALE:
                flags &= ~f.STALE
    return flags


def refuse(engine: Engine, client: Client, command: Command | None, argv: list[bytes], text: bytes) -> None:
    """Answer with an error instead of running; an open MULTI is broken by it."""
    engine.stats.count_error(text)
    if command is not None:
        engine.stats.rejected[command.index] += 1
    if client.flags & f.IN_MULTI:
        client.queue_broken = True
    if command is not None and command.flags & f.ENDS_MULTI:
        client.end_multi()
        # A client follows a redirection only if it sees it as it is.
        if not text.startswith(REDIRECTIONS):
            text = b"EXECABORT Transaction discarded because of: " + text.removeprefix(b"ERR ")
    if engine.observers & f.TRACED:
        engine.trace.refused(client.context, command, argv, text)
    client.send(ErrorReply(text))


def unknown_command(engine: Engine, argv: list[bytes]) -> bytes:
    """The text for a command, or a sub-command, that does not exist."""
    container = engine.table.find(argv[:1])
    if container is not None:
        return b"ERR unknown subcommand '%b'. Try %b HELP." % (c_text(argv[1][:_SHOWN]), argv[0].upper())
    shown = b""
    for arg in argv[1:]:
        if len(shown) >= _SHOWN:
            break
        shown += b"'%b' " % c_text(arg[: _SHOWN - len(shown)])
    return b"ERR unknown command '%b', with args beginning with: %b" % (c_text(argv[0][:_SHOWN]), shown)
