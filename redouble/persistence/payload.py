"""The payloads of DUMP and of FUNCTION DUMP: data, then the format version and the checksum.

A server reads payloads of its own format and of older ones. Errors are the business of the caller, who
knows the texts.
"""

from typing import Final

from redouble.datatypes.limits import Limits
from redouble.persistence import format as rdb
from redouble.persistence.crc64 import crc64
from redouble.persistence.decode import read_value
from redouble.persistence.encode import type_of, write_value
from redouble.persistence.format import CorruptData
from redouble.persistence.lzf import Compressor
from redouble.persistence.reader import Reader
from redouble.persistence.writer import Writer

_VERSION_BYTES: Final = 2
_CHECKSUM_BYTES: Final = 8
_FOOTER: Final = _VERSION_BYTES + _CHECKSUM_BYTES


def dump_value(value: object, version: int, limits: Limits, compressor: Compressor | None) -> bytes:
    """The payload of DUMP for a value. O(size).

    Args:
        version: the format version, see `format_version`.
        compressor: None if strings must not be compressed.
    """
    out = Writer(version, compressor)
    out.byte(type_of(value, version))
    write_value(out, value, limits)
    return _signed(out)


def is_sound(payload: bytes, version: int, trusting: bool = False) -> bool:
    """Whether the version is not above `version` and (unless `trusting`) the checksum is right. O(len)."""
    size = len(payload)
    if size < _FOOTER:
        return False
    if int.from_bytes(payload[size - _FOOTER : size - _CHECKSUM_BYTES], "little") > version:
        return False
    checksum = int.from_bytes(payload[size - _CHECKSUM_BYTES :], "little")
    return trusting or crc64(payload[: size - _CHECKSUM_BYTES]) == checksum


def load_value(payload: bytes, limits: Limits) -> object:
    """The value in a payload that is sound. Raises `CorruptData` if it holds none. O(size).

    As in Redis what stands behind the value is not looked at, and a value may reach into the footer.
    """
    source = Reader(payload)
    return read_value(source, source.byte(), limits)


def dump_functions(codes: list[bytes], version: int, compressor: Compressor | None) -> bytes:
    """The payload of FUNCTION DUMP for the code of libraries. O(size)."""
    out = Writer(version, compressor)
    for code in codes:
        out.byte(rdb.FUNCTION)
        out.text(code)
    return _signed(out)


def load_functions(payload: bytes) -> list[bytes]:
    """The code of the libraries in a payload that is sound. Raises `CorruptData` if there is anything else. O(size)."""
    source = Reader(payload[: len(payload) - _FOOTER])
    codes: list[bytes] = []
    while source.at < source.end:
        if source.byte() != rdb.FUNCTION:
            raise CorruptData("given type is not a function")
        codes.append(source.text())
    return codes


def _signed(out: Writer) -> bytes:
    data = out.data
    data += out.version.to_bytes(_VERSION_BYTES, "little")
    data += crc64(bytes(data)).to_bytes(_CHECKSUM_BYTES, "little")
    return bytes(data)
