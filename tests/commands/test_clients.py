"""CLIENT: names, lines, killing, unblocking, pausing, replies."""

import re

import pytest

from tests.kit import Failure, Redis, Status

OK = Status("OK")
SYNTAX = Failure("ERR syntax error")


def _fields(line: bytes) -> dict[bytes, bytes]:
    return dict(re.findall(rb"([a-z-]+)=(\S*)", line))


def test_a_name_holds_no_spaces(redis: Redis) -> None:
    assert redis("CLIENT", "GETNAME") is None
    assert redis("CLIENT", "SETNAME", "worker:1") == OK
    assert redis("CLIENT", "GETNAME") == b"worker:1"
    for bad in ("a b", "a\nb", "caf\u00e9", "\x7f"):
        assert redis("CLIENT", "SETNAME", bad) == Failure(
            "ERR Client names cannot contain spaces, newlines or special characters."
        )
    assert redis("CLIENT", "SETNAME", "") == OK
    assert redis("CLIENT", "GETNAME") is None


@pytest.mark.since("7.2.0")
def test_the_library_s_name_is_noted(redis: Redis) -> None:
    assert redis("CLIENT", "SETINFO", "lib-name", "redis-py") == OK
    assert redis("CLIENT", "SETINFO", "LIB-VER", "6.0") == OK
    line = redis("CLIENT", "INFO")
    assert b" lib-name=redis-py lib-ver=6.0\n" in line
    assert redis("CLIENT", "SETINFO", "lib-foo", "x") == Failure("ERR Unrecognized option 'lib-foo'")
    assert redis("CLIENT", "SETINFO", "lib-name", "a b") == Failure(
        "ERR lib-name cannot contain spaces, newlines or special characters."
    )


def test_a_client_s_line_tells_its_state(redis: Redis) -> None:
    redis("SELECT", 4)
    redis("CLIENT", "SETNAME", "me")
    fields = _fields(redis("CLIENT", "INFO"))
    assert int(fields[b"id"]) == redis("CLIENT", "ID")
    assert fields[b"name"] == b"me"
    assert fields[b"db"] == b"4"
    assert fields[b"flags"] == b"N"
    assert fields[b"multi"] == b"-1"
    assert fields[b"cmd"] == b"client|info"
    assert fields[b"user"] == b"default"
    assert fields[b"redir"] == b"-1"
    assert fields[b"qbuf"] == b"26"
    assert fields[b"argv-mem"] == b"10"
    assert re.fullmatch(rb"127\.0\.0\.1:\d+", fields[b"addr"])
    assert re.fullmatch(rb"127\.0\.0\.1:\d+", fields[b"laddr"])


def test_the_fields_stand_in_redis_order(redis: Redis) -> None:
    names = [name.partition(b"=")[0] for name in redis("CLIENT", "INFO").split()]
    known = [
        b"id addr laddr fd name age idle flags db sub psub ssub multi watch qbuf qbuf-free argv-mem multi-mem rbs rbp",
        b"obl oll omem tot-mem events cmd user redir resp lib-name lib-ver",
    ]
    order = b" ".join(known).split()
    assert names == [name for name in order if name in names]
    assert not set(order) - set(names) - {b"watch", b"lib-name", b"lib-ver"}


def test_flags_show_transactions_subscribers_and_waiters(redis: Redis) -> None:
    for letter, command in ((b"x", ["MULTI"]), (b"b", ["BLPOP", "none", "0"]), (b"P", ["SUBSCRIBE", "ch"])):
        other = redis.another()
        number = other("CLIENT", "ID")
        other.send(*command)
        redis.wait_until(lambda n=number, flag=letter: flag in _fields(redis("CLIENT", "LIST", "ID", n))[b"flags"])


