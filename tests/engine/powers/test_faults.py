"""Faults at the engine: who is hit, who waits, and that nothing is left behind. Python's own way to them, too."""

from __future__ import annotations

import pytest

from redouble.commands import CONTROLS, FAMILIES
from redouble.engine import flags as f
from redouble.engine.engine import Engine
from redouble.engine.powers.fault_rules import Action, Rule, cut, delay, drop, error, hang
from redouble.engine.powers.faults import DELAYED, Door
from redouble.errors import CommandError
from tests.kit import EngineTarget, Failure, Redis, Status

OK = Status("OK")
BOOM = Failure("ERR boom")


class Server:
    """An engine with frozen time, and connections to it."""

    def __init__(self, seed: int | None = None) -> None:
        self.target = EngineTarget()
        self.engine = self.target.engine
        if seed is not None:
            self.engine = self.target.engine = Engine(FAMILIES + CONTROLS, "7.4.1", seed)
        self.engine.clock.freeze(1_700_000_000_000)
        self.faults = self.engine.faults

    def connect(self, name: str = "") -> Redis:
        client = Redis(self.target, 2)
        if name:
            client("CLIENT", "SETNAME", name)
        return client

    def settle(self) -> None:
        """Let those go on who were released from outside."""
        self.engine.tick()
        self.engine.flush()


@pytest.fixture
def server() -> Server:
    return Server()


def ids(client: Redis) -> int:
    """A connection's number."""
    return int(client("CLIENT", "ID"))


# -- who is hit ---------------------------------------------------------------------------------------


def test_without_a_rule_no_request_is_looked_at_and_after_the_last_one_neither(server: Server) -> None:
    assert not server.engine.flags & f.FAULTY
    server.faults.add(Rule(b"a", error(b"boom"), times=1))
    assert server.engine.flags & f.FAULTY
    assert server.connect()("PING") == BOOM
    assert not server.engine.flags & f.FAULTY
    server.faults.add(Rule(b"b", error(b"boom")))
    assert server.faults.remove(b"b")
    assert not server.engine.flags & f.FAULTY


def test_the_first_rule_that_acts_decides_and_only_rules_that_were_asked_count(server: Server) -> None:
    first = Rule(b"first", error(b"FIRST one"), command=b"get", skip=1, times=1)
    second = Rule(b"second", error(b"SECOND one"))
    server.faults.add(first)
    server.faults.add(second)
    client = server.connect()
    assert [client("GET", "a") for _ in range(3)] == [
        Failure("SECOND one"),
        Failure("FIRST one"),
        Failure("SECOND one"),
    ]
    assert (first.matched, first.hits, first.left) == (2, 1, 0)
    assert (second.matched, second.hits, second.left) == (2, 2, None)


def test_a_pattern_of_commands_knows_case_containers_and_their_words(server: Server) -> None:
    client = server.connect()
    for pattern, hit, spared in (
        (b"GET", ("GET", "a"), ("GETDEL", "a")),
        (b"get*", ("GETDEL", "a"), ("SET", "a", "v")),
        (b"config", ("CONFIG", "GET", "port"), ("PING",)),
        (b"client|getname", ("CLIENT", "GETNAME"), ("CLIENT", "ID")),
        (b"CLIENT GETNAME", ("CLIENT", "GETNAME"), ("CLIENT", "ID")),
    ):
        server.faults.add(Rule(b"x", error(b"boom"), command=pattern))
        assert client(*hit) == BOOM, pattern
        assert not isinstance(client(*spared), Failure), pattern
        server.faults.clear()


def test_a_pattern_of_keys_is_compared_with_every_key_and_with_nothing_else(server: Server) -> None:
    client = server.connect()
    server.faults.add(Rule(b"x", error(b"boom"), key=b"user:*"))
    assert client("GET", "user:1") == BOOM
    assert client("MSET", "a", "user:1", "user:2", "v") == BOOM
    assert client("SET", "a", "user:1") == OK
    assert client("EVAL", "return 1", 1, "user:1") == BOOM
    assert client("PING") == Status("PONG")


