"""CLUSTER, and the modes of a connection in a cluster: READONLY, READWRITE, ASKING.

What clients ask to find the nodes (SLOTS, SHARDS, NODES) is answered from the shared table of owners, see
`engine/cluster.py`. What an administrator says about slots takes effect at all nodes at once. There are
no replicas, and the nodes of a process can't leave each other, so commands about that are refused, in
Redis' words where Redis would refuse them too.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Final

from redouble.commands.help import bad_subcommand, help_reply
from redouble.engine import flags as f
from redouble.engine.cluster import BUS_OFFSET, PORT_MAX, Node
from redouble.engine.command import Family
from redouble.engine.context import Context
from redouble.errors import SYNTAX, CommandError, c_text, wrong_arity
from redouble.protocol.keyslot import SLOTS, key_slot
from redouble.protocol.numbers import integer, try_integer
from redouble.protocol.reply import EMPTY, OK, Map, Reply, Simple, Verbatim

cluster: Final = Family("cluster")

_ASK: Final = "stale"
_ADMIN: Final = "admin stale"
_CHANGE: Final = "admin stale no_async_loading"
_TIPS: Final = "nondeterministic_output"
_NODES_COST: Final = "O(N) where N is the total number of Cluster nodes"
_RANGES_COST: Final = "O(N) where N is the total number of the slots between the start slot and end slot arguments."
#: CLUSTER SLOTS names further addresses of each node since then.
_METADATA_SINCE: Final = 70000


def _node(ctx: Context) -> Node:
    """The node that answers."""
    node = ctx.engine.node
    if node is None:
        raise CommandError(b"ERR This instance has cluster support disabled")
    return node


def _known(node: Node, name: bytes, unknown: bytes = b"ERR Unknown node ") -> Node:
    found = node.cluster.find(name)
    if found is None:
        raise CommandError(unknown + c_text(name))
    return found


def _slot(text: bytes) -> int:
    slot = try_integer(text)
    if slot is None or not 0 <= slot < SLOTS:
        raise CommandError(b"ERR Invalid or out of range slot")
    return slot


# -- the modes of a connection ------------------------------------------------------------------


@cluster.command(
    "asking", "", "Says that the next request follows an ASK.", arity=1, flags="fast keeps_asking", since="3.0.0",
    categories="connection",
)  # fmt: skip
def asking(ctx: Context, argv: list[bytes]) -> Reply:
    """OK; the next request may use a slot that is on its way to this node. O(1). Redis: ASKING."""
    _node(ctx)
    ctx.client.flags |= f.ASKING_NEXT
    return OK


@cluster.command(
    "readonly", "", "Allows reading from a replica.", arity=1, flags="loading stale fast", since="3.0.0",
    categories="connection",
)  # fmt: skip
def readonly(ctx: Context, argv: list[bytes]) -> Reply:
    """OK; no node here is a replica. O(1). Redis: READONLY."""
    _node(ctx)
    ctx.client.flags |= f.READONLY_NODE
    return OK


@cluster.command(
    "readwrite", "", "Ends READONLY.", arity=1, flags="loading stale fast", since="3.0.0", categories="connection"
)
def readwrite(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(1). Redis: READWRITE."""
    _node(ctx)
    ctx.client.flags &= ~f.READONLY_NODE
    return OK


# -- what clients ask ---------------------------------------------------------------------------

cluster.container("cluster", "Holds the commands about the cluster.", since="3.0.0")


@cluster.command("cluster|help", "", "Explains CLUSTER.", arity=2, flags="loading stale", since="5.0.0")
def help_(ctx: Context, argv: list[bytes]) -> Reply:
    """Lines of text. Redis: CLUSTER HELP."""
    _node(ctx)
    return help_reply(ctx, argv)


@cluster.command(
    "cluster|keyslot", "key", "Tells the slot of a key.", arity=3, flags=_ASK, since="3.0.0",
    complexity="O(N) where N is the number of bytes in the key",
)  # fmt: skip
def keyslot(ctx: Context, argv: list[bytes]) -> Reply:
    """The slot. O(len). Redis: CLUSTER KEYSLOT."""
    _node(ctx)
    return key_slot(argv[2])


