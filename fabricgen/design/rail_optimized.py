"""Rail-optimized: NIC r of every host of a unit goes to the leaf of rail r, and spines join the rails.

A unit has one leaf to a rail, or to `rails_per_leaf` rails side by side. Two tiers join all leaves; in three tiers a
pod is the leaves of one rail, so that a rail stays below its own spines (`clos`). With `subplanes`, port p of every NIC
leads to subplane p, a copy of the whole that shares no switch with the others.

Sources: NVIDIA DGX SuperPOD reference architectures H100, B200 (one plane) and B300 (twin planes), network fabrics.
"""

from fabricgen.design.clos_design import ClosDesign
from fabricgen.design.sockets import rail_sockets

design_rail_optimized = ClosDesign(rail_sockets, pods_by_column=True, column="rails")
