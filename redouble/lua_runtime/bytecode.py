"""Keeps the line numbers of tail calls.

Redis names the line of a script on which a command failed. With `return redis.call(...)` stock
Lua forgets that line: the call replaces the frame of its caller, unless what is called is a C
function. In Redis it is one; here it is a Lua function (see `lua/sandbox.lua`). So each tail call
in compiled code becomes a plain call: one opcode is changed for another, the operands are the same,
and the RETURN that follows every TAILCALL returns all that was returned.

A tail call of a function that the script itself defines stays what it is, so that recursion
through tail calls needs no stack, as in Redis. What is called is found by looking back for the
instruction that loaded the register: if that is a local variable or an upvalue that a CLOSURE
filled, the call is left alone. (Where a register serves two variables this errs to the safe
side: the call stays, and only a line number is lost.)

The format is that of `string.dump` in Lua 5.1 on a 64-bit little-endian machine: a header of 12
bytes, then per function its source, lines, counts, code, constants, inner functions, debug data.
"""

import struct
from typing import Final, final

_HEADER: Final = b"\x1bLuaQ\x00\x01\x04\x08\x04\x08\x00"
_INT: Final = struct.Struct("<i")
_SIZE: Final = struct.Struct("<Q")

_MOVE: Final = 0
_GETUPVAL: Final = 4
_CALL: Final = 28
_TAILCALL: Final = 29
_CLOSURE: Final = 36
#: Instructions whose A is not a register they write.
_NOT_WRITING: Final = frozenset({7, 8, 9, 22, 23, 24, 25, 26, 30, 34, 35})

_NIL: Final = 0
_BOOLEAN: Final = 1
_NUMBER: Final = 3
_STRING: Final = 4


@final
class _Function:
    """One function of the dump: where its code lies, and what its upvalues are."""

    __slots__ = ("code_at", "code", "closures", "captures", "parent", "index")

    def __init__(self, code_at: int, code: tuple[int, ...], parent: "_Function | None", index: int) -> None:
        self.code_at = code_at
        self.code = code
        self.parent = parent
        #: Which of the parent's inner functions this is.
        self.index = index
        #: The registers that a CLOSURE fills.
        self.closures: set[int] = set()
        #: Per inner function, its upvalues as (opcode, operand) of the pseudo-instructions.
        self.captures: dict[int, list[tuple[int, int]]] = {}


def _string_end(data: bytes, at: int) -> int:
    size: int = _SIZE.unpack_from(data, at)[0]
    return at + 8 + size


def _int(data: bytes, at: int) -> int:
    value: int = _INT.unpack_from(data, at)[0]
    return value


def _constants_end(data: bytes, at: int) -> int:
    count = _int(data, at)
    at += 4
    for _ in range(count):
        kind = data[at]
        at += 1
        if kind == _BOOLEAN:
            at += 1
        elif kind == _NUMBER:
            at += 8
        elif kind == _STRING:
            at = _string_end(data, at)
    return at


def _debug_end(data: bytes, at: int) -> int:
    at += 4 + 4 * _int(data, at)
    count = _int(data, at)
    at += 4
    for _ in range(count):
        at = _string_end(data, at) + 8
    count = _int(data, at)
    at += 4
    for _ in range(count):
        at = _string_end(data, at)
    return at


def _read(data: bytes, at: int, parent: _Function | None, index: int, found: list[_Function]) -> int:
    """Append the function at `at` and all within it to `found`; return where it ends."""
    at = _string_end(data, at) + 12
    count = _int(data, at)
    code_at = at + 4
    function = _Function(code_at, struct.unpack_from(f"<{count}I", data, code_at), parent, index)
    found.append(function)
    at = _constants_end(data, code_at + 4 * count)
    inner = _int(data, at)
    at += 4
    upvalues: list[int] = []
    for i in range(inner):
        upvalues.append(data[_string_end(data, at) + 8])
        at = _read(data, at, function, i, found)
    _note_closures(function, upvalues)
    return _debug_end(data, at)


def _note_closures(function: _Function, upvalues: list[int]) -> None:
    """Note where closures are made, and what the pseudo-instructions after them capture."""
    code = function.code
    at = 0
    while at < len(code):
        word = code[at]
        at += 1
        if word & 63 != _CLOSURE:
            continue
        function.closures.add(word >> 6 & 255)
        inner = word >> 14
        captured: list[tuple[int, int]] = []
        for _ in range(upvalues[inner]):
            captured.append((code[at] & 63, code[at] >> 23))
            at += 1
        function.captures[inner] = captured


def _is_own(function: _Function, opcode: int, operand: int) -> bool:
    """Is the local variable or upvalue `operand` one that holds a function of the script?"""
    while opcode == _GETUPVAL:
        parent = function.parent
        if parent is None:
            return False
        opcode, operand = parent.captures[function.index][operand]
        function = parent
    return operand in function.closures


def _calls_own(function: _Function, at: int) -> bool:
    """Does the tail call at `at` call a function that the script defines?"""
    register = function.code[at] >> 6 & 255
    for i in range(at - 1, -1, -1):
        word = function.code[i]
        opcode = word & 63
        if word >> 6 & 255 != register or opcode in _NOT_WRITING:
            continue
        if opcode == _CLOSURE:
            return True
        if opcode in (_MOVE, _GETUPVAL):
            return _is_own(function, opcode, word >> 23)
        return False
    return False


def without_tail_calls(dump: bytes, own: bool) -> bytes:
    """The compiled chunk with plain calls in place of tail calls; of its `own` functions too? O(len)."""
    if not dump.startswith(_HEADER):
        return dump
    found: list[_Function] = []
    _read(dump, len(_HEADER), None, 0, found)
    patched = bytearray(dump)
    changed = False
    for function in found:
        code = function.code
        for at in range(len(code)):
            word = code[at]
            if word & 63 == _TAILCALL and (own or not _calls_own(function, at)):
                patched[function.code_at + 4 * at] = word & 0xC0 | _CALL
                changed = True
    return bytes(patched) if changed else dump
