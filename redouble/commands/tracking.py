"""CLIENT TRACKING and its kin: what a client says of client-side caching. How it works: `engine/tracking.py`."""

from __future__ import annotations

from typing import Final

from redouble.commands.clients import OWN, on_off
from redouble.engine.command import Family
from redouble.engine.context import Context
from redouble.engine.tracking import TrackingState
from redouble.errors import SYNTAX, CommandError, c_text
from redouble.protocol.numbers import integer
from redouble.protocol.reply import OK, Map, Reply, SetReply

tracking: Final = Family("connection")

_CACHING: Final = (
    b"ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled"
)
_BCAST_SWITCH: Final = (
    b"ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with "
    b"a different mode."
)
_OPT_SWITCH: Final = (
    b"ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with "
    b"a different mode."
)


def _tracking_options(ctx: Context, argv: list[bytes]) -> TrackingState:
    """What CLIENT TRACKING's options ask for."""
    wanted = TrackingState()
    at = 3
    while at < len(argv):
        option = argv[at].upper()
        more = at + 1 < len(argv)
        if option == b"REDIRECT" and more:
            if wanted.redirect:
                raise CommandError(b"ERR A client can only redirect to a single other client")
            at += 1
            wanted.redirect = integer(argv[at])
            if wanted.redirect not in ctx.engine.clients:
                raise CommandError(b"ERR The client ID you want redirect to does not exist")
        elif option == b"PREFIX" and more:
            at += 1
            wanted.prefixes.append(argv[at])
        elif option == b"BCAST":
            wanted.broadcast = True
        elif option == b"OPTIN":
            wanted.opt_in = True
        elif option == b"OPTOUT":
            wanted.opt_out = True
        elif option == b"NOLOOP":
            wanted.no_loop = True
        else:
            raise CommandError(SYNTAX)
        at += 1
    return wanted


def _check_tracking(present: TrackingState | None, wanted: TrackingState) -> None:
    """Refuse what doesn't go together, or not with how the client tracks at present."""
    if wanted.prefixes and not wanted.broadcast:
        raise CommandError(b"ERR PREFIX option requires BCAST mode to be enabled")
    if present is not None and present.broadcast != wanted.broadcast:
        raise CommandError(_BCAST_SWITCH)
    if wanted.broadcast and (wanted.opt_in or wanted.opt_out):
        raise CommandError(b"ERR OPTIN and OPTOUT are not compatible with BCAST")
    if wanted.opt_in and wanted.opt_out:
        raise CommandError(b"ERR You can't specify both OPTIN mode and OPTOUT mode")
    if present is not None:
        if (wanted.opt_in and present.opt_out) or (wanted.opt_out and present.opt_in):
            raise CommandError(_OPT_SWITCH)
    if wanted.broadcast:
        _check_prefixes(present.prefixes if present is not None else [], wanted.prefixes)


def _overlap(a: bytes, b: bytes) -> bool:
    return a.startswith(b) or b.startswith(a)


def _check_prefixes(present: list[bytes], wanted: list[bytes]) -> None:
    for number, prefix in enumerate(wanted):
        for other in present:
            if _overlap(prefix, other):
                raise CommandError(
                    b"ERR Prefix '%b' overlaps with an existing prefix '%b'. Prefixes for a single client must not "
                    b"overlap." % (c_text(prefix), c_text(other))
                )
        for other in wanted[number + 1 :]:
            if _overlap(prefix, other):
                raise CommandError(
                    b"ERR Prefix '%b' overlaps with another provided prefix '%b'. Prefixes for a single client must "
                    b"not overlap." % (c_text(prefix), c_text(other))
                )


@tracking.command(
    "client|tracking",
    "<ON | OFF> [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]",
    "Tells the connection when keys that it has cached change.", arity=-3, flags=OWN, since="6.0.0",
    complexity="O(1). Some options may introduce additional complexity.",
)  # fmt: skip
def track(ctx: Context, argv: list[bytes]) -> Reply:
    """Begin or end client-side caching. O(prefixes). Redis: CLIENT TRACKING."""
    wanted = _tracking_options(ctx, argv)
    if on_off(argv[2]):
        _check_tracking(ctx.client.tracking, wanted)
        ctx.engine.tracking.enable(ctx.client, wanted)
    else:
        ctx.engine.tracking.disable(ctx.client)
    return OK


@tracking.command(
    "client|caching", "<YES | NO>", "Decides about tracking the next command's keys.", arity=3, flags=OWN,
    since="6.0.0",
)  # fmt: skip
def caching(ctx: Context, argv: list[bytes]) -> Reply:
    """Track (OPTIN), or do not track (OPTOUT), what the next command reads. O(1). Redis: CLIENT CACHING."""
    state = ctx.client.tracking
    if state is None:
        raise CommandError(_CACHING)
    word = argv[2].upper()
    if word == b"YES":
        if not state.opt_in:
            raise CommandError(b"ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.")
    elif word == b"NO":
        if not state.opt_out:
            raise CommandError(b"ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.")
    else:
        raise CommandError(SYNTAX)
    state.caching = True
    return OK


@tracking.command(
    "client|getredir", "", "Tells which connection gets this one's invalidations.", arity=2, flags=OWN, since="6.0.0"
)
def getredir(ctx: Context, argv: list[bytes]) -> Reply:
    """A client id, 0 for itself, -1 without tracking. O(1). Redis: CLIENT GETREDIR."""
    state = ctx.client.tracking
    return -1 if state is None else state.redirect


@tracking.command("client|trackinginfo", "", "Describes the connection's tracking.", arity=2, flags=OWN, since="6.2.0")
def trackinginfo(ctx: Context, argv: list[bytes]) -> Reply:
    """Flags, redirection and prefixes. O(prefixes). Redis: CLIENT TRACKINGINFO."""
    state = ctx.client.tracking
    if state is None:
        return Map([b"flags", SetReply([b"off"]), b"redirect", -1, b"prefixes", []])
    return Map([
        b"flags", SetReply(list(state.names())), b"redirect", state.redirect, b"prefixes", list(state.prefixes),
    ])  # fmt: skip
