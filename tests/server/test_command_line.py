"""The server as a process: its one line on stdout, its signals, its exit status."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import redouble

ROOT = Path(redouble.__file__).parent.parent


class Process:
    """A server that was started by the command line."""

    def __init__(self, *args: str) -> None:
        self.popen = subprocess.Popen(
            [sys.executable, "-m", "redouble", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, PYTHONPATH=str(ROOT)),
        )  # fmt: skip
        assert self.popen.stdout is not None
        self.ready = self.popen.stdout.readline().rstrip("\n")

    @property
    def port(self) -> int:
        return int(self.ready.rpartition(":")[2])

    def ask(self, line: bytes) -> bytes:
        """One inline command on a connection of its own; all that comes until the server is silent or gone."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(line + b"\r\n")
            return connection.recv(1 << 16)

    def end(self) -> tuple[int, str]:
        """The exit status and what was logged."""
        _, errors = self.popen.communicate(timeout=10)
        return self.popen.returncode, errors

    def stop(self) -> tuple[int, str]:
        self.popen.terminate()
        return self.end()


@pytest.fixture
def server() -> Iterator[Process]:
    process = Process("--port", "0")
    yield process
    if process.popen.poll() is None:
        process.popen.kill()
        process.end()


def test_the_ready_line_names_a_port_that_answers(server: Process) -> None:
    assert server.ready.startswith("READY redis://127.0.0.1:")
    assert server.ask(b"PING") == b"+PONG\r\n"
    assert f":{server.port}\r".encode() in server.ask(b"INFO server")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(server: Process, number: signal.Signals) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(b"PING\r\n")
        assert connection.recv(100) == b"+PONG\r\n"
        server.popen.send_signal(number)
        assert connection.recv(100) == b""
    assert server.end() == (0, "")


def test_shutdown_ends_it_cleanly(server: Process) -> None:
    assert server.ask(b"SHUTDOWN NOSAVE") == b""
    assert server.end() == (0, "")


def test_a_port_that_is_taken_is_one_line_and_status_1(server: Process) -> None:
    second = Process("--port", str(server.port))
    assert second.ready == ""
    status, errors = second.end()
    assert status == 1
    assert errors == f"Could not listen on 127.0.0.1 port {server.port}: Address already in use\n"


def test_a_bad_option_is_a_fatal_configuration_error() -> None:
    process = Process("--port", "0", "--appendonly", "maybe")
    status, errors = process.end()
    assert status == 1
    assert errors == (
        "\n*** FATAL CONFIG FILE ERROR (Redis 7.4.1) ***\n"
        "Reading the configuration file, at line 3\n"
        ">>> 'appendonly \"maybe\"'\n"
        "argument must be 'yes' or 'no'\n"
    )


def test_a_unix_socket_alone_is_named_in_the_ready_line_and_goes_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "s"
    process = Process("--port", "0", "--unixsocket", str(path), "--unixsocketperm", "700")
    assert process.ready == f"READY unix://{path}"
    assert path.stat().st_mode & 0o777 == 0o700
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(b"CLIENT INFO\r\n")
        assert f"addr={path}:0 laddr={path}:0".encode() in connection.recv(4096)
    assert process.stop() == (0, "")
    assert not path.exists()


@pytest.mark.parametrize("option", ["-v", "--version"])
def test_the_version_is_told(option: str) -> None:
    process = Process(option)
    assert process.ready.startswith(f"Redouble v={redouble.__version__}")
    assert process.end() == (0, "")


def test_help_names_the_options() -> None:
    process = Process("--help")
    assert process.ready.startswith("Usage: redouble")
    assert process.end()[0] == 0


def test_a_configuration_file_is_rewritten_in_place(tmp_path: Path) -> None:
    file = tmp_path / "redis.conf"
    file.write_text("# mine\nport 0\nmaxmemory 1mb\nmaxmemory 2mb\nsave 60 1\n")
    process = Process(str(file), "--timeout", "5")
    assert process.ask(b'CONFIG SET maxmemory 3mb requirepass "a b"') == b"+OK\r\n"
    with socket.create_connection(("127.0.0.1", process.port), timeout=5) as connection:
        connection.sendall(b"AUTH 'a b'\r\nCONFIG REWRITE\r\n")
        replies = b""
        while replies.count(b"\n") < 2:
            replies += connection.recv(100)
        assert replies == b"+OK\r\n+OK\r\n"
    process.stop()
    lines = file.read_text().splitlines()
    assert lines[:4] == ["# mine", f"port {process.port}", "maxmemory 3145728", "save 60 1"]
    assert "timeout 5" in lines
    assert 'requirepass "a b"' in lines