def test_a_pattern_of_names_tells_clients_apart(server: Server) -> None:
    worker, web, nobody = server.connect("worker-1"), server.connect("web"), server.connect()
    server.faults.add(Rule(b"x", error(b"boom"), client=b"worker-*"))
    assert [client("PING") for client in (worker, web, nobody)] == [BOOM, Status("PONG"), Status("PONG")]
    server.faults.clear()
    server.faults.add(Rule(b"x", error(b"boom"), client=b"*"))
    assert [client("PING") for client in (worker, web, nobody)] == [BOOM] * 3


def test_what_is_refused_anyway_is_refused_as_always_and_does_not_count(server: Server) -> None:
    rule = Rule(b"x", error(b"boom"))
    server.faults.add(rule)
    client = server.connect()
    assert client("GET") == Failure("ERR wrong number of arguments for 'get' command")
    assert client("NOSUCH").startswith(b"ERR unknown command")
    assert rule.matched == 0


def test_the_same_seed_gives_the_same_fates_whatever_others_do() -> None:
    def fates(seed: int, busy: bool) -> list[bool]:
        server = Server(seed)
        server.faults.add(Rule(b"x", error(b"boom"), command=b"get", probability=0.5))
        client = server.connect()
        client("SADD", "s", *range(50))
        found = []
        for _ in range(64):
            if busy:
                client("SRANDMEMBER", "s")
            found.append(client("GET", "a") == BOOM)
        return found

    once = fates(7, False)
    assert fates(7, True) == once
    assert fates(8, False) != once
    assert 16 < sum(once) < 48


def test_the_probabilities_nought_and_one_are_never_and_always(server: Server) -> None:
    never, always = (
        Rule(b"never", error(b"NEVER so"), probability=0.0),
        Rule(b"always", error(b"boom"), probability=1.0),
    )
    server.faults.add(never)
    server.faults.add(always)
    client = server.connect()
    assert {client("PING") for _ in range(50)} == {BOOM}
    assert (never.matched, never.hits) == (50, 0)


def test_new_chances_begin_when_the_engine_s_seed_is_set_anew(server: Server) -> None:
    rule = Rule(b"x", error(b"boom"), probability=0.5)
    server.faults.add(rule)
    client = server.connect()

    def fates() -> list[bool]:
        server.engine.random.seed(3)
        server.faults.reseed()
        return [client("PING") == BOOM for _ in range(64)]

    assert fates() == fates()


# -- errors with a scope of their own -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "hit", "spared"),
    [
        (b"READONLY", ["SET", "DEL", "FLUSHALL"], ["GET", "PING", "INFO", "PUBLISH", "MULTI"]),
        (b"LOADING", ["GET", "SET", "PING", "KEYS"], ["AUTH", "HELLO", "INFO", "SELECT", "CONFIG|GET", "MULTI"]),
        (b"OOM", ["SET", "LPUSH"], ["GET", "DEL", "PING"]),
        (b"BUSY", ["GET", "PING"], ["HELLO", "SCRIPT|KILL", "MULTI"]),
        (b"MASTERDOWN", ["GET", "SET"], ["INFO", "HELLO", "SELECT"]),
        (b"NOREPLICAS", ["SET"], ["GET"]),
        (b"NOAUTH", ["GET", "PING"], ["AUTH", "HELLO", "QUIT", "RESET"]),
        (b"NOSCRIPT", ["EVALSHA", "EVALSHA_RO"], ["EVAL", "GET"]),
        (b"UNBLOCKED", ["BLPOP", "XREAD"], ["LPOP"]),
        (b"MOVED", ["GET", "SSUBSCRIBE"], ["PING", "INFO", "KEYS"]),
        (b"TRYAGAIN", ["MGET"], ["PING"]),
    ],
)
def test_an_error_that_redis_knows_hits_what_a_real_server_would_refuse(
    server: Server, preset: bytes, hit: list[str], spared: list[str]
) -> None:
    samples = {"MGET": [b"mget", b"a", b"b"], "SSUBSCRIBE": [b"ssubscribe", b"c"]}
    client = server.engine.clients[ids(server.connect())]
    rule = Rule(b"x", error(preset))
    server.faults.add(rule)
    for names, expected in ((hit, True), (spared, False)):
        for name in names:
            command = server.engine.table.by_full_name[name.lower().encode()]
            argv = samples.get(name, [name.lower().encode(), b"a"])
            assert rule.fits(client, command, argv, command.flags) is expected, name


