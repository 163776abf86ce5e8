"""CONFIG."""

from __future__ import annotations

import pytest

from tests.kit import Failure, Redis, Status


def failed(name: str, reason: str) -> Failure:
    return Failure(f"ERR CONFIG SET failed (possibly related to argument '{name}') - {reason}")


def test_get_answers_names_and_values_of_several_patterns_without_repeating(redis: Redis) -> None:
    reply = redis.pairs("CONFIG", "GET", "maxmemory", "maxmemory-sa*", "maxmem?ry", "nothing-such")
    assert sorted(reply) == [(b"maxmemory", b"0"), (b"maxmemory-samples", b"5")]


def test_get_finds_names_in_any_case_and_shows_them_as_asked(redis: Redis) -> None:
    assert redis("CONFIG", "GET", "MaxMemory") == [b"MaxMemory", b"0"]
    assert redis("CONFIG", "GET", "MAXMEMORY-SA*") == [b"maxmemory-samples", b"5"]


def test_set_changes_several_at_once(redis: Redis) -> None:
    redis.config("maxmemory-samples", 5)
    redis.config("lfu-log-factor", 10)
    assert redis("CONFIG", "SET", "maxmemory-samples", 6, "LFU-LOG-FACTOR", 11) == Status("OK")
    assert redis("CONFIG", "GET", "maxmemory-samples", "lfu-log-factor")[1::2] in ([b"6", b"11"], [b"11", b"6"])


def test_set_changes_all_or_none(redis: Redis) -> None:
    assert redis("CONFIG", "SET", "maxmemory-samples", 7, "lfu-log-factor", "x") == failed(
        "lfu-log-factor", "argument couldn't be parsed into an integer"
    )
    assert redis("CONFIG", "GET", "maxmemory-samples") == [b"maxmemory-samples", b"5"]


def test_set_needs_pairs(redis: Redis) -> None:
    assert redis("CONFIG", "SET", "maxmemory-samples") == Failure(
        "ERR wrong number of arguments for 'config|set' command"
    )
    assert redis("CONFIG", "SET", "maxmemory-samples", 1, "hz") == Failure("ERR syntax error")


