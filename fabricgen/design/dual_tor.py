"""Dual-ToR: each port of a NIC goes to another leaf, so that a host stays connected when a leaf fails.

A unit has one leaf for each rail and NIC port. By default each side is a subplane (dual plane: the sides
share no switch, and 8 rails of 2 ports make 16 leaves of a segment); `subplanes: 1` puts both sides below the same
spines. The leaves are not stacked: each port has its own address and session.

Source: Qian et al., Alibaba HPN: A Data Center Network for Large Language Model Training (SIGCOMM 2024).
"""

from functools import partial

from fabricgen.design.clos_checks import CLOS_KEYS, CLOS_TIER_KEYS, JOINED_CLOS_KEYS, check_clos
from fabricgen.design.clos_design import ClosDesign
from fabricgen.design.design import Design
from fabricgen.design.graph import clos_graph
from fabricgen.design.sizing import FirstClos, rail_seats
from fabricgen.design.sockets import rail_sockets

DESIGN = Design(
    name="dual-tor",
    summary="each port of a NIC goes to its own leaf of the rail; spines join the rails of each subplane",
    expand=ClosDesign(partial(rail_sockets, by_side=True), pods_by_column=True, column="leaves"),
    needs=("hosts", "scalable_unit", "leaf", "spine", "speed"),
    takes=(*CLOS_KEYS, *JOINED_CLOS_KEYS, "rails_per_leaf"),
    tier_takes=CLOS_TIER_KEYS,
    check=check_clos,
    first_layout=FirstClos(partial(rail_seats, by_side=True)),
    graph=clos_graph,
    nic_ports=2,
)
