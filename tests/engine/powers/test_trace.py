"""The trace as the engine keeps it: order, nesting, limits, what is refused and what waits."""

from __future__ import annotations

import pytest

from redouble.engine.powers.trace import TraceEntry
from redouble.errors import CommandError
from tests.doubles import DoubleEngine
from tests.kit import Failure, Redis, Status


@pytest.fixture
def target() -> DoubleEngine:
    return DoubleEngine()


@pytest.fixture
def redis(target: DoubleEngine) -> Redis:
    return Redis(target, 2)


def names(entries: list[TraceEntry]) -> list[str]:
    return [entry.name.decode() for entry in entries]


def test_an_entry_tells_who_sent_what_with_which_keys_and_how_it_was_answered(target: DoubleEngine) -> None:
    redis = Redis(target, 2)
    redis("CLIENT", "SETNAME", "worker")
    redis("SELECT", 3)
    target.engine.clock.freeze(1_700_000_000_000)
    target.engine.trace.start()
    redis("MSET", "a", 1, "b", 2)
    redis("CLIENT", "GETNAME")
    mset, getname = target.engine.trace.entries()
    assert (mset.name, mset.argv, mset.keys) == (b"mset", [b"MSET", b"a", b"1", b"b", b"2"], [b"a", b"b"])
    assert (mset.client_id, mset.client_name, mset.address) == (1, b"worker", b"127.0.0.1:50001")
    assert (mset.database, mset.time) == (3, 1_700_000_000_000)
    assert (mset.reply, mset.error, mset.commands, mset.waited) == (b"status", b"", [], 0)
    assert 0 <= mset.microseconds < 1_000_000
    assert (getname.name, getname.keys, getname.reply) == (b"client|getname", [], b"bulk")


@pytest.mark.parametrize(
    ("request_", "kind"),
    [
        ("PING", b"status"),
        ("GET nothing", b"null"),
        ("BLPOP nothing 0.01", b"null"),
        ("INCR n", b"integer"),
        ("ECHO x", b"bulk"),
        ("LRANGE l 0 -1", b"array"),
        ("HGETALL h", b"map"),
        ("SMEMBERS s", b"set"),
        ("SUBSCRIBE c", b"push"),
        ("ZINCRBY z 1.5 m", b"double"),
        ("INFO server", b"verbatim"),
        ("CLIENT REPLY OFF", b"none"),
        ("EVAL return{map={}} 0", b"map"),
        ("EVAL return{double=1} 0", b"double"),
        ("EVAL redis.setresp(3)return(true) 0", b"boolean"),
        ("EVAL return{big_number='1'} 0", b"big-number"),
    ],
)
def test_kinds_of_replies_are_those_of_resp3(target: DoubleEngine, request_: str, kind: bytes) -> None:
    redis = Redis(target, 3)
    target.engine.trace.start()
    redis.send(*request_.split())
    redis.pass_time(20)
    (entry,) = target.engine.trace.entries()
    assert entry.reply == kind


def test_what_is_refused_is_traced_with_its_error(target: DoubleEngine, redis: Redis) -> None:
    target.engine.trace.start()
    errors = [redis("NOPE", "x"), redis("GET"), redis("CLIENT", "NOPE"), redis("LPUSH", "k", 1), redis("INCR", "k")]
    entries = target.engine.trace.entries()
    assert names(entries) == ["nope", "get", "client", "lpush", "incr"]
    assert [entry.reply for entry in entries] == [b"error", b"error", b"error", b"integer", b"error"]
    assert [entry.error for entry in entries if entry.error] == [bytes(text) for text in errors if text != 1]
    assert [entry.keys for entry in entries] == [[], [], [], [b"k"], [b"k"]]


