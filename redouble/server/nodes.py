"""Several engines in one process and one event loop: the nodes of a cluster, and a Sentinel beside a master.

Each node has an engine, keys, clients and listeners of its own. All are configured by the same lines, but
for what can't be shared: the second node listens one port higher than the first, and so on, and reads and
writes a file of its own. The Sentinel knows nothing of those lines but the addresses to listen on.
"""

from __future__ import annotations

import copy
import logging
from pathlib import PurePath
from typing import Final

from redouble.commands.sentinel import SENTINEL_FAMILIES
from redouble.engine.cluster import Cluster
from redouble.engine.engine import Engine
from redouble.engine.sentinel import Master, Sentinel
from redouble.server.options import Line, Options
from redouble.server.server import RedoubleServer
from redouble.server.startup import engine_from, listen

log: Final = logging.getLogger("redouble")

#: Numbers that are one higher for each further node, unless they are 0.
_COUNTED: Final = (
    b"port", b"tls-port", b"cluster-port", b"cluster-announce-port", b"cluster-announce-tls-port",
    b"cluster-announce-bus-port",
)  # fmt: skip
#: What only the first node has.
_ONLY_FIRST: Final = (b"unixsocket", b"pidfile")
_DEFAULT_PORT: Final = b"6379"


def engines_from(options: Options) -> list[Engine]:
    """The engines that the options ask for: one, or the nodes of a cluster. Raises `OptionError`."""
    engines = [engine_from(options)]
    for number in range(1, options.cluster_nodes):
        engines.append(engine_from(_options_of_node(options, number)))
    if len(engines) > 1:
        Cluster(engines)
    return engines


def _options_of_node(options: Options, number: int) -> Options:
    """The options of the node after so many others."""
    own = copy.copy(options)
    own.seed = None if options.seed is None else options.seed + number
    own.lines = list(options.lines)
    given = {line.words[0].lower(): line.words[1] for line in options.lines if len(line.words) == 2}
    given.setdefault(b"port", _DEFAULT_PORT)
    for name in _COUNTED:
        text = given.get(name, b"")
        if text.isdigit() and int(text):
            own.lines.append(Line(0, b"", [name, b"%d" % (int(text) + number)]))
    for name in _ONLY_FIRST:
        if name in given:
            own.lines.append(Line(0, b"", [name, b""]))
    if b"dbfilename" in given:
        file = PurePath(given[b"dbfilename"].decode())
        own.lines.append(Line(0, b"", [b"dbfilename", f"{file.stem}-{number + 1}{file.suffix}".encode()]))
    return own


async def start(engines: list[Engine]) -> tuple[list[RedoubleServer], str]:
    """A server for each engine, and the line that names the first. Raises `OptionError`."""
    servers: list[RedoubleServer] = []
    ready = ""
    for engine in engines:
        server, where = await listen(engine)
        servers.append(server)
        ready = ready or where
        if len(engines) > 1:
            log.info("A node of the cluster listens on port %d", engine.config.number(b"port"))
    return servers, ready


async def start_sentinels(options: Options, master: Engine) -> list[RedoubleServer]:
    """The Sentinel that watches the master, or none: as the options say. Raises `OptionError`."""
    if options.sentinel_port is None:
        return []
    engine = Engine(SENTINEL_FAMILIES, options.version, options.seed, 1)
    engine.config.set(b"bind", master.config.get(b"bind"))
    engine.config.set(b"port", b"%d" % options.sentinel_port)
    # As in Redis, a Sentinel is there for others.
    engine.config.set(b"protected-mode", b"no")
    name = options.sentinel_master.encode()
    master.timeline.join(engine)
    Sentinel(engine).masters[name] = Master(name, master, b"", 0, 1, engine.started)
    server, _ = await listen(engine)
    log.info("A Sentinel listens on port %d", engine.config.number(b"port"))
    return [server]