def test_an_unknown_parameter_is_refused_before_anything_else(redis: Redis) -> None:
    expected = Failure("ERR Unknown option or number of arguments for CONFIG SET - 'Nothing-Such'")
    assert redis("CONFIG", "SET", "Nothing-Such", 1) == expected
    assert redis("CONFIG", "SET", "maxmemory-samples", "x", "Nothing-Such", 1) == expected


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("databases", "3", "can't set immutable config"),
        ("Databases", "3", "can't set immutable config"),
        ("dbfilename", "a.rdb", "can't set protected config"),
        ("dir", "/tmp", "can't set protected config"),
        ("maxmemory", "1x", "argument must be a memory value"),
        ("maxmemory", "-1", "argument must be a memory value"),
        ("maxmemory-clients", "101%", "percentage argument must be less or equal to 100"),
        ("maxmemory-clients", "x", "argument must be a memory or percent value"),
        ("active-defrag-cycle-min", "100", "argument must be between 1 and 99 inclusive"),
        ("maxmemory-samples", "1.5", "argument couldn't be parsed into an integer"),
        ("appendfsync", "never", "argument(s) must be one of the following: everysec, always, no"),
        ("activerehashing", "1", "argument must be 'yes' or 'no'"),
        ("notify-keyspace-events", "KEq", "Invalid event class character. Use 'Ag$lshzxeKEtmdn'."),
        ("save", "60", "Invalid save parameters"),
        ("save", "0 1", "Invalid save parameters"),
        ("save", "60  1", "Invalid save parameters"),
        ("client-output-buffer-limit", "normal 1 2", "Wrong number of arguments in buffer limit configuration."),
        (
            "client-output-buffer-limit", "guest 1 2 3",
            "Invalid client class specified in buffer limit configuration.",
        ),
        (
            "client-output-buffer-limit", "normal 1 2x 3",
            "Error in hard, soft or soft_seconds setting in buffer limit configuration.",
        ),
        ("latency-tracking-info-percentiles", "50 x", "Invalid latency-tracking-info-percentiles parameters"),
        (
            "latency-tracking-info-percentiles", "101",
            "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]",
        ),
        ("oom-score-adj-values", "1 2", "wrong number of arguments"),
        (
            "oom-score-adj-values", "0 1 3000",
            "Invalid oom-score-adj-values, elements must be between -2000 and 2000.",
        ),
        (
            "shutdown-on-sigterm", "save nosave",
            "shutdown options SAVE and NOSAVE can't be used simultaneously",
        ),
        ("shutdown-on-sigterm", "", "argument(s) must be one of the following: default, save, nosave, now, force"),
        ("cluster-announce-hostname", "a b", "Hostnames may only contain alphanumeric characters, hyphens or dots"),
        ("port", "65536", "argument must be between 0 and 65535 inclusive"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_refused_with_the_reason(redis: Redis, name: str, value: str, reason: str) -> None:
    assert redis("CONFIG", "SET", name, value) == failed(name, reason)


def test_a_parameter_named_twice_is_refused(redis: Redis) -> None:
    assert redis("CONFIG", "SET", "hz", 10, "HZ", 11) == failed("HZ", "duplicate parameter")


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("maxmemory", "100mb", "104857600"),
        ("maxmemory", "1GB", "1073741824"),
        ("maxmemory", "100m", "100000000"),
        ("maxmemory", "200000000b", "200000000"),
        ("maxmemory-clients", "50%", "50%"),
        ("maxmemory-clients", "1k", "1000"),
        ("maxmemory", "99999999999999999999", "18446744073709551615"),
        ("repl-backlog-size", "1k", "16384"),
        ("repl-backlog-size", "1mb", "1048576"),
        ("hz", "100000", "500"),
        ("hz", "0", "1"),
        ("notify-keyspace-events", "g$lshzxetdKE", "AKE"),
        ("notify-keyspace-events", "EKx", "xKE"),
        ("notify-keyspace-events", "EKxn", "xnKE"),
        ("notify-keyspace-events", "AmEn", "AEm"),
        ("save", "60 1 +5 02", "60 1 5 2"),
        ("save", "", ""),
        (
            "client-output-buffer-limit", "pubsub 1mb 0 0",
            "normal 0 0 0 slave 268435456 67108864 60 pubsub 1048576 0 0",
        ),
        ("latency-tracking-info-percentiles", "50.000 99.90 0", "50 99.9 0"),
        ("latency-tracking-info-percentiles", "", ""),
        ("shutdown-on-sigterm", "force NOW", "now force"),
        ("oom-score-adj", "relative", "yes"),
        ("list-max-ziplist-size", "-5", "-5"),
        ("appendfsync", "ALWAYS", "always"),
    ],
)  # fmt: skip
def test_a_value_is_shown_in_its_plain_form(redis: Redis, name: str, value: str, shown: str) -> None:
    if name == "oom-score-adj" and redis.real:
        pytest.skip("would change the process")
    redis.config(name, value)
    assert redis("CONFIG", "GET", name)[1] == shown.encode()


def test_an_alias_is_the_same_parameter(redis: Redis) -> None:
    redis.config("hash-max-ziplist-entries", 3)
    assert redis("CONFIG", "GET", "hash-max-listpack-entries")[1] == b"3"
    for field in range(4):
        redis("HSET", "h", field, field)
    assert redis("OBJECT", "ENCODING", "h") == b"hashtable"


def test_events_are_published_once_they_are_switched_on(redis: Redis) -> None:
    listener = redis.another()
    listener("PSUBSCRIBE", "__key*")
    redis("SET", "k", "1")
    redis.config("notify-keyspace-events", "K$")
    redis("SET", "k", "2")
    assert listener.receive()[2:] == [b"__keyspace@0__:k", b"set"]


def test_the_longest_argument_follows_the_configuration_for_those_who_are_there(redis: Redis) -> None:
    redis.config("proto-max-bulk-len", 1024 * 1024)
    redis.send_bytes(b"*2\r\n$4\r\nPING\r\n$2000000\r\n")
    assert redis.receive() == Failure("ERR Protocol error: invalid bulk length")


