"""Fat tree: a unit is the hosts below one leaf, independent of their rails, or below a few (`leaves_per_unit`).

A host's NICs are spread evenly over the leaves of its unit: two leaves for dual-homed hosts.

Any arity: two tiers, or three once the leaves outnumber a spine's ports, with all leaves of `pod: {units: n}` to a pod
(`clos`). Oversubscription is set for each tier: `{leaf: 0.5, spine: 7}` is twice the bandwidth above the leaf, and a
seventh above the spine. `uplink_speed` lets hosts and uplinks differ in speed.

Sources: Al-Fares et al. (SIGCOMM 2008); Gangidi et al., RDMA over Ethernet for Distributed AI Training at Meta Scale
(SIGCOMM 2024): racks of 16 GPUs, pods of 192 racks, 7:1 at the top.
"""

from fabricgen.design.clos_checks import CLOS_KEYS, CLOS_TIER_KEYS, JOINED_CLOS_KEYS, check_clos
from fabricgen.design.clos_design import ClosDesign
from fabricgen.design.design import Design
from fabricgen.design.graph import clos_graph
from fabricgen.design.sizing import FirstClos, host_seats
from fabricgen.design.sockets import host_sockets

DESIGN = Design(
    name="fat-tree",
    summary="all NICs of a host go to one leaf, or to a few; spines of a pod and cores join the leaves",
    expand=ClosDesign(host_sockets, pods_by_column=False, column="leaves"),
    needs=("hosts", "scalable_unit", "leaf", "spine", "speed"),
    takes=(*CLOS_KEYS, *JOINED_CLOS_KEYS, "leaves_per_unit"),
    tier_takes=CLOS_TIER_KEYS,
    check=check_clos,
    first_layout=FirstClos(host_seats),
    graph=clos_graph,
)
