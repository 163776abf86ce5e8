"""The cluster: which node owns which slot, and where a request belongs.

A node is an engine with its own keys and clients; the nodes of a cluster live in one process and share
one `Cluster`, the table of owners. So there is no gossip and no doubt: what one node is told about
slots, all of them know at once, and a node can't fail while the others go on believing in it. There are
no replicas.

A node that runs a request asks `objection` first (from `admission.py`, because of the engine's flag
`CLUSTERED`; an ordinary server pays nothing). All keys of a request must share a slot, and the slot must be
the node's; if not, the client is sent away with MOVED or ASK. Scripts ask `script_objection` for
each of their commands.

Moving a slot works as in Redis: `migrating` at the node that gives, `importing` at the one that gets,
MIGRATE for the keys, then the new owner. Whoever waits for a key of a slot that has gone is sent away.

Also to touch when this changes: `commands/cluster.py` (what clients see of it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from redouble.engine import flags as f
from redouble.engine.keyfinder import slot_names
from redouble.engine.pubsub import SHARD_CHANNELS
from redouble.keyspace import events
from redouble.lua_runtime.shebang import ALLOW_CROSS_SLOT, COMPAT
from redouble.protocol.keyslot import SLOTS, key_slot
from redouble.protocol.reply import ErrorReply, Push

if TYPE_CHECKING:
    from redouble.engine.client import Client
    from redouble.engine.command import Command
    from redouble.engine.engine import Engine

# What may be said of a request.
HERE: Final = 0
MOVED: Final = 1
ASK: Final = 2
CROSS_SLOT: Final = 3
TRY_AGAIN: Final = 4
DOWN: Final = 5
DOWN_FOR_WRITES: Final = 6
UNBOUND: Final = 7

#: What a client is told, by verdict; MOVED and ASK name a node besides.
_TEXTS: Final[list[bytes]] = [
    b"",
    b"MOVED",
    b"ASK",
    b"CROSSSLOT Keys in request don't hash to the same slot",
    b"TRYAGAIN Multiple keys request during rehashing of slot",
    b"CLUSTERDOWN The cluster is down",
    b"CLUSTERDOWN The cluster is down and only accepts read commands",
    b"CLUSTERDOWN Hash slot not served",
]
#: How each of these begins.
REDIRECTIONS: Final = (b"MOVED ", b"ASK ", b"CROSSSLOT ", b"TRYAGAIN ", b"CLUSTERDOWN ")
_NON_LOCAL: Final = b"ERR Script attempted to access a non local key in a cluster node"
#: The same for a script's command; `%b` is its name.
_SCRIPT_TEXTS: Final[list[bytes]] = [
    b"",
    _NON_LOCAL,
    _NON_LOCAL,
    b"ERR Command '%b' in script attempted to access keys that don't hash to the same slot",
    b"ERR Unable to execute command '%b' in script because undeclared keys were accessed during rehashing of the slot",
    b"ERR Script attempted to execute a command while the cluster is down",
    b"ERR Script attempted to execute a write command while the cluster is down and readonly",
    b"ERR Script attempted to access a slot not served",
]
_SCRIPT_CROSS_SLOT: Final = b"ERR Script attempted to access keys that do not hash to the same slot"
BUS_OFFSET: Final = 10000
PORT_MAX: Final = 65535


@final
class Route:
    """Where a request belongs: a verdict, the slot (-1 without keys), and the node where one is to be named."""

    __slots__ = ("verdict", "slot", "node")

    def __init__(self, verdict: int, slot: int, node: Node | None) -> None:
        self.verdict: int = verdict
        self.slot: int = slot
        self.node: Node | None = node


@final
class Node:
    """An engine as a node of a cluster."""

    __slots__ = ("cluster", "engine", "id", "shard_id", "epoch", "migrating", "importing")

    def __init__(self, cluster: Cluster, engine: Engine, epoch: int) -> None:
        self.cluster: Cluster = cluster
        self.engine: Engine = engine
        self.id: bytes = b""
        self.shard_id: bytes = b""
        self.epoch: int = epoch
        #: Slots on their way to another node, or from one.
        self.migrating: dict[int, Node] = {}
        self.importing: dict[int, Node] = {}
        engine.node = self
        seed = engine.chance.given
        if seed is None:
            self.take_names()
        else:
            # The names are among what a seed decides.
            engine.chance.begin(seed)

    def take_names(self) -> None:
        """Take a new name, and one for the shard."""
        self.shard_id = b"%040x" % self.engine.random.getrandbits(160)
        self.take_name()

    def take_name(self) -> None:
        """Take a new name."""
        self.id = b"%040x" % self.engine.random.getrandbits(160)

    # -- where a request belongs ------------------------------------------------------------

    def objection(self, client: Client, command: Command, argv: list[bytes]) -> bytes | None:
        """Why a client's request can't run here, or None. For EXEC all that is queued counts. O(arguments)."""
        route = self._route(client, command, argv)
        return None if route.verdict == HERE else self._text(client, route)

    def script_objection(self, client: Client, command: Command, argv: list[bytes], flags: int) -> bytes | None:
        """Why a script's command can't run here, or None. `flags` are the script's (`shebang.py`). O(arguments)."""
        route = self._route(client, command, argv)
        if route.verdict != HERE:
            text = _SCRIPT_TEXTS[route.verdict]
            return text % command.full_name if b"%b" in text else text
        scripting = self.engine.scripting
        if route.slot < 0 or flags & (COMPAT | ALLOW_CROSS_SLOT):
            return None
        if scripting.slot < 0:
            scripting.slot = route.slot
        return None if scripting.slot == route.slot else _SCRIPT_CROSS_SLOT

    def _route(self, client: Client, command: Command, argv: list[bytes]) -> Route:
        names: list[bytes] = []
        flags = command.flags
        channels = False
        requests = client.queue if flags & f.ENDS_MULTI else [(command, argv)]
        for queued, words in requests:
            names += slot_names(queued, words)
            flags |= queued.flags & f.WRITE
            channels = channels or queued.flags & f.NAMES_CHANNELS > 0
        if not names:
            return Route(HERE, -1, None)
        slot = key_slot(names[0])
        owner = self.cluster.owners[slot]
        if owner is None:
            return Route(UNBOUND, slot, None)
        for name in names:
            if key_slot(name) != slot:
                return Route(CROSS_SLOT, slot, None)
        verdict = self._when_down(flags, channels)
        if verdict == HERE and (slot in self.migrating or slot in self.importing) and not flags & f.MOVES_KEYS:
            asked = client.flags & f.ASKING_NEXT > 0 or flags & f.ASKING > 0
            return self._open_route(slot, owner, [] if channels else names, asked)
        if verdict == HERE and owner is not self and not flags & f.MOVES_KEYS:
            verdict = MOVED
        return Route(verdict, slot, owner)

    def _when_down(self, flags: int, channels: bool) -> int:
        """Whether the cluster serves such a request at all."""
        config = self.engine.config
        if not self.is_down():
            return HERE
        if channels:
            return HERE if config.enabled(b"cluster-allow-pubsubshard-when-down") else DOWN
        if not config.enabled(b"cluster-allow-reads-when-down"):
            return DOWN
        return DOWN_FOR_WRITES if flags & f.WRITE else HERE

    def is_down(self) -> bool:
        """Whether slots are missing without which the cluster does not work."""
        unassigned = self.cluster.unassigned
        return unassigned > 0 and (unassigned == SLOTS or self.engine.config.enabled(b"cluster-require-full-coverage"))

    def _open_route(self, slot: int, owner: Node, names: list[bytes], asked: bool) -> Route:
        """Where a request for a slot that is moving belongs: where its keys are, if they are all in one place."""
        db = self.engine.space.databases[0]
        missing = [name for name in names if db.peek(name) is None]
        if owner is self:
            if not missing:
                return Route(HERE, slot, None)
            if len(missing) < len(names):
                return Route(TRY_AGAIN, slot, None)
            return Route(ASK, slot, self.migrating[slot])
        if not asked:
            return Route(MOVED, slot, owner)
        if missing and len(set(names)) > 1:
            return Route(TRY_AGAIN, slot, None)
        return Route(HERE, slot, None)

    def _text(self, client: Client, route: Route) -> bytes:
        node = route.node
        if node is None or route.verdict not in (MOVED, ASK):
            return _TEXTS[route.verdict]
        address = (_TEXTS[route.verdict], route.slot, self.endpoint_of(node, client) or b"", node.port(client))
        return b"%b %d %b:%d" % address

    # -- how clients reach a node -----------------------------------------------------------

    def host(self, client: Client) -> bytes:
        """The address to tell a client: what is announced, else the one at which the client came to us."""
        return self.engine.config.get(b"cluster-announce-ip") or client.host_reached()

    def hostname(self) -> bytes:
        """The announced name, or empty."""
        return self.engine.config.get(b"cluster-announce-hostname")

    def endpoint_of(self, node: Node, client: Client) -> bytes | None:
        """What this node tells of another as the place to connect to; None: the place the client knows already."""
        preferred = self.engine.config.get(b"cluster-preferred-endpoint-type")
        if preferred == b"ip":
            return node.host(client)
        return (node.hostname() or b"?") if preferred == b"hostname" else None

    def port(self, client: Client) -> int:
        """The port to tell a client: for TLS to one that speaks it."""
        return self.tls_port() if client.kind == b"tls" else self.plain_port()

    def plain_port(self) -> int:
        """The port without TLS; 0 for none."""
        config = self.engine.config
        return config.number(b"cluster-announce-port") or config.number(b"port")

    def tls_port(self) -> int:
        """The port for TLS; 0 for none."""
        config = self.engine.config
        return config.number(b"cluster-announce-tls-port") or config.number(b"tls-port")

    def bus_port(self) -> int:
        """The port of the cluster bus, where nobody listens here."""
        config = self.engine.config
        announced = config.number(b"cluster-announce-bus-port") or config.number(b"cluster-port")
        if announced:
            return announced
        port = self.plain_port() or self.tls_port()
        # Tools read 16 bits, and the system likes to give us high ports.
        return port + BUS_OFFSET if port + BUS_OFFSET <= PORT_MAX else port - BUS_OFFSET

    # -- among the nodes --------------------------------------------------------------------

    def neighbour(self, port: int | None) -> Node | None:
        """The other node that listens on a port."""
        for node in self.cluster.nodes:
            if node is not self and port in (node.plain_port(), node.tls_port()) and port:
                return node
        return None

    def publish(self, channel: bytes, message: bytes) -> None:
        """Send a message to those who listen at the other nodes. O(nodes + receivers)."""
        for node in self.cluster.nodes:
            if node is not self:
                node.engine.pubsub.publish(channel, message)
                node.engine.flush()

    def settle(self) -> None:
        """Let go on, and send, what another node's command has set off here."""
        engine = self.engine
        if engine.current is None:
            engine.tick()
            engine.flush()
            if engine.config.edge.attend is not None:
                engine.config.edge.attend()

    def keys_in(self, slot: int) -> list[bytes]:
        """The keys of a slot. O(keys)."""
        return [key for key in self.engine.space.databases[0].data if key_slot(key) == slot]

    def lose(self, slot: int, owner: Node | None) -> None:
        """The slot has gone to another node or to none: keys go, waiters and listeners are sent away. O(keys)."""
        self.migrating.pop(slot, None)
        engine = self.engine
        if owner is not None:
            db = engine.space.databases[0]
            for key in self.keys_in(slot):
                db.remove(key)
                db.touch(key, events.GENERIC, b"del")
        for client in list(engine.clients.values()):
            parked = client.parked
            if parked is not None and parked.keys and key_slot(parked.keys[0]) == slot:
                verdict = UNBOUND if owner is None else MOVED
                text = self._text(client, Route(verdict, slot, owner))
                engine.stats.count_error(text)
                engine.blocking.unpark(parked, ErrorReply(text))
        for channel in [name for name in engine.pubsub.listeners[SHARD_CHANNELS.number] if key_slot(name) == slot]:
            for client in list(engine.pubsub.listeners[SHARD_CHANNELS.number][channel]):
                engine.pubsub.unsubscribe(client, SHARD_CHANNELS, channel)
                farewell = [SHARD_CHANNELS.unsubscribed, channel, SHARD_CHANNELS.count(client)]
                client.push(client.encoder.encode(Push(farewell)))
        self.settle()


