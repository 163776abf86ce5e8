"""Whole RDB files: written, read, damaged; and exchanged with the real server."""

from __future__ import annotations

from pathlib import Path

import pytest

from redouble.persistence.crc64 import crc64
from redouble.persistence.format import CorruptData
from redouble.persistence.rdbfile import read_rdb
from tests.kit import EngineTarget, Failure, RealTarget, Redis, Status

OK = Status("OK")


class Server:
    """An engine in process whose file lies in a folder."""

    def __init__(self, folder: Path, version: str = "7.4.1") -> None:
        self.target = EngineTarget(version)
        self.engine = self.target.engine
        self.engine.config.set(b"dir", str(folder).encode())
        self.redis = Redis(self.target, 2)

    def file(self) -> bytes:
        return self.engine.saving.file()


def fill(redis: Redis) -> None:
    """A key of each type, deadlines, and another database."""
    redis("SET", "text", "hello " * 20)
    redis("SET", "number", 12345)
    redis("RPUSH", "list", *range(2000))
    redis("SADD", "intset", 3, 1, 2)
    redis("SADD", "set", *[f"member:{n}" for n in range(300)])
    redis("ZADD", "zset", 1, "a", 2.5, "b", "inf", "c")
    redis("HSET", "hash", "field", "value", "number", -7)
    redis("XADD", "stream", "1-1", "a", "b")
    redis("XADD", "stream", "2-1", "a", "c", "d", "e")
    redis("XGROUP", "CREATE", "stream", "group", 0)
    redis("XREADGROUP", "GROUP", "group", "worker", "COUNT", 1, "STREAMS", "stream", ">")
    redis("PEXPIREAT", "list", 4102444800123)
    redis("SELECT", 5)
    redis("SET", "other", "x", "EX", 100000)
    redis("SELECT", 0)


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


def test_everything_comes_back(server: Server, tmp_path: Path) -> None:
    fill(server.redis)
    assert server.redis("SAVE") == OK
    other = Server(tmp_path)
    assert other.engine.saving.load(False, False)
    assert other.redis("DEBUG", "DIGEST") == server.redis("DEBUG", "DIGEST")
    assert other.redis("PEXPIRETIME", "list") == 4102444800123
    assert other.redis("XINFO", "STREAM", "stream", "FULL") == server.redis("XINFO", "STREAM", "stream", "FULL")


def test_fields_of_hashes_keep_their_deadlines(server: Server) -> None:
    redis = server.redis
    redis("HSET", "small", "a", 1, "b", 2, "c", 3)
    redis("HSET", "large", *[f"{n}" for n in range(1200)])
    for key, field in (("small", "b"), ("large", "4")):
        redis("HPEXPIREAT", key, 4102444800123, "FIELDS", 1, field)
    before = [redis("HPEXPIRETIME", "small", "FIELDS", 3, "a", "b", "c"), redis("OBJECT", "ENCODING", "small")]
    assert redis("DEBUG", "RELOAD") == OK
    assert [redis("HPEXPIRETIME", "small", "FIELDS", 3, "a", "b", "c"), redis("OBJECT", "ENCODING", "small")] == before
    assert redis("HPEXPIRETIME", "large", "FIELDS", 2, "4", "6") == [4102444800123, -1]
    server.engine.clock.set(4102444800124)
    server.engine.tick()
    assert redis("HEXISTS", "small", "b") == 0
    assert redis("HLEN", "large") == 599


def test_an_expired_key_is_left_out(server: Server) -> None:
    server.redis("DEBUG", "SET-ACTIVE-EXPIRE", 0)
    server.redis("SET", "gone", "x", "PX", 10)
    server.redis("SET", "here", "x")
    data = server.file()
    server.target.pass_time(20)
    contents = read_rdb(server.engine.space, data, 12)
    assert [key for _, key, _ in contents.keys] == [b"here"]
    assert contents.expired == 1


@pytest.mark.parametrize("policy", [b"allkeys-lru", b"allkeys-lfu"])
def test_the_use_of_keys_is_kept_if_eviction_needs_it(server: Server, policy: bytes) -> None:
    server.redis("CONFIG", "SET", "maxmemory-policy", policy)
    server.redis("SET", "key", "x")
    entry = server.engine.space.databases[0].data[b"key"]
    entry.access -= 5000
    entry.frequency = 77
    [(_, _, read)] = read_rdb(server.engine.space, server.file(), 12).keys
    if policy.endswith(b"lru"):
        assert server.engine.space.now - read.access == 5000
    else:
        assert read.frequency == 77


def test_reading_tells_nobody_of_new_keys(server: Server) -> None:
    redis = server.redis
    redis("SET", "key", "x")
    redis("CONFIG", "SET", "notify-keyspace-events", "KEAn")
    listener = redis.another()
    listener("PSUBSCRIBE", "*")
    assert redis("DEBUG", "RELOAD") == OK
    assert listener.silent()


def test_reload_breaks_a_watch_and_ends_what_is_not_in_the_file(server: Server) -> None:
    redis = server.redis
    redis("SET", "key", "x")
    redis("SAVE")
    redis("SET", "late", "x")
    watching = redis.another()
    watching("WATCH", "late")
    assert redis("DEBUG", "RELOAD", "NOSAVE") == OK
    assert redis("KEYS", "*") == [b"key"]
    watching("MULTI")
    assert watching("EXEC") is None