@cluster.command("cluster|myid", "", "Tells the name of this node.", arity=2, flags=_ASK, since="3.0.0")
def myid(ctx: Context, argv: list[bytes]) -> Reply:
    """The name. O(1). Redis: CLUSTER MYID."""
    return _node(ctx).id


@cluster.command(
    "cluster|myshardid", "", "Tells the name of this node's shard.", arity=2, flags=_ASK, since="7.2.0", tips=_TIPS
)
def myshardid(ctx: Context, argv: list[bytes]) -> Reply:
    """The name. O(1). Redis: CLUSTER MYSHARDID."""
    return _node(ctx).shard_id


@cluster.command(
    "cluster|slots", "", "Tells which nodes serve which slots.", arity=2, flags="loading stale", since="3.0.0",
    tips=_TIPS, complexity=_NODES_COST, deprecated="7.0.0", replaced_by="`CLUSTER SHARDS`",
)  # fmt: skip
def slots(ctx: Context, argv: list[bytes]) -> Reply:
    """First slot, last slot and node of each run. O(slots). Redis: CLUSTER SLOTS."""
    node = _node(ctx)
    return [
        [first, last, _contact(ctx, node, owner)] for first, last, owner in node.cluster.runs() if owner is not None
    ]


def _contact(ctx: Context, teller: Node, node: Node) -> list[Reply]:
    """How to reach a node: endpoint, port, name, and its other addresses."""
    contact: list[Reply] = [teller.endpoint_of(node, ctx.client), node.port(ctx.client), node.id]
    if ctx.engine.version >= _METADATA_SINCE:
        preferred = ctx.engine.config.get(b"cluster-preferred-endpoint-type")
        others: list[Reply] = []
        if preferred != b"ip":
            others += [b"ip", node.host(ctx.client)]
        if preferred != b"hostname" and node.hostname():
            others += [b"hostname", node.hostname()]
        contact.append(Map(others))
    return contact


@cluster.command(
    "cluster|shards", "", "Tells which nodes form which shards.", arity=2, flags="loading stale", since="7.0.0",
    tips=_TIPS, complexity=_NODES_COST,
)  # fmt: skip
def shards(ctx: Context, argv: list[bytes]) -> Reply:
    """Slots and nodes of each shard. O(nodes * slots). Redis: CLUSTER SHARDS."""
    teller = _node(ctx)
    found: list[Reply] = []
    for node in teller.cluster.nodes:
        bounds: list[Reply] = []
        for first, last in teller.cluster.runs_of(node):
            bounds += [first, last]
        found.append(Map([b"slots", bounds, b"nodes", [_details(ctx, teller, node)]]))
    return found


def _details(ctx: Context, teller: Node, node: Node) -> Map:
    items: list[Reply] = [b"id", node.id]
    if node.plain_port():
        items += [b"port", node.plain_port()]
    if node.tls_port():
        items += [b"tls-port", node.tls_port()]
    items += [b"ip", node.host(ctx.client), b"endpoint", teller.endpoint_of(node, ctx.client) or b""]
    if node.hostname():
        items += [b"hostname", node.hostname()]
    offset = node.engine.propagation.offset
    return Map([*items, b"role", b"master", b"replication-offset", offset, b"health", b"online"])


@cluster.command(
    "cluster|nodes", "", "Lists the nodes, one a line.", arity=2, flags=_ASK, since="3.0.0", tips=_TIPS,
    complexity=_NODES_COST,
)  # fmt: skip
def nodes(ctx: Context, argv: list[bytes]) -> Reply:
    """Lines of name, address, flags, master, times, epoch, link, slots. O(nodes * slots). Redis: CLUSTER NODES."""
    teller = _node(ctx)
    return Verbatim(b"".join([_line(ctx, teller, node) for node in teller.cluster.nodes]))


def _line(ctx: Context, teller: Node, node: Node) -> bytes:
    client = ctx.client
    address = b"%b:%d@%d" % (node.host(client), node.port(client), node.bus_port())
    if node.hostname():
        address += b"," + node.hostname()
    flags, heard = (b"myself,master", 0) if node is teller else (b"master", ctx.now)
    words = [node.id, address, flags, b"-", b"0", b"%d" % heard, b"%d" % node.epoch, b"connected"]
    for first, last in teller.cluster.runs_of(node):
        words.append(b"%d" % first if first == last else b"%d-%d" % (first, last))
    if node is teller:
        words += [b"[%d->-%b]" % (slot, other.id) for slot, other in sorted(node.migrating.items())]
        words += [b"[%d-<-%b]" % (slot, other.id) for slot, other in sorted(node.importing.items())]
    return b" ".join(words) + b"\n"


