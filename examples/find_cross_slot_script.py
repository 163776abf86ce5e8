"""A queue whose script works on one server and would fail in a cluster: LINT finds it, TRACE shows it.

    python examples/find_cross_slot_script.py [redis://127.0.0.1:6379]

The script takes a job from a list, as those of BullMQ do: the lists are keys, but the job's own hash is
a name that it makes from a prefix. On one server nobody minds. In a cluster the lists may live on different nodes, and
the hash on a third. The second queue has a hash tag in its prefix and declares what it touches. Without a URL the
example starts a Redouble of its own; with one it must be a Redouble.
"""

from __future__ import annotations

import sys
from typing import Any

import redis

from redouble import Server

TAKE = """
-- Takes the next job and marks it as active
local id = redis.call('LMOVE', KEYS[1], KEYS[2], 'RIGHT', 'LEFT')
if id then redis.call('HSET', ARGV[1] .. id, 'state', 'active') end
return id
"""
#: The same for one job that the caller has chosen, so that its key can be declared.
TAKE_DECLARED = """
-- Takes a job and marks it as active
if redis.call('LREM', KEYS[1], 1, ARGV[1]) == 0 then return false end
redis.call('LPUSH', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[3], 'state', 'active')
return ARGV[1]
"""


def power(client: redis.Redis, *words: str) -> Any:
    """REDOUBLE with these words."""
    return client.execute_command("REDOUBLE", *words)


def first(client: redis.Redis) -> None:
    """Keys without a hash tag, and one that is not declared."""
    client.lpush("mail:wait", "7")
    assert client.register_script(TAKE)(keys=["mail:wait", "mail:active"], args=["mail:"]) == "7"
    for key in ("mail:active", "mail:7"):
        client.delete(key)


def second(client: redis.Redis) -> None:
    """All of a queue in one slot, and every key declared."""
    client.lpush("{mail}:wait", "7")
    keys = ["{mail}:wait", "{mail}:active", "{mail}:7"]
    assert client.register_script(TAKE_DECLARED)(keys=keys, args=["7"]) == "7"
    client.delete("{mail}:active", "{mail}:7")


def inspect(client: redis.Redis, name: str) -> list[str]:
    """Run a queue under LINT and TRACE, print both; the rules that it breaks."""
    power(client, "LINT", "ON", "cross-slot", "undeclared-script-key")
    power(client, "TRACE", "START", "SCRIPTS", "COMMAND", "EVALSHA")
    {"first": first, "second": second}[name](client)
    print(f"\nthe {name} queue")
    for entry in power(client, "TRACE", "GET")["commands"]:
        for inner in entry["commands"]:
            print(f"  in the script: {' '.join(inner['arguments'])}")
    found = power(client, "LINT", "REPORT")
    for finding in found:
        print(f"  {finding['rule']}, {finding['count']} times: {finding['example']}")
        print(f"    {finding['detail']}")
        print(f"    {finding['instead']}")
    if not found:
        print("  nothing found: it would work in a cluster")
    return sorted({finding["rule"] for finding in found})


def run(url: str) -> int:
    """Run both; 0 if only the first breaks rules."""
    client = redis.Redis.from_url(url, protocol=3, decode_responses=True)
    broken = [inspect(client, "first"), inspect(client, "second")]
    power(client, "TRACE", "STOP")
    power(client, "LINT", "OFF")
    return 0 if broken == [["cross-slot", "undeclared-script-key"], []] else 1


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(run(sys.argv[1]))
    with Server() as server:
        sys.exit(run(server.url))
