"""TLS, with a certificate made for the test."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator

import pytest

from redouble.engine.engine import Engine
from redouble.errors import CommandError
from redouble.server.options import OptionError, read_options
from redouble.server.server import RedoubleServer
from redouble.server.startup import engine_from, listen
from redouble.server.tls import tls_context

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate for localhost, which is its own authority, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    cert, key = str(folder / "cert.pem"), str(folder / "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-keyout", key, "-out", cert, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True,
    )  # fmt: skip
    return cert, key


async def ping(port: int, context: ssl.SSLContext) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="localhost")
    writer.write(b"PING\r\n")
    reply = await reader.readline()
    writer.close()
    return reply


async def serve_and_ping(options: list[str], context: ssl.SSLContext) -> bytes:
    engine = engine_from(read_options(options))
    server = RedoubleServer(engine)
    port = await server.listen_all(["127.0.0.1"], 0, tls=tls_context(engine))
    try:
        return await ping(port, context)
    finally:
        await server.close()


def test_a_client_that_trusts_the_certificate_is_served(certificate: tuple[str, str]) -> None:
    cert, key = certificate
    context = ssl.create_default_context(cafile=cert)
    options = ["--tls-cert-file", cert, "--tls-key-file", key, "--tls-auth-clients", "no"]
    assert asyncio.run(serve_and_ping(options, context)) == b"+PONG\r\n"


def test_clients_must_show_a_certificate_unless_told_otherwise(certificate: tuple[str, str]) -> None:
    cert, key = certificate
    options = ["--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert]
    stranger = ssl.create_default_context(cafile=cert)
    with contextlib.suppress(ssl.SSLError, ConnectionError):
        assert asyncio.run(serve_and_ping(options, stranger)) == b""
    known = ssl.create_default_context(cafile=cert)
    known.load_cert_chain(cert, key)
    assert asyncio.run(serve_and_ping(options, known)) == b"+PONG\r\n"


def test_a_missing_certificate_is_fatal() -> None:
    with pytest.raises(OptionError, match="Failed to configure TLS"):
        asyncio.run(serve_and_ping([], ssl.create_default_context()))


@contextlib.asynccontextmanager
async def configured(*options: str) -> AsyncIterator[tuple[Engine, int]]:
    """A server as the command line makes it, and its port for TLS."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    engine = engine_from(read_options(["--bind", "127.0.0.1", "--port", "0", "--tls-port", str(port), *options]))
    server, _ = await listen(engine)
    try:
        yield engine, port
    finally:
        await server.close()


def refused(name: str, reason: str) -> str:
    return f"ERR CONFIG SET failed \\(possibly related to argument '{name}'\\) - {reason}"


def test_new_connections_follow_the_configuration(certificate: tuple[str, str]) -> None:
    cert, key = certificate

    async def scenario() -> None:
        async with configured("--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert) as (
            engine,
            port,
        ):
            stranger = ssl.create_default_context(cafile=cert)
            with contextlib.suppress(ssl.SSLError, ConnectionError):
                assert await ping(port, stranger) == b""
            engine.config.change([b"tls-auth-clients", b"no", b"tls-protocols", b"TLSv1.2"], True)
            assert await ping(port, stranger) == b"+PONG\r\n"
            stranger.minimum_version = ssl.TLSVersion.TLSv1_3
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await ping(port, stranger)

    asyncio.run(scenario())


def test_a_certificate_that_is_not_there_is_refused_and_the_old_one_stays(certificate: tuple[str, str]) -> None:
    cert, key = certificate

    async def scenario() -> None:
        options = ["--tls-cert-file", cert, "--tls-key-file", key, "--tls-auth-clients", "no"]
        async with configured(*options) as (engine, port):
            reason = "Unable to update TLS configuration. Check server logs."
            for name, value in (("tls-cert-file", "/nowhere"), ("tls-protocols", "TLSv9")):
                with pytest.raises(CommandError, match=refused(name, reason)):
                    engine.config.change([name.encode(), value.encode()], True)
            assert engine.config.get(b"tls-cert-file") == cert.encode()
            assert await ping(port, ssl.create_default_context(cafile=cert)) == b"+PONG\r\n"

    asyncio.run(scenario())


def test_the_port_for_tls_can_be_changed_and_closed(certificate: tuple[str, str]) -> None:
    cert, key = certificate
    context = ssl.create_default_context(cafile=cert)

    async def scenario() -> None:
        options = ["--tls-cert-file", cert, "--tls-key-file", key, "--tls-auth-clients", "no"]
        async with configured(*options) as (engine, port), configured(*options) as (other, taken):
            with pytest.raises(CommandError, match=refused("tls-port", "Unable to listen on this port.")):
                engine.config.change([b"tls-port", b"%d" % taken], True)
            assert await ping(port, context) == b"+PONG\r\n"
            other.config.change([b"tls-port", b"0"], True)
            engine.config.change([b"tls-port", b"%d" % taken], True)
            assert await ping(taken, context) == b"+PONG\r\n"
            with pytest.raises(ConnectionRefusedError):
                await ping(port, context)

    asyncio.run(scenario())
