"""A real server: connections to it, and one of our own to look at it.

A request is *settled* when the server has answered it, or when it says that the client waits (`flags=b`
of CLIENT LIST, asked over the connection of our own). Only then may another client's request follow, so
that the order is the same on every server. A server that does not tell (the user may not ask) is given
`_GRACE` seconds instead.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any, Final

from redouble.testing.traffic.peers import Address, Listener, Peer, WirePeer
from redouble.testing.traffic.replies import Reply

_SOON: Final = 0.002
_GRACE: Final = 0.05
_TRIES: Final = 100
_FLAGS: Final = re.compile(rb" flags=(\w+)")


class Target:
    """The server at an address."""

    def __init__(self, address: Address, control: WirePeer) -> None:
        self._address = address
        self._control = control
        self._database = -1
        self._turn = asyncio.Lock()

    @staticmethod
    async def at(url: str) -> Target:
        """Raises `ServerError`."""
        address = Address(url)
        return Target(address, await address.connect())

    async def connect(self, listener: Listener) -> WirePeer:
        """A further connection. Raises `ServerError`."""
        return await self._address.connect(listener)

    async def ask(self, *argv: bytes, database: int | None = None) -> Reply:
        """Ask over the connection of our own, in a database if it matters in which."""
        async with self._turn:
            if database is not None and database != self._database:
                await self._control.ask([b"SELECT", b"%d" % database])
                self._database = database
            return (await self._control.ask(list(argv)))[0]

    async def version(self) -> str:
        """The Redis version that it says it is; empty if it says none."""
        info = await self.ask(b"INFO", b"server")
        return info.text.partition(b"redis_version:")[2].partition(b"\r")[0].decode()

    async def settle(self, peer: Peer, answer: asyncio.Future[Any]) -> None:
        """Wait until a request has been answered, or its client waits."""
        await asyncio.wait([answer], timeout=_SOON)
        while not answer.done():
            shown = await self.ask(b"CLIENT", b"LIST", b"ID", b"%d" % peer.id) if isinstance(peer, WirePeer) else None
            if shown is None or shown.is_error:
                await asyncio.wait([answer], timeout=_GRACE)
                return
            flags = _FLAGS.search(shown.text)
            if flags is not None and b"b" in flags[1]:
                return
            await asyncio.wait([answer], timeout=_SOON)

    async def leave(self, peer: WirePeer) -> None:
        """Hang up, and wait (not for ever) until the server knows: it must give the client nothing more."""
        peer.close()
        for _ in range(_TRIES):
            shown = await self.ask(b"CLIENT", b"LIST", b"ID", b"%d" % peer.id)
            if shown.is_error or not shown.text:
                return
            await asyncio.sleep(_SOON)

    def close(self) -> None:
        """Hang up."""
        self._control.close()
