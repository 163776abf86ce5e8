"""From options to a server that listens: the engine with its configuration, then its sockets."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from redouble.commands import CONTROLS, FAMILIES
from redouble.engine.aclfile import configure_user, load_file
from redouble.engine.engine import Engine
from redouble.errors import CommandError
from redouble.server.options import Line, OptionError, Options
from redouble.server.server import RedoubleServer


def engine_from(options: Options) -> Engine:
    """An engine, configured. Raises `OptionError`."""
    families = FAMILIES + CONTROLS if options.controls else FAMILIES
    engine = Engine(families, options.version, options.seed, options.databases)
    engine.config.file = options.file.encode()
    declared: set[bytes] = set()
    for line in options.lines:
        try:
            _apply(engine, line, declared)
        except CommandError as error:
            raise OptionError(error.text.decode("utf-8", "replace"), line) from None
    _load_users(engine, options, declared)
    _load_keys(engine, options)
    return engine


def _load_keys(engine: Engine, options: Options) -> None:
    """The keys of the RDB file, where the options name one."""
    if [line for line in options.lines if line.words[0].lower() == b"dbfilename"] and not engine.saving.load_at_start():
        raise OptionError(f"Fatal error loading the DB {engine.saving.path()}, check server logs. Exiting.")


def _load_users(engine: Engine, options: Options, declared: set[bytes]) -> None:
    """The users of the ACL file, where there is one; then none may be `declared` elsewhere."""
    name = engine.config.get(b"aclfile")
    if name:
        if declared:
            raise OptionError("Users may stand in the configuration or in an ACL file, not in both")
        try:
            load_file(engine.acl, name)
        except CommandError as error:
            raise OptionError(error.text.decode("utf-8", "replace"), options.lines[-1]) from None


def _apply(engine: Engine, line: Line, declared: set[bytes]) -> None:
    name, values = line.words[0].lower(), line.words[1:]
    if name == b"rename-command" and len(values) == 2:
        if values[0].lower() not in engine.table.by_name:
            raise CommandError(b"No such command in rename-command")
        if not engine.table.rename(values[0].lower(), values[1].lower()):
            raise CommandError(b"Target command name already exists")
    elif name == b"user" and values:
        _declare(engine, values, declared)
    elif name == b"loadmodule":
        raise CommandError(b"Modules can't be loaded: Redouble runs no native code")
    else:
        engine.config.load(name, values)


def _declare(engine: Engine, values: list[bytes], declared: set[bytes]) -> None:
    """A `user` line: name and rules, once for each name."""
    try:
        if values[0] in declared:
            raise CommandError(b"Duplicate user found. A user can only be defined once in config files")
        configure_user(engine.acl, values)
    except CommandError as error:
        raise CommandError(b"Error in user declaration '%b': %b" % (values[0], error.text)) from None
    declared.add(values[0])


async def listen(engine: Engine, server: RedoubleServer | None = None) -> tuple[RedoubleServer, str]:
    """A server on every address of the configuration, and the line that says so. Raises `OptionError`.

    `server` is the one to use, where it is no ordinary one.
    """
    server = server or RedoubleServer(engine)
    config = engine.config
    backlog = config.number(b"tcp-backlog")
    hosts = config.get(b"bind").decode().split()
    path = config.get(b"unixsocket").decode()
    port, tls_port = config.number(b"port"), config.number(b"tls-port")
    tls = server.renew_tls() if tls_port else None
    ready = ""
    try:
        if port or not (path or tls_port):
            port = await server.listen_all(hosts, port, backlog)
            config.values[b"port"] = b"%d" % port
            ready = f"READY redis://{_reachable(hosts)}:{port}"
        if tls is not None:
            tls_port = await server.listen_all(hosts, tls_port, backlog, tls)
            ready = ready or f"READY rediss://{_reachable(hosts)}:{tls_port}"
        if path:
            await server.listen_unix(path, int(config.get(b"unixsocketperm"), 8), backlog)
            ready = ready or f"READY unix://{Path(path).absolute()}"
    except OSError as error:
        where = f"{' '.join(hosts)} port {port or tls_port}" if port or tls_port else path
        raise OptionError(f"Could not listen on {where}: {error.strerror or error}") from None
    config.edge.relisten = server.relisten
    config.edge.renew_tls = server.follow_tls
    config.edge.attend = server.attend
    return server, ready


def _reachable(hosts: list[str]) -> str:
    """An address under which the server can be reached from here."""
    host = hosts[0].removeprefix("-") if hosts else "127.0.0.1"
    if host in ("*", "0.0.0.0", "::", "::*"):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def open_log(engine: Engine) -> None:
    """Write the log into a file, where the configuration names one. Raises `OptionError`."""
    path = engine.config.get(b"logfile").decode()
    if path:
        root = logging.getLogger()
        try:
            handler = logging.FileHandler(path)
        except OSError as error:
            raise OptionError(f"Can't open the log file: {error.strerror}") from None
        handler.setFormatter(root.handlers[0].formatter if root.handlers else None)
        root.handlers = [handler]


def write_pid_file(engine: Engine) -> None:
    """The process id, where the configuration wants it."""
    path = engine.config.get(b"pidfile").decode()
    if path:
        Path(path).write_text(f"{os.getpid()}\n")
