"""HyperLogLogs as commands."""

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis, Status

NOT_ONE = Failure("WRONGTYPE Key is not a valid HyperLogLog string value.")
CORRUPTED = Failure("INVALIDOBJ Corrupted HLL object detected")


def test_pfadd_tells_whether_the_estimate_may_have_changed(redis: Redis) -> None:
    assert redis("PFADD", "h") == 1
    assert redis("PFADD", "h") == 0
    assert redis("PFADD", "h", "a", "b", "c") == 1
    assert redis("PFADD", "h", "a", "b") == 0
    assert redis("PFCOUNT", "h") == 3
    assert redis("PFCOUNT", "none") == 0


def test_the_value_is_byte_for_byte_that_of_redis(redis: Redis) -> None:
    redis("PFADD", "h", "a", "b", "c")
    fresh = redis("GET", "h")
    assert fresh.startswith(b"HYLL\x01")
    assert fresh[15] == 0x80
    redis("PFCOUNT", "h")
    assert redis("GET", "h")[8:16] == b"\x03" + bytes(7)
    assert redis("PFDEBUG", "DECODE", "h") == b"Z:8436 v:1,1 Z:4274 v:2,1 Z:3068 v:1,1 Z:603"


def test_several_keys_are_counted_as_their_union(redis: Redis) -> None:
    redis("PFADD", "a", 1, 2, 3)
    redis("PFADD", "b", 3, 4)
    assert redis("PFCOUNT", "a", "b", "none") == 4
    assert redis("PFMERGE", "to", "a", "b") == Status("OK")
    assert redis("PFCOUNT", "to") == 4
    assert redis("PFMERGE", "to") == Status("OK")
    assert redis("PFMERGE", "new", "none") == Status("OK")
    assert redis("PFCOUNT", "new") == 0


def test_other_strings_are_refused(redis: Redis) -> None:
    redis("MSET", "text", "hello", "number", "12345678901234567")
    redis("RPUSH", "list", "a")
    for key in ("text", "number"):
        assert redis("PFADD", key, "a") == NOT_ONE
        assert redis("PFCOUNT", key) == NOT_ONE
        assert redis("PFMERGE", "to", key) == NOT_ONE
    wrong_type = Failure("WRONGTYPE Operation against a key holding the wrong kind of value")
    assert redis("PFADD", "list", "a") == wrong_type


def test_broken_runs_are_found(redis: Redis) -> None:
    redis("PFADD", "h", "a", "b", "c")
    redis("APPEND", "h", "hello")
    assert redis("PFCOUNT", "h") == CORRUPTED
    assert redis("PFDEBUG", "GETREG", "h") == CORRUPTED


def test_pfdebug(redis: Redis) -> None:
    redis("PFADD", "h", "a")
    assert redis("PFDEBUG", "ENCODING", "h") == Status("sparse")
    assert redis("PFDEBUG", "TODENSE", "h") == 1
    assert redis("PFDEBUG", "todense", "h") == 0
    assert redis("PFDEBUG", "ENCODING", "h") == Status("dense")
    registers = redis("PFDEBUG", "GETREG", "h")
    assert len(registers) == 16384
    assert sum(register > 0 for register in registers) == 1
    assert redis("PFDEBUG", "DECODE", "h") == Failure("ERR HLL encoding is not sparse")
    assert redis("PFDEBUG", "FOO", "h") == Failure("ERR Unknown PFDEBUG subcommand 'FOO'")
    assert redis("PFDEBUG", "GETREG", "none") == Failure("ERR The specified key does not exist")


def test_hyperloglogs_announce_pfadd(redis: Redis) -> None:
    listener = Listener(redis)
    redis("PFADD", "h", "a")
    redis("PFADD", "h", "a")
    redis("PFCOUNT", "h")
    redis("PFMERGE", "to", "h")
    assert listener.heard(2) == ["pfadd h", "pfadd to"]
    assert listener.silent()


def test_an_estimate_that_is_kept_breaks_a_watch(redis: Redis) -> None:
    redis("PFADD", "h", "a")
    redis("WATCH", "h")
    redis("PFCOUNT", "h")
    redis("MULTI")
    redis("PING")
    assert redis("EXEC") is None
    redis("WATCH", "h")
    redis("PFCOUNT", "h")
    redis("MULTI")
    redis("PING")
    assert redis("EXEC") == [Status("PONG")]


def test_many_elements_are_estimated_well(redis: Redis) -> None:
    for start in range(0, 3000, 100):
        redis("PFADD", "h", *range(start, start + 100))
    assert abs(redis("PFCOUNT", "h") - 3000) < 150


def test_a_corrupted_one_keeps_what_was_added_before_the_flaw_was_met(redis: Redis) -> None:
    redis("PFADD", "k", "x")
    redis("SETRANGE", "k", 15, "HYLL")
    assert redis("PFADD", "k", "z", "x") == CORRUPTED
    assert redis("GET", "k") == b"HYLL\x01" + bytes(10) + b"\xc8YLH7\x80C\xcf"
    assert redis("PFCOUNT", "k") == CORRUPTED


def test_a_run_that_lacks_its_second_byte_loses_its_end(redis: Redis) -> None:
    redis("PFADD", "k")
    redis("SETRANGE", "k", 15, "HYLL")
    redis("PFADD", "k", b"\x00")
    assert redis("GET", "k") == b"HYLL\x01" + bytes(10) + b"\xc8YLI:\x84B"
