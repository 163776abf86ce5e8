"""Numbers and their bytes, for the Lua libraries `cmsgpack`, `cjson`, `bit` and `struct`.

Lua 5.1 has neither integers of 64 bits nor the bytes of a double at hand; these functions have.
They are called by the Lua code in `lua/` only, with arguments already checked, and they work as C does.
"""

import math
import re
import struct
from typing import Final

from redouble.lua_runtime.convert import whole

MASK_64: Final = 0xFFFFFFFFFFFFFFFF
_FLOAT: Final = struct.Struct(">f")
_DOUBLE: Final = struct.Struct(">d")
_LOW: Final = struct.Struct("<Q")
#: What C's strtod reads, as CJSON lets it.
_NUMBER: Final = re.compile(
    rb"[+-]?(?:0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?"
    rb"|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:infinity|inf|nan(?:\([0-9a-z_]*\))?))"
)


def low_bits(value: float) -> int:
    """The low 32 bits of the double's own pattern: what `bit` sees of numbers too large for it."""
    bits: int = _LOW.unpack(struct.pack("<d", value))[0]
    return bits & 0xFFFFFFFF


def strtod(text: bytes) -> tuple[float, int]:
    """The number at the start of `text` and how many bytes spell it, 0 if none do."""
    match = _NUMBER.match(text)
    if match is None:
        return 0.0, 0
    word = match.group().decode()
    lower = word.lower()
    if "x" in lower:
        try:
            value = float.fromhex(word)
        except OverflowError:
            value = -math.inf if word[0] == "-" else math.inf
    elif "nan" in lower:
        value = math.copysign(math.nan, -1.0 if word[0] == "-" else 1.0)
    else:
        value = float(word)
    return value, len(word)


def to_unsigned(value: int | float) -> int:
    """A Lua number as C casts it to an unsigned long: by way of a long if it is negative."""
    if isinstance(value, float) and value >= 9223372036854775808.0:
        return int(value) if value < 18446744073709551616.0 else 0
    return whole(value) & MASK_64


def as_float(value: float) -> float:
    """The nearest single precision number, infinite if `value` is too large for one."""
    try:
        number: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
        return number
    except OverflowError:
        return math.copysign(math.inf, value)


def pack_double(value: float) -> bytes:
    """MessagePack's float if that is exact, else its double."""
    if as_float(value) == value:
        return b"\xca" + _FLOAT.pack(value)
    return b"\xcb" + _DOUBLE.pack(value)


def read_float(data: bytes) -> float:
    value: float = _FLOAT.unpack(data)[0]
    return value


def read_double(data: bytes) -> float:
    value: float = _DOUBLE.unpack(data)[0]
    return value


def read_int64(data: bytes) -> int:
    return int.from_bytes(data, "big", signed=True)
