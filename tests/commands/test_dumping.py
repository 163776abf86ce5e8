"""DUMP, RESTORE and MIGRATE. The payloads themselves are the business of tests/persistence."""

from __future__ import annotations

import pytest

from redouble.persistence.payload import dump_value
from redouble.datatypes.limits import Limits
from tests.commands.keyevents import events_of
from tests.kit import Failure, Redis, Status

OK = Status("OK")
BUSY = Failure("BUSYKEY Target key name already exists.")
NOT_SOUND = Failure("ERR DUMP payload version or checksum are wrong")
BAD_DATA = Failure("ERR Bad data format")
SYNTAX = Failure("ERR syntax error")
NOT_AN_INTEGER = Failure("ERR value is not an integer or out of range")
#: What 5.0 gave for "ab"; every later version reads it.
OLD = bytes.fromhex("000261620900ad48925a37aa84a4")