@pytest.mark.only("engine", "resp2", "resp3")
def test_every_parameter_of_a_real_server_is_listed(redis: Redis) -> None:
    listed = dict(redis.pairs("CONFIG", "GET", "*"))
    assert len(listed) > 190
    for name in ("maxmemory-policy", "save", "appendonly", "slaveof", "tls-port", "slowlog-max-len", "io-threads"):
        assert name.encode() in listed
    assert b"watchdog-period" not in listed
    assert redis("CONFIG", "GET", "watchdog-period") == [b"watchdog-period", b"0"]


def test_defaults_are_those_of_the_real_server(redis: Redis) -> None:
    own = ("dir", "port", "bind", "save", "enable-debug-command", "pidfile", "logfile")
    shown = {name: value for name, value in redis.pairs("CONFIG", "GET", "*") if name.decode() not in own}
    for name, value in {
        b"maxmemory": b"0", b"maxmemory-policy": b"noeviction", b"timeout": b"0", b"tcp-keepalive": b"300",
        b"list-max-listpack-size": b"-2", b"stream-node-max-bytes": b"4096", b"slowlog-log-slower-than": b"10000",
        b"client-query-buffer-limit": b"1073741824", b"proto-max-bulk-len": b"536870912", b"maxclients": b"10000",
        b"repl-diskless-sync": b"yes", b"acl-pubsub-default": b"resetchannels", b"unixsocketperm": b"0",
        b"client-output-buffer-limit": b"normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60",
    }.items():  # fmt: skip
        assert shown[name] == value, name


def test_resetstat_clears_the_counters(redis: Redis) -> None:
    redis("SET", "k", "1")
    redis("GET", "k")
    redis("GET", "none")
    redis("NONSENSE")
    assert redis("CONFIG", "RESETSTAT") == Status("OK")
    text = redis("INFO", "stats", "commandstats", "errorstats")
    assert b"keyspace_hits:0\r\nkeyspace_misses:0\r\n" in text
    assert b"total_error_replies:0" in text
    assert b"errorstat" not in text
    assert b"cmdstat_set" not in text
    assert b"cmdstat_config|resetstat:calls=1," in text


def test_rewrite_needs_a_file(redis: Redis) -> None:
    assert redis("CONFIG", "REWRITE") == Failure("ERR The server is running without a config file")


def test_help_lists_the_sub_commands(redis: Redis) -> None:
    lines = redis("CONFIG", "HELP")
    assert lines[0] == Status("CONFIG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
    assert any(line.startswith(b"GET") for line in lines)
    assert redis("CONFIG", "NONSENSE") == Failure("ERR unknown subcommand 'NONSENSE'. Try CONFIG HELP.")


@pytest.mark.parametrize(
    ("letter", "expected"),
    [
        ("g", ["del s"]), ("$", ["set s", "set e"]), ("l", ["rpush l"]), ("s", ["sadd a"]), ("h", ["hset h"]),
        ("z", ["zadd z"]),
        ("t", ["xadd x"]), ("m", ["keymiss none"]),
        ("n", ["new s", "new l", "new a", "new h", "new z", "new x", "new e"]),
        ("x", ["expired e"]), ("e", ["evicted l"]), ("d", []),
    ],
)  # fmt: skip
def test_each_class_lets_its_own_events_through(redis: Redis, letter: str, expected: list[str]) -> None:
    listener = redis.another(2)
    redis.config("maxmemory-policy", "allkeys-random")
    redis.config("notify-keyspace-events", "E" + letter)
    listener("PSUBSCRIBE", "__key*__:*")
    for command in (
        "SET s 1", "RPUSH l 1", "SADD a 1", "HSET h f 1", "ZADD z 1 a", "XADD x 1-1 f v", "GET none", "DEL s",
        "SET e 1",
    ):  # fmt: skip
        redis(*command.split())
    if letter == "x":
        redis("PEXPIRE", "e", 20)
        redis.pass_time(300)
    if letter == "e":
        redis("DEL", "a", "h", "z", "x", "e")
        redis.config("maxmemory", 1)
    heard = []
    while True:
        try:
            _, _, channel, key = listener.receive(0.2)
        except TimeoutError:
            break
        heard.append(channel.decode().partition(":")[2] + " " + key.decode())
    assert heard == expected
