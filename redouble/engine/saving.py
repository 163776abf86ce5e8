"""Saving all keys to a file, loading them again, and the figures behind LASTSAVE and INFO persistence.

SAVE and BGSAVE write `dbfilename` in `dir`, a file that a real server can load, and DEBUG RELOAD writes
and reads it. Beyond that a double should leave no traces and find no surprises: a dump.rdb that happens
to lie in the working directory must not fill a test's server, nor should each server leave one behind.
So only a server that was *told* its `dbfilename` when it was started keeps its keys: it loads the file at
start and, as long as `save` is not empty, writes it at shutdown.

Simplified: BGSAVE is done when it is answered, there being no process to fork; it is scheduled only in
MULTI. Save points are not watched: nothing is written by time or by the number of changes. Nor are
writes refused after a save has failed.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from redouble.errors import CommandError
from redouble.persistence.format import CorruptData, format_version
from redouble.persistence.lzf import Compressor
from redouble.persistence.rdbfile import Contents, Options, put_in_place, read_rdb, save_file, write_rdb

if TYPE_CHECKING:
    from redouble.engine.engine import Engine

log: Final = logging.getLogger("redouble")


@final
class Saving:
    """The saves of one engine."""

    __slots__ = (
        "engine", "keeps", "last_save", "saves", "rewrites", "dirty_at_save", "last_duration", "last_failed",
        "trusting",
        "keys_loaded", "keys_expired", "_compressor",
    )  # fmt: skip

    def __init__(self, engine: Engine, now: int) -> None:
        self.engine: Engine = engine
        #: Whether the keys are loaded at start and saved at shutdown.
        self.keeps: bool = False
        #: Unix time in seconds; when the server started, if it was never saved.
        self.last_save: int = now // 1000
        self.saves: int = 0
        self.rewrites: int = 0
        #: The dirty counter at the last save.
        self.dirty_at_save: int = 0
        #: How long the last background save took, seconds; -1 if there was none.
        self.last_duration: int = -1
        #: Whether the last background save failed.
        self.last_failed: bool = False
        #: Whether RESTORE believes payloads without looking at their checksum.
        self.trusting: bool = False
        #: At the last loading: how many keys were there, and how many had expired.
        self.keys_loaded: int = 0
        self.keys_expired: int = 0
        self._compressor: Compressor = Compressor()

    def compressor(self) -> Compressor | None:
        """For the strings of files and of DUMP; None where rdbcompression is off."""
        return self._compressor if self.engine.config.enabled(b"rdbcompression") else None

    def path(self) -> Path:
        """The file."""
        config = self.engine.config
        return Path(os.fsdecode(config.get(b"dir")), os.fsdecode(config.get(b"dbfilename")))

    def save(self) -> bool:
        """Write the file; False (and a line in the log) if that fails. O(size)."""
        engine = self.engine
        try:
            save_file(self.path(), self.file())
        except OSError as error:
            log.warning("Failed to save %s: %s", self.path(), error.strerror)
            return False
        self.last_save = engine.space.now // 1000
        self.saves += 1
        self.dirty_at_save = engine.space.dirty
        return True

    def save_in_background(self) -> None:
        """As `save`, and only INFO tells how it went. O(size)."""
        self.last_failed = not self.save()
        self.last_duration = 0

    def file(self, functions_only: bool = False) -> bytes:
        """What the file holds, made from the keys and functions as they are. O(size)."""
        engine = self.engine
        config = engine.config
        options = Options(format_version(engine.version), engine.version_text.encode())
        options.compressor = self.compressor()
        options.checksum = config.enabled(b"rdbchecksum")
        policy = config.get(b"maxmemory-policy")
        options.keep_idle = policy.endswith(b"lru")
        options.keep_frequency = policy.endswith(b"lfu")
        options.used_memory = engine.memory.used()
        options.functions_only = functions_only
        return write_rdb(engine.space, engine.scripting.libraries.codes(), options)

    def load(self, flush: bool, merge: bool) -> bool:
        """Read the file and put its keys in place; False (and a line in the log) if that fails. O(size).

        Args:
            flush: whether the keys that are there go before.
            merge: whether the file's keys may take the place of others; else that is a failure.
        """
        path = self.path()
        try:
            self._put(self._contents(path.read_bytes()), flush, merge)
        except OSError as error:
            log.warning("Failed to read %s: %s", path, error.strerror)
            return False
        except CorruptData as error:
            log.warning("Failed to load %s: %s", path, error)
            return False
        return True

    def load_at_start(self) -> bool:
        """From now on the keys are kept. Load the file if there is one; False if it can't be read."""
        self.keeps = True
        return not self.path().exists() or self.load(False, False)

    def save_at_end(self) -> bool:
        """The server ends and nobody has said whether to save; False if that fails."""
        if self.keeps and self.engine.config.get(b"save"):
            return self.save()
        return True

    def _contents(self, data: bytes) -> Contents:
        engine = self.engine
        return read_rdb(engine.space, data, format_version(engine.version), engine.config.enabled(b"rdbchecksum"))

    def _put(self, contents: Contents, flush: bool, merge: bool) -> None:
        databases = self.engine.space.databases
        if not flush and not merge:
            for index, key, _ in contents.keys:
                if key in databases[index].data:
                    raise CorruptData("a key that is there already")
        try:
            self.engine.scripting.adopt(contents.functions, flush, merge)
        except CommandError as error:
            raise CorruptData(error.text.decode("utf-8", "replace")) from None
        if flush:
            for database in databases:
                database.flush()
        put_in_place(self.engine.space, contents)
        self.engine.snapshots.forget()
        self.keys_loaded = len(contents.keys)
        self.keys_expired = contents.expired
