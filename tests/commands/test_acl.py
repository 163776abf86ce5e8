"""ACL: users, rules, and what they forbid. Texts differ between versions, so only Redouble's are compared closely."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from redouble.engine.engine import Engine
from tests.kit import EngineTarget, Failure, Redis, Status

OK = Status("OK")
EMPTY_HASH = b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.fixture
def acl(redis: Redis) -> Iterator[Redis]:
    """A connection of the default user; users that a test made are deleted."""
    yield redis
    redis("RESET")
    redis("ACL", "DELUSER", "bob", "joe")
    redis("ACL", "LOG", "RESET")


def _as_user(redis: Redis, *rules: object) -> Redis:
    assert redis("ACL", "SETUSER", "bob", "reset", "on", "nopass", *rules) == OK
    other = redis.another(2)
    assert other("AUTH", "bob", "any") == OK
    return other


def _denied(reply: object) -> bool:
    return isinstance(reply, Failure) and reply.startswith(b"NOPERM ")


def test_a_new_user_may_do_nothing(acl: Redis) -> None:
    assert acl("ACL", "SETUSER", "bob") == OK
    user = dict(zip(*[iter(acl("ACL", "GETUSER", "bob"))] * 2, strict=True))
    assert b"off" in user[b"flags"]
    assert user[b"passwords"] == []
    assert user[b"commands"] == b"-@all"
    assert user[b"keys"] == b""
    assert user[b"selectors"] == []
    other = acl.another(2)
    assert other("AUTH", "bob", "") == Failure("WRONGPASS invalid username-password pair or user is disabled.")


def test_commands_are_allowed_one_by_one(acl: Redis) -> None:
    bob = _as_user(acl, "+get", "+config|get", "allkeys")
    assert bob("GET", "k") is None
    assert bob("CONFIG", "GET", "port") != []
    assert _denied(bob("SET", "k", 1))
    assert _denied(bob("CONFIG", "SET", "port", 1))
    assert _denied(bob("PING"))
    assert acl("EXISTS", "k") == 0


def test_categories_count_in_the_order_given(acl: Redis) -> None:
    bob = _as_user(acl, "allkeys", "+@read", "-get", "+@string", "-strlen")
    assert bob("GET", "k") is None
    assert _denied(bob("STRLEN", "k"))
    assert bob("LLEN", "k") == 0
    assert _denied(bob("LPUSH", "k", 1))


def test_a_first_argument_may_be_allowed(acl: Redis) -> None:
    bob = _as_user(acl, "+select|0", "+ping")
    assert bob("SELECT", 0) == OK
    assert _denied(bob("SELECT", 1))


def test_keys_are_matched_and_told_apart_by_access(acl: Redis) -> None:
    bob = _as_user(acl, "+@all", "%R~r:*", "%W~w:*", "~both:*")
    assert bob("GET", "r:1") is None
    assert _denied(bob("SET", "r:1", 1))
    assert bob("SET", "w:1", 1) == OK
    assert _denied(bob("GET", "w:1"))
    assert _denied(bob("SET", "w:1", 1, "GET"))
    assert bob("SET", "both:1", 1, "GET") is None
    assert bob("COPY", "both:1", "w:2") == 1
    assert _denied(bob("COPY", "w:1", "both:2"))
    assert _denied(bob("MGET", "r:1", "x"))


def test_selectors_allow_by_themselves(acl: Redis) -> None:
    bob = _as_user(acl, "+get", "~a*", "(+set ~b*)")
    assert bob("GET", "a") is None
    assert bob("SET", "b", 1) == OK
    assert _denied(bob("GET", "b"))
    assert _denied(bob("SET", "a", 1))
    acl("ACL", "SETUSER", "bob", "clearselectors")
    assert _denied(bob("SET", "b", 1))


def test_channels_are_matched(acl: Redis) -> None:
    bob = _as_user(acl, "+@all", "resetchannels", "&news:*")
    assert bob("PUBLISH", "news:1", "x") == 0
    assert _denied(bob("PUBLISH", "old", "x"))
    assert _denied(bob("PSUBSCRIBE", "news:1*"))
    assert bob("PSUBSCRIBE", "news:*") == [b"psubscribe", b"news:*", 1]


def test_whoever_loses_a_channel_it_listens_to_is_closed(acl: Redis) -> None:
    bob = _as_user(acl, "+@all", "resetchannels", "&news")
    bob("SUBSCRIBE", "news")
    assert acl("ACL", "SETUSER", "bob", "&more") == OK
    assert acl("PUBLISH", "news", "x") == 1
    assert bob.receive() == [b"message", b"news", b"x"]
    acl("ACL", "SETUSER", "bob", "resetchannels", "&more")
    assert bob.closed()


def test_a_deleted_user_s_connections_are_closed(acl: Redis) -> None:
    bob = _as_user(acl, "+@all")
    assert acl("ACL", "DELUSER", "bob", "nobody") == 1
    assert bob.closed()
    assert acl("ACL", "DELUSER", "default") == Failure("ERR The 'default' user cannot be removed")


def test_deleting_oneself_is_answered_first(acl: Redis) -> None:
    bob = _as_user(acl, "+@all")
    assert bob("ACL", "DELUSER", "bob") == 1
    assert bob.closed()


def test_all_rules_apply_or_none(acl: Redis) -> None:
    acl("ACL", "SETUSER", "bob", "on", ">secret", "+get")
    before = acl("ACL", "LIST")
    assert acl("ACL", "SETUSER", "bob", "off", "+nosuch") == Failure(
        "ERR Error in ACL SETUSER modifier '+nosuch': Unknown command or category name in ACL"
    )
    assert acl("ACL", "LIST") == before


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("foo", "Syntax error"),
        ("+@nosuch", "Unknown command or category name in ACL"),
        ("+config|nosuch", "Unknown command or category name in ACL"),
        ("+config|get|x", "Allowing first-arg of a subcommand is not supported"),
        ("+select|", "Syntax error"),
        ("%X~a", "Syntax error"),
        ("~a b", "Syntax error"),
        ("#xyz", "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters"),
        ("<none", "The password you are trying to remove from the user does not exist"),
    ],
)
def test_a_bad_rule_is_explained(acl: Redis, rule: str, reason: str) -> None:
    assert acl("ACL", "SETUSER", "bob", rule) == Failure(f"ERR Error in ACL SETUSER modifier '{rule}': {reason}")
    assert acl("ACL", "GETUSER", "bob") is None


def test_an_unmatched_bracket_is_explained(acl: Redis) -> None:
    assert acl("ACL", "SETUSER", "bob", "on", "(+get", "~a") == Failure(
        "ERR Unmatched parenthesis in acl selector starting at '(+get'."
    )
    assert acl("ACL", "SETUSER", "a b") == Failure("ERR Usernames can't contain spaces or null characters")


def test_a_pattern_after_all_keys_is_refused(acl: Redis) -> None:
    assert acl("ACL", "SETUSER", "bob", "allkeys", "~a") == Failure(
        "ERR Error in ACL SETUSER modifier '~a': Adding a pattern after the * pattern (or the 'allkeys' flag) is not "
        "valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns"
    )


def test_passwords_are_added_removed_and_kept_hashed(acl: Redis) -> None:
    acl("ACL", "SETUSER", "bob", "on", ">", "+ping")
    assert acl("ACL", "GETUSER", "bob")[3] == [EMPTY_HASH]
    other = acl.another(2)
    assert other("AUTH", "bob", "") == OK
    acl("ACL", "SETUSER", "bob", ">new", "<")
    assert other("AUTH", "bob", "").startswith(b"WRONGPASS")
    assert other("AUTH", "bob", "new") == OK
    acl("ACL", "SETUSER", "bob", "resetpass")
    assert other("AUTH", "bob", "new").startswith(b"WRONGPASS")


@pytest.mark.since("7.2.0")
def test_list_describes_users_as_a_file_does(acl: Redis) -> None:
    acl("ACL", "SETUSER", "bob", "on", "nopass", "%R~a*", "~b", "+@read", "-get", "+config|get", "+config", "(+set ~c)")
    assert acl("ACL", "LIST") == [
        b"user bob on nopass sanitize-payload %R~a* ~b resetchannels -@all +@read -get +config "
        b"(~c resetchannels -@all +set)",
        b"user default on nopass sanitize-payload ~* &* +@all",
    ]
    assert acl("ACL", "USERS") == [b"bob", b"default"]


def test_dryrun_tells_what_a_user_lacks(acl: Redis) -> None:
    acl("ACL", "SETUSER", "bob", "+get", "~a*")
    assert acl("ACL", "DRYRUN", "bob", "GET", "a") == OK
    assert b"to run the 'set' command" in acl("ACL", "DRYRUN", "bob", "SET", "a", 1)
    assert b"the 'x' key" in acl("ACL", "DRYRUN", "bob", "GET", "x")
    assert acl("ACL", "DRYRUN", "nobody", "GET", "x") == Failure("ERR User 'nobody' not found")
    assert acl("ACL", "DRYRUN", "bob", "NOSUCH") == Failure("ERR Command 'NOSUCH' not found")
    assert acl("ACL", "DRYRUN", "bob", "GET") == Failure("ERR wrong number of arguments for 'get' command")


def test_the_log_counts_like_denials(acl: Redis) -> None:
    acl("ACL", "LOG", "RESET")
    bob = _as_user(acl, "+get", "+eval", "+multi", "~a")
    bob("GET", "x")
    bob("GET", "x")
    bob("SET", "a", 1)
    bob("EVAL", "return redis.call('set', 'a', 1)", 0)
    bob("AUTH", "joe", "x")
    entries = [dict(zip(entry[::2], entry[1::2], strict=True)) for entry in acl("ACL", "LOG")]
    shown = [(e[b"count"], e[b"reason"], e[b"context"], e[b"object"], e[b"username"]) for e in entries]
    assert shown == [
        (1, b"auth", b"toplevel", b"AUTH", b"joe"),
        (1, b"command", b"lua", b"set", b"bob"),
        (1, b"command", b"toplevel", b"set", b"bob"),
        (2, b"key", b"toplevel", b"x", b"bob"),
    ]
    assert b" user=bob" in entries[0][b"client-info"]
    assert len(acl("ACL", "LOG", 1)) == 1
    assert acl("ACL", "LOG", "RESET") == OK
    assert acl("ACL", "LOG") == []


def test_categories_are_listed(acl: Redis) -> None:
    assert acl("ACL", "CAT")[:3] == [b"keyspace", b"read", b"write"]
    assert b"get" in acl("ACL", "CAT", "STRING")
    assert acl("ACL", "CAT", "nosuch") == Failure("ERR Unknown category 'nosuch'")


def test_genpass_gives_as_many_bits_as_asked(acl: Redis) -> None:
    assert len(acl("ACL", "GENPASS")) == 64
    assert len(acl("ACL", "GENPASS", 5)) == 2
    assert acl("ACL", "GENPASS", 0) == Failure(
        "ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096"
    )


def test_sort_by_patterns_needs_the_right_to_read_all_keys(acl: Redis) -> None:
    bob = _as_user(acl, "+@all", "~list", "%R~x*")
    assert bob("SORT", "list", "BY", "w_*") == Failure(
        "ERR BY option of SORT denied due to insufficient ACL permissions."
    )
    acl("ACL", "SETUSER", "bob", "%R~*")
    assert bob("SORT", "list", "BY", "w_*") == []


@pytest.mark.since("7.4.0")
def test_a_waiter_whose_right_was_taken_gets_an_error(acl: Redis) -> None:
    bob = _as_user(acl, "+@all", "~list")
    bob.send("BLPOP", "list", 0)
    acl.wait_blocked(1)
    acl("ACL", "SETUSER", "bob", "resetkeys")
    acl("RPUSH", "list", 1)
    assert bob.receive() == Failure("NOPERM No permissions to access a key")
    assert acl("LLEN", "list") == 1


def test_without_a_file_load_and_save_say_so(acl: Redis) -> None:
    reply = acl("ACL", "LOAD")
    assert reply.startswith(b"ERR This Redis instance is not configured to use an ACL file.")
    assert acl("ACL", "SAVE") == reply


# -- the file: an engine with one; the real server can't change `aclfile` while it runs -----------------------


@pytest.fixture
def filed(tmp_path: Path) -> Redis:
    target = EngineTarget()
    target.engine.config.values[b"aclfile"] = str(tmp_path / "users.acl").encode()
    return Redis(target, 2)


def _engine(redis: Redis) -> Engine:
    assert isinstance(redis.target, EngineTarget)
    return redis.target.engine


def test_what_was_saved_is_loaded(filed: Redis, tmp_path: Path) -> None:
    filed("ACL", "SETUSER", "bob", "on", ">secret", "~a*", "+@read", "(+set ~b)")
    before = filed("ACL", "LIST")
    assert filed("ACL", "SAVE") == OK
    filed("ACL", "SETUSER", "bob", "reset")
    filed("ACL", "SETUSER", "joe")
    assert filed("ACL", "LOAD") == OK
    assert filed("ACL", "LIST") == before
    assert [path.name for path in tmp_path.iterdir()] == ["users.acl"]


def test_loading_keeps_connections_whose_user_is_still_there(filed: Redis, tmp_path: Path) -> None:
    bob, joe = _as_user(filed, "+@all"), filed.another()
    filed("ACL", "SETUSER", "joe", "on", "nopass", "+@all")
    joe("AUTH", "joe", "x")
    (tmp_path / "users.acl").write_text("user bob on nopass +ping\n\nuser default on nopass ~* &* +@all\n")
    assert filed("ACL", "LOAD") == OK
    assert joe.closed()
    assert bob("PING") == Status("PONG")
    assert _denied(bob("GET", "x"))


def test_a_file_with_faults_changes_nothing(filed: Redis, tmp_path: Path) -> None:
    before = filed("ACL", "LIST")
    path = tmp_path / "users.acl"
    path.write_text("user bob +nosuch\nuser bob\nfoo\n")
    assert filed("ACL", "LOAD") == Failure(
        f"ERR {path}:1: Error in applying operation '+nosuch': Unknown command or category name in ACL. "
        f"WARNING: Duplicate user 'bob' found on line 2. "
        f"{path}:3 should start with user keyword followed by the username. "
        f"WARNING: ACL errors detected, no change to the previously active ACL rules was performed"
    )
    path.unlink()
    assert filed("ACL", "LOAD") == Failure(f"ERR Error loading ACLs, opening file '{path}': No such file or directory")
    assert filed("ACL", "LIST") == before
    assert _engine(filed).acl.users.keys() == {b"default"}


#: Rules as they are given, and as a server before 7.2 says them again.
OLD_RULES = [
    ("+memory|doctor", b"-@all +memory|doctor"),
    ("+memory|doctor +memory", b"-@all +memory"),
    ("+@all +client|id", b"+@all"),
    ("+@all -memory|doctor -memory", b"+@all -memory"),
    ("+get +set -set", b"-@all +get"),
    ("+@all -@dangerous +info -@dangerous", b"+@all -@dangerous"),
    ("+@list +@hash", b"-@all +@list +@hash"),
    ("+@hash +@list -lpush", b"-@all +@hash +@list -lpush"),
    ("+client -client|kill", b"-@all +client -client|kill"),
    ("+select|1 +select|0", b"-@all +select|1 +select|0"),
    ("+@all -@all", b"-@all"),
]


def _told(redis: Redis, rules: str) -> set[bytes]:
    redis("ACL", "SETUSER", "bob", "reset", *rules.split())
    reply = redis("ACL", "GETUSER", "bob")
    told = reply[reply.index(b"commands") + 1].split()
    assert redis("ACL", "LIST")[0].endswith(b" ".join(told))
    assert told[0] in (b"+@all", b"-@all")
    return set(told)


@pytest.mark.until("7.2.0")
@pytest.mark.parametrize(("rules", "expected"), OLD_RULES)
def test_an_early_server_tells_rules_made_from_what_is_allowed(acl: Redis, rules: str, expected: bytes) -> None:
    assert _told(acl, rules) == set(expected.split())


@pytest.mark.parametrize(("rules", "expected"), OLD_RULES)
def test_answering_as_an_early_server_it_tells_such_rules_too(rules: str, expected: bytes) -> None:
    early = Redis(EngineTarget("7.0.15"), 2)
    assert _told(early, rules) == set(expected.split())
    later = Redis(EngineTarget("7.2.0"), 2)
    later("ACL", "SETUSER", "bob", "reset", "+@all", "+client|id")
    assert b"+@all +client|id" in later("ACL", "GETUSER", "bob")


def test_a_user_who_was_reset_says_that_payloads_are_checked(acl: Redis) -> None:
    acl("ACL", "SETUSER", "bob", "skip-sanitize-payload")
    acl("ACL", "SETUSER", "bob", "reset")
    assert acl("ACL", "LIST")[0] == b"user bob off sanitize-payload resetchannels -@all"


def test_before_7_2_only_one_who_was_reset_says_so() -> None:
    early = Redis(EngineTarget("7.0.15"), 2)
    early("ACL", "SETUSER", "bob")
    assert early("ACL", "LIST")[0] == b"user bob off resetchannels -@all"
    early("ACL", "SETUSER", "bob", "reset")
    assert early("ACL", "LIST")[0] == b"user bob off sanitize-payload resetchannels -@all"
