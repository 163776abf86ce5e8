"""Bytes, numbers and MessagePack for the Lua libraries `struct`, `cmsgpack`, `cjson` and `bit`.

Lua 5.1 has neither integers of 64 bits nor the bytes of a double at hand; these functions have.
They are called by the Lua code in `lua/` only, with arguments already checked, and they work as C does.
"""

import math
import re
import struct
from typing import Final

from redouble.lua_runtime.convert import whole

_MASK_64: Final = 0xFFFFFFFFFFFFFFFF
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
        value = math.nan
    else:
        value = float(word)
    return value, len(word)


def padding(position: int, size: int) -> int:
    """The pad bytes that align `position` to `size`."""
    return (size - (position & (size - 1))) & (size - 1)


def put_integer(value: int | float, size: int, little: bool) -> bytes:
    """A number as an integer of `size` bytes."""
    number = (whole(value) if value < _MASK_64 else 0) & _MASK_64
    if isinstance(value, float) and value >= 9223372036854775808.0:
        number = int(value) & _MASK_64 if value < 18446744073709551616.0 else 0
    data = number.to_bytes(8, "little")
    data = data[:size] if size <= 8 else data + bytes(size - 8)
    return data if little else data[::-1]


def get_integer(data: bytes, little: bool, signed: bool) -> int | float:
    """An integer from its bytes; of more than eight, the lowest count."""
    size = len(data)
    order = data if little else data[::-1]
    number = int.from_bytes(order[:8], "little")
    if signed:
        shift = (size * 8 - 1) & 63
        mask = _MASK_64 << shift & _MASK_64
        if number & mask:
            number |= mask
        if number >> 63:
            number -= 1 << 64
    return float(number) if number >> 63 > 0 else number


def put_float(value: int | float, size: int, little: bool) -> bytes:
    """A float of four bytes or a double of eight."""
    order = "<" if little else ">"
    if size == 8:
        return struct.pack(order + "d", value)
    return struct.pack(order + "f", as_float(float(value)))


def as_float(value: float) -> float:
    """The nearest single precision number, infinite if `value` is too large for one."""
    try:
        number: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
        return number
    except OverflowError:
        return math.copysign(math.inf, value)


def get_float(data: bytes, little: bool) -> float:
    value: float = struct.unpack(("<" if little else ">") + ("d" if len(data) == 8 else "f"), data)[0]
    return value


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
