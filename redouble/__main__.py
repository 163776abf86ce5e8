"""`python -m redouble`."""

import asyncio
import sys

from redouble.commands import FAMILIES
from redouble.engine.engine import Engine
from redouble.server.server import RedoubleServer


async def main() -> None:
    s = RedoubleServer(Engine(FAMILIES, "7.4.0"))
    p = await s.listen_tcp("127.0.0.1", int(sys.argv[1]))
    print(f"READY redis://127.0.0.1:{p}", flush=True)
    await s.stopped.wait()


import uvloop
uvloop.run(main())