def test_list_filters_by_type_and_id(redis: Redis) -> None:
    other = redis.another()
    other("SUBSCRIBE", "ch")
    assert b"sub=1" in redis("CLIENT", "LIST", "TYPE", "PUBSUB")
    mine = redis("CLIENT", "ID")
    assert redis("CLIENT", "LIST", "ID", mine, 999999).startswith(b"id=%d " % mine)
    assert redis("CLIENT", "LIST", "TYPE", "replica") == b""
    assert redis("CLIENT", "LIST", "TYPE", "foo") == Failure("ERR Unknown client type 'foo'")
    assert redis("CLIENT", "LIST", "ID", "x") == Failure("ERR Invalid client ID")
    assert redis("CLIENT", "LIST", "ID") == SYNTAX
    assert redis("CLIENT", "LIST", "foo", "bar") == SYNTAX


def test_kill_takes_an_address_or_filters(redis: Redis) -> None:
    victim = redis.another()
    address = _fields(victim("CLIENT", "INFO"))[b"addr"]
    assert redis("CLIENT", "KILL", address) == OK
    assert victim.closed()
    assert redis("CLIENT", "KILL", "1.2.3.4:5") == Failure("ERR No such client")
    victim = redis.another()
    assert redis("CLIENT", "KILL", "ID", victim("CLIENT", "ID"), "TYPE", "pubsub") == 0
    assert redis("CLIENT", "KILL", "ID", victim("CLIENT", "ID"), "TYPE", "normal", "USER", "default") == 1
    assert victim.closed()


def test_kill_spares_oneself_unless_asked(redis: Redis) -> None:
    other = redis.another()
    mine = other("CLIENT", "ID")
    assert other("CLIENT", "KILL", "ID", mine) == 0
    assert other("CLIENT", "KILL", "ID", mine, "SKIPME", "no") == 1
    assert other.closed()


def test_killing_oneself_in_a_transaction_still_answers(redis: Redis) -> None:
    other = redis.another()
    mine = other("CLIENT", "ID")
    other("MULTI")
    other("PING")
    other("CLIENT", "KILL", "ID", mine, "SKIPME", "no")
    assert other("EXEC") == [Status("PONG"), 1]
    assert other.closed()


def test_kill_refuses_bad_filters(redis: Redis) -> None:
    assert redis("CLIENT", "KILL", "ID", 0) == Failure("ERR client-id should be greater than 0")
    assert redis("CLIENT", "KILL", "ID", "x") == Failure("ERR client-id should be greater than 0")
    assert redis("CLIENT", "KILL", "TYPE", "x") == Failure("ERR Unknown client type 'x'")
    assert redis("CLIENT", "KILL", "USER", "x") == Failure("ERR No such user 'x'")
    assert redis("CLIENT", "KILL", "SKIPME", "x") == SYNTAX
    assert redis("CLIENT", "KILL", "ID", 1, "TYPE") == SYNTAX
    assert redis("CLIENT", "KILL") == Failure("ERR wrong number of arguments for 'client|kill' command")


@pytest.mark.since("7.4.0")
def test_kill_by_age(redis: Redis) -> None:
    victim = redis.another()
    victim("PING")
    assert redis("CLIENT", "KILL", "MAXAGE", 5) == 0
    assert redis("CLIENT", "KILL", "MAXAGE", 0) == Failure("ERR maxage should be greater than 0")
    redis.pass_time(6000)
    assert redis("CLIENT", "KILL", "MAXAGE", 5) == 1
    assert victim.closed()


def test_a_killed_waiter_takes_no_element(redis: Redis) -> None:
    waiter = redis.another()
    number = waiter("CLIENT", "ID")
    waiter.send("BLPOP", "list", 0)
    redis.wait_blocked(1)
    redis("CLIENT", "KILL", "ID", number)
    assert waiter.closed()
    redis.wait_blocked(0)
    redis("RPUSH", "list", "a")
    assert redis("LLEN", "list") == 1


