"""What does a client do while its server is a replica for a moment, as after a failover?

    python examples/readonly_failover.py [redis://127.0.0.1:6379]

A replica refuses writes with READONLY. redis-py raises that at once, unless it was told to try again: then it
closes the connection, opens another (which may reach the new master) and sends the command once more. Here three
writes are refused, then the server is a master again. The URL, if one is given, must be Redouble's; without one the
example starts a Redouble of its own.
"""

from __future__ import annotations

import sys

import redis
from redis.backoff import ConstantBackoff
from redis.exceptions import ReadOnlyError
from redis.retry import Retry

from redouble import Server

REFUSED = 3


def outcome(client: redis.Redis) -> str:
    """One write: what comes of it."""
    try:
        client.set("order:1", "paid")
    except ReadOnlyError as error:
        return f"failed: {error}"
    return "written"


def hits(control: redis.Redis) -> int:
    """How many requests the fault has hit."""
    rule = control.execute_command("REDOUBLE", "FAULT", "LIST")[0]
    return int(rule[rule.index(b"hits") + 1])


def run(url: str) -> int:
    """Write through the failover, without and with patience; 0 if only patience helps."""
    control = redis.Redis.from_url(url, protocol=2)
    retry = Retry(ConstantBackoff(0.01), REFUSED)
    clients = {
        "as it comes": redis.Redis.from_url(url, retry=Retry(ConstantBackoff(0), 0)),
        "with retry_on_error": redis.Redis.from_url(url, retry=retry, retry_on_error=[ReadOnlyError]),
    }
    outcomes = []
    for title, client in clients.items():
        control.execute_command("REDOUBLE", "FAULT", "CLEAR")
        control.execute_command("REDOUBLE", "FAULT", "ADD", "failover", "TIMES", REFUSED, "ERROR", "READONLY")
        outcomes.append(outcome(client))
        print(f"{title}: {outcomes[-1]}, after {hits(control)} refusals")
    control.execute_command("REDOUBLE", "FAULT", "CLEAR")
    return 0 if outcomes[0].startswith("failed") and outcomes[1] == "written" else 1


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(run(sys.argv[1]))
    with Server() as server:
        sys.exit(run(server.url))
