"""The slow log: commands that took longer than a threshold, newest first.

`Engine.call` compares each duration with one number, `threshold_ns`: the lower of the slow log's and
the latency monitor's thresholds. Only what is slow for one of them comes here.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f
from redouble.engine.latency import LatencyMonitor

if TYPE_CHECKING:
    from redouble.engine.command import Command
    from redouble.engine.context import Context

_MAX_ARGS: Final = 32
_MAX_TEXT: Final = 128
_NEVER: Final = 1 << 62
#: Since then what a script calls is noted under the client that called the script, not under this name of nobody.
_CALLER_SINCE: Final = 70200
_SCRIPT: Final = b"?:0"


@final
class SlowEntry:
    """One slow command."""

    __slots__ = ("id", "time", "microseconds", "argv", "address", "name")

    def __init__(self, id: int, time: int, microseconds: int, argv: list[bytes], address: bytes, name: bytes) -> None:
        self.id: int = id
        #: Unix time in seconds.
        self.time: int = time
        self.microseconds: int = microseconds
        self.argv: list[bytes] = argv
        self.address: bytes = address
        self.name: bytes = name


@final
class SlowLog:
    """The log of one engine, and beside it the latency monitor that shares its threshold."""

    __slots__ = (
        "threshold_ns", "length", "entries", "next_id", "latency", "_slower_than_ns", "_secret_argv", "_secrets",
    )  # fmt: skip

    def __init__(self) -> None:
        #: What is slower is worth a look. Nanoseconds.
        self.threshold_ns: int = 10_000_000
        self.length: int = 128
        self.entries: deque[SlowEntry] = deque()
        self.next_id: int = 0
        self.latency: LatencyMonitor = LatencyMonitor()
        self._slower_than_ns: int = 10_000_000
        self._secret_argv: list[bytes] | None = None
        self._secrets: list[int] = []

    def configure(self, slower_than_us: int, length: int, latency_ms: int) -> None:
        """Follow the configuration: microseconds (negative: never), entries, milliseconds (0: never)."""
        self._slower_than_ns = slower_than_us * 1000 if slower_than_us >= 0 else _NEVER
        self.length = length
        self.latency.threshold_ms = latency_ms
        self.threshold_ns = min(self._slower_than_ns, latency_ms * 1_000_000 if latency_ms else _NEVER)

    def hide(self, argv: list[bytes], position: int) -> None:
        """An argument of the command that runs is a password: show it to nobody."""
        if self._secret_argv is not argv:
            self._secret_argv = argv
            self._secrets = []
        self._secrets.append(position)

    def add(self, ctx: Context, command: Command, argv: list[bytes], nanoseconds: int) -> None:
        """Remember a command. O(1)."""
        if self.latency.threshold_ms:
            event = b"fast-command" if command.flags & f.FAST else b"command"
            self.latency.add(event, ctx.now // 1000, nanoseconds // 1_000_000)
        if nanoseconds < self._slower_than_ns or command.flags & f.SKIP_SLOWLOG:
            return
        address, name = ctx.client.address, ctx.client.name
        if ctx.flags & f.IN_SCRIPT and ctx.engine.version < _CALLER_SINCE:
            address, name = _SCRIPT, b""
        entry = SlowEntry(
            self.next_id, ctx.now // 1000, nanoseconds // 1000, shortened(self.shown(argv)), address, name
        )
        self.next_id += 1
        self.entries.appendleft(entry)
        # Only now, as in Redis: a lower `slowlog-max-len` shortens nothing by itself.
        while len(self.entries) > self.length:
            self.entries.pop()

    def shown(self, argv: list[bytes]) -> list[bytes]:
        """The arguments without their passwords. O(arguments)."""
        if self._secret_argv is not argv:
            return argv
        return [b"(redacted)" if at in self._secrets else arg for at, arg in enumerate(argv)]


def shortened(argv: list[bytes], max_args: int = _MAX_ARGS, max_text: int = _MAX_TEXT) -> list[bytes]:
    """At most so many arguments of at most so many bytes, with a word on what was left out. O(arguments)."""
    shown: list[bytes] = []
    for arg in argv[:max_args]:
        if len(arg) > max_text:
            shown.append(arg[:max_text] + b"... (%d more bytes)" % (len(arg) - max_text))
        else:
            shown.append(arg)
    if len(argv) > max_args:
        shown[-1] = b"... (%d more arguments)" % (len(argv) - max_args + 1)
    return shown
