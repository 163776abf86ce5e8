"""Client-side caching: who is told of which changed key, how, and in which order."""

import pytest

from tests.kit import EngineTarget, Failure, Redis, Status

OK = Status("OK")


@pytest.fixture
def reader(redis: Redis) -> Redis:
    """A RESP3 connection that tracks what it reads."""
    other = redis.another(3)
    assert other("CLIENT", "TRACKING", "ON") == OK
    return other


def test_the_reader_of_a_key_hears_of_its_first_change(redis: Redis, reader: Redis) -> None:
    redis("SET", "k", 1)
    assert reader("GET", "k") == b"1"
    redis("SET", "k", 2)
    assert reader.receive() == [b"invalidate", [b"k"]]
    redis("SET", "k", 3)
    assert reader.silent()
    redis("SET", "other", 1)
    assert reader.silent()


def test_absent_keys_and_reads_within_exec_count(redis: Redis, reader: Redis) -> None:
    reader("MULTI")
    reader("MGET", "a", "b")
    reader("EXEC")
    redis("SET", "b", 1)
    assert reader.receive() == [b"invalidate", [b"b"]]


@pytest.mark.since("7.2.0")
def test_what_a_script_reads_counts(redis: Redis, reader: Redis) -> None:
    reader("EVAL", "return redis.call('get', 'inner')", 1, "declared")
    redis("SET", "declared", 1)
    assert reader.silent()
    redis("SET", "inner", 1)
    assert reader.receive() == [b"invalidate", [b"inner"]]


@pytest.mark.only("engine", "real")
def test_before_7_2_a_script_that_reads_has_read_what_was_declared(redis: Redis) -> None:
    older = redis if redis.target.real else Redis(EngineTarget("7.0.15"), 2)
    reader = older.another(3)
    reader("CLIENT", "TRACKING", "ON")
    reader("EVAL", "redis.call('set', 'inner', 1)", 1, "declared")
    older("SET", "declared", 1)
    assert reader.silent()
    reader("EVAL", "return redis.call('get', 'inner')", 1, "declared")
    older("SET", "inner", 1)
    assert reader.silent()
    older("SET", "declared", 1)
    assert reader.receive() == [b"invalidate", [b"declared"]]


def test_writes_are_not_tracked(redis: Redis, reader: Redis) -> None:
    reader("SET", "k", 1)
    redis("SET", "k", 2)
    assert reader.silent()


@pytest.mark.since("7.2.0")
def test_one_s_own_change_is_told_after_the_reply(redis: Redis, reader: Redis) -> None:
    reader("GET", "k")
    assert reader("SET", "k", 1) == OK
    assert reader.receive() == [b"invalidate", [b"k"]]
    reader("GET", "k")
    reader("MULTI")
    reader("SET", "k", 2)
    reader("PING")
    assert reader("EXEC") == [OK, Status("PONG")]
    assert reader.receive() == [b"invalidate", [b"k"]]


def test_noloop_spares_one_s_own_changes(redis: Redis) -> None:
    other = redis.another(3)
    other("CLIENT", "TRACKING", "ON", "NOLOOP")
    other("GET", "k")
    other("SET", "k", 1)
    assert other.silent()
    other("GET", "k")
    redis("SET", "k", 2)
    assert other.receive() == [b"invalidate", [b"k"]]


def test_a_key_that_expires_is_told(redis: Redis, reader: Redis) -> None:
    redis("SET", "k", 1, "PX", 20)
    reader("GET", "k")
    redis.pass_time(30)
    redis("GET", "k")
    assert reader.receive() == [b"invalidate", [b"k"]]


def test_flushing_tells_everybody_once(redis: Redis, reader: Redis) -> None:
    redis("SET", "k", 1)
    reader("GET", "k")
    redis("FLUSHALL")
    assert reader.receive() == [b"invalidate", None]
    assert reader.silent()
    redis("SET", "k", 1)
    assert reader.silent()


