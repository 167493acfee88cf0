"""Fat tree: a unit is the hosts below one leaf, whatever their rails; or below a few (`leaves_per_unit`), over which a
host's NICs are dealt out evenly: two for hosts that are dual-homed.

Any arity: two tiers, or three once the leaves outnumber a spine's ports, with all leaves of `pod: {units: n}` to a pod
(`clos`). Oversubscription is set for each tier: `{leaf: 0.5, spine: 7}` is twice the bandwidth above the leaf, and a
seventh above the spine. `uplink_speed` lets hosts and uplinks differ in speed.

Sources: Al-Fares et al. (SIGCOMM 2008); Gangidi et al., RDMA over Ethernet for Distributed AI Training at Meta Scale
(SIGCOMM 2024): racks of 16 GPUs, pods of 192 racks, 7:1 at the top.
"""

from fabricgen.design.clos_design import ClosDesign
from fabricgen.design.sockets import host_sockets

design_fat_tree = ClosDesign(host_sockets, pods_by_column=False, column="leaves")
