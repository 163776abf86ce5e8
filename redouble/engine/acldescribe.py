"""The rules about commands as servers before 7.2 say them: made from what is allowed, not from what was given.

Those servers keep only which commands a user may run. ACL LIST then looks for few rules that lead there:
from all or from nothing it goes to the categories, again and again the one that differs least from what is
wanted, and names single commands for the rest. Later servers keep the rules themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redouble.engine.command import CATEGORY_ORDER

if TYPE_CHECKING:
    from redouble.engine.command import Command


def rules_for(rows: list[Command], allowed: set[int], first_args: dict[int, list[bytes]], adds: bool) -> list[bytes]:
    """Rules that lead to the `allowed` rows from nothing (`adds`) or from all. O(categories^2 * rows)."""
    members = {name: {row.index for row in rows if name in row.categories} for name in CATEGORY_ORDER}
    everything = {row.index for row in rows}
    # What the rules must still name: allowed rows, or forbidden ones.
    missing = set(allowed) if adds else everything - allowed
    reached: set[int] = set()
    rules: list[bytes] = []
    sign = b"+" if adds else b"-"
    while True:
        best = _best_category(members, missing)
        if best is None:
            break
        group = members.pop(best)
        missing -= group
        reached |= group
        rules.append(sign + b"@" + best.encode())
    if not adds:
        reached = everything - reached
    for row in rows:
        if row.parent is None:
            rules += _single_rules(row, allowed, reached, first_args)
    return rules


def _best_category(members: dict[str, set[int]], missing: set[int]) -> str | None:
    """The category that names more of what is missing than else, and least else; None if there is none."""
    best: str | None = None
    best_rank = (0, 0)
    for name, group in members.items():
        same = len(group & missing)
        rank = (len(group) - same, -same)
        if same > rank[0] and (best is None or rank < best_rank):
            best, best_rank = name, rank
    return best


def _single_rules(
    row: Command, allowed: set[int], reached: set[int], first_args: dict[int, list[bytes]]
) -> list[bytes]:
    """What a command, and each of its sub-commands, needs beyond the categories. Changes `reached`."""
    rules: list[bytes] = []
    family = [row] if row.subcommands is None else [row, *row.subcommands.values()]
    for member in family:
        wanted = member.index in allowed
        if wanted != (member.index in reached):
            rules.append((b"+" if wanted else b"-") + member.full_name)
            covered = {other.index for other in family} if member is row else {member.index}
            if wanted:
                reached |= covered
            else:
                reached -= covered
        if not wanted:
            rules += [b"+%b|%b" % (member.full_name, word) for word in first_args.get(member.index, [])]
    return rules
