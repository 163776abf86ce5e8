"""`redouble record` and `redouble replay`: there and back, cut, and by a file that people have written."""

from __future__ import annotations

import re
import sys
import threading
from pathlib import Path

import pytest
import redis

from redouble.testing.traffic.lines import read_traffic
from redouble.testing.traffic.notation import read_reply, read_request, written_reply, written_request
from redouble.testing.traffic.replies import Reply, ReplyReader
from tests.kit import RealTarget
from tests.testing.kit import Tool, run

DOCUMENT = Path(__file__).parents[2] / "docs" / "traffic.md"


def session(port: int) -> None:
    """Two clients with time, chance, binary, waiting and messages."""
    client = redis.Redis(port=port, protocol=2)
    client.set("text", b"\x00\xff\r\n\"quoted\" 'too'", ex=100)
    client.ttl("text")
    client.sadd("set", *range(50))
    client.spop("set", 3)
    client.smembers("set")
    stream = client.xadd("stream", {"a": "1"})
    client.eval("return redis.call('XADD', KEYS[1], '*', 'b', '2')", 1, "stream")
    client.xread({"stream": stream})
    waiting = threading.Thread(target=lambda: redis.Redis(port=port).blpop("list", 5))
    waiting.start()
    while not client.info("clients")["blocked_clients"]:
        pass
    client.rpush("list", "value")
    waiting.join(10)
    client.blpop("list", 0.05)
    listener = client.pubsub()
    listener.subscribe("channel")
    assert listener.get_message(timeout=2)["type"] == "subscribe"
    client.publish("channel", "hello")
    assert listener.get_message(timeout=2)["data"] == b"hello"
    listener.close()
    client.close()


def recorded(file: Path, *options: str) -> str:
    tool = Tool("record", str(file), *options)
    session(tool.port)
    status, errors = tool.stop()
    assert (status, errors) == (0, "")
    return file.read_text("ascii")


def replayed(file: Path, *options: str) -> tuple[int, int, str]:
    """Exit status, how many replies were compared, and all that was told."""
    status, _, errors = run("replay", str(file), *options)
    found = re.search(r"replay: (\d+) replies compared", errors)
    assert found is not None, errors
    return status, int(found[1]), errors


def test_what_was_recorded_of_redouble_replays_without_a_difference(tmp_path: Path) -> None:
    file = tmp_path / "traffic.txt"
    text = recorded(file)
    assert re.search(r"^\d+\.\d{3} a> XADD stream \* a 1$", text, re.MULTILINE)
    told = re.search(r'> PUBLISH channel hello\n\d+\.\d{3} \w! \["message", "channel", "hello"\]\n', text)
    assert told is not None
    status, count, errors = replayed(file)
    # Pushes are compared too.
    assert (status, count) == (0, len(re.findall(r"> ", text)) + 1), errors


def test_what_was_recorded_of_the_real_server_replays_in_redouble_and_back(
    tmp_path: Path, real_server: RealTarget | None
) -> None:
    if real_server is None:
        pytest.skip("redis-server is not installed")
    real_server.empty()
    file, url = tmp_path / "traffic.txt", f"redis://127.0.0.1:{real_server.port}"
    recorded(file, "--against", url)
    status, count, errors = replayed(file, "--redis-version", real_server.version)
    assert (status, count > 15) == (0, True), errors
    real_server.empty()
    status, count, errors = replayed(file, "--against", url)
    assert (status, count > 15) == (0, True), errors


def test_a_cut_file_replays(tmp_path: Path) -> None:
    file = tmp_path / "traffic.txt"
    lines = recorded(file).splitlines(keepends=True)
    whole = replayed(file)[1]
    without_set = [line for line in lines if "TTL text" not in line and "SMEMBERS" not in line and "! " not in line]
    file.write_text("".join(without_set))
    status, count, errors = replayed(file)
    # Two requests and a push are gone; two replies stand alone.
    assert (status, count) == (0, whole - 3), errors


def test_a_changed_reply_is_a_difference(tmp_path: Path) -> None:
    file = tmp_path / "traffic.txt"
    file.write_text('a> SET key 1\na< OK\na> INCR key\na< 3\nb> GET key\nb< "2"\n')
    status, _, errors = replayed(file)
    assert status == 1
    assert errors.startswith(
        "--- difference 1: client a, line 3\nSET key 1\nINCR key\n  recorded: 3\n  redouble: 2\nreplay: 3"
    )


