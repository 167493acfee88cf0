"""The structure, drawn from all imports, also late ones and those for types: no module and no room is in a cycle."""

from graphlib import TopologicalSorter

import grimp


def test_no_cycle_of_imports() -> None:
    found = grimp.build_graph("fabricgen", cache_dir=None)
    graph = {name: found.find_modules_directly_imported_by(name) for name in sorted(found.modules)}
    assert sum(map(len, graph.values())) > 1000
    [*TopologicalSorter(graph).static_order()]  # raises CycleError with the cycle
    rooms: dict[str, set[str]] = {}
    for name, others in graph.items():
        if room := name.split(".")[1:2]:
            rooms.setdefault(room[0], set()).update(one.split(".")[1] for one in others if "." in one)
    [*TopologicalSorter({room: others - {room} for room, others in rooms.items()}).static_order()]
