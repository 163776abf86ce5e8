"""Reply values to bytes, in both protocols."""

from __future__ import annotations

from typing import Any

import pytest

from redouble.protocol import reply
from redouble.protocol.encode import Encoder
from redouble.protocol.numbers import try_integer

resp2 = Encoder(False, True)
resp3 = Encoder(True, True)


@pytest.mark.parametrize(
    ("value", "in_resp2", "in_resp3"),
    [
        (b"ab", b"$2\r\nab\r\n", b"$2\r\nab\r\n"),
        (b"", b"$0\r\n\r\n", b"$0\r\n\r\n"),
        (5, b":5\r\n", b":5\r\n"),
        (-12345, b":-12345\r\n", b":-12345\r\n"),
        (None, b"$-1\r\n", b"_\r\n"),
        (reply.NULL_ARRAY, b"*-1\r\n", b"_\r\n"),
        (reply.OK, b"+OK\r\n", b"+OK\r\n"),
        (reply.ErrorReply(b"ERR a\r\nb"), b"-ERR a  b\r\n", b"-ERR a  b\r\n"),
        ([1, [b"a"], None], b"*3\r\n:1\r\n*1\r\n$1\r\na\r\n$-1\r\n", b"*3\r\n:1\r\n*1\r\n$1\r\na\r\n_\r\n"),
        (reply.Bulks([b"a", b"b"]), b"*2\r\n$1\r\na\r\n$1\r\nb\r\n", b"*2\r\n$1\r\na\r\n$1\r\nb\r\n"),
        (reply.EMPTY, b"*0\r\n", b"*0\r\n"),
        (reply.Map([b"k", 1]), b"*2\r\n$1\r\nk\r\n:1\r\n", b"%1\r\n$1\r\nk\r\n:1\r\n"),
        (reply.SetReply([b"m"]), b"*1\r\n$1\r\nm\r\n", b"~1\r\n$1\r\nm\r\n"),
        (reply.Push([b"m"]), b"*1\r\n$1\r\nm\r\n", b">1\r\n$1\r\nm\r\n"),
        (reply.Double(1.5), b"$3\r\n1.5\r\n", b",1.5\r\n"),
        (reply.Boolean(True), b":1\r\n", b"#t\r\n"),
        (reply.Verbatim(b"hi"), b"$2\r\nhi\r\n", b"=6\r\ntxt:hi\r\n"),
        (reply.BigNumber(b"123"), b"$3\r\n123\r\n", b"(123\r\n"),
        (reply.Pairs([b"m", 1]), b"*2\r\n$1\r\nm\r\n:1\r\n", b"*1\r\n*2\r\n$1\r\nm\r\n:1\r\n"),
        (reply.PairMap([b"m", 1]), b"*1\r\n*2\r\n$1\r\nm\r\n:1\r\n", b"%1\r\n$1\r\nm\r\n:1\r\n"),
        (reply.Several([1, 2]), b":1\r\n:2\r\n", b":1\r\n:2\r\n"),
        (reply.NO_REPLY, b"", b""),
    ],
)
def test_each_value_has_its_form(value: Any, in_resp2: bytes, in_resp3: bytes) -> None:
    assert (resp2.encode(value), resp3.encode(value)) == (in_resp2, in_resp3)


@pytest.mark.parametrize("slip", ["text", 1.5, True, (1, 2), {"a": 1}])
def test_values_without_a_reply_type_are_refused(slip: Any) -> None:
    with pytest.raises(TypeError):
        resp2.encode([slip])


@pytest.mark.parametrize(
    "text", [b"", b"+1", b"01", b" 1", b"1 ", b"-0", b"1_0", b"9223372036854775808", b"1.0", b"\xb2"]
)
def test_integers_are_read_strictly(text: bytes) -> None:
    assert try_integer(text) is None


@pytest.mark.parametrize("text", [b"0", b"-1", b"9223372036854775807", b"-9223372036854775808", b"10"])
def test_canonical_integers_are_read(text: bytes) -> None:
    assert try_integer(text) == int(text)
