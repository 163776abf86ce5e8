"""REDOUBLE TRACE: arguments and replies. How a trace works is told in `engine/powers/trace.py`."""

from typing import Final

from redouble.commands.controls import CONTROL
from redouble.engine.command import Family
from redouble.engine.context import Context
from redouble.engine.powers.trace import MOST, Trace, TraceEntry
from redouble.errors import CommandError, c_text
from redouble.protocol.numbers import integer_from
from redouble.protocol.reply import OK, Bulks, Map, Reply

controls_trace: Final = Family("server")

_SYNTAX: Final = (
    "<START [SCRIPTS] [COMMAND pattern] [CLIENT pattern] [MAX count] | STOP | GET [count] | CLEAR | "
    "COUNT pattern [KEY pattern]>"
)
_FORMS: Final = (
    b"ERR unknown form of REDOUBLE TRACE. Use START [SCRIPTS] [COMMAND pattern] [CLIENT pattern] [MAX count], STOP, "
    b"GET [count], CLEAR or COUNT pattern [KEY pattern]"
)
_OPTION: Final = (
    b"ERR TRACE START doesn't know '%b', or something is missing behind it. Use SCRIPTS, COMMAND pattern, CLIENT "
    b"pattern and MAX count"
)
_MAX: Final = b"ERR MAX of TRACE START must be a number, 1 or more"
_COUNT: Final = b"ERR TRACE GET takes a number of commands, 0 or more"
_SHOWN: Final = 128


@controls_trace.command(
    "redouble|trace", _SYNTAX, "Records what is sent: by whom, which keys, how answered; inside scripts too.",
    arity=-3, flags=CONTROL, since="1.0.0", complexity="O(N) with N being the number of commands in the trace.",
)  # fmt: skip
def redouble_trace(ctx: Context, argv: list[bytes]) -> Reply:
    """START, STOP, CLEAR: OK. GET: a map with the newest `count` commands. COUNT: how many match."""
    trace = ctx.engine.trace
    word = argv[2].upper()
    count = len(argv)
    if word == b"START":
        _start(trace, argv)
    elif word == b"STOP" and count == 3:
        trace.stop()
    elif word == b"CLEAR" and count == 3:
        trace.clear()
    elif word == b"GET" and count <= 4:
        return _get(trace, integer_from(0, argv[3], _COUNT) if count == 4 else -1)
    elif word == b"COUNT" and count == 4:
        return trace.count(argv[3])
    elif word == b"COUNT" and count == 6 and argv[4].upper() == b"KEY":
        return trace.count(argv[3], argv[5])
    else:
        raise CommandError(_FORMS)
    return OK


def _start(trace: Trace, argv: list[bytes]) -> None:
    scripts = False
    command = client = b"*"
    most = MOST
    at = 3
    while at < len(argv):
        option = argv[at].upper()
        more = at + 1 < len(argv)
        at += 2
        if option == b"SCRIPTS":
            scripts = True
            at -= 1
        elif option == b"COMMAND" and more:
            command = argv[at - 1]
        elif option == b"CLIENT" and more:
            client = argv[at - 1]
        elif option == b"MAX" and more:
            most = integer_from(1, argv[at - 1], _MAX)
        else:
            raise CommandError(_OPTION % c_text(argv[at - 2][:_SHOWN]))
    trace.start(scripts, command, client, most)


def _get(trace: Trace, count: int) -> Reply:
    entries = trace.entries()
    if count >= 0:
        entries = entries[len(entries) - min(count, len(entries)) :]
    return Map([
        b"running", 1 if trace.running else 0, b"dropped", trace.dropped,
        b"commands", [_described(entry) for entry in entries],
    ])  # fmt: skip


def _described(entry: TraceEntry) -> Map:
    """An entry as a map, with those inside it. O(arguments)."""
    return Map([
        b"time", entry.time, b"client-id", entry.client_id, b"client-name", entry.client_name,
        b"address", entry.address, b"database", entry.database, b"command", entry.name,
        b"arguments", Bulks(entry.argv), b"keys", Bulks(entry.keys), b"reply", entry.reply,
        b"error", entry.error or None, b"microseconds", entry.microseconds, b"waited-ms", entry.waited,
        b"omitted", entry.omitted, b"commands", [_described(each) for each in entry.commands],
    ])  # fmt: skip
