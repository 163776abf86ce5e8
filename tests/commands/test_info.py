"""INFO."""

from __future__ import annotations

import pytest

from tests.kit import Redis, Status


def headings(text: bytes) -> list[bytes]:
    return [line for line in text.split(b"\r\n") if line.startswith(b"# ")]


def fields(redis: Redis, *sections: str) -> dict[bytes, bytes]:
    lines = redis("INFO", *sections).split(b"\r\n")
    return dict(line.split(b":", 1) for line in lines if b":" in line)


def test_a_bare_info_has_the_usual_sections_in_order(redis: Redis) -> None:
    usual = b"Server Clients Memory Persistence Stats Replication CPU Modules Errorstats Cluster Keyspace"
    expected = [b"# " + name for name in usual.split()]
    assert headings(redis("INFO")) == expected
    assert headings(redis("INFO", "default")) == expected


def test_all_and_everything_add_commands_and_latencies(redis: Redis) -> None:
    for word in ("all", "EVERYTHING"):
        names = headings(redis("INFO", word))
        assert b"# Commandstats" in names
        assert b"# Latencystats" in names


def test_sections_come_once_and_in_their_own_order_however_asked(redis: Redis) -> None:
    assert headings(redis("INFO", "keyspace", "CPU", "server", "cpu")) == [b"# Server", b"# CPU", b"# Keyspace"]
    assert headings(redis("INFO", "commandstats", "default"))[8] == b"# Commandstats"
    assert redis("INFO", "nonsense") == b""


def test_sections_are_parted_by_an_empty_line(redis: Redis) -> None:
    assert redis("INFO", "cluster", "keyspace") == b"# Cluster\r\ncluster_enabled:0\r\n\r\n# Keyspace\r\n"


def test_the_reply_is_verbatim_text(redis: Redis) -> None:
    raw = redis.raw("INFO", "cluster")
    assert raw == (b"=34\r\ntxt:" if redis.resp == 3 else b"$30\r\n") + b"# Cluster\r\ncluster_enabled:0\r\n\r\n"


def test_what_clients_look_for_before_they_begin(redis: Redis) -> None:
    found = fields(redis)
    assert found[b"loading"] == b"0"
    assert found[b"role"] == b"master"
    assert b"master_link_status" not in found
    assert found[b"redis_mode"] == b"standalone"
    assert found[b"maxmemory_policy"] == b"noeviction"
    assert found[b"redis_version"] == redis.target.version.encode()
    assert len(found[b"run_id"]) == len(found[b"master_replid"]) == 40


def test_the_keyspace_counts_keys_and_what_expires(redis: Redis) -> None:
    redis("MSET", "a", "1", "b", "2")
    redis("SET", "c", "3", "PX", 100_000)
    found = fields(redis, "keyspace")
    assert found[b"db0"].startswith(b"keys=3,expires=1,avg_ttl=")
    redis("SELECT", 3)
    redis("SET", "a", "1")
    assert fields(redis, "keyspace")[b"db3"].startswith(b"keys=1,expires=0,avg_ttl=0")


@pytest.mark.since("7.4.0")
def test_hashes_with_expiring_fields_are_counted(redis: Redis) -> None:
    redis("HSET", "h", "f", "v", "g", "w")
    assert fields(redis, "keyspace")[b"db0"] == b"keys=1,expires=0,avg_ttl=0,subexpiry=0"
    redis("HEXPIRE", "h", 100, "FIELDS", 1, "f")
    assert fields(redis, "keyspace")[b"db0"] == b"keys=1,expires=0,avg_ttl=0,subexpiry=1"


def test_hits_misses_and_expired_keys_are_counted(redis: Redis) -> None:
    redis("SET", "k", "v", "PX", 20)
    redis("GET", "k")
    redis("GET", "none")
    redis.pass_time(30)
    redis("GET", "k")
    found = fields(redis, "stats")
    assert found[b"keyspace_hits"] == b"1"
    assert found[b"keyspace_misses"] == b"2"
    assert found[b"expired_keys"] == b"1"


def test_a_look_into_a_value_is_a_hit_or_a_miss(redis: Redis) -> None:
    redis("SET", "k", "v")
    for about in ("ENCODING", "REFCOUNT", "IDLETIME"):
        redis("OBJECT", about, "k")
        redis("OBJECT", about, "none")
    found = fields(redis, "stats")
    assert found[b"keyspace_hits"] == b"3"
    assert found[b"keyspace_misses"] == b"3"


def test_commands_are_counted_with_their_failures_and_rejections(redis: Redis) -> None:
    redis("SET", "k", "v")
    redis("LPUSH", "k", "x")
    redis("GET")
    found = fields(redis, "commandstats")
    assert found[b"cmdstat_set"].startswith(b"calls=1,usec=")
    assert found[b"cmdstat_set"].endswith(b"rejected_calls=0,failed_calls=0")
    assert found[b"cmdstat_lpush"].endswith(b"rejected_calls=0,failed_calls=1")
    assert found[b"cmdstat_get"].startswith(b"calls=0,")
    assert found[b"cmdstat_get"].endswith(b"rejected_calls=1,failed_calls=0")