def test_the_log_goes_into_a_file_where_one_is_named(tmp_path: Path) -> None:
    file = tmp_path / "log"
    process = Process("--port", "0", "--logfile", str(file))
    process.ask(b"CONFIG SET loglevel debug")
    assert process.stop() == (0, "")
    assert file.exists()
    nowhere = Process("--port", "0", "--logfile", "/nowhere/log")
    assert nowhere.end() == (1, "Can't open the log file: No such file or directory\n")


def test_the_users_are_rewritten_too(tmp_path: Path) -> None:
    file = tmp_path / "redis.conf"
    file.write_text("port 0\nuser alice on >pw ~a* +get\nuser gone on\n# end\n")
    process = Process(str(file), "--redis-version", "7.0.15")
    for command in (b"ACL SETUSER alice +set", b"ACL SETUSER bob on nopass ~b* +@all"):
        assert process.ask(command) == b"+OK\r\n"
    assert process.ask(b"ACL DELUSER gone") == b":1\r\n"
    assert process.ask(b"CONFIG REWRITE") == b"+OK\r\n"
    process.stop()
    # As redis-server 7.0.15 writes them.
    password = "30c952fab122c3f9759f02a6d95c3758b246b4fee239957b2d4fee46e26170c4"
    lines = [line for line in file.read_text().splitlines() if not line.startswith(("port", "dir"))]
    assert lines == [
        f"user alice on #{password} ~a* resetchannels -@all +get +set",
        "# end",
        "# Generated by CONFIG REWRITE",
        "user bob on nopass ~b* resetchannels +@all",
        "user default on nopass ~* &* +@all",
    ]


def test_users_with_a_file_of_their_own_are_not_rewritten(tmp_path: Path) -> None:
    (tmp_path / "users").write_text("user alice on nopass ~* +@all\n")
    file = tmp_path / "redis.conf"
    file.write_text(f"port 0\naclfile {tmp_path}/users\n")
    process = Process(str(file))
    assert process.ask(b"CONFIG REWRITE") == b"+OK\r\n"
    process.stop()
    assert "user " not in file.read_text()


@pytest.mark.parametrize("real", [False, True], ids=["redouble", "redis-server"])
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("user alice on +@all", "Duplicate user found. A user can only be defined once in config files"),
        ("user alice on nonsense", "Syntax error"),
    ],
)
def test_a_bad_user_line_is_fatal(tmp_path: Path, real: bool, line: str, reason: str) -> None:
    if real and shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")
    file = tmp_path / "server.conf"
    first = "user alice on nopass" if "Duplicate" in reason else "user bob on nopass"
    file.write_text(f"port 0\n{first}\n{line}\n")
    command = ["redis-server"] if real else [sys.executable, "-m", "redouble"]
    done = subprocess.run(
        [*command, str(file)], capture_output=True, text=True, timeout=20, env=dict(os.environ, PYTHONPATH=str(ROOT))
    )
    assert done.returncode == 1
    assert done.stderr.strip().endswith(f">>> '{line}'\nError in user declaration 'alice': {reason}")


@pytest.mark.parametrize("real", [False, True], ids=["redouble", "redis-server"])
def test_users_in_the_configuration_and_in_a_file_are_fatal(tmp_path: Path, real: bool) -> None:
    if real and shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")
    (tmp_path / "users.acl").write_text("user bob on nopass ~* +@all\n")
    file = tmp_path / "server.conf"
    file.write_text(f"port 0\nuser alice on nopass\naclfile {tmp_path}/users.acl\n")
    command = ["redis-server"] if real else [sys.executable, "-m", "redouble"]
    # A socket, so that without the fault it would serve and the test would end by its time-out.
    done = subprocess.run(
        [*command, str(file), "--unixsocket", str(tmp_path / "s")],
        capture_output=True, timeout=20, env=dict(os.environ, PYTHONPATH=str(ROOT)),
    )  # fmt: skip
    assert done.returncode == 1
