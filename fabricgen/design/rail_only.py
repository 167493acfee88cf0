"""Rail-only: as rail-optimized, and nothing joins the rails. Traffic between rails stays inside a host (NVLink).

Each rail is a two-tier Clos of its own: the leaves of all units, and the spines that join them. With one unit the leaf
of a rail is all there is, and no spine is needed.

Source: Wang et al., Rail-only: A Low-Cost High-Performance Network for Training LLMs (arXiv 2307.12169).
"""

from fabricgen.design.clos_design import ClosDesign
from fabricgen.design.sockets import rail_sockets

design_rail_only = ClosDesign(rail_sockets, pods_by_column=True, column="rails", joined=False)