def test_errors_are_counted_under_their_code(redis: Redis) -> None:
    redis("SET", "k", "v")
    redis("LPUSH", "k", "x")
    redis("LPUSH", "k", "x")
    redis("NONSENSE")
    found = fields(redis, "errorstats", "stats")
    assert found[b"errorstat_WRONGTYPE"] == b"count=2"
    assert found[b"errorstat_ERR"] == b"count=1"
    assert found[b"total_error_replies"] == b"3"


def test_latencies_show_the_chosen_percentiles(redis: Redis) -> None:
    redis("SET", "k", "v")
    found = fields(redis, "latencystats")[b"latency_percentiles_usec_set"]
    assert [part.split(b"=")[0] for part in found.split(b",")] == [b"p50", b"p99", b"p99.9"]
    redis.config("latency-tracking-info-percentiles", "10")
    assert fields(redis, "latencystats")[b"latency_percentiles_usec_set"].startswith(b"p10=")


def test_clients_are_counted_by_what_they_do(redis: Redis) -> None:
    blocked, listener = redis.another(), redis.another()
    blocked.send("BLPOP", "k", 0)
    redis.wait_blocked(1)
    listener("SUBSCRIBE", "c")
    found = fields(redis, "clients", "stats")
    assert found[b"blocked_clients"] == b"1"
    assert found[b"pubsub_channels"] == b"1"
    assert int(found[b"connected_clients"]) >= 3


def test_used_memory_grows_with_the_keys_and_shrinks_with_them(redis: Redis) -> None:
    before = int(fields(redis, "memory")[b"used_memory"])
    for number in range(1000):
        redis("SET", f"k{number}", "x" * 1000)
    during = int(fields(redis, "memory")[b"used_memory"])
    redis("FLUSHALL", "SYNC")
    after = int(fields(redis, "memory")[b"used_memory"])
    assert 1_000_000 <= during - before < 1_500_000
    assert during - after >= 1_000_000


def test_the_limit_is_told_in_both_forms(redis: Redis) -> None:
    redis.config("maxmemory", "150mb")
    found = fields(redis, "memory")
    assert found[b"maxmemory"] == b"157286400"
    assert found[b"maxmemory_human"] == b"150.00M"
    assert redis("CONFIG", "SET", "maxmemory", 0) == Status("OK")
    assert fields(redis, "memory")[b"maxmemory_human"] == b"0B"


@pytest.mark.only("engine")
def test_redouble_says_who_it_is(redis: Redis) -> None:
    found = fields(redis, "server")
    assert found[b"redouble_build"] in (b"compiled", b"interpreted")
    assert found[b"redouble_version"]


@pytest.mark.parametrize(
    ("before", "command", "changes"),
    [
        ([], "RPUSH k 1 2 3", 3),
        ([], "SADD k a b a", 2),
        ([], "ZADD k 1 a 2 b", 2),
        ([], "HSET k a 1 b 2 c 3", 3),
        ([], "MSET k 1 l 2", 2),
        ([], "GEOADD k 1 1 a 2 2 b", 2),
        (["SET k 1"], "RENAME k l", 1),
        (["SET k 1"], "MOVE k 3", 1),
        (["SET k 1", "SET l 1"], "DEL k l m", 2),
        (["RPUSH k 1 2 3 4"], "LTRIM k 0 0", 3),
        (["RPUSH k 1 2 3 4"], "LTRIM k 0 -1", 0),
        (["RPUSH k 1 1 2"], "LREM k 0 1", 2),
        (["RPUSH k 1 2 3"], "LPOP k 2", 2),
        (["RPUSH k 1 2 3"], "RPOPLPUSH k l", 1),
        (["SADD k a b"], "SREM k a b c", 2),
        (["SADD k a b"], "SPOP k 2", 2),
        (["SADD k a b"], "SMOVE k l a", 2),
        (["ZADD k 1 a 2 b"], "ZREM k a b", 2),
        (["ZADD k 1 a 2 b"], "ZPOPMAX k 2", 2),
        (["ZADD k 1 a 2 b"], "ZREMRANGEBYRANK k 0 0", 1),
        (["ZADD k 1 a 2 b"], "ZADD k 5 a 6 c", 2),
        (["HSET k a 1 b 2"], "HDEL k a b", 2),
        (["RPUSH k 2 1"], "SORT k STORE l", 2),
        (["GEOADD k 1 1 a 2 2 b"], "GEOSEARCHSTORE l k FROMMEMBER a BYRADIUS 1000 km", 2),
        (["SET k 1", "SET l 1"], "FLUSHDB", 2),
    ],
)
def test_the_changes_since_the_last_save_are_counted_as_redis_does(
    redis: Redis, before: list[str], command: str, changes: int
) -> None:
    for line in before:
        redis(*line.split())
    count = int(fields(redis, "persistence")[b"rdb_changes_since_last_save"])
    redis(*command.split())
    assert int(fields(redis, "persistence")[b"rdb_changes_since_last_save"]) - count == changes