@final
class Layout:
    """Who owned which slot at some time, and what was on its way."""

    __slots__ = ("owners", "moving", "epoch")

    def __init__(self, cluster: Cluster) -> None:
        self.owners: list[Node | None] = cluster.owners.copy()
        self.epoch: int = cluster.epoch
        #: For each node its epoch, the slots that leave it, and those that come.
        self.moving: list[tuple[int, dict[int, Node], dict[int, Node]]] = [
            (node.epoch, node.migrating.copy(), node.importing.copy()) for node in cluster.nodes
        ]


@final
class Cluster:
    """The table of owners, shared by all nodes. The nodes begin with equal shares of the slots."""

    __slots__ = ("nodes", "owners", "unassigned", "epoch")

    def __init__(self, engines: list[Engine]) -> None:
        alone = len(engines) == 1
        self.nodes: list[Node] = []
        for number, engine in enumerate(engines, 1):
            self.nodes.append(Node(self, engine, 0 if alone else number))
        for engine in engines[1:]:
            engines[0].timeline.join(engine)
        self.owners: list[Node | None] = []
        self.unassigned: int = 0
        #: The highest epoch that any node has.
        self.epoch: int = 0 if alone else len(engines)
        share = SLOTS / len(engines)
        for number, node in enumerate(self.nodes, 1):
            self.owners += [node] * (round(number * share) - len(self.owners))

    def find(self, name: bytes) -> Node | None:
        """The node of that name."""
        for node in self.nodes:
            if node.id == name:
                return node
        return None

    def runs(self) -> list[tuple[int, int, Node | None]]:
        """Runs of slots with one owner: first, last, owner. O(slots)."""
        found: list[tuple[int, int, Node | None]] = []
        first = 0
        for slot in range(1, SLOTS + 1):
            if slot == SLOTS or self.owners[slot] is not self.owners[first]:
                found.append((first, slot - 1, self.owners[first]))
                first = slot
        return found

    def runs_of(self, node: Node) -> list[tuple[int, int]]:
        """The runs of slots that a node owns. O(slots)."""
        return [(first, last) for first, last, owner in self.runs() if owner is node]

    def assign(self, slot: int, owner: Node | None) -> None:
        """Give a slot to a node, or to none."""
        former = self.owners[slot]
        if former is owner:
            return
        self.owners[slot] = owner
        if former is None:
            self.unassigned -= 1
        elif owner is None:
            self.unassigned += 1
        if former is not None:
            former.lose(slot, owner)

    def layout(self) -> Layout:
        """Who owns which slot now. O(slots)."""
        return Layout(self)

    def arrange(self, layout: Layout) -> None:
        """Give every slot to who owned it then. O(slots); for each that has moved as `assign`."""
        if self.owners != layout.owners:
            for slot, owner in enumerate(layout.owners):
                self.assign(slot, owner)
        self.epoch = layout.epoch
        for node, (epoch, migrating, importing) in zip(self.nodes, layout.moving, strict=True):
            node.epoch = epoch
            node.migrating = migrating.copy()
            node.importing = importing.copy()

    def next_epoch(self, node: Node) -> bool:
        """Let a node have the highest epoch; false if it has it already."""
        if node.epoch and node.epoch == self.epoch:
            return False
        self.epoch += 1
        node.epoch = self.epoch
        return True