@cluster.command("cluster|info", "", "Tells how the cluster is.", arity=2, flags=_ASK, since="3.0.0", tips=_TIPS)
def info(ctx: Context, argv: list[bytes]) -> Reply:
    """Lines of `name:value`. O(nodes). Redis: CLUSTER INFO."""
    node = _node(ctx)
    table = node.cluster
    assigned = SLOTS - table.unassigned
    lines = [
        b"cluster_state:" + (b"fail" if node.is_down() else b"ok"),
        b"cluster_slots_assigned:%d" % assigned, b"cluster_slots_ok:%d" % assigned, b"cluster_slots_pfail:0",
        b"cluster_slots_fail:0", b"cluster_known_nodes:%d" % len(table.nodes),
        b"cluster_size:%d" % len({owner.id for owner in table.owners if owner is not None}),
        b"cluster_current_epoch:%d" % table.epoch, b"cluster_my_epoch:%d" % node.epoch,
        b"cluster_stats_messages_sent:0", b"cluster_stats_messages_received:0",
        b"total_cluster_links_buffer_limit_exceeded:0",
    ]  # fmt: skip
    return Verbatim(b"".join([line + b"\r\n" for line in lines]))


@cluster.command(
    "cluster|links", "", "Lists the links between this node and the others.", arity=2, flags=_ASK, since="7.0.0",
    tips=_TIPS, complexity=_NODES_COST,
)  # fmt: skip
def links(ctx: Context, argv: list[bytes]) -> Reply:
    """Two links for each other node, as a cluster bus would have. O(nodes). Redis: CLUSTER LINKS."""
    node = _node(ctx)
    return [
        Map([
            b"direction", direction, b"node", other.id, b"create-time", other.engine.started, b"events", b"r",
            b"send-buffer-allocated", 0, b"send-buffer-used", 0,
        ])
        for other in node.cluster.nodes if other is not node
        for direction in (b"to", b"from")
    ]  # fmt: skip


@cluster.command("cluster|countkeysinslot", "slot", "Counts the keys of a slot.", arity=3, flags=_ASK, since="3.0.0")
def countkeysinslot(ctx: Context, argv: list[bytes]) -> Reply:
    """How many keys of the slot are here. O(keys). Redis: CLUSTER COUNTKEYSINSLOT."""
    node = _node(ctx)
    slot = integer(argv[2])
    if not 0 <= slot < SLOTS:
        raise CommandError(b"ERR Invalid slot")
    return len(node.keys_in(slot))


@cluster.command(
    "cluster|getkeysinslot", "slot count", "Lists keys of a slot.", arity=4, flags=_ASK, since="3.0.0", tips=_TIPS,
    complexity="O(N) where N is the number of requested keys",
)  # fmt: skip
def getkeysinslot(ctx: Context, argv: list[bytes]) -> Reply:
    """Keys of the slot, so many at most. O(keys). Redis: CLUSTER GETKEYSINSLOT."""
    node = _node(ctx)
    slot = integer(argv[2])
    count = integer(argv[3])
    if not 0 <= slot < SLOTS or count < 0:
        raise CommandError(b"ERR Invalid slot or number of keys")
    return list(node.keys_in(slot)[:count])


@cluster.command(
    "cluster|count-failure-reports", "node-id", "Counts who says that a node has failed.", arity=3, flags=_ADMIN,
    since="3.0.0", tips=_TIPS, complexity="O(N) where N is the number of failure reports",
)  # fmt: skip
def count_failure_reports(ctx: Context, argv: list[bytes]) -> Reply:
    """0: nodes here don't fail. O(nodes). Redis: CLUSTER COUNT-FAILURE-REPORTS."""
    _known(_node(ctx), argv[2])
    return 0


def _replicas(ctx: Context, argv: list[bytes]) -> Reply:
    _known(_node(ctx), argv[2])
    return EMPTY