def test_a_command_that_is_named_is_hit_outside_of_that_scope_too(server: Server) -> None:
    server.faults.add(Rule(b"x", error(b"LOADING"), command=b"info"))
    assert server.connect()("INFO") == Failure("LOADING Redis is loading the dataset in memory")


def test_too_many_clients_closes_as_a_real_server_does(server: Server) -> None:
    server.faults.add(Rule(b"x", error(b"MAXCLIENTS"), times=1))
    client = server.connect()
    assert client("PING") == Failure("ERR max number of clients reached")
    assert client.closed()


def test_a_redirection_names_the_slot_of_the_key_and_the_place_the_client_knows(server: Server) -> None:
    client = server.connect()
    server.faults.add(Rule(b"x", error(b"MOVED"), times=1))
    assert client("GET", "foo") == Failure("MOVED 12182 127.0.0.1:6379")
    server.faults.add(Rule(b"y", error(b"ask"), times=1))
    assert client("GET", "foo") == Failure("ASK 12182 127.0.0.1:6379")
    server.faults.add(Rule(b"z", error(b"MOVED 1 10.0.0.1:7000"), times=1))
    assert client("GET", "foo") == Failure("MOVED 1 10.0.0.1:7000")


# -- transactions and scripts -------------------------------------------------------------------------


def test_an_error_within_a_transaction_breaks_it(server: Server) -> None:
    client = server.connect()
    server.faults.add(Rule(b"x", error(b"READONLY")))
    client("MULTI")
    assert client("SET", "a", "v") == Failure("READONLY You can't write against a read only replica.")
    assert client("GET", "a") == Status("QUEUED")
    assert client("EXEC") == Failure("EXECABORT Transaction discarded because of previous errors.")


def test_exec_itself_can_be_hit_and_the_transaction_is_over_then(server: Server) -> None:
    client = server.connect()
    client("MULTI")
    client("SET", "a", "v")
    server.faults.add(Rule(b"x", error(b"READONLY"), times=1))
    assert client("EXEC") == Failure(
        "EXECABORT Transaction discarded because of: READONLY You can't write against a read only replica."
    )
    assert client("EXEC") == Failure("ERR EXEC without MULTI")
    assert client("EXISTS", "a") == 0


def test_queued_commands_that_passed_run_untouched(server: Server) -> None:
    client = server.connect()
    client("MULTI")
    client("SET", "a", "v")
    rule = Rule(b"x", error(b"boom"), command=b"set")
    server.faults.add(rule)
    assert client("EXEC") == [OK]
    assert rule.matched == 0


def test_a_delay_holds_the_queueing_and_the_transaction_goes_on(server: Server) -> None:
    client = server.connect()
    server.faults.add(Rule(b"x", delay(100), command=b"set"))
    client("MULTI")
    client.send("SET", "a", "v")
    client.send("EXEC")
    assert client.silent()
    client.pass_time(100)
    assert [client.receive(), client.receive()] == [Status("QUEUED"), [OK]]


def test_a_script_s_command_fails_as_a_rule_has_it_and_the_script_can_catch_it(server: Server) -> None:
    client = server.connect()
    server.faults.add(Rule(b"x", error(b"boom"), command=b"incr", skip=1, times=1))
    script = """redis.call('INCR', KEYS[1])
    local ok = redis.pcall('INCR', KEYS[1])
    return {ok.err, redis.call('INCR', KEYS[1])}"""
    assert client("EVAL", script, 1, "a") == [b"ERR boom", 2]


