"""The command line: `redouble`, or `python -m redouble`.

    redouble [file] [--name value ...] [-]

Every configuration parameter is an option, spelled as redis-server's. When the server listens, one line
goes to stdout: `READY redis://127.0.0.1:6379`; the log goes to stderr. The exit status is 0 after
SHUTDOWN, SIGTERM or SIGINT, and 1 where the server could not start.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import signal
import sys
from typing import TYPE_CHECKING, Final

from redouble import __version__
from redouble.server.options import OptionError, Options, read_options

if TYPE_CHECKING:
    from redouble.engine.engine import Engine
    from redouble.server.server import RedoubleServer

log: Final = logging.getLogger("redouble")

_HELP: Final = """\
Usage: redouble [file] [--name value ...] [-]
       redouble verify | record | replay ...   compare with a real server, record traffic, replay it (see --help)
       redouble run [--name value ...] [--report] -- command ...   a server for as long as a command runs

  file               a configuration file, in the syntax of redis.conf
  -                  read configuration from stdin too
  --name value ...   any configuration parameter, for instance
                     --port 6379 (0: any free one)  --bind 127.0.0.1  --unixsocket /tmp/redis.sock
                     --requirepass secret  --databases 16  --maxclients 10000  --loglevel notice
  --dbfilename F     keep the keys: load this RDB file (of --dir) at start, write it at shutdown
  --redis-version V  answer as this version: 6.2, 7.0, 7.2, 7.4, 8.0 or a whole one such as 7.0.15
  --cluster-nodes N  be N nodes of a cluster, on as many ports from --port on
  --sentinel-port N  be a Sentinel too, which calls the master --sentinel-master (mymaster)
  --seed N           make every random choice repeatable
  --controls yes|no  whether the command REDOUBLE (clock, faults, snapshots ...) is there
  -v, --version      tell the version
  -h, --help         tell this
"""
#: Words that, in the place of the configuration file, ask for something else than a server.
_TOOLS: Final = {
    "verify": "redouble.testing.traffic.verify",
    "record": "redouble.testing.traffic.record",
    "replay": "redouble.testing.traffic.replay",
    "run": "redouble.testing.run",
}
#: Objects that come to be between two young collections; with Python's own 700 a large keyspace is
#: walked far too often.
_GC_THRESHOLDS: Final = (50_000, 20, 100)


def main(args: list[str] | None = None) -> int:
    """Run the command line; the exit status."""
    args = sys.argv[1:] if args is None else args
    if args and args[0] in _TOOLS:
        # What is used now and then is imported then; by name, since it stands in a later room.
        tool = importlib.import_module(_TOOLS[args[0]])
        return int(tool.main(args[1:]))
    if args[:1] in (["-v"], ["--version"]):
        print(f"Redouble v={__version__} python={sys.version.split()[0]} bits=64")
        return 0
    if args[:1] in (["-h"], ["--help"]):
        print(_HELP, end="")
        return 0
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(process)d:M %(asctime)s.%(msecs)03d * %(message)s",
        datefmt="%d %b %Y %H:%M:%S",
    )  # fmt: skip
    version = "?"
    try:
        options = read_options(args)
        version = options.version
        return _run(options)
    except OptionError as error:
        print(_fatal(error, version), file=sys.stderr)
        return 1


def _fatal(error: OptionError, version: str) -> str:
    if error.line is None:
        return error.reason
    shown = error.line.text.decode("utf-8", "replace")
    return (
        f"\n*** FATAL CONFIG FILE ERROR (Redis {version}) ***\n"
        f"Reading the configuration file, at line {error.line.number}\n>>> '{shown}'\n{error.reason}"
    )


def _run(options: Options) -> int:
    # A collection in the middle of the imports, or of loading a file, finds nothing and takes time.
    gc.disable()
    from redouble.server.nodes import engines_from
    from redouble.server.startup import open_log

    engines = engines_from(options)
    open_log(engines[0])
    try:
        import uvloop

        loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    except ImportError:
        loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(_serve(options, engines))
    finally:
        loop.close()


async def _serve(options: Options, engines: list[Engine]) -> int:
    from redouble.server.nodes import start, start_sentinels
    from redouble.server.startup import write_pid_file

    servers, ready = await start(engines)
    sentinels = await start_sentinels(options, engines[0])
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _stop, servers)
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    gc.enable()
    write_pid_file(engines[0])
    print(ready, flush=True)
    beside = [loop.create_task(_until_stopped(server)) for server in sentinels]
    await asyncio.gather(*[_until_stopped(server) for server in servers])
    _stop(sentinels)
    await asyncio.gather(*beside)
    return 0


def _stop(servers: list[RedoubleServer]) -> None:
    for server in servers:
        server.stopped.set()


async def _until_stopped(server: RedoubleServer) -> None:
    """Serve until SHUTDOWN or a signal. A node of a cluster may end while others go on."""
    await server.stopped.wait()
    if not server.engine.stopping:
        server.engine.saving.save_at_end()
    await server.close()
