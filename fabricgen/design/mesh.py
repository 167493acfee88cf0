"""Mesh: the grid of `grid` without rings."""

from functools import partial

from fabricgen.design.design import Design
from fabricgen.design.grid import expand_grid
from fabricgen.design.grid_designs import GRID_NEEDS, check_grid, grid_graph, grid_layout

DESIGN = Design(
    name="mesh",
    summary="all NICs of a host go to the switch of its unit; a line of switches in each dimension",
    expand=expand_grid,
    needs=GRID_NEEDS,
    check=check_grid,
    first_layout=partial(grid_layout, dimensions=2),
    graph=grid_graph,
    cyclic=True,
)