def test_unblock_ends_a_wait_by_time_out_or_error(redis: Redis) -> None:
    waiter = redis.another()
    number = waiter("CLIENT", "ID")
    assert redis("CLIENT", "UNBLOCK", number) == 0
    waiter.send("BLPOP", "list", 0)
    redis.wait_blocked(1)
    assert redis("CLIENT", "UNBLOCK", number) == 1
    assert waiter.receive() is None
    waiter.send("BLPOP", "list", 0)
    redis.wait_blocked(1)
    assert redis("CLIENT", "UNBLOCK", number, "ERROR") == 1
    assert waiter.receive() == Failure("UNBLOCKED client unblocked via CLIENT UNBLOCK")
    assert redis("CLIENT", "UNBLOCK", 999999) == 0
    assert redis("CLIENT", "UNBLOCK", number, "foo") == Failure("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")


def test_reply_off_silences_and_on_answers(redis: Redis) -> None:
    other = redis.another()
    other.send("CLIENT", "REPLY", "OFF")
    other.send("SET", "k", 1)
    other.send("CLIENT", "REPLY", "SKIP")
    other.send("CLIENT", "REPLY", "ON")
    assert other.receive() == OK
    assert other("GET", "k") == b"1"
    assert other("CLIENT", "REPLY", "foo") == SYNTAX


def test_reply_skip_silences_the_next_command_only(redis: Redis) -> None:
    other = redis.another()
    other.send("CLIENT", "REPLY", "SKIP")
    other.send("SET", "k", 1)
    other.send("GET", "k")
    assert other.receive() == b"1"


def test_reply_skip_ends_with_a_refused_command_too(redis: Redis) -> None:
    other = redis.another()
    other.send("CLIENT", "REPLY", "SKIP")
    other.send("NOSUCH")
    other.send("PING")
    assert other.receive() == Status("PONG")


def test_pause_write_holds_writes_until_unpause(redis: Redis) -> None:
    writer = redis.another()
    assert redis("CLIENT", "PAUSE", 100000, "WRITE") == OK
    writer.send("SET", "k", 1)
    redis.wait_blocked(1)
    assert redis("GET", "k") is None
    assert redis("CLIENT", "UNPAUSE") == OK
    assert writer.receive() == OK
    assert redis("GET", "k") == b"1"


def test_pause_all_ends_when_its_time_is_up(redis: Redis) -> None:
    other = redis.another()
    assert redis("CLIENT", "PAUSE", 30) == OK
    other.send("PING")
    assert other.silent(0.005)
    redis.pass_time(40)
    assert other.receive() == Status("PONG")


def test_what_a_pipeline_brought_after_a_paused_command_keeps_its_order(redis: Redis) -> None:
    writer = redis.another()
    redis("CLIENT", "PAUSE", 100000, "WRITE")
    writer.send_bytes(b"GET k\r\nSET k 1\r\nGET k\r\nSET k 2\r\n")
    redis.wait_blocked(1)
    writer.send("GET", "k")
    assert writer.receive() is None
    redis("CLIENT", "UNPAUSE")
    assert [writer.receive() for _ in range(4)] == [OK, b"1", OK, b"2"]


def test_a_publish_waits_while_writes_are_paused(redis: Redis) -> None:
    other = redis.another()
    redis("CLIENT", "PAUSE", 100000, "WRITE")
    other.send("PUBLISH", "ch", "x")
    redis.wait_blocked(1)
    redis("CLIENT", "UNPAUSE")
    assert other.receive() == 0


def test_a_transaction_that_writes_waits_as_a_whole(redis: Redis) -> None:
    other = redis.another()
    other("MULTI")
    other("SET", "k", 1)
    redis("CLIENT", "PAUSE", 100000, "WRITE")
    other.send("EXEC")
    redis.wait_blocked(1)
    redis("CLIENT", "UNPAUSE")
    assert other.receive() == [OK]