def test_readonly_meets_a_script_at_its_first_write_as_on_a_replica(server: Server) -> None:
    client = server.connect()
    rule = Rule(b"x", error(b"READONLY"))
    server.faults.add(rule)
    reply = client("EVAL", "redis.call('GET', KEYS[1]) return redis.call('SET', KEYS[1], 'v')", 1, "a")
    assert reply.startswith(b"READONLY You can't write against a read only replica.")
    assert (rule.matched, rule.hits) == (1, 1)
    server.faults.clear()
    assert client("EXISTS", "a") == 0


def test_a_script_knows_nothing_of_the_other_actions_nor_of_rules_for_requests(server: Server) -> None:
    client = server.connect()
    stop = Rule(b"stop", hang(), command=b"set")
    every = Rule(b"every", error(b"boom"), skip=1)
    server.faults.add(stop)
    server.faults.add(every)
    assert client("EVAL", "return redis.call('SET', KEYS[1], 'v')", 1, "a") == OK
    assert (stop.matched, every.matched) == (0, 1)


# -- waiting ------------------------------------------------------------------------------------------


def test_a_delayed_request_runs_when_its_time_has_come_and_the_next_ones_wait_for_it(server: Server) -> None:
    client, other = server.connect(), server.connect()
    server.faults.add(Rule(b"x", delay(1000), command=b"set", times=1))
    client.send("SET", "a", "v")
    client.send("APPEND", "a", "w")
    assert client.silent()
    assert other("EXISTS", "a") == 0
    client.pass_time(999)
    assert client.silent()
    client.pass_time(1)
    assert [client.receive(), client.receive()] == [OK, 2]


def test_a_pipeline_keeps_its_order_around_a_delay(server: Server) -> None:
    client = server.connect()
    server.faults.add(Rule(b"x", delay(10), command=b"incrby"))
    client.send_bytes(b"INCR a\r\nINCRBY a 10\r\nINCR a\r\nINCRBY a 10\r\nINCR a\r\n")
    assert client.receive() == 1
    assert client.silent()
    client.pass_time(10)
    assert [client.receive(), client.receive()] == [11, 12]
    assert client.silent()
    client.pass_time(10)
    assert [client.receive(), client.receive()] == [22, 23]


def test_a_reply_can_be_delayed_when_the_command_has_run(server: Server) -> None:
    client, other = server.connect(), server.connect()
    server.faults.add(Rule(b"x", delay(1000, after=True), command=b"set"))
    client.send("SET", "a", "v")
    client.send("GET", "a")
    assert other("GET", "a") == b"v"
    assert client.silent()
    client.pass_time(1000)
    assert [client.receive(), client.receive()] == [OK, b"v"]


def test_a_connection_that_says_goodbye_gets_its_late_answer_first(server: Server) -> None:
    client = server.connect()
    server.faults.add(Rule(b"x", delay(1000, after=True), command=b"quit"))
    client.send("QUIT")
    assert client.silent()
    client.pass_time(1000)
    assert client.receive() == OK
    assert client.closed()


def test_a_request_that_hangs_runs_when_its_rule_is_removed(server: Server) -> None:
    client, other = server.connect(), server.connect()
    rule = Rule(b"x", hang(), command=b"set", times=1)
    server.faults.add(rule)
    client.send("SET", "a", "v")
    client.send("PING")
    client.pass_time(10**9)
    assert client.silent()
    assert other("EXISTS", "a") == 0
    assert server.faults.holding(rule) == 1
    server.faults.remove(b"x")
    server.settle()
    assert [client.receive(), client.receive()] == [OK, Status("PONG")]


def test_the_end_of_a_rule_ends_its_delays_and_their_timers(server: Server) -> None:
    client = server.connect()
    server.faults.add(Rule(b"x", delay(1000)))
    client.send("PING")
    server.faults.clear()
    server.settle()
    assert client.receive() == Status("PONG")
    assert server.engine.next_deadline() is None


