"""The `struct` library: C structs to strings and back, as Roberto Ierusalimschy's lua_struct does.

Formats: ``>`` ``<`` byte order, ``!n`` alignment, ``x`` a pad byte, ``b B`` char, ``h H`` short, ``l L`` long,
``T`` size_t, ``i I`` integers of n bytes (4), ``f`` float, ``d`` double, ``s`` zero-ended string, ``c`` n bytes,
``c0`` as many bytes as the value before says.

The whole work is done here, in one call from Lua. Errors come back as values, `Trouble`, because only
Lua knows the names and places that their texts need (`lua/struct.lua`).
"""

import struct
from typing import Any, Final, final

from redouble.lua_runtime.binary import MASK_64, as_float, to_unsigned
from redouble.lua_runtime.convert import whole

_MAX_INT: Final = 2147483647
_MAX_INTEGER_SIZE: Final = 32
_SIZES: Final[dict[int, int]] = {
    98: 1,  # b
    66: 1,  # B
    104: 2,  # h
    72: 2,  # H
    108: 8,  # l
    76: 8,  # L
    84: 8,  # T
    102: 4,  # f
    100: 8,  # d
    120: 1,  # x
}
_INTEGERS: Final = b"bBhHlLTiI"
_BLANK: Final = 32
_BANG: Final = 33
_BIG: Final = 62
_LITTLE: Final = 60
_CHARS: Final = 99
_STRING: Final = 115
_PAD: Final = 120
_DOUBLE: Final = 100
_FLOAT: Final = 102
_I: Final = 73
_i: Final = 105


class Trouble(Exception):
    """An error of the library: a number of an argument (0 for none) and a text."""

    def __init__(self, argument: int, text: bytes) -> None:
        super().__init__(argument, text)
        self.argument: int = argument
        #: Empty if the argument is of the wrong type; then `expected` says what it should be.
        self.text: bytes = text
        self.expected: bytes = b""


def _wrong_type(argument: int, expected: bytes) -> Trouble:
    trouble = Trouble(argument, b"")
    trouble.expected = expected
    return trouble


@final
class _Layout:
    """A format being read: where we are, the byte order and the alignment now."""

    __slots__ = ("text", "at", "little", "align")

    def __init__(self, text: bytes) -> None:
        self.text: bytes = text.partition(b"\0")[0]
        self.at: int = 0
        self.little: bool = True
        self.align: int = 1

    def number(self, default: int) -> int:
        """The number at this place, or the default."""
        text = self.text
        at = self.at
        if at >= len(text) or not 48 <= text[at] <= 57:
            return default
        value = 0
        while at < len(text) and 48 <= text[at] <= 57:
            value = value * 10 + text[at] - 48
            if value > _MAX_INT:
                raise Trouble(0, b"integral size overflow")
            at += 1
        self.at = at
        return value

    def size(self, option: int) -> int:
        """The bytes that `option` takes, 0 if that is not known or it takes none."""
        size = _SIZES.get(option)
        if size is not None:
            return size
        if option == _CHARS:
            return self.number(1)
        if option == _i or option == _I:
            count = self.number(4)
            if count > _MAX_INTEGER_SIZE:
                raise Trouble(0, b"integral size %d is larger than limit of %d" % (count, _MAX_INTEGER_SIZE))
            return count
        return 0

    def padding(self, position: int, option: int, size: int) -> int:
        """The pad bytes before an element at `position`."""
        if size == 0 or option == _CHARS:
            return 0
        size = min(size, self.align)
        return (size - (position & (size - 1))) & (size - 1)

    def control(self, option: int) -> None:
        """Options that set the byte order or the alignment, and those that are none."""
        if option == _BIG:
            self.little = False
        elif option == _LITTLE:
            self.little = True
        elif option == _BANG:
            align = self.number(8)
            if align <= 0 or align & (align - 1):
                raise Trouble(0, b"alignment %d is not a power of 2" % align)
            self.align = align
        elif option != _BLANK:
            raise Trouble(1, b"invalid format option '%c'" % option)


