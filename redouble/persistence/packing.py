"""Collections packed into one string: listpack, intset, and the older ziplist and zipmap.

A listpack (since 7.0; streams have always had them) is a header with its size and number of elements,
then the elements, then an end mark. An element is a header byte that tells kind and length, the data,
and the length of both once more, seven bits a byte, so that one can walk backwards. What spells a 64-bit
integer is kept as a number. A ziplist is the same idea with the length of the *previous* element in front
of each. An intset is an array of sorted integers of one width.

Whoever reads these may have got them from anybody: everything is checked, and what is wrong raises
`CorruptData`. Ziplists are written for servers that answer as 6.2 and older; zipmaps are only read.
"""

from typing import Final

from redouble.datatypes.listpack import spells_int64
from redouble.persistence.format import CorruptData

_END: Final = 255
_HEADER: Final = 6
#: The number of elements when there are too many to count in 16 bits.
_UNCOUNTED: Final = 65535
_ZIPLIST_HEADER: Final = 10
_BIG: Final = 254
_ZIPMAP_BIG: Final = 254
#: The bytes of a ziplist's number by its header; the widest that are needed stand last.
_ZIPLIST_WIDTHS: Final[dict[int, int]] = {0xFE: 1, 0xC0: 2, 0xF0: 3, 0xD0: 4, 0xE0: 8}


# -- listpack -----------------------------------------------------------------------------------


def write_listpack(elements: list[bytes]) -> bytes:
    """A listpack of strings. O(size)."""
    body = bytearray(_HEADER)
    for element in elements:
        pack_element(body, element)
    return finish_listpack(body, len(elements))


def begin_listpack() -> bytearray:
    """Room for the header; `pack_element`, `pack_integer` and `finish_listpack` do the rest."""
    return bytearray(_HEADER)


def finish_listpack(body: bytearray, count: int) -> bytes:
    """The whole listpack of `count` elements."""
    body.append(_END)
    body[0:4] = len(body).to_bytes(4, "little")
    body[4:6] = min(count, _UNCOUNTED).to_bytes(2, "little")
    return bytes(body)


def pack_element(body: bytearray, element: bytes) -> None:
    """Append a string, as a number if it spells one."""
    size = len(element)
    if size <= 20 and spells_int64(element):
        pack_integer(body, int(element))
        return
    start = len(body)
    if size < 64:
        body.append(0x80 | size)
    elif size < 4096:
        body.append(0xE0 | size >> 8)
        body.append(size & 255)
    else:
        body.append(0xF0)
        body += size.to_bytes(4, "little")
    body += element
    _pack_length(body, len(body) - start)


def pack_integer(body: bytearray, number: int) -> None:
    """Append a signed 64-bit number."""
    start = len(body)
    if 0 <= number < 128:
        body.append(number)
    elif -4096 <= number < 4096:
        number &= 0x1FFF
        body.append(0xC0 | number >> 8)
        body.append(number & 255)
    elif -0x8000 <= number < 0x8000:
        body.append(0xF1)
        body += (number & 0xFFFF).to_bytes(2, "little")
    elif -0x800000 <= number < 0x800000:
        body.append(0xF2)
        body += (number & 0xFFFFFF).to_bytes(3, "little")
    elif -0x80000000 <= number < 0x80000000:
        body.append(0xF3)
        body += (number & 0xFFFFFFFF).to_bytes(4, "little")
    else:
        body.append(0xF4)
        body += (number & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "little")
    _pack_length(body, len(body) - start)


def _pack_length(body: bytearray, length: int) -> None:
    """The length for walking backwards: the lowest seven bits stand last, all but the first are marked."""
    width = _length_width(length)
    for place in range(width - 1, -1, -1):
        bits = length >> 7 * place & 127
        body.append(bits if place == width - 1 else bits | 128)


def _length_width(length: int) -> int:
    if length <= 127:
        return 1
    if length < 16383:
        return 2
    if length < 2097151:
        return 3
    return 4 if length < 268435455 else 5