def test_merging_wants_to_be_asked_for(server: Server) -> None:
    redis = server.redis
    redis("SET", "key", "old")
    redis("SAVE")
    redis("SET", "key", "new")
    redis("SET", "late", "x")
    assert redis("DEBUG", "RELOAD", "NOSAVE", "NOFLUSH") == Failure(
        "ERR Error trying to load the RDB dump, check server logs."
    )
    assert redis("GET", "key") == b"new"
    assert redis("DEBUG", "RELOAD", "NOSAVE", "NOFLUSH", "MERGE") == OK
    assert redis("GET", "key") == b"old"
    assert redis("GET", "late") == b"x"


def test_a_file_that_is_not_there_can_not_be_reloaded(server: Server) -> None:
    server.redis("SET", "key", "x")
    assert isinstance(server.redis("DEBUG", "RELOAD", "NOSAVE"), Failure)
    assert server.redis("GET", "key") == b"x"


def test_a_save_that_fails_says_so(server: Server, tmp_path: Path) -> None:
    (tmp_path / "dump.rdb").mkdir()
    assert server.redis("SAVE") == Failure("ERR")
    assert server.redis("BGSAVE") == Status("Background saving started")
    assert b"rdb_last_bgsave_status:err" in server.redis("INFO", "persistence")
    assert [path.name for path in tmp_path.iterdir()] == ["dump.rdb"]


def test_a_shut_down_server_saves_if_told_to_or_if_it_keeps_its_keys(server: Server, tmp_path: Path) -> None:
    server.redis("SET", "key", "x")
    server.redis.send("SHUTDOWN")
    assert not (tmp_path / "dump.rdb").exists()
    server.redis.send("SHUTDOWN", "SAVE")
    assert (tmp_path / "dump.rdb").exists()
    keeper = Server(tmp_path)
    assert keeper.engine.saving.load_at_start()
    keeper.redis("SET", "key", "y")
    keeper.redis.send("SHUTDOWN")
    again = Server(tmp_path)
    assert again.engine.saving.load_at_start()
    assert again.redis("GET", "key") == b"y"


def test_each_cut_and_each_damage_is_noticed(server: Server) -> None:
    server.redis("SET", "key", "value")
    server.redis("SADD", "set", 1, 2, "c")
    data = server.file()
    space = server.engine.space
    for place in range(len(data)):
        with pytest.raises(CorruptData):
            read_rdb(space, data[:place], 12)
        damaged = data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]
        with pytest.raises(CorruptData):
            read_rdb(space, damaged, 12)


def test_a_file_without_checksum_is_believed(server: Server) -> None:
    server.redis("SET", "key", "value")
    data = server.file()
    assert len(read_rdb(server.engine.space, data[:-8] + bytes(8), 12).keys) == 1
    assert len(read_rdb(server.engine.space, data[:-8] + b"somewhat", 12, False).keys) == 1


def rdb(body: bytes, version: int = 9) -> bytes:
    data = b"REDIS%04d" % version + body + b"\xff"
    return data + crc64(data).to_bytes(8, "little")


def test_old_opcodes_are_understood(server: Server) -> None:
    space = server.engine.space
    body = b"\xfe\x03\xfb\x01\x01\xfd" + (2000000000).to_bytes(4, "little") + b"\x00\x01k\x01v"
    [(index, key, entry)] = read_rdb(space, rdb(body), 12).keys
    assert (index, key, entry.value, entry.deadline) == (3, b"k", b"v", 2000000000000)


def test_a_collection_without_elements_is_passed_over(server: Server) -> None:
    space = server.engine.space
    contents = read_rdb(space, rdb(b"\x02\x01s\x00\x04\x01h\x00\x00\x01k\x01v"), 12)
    assert [key for _, key, _ in contents.keys] == [b"k"]


@pytest.mark.parametrize(
    ("body", "version"),
    [
        (b"", 13),
        (b"\xfe\x10", 9),
        (b"\x00\x01k\x01v\x00\x01k\x01v", 9),
        (b"\x06\x01k\x01v", 9),
        (b"\xf7\x00", 9),
    ],
    ids=["newer", "database 16", "twice", "module value", "module data"],
)
def test_what_can_not_be_read_is_refused(server: Server, body: bytes, version: int) -> None:
    with pytest.raises(CorruptData):
        read_rdb(server.engine.space, rdb(body, version), 12)


def test_the_code_of_libraries_is_read(server: Server) -> None:
    assert read_rdb(server.engine.space, rdb(b"\xf5\x04code"), 12).functions == [b"code"]


# -- the real server --------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["6.2.14", "7.0.15"])
def test_the_real_server_loads_our_file_and_we_load_its(
    real_server: RealTarget | None, tmp_path: Path, version: str
) -> None:
    if real_server is None:
        pytest.skip("redis-server is not installed")
    real_server.empty()
    real = Redis(real_server, 2)
    folder = Path(real("CONFIG", "GET", "dir")[1].decode())
    file = folder / real("CONFIG", "GET", "dbfilename")[1].decode()
    server = Server(tmp_path, version)
    fill(server.redis)
    try:
        file.write_bytes(server.file())
        assert real("DEBUG", "RELOAD", "NOSAVE") == OK
        assert real("DEBUG", "DIGEST") == server.redis("DEBUG", "DIGEST")
        assert real("PEXPIRETIME", "list") == 4102444800123
        if version == real_server.version:
            assert real("SAVE") == OK
            (tmp_path / "dump.rdb").write_bytes(file.read_bytes())
            server.redis("FLUSHALL")
            assert server.redis("DEBUG", "RELOAD", "NOSAVE") == OK
            assert server.redis("DEBUG", "DIGEST") == real("DEBUG", "DIGEST")
    finally:
        file.unlink(missing_ok=True)
        real.close()