def test_broadcast_tells_all_changes_below_a_prefix_sorted_and_together(redis: Redis) -> None:
    other = redis.another(3)
    assert other("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "user:", "PREFIX", "job:") == OK
    redis("MSET", "user:2", 1, "user:1", 1, "other", 1)
    assert other.receive() == [b"invalidate", [b"user:1", b"user:2"]]
    redis("SET", "job:1", 1)
    assert other.receive() == [b"invalidate", [b"job:1"]]
    redis("SET", "other", 2)
    assert other.silent()


def test_broadcast_with_noloop(redis: Redis) -> None:
    other = redis.another(3)
    other("CLIENT", "TRACKING", "ON", "BCAST", "NOLOOP")
    other("SET", "mine", 1)
    assert other.silent()
    redis("SET", "theirs", 1)
    assert other.receive() == [b"invalidate", [b"theirs"]]


def test_optin_tracks_only_what_was_announced(redis: Redis) -> None:
    other = redis.another(3)
    other("CLIENT", "TRACKING", "ON", "OPTIN")
    other("GET", "a")
    assert other("CLIENT", "CACHING", "YES") == OK
    other("GET", "b")
    other("GET", "c")
    redis("MSET", "a", 1, "c", 1)
    assert other.silent()
    redis("SET", "b", 1)
    assert other.receive() == [b"invalidate", [b"b"]]


def test_optout_tracks_all_but_what_was_excepted(redis: Redis) -> None:
    other = redis.another(3)
    other("CLIENT", "TRACKING", "ON", "OPTOUT")
    assert other("CLIENT", "CACHING", "NO") == OK
    other("GET", "a")
    other("GET", "b")
    redis("SET", "a", 1)
    assert other.silent()
    redis("SET", "b", 1)
    assert other.receive() == [b"invalidate", [b"b"]]


def test_a_resp2_client_is_told_by_another_connection(redis: Redis) -> None:
    listener = redis.another(2)
    number = listener("CLIENT", "ID")
    listener("SUBSCRIBE", "__redis__:invalidate")
    other = redis.another(2)
    assert other("CLIENT", "TRACKING", "ON", "REDIRECT", number) == OK
    assert other("CLIENT", "GETREDIR") == number
    other("GET", "k")
    redis("SET", "k", 1)
    assert listener.receive() == [b"message", b"__redis__:invalidate", [b"k"]]
    redis("FLUSHALL")
    assert listener.receive() == [b"message", b"__redis__:invalidate", None]


def test_a_broken_redirection_is_told(redis: Redis) -> None:
    listener = redis.another(3)
    number = listener("CLIENT", "ID")
    other = redis.another(3)
    other("CLIENT", "TRACKING", "ON", "REDIRECT", number)
    other("GET", "k")
    redis("CLIENT", "KILL", "ID", number)
    assert listener.closed()
    redis("SET", "k", 1)
    assert other.receive() == [b"tracking-redir-broken", number]
    info = other("CLIENT", "TRACKINGINFO")
    assert info[1] == [b"on", b"broken_redirect"]


def test_trackinginfo(redis: Redis) -> None:
    assert redis("CLIENT", "TRACKINGINFO") == [b"flags", [b"off"], b"redirect", -1, b"prefixes", []]
    other = redis.another(3)
    other("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "b", "PREFIX", "a", "NOLOOP")
    assert other("CLIENT", "TRACKINGINFO") == [
        b"flags", [b"on", b"bcast", b"noloop"], b"redirect", 0, b"prefixes", [b"a", b"b"],
    ]  # fmt: skip
    other("CLIENT", "TRACKING", "OFF")
    other("CLIENT", "TRACKING", "ON", "OPTIN")
    other("CLIENT", "CACHING", "YES")
    assert other("CLIENT", "TRACKINGINFO")[1] == [b"on", b"optin", b"caching-yes"]
    assert other("CLIENT", "GETREDIR") == 0
    other("CLIENT", "TRACKING", "OFF")
    assert other("CLIENT", "GETREDIR") == -1


def test_what_does_not_go_together_is_refused(redis: Redis) -> None:
    other = redis.another(3)

    def tracking(*options: object) -> object:
        return other("CLIENT", "TRACKING", "ON", *options)

    assert tracking("PREFIX", "a") == Failure("ERR PREFIX option requires BCAST mode to be enabled")
    assert tracking("BCAST", "OPTIN") == Failure("ERR OPTIN and OPTOUT are not compatible with BCAST")
    assert tracking("OPTIN", "OPTOUT") == Failure("ERR You can't specify both OPTIN mode and OPTOUT mode")
    assert tracking("REDIRECT", 999999) == Failure("ERR The client ID you want redirect to does not exist")
    assert tracking("FOO") == Failure("ERR syntax error")
    assert tracking("BCAST", "PREFIX", "ab", "PREFIX", "a") == Failure(
        "ERR Prefix 'ab' overlaps with another provided prefix 'a'. Prefixes for a single client must not overlap."
    )
    assert tracking("BCAST", "PREFIX", "ab") == OK
    assert tracking("BCAST", "PREFIX", "abc") == Failure(
        "ERR Prefix 'abc' overlaps with an existing prefix 'ab'. Prefixes for a single client must not overlap."
    )
    assert tracking()[:29] == b"ERR You can't switch BCAST mo"
    assert other("CLIENT", "CACHING", "YES") == Failure(
        "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode."
    )
    other("CLIENT", "TRACKING", "OFF")
    assert other("CLIENT", "CACHING", "YES")[:58] == b"ERR CLIENT CACHING can be called only when the client is i"


def test_the_table_of_read_keys_has_a_limit(redis: Redis, reader: Redis) -> None:
    redis.config("tracking-table-max-keys", 2)
    for key in ("a", "b", "c"):
        reader("GET", key)
    reader.send("PING")
    told = [reply for reply in (reader.receive(), reader.receive()) if reply != Status("PONG")]
    assert len(told) == 1
    assert told[0][0] == b"invalidate"


def test_a_key_that_is_evicted_is_told(redis: Redis, reader: Redis) -> None:
    redis("SET", "k", "v")
    reader("GET", "k")
    redis.config("maxmemory-policy", "allkeys-random")
    redis.config("maxmemory", 1)
    redis("PING")
    assert reader.receive() == [b"invalidate", [b"k"]]


EVENTS_FIRST = ["LPOP l", "RPOP l 9", "LTRIM l 1 1", "SPOP s", "SPOP s 9", "ZREM z a", "ZPOPMAX z", "XTRIM x MAXLEN 0"]
EVENTS_LAST = ["RPUSH l b", "SREM s a", "HDEL h a", "ZREMRANGEBYRANK z 0 -1", "XDEL x 1-1", "DEL l", "EXPIRE z 100"]


@pytest.mark.parametrize("command", EVENTS_FIRST + EVENTS_LAST)
def test_who_keeps_a_key_hears_of_it_after_the_events_of_what_takes_elements(redis: Redis, command: str) -> None:
    for made in ("RPUSH l a b", "SADD s a b", "ZADD z 1 a 2 b", "HSET h a 1", "XADD x 1-1 a 1"):
        redis(*made.split())
    redis.config("notify-keyspace-events", "EA")
    watcher = redis.another(resp=3)
    watcher("CLIENT", "TRACKING", "ON")
    watcher("EXISTS", *"lszhx")
    watcher("PSUBSCRIBE", "__keyevent*")
    redis(*command.split())
    redis("SET", "end", "x")
    kinds: list[bytes] = []
    while (message := watcher.receive())[-1] != b"end":
        kinds.append(message[0])
    assert kinds.count(b"invalidate") == 1
    assert kinds[-1 if command in EVENTS_FIRST else 0] == b"invalidate"


def test_who_keeps_both_names_hears_of_them_before_the_events_of_a_rename(redis: Redis) -> None:
    redis("SET", "a", "v")
    redis.config("notify-keyspace-events", "Eg")
    watcher = redis.another(resp=3)
    watcher("CLIENT", "TRACKING", "ON")
    watcher("EXISTS", "a", "b")
    watcher("PSUBSCRIBE", "__keyevent*")
    redis("RENAME", "a", "b")
    heard = [watcher.receive() for _ in range(4)]
    assert heard[:2] == [[b"invalidate", [b"a"]], [b"invalidate", [b"b"]]]
    assert [message[3] for message in heard[2:]] == [b"a", b"b"]