def read_listpack(data: bytes) -> list[bytes]:
    """The elements. Raises `CorruptData`. O(size)."""
    last = len(data) - 1
    if last < _HEADER or _little(data, 0, 4) != last + 1 or data[last] != _END:
        raise CorruptData("listpack: wrong header")
    elements: list[bytes] = []
    at = _HEADER
    while at < last:
        end = _read_element(data, at, last, elements)
        length = end - at
        width = _length_width(length)
        at = end + width
        if end > last or at > last or _walk_back(data, at, width) != length:
            raise CorruptData("listpack: wrong length of an element")
    count = _little(data, 4, 2)
    if count != _UNCOUNTED and count != len(elements):
        raise CorruptData("listpack: wrong number of elements")
    return elements


def _read_element(data: bytes, at: int, last: int, elements: list[bytes]) -> int:
    """Append the element that begins at `at`; where it ends, which may be too far."""
    header = data[at]
    if header < 0x80:
        elements.append(b"%d" % header)
        return at + 1
    start = at + 1
    if header < 0xC0:
        length = header & 63
    elif header < 0xE0:
        number = (header & 31) << 8 | data[start]
        elements.append(b"%d" % (number if number < 4096 else number - 8192))
        return at + 2
    elif header < 0xF0:
        length = (header & 15) << 8 | data[start]
        start += 1
    elif header == 0xF0:
        length = _little(data, start, 4)
        start += 4
    elif header <= 0xF4:
        width = 8 if header == 0xF4 else header - 0xEF
        elements.append(b"%d" % _signed(data, start, width))
        return start + width
    else:
        raise CorruptData("listpack: unknown kind of element")
    elements.append(data[start : start + length])
    return start + length


def _walk_back(data: bytes, end: int, width: int) -> int:
    """The length that stands before `end`, read backwards; -1 if it is not `width` bytes long."""
    length = 0
    for place in range(width):
        byte = data[end - 1 - place]
        length |= (byte & 127) << 7 * place
        if (byte & 128 != 0) != (place < width - 1):
            return -1
    return length


def _little(data: bytes, at: int, width: int) -> int:
    return int.from_bytes(data[at : at + width], "little")


def _signed(data: bytes, at: int, width: int) -> int:
    return int.from_bytes(data[at : at + width], "little", signed=True)


# -- intset -------------------------------------------------------------------------------------


def write_intset(members: list[bytes]) -> bytes:
    """An intset of integers in ascending order; there must be one. O(n)."""
    numbers = [int(member) for member in members]
    width = 8
    if numbers[0] >= -0x8000 and numbers[-1] < 0x8000:
        width = 2
    elif numbers[0] >= -0x80000000 and numbers[-1] < 0x80000000:
        width = 4
    body = bytearray(width.to_bytes(4, "little"))
    body += len(numbers).to_bytes(4, "little")
    for number in numbers:
        body += number.to_bytes(width, "little", signed=True)
    return bytes(body)


def read_intset(data: bytes) -> list[bytes]:
    """The members in ascending order. Raises `CorruptData`. O(n)."""
    width = _little(data, 0, 4)
    count = _little(data, 4, 4)
    if width not in (2, 4, 8) or count == 0 or len(data) != 8 + count * width:
        raise CorruptData("intset: wrong header")
    members: list[bytes] = []
    before = -(1 << 63) - 1
    for place in range(count):
        number = _signed(data, 8 + place * width, width)
        if number <= before:
            raise CorruptData("intset: not in order")
        before = number
        members.append(b"%d" % number)
    return members


# -- ziplist ------------------------------------------------------------------------------------


