"""The clock that obeys, on the engine itself: steps, engines that share time, what a move sets off."""

from __future__ import annotations

import pytest

from redouble.commands import CONTROLS, FAMILIES
from redouble.engine.cluster import Cluster
from redouble.engine.engine import Engine
from redouble.errors import CommandError
from tests.doubles import DoubleEngine
from tests.kit import Failure, Redis, Status

NOON = 1_700_000_000_000


@pytest.fixture
def target() -> DoubleEngine:
    return DoubleEngine()


@pytest.fixture
def redis(target: DoubleEngine) -> Redis:
    target.engine.timeline.freeze(NOON)
    return Redis(target, 2)


def test_timers_fire_in_order_and_each_at_its_own_time(target: DoubleEngine, redis: Redis) -> None:
    engine = target.engine
    fired: list[tuple[str, int]] = []

    def note(name: str) -> None:
        fired.append((name, engine.clock.now() - NOON))

    engine.later(NOON + 300, lambda: note("c"))
    engine.later(NOON + 100, lambda: (note("a"), engine.later(NOON + 200, lambda: note("b")))[0])
    engine.later(NOON + 900, lambda: note("beyond"))
    assert engine.timeline.advance(500) == NOON + 500
    assert fired == [("a", 100), ("b", 200), ("c", 300)]
    assert engine.timeline.next_due() == NOON + 900


def test_what_a_step_sets_off_is_part_of_the_past_of_the_next(target: DoubleEngine, redis: Redis) -> None:
    """A client whose wait ends goes on, and sets a key that expires within the same advance."""
    waiter = redis.another()
    waiter.send("BLPOP", "none", 1)
    waiter.send("SET", "k", "v", "PX", 500)
    waiter.send("BLPOP", "none", 1)
    waiter.send("EXISTS", "k")
    target.engine.timeline.advance(5000)
    assert waiter.receive() is None
    assert waiter.receive() == Status("OK")
    assert waiter.receive() is None
    assert waiter.receive() == 0


def test_a_move_that_a_waiting_client_makes_itself_is_not_undone(target: DoubleEngine, redis: Redis) -> None:
    waiter = redis.another()
    waiter.send("BLPOP", "none", 1)
    waiter.send("REDOUBLE", "CLOCK", "ADVANCE", 60_000)
    assert target.engine.timeline.advance(2000) == NOON + 61_000
    assert target.engine.clock.now() == NOON + 61_000
    assert waiter.receive() is None
    assert waiter.receive() == NOON + 61_000


def test_a_hash_whose_first_field_was_put_off_is_due_at_its_new_time(target: DoubleEngine, redis: Redis) -> None:
    redis("HSET", "h", "f", "1", "g", "2")
    redis("HPEXPIRE", "h", 100, "FIELDS", 1, "f")
    redis("HPEXPIRE", "h", 700, "FIELDS", 1, "f")
    assert target.engine.timeline.next_due() == NOON + 701
    redis("HPERSIST", "h", "FIELDS", 1, "f")
    assert target.engine.timeline.next_due() is None


def test_a_pause_that_has_been_ended_is_not_due_any_more(target: DoubleEngine, redis: Redis) -> None:
    redis("CLIENT", "PAUSE", 5000, "WRITE")
    redis("CLIENT", "PAUSE", 1000, "WRITE")
    assert target.engine.timeline.next_due() == NOON + 5000
    redis("CLIENT", "UNPAUSE")
    assert target.engine.timeline.next_due() is None


def test_a_jump_goes_to_what_is_due_next_and_no_further(target: DoubleEngine, redis: Redis) -> None:
    timeline = target.engine.timeline
    redis("SET", "a", "v", "PX", 1000)
    redis("SET", "b", "v", "PX", 2000)
    assert timeline.jump()
    assert timeline.clock.now() == NOON + 1001
    assert redis("KEYS", "*") == [b"b"]
    assert timeline.jump()
    assert not timeline.jump()
    assert timeline.clock.now() == NOON + 2001


def test_everything_is_as_at_the_start_after_a_reset(target: DoubleEngine, redis: Redis) -> None:
    timeline = target.engine.timeline
    timeline.autojump(100)
    timeline.reset()
    assert not timeline.clock.frozen
    assert timeline.clock.offset_us() == 0
    assert timeline.autojump_ms == 0


def test_bad_arguments_raise(target: DoubleEngine) -> None:
    timeline = target.engine.timeline
    for bad in (
        lambda: timeline.advance(-1),
        lambda: timeline.set(-1),
        lambda: timeline.freeze(1 << 60),
        lambda: timeline.autojump(0),
    ):
        with pytest.raises(CommandError):
            bad()
    assert not timeline.clock.frozen


def test_many_periodic_timers_do_not_hold_a_long_move(target: DoubleEngine, redis: Redis) -> None:
    """What wakes up again and again costs a step each; a client is only closed when it has been idle."""
    redis("CONFIG", "SET", "timeout", 3600)
    idle = redis.another()
    assert idle("PING") == Status("PONG")
    assert redis("REDOUBLE", "CLOCK", "ADVANCE", 365 * 86_400_000) == NOON + 365 * 86_400_000
    assert idle.closed()
    assert redis("PING") == Status("PONG")


# -- clusters ---------------------------------------------------------------------------------------


class Nodes:
    """The nodes of a cluster in process."""

    def __init__(self, seed: int | None = None) -> None:
        self.targets = [DoubleEngine() for _ in range(3)]
        for number, target in enumerate(self.targets):
            target.engine = Engine(FAMILIES + CONTROLS, "7.4.1", None if seed is None else seed + number)
            target.engine.config.load(b"cluster-enabled", [b"yes"])
        Cluster([target.engine for target in self.targets])
        self.clients = [Redis(target, 2) for target in self.targets]

    def owner(self, key: str) -> Redis:
        """The client at the node that owns a key."""
        for client in self.clients:
            if not isinstance(client("EXISTS", key), Failure):
                return client
        raise AssertionError(key)


def test_the_nodes_of_a_cluster_share_their_time() -> None:
    nodes = Nodes()
    first, second, third = nodes.clients
    first("REDOUBLE", "CLOCK", "FREEZE", NOON)
    assert [client("TIME") for client in nodes.clients] == [[b"1700000000", b"0"]] * 3
    # One key on each node, and a waiter beside: they end in the order of time, whoever moves it.
    listeners = []
    for client in nodes.clients:
        client("CONFIG", "SET", "notify-keyspace-events", "Ex")
        listener = client.another()
        listener("SUBSCRIBE", "__keyevent@0__:expired")
        listeners.append(listener)
    keys = {id(nodes.owner(key)): key for key in ("a", "b", "c", "d", "e", "f", "g")}
    assert len(keys) == 3
    for client in nodes.clients:
        client("SET", keys[id(client)], "v", "PX", 1000)
    third("REDOUBLE", "CLOCK", "ADVANCE", 2000)
    for listener, client in zip(listeners, nodes.clients, strict=True):
        assert listener.receive()[2] == keys[id(client)].encode()
    assert second("TIME") == [b"1700000002", b"0"]


def test_a_seed_for_one_node_is_a_seed_for_all_as_at_the_start() -> None:
    started = Nodes(40)
    seeded = Nodes()
    seeded.clients[1]("REDOUBLE", "SEED", 40)

    def identity(nodes: Nodes) -> list[object]:
        return [
            (target.engine.run_id, target.engine.replication.id, client("CLUSTER", "MYID"), client("ACL", "GENPASS"))
            for target, client in zip(nodes.targets, nodes.clients, strict=True)
        ]

    assert identity(started) == identity(seeded)
