"""SUBSCRIBE, PUBLISH and their kin."""

import pytest

from tests.kit import Failure, Redis, Status

OK = Status("OK")


def test_a_message_reaches_channel_and_pattern(redis: Redis) -> None:
    other = redis.another()
    assert other("SUBSCRIBE", "news") == [b"subscribe", b"news", 1]
    assert other("PSUBSCRIBE", "n*") == [b"psubscribe", b"n*", 2]
    assert redis("PUBLISH", "news", "hi") == 2
    assert other.receive() == [b"message", b"news", b"hi"]
    assert other.receive() == [b"pmessage", b"n*", b"news", b"hi"]
    assert redis("PUBLISH", "old", "hi") == 0


def test_each_name_is_answered(redis: Redis) -> None:
    other = redis.another()
    other.send("SUBSCRIBE", "a", "b", "a")
    assert [other.receive() for _ in range(3)] == [
        [b"subscribe", b"a", 1], [b"subscribe", b"b", 2], [b"subscribe", b"a", 2],
    ]  # fmt: skip
    other.send("UNSUBSCRIBE", "a", "none")
    assert [other.receive() for _ in range(2)] == [[b"unsubscribe", b"a", 1], [b"unsubscribe", b"none", 1]]
    assert other("UNSUBSCRIBE") == [b"unsubscribe", b"b", 0]


def test_unsubscribing_from_nothing_is_answered_with_null(redis: Redis) -> None:
    assert redis("UNSUBSCRIBE") == [b"unsubscribe", None, 0]
    assert redis("PUNSUBSCRIBE") == [b"punsubscribe", None, 0]
    assert redis("SUNSUBSCRIBE") == [b"sunsubscribe", None, 0]


def test_a_subscriber_of_resp2_may_do_little_else(redis: Redis) -> None:
    other = redis.another(2)
    other("SUBSCRIBE", "ch")
    assert other("GET", "k") == Failure(
        "ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this "
        "context"
    )
    assert other("PING") == [b"pong", b""]
    assert other("PING", "x") == [b"pong", b"x"]
    other("UNSUBSCRIBE", "ch")
    assert other("GET", "k") is None


def test_a_subscriber_of_resp3_may_do_everything(redis: Redis) -> None:
    other = redis.another(3)
    assert other.raw("SUBSCRIBE", "ch") == b">3\r\n$9\r\nsubscribe\r\n$2\r\nch\r\n:1\r\n"
    assert other("PING") == Status("PONG")
    redis("PUBLISH", "ch", "x")
    assert other.receive() == [b"message", b"ch", b"x"]
    assert other("GET", "k") is None


@pytest.mark.since("7.2.0")
def test_a_message_to_oneself_follows_the_reply(redis: Redis) -> None:
    other = redis.another(3)
    other("SUBSCRIBE", "ch")
    assert other("PUBLISH", "ch", "x") == 1
    assert other.receive() == [b"message", b"ch", b"x"]
    other("MULTI")
    other("PUBLISH", "ch", "y")
    other("PING")
    assert other("EXEC") == [1, Status("PONG")]
    assert other.receive() == [b"message", b"ch", b"y"]


def test_subscriptions_within_exec_stand_in_its_reply(redis: Redis) -> None:
    other = redis.another()
    other("MULTI")
    other("SUBSCRIBE", "a", "b")
    other("PING")
    other.send("EXEC")
    assert other.receive() == [[b"subscribe", b"a", 1], [b"subscribe", b"b", 2]]
    assert other.receive() in (Status("PONG"), [b"pong", b""])


def test_shard_channels_stand_apart(redis: Redis) -> None:
    other = redis.another()
    assert other("SSUBSCRIBE", "ch") == [b"ssubscribe", b"ch", 1]
    assert other("SUBSCRIBE", "ch") == [b"subscribe", b"ch", 1]
    assert redis("SPUBLISH", "ch", "x") == 1
    assert other.receive() == [b"smessage", b"ch", b"x"]
    assert redis("PUBLISH", "ch", "y") == 1
    assert other.receive() == [b"message", b"ch", b"y"]
    assert redis("PUBSUB", "SHARDCHANNELS") == [b"ch"]
    assert redis("PUBSUB", "SHARDNUMSUB", "ch", "none") == [b"ch", 1, b"none", 0]
    redis("MULTI")
    redis("SSUBSCRIBE", "x")
    assert redis("EXEC") == [Failure("ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client")]