@cluster.command(
    "cluster|replicas", "node-id", "Lists the replicas of a node.", arity=3, flags=_ADMIN, since="5.0.0", tips=_TIPS,
    complexity="O(N) where N is the number of replicas.",
)  # fmt: skip
def replicas(ctx: Context, argv: list[bytes]) -> Reply:
    """Nothing: there are no replicas. O(nodes). Redis: CLUSTER REPLICAS."""
    return _replicas(ctx, argv)


@cluster.command(
    "cluster|slaves", "node-id", "Lists the replicas of a node.", arity=3, flags=_ADMIN, since="3.0.0", tips=_TIPS,
    complexity="O(N) where N is the number of replicas.", deprecated="5.0.0", replaced_by="`CLUSTER REPLICAS`",
)  # fmt: skip
def slaves(ctx: Context, argv: list[bytes]) -> Reply:
    """Nothing: there are no replicas. O(nodes). Redis: CLUSTER SLAVES."""
    return _replicas(ctx, argv)


# -- who owns which slot ------------------------------------------------------------------------


def _assign(ctx: Context, chosen: list[int], free: bool) -> Reply:
    """Take slots that nobody owns, or let slots go, all or none."""
    node = _node(ctx)
    seen: set[int] = set()
    for slot in chosen:
        unowned = node.cluster.owners[slot] is None
        if free and unowned:
            raise CommandError(b"ERR Slot %d is already unassigned" % slot)
        if not free and not unowned:
            raise CommandError(b"ERR Slot %d is already busy" % slot)
        if slot in seen:
            raise CommandError(b"ERR Slot %d specified multiple times" % slot)
        seen.add(slot)
    for slot in chosen:
        node.importing.pop(slot, None)
        node.cluster.assign(slot, None if free else node)
    return OK


def _ranges(ctx: Context, argv: list[bytes], name: bytes) -> list[int]:
    _node(ctx)
    if len(argv) % 2:
        raise wrong_arity(name)
    chosen: list[int] = []
    for at in range(2, len(argv), 2):
        first, last = _slot(argv[at]), _slot(argv[at + 1])
        if first > last:
            raise CommandError(b"ERR start slot number %d is greater than end slot number %d" % (first, last))
        chosen += range(first, last + 1)
    return chosen


