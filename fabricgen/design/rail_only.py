"""Rail-only: as rail-optimized, without links between the rails. Traffic between rails stays inside a host (NVLink).

Each rail is a separate two-tier Clos: the leaves of all units, and the spines that connect them. With one unit a rail
is a single leaf and needs no spine.

Source: Wang et al., Rail-only: A Low-Cost High-Performance Network for Training LLMs (arXiv 2307.12169).
"""

from functools import partial

from fabricgen.design.clos_checks import CLOS_KEYS, CLOS_TIER_KEYS, check_clos
from fabricgen.design.clos_design import ClosDesign
from fabricgen.design.design import Design
from fabricgen.design.graph import clos_graph
from fabricgen.design.sizing import FirstClos, rail_seats
from fabricgen.design.sockets import rail_sockets

DESIGN = Design(
    name="rail-only",
    summary="each NIC goes to the leaf of its rail; spines join the leaves of one rail, nothing joins the rails",
    expand=ClosDesign(rail_sockets, pods_by_column=True, column="rails", joined=False),
    needs=("hosts", "scalable_unit", "leaf", "speed"),
    takes=(*CLOS_KEYS, "spine", "rails_per_leaf"),
    tier_takes=CLOS_TIER_KEYS,
    check=partial(check_clos, joined=False),
    first_layout=FirstClos(rail_seats, joined=False),
    graph=clos_graph,
)
