"""The hash slot of a key: CRC16 (XMODEM) of the key, or of its hash tag, modulo 16384.

The hash tag is what stands between the first `{` and the next `}`, unless that is empty; keys with the
same tag share a slot. Source: the Redis cluster specification, "Hash tags". Python's own
`binascii.crc_hqx` is this very CRC, in C.
"""

from binascii import crc_hqx
from typing import Final

SLOTS: Final = 16384
_MASK: Final = SLOTS - 1


def key_slot(key: bytes) -> int:
    """The slot of a key, or of a shard channel. O(len)."""
    begin = key.find(b"{")
    if begin >= 0:
        end = key.find(b"}", begin + 1)
        if end > begin + 1:
            key = key[begin + 1 : end]
    return crc_hqx(key, 0) & _MASK


def pattern_slot(pattern: bytes) -> int:
    """The slot of every key that a glob pattern may match; -1 where they may differ. O(len).

    A tag before the first special character decides, whatever comes behind it.
    """
    plain = len(pattern)
    for special in (b"*", b"?", b"[", b"\\"):
        at = pattern.find(special)
        if 0 <= at < plain:
            plain = at
    if plain == len(pattern):
        return key_slot(pattern)
    begin = pattern.find(b"{", 0, plain)
    end = pattern.find(b"}", begin + 1, plain)
    return key_slot(pattern[: end + 1]) if 0 <= begin < end - 1 else -1