@pytest.mark.parametrize("action", [delay(1000), delay(1000, after=True), hang()])
def test_a_client_that_goes_leaves_nothing_behind_and_its_request_never_runs(server: Server, action: Action) -> None:
    other = server.connect()
    rule = Rule(b"x", action, command=b"incr")
    server.faults.add(rule)
    for goodbye in ("killed", "gone"):
        client = server.connect()
        number = ids(client)
        client.send("INCR", "a")
        client.send("INCR", "b")
        assert server.faults.holding(rule) == 1
        if goodbye == "killed":
            assert other("CLIENT", "KILL", "ID", number) == 1
        else:
            server.engine.disconnect(server.engine.clients[number])
        assert server.faults.holding(rule) == 0
        assert server.engine.next_deadline() is None
    other.pass_time(5000)
    assert other("EXISTS", "b") == 0
    assert (other("GET", "a") or b"0") == (b"2" if rule.action.after else b"0")
    assert server.engine.resumed == type(server.engine.resumed)()


def test_a_request_that_may_no_longer_run_after_its_delay_is_refused(server: Server) -> None:
    client, other = server.connect(), server.connect()
    rule = Rule(b"x", delay(1000), command=b"set")
    server.faults.add(rule)
    client.send("SET", "a", "v")
    other("REPLICAOF", "127.0.0.1", "1")
    client.pass_time(1000)
    assert client.receive() == Failure("READONLY You can't write against a read only replica.")
    other("REPLICAOF", "NO", "ONE")
    client.send("SET", "a", "v")
    assert client.silent()
    assert rule.hits == 2


def test_a_pause_comes_before_a_fault_and_counts_once(server: Server) -> None:
    client, other = server.connect(), server.connect()
    rule = Rule(b"x", delay(1000), command=b"set")
    server.faults.add(rule)
    other("CLIENT", "PAUSE", 500, "WRITE")
    client.send("SET", "a", "v")
    assert rule.matched == 0
    client.pass_time(500)
    assert client.silent()
    other("CLIENT", "PAUSE", 2000, "WRITE")
    client.pass_time(1000)
    assert client.silent()
    client.pass_time(1000)
    assert client.receive() == OK
    assert (rule.matched, rule.hits) == (1, 1)


# -- connections that end -----------------------------------------------------------------------------


def test_dropped_before_nothing_has_run_and_earlier_replies_arrive(server: Server) -> None:
    client, other = server.connect(), server.connect()
    server.faults.add(Rule(b"x", drop(), command=b"incr"))
    client.send_bytes(b"SET a 1\r\nINCR a\r\nSET a 9\r\n")
    assert client.receive() == OK
    assert client.closed()
    assert other("GET", "a") == b"1"


def test_dropped_after_the_command_has_run_but_nobody_hears_of_it(server: Server) -> None:
    client, other = server.connect(), server.connect()
    server.faults.add(Rule(b"x", drop(after=True), command=b"incr"))
    client.send_bytes(b"SET a 1\r\nINCR a\r\nSET a 9\r\n")
    assert client.receive() == OK
    with pytest.raises(EOFError):
        client.receive()
    assert other("GET", "a") == b"2"


@pytest.mark.parametrize("size", [0, 1, 5, 9, 100])
def test_a_reply_is_cut_to_its_first_bytes(server: Server, size: int) -> None:
    client = server.connect()
    client("SET", "a", "hello")
    server.faults.add(Rule(b"x", cut(size), command=b"get"))
    client.send_bytes(b"PING\r\nGET a\r\n")
    pipe = client._pipe
    assert pipe.receive(1) == b"+PONG\r\n" + b"$5\r\nhello\r\n"[:size]
    assert pipe.receive(1) == b""


def test_a_push_is_no_reply_and_is_not_cut(server: Server) -> None:
    client = Redis(server.target, 3)
    other = server.connect()
    client("CLIENT", "TRACKING", "ON")
    client("GET", "a")
    server.faults.add(Rule(b"x", delay(1000, after=True), command=b"ping"))
    client.send("PING")
    other("SET", "a", "v")
    assert client.receive() == [b"invalidate", [b"a"]]
    assert client.silent()
    client.pass_time(1000)
    assert client.receive() == Status("PONG")


