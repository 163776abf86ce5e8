"""The commands, one module per Redis group. `FAMILIES` is all of them, for `CommandTable`."""

from typing import Final

from redouble.commands.connection import connection
from redouble.commands.strings import string
from redouble.commands.transactions import transactions
from redouble.engine.command import Family

FAMILIES: Final[list[Family]] = [connection, string, transactions]