def test_a_reply_that_never_comes_and_a_message_that_never_comes_are_differences(tmp_path: Path) -> None:
    file = tmp_path / "traffic.txt"
    file.write_text(
        'a> BLPOP list 0\na< ["list", "x"]\nb> SUBSCRIBE news\nb< ["subscribe", "news", 1]\n'
        'b! ["message", "news", "hello"]\n'
    )
    status, count, errors = replayed(file)
    assert (status, count) == (1, 3)
    assert 'recorded: ["list", "x"]\n  redouble: (no reply)' in errors
    assert 'recorded: ["message", "news", "hello"]\n  redouble: (no reply)' in errors


def test_the_clock_of_a_replay_follows_the_file(tmp_path: Path) -> None:
    file = tmp_path / "traffic.txt"
    file.write_text(
        "# redouble traffic 1, started 1700000000000\n0.000 a> SET key 1 PX 3600000\n0.000 a< OK\n"
        "0.001 b> BLPOP list 1800\n1799.999 a> PTTL key\n1799.999 a< 1800001\n1800.001 b< null-array\n"
        '3600.001 a> EXISTS key\n3600.001 a< 0\n3600.001 a> TIME\n3600.001 a< ["1700003600", "1000"]\n'
    )
    status, count, errors = replayed(file)
    assert (status, count) == (0, 5), errors
    assert "5 replies compared: 5 the same, 0 alike" in errors


def test_the_example_of_the_document_replays_in_redouble_and_in_the_real_server(
    tmp_path: Path, real_server: RealTarget | None
) -> None:
    example = re.search(r"```traffic\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert example is not None
    file = tmp_path / "traffic.txt"
    file.write_text(example[1])
    status, count, errors = replayed(file)
    assert (status, count) == (0, 9), errors
    if real_server is not None:
        real_server.empty()
        file.write_text(example[1].replace("2.500 a< 98\n", ""))
        status, count, errors = replayed(file, "--against", f"redis://127.0.0.1:{real_server.port}")
        assert (status, count) == (0, 8), errors


def test_a_command_is_recorded_and_its_exit_status_passed_on(tmp_path: Path) -> None:
    file = tmp_path / "traffic.txt"
    program = "import os, redis; redis.Redis(port=int(os.environ['REDIS_PORT'])).set('a', 1); exit(5)"
    status, _, errors = run("record", str(file), "--", sys.executable, "-c", program)
    assert status == 5, errors
    assert [line.argv for line in read_traffic(str(file)).lines if line.argv[:1] == [b"SET"]] == [[b"SET", b"a", b"1"]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a> SET 'x\n", "1: quotes are not balanced"),
        ("a< [1, 2\n", "1: the reply is not complete"),
        ("\nhello\n", "2: a line must be like"),
        ("a< 1 2\n", "1: '2' stands behind the reply"),
        ("# redouble traffic 2\n", "1: this is format 2"),
    ],
)
def test_a_line_that_can_t_be_read_is_named(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "traffic.txt"
    file.write_text(text)
    status, _, errors = run("replay", str(file))
    assert (status, errors.startswith(f"redouble: {file}:{reason}")) == (2, True), errors


def test_a_file_that_is_not_there_or_not_named_is_said() -> None:
    assert run("replay", "/nowhere/traffic.txt")[0] == 2
    assert run("record")[::2] == (2, "redouble: a file must be named first\n")


@pytest.mark.parametrize(
    "raw",
    [
        b'*3\r\n$4\r\na"\x00\n\r\n:-5\r\n*1\r\n+OK\r\n', b"$-1\r\n", b"*-1\r\n", b"_\r\n", b"-ERR x y\r\n",
        b"~1\r\n,1.5\r\n",
        b"%1\r\n$1\r\n]\r\n%0\r\n", b">2\r\n$0\r\n\r\n#t\r\n", b"=5\r\ntxt:a\r\n",
        b"(123\r\n", b"+two words\r\n", b"!3\r\nE x\r\n",
    ],
)  # fmt: skip
def test_every_reply_can_be_written_and_read_back_whole_or_in_pieces(raw: bytes) -> None:
    ((reply, _),) = ReplyReader().feed(raw)
    reader = ReplyReader()
    pieces = [each for at in range(len(raw)) for each in reader.feed(raw[at : at + 1])]
    assert pieces == [(reply, raw)]
    text = written_reply(reply)
    assert text.isascii() and "\n" not in text
    assert read_reply(text) == reply


def test_every_request_can_be_written_and_read_back() -> None:
    for word in [bytes([byte]) for byte in range(256)] + [
        b"",
        b"a b",
        b"'",
        b"a'b",
        b'a"b',
        b"#",
        b"\\x41",
        bytes(range(256)),
    ]:
        assert read_request(written_request([b"SET", word])) == [b"SET", word]
    assert written_reply(Reply(":", b"5")) == "5"
