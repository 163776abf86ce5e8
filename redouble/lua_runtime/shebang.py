"""The first line of a script or library: `#!lua flags=no-writes,...` or `#!lua name=mylib`.

A script without that line runs in compatible mode (`COMPAT`): nothing is known of it beforehand.
"""

from typing import Final

from redouble.errors import CommandError
from redouble.protocol.quote import split_args

NO_WRITES: Final = 1
ALLOW_OOM: Final = 2
ALLOW_STALE: Final = 4
NO_CLUSTER: Final = 8
#: The script has no shebang line.
COMPAT: Final = 16
ALLOW_CROSS_SLOT: Final = 32

#: The flags by name, in the order in which FUNCTION LIST shows them.
FLAG_BITS: Final[dict[bytes, int]] = {
    b"no-writes": NO_WRITES,
    b"allow-oom": ALLOW_OOM,
    b"allow-stale": ALLOW_STALE,
    b"no-cluster": NO_CLUSTER,
    b"allow-cross-slot-keys": ALLOW_CROSS_SLOT,
}
