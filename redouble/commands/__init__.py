"""The commands, one module per Redis group. `FAMILIES` is all of Redis', for `CommandTable`; `CONTROLS` is REDOUBLE."""

from typing import Final

from redouble.commands.acl import acl
from redouble.commands.bitmaps import bitmap
from redouble.commands.clients import clients
from redouble.commands.cluster import cluster
from redouble.commands.configuration import configuration
from redouble.commands.connection import connection
from redouble.commands.controls import controls
from redouble.commands.controls_clock import controls_clock
from redouble.commands.controls_faults import controls_faults
from redouble.commands.controls_lint import controls_lint
from redouble.commands.controls_snapshots import controls_snapshots
from redouble.commands.controls_trace import controls_trace
from redouble.commands.debug import debug
from redouble.commands.diagnostics import diagnostics
from redouble.commands.dumping import dumping, dumping_for_servers
from redouble.commands.expiry import expiry
from redouble.commands.functions import functions
from redouble.commands.geo import geo
from redouble.commands.hash_expiry import hash_expiry
from redouble.commands.hashes import hashes
from redouble.commands.hyperlog import hyperloglogs
from redouble.commands.info import info
from redouble.commands.introspection import introspection
from redouble.commands.keys import databases, generic
from redouble.commands.list_blocking import list_blocking
from redouble.commands.lists import lists
from redouble.commands.pubsub import pubsub
from redouble.commands.replication import replication
from redouble.commands.scripting import scripting
from redouble.commands.server import server
from redouble.commands.set_algebra import set_algebra
from redouble.commands.sets import sets
from redouble.commands.sorted_set_algebra import sorted_set_algebra
from redouble.commands.sorted_set_pops import sorted_set_pops
from redouble.commands.sorted_set_ranges import sorted_set_ranges
from redouble.commands.sorted_sets import sorted_sets
from redouble.commands.sorting import sorting
from redouble.commands.stream_groups import stream_groups
from redouble.commands.stream_info import stream_info
from redouble.commands.stream_reading import stream_reading
from redouble.commands.streams import streams
from redouble.commands.strings import string
from redouble.commands.tracking import tracking
from redouble.commands.transactions import transactions
from redouble.engine.command import Family

FAMILIES: Final[list[Family]] = [
    acl,
    bitmap,
    clients,
    cluster,
    configuration,
    connection,
    databases,
    debug,
    diagnostics,
    dumping,
    dumping_for_servers,
    expiry,
    functions,
    generic,
    geo,
    hash_expiry,
    hashes,
    hyperloglogs,
    info,
    introspection,
    list_blocking,
    lists,
    pubsub,
    replication,
    scripting,
    server,
    set_algebra,
    sets,
    sorted_set_algebra,
    sorted_set_pops,
    sorted_set_ranges,
    sorted_sets,
    sorting,
    stream_groups,
    stream_info,
    stream_reading,
    streams,
    string,
    tracking,
    transactions,
]

#: What only a double has; see `controls.py`.
CONTROLS: Final[list[Family]] = [
    controls,
    controls_faults,
    controls_trace,
    controls_lint,
    controls_clock,
    controls_snapshots,
]