@cluster.command(
    "cluster|addslots", "slot [slot ...]", "Takes slots that no node owns.", arity=-3, flags=_CHANGE, since="3.0.0",
    complexity="O(N) where N is the total number of hash slot arguments",
)  # fmt: skip
def addslots(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(slots). Redis: CLUSTER ADDSLOTS."""
    _node(ctx)
    return _assign(ctx, [_slot(text) for text in argv[2:]], False)


@cluster.command(
    "cluster|delslots", "slot [slot ...]", "Lets slots be owned by no node.", arity=-3, flags=_CHANGE, since="3.0.0",
    complexity="O(N) where N is the total number of hash slot arguments",
)  # fmt: skip
def delslots(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(slots + keys). Redis: CLUSTER DELSLOTS."""
    _node(ctx)
    return _assign(ctx, [_slot(text) for text in argv[2:]], True)


@cluster.command(
    "cluster|addslotsrange", "start-slot end-slot [start-slot end-slot ...]", "Takes runs of slots that no node owns.",
    arity=-4, flags=_CHANGE, since="7.0.0", complexity=_RANGES_COST,
)  # fmt: skip
def addslotsrange(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(slots). Redis: CLUSTER ADDSLOTSRANGE."""
    return _assign(ctx, _ranges(ctx, argv, b"cluster|addslotsrange"), False)


@cluster.command(
    "cluster|delslotsrange", "start-slot end-slot [start-slot end-slot ...]", "Lets runs of slots be owned by no node.",
    arity=-4, flags=_CHANGE, since="7.0.0", complexity=_RANGES_COST,
)  # fmt: skip
def delslotsrange(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(slots * keys). Redis: CLUSTER DELSLOTSRANGE."""
    return _assign(ctx, _ranges(ctx, argv, b"cluster|delslotsrange"), True)


@cluster.command(
    "cluster|flushslots", "", "Lets all slots of this node be owned by no node.", arity=2, flags=_CHANGE,
    since="3.0.0",
)  # fmt: skip
def flushslots(ctx: Context, argv: list[bytes]) -> Reply:
    """OK, if the node holds no keys. O(slots). Redis: CLUSTER FLUSHSLOTS."""
    node = _node(ctx)
    if ctx.space.databases[0].data:
        raise CommandError(b"ERR DB must be empty to perform CLUSTER FLUSHSLOTS.")
    _flush(node)
    return OK


def _flush(node: Node) -> None:
    for slot in range(SLOTS):
        if node.cluster.owners[slot] is node:
            node.cluster.assign(slot, None)


@cluster.command(
    "cluster|setslot", "slot <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>",
    "Moves a slot from node to node, step by step.", arity=-4, flags=_CHANGE, since="3.0.0",
)  # fmt: skip
def setslot(ctx: Context, argv: list[bytes]) -> Reply:
    """OK. O(1), with NODE O(keys). Redis: CLUSTER SETSLOT."""
    node = _node(ctx)
    slot = _slot(argv[2])
    word = argv[3].upper()
    owner = node.cluster.owners[slot]
    if word == b"STABLE" and len(argv) == 4:
        node.importing.pop(slot, None)
        node.migrating.pop(slot, None)
    elif word == b"MIGRATING" and len(argv) == 5:
        if owner is not node:
            raise CommandError(b"ERR I'm not the owner of hash slot %d" % slot)
        node.migrating[slot] = _known(node, argv[4], b"ERR I don't know about node ")
    elif word == b"IMPORTING" and len(argv) == 5:
        if owner is node:
            raise CommandError(b"ERR I'm already the owner of hash slot %d" % slot)
        node.importing[slot] = _known(node, argv[4], b"ERR I don't know about node ")
    elif word == b"NODE" and len(argv) == 5:
        _give(node, slot, _known(node, argv[4]))
    else:
        raise CommandError(b"ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP")
    return OK


def _give(node: Node, slot: int, owner: Node) -> None:
    """Let a slot be another node's, or end its import."""
    table = node.cluster
    if table.owners[slot] is node and owner is not node and node.keys_in(slot):
        raise CommandError(
            b"ERR Can't assign hashslot %d to a different node while I still hold keys for this hash slot." % slot
        )
    table.assign(slot, owner)
    if owner is node and node.importing.pop(slot, None) is not None:
        table.next_epoch(node)


# -- the cluster as a whole ---------------------------------------------------------------------


@cluster.command(
    "cluster|bumpepoch", "", "Raises the epoch of this node.", arity=2, flags=_CHANGE, since="3.0.0", tips=_TIPS
)
def bumpepoch(ctx: Context, argv: list[bytes]) -> Reply:
    """BUMPED or STILL, and the epoch. O(1). Redis: CLUSTER BUMPEPOCH."""
    node = _node(ctx)
    word = b"BUMPED" if node.cluster.next_epoch(node) else b"STILL"
    return Simple(b"%b %d" % (word, node.epoch))


@cluster.command(
    "cluster|set-config-epoch", "config-epoch", "Sets the epoch of a new node.", arity=3, flags=_CHANGE, since="3.0.0"
)
def set_config_epoch(ctx: Context, argv: list[bytes]) -> Reply:
    """OK for a node that is alone and has no epoch. O(1). Redis: CLUSTER SET-CONFIG-EPOCH."""
    node = _node(ctx)
    epoch = integer(argv[2])
    if epoch < 0:
        raise CommandError(b"ERR Invalid config epoch specified: %d" % epoch)
    if len(node.cluster.nodes) > 1:
        raise CommandError(b"ERR The user can assign a config epoch only when the node does not know any other node.")
    if node.epoch:
        raise CommandError(b"ERR Node config epoch is already non-zero")
    node.epoch = epoch
    node.cluster.epoch = max(node.cluster.epoch, epoch)
    return OK


@cluster.command("cluster|saveconfig", "", "Saves what is known of the cluster.", arity=2, flags=_CHANGE, since="3.0.0")
def saveconfig(ctx: Context, argv: list[bytes]) -> Reply:
    """OK; there is no file, the options say all. O(1). Redis: CLUSTER SAVECONFIG."""
    _node(ctx)
    return OK


@cluster.command(
    "cluster|meet", "ip port [cluster-bus-port]", "Makes another node known to this one.", arity=-4, flags=_CHANGE,
    since="3.0.0",
)  # fmt: skip
def meet(ctx: Context, argv: list[bytes]) -> Reply:
    """OK, and nothing follows: the nodes of one process know each other, and no others. O(1). Redis: CLUSTER MEET."""
    _node(ctx)
    if len(argv) > 5:
        raise bad_subcommand(argv)
    port = try_integer(argv[3])
    if port is None:
        raise CommandError(b"ERR Invalid base port specified: " + c_text(argv[3]))
    bus_port = try_integer(argv[4]) if len(argv) == 5 else port + BUS_OFFSET
    if bus_port is None:
        raise CommandError(b"ERR Invalid bus port specified: " + c_text(argv[4]))
    if not (_is_address(argv[2]) and 0 < port <= PORT_MAX and 0 < bus_port <= PORT_MAX):
        raise CommandError(b"ERR Invalid node address specified: %b:%b" % (c_text(argv[2]), c_text(argv[3])))
    return OK


def _is_address(text: bytes) -> bool:
    try:
        ip_address(text.decode("latin-1"))
    except ValueError:
        return False
    return True


@cluster.command(
    "cluster|forget", "node-id", "Makes a node unknown to this one.", arity=3, flags=_CHANGE, since="3.0.0"
)
def forget(ctx: Context, argv: list[bytes]) -> Reply:
    """An error: the nodes of one process can't leave each other. O(nodes). Redis: CLUSTER FORGET."""
    node = _node(ctx)
    if _known(node, argv[2]) is node:
        raise CommandError(b"ERR I tried hard but I can't forget myself...")
    raise CommandError(b"ERR The nodes of one Redouble share one view of the cluster and can't forget each other")


@cluster.command("cluster|replicate", "node-id", "Makes this node a replica.", arity=3, flags=_CHANGE, since="3.0.0")
def replicate(ctx: Context, argv: list[bytes]) -> Reply:
    """An error: nodes have no replicas here. O(slots). Redis: CLUSTER REPLICATE."""
    node = _node(ctx)
    if _known(node, argv[2]) is node:
        raise CommandError(b"ERR Can't replicate myself")
    if node in node.cluster.owners or ctx.space.databases[0].data:
        raise CommandError(b"ERR To set a master the node must be empty and without assigned slots.")
    raise CommandError(b"ERR The nodes of a Redouble cluster have no replicas")


@cluster.command(
    "cluster|failover", "[FORCE | TAKEOVER]", "Makes a replica take its master's place.", arity=-2, flags=_CHANGE,
    since="3.0.0",
)  # fmt: skip
def failover(ctx: Context, argv: list[bytes]) -> Reply:
    """An error: no node is a replica. O(1). Redis: CLUSTER FAILOVER."""
    _node(ctx)
    if len(argv) > 3:
        raise bad_subcommand(argv)
    if len(argv) == 3 and argv[2].upper() not in (b"FORCE", b"TAKEOVER"):
        raise CommandError(SYNTAX)
    raise CommandError(b"ERR You should send CLUSTER FAILOVER to a replica")


@cluster.command(
    "cluster|reset", "[HARD | SOFT]", "Makes this node forget its slots.", arity=-2, flags="admin stale noscript",
    since="3.0.0",
    complexity="O(N) where N is the number of known nodes. The command may execute a FLUSHALL as a side effect.",
)  # fmt: skip
def reset(ctx: Context, argv: list[bytes]) -> Reply:
    """OK, if the node holds no keys; HARD gives it a new name. It stays among its nodes. Redis: CLUSTER RESET."""
    node = _node(ctx)
    if len(argv) > 3:
        raise bad_subcommand(argv)
    if len(argv) == 3 and argv[2].upper() not in (b"HARD", b"SOFT"):
        raise CommandError(SYNTAX)
    if ctx.db.data:
        raise CommandError(b"ERR CLUSTER RESET can't be called with master nodes containing keys")
    _flush(node)
    node.migrating.clear()
    node.importing.clear()
    if len(argv) == 3 and argv[2].upper() == b"HARD":
        node.take_name()
        node.epoch = 0
        node.cluster.epoch = max([other.epoch for other in node.cluster.nodes])
    return OK
