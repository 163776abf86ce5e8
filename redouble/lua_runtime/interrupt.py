"""Long scripts: a fiber that a script can leave in the middle, so that the server goes on.

A script runs on the stack of whoever started it, and Lua can't be left and entered again. A greenlet has a
stack of its own and can. `ScriptFiber` keeps one greenlet for all runs (starting one costs more than a switch).
The host starts a script with ``fiber.run(work)``. The hook comes every 100,000 instructions, inside the
greenlet; when the script has taken too long, the host's ``on_hook`` calls ``fiber.suspend()``, and ``run``
returns `SUSPENDED` to the event loop. Later ``fiber.resume()`` goes on inside ``suspend()``, and returns the
reply or `SUSPENDED` again. To kill the script, note it and resume: ``on_hook`` then answers `KILLED`.

Two switches cost about half a microsecond. Without the greenlet package `is_available` is false, and long
scripts just hold the server; everything else is the same.

A suspended script is in the middle of its run: `LuaRuntime.running` stays true, and no other script may
run in that runtime. The host sees to that (it answers BUSY).
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, final

from redouble.protocol.reply import Reply


def _load_greenlet() -> Any:
    try:
        return import_module("greenlet")
    except ImportError:
        return None


_GREENLET: Final = _load_greenlet()

#: The error that ends a script after SCRIPT KILL or FUNCTION KILL; the place follows.
KILLED: Final = b"ERR Script killed by user with SCRIPT KILL..."
#: The error that ends the loading of a library after half a second.
LOAD_TIMEOUT: Final = b"ERR FUNCTION LOAD timeout"


@final
class Suspended:
    """The script has not ended. Use the one instance, `SUSPENDED`."""

    __slots__ = ()


SUSPENDED: Final = Suspended()


def is_available() -> bool:
    """Is there a greenlet package?"""
    return _GREENLET is not None


@final
class ScriptFiber:
    """One greenlet that runs scripts, one after the other."""

    __slots__ = ("active", "_fiber", "_hub", "_work", "_failure")

    def __init__(self) -> None:
        #: A script is running in the fiber, or suspended there.
        self.active: bool = False
        self._fiber: Any = None
        self._hub: Any = None
        self._work: Callable[[], Reply] | None = None
        self._failure: BaseException | None = None

    @property
    def begun(self) -> bool:
        """Whether it has a stack that must be ended, in the thread that made it."""
        return self._fiber is not None

    def run(self, work: Callable[[], Reply]) -> Reply:
        """Call `work` in the fiber; its result, or `SUSPENDED`. Raises what `work` raises."""
        assert not self.active
        if self._fiber is None:
            self._fiber = _GREENLET.greenlet(self._serve)
        self._work = work
        return self._enter()

    def resume(self) -> Reply:
        """Go on with the suspended script; its result, or `SUSPENDED` again."""
        assert self.active
        return self._enter()

    def suspend(self) -> None:
        """From within the fiber: let `run` or `resume` return `SUSPENDED`; come back at `resume`."""
        self._hub.switch(SUSPENDED)

    def close(self) -> None:
        """End the fiber; a script suspended in it fails."""
        fiber, self._fiber = self._fiber, None
        if fiber is not None and not fiber.dead:
            self._hub = _GREENLET.getcurrent()
            fiber.throw(_GREENLET.GreenletExit)
            self.active = False

    def _enter(self) -> Reply:
        self.active = True
        self._hub = _GREENLET.getcurrent()
        result = self._fiber.switch()
        if result is not SUSPENDED:
            self.active = False
            failure, self._failure = self._failure, None
            if failure is not None:
                raise failure
        return result

    def _serve(self) -> None:
        while self._fiber is not None:
            work = self._work
            assert work is not None
            result: Reply = None
            try:
                result = work()
            except BaseException as failure:
                self._failure = failure
            self._work = None
            self._hub.switch(result)
