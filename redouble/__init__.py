"""Redouble: a Redis double for tests, CI and a developer's machine.

`Server` and `AsyncServer` are a server within a program; they are imported when they are asked for, so
that `import redouble` costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from redouble.testing.server import AsyncServer, Server
    from redouble.testing.values import Aged, ReplyError

__all__ = ["Aged", "AsyncServer", "ReplyError", "Server"]
__version__ = "0.1.0"

_LAZY = {"Server": "server", "AsyncServer": "server", "ReplyError": "values", "Aged": "values"}


def __getattr__(name: str) -> Any:
    """What is imported when it is asked for."""
    if name not in _LAZY:
        raise AttributeError(f"module 'redouble' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"redouble.testing.{_LAZY[name]}"), name)
