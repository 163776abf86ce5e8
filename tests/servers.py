"""Redouble's server in a thread of the test process, a fresh engine for each test."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

from redouble.commands import CONTROLS, FAMILIES
from redouble.engine.engine import Engine
from redouble.server.server import RedoubleServer
from tests.kit import Pipe, SocketPipe


class LoopThread:
    """An event loop in a thread."""

    def __init__(self) -> None:
        try:
            import uvloop

            self.loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
        except ImportError:
            self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Let the loop do something and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(10)

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(10)
        self.loop.close()


class SocketTarget:
    """A Redouble that listens on a free port."""

    real = False

    def __init__(self, loop: LoopThread, version: str = "7.4.1") -> None:
        self.version = version
        self._loop = loop
        self.engine = Engine(FAMILIES + CONTROLS, version)
        self.port: int = loop.run(self._start())

    async def _start(self) -> int:
        self.server = RedoubleServer(self.engine)
        return await self.server.listen_tcp("127.0.0.1", 0)

    def connect(self) -> Pipe:
        return SocketPipe(self.port)

    def pass_time(self, milliseconds: int) -> None:
        self._loop.run(self._advance(milliseconds))

    async def _advance(self, milliseconds: int) -> None:
        self.engine.clock.advance(milliseconds)
        self.engine.tick()
        self.engine.flush()
        self.server.arm()

    def stop(self) -> None:
        self._loop.run(self.server.close())
        assert self.engine.stats.unexpected_errors == 0