def test_pubsub_tells_who_listens(redis: Redis) -> None:
    other = redis.another()
    other("SUBSCRIBE", "apple")
    other("PSUBSCRIBE", "*")
    third = redis.another()
    third("SUBSCRIBE", "apple")
    third("SUBSCRIBE", "berry")
    third("PSUBSCRIBE", "*")
    assert sorted(redis("PUBSUB", "CHANNELS")) == [b"apple", b"berry"]
    assert redis("PUBSUB", "CHANNELS", "a*") == [b"apple"]
    third("SUBSCRIBE", "")
    assert sorted(redis("PUBSUB", "CHANNELS")) == [b"", b"apple", b"berry"]
    assert sorted(redis("PUBSUB", "CHANNELS", "*")) == [b"apple", b"berry"]
    assert redis("PUBSUB", "NUMSUB") == []
    assert redis("PUBSUB", "NUMSUB", "apple", "none") == [b"apple", 2, b"none", 0]
    assert redis("PUBSUB", "NUMPAT") == 1
    assert redis("PUBSUB", "CHANNELS", "a", "b") == Failure(
        "ERR unknown subcommand or wrong number of arguments for 'CHANNELS'. Try PUBSUB HELP."
    )


def test_who_has_gone_listens_no_more(redis: Redis) -> None:
    other = redis.another()
    other("SUBSCRIBE", "ch")
    other("PSUBSCRIBE", "c*")
    other.close()
    redis.wait_until(lambda: redis("PUBLISH", "ch", "x") == 0)
    assert redis("PUBSUB", "CHANNELS") == []
    assert redis("PUBSUB", "NUMPAT") == 0


def test_messages_come_although_replies_are_off(redis: Redis) -> None:
    other = redis.another(3)
    other.send("CLIENT", "REPLY", "OFF")
    other.send("SUBSCRIBE", "ch")
    if not redis.real:  # Since 7.2 pushes are exempt.
        assert other.receive() == [b"subscribe", b"ch", 1]
        assert redis("PUBLISH", "ch", "x") == 1
        assert other.receive() == [b"message", b"ch", b"x"]


def test_a_script_publishes(redis: Redis) -> None:
    other = redis.another()
    other("SUBSCRIBE", "ch")
    assert redis("EVAL", "return redis.call('PUBLISH', 'ch', ARGV[1])", 0, "x") == 1
    assert other.receive() == [b"message", b"ch", b"x"]


def test_the_order_of_receivers_is_that_of_subscription(redis: Redis) -> None:
    listeners = [redis.another() for _ in range(3)]
    for number, listener in enumerate(listeners):
        listener("SUBSCRIBE", "ch")
        assert redis("PUBSUB", "NUMSUB", "ch") == [b"ch", number + 1]
    assert redis("PUBLISH", "ch", "x") == 3
    assert [listener.receive() for listener in listeners] == [[b"message", b"ch", b"x"]] * 3


def test_a_transaction_publishes(redis: Redis) -> None:
    listener = redis.another()
    listener("SUBSCRIBE", "c")
    listener("SSUBSCRIBE", "c")
    redis("MULTI")
    redis("PUBLISH", "c", 1)
    redis("SPUBLISH", "c", 2)
    redis("EVAL", "return redis.call('publish', 'c', 3)", 0)
    assert listener.silent()
    assert redis("EXEC") == [1, 1, 1]
    messages = [listener.receive() for _ in range(3)]
    assert messages == [[b"message", b"c", b"1"], [b"smessage", b"c", b"2"], [b"message", b"c", b"3"]]
