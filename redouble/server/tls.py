"""TLS: from the parameters to a context, and a context that follows CONFIG SET.

asyncio holds on to the context that a listener was made with. Changing that one piece by piece would leave
it half changed where a file is bad, and what it trusts can only grow. So the listeners have a `LiveContext`,
which begins each connection by another context, the newest that could be made as a whole.

Simplified: `tls-protocols` is a range from the lowest that it names to the highest; `tls-ciphersuites`,
`tls-dh-params-file` and the session cache are noted and mean nothing, for the ssl module doesn't offer them.
"""

from __future__ import annotations

import ssl
from typing import Final

from redouble.engine.engine import Engine
from redouble.server.options import OptionError

_CLIENT_CERTIFICATES: Final = {
    b"yes": ssl.CERT_REQUIRED, b"optional": ssl.CERT_OPTIONAL, b"no": ssl.CERT_NONE,
}  # fmt: skip
_PROTOCOLS: Final = {
    b"tlsv1": ssl.TLSVersion.TLSv1, b"tlsv1.1": ssl.TLSVersion.TLSv1_1, b"tlsv1.2": ssl.TLSVersion.TLSv1_2,
    b"tlsv1.3": ssl.TLSVersion.TLSv1_3,
}  # fmt: skip


class LiveContext(ssl.SSLContext):
    """What a listener begins its connections with: `current`, whatever that is at the time."""

    current: ssl.SSLContext

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        """One connection's TLS; asyncio and uvloop ask for it here."""
        name = server_hostname.decode() if isinstance(server_hostname, bytes) else server_hostname
        return self.current.wrap_bio(incoming, outgoing, server_side, name, session)


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
    _limit_protocols(context, config.get(b"tls-protocols"))
    if config.enabled(b"tls-prefer-server-ciphers"):
        context.options |= ssl.OP_CIPHER_SERVER_PREFERENCE
    return context


def _limit_protocols(context: ssl.SSLContext, names: bytes) -> None:
    """Allow the versions of TLS that are named; none means those of OpenSSL."""
    words = names.lower().split()
    if [word for word in words if word not in _PROTOCOLS]:
        raise OptionError("Failed to configure TLS: Invalid tls-protocols specified. Use a combination of TLSv1.x")
    if words:
        versions = sorted(_PROTOCOLS[word] for word in words)
        context.minimum_version, context.maximum_version = versions[0], versions[-1]
