"""The structure, drawn from all imports, also late ones and those for types: no module and no room is in a cycle."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]


def modules() -> dict[str, ast.Module]:
    """Module of fabricgen -> its syntax tree."""
    files = sorted((ROOT / "fabricgen").rglob("*.py"))
    names = [".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for file in files]
    return {name: ast.parse(file.read_bytes()) for name, file in zip(names, files, strict=True)}


def imported(tree: ast.Module, known: Mapping[str, ast.Module]) -> Iterator[str]:
    """The modules that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            parts = [f"{node.module}.{one.name}" for one in node.names]
            yield from (part if part in known else str(node.module) for part in parts)


def test_no_cycle_of_imports() -> None:
    known = modules()
    graph = {name: {*imported(tree, known)} - {name} for name, tree in known.items()}
    assert sum(map(len, graph.values())) > 1000
    [*TopologicalSorter(graph).static_order()]  # raises CycleError with the cycle
    rooms: dict[str, set[str]] = {}
    for name, found in graph.items():
        if room := name.split(".")[1:2]:
            rooms.setdefault(room[0], set()).update(one.split(".")[1] for one in found if "." in one)
    [*TopologicalSorter({room: found - {room} for room, found in rooms.items()}).static_order()]