def test_who_may_not_is_traced_too(target: DoubleEngine, redis: Redis) -> None:
    redis("ACL", "SETUSER", "limited", "on", "nopass", "+@all", "-get", "~*")
    other = redis.another()
    redis("CONFIG", "SET", "requirepass", "secret")
    target.engine.trace.start()
    stranger = redis.another()
    stranger("GET", "k")
    other("AUTH", "limited", "anything")
    other("GET", "k")
    other("MULTI")
    other("EVAL", "return redis.call('GET', KEYS[1])", 1, "k")
    entries = target.engine.trace.entries()
    assert names(entries) == ["get", "auth", "get", "multi"]
    assert entries[0].error == b"NOAUTH Authentication required."
    assert entries[2].error.startswith(b"NOPERM ")
    other("EXEC")
    target.engine.trace.start(scripts=True)
    other("EVAL", "return redis.call('GET', KEYS[1])", 1, "k")
    (script,) = target.engine.trace.entries()
    assert [(entry.name, entry.reply) for entry in script.commands] == [(b"get", b"error")]


def test_passwords_are_not_shown(target: DoubleEngine, redis: Redis) -> None:
    target.engine.trace.start()
    redis("CONFIG", "SET", "requirepass", "secret")
    redis("AUTH", "secret")
    assert [entry.argv[-1] for entry in target.engine.trace.entries()] == [b"(redacted)", b"(redacted)"]


def test_the_commands_of_a_transaction_stand_under_its_exec(target: DoubleEngine, redis: Redis) -> None:
    target.engine.trace.start()
    redis("MULTI")
    redis("SET", "k", 1)
    redis("INCR", "k")
    assert names(target.engine.trace.entries()) == ["multi"]
    redis("EXEC")
    multi, exec_ = target.engine.trace.entries()
    assert (multi.name, exec_.name, exec_.reply) == (b"multi", b"exec", b"array")
    assert [(entry.name, entry.reply) for entry in exec_.commands] == [(b"set", b"status"), (b"incr", b"integer")]


def test_a_broken_transaction_shows_what_broke_it_and_nothing_inside(target: DoubleEngine, redis: Redis) -> None:
    target.engine.trace.start()
    for request in (["MULTI"], ["SET", "k", 1], ["NOPE"], ["EXEC"], ["GET", "k"]):
        redis(*request)
    entries = target.engine.trace.entries()
    assert names(entries) == ["multi", "nope", "exec", "get"]
    assert entries[2].error == b"EXECABORT Transaction discarded because of previous errors."
    assert entries[2].commands == []


def test_the_commands_of_a_script_are_shown_only_if_asked_for(target: DoubleEngine, redis: Redis) -> None:
    script = "redis.call('set', KEYS[1], 1) redis.pcall('lpop', KEYS[1]) redis.pcall('nope') return 1"
    target.engine.trace.start()
    redis("EVAL", script, 1, "k")
    (entry,) = target.engine.trace.entries()
    assert (entry.name, entry.keys, entry.reply, entry.commands) == (b"eval", [b"k"], b"integer", [])
    target.engine.trace.start(scripts=True)
    redis("EVAL", script, 1, "k")
    (entry,) = target.engine.trace.entries()
    assert names(entry.commands) == ["set", "lpop", "nope"]
    assert [inner.reply for inner in entry.commands] == [b"status", b"error", b"error"]
    assert [inner.keys for inner in entry.commands] == [[b"k"], [b"k"], []]
    assert entry.microseconds >= sum(inner.microseconds for inner in entry.commands) - 3


def test_scripts_nest_within_transactions_and_functions_are_scripts(target: DoubleEngine, redis: Redis) -> None:
    library = "#!lua name=l\nredis.register_function('f', function(keys) return redis.call('get', keys[1]) end)"
    redis("FUNCTION", "LOAD", library)
    target.engine.trace.start(scripts=True)
    redis("MULTI")
    redis("EVAL", "return redis.call('incr', KEYS[1])", 1, "n")
    redis("FCALL", "f", 1, "n")
    redis("GET", "n")
    assert redis("EXEC") == [1, b"1", b"1"]
    exec_ = target.engine.trace.entries()[-1]
    assert [(entry.name, names(entry.commands)) for entry in exec_.commands] == [
        (b"eval", ["incr"]),
        (b"fcall", ["get"]),
        (b"get", []),
    ]


