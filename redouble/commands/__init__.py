"""The commands, one module per Redis group. `FAMILIES` is all of them, for `CommandTable`."""

from typing import Final

from redouble.commands.bitmaps import bitmap
from redouble.commands.clients import clients
from redouble.commands.configuration import configuration
from redouble.commands.connection import connection
from redouble.commands.expiry import expiry
from redouble.commands.hash_expiry import hash_expiry
from redouble.commands.hashes import hashes
from redouble.commands.hyperlog import hyperloglogs
from redouble.commands.info import info
from redouble.commands.introspection import introspection
from redouble.commands.keys import databases, generic
from redouble.commands.list_blocking import list_blocking
from redouble.commands.lists import lists
from redouble.commands.pubsub import pubsub
from redouble.commands.scripting import scripting
from redouble.commands.set_algebra import set_algebra
from redouble.commands.sets import sets
from redouble.commands.sorting import sorting
from redouble.commands.strings import string
from redouble.commands.transactions import transactions
from redouble.engine.command import Family

FAMILIES: Final[list[Family]] = [
    bitmap,
    clients,
    configuration,
    connection,
    databases,
    expiry,
    generic,
    hash_expiry,
    hashes,
    hyperloglogs,
    info,
    introspection,
    list_blocking,
    lists,
    pubsub,
    scripting,
    set_algebra,
    sets,
    sorting,
    string,
    transactions,
]
