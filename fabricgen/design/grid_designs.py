"""What torus and mesh have in common: their keys, their first layout and their graph."""

from collections.abc import Iterator
from itertools import count
from math import prod

from fabricgen.design.first_layout import NICS, Demand, FirstLayout, NoLayoutError
from fabricgen.design.graph import Graph
from fabricgen.design.grid import is_ring
from fabricgen.design.model import PlaneDesign
from fabricgen.findings import Finding
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.plane import Plane

GRID_NEEDS = ("hosts", "scalable_unit", "torus", "leaf", "speed")
MOST_SIZE = 16  # of a dimension
_UNIT_HOSTS = 2


def grid_layout(demand: Demand, dimensions: int) -> FirstLayout:
    """Two hosts on a switch; the grid nearest to a cube that holds all hosts, each size at least 3.

    Raises NoLayoutError.
    """
    hosts, radix = demand.hosts, demand.spine_ports
    links = (radix - _UNIT_HOSTS * NICS) // (2 * dimensions)
    if links < 1:
        raise NoLayoutError(f"{radix} ports are too few for {_UNIT_HOSTS} hosts and {2 * dimensions} neighbours")
    size = [3] * dimensions
    for axis in count():
        if _UNIT_HOSTS * prod(size) >= hosts:
            break
        size[axis % dimensions] += 1
    if max(size) > MOST_SIZE:
        raise NoLayoutError(f"{hosts} hosts need {' x '.join(map(str, size))} switches; try a Clos or a dragonfly")
    keys = {"torus": f"{{size: {size}, links: {min(links, 4)}}}"}
    return FirstLayout(("leaf",), {"host-leaf": "5m", "peer": "10m"}, _UNIT_HOSTS, keys=keys)


def grid_graph(design: PlaneDesign) -> Graph:
    """A torus or mesh; in one dimension a ring or a line."""
    grid = design.plane.torus
    assert grid, "a grid that was laid out has a size"
    rings = any(is_ring(design.plane, size) for size in grid.size)
    if len(grid.size) == 1:
        return Graph.RING if rings else Graph.LINE
    if not rings:
        return Graph.MESH
    return Graph.TORUS_2D if len(grid.size) == 2 else Graph.TORUS_3D


def check_grid(plane: Plane) -> Iterator[Finding]:
    """Findings for lists that are not as long as the size, and for datelines outside the rings."""
    torus = plane.torus
    if torus is None:
        return
    for key, values in (("links", torus.links), ("datelines", torus.datelines)):
        if len(values) != len(torus.size):
            message = f"{key} has {len(values)} entries, size has {len(torus.size)} dimensions"
            yield error("FG105", message, torus, key, hint=f"give `torus.{key}` one entry for each dimension")
    if "datelines" in torus.node.mapping and plane.design == "mesh":
        yield error("FG105", "a mesh has no rings, so no datelines", torus, "datelines", hint="use `design: torus`")
        return
    for index, (place, size) in enumerate(zip(torus.datelines, torus.size, strict=False)):
        if place >= size:
            message = f"dateline {place} is outside: the dimension has the coordinates 0 to {size - 1}"
            yield error("FG105", message, torus, "datelines", index, hint=f"use 0 to {size - 1}")