def test_a_command_that_waits_is_one_entry_where_it_was_sent(target: DoubleEngine, redis: Redis) -> None:
    target.engine.clock.freeze()
    target.engine.trace.start()
    waiter = redis.another()
    waiter.send("BLPOP", "q", 0)
    (entry,) = target.engine.trace.entries()
    assert (entry.name, entry.reply) == (b"blpop", b"waiting")
    redis.pass_time(250)
    redis("SADD", "other", 1)
    redis("RPUSH", "q", "job")
    assert waiter.receive() == [b"q", b"job"]
    entries = target.engine.trace.entries()
    assert names(entries) == ["blpop", "sadd", "rpush"]
    assert (entries[0].reply, entries[0].waited) == (b"array", 250)


def test_a_wait_ends_in_the_trace_by_time_out_unblock_and_hanging_up(target: DoubleEngine, redis: Redis) -> None:
    target.engine.clock.freeze()
    target.engine.trace.start(command=b"b*")
    one, two, three = redis.another(), redis.another(), redis.another()
    one.send("BLPOP", "q", 1)
    two.send("BRPOP", "q", 0)
    three.send("BLMOVE", "q", "r", "LEFT", "LEFT", 0)
    number = target.engine.trace.entries()[1].client_id
    redis.pass_time(1500)
    redis("CLIENT", "UNBLOCK", number, "ERROR")
    three.close()
    entries = target.engine.trace.entries()
    assert [(entry.name, entry.reply, entry.waited) for entry in entries] == [
        (b"blpop", b"null", 1500),
        (b"brpop", b"error", 1500),
        (b"blmove", b"none", 1500),
    ]
    assert entries[1].error == b"UNBLOCKED client unblocked via CLIENT UNBLOCK"


def test_within_a_transaction_nothing_waits(target: DoubleEngine, redis: Redis) -> None:
    target.engine.trace.start()
    redis("MULTI")
    redis("BLPOP", "q", 0)
    redis("EXEC")
    (pop,) = target.engine.trace.entries()[-1].commands
    assert (pop.name, pop.reply) == (b"blpop", b"null")


def test_filters_choose_among_what_clients_send(target: DoubleEngine, redis: Redis) -> None:
    trace = target.engine.trace
    trace.start(scripts=True, command=b"EVAL*")
    redis("SET", "k", 1)
    redis("EVAL", "return redis.call('get', KEYS[1])", 1, "k")
    redis("GET", "k")
    (entry,) = trace.entries()
    assert (entry.name, names(entry.commands)) == (b"eval", ["get"])
    trace.start(command=b"client")
    redis("CLIENT", "ID")
    redis("CONFIG", "GET", "port")
    assert names(trace.entries()) == ["client|id"]
    worker = redis.another()
    worker("CLIENT", "SETNAME", "worker-1")
    trace.start(client=b"worker-*")
    worker("GET", "k")
    redis("GET", "k")
    assert [entry.client_name for entry in trace.entries()] == [b"worker-1"]
    trace.start(client=b"*")
    redis("GET", "k")
    assert names(trace.entries()) == ["get"]


def test_the_oldest_go_and_the_trace_says_how_many(target: DoubleEngine, redis: Redis) -> None:
    trace = target.engine.trace
    trace.start(most=3)
    for number in range(5):
        redis("GET", number)
    assert [entry.argv[1] for entry in trace.entries()] == [b"2", b"3", b"4"]
    assert trace.dropped == 2
    with pytest.raises(CommandError, match="2 commands were dropped"):
        trace.count(b"get")
    trace.clear()
    redis("GET", "k")
    assert (trace.dropped, trace.count(b"get")) == (0, 1)


