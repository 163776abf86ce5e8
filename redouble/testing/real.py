"""A real Redis, Valkey or cluster in the place of our server: for tests that run with `--redouble-url`.

It has the face of `redouble.Server` as far as a real server can have it. Whatever it can't do, a power or a setting
that only a server made for one test can have, skips the test and says so.

Each xdist worker takes a database of its own, by its number; scripts, functions and channels they share all the same.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

import pytest
import redis
import redis.asyncio

from redouble.testing.values import argument

_CLEAN: Final = (("SCRIPT", "FLUSH"), ("FUNCTION", "FLUSH"), ("CONFIG", "RESETSTAT"))
#: What only a double has.
_POWERS: Final = ("clock", "faults", "snapshots", "trace", "lint", "engine", "lock", "seed")


class RealServer:
    """A server that was there before."""

    def __init__(self, url: str, worker: int = 0) -> None:
        if urlsplit(url).scheme not in ("redis", "rediss", "unix"):
            raise pytest.UsageError(f"--redouble-url wants redis://, rediss:// or unix://, not {url!r}")
        self.url = url
        self.database = worker
        self._plain = redis.Redis.from_url(url, protocol=2)
        try:
            about: Any = self._plain.info()
        except redis.RedisError as error:
            raise pytest.UsageError(f"--redouble-url: no server answers at {url}: {error}") from None
        self.version = str(about["redis_version"])
        self.is_cluster = bool(about.get("cluster_enabled"))
        if self.is_cluster and worker:
            raise pytest.UsageError("--redouble-url: the workers of xdist can't share a cluster; run without -n")
        if not self.is_cluster:
            self._plain = redis.Redis(connection_pool=self.connection_pool(protocol=2))

    @property
    def host(self) -> str:
        """The host of the URL."""
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        """The port of the URL."""
        return urlsplit(self.url).port or 6379

    def objection(self, settings: dict[str, Any]) -> str:
        """Why a test with these settings can't run here, or empty."""
        for name, value in settings.items():
            if name == "version":
                if not (self.version + ".").startswith(f"{value}."):
                    return f"needs version {value}, the real server is {self.version}"
            elif name == "cluster_nodes":
                if bool(value) != self.is_cluster:
                    return "needs a cluster" if value else "needs a server that is no cluster"
            else:
                return f"needs {name}={value!r}, which can't be had of a real server"
        return ""

    def reset(self, *, seed: int | None = None) -> None:
        """Empty it: the keys of our database (of a cluster: all), scripts, functions, statistics."""
        if self.is_cluster:
            client = redis.RedisCluster.from_url(self.url)
            client.flushall(target_nodes=redis.RedisCluster.PRIMARIES)
            client.close()
        else:
            self._plain.flushdb()
        for words in _CLEAN:
            try:
                self._plain.execute_command(*words)  # type: ignore[no-untyped-call]
            except redis.ResponseError:
                # Older servers have no functions, guarded ones no CONFIG.
                continue

    def execute(self, *args: bytes | str | float) -> Any:
        """Run a command; its reply as redis-py's parser gives it. Raises `redis.ResponseError`."""
        client = redis.Redis(connection_pool=self._plain.connection_pool)
        client.response_callbacks.clear()
        words = [arg if isinstance(arg, str) else argument(arg) for arg in args]
        return client.execute_command(*words)  # type: ignore[no-untyped-call]

    def connection_pool(self, **options: Any) -> redis.ConnectionPool:
        """A pool of connections by sockets."""
        if self.database:
            options.setdefault("db", self.database)
        return redis.ConnectionPool.from_url(self.url, **options)

    def async_connection_pool(self, **options: Any) -> redis.asyncio.ConnectionPool:
        """The same for asyncio."""
        if self.database:
            options.setdefault("db", self.database)
        return redis.asyncio.ConnectionPool.from_url(self.url, **options)

    def client(self, **options: Any) -> Any:
        """A client of redis-py."""
        if self.is_cluster:
            return redis.RedisCluster.from_url(self.url, **options)
        return redis.Redis(connection_pool=self.connection_pool(**options))

    def async_client(self, **options: Any) -> Any:
        """The same for asyncio."""
        if self.is_cluster:
            return redis.asyncio.RedisCluster.from_url(self.url, **options)
        return redis.asyncio.Redis(connection_pool=self.async_connection_pool(**options))

    def internal_errors(self) -> int:
        """Its bugs are not ours to find."""
        return 0

    def story(self) -> list[str]:
        """What a failing test should show."""
        return [f"on the real server {self.url}, version {self.version}"]

    def close(self) -> None:
        """Close our connection; the server goes on."""
        self._plain.close()

    def __getattr__(self, name: str) -> Any:
        if name in _POWERS or name == "dump":
            pytest.skip(f"needs {name}, which a real server has not")
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
