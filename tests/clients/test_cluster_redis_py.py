"""redis-py's RedisCluster on three nodes, sync and asyncio, and redis-py with a Sentinel."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
import redis.asyncio.cluster
import redis.cluster
import redis.exceptions
import redis.sentinel

from tests.clients.conftest import ServerProcess, sentinel_port


@pytest.fixture(params=[2, 3])
def client(request: pytest.FixtureRequest, cluster: ServerProcess) -> Iterator[redis.cluster.RedisCluster]:
    client = redis.cluster.RedisCluster(host="127.0.0.1", port=cluster.port, protocol=request.param)
    yield client
    client.close()


def test_keys_spread_over_the_nodes(client: redis.cluster.RedisCluster) -> None:
    for number in range(60):
        assert client.set(f"key:{number}", number)
    assert [client.get(f"key:{number}") for number in range(60)] == [b"%d" % number for number in range(60)]
    sizes = [client.dbsize(target_nodes=node) for node in client.get_primaries()]
    assert len(sizes) == 3
    assert min(sizes) > 5
    assert sum(sizes) == 60
    assert len(list(client.scan_iter("key:*"))) == 60


def test_keys_with_one_tag_go_together_and_others_do_not(client: redis.cluster.RedisCluster) -> None:
    assert client.mset({"{tag}a": 1, "{tag}b": 2})
    assert client.mget("{tag}a", "{tag}b") == [b"1", b"2"]
    assert client.eval("return redis.call('MGET', KEYS[1], KEYS[2])", 2, "{tag}a", "{tag}b") == [b"1", b"2"]
    with pytest.raises(redis.exceptions.RedisClusterException):
        client.mget("a", "b")
    # What the client would not send, a node refuses.
    with pytest.raises(redis.exceptions.ResponseError, match="don't hash to the same slot"):
        client.get_redis_connection(client.get_default_node()).execute_command("MGET", "a", "b")


def test_a_pipeline_is_split_by_node(client: redis.cluster.RedisCluster) -> None:
    pipe = client.pipeline()
    for number in range(20):
        pipe.set(f"key:{number}", number)
        pipe.incr(f"key:{number}")
    assert pipe.execute()[1::2] == [number + 1 for number in range(20)]


def test_messages_reach_listeners_at_other_nodes(client: redis.cluster.RedisCluster) -> None:
    nodes = client.get_primaries()
    listener = client.pubsub(node=nodes[0])
    listener.subscribe("news")
    assert listener.get_message(timeout=5)["type"] == "subscribe"
    client.execute_command("PUBLISH", "news", "hello", target_nodes=nodes[1])
    assert listener.get_message(timeout=5)["data"] == b"hello"
    listener.close()


def test_sharded_messages_go_to_the_node_of_the_channel(client: redis.cluster.RedisCluster) -> None:
    listener = client.pubsub()
    listener.ssubscribe("news")
    assert listener.get_sharded_message(timeout=5)["type"] == "ssubscribe"
    assert client.spublish("news", "hello") == 1
    assert listener.get_sharded_message(timeout=5)["data"] == b"hello"
    listener.close()


def test_a_slot_moves_under_a_client(client: redis.cluster.RedisCluster) -> None:
    client.set("foo", "old")
    slot = client.keyslot("foo")
    source = client.get_node_from_key("foo")
    target = next(node for node in client.get_primaries() if node.name != source.name)
    names = {node.name: client.cluster_myid(node).decode() for node in (source, target)}
    client.cluster_setslot(target, names[source.name], slot, "IMPORTING")
    client.cluster_setslot(source, names[target.name], slot, "MIGRATING")
    assert client.get("foo") == b"old"
    client.set("{foo}new", "asked")
    assert client.get("{foo}new") == b"asked"
    client.execute_command("MIGRATE", target.host, target.port, "foo", 0, 1000, target_nodes=source)
    assert client.get("foo") == b"old"
    client.cluster_setslot(target, names[target.name], slot, "NODE")
    assert client.mget("foo", "{foo}new") == [b"old", b"asked"]
    assert client.get_node_from_key("foo").name == target.name


def test_asyncio_too(cluster: ServerProcess) -> None:
    async def scenario() -> list[bytes]:
        client = await redis.asyncio.cluster.RedisCluster(host="127.0.0.1", port=cluster.port)
        await asyncio.gather(*[client.set(f"key:{number}", number) for number in range(30)])
        values = await asyncio.gather(*[client.get(f"key:{number}") for number in range(30)])
        await client.aclose()
        return list(values)

    assert asyncio.run(scenario()) == [b"%d" % number for number in range(30)]


def test_the_sentinel_names_the_master() -> None:
    server = ServerProcess("--sentinel-port", "0", "--sentinel-master", "queue")
    sentinel = redis.sentinel.Sentinel([("127.0.0.1", sentinel_port(server))])
    assert sentinel.discover_master("queue") == ("127.0.0.1", server.port)
    assert sentinel.discover_slaves("queue") == []
    with pytest.raises(redis.sentinel.MasterNotFoundError):
        sentinel.discover_master("other")
    master = sentinel.master_for("queue")
    master.set("k", "v")
    assert redis.Redis(port=server.port).get("k") == b"v"
    master.close()
    server.stop()