def test_pause_refuses_bad_arguments(redis: Redis) -> None:
    assert redis("CLIENT", "PAUSE", -1) == Failure("ERR timeout is negative")
    assert redis("CLIENT", "PAUSE", "x") == Failure("ERR timeout is not an integer or out of range")
    assert redis("CLIENT", "PAUSE", 1, "foo") == Failure("ERR CLIENT PAUSE mode must be WRITE or ALL")
    assert redis("CLIENT", "PAUSE", 1, "ALL", "x") == Failure(
        "ERR unknown subcommand or wrong number of arguments for 'PAUSE'. Try CLIENT HELP."
    )


def test_an_unknown_sub_command_points_to_help(redis: Redis) -> None:
    assert redis("CLIENT", "foo") == Failure("ERR unknown subcommand 'foo'. Try CLIENT HELP.")
    lines = redis("CLIENT", "HELP")
    assert lines[0] == Status("CLIENT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
    assert lines[-2] == Status("HELP")


@pytest.mark.since("7.2.0")
def test_no_touch_leaves_the_idle_time_alone(redis: Redis) -> None:
    redis("SET", "k", 1)
    redis.pass_time(5000)
    assert redis("CLIENT", "NO-TOUCH", "ON") == OK
    redis("GET", "k")
    assert redis("OBJECT", "IDLETIME", "k") in (5, 6)
    redis("TOUCH", "k")
    assert redis("OBJECT", "IDLETIME", "k") == 0
    redis.pass_time(5000)
    assert redis("CLIENT", "NO-TOUCH", "OFF") == OK
    redis("GET", "k")
    assert redis("OBJECT", "IDLETIME", "k") == 0
    assert redis("CLIENT", "NO-TOUCH", "x") == SYNTAX


def test_monitor_shows_commands_and_hides_passwords(redis: Redis) -> None:
    watcher = redis.another(2)
    assert watcher("MONITOR") == OK
    redis("SELECT", 2)
    redis("SET", "k", 'a"\n\x01')
    redis("AUTH", "default", "secret")
    redis("MULTI")
    redis("GET", "k")
    redis("EXEC")
    lines = [bytes(watcher.receive()) for _ in range(6)]
    shown = [re.sub(rb"^\d+\.\d{6} \[(\d+) 127\.0\.0\.1:\d+\] ", rb"[\1] ", line) for line in lines]
    assert shown == [
        b'[2] "SELECT" "2"',
        b'[2] "SET" "k" "a\\"\\n\\x01"',
        b'[2] "AUTH" "(redacted)" "(redacted)"',
        b'[2] "MULTI"',
        b'[2] "GET" "k"',
        b'[2] "EXEC"',
    ]


def test_a_monitor_that_wants_no_replies_sees_nothing(redis: Redis) -> None:
    monitor = redis.another()
    monitor("MONITOR")
    monitor.send("CLIENT", "REPLY", "OFF")
    redis("PING")
    monitor.send("CLIENT", "REPLY", "ON")
    assert monitor.receive() == OK
    redis("PING", "again")
    lines = [monitor.receive() for _ in range(2)]
    assert lines[0].endswith(b'"CLIENT" "REPLY" "ON"')
    assert lines[1].endswith(b'"PING" "again"')


def test_a_monitor_leaves_the_keys_alone(redis: Redis) -> None:
    redis("MONITOR")
    forbidden = (["GET", "a"], ["SET", "a", 1], ["EVAL", "return 1", 0], ["PUBLISH", "c", "m"])
    for command in forbidden:
        assert redis(*command) == Failure("ERR Replica can't interact with the keyspace")
    redis("RESET")
    assert redis("GET", "a") is None


def test_monitor_shows_a_script_before_its_commands(redis: Redis) -> None:
    watcher = redis.another(2)
    watcher("MONITOR")
    redis("EVAL", "return redis.call('set', KEYS[1], ARGV[1])", 1, "k", "v")
    assert b'"EVAL"' in watcher.receive()
    assert b'[0 lua] "set" "k" "v"' in watcher.receive()
