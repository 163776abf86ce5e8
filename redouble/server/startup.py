"""From options to a server that listens: the engine with its configuration, then its sockets."""

from __future__ import annotations

import logging
import os
import ssl
from pathlib import Path
from typing import Final

from redouble.commands import CONTROLS, FAMILIES
from redouble.engine.aclfile import configure_user, load_file
from redouble.engine.engine import Engine
from redouble.errors import CommandError
from redouble.server.options import Line, OptionError, Options
from redouble.server.server import RedoubleServer

_CLIENT_CERTIFICATES: Final = {
    b"yes": ssl.CERT_REQUIRED, b"optional": ssl.CERT_OPTIONAL, b"no": ssl.CERT_NONE,
}  # fmt: skip


def engine_from(options: Options) -> Engine:
    """An engine, configured. Raises `OptionError`."""
    families = FAMILIES + CONTROLS if options.controls else FAMILIES
    engine = Engine(families, options.version, options.seed, options.databases)
    engine.config.file = options.file.encode()
    for line in options.lines:
        try:
            _apply(engine, line)
        except CommandError as error:
            raise OptionError(error.text.decode("utf-8", "replace"), line) from None
    _load_users(engine, options)
    _load_keys(engine, options)
    return engine


def _load_keys(engine: Engine, options: Options) -> None:
    """The keys of the RDB file, where the options name one."""
    if [line for line in options.lines if line.words[0].lower() == b"dbfilename"] and not engine.saving.load_at_start():
        raise OptionError(f"Fatal error loading the DB {engine.saving.path()}, check server logs. Exiting.")


def _load_users(engine: Engine, options: Options) -> None:
    """The users of the ACL file, where there is one."""
    name = engine.config.get(b"aclfile")
    if name:
        try:
            load_file(engine.acl, name)
        except CommandError as error:
            raise OptionError(error.text.decode("utf-8", "replace"), options.lines[-1]) from None


def _apply(engine: Engine, line: Line) -> None:
    name, values = line.words[0].lower(), line.words[1:]
    if name == b"rename-command" and len(values) == 2:
        if values[0].lower() not in engine.table.by_name:
            raise CommandError(b"No such command in rename-command")
        if not engine.table.rename(values[0].lower(), values[1].lower()):
            raise CommandError(b"Target command name already exists")
    elif name == b"user" and values:
        configure_user(engine.acl, values)
    elif name == b"loadmodule":
        raise CommandError(b"Modules can't be loaded: Redouble runs no native code")
    else:
        engine.config.load(name, values)


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
    tls = tls_context(engine) if tls_port else None
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
    config.edge.attend = server.attend
    return server, ready


def _reachable(hosts: list[str]) -> str:
    """An address under which the server can be reached from here."""
    host = hosts[0].removeprefix("-") if hosts else "127.0.0.1"
    if host in ("*", "0.0.0.0", "::", "::*"):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def tls_context(engine: Engine) -> ssl.SSLContext:
    """What the tls parameters ask for. Raises `OptionError`."""
    config = engine.config
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    password = config.get(b"tls-key-file-pass")
    try:
        context.load_cert_chain(
            config.get(b"tls-cert-file").decode(), config.get(b"tls-key-file").decode() or None, password or None
        )
        authorities = config.get(b"tls-ca-cert-file").decode()
        folder = config.get(b"tls-ca-cert-dir").decode()
        if authorities or folder:
            context.load_verify_locations(authorities or None, folder or None)
        context.verify_mode = _CLIENT_CERTIFICATES[config.get(b"tls-auth-clients")]
        if config.get(b"tls-ciphers"):
            context.set_ciphers(config.get(b"tls-ciphers").decode())
    except OSError as error:
        raise OptionError(f"Failed to configure TLS: {error}") from None
    return context


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
