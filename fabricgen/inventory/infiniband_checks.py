"""Settings of InfiniBand: on planes that run it, and secrets as references."""

from collections.abc import Iterator

from fabricgen.findings import Finding
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.references import error
from fabricgen.vocabulary import Technology


def check_infiniband(inventory: Inventory) -> Iterator[Finding]:
    """Findings for InfiniBand settings of RoCE planes."""
    for plane in inventory.planes.values():
        for key in ("infiniband", "partitions"):
            if plane.technology == Technology.ROCE and key in plane.node.mapping:
                hint = "set `technology: infiniband`, or remove these settings"
                yield error("FG105", "a RoCE plane has no InfiniBand settings", plane, key, hint=hint)
        if plane.technology == Technology.INFINIBAND and plane.bgp_timers:
            yield error("FG105", "an InfiniBand plane has no BGP sessions", plane, "bgp_timers", hint="remove it")
