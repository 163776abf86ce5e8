"""LZF, the compression of strings in RDB data (M. Lehmann, LibLZF).

Compressed data is a sequence of runs. A first byte below 32 says that so many bytes plus one follow as
they are. Else its high three bits are the length of a match minus two (7: one more byte adds to it), and
its low five bits and the next byte tell how far back the match begins, minus one.

Matches are found by a table from a hash of three bytes to the place where it was seen last. To write
the very bytes that Redis writes, the hash, what enters the table, and the limits are LibLZF's (in its
"very fast" setting); so two payloads of equal values are equal. The binding on PyPI has no wheels for
some platforms, hence this.

Simplified: Redis does not clear its table between strings, so once in a blue moon it finds a match that
we do not. Both decompress to the same.
"""

from typing import Final, final

_SLOTS: Final = 1 << 16
_MOST_LITERALS: Final = 32
_FARTHEST: Final = 1 << 13
_LONGEST: Final = (1 << 8) + (1 << 3)
#: No run of compressed data yields more than this times its own length.
_BEST_RATIO: Final = _LONGEST // 3 + 1


@final
class Compressor:
    """Compresses strings, one after the other. It keeps its table (512 KiB, made at the first use) between them.

    So that nothing need be cleared, places are counted through all strings; what is below `_base` is old.
    """

    __slots__ = ("_seen", "_base")

    def __init__(self) -> None:
        self._seen: list[int] = []
        self._base: int = 0

    def compress(self, data: bytes, room: int) -> bytes | None:
        """The data, three bytes at least, in at most `room` bytes; None if they do not suffice. O(len)."""
        if not self._seen:
            self._seen = [0] * _SLOTS
        base = self._base
        self._base = base + len(data)
        return _compress(data, room, self._seen, base)


def _compress(data: bytes, room: int, seen: list[int], base: int) -> bytes | None:
    size = len(data)
    out = bytearray()
    last = size - 2
    at = 0
    #: Where the literals begin that are not written yet.
    pending = 0
    three = _three(data, 0) >> 8
    while at < last:
        three = (three << 8 | data[at + 2]) & 0xFFFFFF
        slot = ((three >> 8) - three * 5) & 0xFFFF
        found = seen[slot] - base
        seen[slot] = base + at
        # The first place of all can't be told from an empty slot, in LibLZF.
        if found > 0 and at - found <= _FARTHEST and _three(data, found) == three:
            used = len(out) + at - pending + (1 if at > pending else 0)
            if used + 4 >= room:
                return None
            length = _match(data, found, at, size)
            _write_literals(out, data, pending, at)
            _write_match(out, length, at - found - 1)
            at += length
            pending = at
            if at < last:
                for place in (at - 2, at - 1):
                    three = _three(data, place)
                    seen[((three >> 8) - three * 5) & 0xFFFF] = base + place
        else:
            if len(out) + at - pending + 1 >= room:
                return None
            at += 1
            if at - pending == _MOST_LITERALS:
                _write_literals(out, data, pending, at)
                pending = at
    if len(out) + at - pending + 4 > room:
        return None
    _write_literals(out, data, pending, size)
    return bytes(out)


def _three(data: bytes, at: int) -> int:
    """The three bytes at a place as one number."""
    return data[at] << 16 | data[at + 1] << 8 | data[at + 2]


def _match(data: bytes, found: int, at: int, size: int) -> int:
    """How long the match is, three bytes of which are known to be equal."""
    most = min(size - at - 2, _LONGEST)
    length = 3
    if most > 16:
        # LibLZF compares sixteen bytes before it looks at the limit again.
        while length < 19 and data[found + length] == data[at + length]:
            length += 1
        if length < 19:
            return length
    while length < most and data[found + length] == data[at + length]:
        length += 1
    return length


def _write_literals(out: bytearray, data: bytes, start: int, stop: int) -> None:
    while start < stop:
        end = min(stop, start + _MOST_LITERALS)
        out.append(end - start - 1)
        out += data[start:end]
        start = end


def _write_match(out: bytearray, length: int, distance: int) -> None:
    if length < 9:
        out.append((length - 2) << 5 | distance >> 8)
    else:
        out.append(7 << 5 | distance >> 8)
        out.append(length - 9)
    out.append(distance & 255)


def decompress(data: bytes, size: int) -> bytes | None:
    """The `size` bytes that `data` stands for, or None if it stands for no such. O(size)."""
    if size > len(data) * _BEST_RATIO:
        return None
    out = bytearray()
    at = 0
    end = len(data)
    while at < end:
        control = data[at]
        at += 1
        if control < _MOST_LITERALS:
            stop = at + control + 1
            if stop > end:
                return None
            out += data[at:stop]
            at = stop
            continue
        length = (control >> 5) + 2
        if length == 9:
            if at >= end:
                return None
            length += data[at]
            at += 1
        if at >= end:
            return None
        start = len(out) - ((control & 31) << 8 | data[at]) - 1
        at += 1
        if start < 0 or len(out) + length > size:
            return None
        _repeat(out, start, length)
    return bytes(out) if len(out) == size else None


def _repeat(out: bytearray, start: int, length: int) -> None:
    """Append `length` bytes from `start` on, which may reach into what is being appended."""
    piece = out[start : start + length]
    if len(piece) < length:
        piece = (piece * (length // len(piece) + 1))[:length]
    out += piece
