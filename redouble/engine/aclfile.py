"""The ACL file: a line `user <name> <rule> ...` for each user.

A file is taken as a whole or not at all; every fault found in it is told. The same lines may stand in
the configuration instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from redouble.engine.aclselector import UNKNOWN_NAME, has_spaces
from redouble.engine.acluser import User, merge_brackets
from redouble.errors import CommandError

if TYPE_CHECKING:
    from redouble.engine.acl import Acl


def file_text(acl: Acl) -> bytes:
    """The lines that make the present users again, in order of name. O(size)."""
    lines = [b"user %b %b\n" % (name, acl.users[name].describe()) for name in sorted(acl.users)]
    return b"".join(lines)


def load_text(acl: Acl, text: bytes, file_name: bytes) -> None:
    """Take the users of a file instead of the present ones. Raises `CommandError` with all faults. O(size)."""
    users: dict[bytes, User] = {}
    faults: list[bytes] = []
    for number, line in enumerate(text.split(b"\n"), 1):
        place = b"%b:%d" % (file_name, number)
        words = line.strip(b" \t\r\n").split(b" ")
        if words == [b""]:
            continue
        if words[0] != b"user" or len(words) < 2:
            faults.append(place + b" should start with user keyword followed by the username. ")
        elif has_spaces(words[1]):
            faults.append(b"'%b: username '%b' contains invalid characters. " % (place, words[1]))
        elif words[1] in users:
            faults.append(b"WARNING: Duplicate user '%b' found on line %d. " % (words[1], number))
        else:
            user = acl.fresh_user(words[1])
            users[words[1]] = user
            faults.extend(_faults_of(acl, user, words[2:], place))
    if faults:
        ending = b"WARNING: ACL errors detected, no change to the previously active ACL rules was performed"
        raise CommandError(b"ERR " + b"".join(faults) + ending)
    acl.exchange(users)


def load_file(acl: Acl, name: bytes) -> None:
    """Take the users of a file by its name. Raises `CommandError`. O(size)."""
    try:
        text = Path(name.decode("utf-8", "surrogateescape")).read_bytes()
    except OSError as error:
        reason = (error.strerror or "").encode()
        raise CommandError(b"ERR Error loading ACLs, opening file '%b': %b" % (name, reason)) from None
    load_text(acl, text, name)


def save_file(acl: Acl, name: bytes) -> None:
    """Write the users to a file, which is replaced when all is written. Raises `CommandError`. O(size)."""
    path = Path(name.decode("utf-8", "surrogateescape"))
    draft = path.with_name(path.name + ".tmp")
    try:
        draft.write_bytes(file_text(acl))
        draft.replace(path)
    except OSError:
        raise CommandError(
            b"ERR There was an error trying to save the ACLs. Please check the server logs for more information"
        ) from None


def configure_user(acl: Acl, words: list[bytes]) -> None:
    """A `user` line of the configuration: name and rules. Raises `CommandError` with the reason only. O(rules)."""
    draft = acl.fresh_user(words[0])
    if has_spaces(words[0]):
        raise CommandError(b"Spaces not allowed in ACL usernames")
    for rule in merge_brackets(words[1:]):
        draft.apply(rule, acl.all_channels_by_default)
    user = acl.users.get(words[0])
    if user is None:
        acl.users[words[0]] = draft
    else:
        acl.replace(user, draft)


def _faults_of(acl: Acl, user: User, rules: list[bytes], place: bytes) -> list[bytes]:
    """Apply the rules of a line; what is wrong with them."""
    faults: list[bytes] = []
    try:
        rules = merge_brackets(rules)
    except CommandError:
        return [place + b": Unmatched parenthesis in selector definition."]
    for rule in rules:
        rule = rule.strip(b"\t\r\n")
        try:
            user.apply(rule, acl.all_channels_by_default)
        except CommandError as reason:
            if reason.text == UNKNOWN_NAME:
                faults.append(b"%b: Error in applying operation '%b': %b. " % (place, rule, reason.text))
            elif not [fault for fault in faults if b"Error in applying" not in fault]:
                faults.append(b"%b: %b. " % (place, reason.text))
    return faults
