r"""Requests and replies as one line of plain text each, to be read and cut by people.

A request is written as redis-cli takes it: words, between quotes where they must be. A reply:

==================  =================================================================
``"text"``          a bulk string, with redis-cli's escapes
``OK``              a simple string of capitals; ``simple "text"`` any other
``error "ERR ..."`` an error (``bulk-error`` is RESP3's)
``5``               an integer
``null``            the null of bulk strings; ``null-array`` that of arrays, ``nil`` RESP3's
``[a, b]``          an array; ``set[...]``, ``push[...]`` as RESP3 has them
``{a: b, c: d}``    a map
``double "1.5"``    a double; ``big "123"`` a big number, ``verbatim "txt:..."`` text with its format
``true``, ``false`` a boolean
``closed``          no reply: the server has hung up
==================  =================================================================

All of it is ASCII, whatever the bytes are, and reading gives back what was written.
"""

from __future__ import annotations

import re
from typing import Final

from redouble.protocol.inline import split_inline
from redouble.protocol.quote import quoted
from redouble.testing.traffic.replies import CLOSED, Reply

_BARE: Final = re.compile(rb"[A-Za-z0-9_:.,*@/+=?$<>(){}|~^%&!\[-][A-Za-z0-9_:.,*@/+=?$<>(){}|~^%&!\[\]#-]*")
_CAPITALS: Final = re.compile(rb"[A-Z]+")
_NAMED: Final = {"+": "simple", "-": "error", "!": "bulk-error", ",": "double", "(": "big", "=": "verbatim"}
_MARKS: Final = {name: mark for mark, name in _NAMED.items()}
_NULLS: Final = {"null": Reply("$", null=True), "null-array": Reply("*", null=True), "nil": Reply("_", null=True)}
_WORDS: Final = {**_NULLS, "true": Reply("#", b"t"), "false": Reply("#", b"f"), "closed": CLOSED}
_SPELLED: Final = {reply: word for word, reply in _WORDS.items()}
_PREFIX: Final = {"*": "", "~": "set", ">": "push"}
_TOKEN: Final = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[\[\]{},:]|-?\d+|[A-Za-z-]+)')


def written_request(argv: list[bytes]) -> str:
    """A request as redis-cli takes it. O(size)."""
    return b" ".join([word if _BARE.fullmatch(word) else quoted(word) for word in argv]).decode()


def read_request(text: str) -> list[bytes]:
    """The words of a written request. Raises `ValueError`."""
    words = split_inline(text.encode())
    if not words:
        raise ValueError("quotes are not balanced" if words is None else "there is no command")
    return words


def written_reply(reply: Reply) -> str:
    """A reply in a line. O(size)."""
    if reply in _SPELLED:
        return _SPELLED[reply]
    if reply.mark == ":":
        return str(int(reply.text))
    if reply.mark in _PREFIX:
        return f"{_PREFIX[reply.mark]}[{', '.join(map(written_reply, reply.items))}]"
    if reply.mark == "%":
        items = list(map(written_reply, reply.items))
        return "{" + ", ".join(f"{name}: {value}" for name, value in zip(items[::2], items[1::2], strict=True)) + "}"
    if reply.mark == "+" and _CAPITALS.fullmatch(reply.text):
        return reply.text.decode()
    shown = quoted(reply.text).decode()
    return f"{_NAMED[reply.mark]} {shown}" if reply.mark in _NAMED else shown


def read_reply(text: str) -> Reply:
    """The reply that was written so. Raises `ValueError`."""
    tokens: list[str] = []
    at = 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"{text[at : at + 20]!r} is no reply")
        tokens.append(match[1])
        at = match.end()
    tokens.reverse()
    reply = _reply(tokens)
    if tokens:
        raise ValueError(f"{tokens[-1]!r} stands behind the reply")
    return reply


def _reply(tokens: list[str]) -> Reply:
    """Take a reply off the (reversed) tokens."""
    token = _next(tokens)
    if token[0] == '"':
        return Reply("$", _unquoted(token))
    if token.lstrip("-").isdigit():
        return Reply(":", token.encode())
    if token == "[":
        return Reply("*", items=_items(tokens, "]"))
    if token == "{":
        return Reply("%", items=_items(tokens, "}"))
    if token in ("set", "push"):
        if _next(tokens) != "[":
            raise ValueError(f"'[' must follow {token!r}")
        return Reply("~" if token == "set" else ">", items=_items(tokens, "]"))
    if token in _MARKS:
        return Reply(_MARKS[token], _unquoted(_next(tokens)))
    if token in _WORDS:
        return _WORDS[token]
    if _CAPITALS.fullmatch(token.encode()):
        return Reply("+", token.encode())
    raise ValueError(f"{token!r} begins no reply")


def _items(tokens: list[str], end: str) -> tuple[Reply, ...]:
    """Take what stands up to the closing bracket."""
    items: list[Reply] = []
    while tokens and tokens[-1] != end:
        if items:
            wanted = ":" if end == "}" and len(items) % 2 else ","
            if _next(tokens) != wanted:
                raise ValueError(f"{wanted!r} is missing")
        items.append(_reply(tokens))
    _next(tokens)
    if end == "}" and len(items) % 2:
        raise ValueError("a name has no value")
    return tuple(items)


def _next(tokens: list[str]) -> str:
    if not tokens:
        raise ValueError("the reply is not complete")
    return tokens.pop()


def _unquoted(token: str) -> bytes:
    words = split_inline(token.encode())
    if token[0] != '"' or not words:
        raise ValueError(f"{token!r} is no text between quotes")
    return words[0]