def _number(value: Any, argument: int, to_number: Any) -> float | int:
    """A number, or what Lua's tonumber makes of a string."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if isinstance(value, bytes):
        number = to_number(value)
        if number is not None:
            result: float | int = number
            # An integer has lost the sign of a negative zero (see `signs.lua`).
            return -0.0 if result == 0 and value.lstrip().startswith(b"-") else result
    raise _wrong_type(argument, b"number")


def _put_integer(value: float | int, size: int, little: bool) -> bytes:
    data = to_unsigned(value).to_bytes(8, "little")
    data = data[:size] if size <= 8 else data + bytes(size - 8)
    return data if little else data[::-1]


def _put_real(value: float | int, size: int, little: bool) -> bytes:
    order = "<" if little else ">"
    if size == 8:
        return struct.pack(order + "d", value)
    return struct.pack(order + "f", as_float(float(value)))


def _put_string(value: Any, argument: int, option: int, size: int) -> bytes:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = b"%.14g" % value
    if not isinstance(value, bytes):
        raise _wrong_type(argument, b"string")
    if size == 0:
        size = len(value)
    if len(value) < size:
        raise Trouble(argument + 1, b"string too short")
    data = value[:size]
    return data + b"\0" if option == _STRING else data


def pack(layout_text: bytes, args: tuple[Any, ...], to_number: Any) -> bytes:
    """struct.pack; raises `Trouble`. O(size)."""
    layout = _Layout(layout_text)
    text = layout.text
    out: list[bytes] = []
    total = 0
    argument = 0
    while layout.at < len(text):
        option = text[layout.at]
        layout.at += 1
        size = layout.size(option)
        pad = layout.padding(total, option, size)
        if pad:
            out.append(bytes(pad))
        data = b""
        if option == _PAD:
            data = b"\0"
        elif option in _INTEGERS or option in b"fdcs":
            value = args[argument] if argument < len(args) else None
            argument += 1
            if option in _INTEGERS:
                data = _put_integer(_number(value, argument + 1, to_number), size, layout.little)
            elif option == _FLOAT or option == _DOUBLE:
                data = _put_real(_number(value, argument + 1, to_number), size, layout.little)
            else:
                data = _put_string(value, argument + 1, option, size)
        else:
            layout.control(option)
        out.append(data)
        total += pad + len(data)
    return b"".join(out)


def _get_integer(data: bytes, little: bool, signed: bool) -> int | float:
    """An integer from its bytes; of more than eight, the lowest count."""
    size = len(data)
    order = data if little else data[::-1]
    number = int.from_bytes(order[:8], "little")
    if signed:
        mask = MASK_64 << ((size * 8 - 1) & 63) & MASK_64
        if number & mask:
            number |= mask
        if number >> 63:
            number -= 1 << 64
    return float(number) if number >> 63 > 0 else number


def _check_room(data: bytes, position: int, size: int) -> None:
    if not 0 <= size <= len(data) or not 0 <= position <= len(data) - size:
        raise Trouble(2, b"data string too short")


def unpack(layout_text: bytes, data: bytes, start: int, to_number: Any) -> list[Any]:
    """struct.unpack: the values, and the position after them; raises `Trouble`. O(size)."""
    position = start - 1
    if position == -1:
        raise Trouble(3, b"offset must be 1 or greater")
    layout = _Layout(layout_text)
    text = layout.text
    out: list[Any] = []
    while layout.at < len(text):
        option = text[layout.at]
        layout.at += 1
        size = layout.size(option)
        # Other negative positions are huge ones to C: too far, unless padding wraps them around.
        position += layout.padding(position, option, size)
        _check_room(data, position, size)
        if option == _CHARS and size == 0:
            size = _size_before(out, to_number)
            _check_room(data, position, size)
        piece = data[position : position + size]
        if option in _INTEGERS:
            out.append(_get_integer(piece, layout.little, option >= 97))
        elif option == _FLOAT or option == _DOUBLE:
            out.append(struct.unpack(("<" if layout.little else ">") + ("f" if size == 4 else "d"), piece)[0])
        elif option == _CHARS:
            out.append(piece)
        elif option == _STRING:
            stop = data.find(b"\0", position)
            if stop < 0:
                raise Trouble(0, b"unfinished string in data")
            out.append(data[position:stop])
            size = stop - position + 1
        elif option != _PAD:
            layout.control(option)
        position += size
    out.append(position + 1)
    return out


def _size_before(out: list[Any], to_number: Any) -> int:
    """The size for ``c0``: the value before, which is taken away."""
    size = out.pop() if out else None
    if isinstance(size, bytes):
        size = to_number(size)
    if size is None:
        raise Trouble(0, b"format 'c0' needs a previous size")
    return whole(size)


def size_of(layout_text: bytes) -> int:
    """struct.size; raises `Trouble`. O(len)."""
    layout = _Layout(layout_text)
    text = layout.text
    position = 0
    while layout.at < len(text):
        option = text[layout.at]
        layout.at += 1
        size = layout.size(option)
        position += layout.padding(position, option, size)
        if option == _STRING:
            raise Trouble(1, b"option 's' has no fixed size")
        if option == _CHARS and size == 0:
            raise Trouble(1, b"option 'c0' has no fixed size")
        if not bytes((option,)).isalnum():
            layout.control(option)
        position += size
    return position
