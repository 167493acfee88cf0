"""Rail-optimized: NIC r of every host of a unit goes to the leaf of rail r, and spines connect the rails.

A unit has one leaf for each rail, or for `rails_per_leaf` adjacent rails. Two tiers connect all leaves; in three tiers
a pod is the leaves of one rail, so that each rail has its own spines (`clos`). With `subplanes`, port p of every NIC
goes to subplane p, a copy of the fabric that shares no switch with the others.

Sources: NVIDIA DGX SuperPOD reference architectures H100, B200 (one plane) and B300 (twin planes), network fabrics.
"""

from fabricgen.design.clos_checks import CLOS_KEYS, CLOS_TIER_KEYS, JOINED_CLOS_KEYS, check_clos
from fabricgen.design.clos_design import ClosDesign
from fabricgen.design.design import Design
from fabricgen.design.graph import clos_graph
from fabricgen.design.sizing import FirstClos, rail_seats
from fabricgen.design.sockets import rail_sockets

DESIGN = Design(
    name="rail-optimized",
    summary="each NIC goes to the leaf of its rail; spines, and cores in three tiers, join all rails",
    expand=ClosDesign(rail_sockets, pods_by_column=True, column="rails"),
    needs=("hosts", "scalable_unit", "leaf", "spine", "speed"),
    takes=(*CLOS_KEYS, *JOINED_CLOS_KEYS, "rails_per_leaf"),
    tier_takes=CLOS_TIER_KEYS,
    check=check_clos,
    first_layout=FirstClos(rail_seats),
    graph=clos_graph,
)
