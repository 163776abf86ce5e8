"""The house rules that a machine can check."""

from __future__ import annotations

import ast
from pathlib import Path

import redouble

ROOT = Path(redouble.__file__).parent

#: A room may import itself and what stands before it.
ORDER = [
    ("errors", "clock", "doubles"),
    ("protocol", "datatypes"),
    ("keyspace", "lua_runtime"),
    ("persistence",),
    ("engine",),
    ("commands",),
    ("server",),
    ("testing",),
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    """The rooms that a file imports, wherever the import stands."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("redouble."):
            rooms.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            rooms.update(name.name.split(".")[1] for name in node.names if name.name.startswith("redouble."))
    return rooms


def source_files() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if room_of(path) in LEVEL)


def test_every_room_is_there() -> None:
    assert {room_of(path) for path in source_files()} == set(LEVEL)


def test_a_room_imports_only_what_stands_before_it() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {room}"
        for path in source_files()
        for room in imports_of(path)
        if room != room_of(path) and LEVEL[room] >= LEVEL[room_of(path)]
    ]
    assert wrong == []


def test_only_the_edge_is_asynchronous() -> None:
    wrong = []
    for path in source_files():
        if LEVEL[room_of(path)] < LEVEL["server"]:
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.AsyncFunctionDef | ast.Await):
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert wrong == []


def test_only_the_clock_reads_the_time_and_nobody_the_global_chance() -> None:
    wrong = []
    for path in source_files():
        if LEVEL[room_of(path)] >= LEVEL["server"] or path.name == "clock.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [name.name for name in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module in ("time", "datetime", "random", "secrets"):
                names = [f"{node.module}.{name.name}" for name in node.names]
            wrong += [
                f"{path.relative_to(ROOT)}:{node.lineno} {name}"
                for name in names
                if name.partition(".")[0] in ("time", "datetime", "random", "secrets") and name != "random.Random"
            ]
    assert wrong == []


def test_no_pickle_and_no_eval() -> None:
    wrong = []
    for path in source_files():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Name) and node.id in ("eval", "exec", "pickle", "marshal", "__import__"):
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert wrong == []


def test_every_module_says_how_it_works() -> None:
    empty = [
        str(path.relative_to(ROOT))
        for path in source_files()
        if path.stat().st_size and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert empty == []


def test_files_stay_small() -> None:
    sizes = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in source_files()}
    sizes = {name: size for name, size in sizes.items() if size}
    assert {name: size for name, size in sizes.items() if size > 900} == {}
    assert sorted(sizes.values())[len(sizes) // 2] < 200


def test_functions_stay_short() -> None:
    lengths = []
    for path in source_files():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                lengths.append(node.end_lineno - node.lineno + 1)
    lengths.sort()
    assert lengths[len(lengths) * 9 // 10] < 35