def test_a_blocking_command_meets_its_fault_when_its_wait_ends(server: Server) -> None:
    client, other = server.connect(), server.connect()
    rule = Rule(b"x", cut(3), command=b"blpop")
    server.faults.add(rule)
    client.send("BLPOP", "q", 0)
    assert client.silent()
    other("RPUSH", "q", "item")
    assert client._pipe.receive(1) == b"*2\r"
    assert client.closed()
    assert other("LLEN", "q") == 0


def test_a_wait_whose_rule_has_been_removed_ends_well(server: Server) -> None:
    client, other = server.connect(), server.connect()
    server.faults.add(Rule(b"x", drop(after=True), command=b"blpop"))
    client.send("BLPOP", "q", 0)
    server.faults.remove(b"x")
    other("RPUSH", "q", "item")
    assert client.receive() == [b"q", b"item"]


def test_a_delayed_wait_begins_after_the_delay(server: Server) -> None:
    client, other = server.connect(), server.connect()
    server.faults.add(Rule(b"x", delay(1000), command=b"blpop"))
    client.send("BLPOP", "q", 1)
    client.pass_time(1000)
    assert b"blocked_clients:1" in other("INFO", "clients")
    client.pass_time(999)
    assert client.silent()
    client.pass_time(1)
    assert client.receive() is None


def test_a_client_that_wants_no_replies_loses_none_of_its_earlier_ones(server: Server) -> None:
    client = server.connect()
    server.faults.add(Rule(b"x", cut(0), command=b"set"))
    client.send_bytes(b"PING\r\nCLIENT REPLY OFF\r\nSET a v\r\n")
    assert client._pipe.receive(1) == b"+PONG\r\n"
    assert client.closed()


# -- the door -----------------------------------------------------------------------------------------


def test_a_new_connection_that_is_delayed_answers_late(server: Server) -> None:
    server.faults.connect(Door(DELAYED, 500, times=1))
    client = server.connect()
    assert server.faults.at_door() == DELAYED
    server.faults.delay_new(next(iter(server.engine.clients.values())))
    client.send("PING")
    assert client.silent()
    client.pass_time(500)
    assert client.receive() == Status("PONG")
    assert server.faults.at_door() == 0


# -- bad arguments ------------------------------------------------------------------------------------


def test_bad_arguments_say_what_to_write_instead(server: Server) -> None:
    for make, words in (
        (lambda: Rule(b"", hang()), b"not empty"),
        (lambda: Rule(b"x", hang(), skip=-1), b"0 or more"),
        (lambda: Rule(b"x", hang(), times=0), b"leave it out"),
        (lambda: Rule(b"x", hang(), probability=1.5), b"from 0 to 1"),
        (lambda: Rule(b"x", hang(), probability=float("nan")), b"from 0 to 1"),
        (lambda: delay(0), b"HANG"),
        (lambda: cut(-1), b"0 or more"),
        (lambda: error(b"LODING"), b"LOADING"),
        (lambda: error(b" "), b"LOADING"),
        (lambda: Door(DELAYED, 0), b"1 to"),
        (lambda: server.faults.add(Rule(b"x", hang(), command=b"gett")), b"CONFIG|SET"),
        (lambda: server.faults.add(Rule(b"x", hang(), command=b"redouble*")), b"CONFIG|SET"),
    ):
        with pytest.raises(CommandError) as caught:
            make()
        assert caught.value.text.startswith(b"ERR ")
        assert words in caught.value.text
    assert server.faults.rules() == []


def test_a_name_that_is_taken_is_refused_and_the_old_rule_stays(server: Server) -> None:
    old = Rule(b"x", error(b"boom"))
    server.faults.add(old)
    with pytest.raises(CommandError, match="remove it first"):
        server.faults.add(Rule(b"x", hang()))
    assert server.faults.rules() == [old]


def test_a_text_without_a_code_gets_one(server: Server) -> None:
    client = server.connect()
    for text, shown in ((b"try later", b"ERR try later"), (b"TRYLATER please", b"TRYLATER please"), (b"no", b"ERR no")):
        server.faults.add(Rule(b"x", error(text), times=1))
        assert client("PING") == Failure(shown)
        server.faults.clear()