def test_what_is_inside_counts_for_the_limit(target: DoubleEngine, redis: Redis) -> None:
    trace = target.engine.trace
    trace.start(scripts=True, most=5)
    redis("GET", "a")
    redis("EVAL", "for i = 1, 3 do redis.call('get', 'k') end", 0)
    assert (names(trace.entries()), trace.dropped) == (["get", "eval"], 0)
    redis("EVAL", "for i = 1, 8 do redis.call('get', 'k') end", 0)
    (entry,) = trace.entries()
    assert (len(entry.commands), entry.omitted) == (5, 3)
    assert trace.dropped == 1 + 4 + 3


def test_long_arguments_are_kept_whole_up_to_16_kib(target: DoubleEngine, redis: Redis) -> None:
    target.engine.trace.start()
    redis("SET", "k", b"x" * 16384)
    redis("SET", "k", b"x" * 16385)
    redis("MGET", *range(2000))
    whole, cut, many = target.engine.trace.entries()
    assert whole.argv[2] == b"x" * 16384
    assert cut.argv[2] == b"x" * 16384 + b"... (1 more bytes)"
    assert len(many.argv) == 1000
    assert many.argv[-1] == b"... (1002 more arguments)"


def test_counting_looks_inside_and_at_keys(target: DoubleEngine, redis: Redis) -> None:
    trace = target.engine.trace
    trace.start(scripts=True)
    redis("SET", "a:1", 1)
    redis("EVAL", "redis.call('set', 'a:2', 1) redis.call('setrange', 'b:1', 0, 'x')", 0)
    redis("CLIENT", "ID")
    assert [trace.count(name) for name in (b"set", b"SET*", b"client", b"client|*", b"del", b"*")] == [2, 3, 1, 1, 0, 5]
    assert [trace.count(b"set", key) for key in (b"a:*", b"a:1", b"b:*")] == [2, 1, 0]


def test_stopping_keeps_and_starting_forgets(target: DoubleEngine, redis: Redis) -> None:
    trace = target.engine.trace
    assert not trace.running
    trace.start()
    redis("GET", "a")
    trace.stop()
    redis("GET", "b")
    assert (trace.running, trace.count(b"get")) == (False, 1)
    trace.start()
    assert (trace.running, trace.entries()) == (True, [])
    assert target.engine.observers != 0
    trace.stop()
    assert target.engine.observers == 0


def test_a_wait_that_began_before_the_trace_is_no_part_of_it(target: DoubleEngine, redis: Redis) -> None:
    waiter = redis.another()
    waiter.send("BLPOP", "q", 0)
    target.engine.trace.start()
    redis("RPUSH", "q", 1)
    assert names(target.engine.trace.entries()) == ["rpush"]


def test_an_entry_prints_as_what_was_sent_and_answered(target: DoubleEngine, redis: Redis) -> None:
    target.engine.trace.start()
    redis("SET", "a key", b"\xff")
    redis("INCR", "a key")
    first, second = target.engine.trace.entries()
    assert repr(first) == '<SET "a key" "\\xff" -> status, client 1>'
    assert repr(second) == '<INCR "a key" -> ERR value is not an integer or out of range, client 1>'


def test_a_limit_below_one_is_refused(target: DoubleEngine) -> None:
    with pytest.raises(CommandError, match="MAX must be 1 or more"):
        target.engine.trace.start(most=0)
    assert not target.engine.trace.running


def test_a_postponed_command_is_traced_once_when_it_runs(target: DoubleEngine, redis: Redis) -> None:
    target.engine.clock.freeze()
    other = redis.another()
    redis("CLIENT", "PAUSE", 100)
    target.engine.trace.start()
    other.send("SET", "k", 1)
    assert target.engine.trace.entries() == []
    redis.pass_time(150)
    assert other.receive() == Status("OK")
    assert names(target.engine.trace.entries()) == ["set"]


def test_errors_reach_clients_as_before(redis: Redis, target: DoubleEngine) -> None:
    before = [redis("NOPE"), redis("GET"), redis("EVAL", "return redis.call('nope')", 0)]
    target.engine.trace.start(scripts=True)
    assert [redis("NOPE"), redis("GET"), redis("EVAL", "return redis.call('nope')", 0)] == before
    assert all(isinstance(error, Failure) for error in before)
