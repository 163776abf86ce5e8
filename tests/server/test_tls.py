"""TLS, with a certificate made for the test."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import ssl
import subprocess

import pytest

from redouble.server.options import OptionError, read_options
from redouble.server.server import RedoubleServer
from redouble.server.startup import engine_from, tls_context

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
