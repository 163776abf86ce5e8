"""Rule 5, for every command: what changed was touched, and what was touched had changed.

`touch` is the one door through which a changed key is announced, so WATCH shows whether it was used: a client
watches each key, the command runs, and EXEC answers null if and only if that key's digest or deadline is not
what it was. The real server runs the same samples, as far as it has the commands.
"""

from __future__ import annotations

import pytest

from redouble.commands import FAMILIES
from redouble.engine import flags as f
from redouble.protocol.inline import split_inline
from tests.commands import samples
from tests.kit import Failure, Redis, Status

#: The samples that touch a key although its digest stays the same, here and in Redis: a value is overwritten with
#: the same, or what changed is no part of a digest (the groups of a stream).
UNDIGESTED = {
    "HSET h f 1",
    "SET s 10 KEEPTTL",
    'APPEND s ""',
}


def words(line: str) -> list[bytes]:
    found = split_inline(line.encode())
    assert found is not None
    return found


def fingerprint(redis: Redis, key: str) -> object:
    return redis("DEBUG", "DIGEST-VALUE", key), redis("PEXPIRETIME", key)


def changed_and_touched(redis: Redis, line: str) -> tuple[set[str], set[str]]:
    """Run a sample on the state; the keys whose digests changed, and those whose WATCH broke."""
    for step in samples.lines(samples.STATE):
        assert not isinstance(redis(*words(step)), Failure), step
    watchers = {key: redis.another(2) for key in samples.KEYS}
    for key, watcher in watchers.items():
        assert watcher("WATCH", key) == Status("OK")
    before = {key: fingerprint(redis, key) for key in samples.KEYS}
    reply = redis(*words(line))
    assert not isinstance(reply, Failure), reply
    changed = {key for key in samples.KEYS if fingerprint(redis, key) != before[key]}
    touched = set()
    for key, watcher in watchers.items():
        watcher("MULTI")
        if watcher("EXEC") is None:
            touched.add(key)
    return changed, touched


WRITES = [pytest.param(line, id=line) for line in samples.lines(samples.WRITES)]
WRITES += [pytest.param(line, id=line, marks=pytest.mark.since("7.4.0")) for line in samples.lines(samples.NEW_WRITES)]
READS = [pytest.param(line, id=line) for line in samples.lines(samples.READS)]
READS += [pytest.param(line, id=line, marks=pytest.mark.since("7.4.0")) for line in samples.lines(samples.NEW_READS)]


@pytest.mark.only("engine", "real")
@pytest.mark.parametrize("line", WRITES)
def test_a_write_touches_what_it_changes_and_nothing_else(redis: Redis, line: str) -> None:
    changed, touched = changed_and_touched(redis, line)
    if line in UNDIGESTED:
        assert changed < touched
        assert len(touched) == 1
    else:
        assert changed == touched


@pytest.mark.only("engine", "real")
@pytest.mark.parametrize("line", READS)
def test_a_read_changes_and_touches_nothing(redis: Redis, line: str) -> None:
    assert changed_and_touched(redis, line) == (set(), set())


def sampled(*texts: str) -> set[str]:
    """The full names of the commands in the samples."""
    names = set()
    for text in texts:
        for line in samples.lines(text):
            first, second = (*(word.lower().decode() for word in words(line)[:2]), "")[:2]
            names.update((first, f"{first}|{second}"))
    return names


@pytest.mark.parametrize(
    ("flag", "texts", "left_out"),
    [
        (f.WRITE, (samples.WRITES, samples.NEW_WRITES), samples.NOT_SAMPLED_WRITES),
        (f.READONLY, (samples.READS, samples.NEW_READS), samples.NOT_SAMPLED_READS),
    ],
)
def test_every_command_has_a_sample(flag: int, texts: tuple[str, ...], left_out: set[str]) -> None:
    rows = {row.full_name.decode() for family in FAMILIES for row in family.rows if row.flags & flag}
    assert rows - sampled(*texts) == left_out
