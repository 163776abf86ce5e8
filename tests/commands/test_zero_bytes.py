"""Errors show what the client sent as C prints it: up to the first zero byte."""

import pytest

from tests.kit import Failure, Redis

ODD = b"odd\x00rest"


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (["ACL", "DRYRUN", ODD, "GET", "k"], "ERR User 'odd' not found"),
        (["ACL", "DRYRUN", "default", ODD], "ERR Command 'odd' not found"),
        (["ACL", "CAT", ODD], "ERR Unknown category 'odd'"),
        (["CLIENT", "LIST", "TYPE", ODD], "ERR Unknown client type 'odd'"),
        (["CLIENT", "KILL", "TYPE", ODD], "ERR Unknown client type 'odd'"),
        (["HELLO", 2, ODD], "ERR Syntax error in HELLO option 'odd'"),
        (["LATENCY", "GRAPH", ODD], "ERR No samples available for event 'odd'"),
        (["FUNCTION", "LOAD", ODD, "#!lua name=x\n"], "ERR Unknown option given: odd"),
        (["FUNCTION", "LIST", ODD], "ERR Unknown argument odd"),
        (["CLIENT", "KILL", "USER", ODD], "ERR No such user 'odd'"),
        (["ACL", "SETUSER", "joe", ODD], "ERR Error in ACL SETUSER modifier 'odd': Syntax error"),
        (["ACL", "SETUSER", "joe", b"(" + ODD], "ERR Unmatched parenthesis in acl selector starting at '(odd'."),
        (["CONFIG", "SET", ODD, "x"], "ERR Unknown option or number of arguments for CONFIG SET - 'odd'"),
        (
            ["CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", ODD, "PREFIX", b"odd\x00"],
            "ERR Prefix 'odd' overlaps with another provided prefix 'odd'. "
            "Prefixes for a single client must not overlap.",
        ),
        (["REPLCONF", ODD, "x"], "ERR Unrecognized REPLCONF option: odd"),
    ],
)
def test_an_error_shows_a_word_up_to_its_zero_byte(redis: Redis, request_: list[object], error: str) -> None:
    assert redis(*request_) == Failure(error)


def test_pfdebug_and_xclaim_do_so_too(redis: Redis) -> None:
    redis("PFADD", "h", "x")
    assert redis("PFDEBUG", ODD, "h") == Failure("ERR Unknown PFDEBUG subcommand 'odd'")
    redis("XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")
    assert redis("XCLAIM", "s", "g", "c", 0, "1-1", ODD) == Failure("ERR Unrecognized XCLAIM option 'odd'")


@pytest.mark.since("7.2.0")
def test_client_setinfo_does_so_too(redis: Redis) -> None:
    assert redis("CLIENT", "SETINFO", ODD, "x") == Failure("ERR Unrecognized option 'odd'")
