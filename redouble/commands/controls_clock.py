"""REDOUBLE CLOCK and SEED: time and chance that obey; see `engine/powers/timeline.py` and `chance.py`.

Times are Unix times in ms. What moves the clock answers the time at which it is then.
"""

from __future__ import annotations

from typing import Final

from redouble.commands.controls import CONTROL
from redouble.commands.help import bad_subcommand
from redouble.engine.command import Family
from redouble.engine.context import Context
from redouble.errors import CommandError, c_text
from redouble.protocol.numbers import integer
from redouble.protocol.reply import OK, Boolean, Map, Reply

controls_clock: Final = Family("server")

_NO_TIME: Final = b"ERR time is not an integer or out of range, it must be a number of milliseconds"
_NO_SEED: Final = b"ERR seed is not an integer or out of range"
#: How many arguments each action takes.
_ACTIONS: Final[dict[bytes, tuple[int, int]]] = {
    b"FREEZE": (0, 1), b"ADVANCE": (1, 1), b"SET": (1, 1), b"RESUME": (0, 0), b"AUTOJUMP": (1, 1),
}  # fmt: skip


@controls_clock.command(
    "redouble|clock", "[FREEZE [unix-ms] | ADVANCE ms | SET unix-ms | RESUME | AUTOJUMP ms|OFF]",
    "Tells or moves the time of the server; what comes due happens, in order, before the reply.", arity=-2,
    flags=CONTROL, since="1.0.0", complexity="O(K log N) where K is what comes due.",
)  # fmt: skip
def redouble_clock(ctx: Context, argv: list[bytes]) -> Reply:
    """The state as a map; the time for what moves it; OK for AUTOJUMP."""
    timeline = ctx.engine.timeline
    if len(argv) == 2:
        return _state(ctx)
    word = argv[2].upper()
    least_most = _ACTIONS.get(word)
    if least_most is None:
        text = b"ERR unknown action '%b', CLOCK knows FREEZE, ADVANCE, SET, RESUME and AUTOJUMP"
        raise CommandError(text % c_text(argv[2]))
    if not least_most[0] <= len(argv) - 3 <= least_most[1]:
        raise bad_subcommand(argv)
    if word == b"AUTOJUMP":
        timeline.autojump(None if argv[3].upper() == b"OFF" else integer(argv[3], _NO_TIME))
        return OK
    if word == b"RESUME":
        return timeline.resume()
    if word == b"FREEZE":
        return timeline.freeze(integer(argv[3], _NO_TIME) if len(argv) == 4 else None)
    number = integer(argv[3], _NO_TIME)
    return timeline.advance(number) if word == b"ADVANCE" else timeline.set(number)


def _state(ctx: Context) -> Map:
    """How time stands. `offset` is how far it is ahead of the machine's, `next-due` null where nothing is due."""
    timeline = ctx.engine.timeline
    clock = timeline.clock
    now_us = clock.now_us()
    return Map([
        b"now", now_us // 1000, b"now-us", now_us, b"frozen", Boolean(clock.frozen),
        b"offset", clock.offset_us() // 1000, b"autojump", timeline.autojump_ms or None,
        b"next-due", timeline.next_due(),
    ])  # fmt: skip


@controls_clock.command(
    "redouble|seed", "[number]", "Makes every random choice from now on repeatable, or tells the seed.", arity=-2,
    flags=CONTROL, since="1.0.0", complexity="O(N) with the number of keys.",
)  # fmt: skip
def redouble_seed(ctx: Context, argv: list[bytes]) -> Reply:
    """OK; without a number the seed, or null where there was none."""
    if len(argv) > 3:
        raise bad_subcommand(argv)
    if len(argv) == 2:
        return ctx.engine.chance.given
    ctx.engine.chance.seed(integer(argv[2], _NO_SEED))
    return OK
