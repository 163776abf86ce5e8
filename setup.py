"""The build: pure Python, or with the inner rooms compiled by mypyc.

`REDOUBLE_COMPILE=1` compiles and fails if it can't; `REDOUBLE_COMPILE=0` never compiles. Everything
else about the package stands in pyproject.toml.
"""

import os
from pathlib import Path

from setuptools import setup

ROOMS = ("protocol", "datatypes", "keyspace", "lua_runtime", "persistence", "engine", "commands")


def sources() -> list[str]:
    """The modules that are compiled."""
    found = ["redouble/errors.py", "redouble/clock.py", "redouble/doubles.py"]
    for room in ROOMS:
        found += sorted(str(path) for path in Path("redouble", room).rglob("*.py") if path.name != "__init__.py")
    return [path for path in found if path not in NOT_COMPILED]


#: Modules that stay interpreted, with the reason beside each.
NOT_COMPILED: tuple[str, ...] = ()


def compiled_extensions() -> list:  # type: ignore[type-arg]
    """The extension modules, or none for a pure build."""
    if os.environ.get("REDOUBLE_COMPILE", "0") != "1":
        return []
    from mypyc.build import mypycify

    return mypycify(sources(), opt_level="3", debug_level="0", multi_file=True)


setup(ext_modules=compiled_extensions())