def write_ziplist(elements: list[bytes]) -> bytes:
    """A ziplist of strings. O(size)."""
    body = bytearray(_ZIPLIST_HEADER)
    before = 0
    tail = _ZIPLIST_HEADER
    for element in elements:
        tail = len(body)
        if before < _BIG:
            body.append(before)
        else:
            body.append(_BIG)
            body += before.to_bytes(4, "little")
        _pack_ziplist_element(body, element)
        before = len(body) - tail
    body.append(_END)
    body[0:4] = len(body).to_bytes(4, "little")
    body[4:8] = tail.to_bytes(4, "little")
    body[8:10] = min(len(elements), _UNCOUNTED).to_bytes(2, "little")
    return bytes(body)


def _pack_ziplist_element(body: bytearray, element: bytes) -> None:
    size = len(element)
    if size <= 20 and spells_int64(element):
        number = int(element)
        if 0 <= number <= 12:
            body.append(0xF1 + number)
            return
        for header, width in _ZIPLIST_WIDTHS.items():
            reach = 1 << (8 * width - 1)
            if -reach <= number < reach:
                body.append(header)
                body += number.to_bytes(width, "little", signed=True)
                return
    if size < 64:
        body.append(size)
    elif size < 16384:
        body.append(0x40 | size >> 8)
        body.append(size & 255)
    else:
        body.append(0x80)
        body += size.to_bytes(4, "big")
    body += element


def read_ziplist(data: bytes) -> list[bytes]:
    """The elements. Raises `CorruptData`. O(size)."""
    last = len(data) - 1
    if last < _ZIPLIST_HEADER or _little(data, 0, 4) != last + 1 or data[last] != _END:
        raise CorruptData("ziplist: wrong header")
    elements: list[bytes] = []
    at = _ZIPLIST_HEADER
    tail = _little(data, 4, 4)
    begin = tail
    before = 0
    while at < last:
        begin = at
        if data[at] < _BIG:
            said = data[at]
            at += 1
        else:
            said = _little(data, at + 1, 4)
            at += 5
        if said != before or at >= last:
            raise CorruptData("ziplist: wrong length of an element")
        at = _read_ziplist_element(data, at, elements)
        before = at - begin
    count = _little(data, 8, 2)
    if at != last or begin != tail or (count != _UNCOUNTED and count != len(elements)):
        raise CorruptData("ziplist: wrong end")
    return elements


def _read_ziplist_element(data: bytes, at: int, elements: list[bytes]) -> int:
    """Append the element whose header stands at `at`; where it ends, which may be too far."""
    header = data[at]
    at += 1
    if header < 0xC0:
        if header < 0x40:
            length = header
        elif header < 0x80:
            length = (header & 63) << 8 | data[at]
            at += 1
        else:
            length = int.from_bytes(data[at : at + 4], "big")
            at += 4
        elements.append(data[at : at + length])
        return at + length
    if 0xF1 <= header <= 0xFD:
        elements.append(b"%d" % (header - 0xF1))
        return at
    width = _ZIPLIST_WIDTHS.get(header, 0)
    if width == 0:
        raise CorruptData("ziplist: unknown kind of element")
    elements.append(b"%d" % _signed(data, at, width))
    return at + width


# -- zipmap -------------------------------------------------------------------------------------


def read_zipmap(data: bytes) -> list[bytes]:
    """Fields and values by turns. Raises `CorruptData`. O(size)."""
    last = len(data) - 1
    if last < 1 or data[last] != _END:
        raise CorruptData("zipmap: wrong header")
    elements: list[bytes] = []
    at = 1
    while at < last:
        unused = 0
        if data[at] < _ZIPMAP_BIG:
            length = data[at]
            at += 1
        else:
            length = _little(data, at + 1, 4)
            at += 5
            if length < _ZIPMAP_BIG:
                raise CorruptData("zipmap: a short length in the long form")
        if len(elements) % 2:
            unused = data[at] if at < last else 0
            at += 1
        elements.append(data[at : at + length])
        at += length + unused
    if at != last or len(elements) % 2 or (data[0] != _ZIPMAP_BIG and data[0] != len(elements) // 2):
        raise CorruptData("zipmap: wrong end")
    return elements
