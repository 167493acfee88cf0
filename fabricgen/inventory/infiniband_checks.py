"""Settings of InfiniBand: on planes that run it, and secrets as references."""

from collections.abc import Iterator

from fabricgen.findings import Finding
from fabricgen.inventory.build_management import literal_secret
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.nodes import SecretReference
from fabricgen.inventory.references import error
from fabricgen.vocabulary import Technology


def check_infiniband(inventory: Inventory) -> Iterator[Finding]:
    """Findings for literal management keys, and for InfiniBand settings of RoCE planes."""
    for plane in inventory.planes.values():
        m_key = plane.infiniband.m_key
        if m_key is not None and not isinstance(m_key, SecretReference):
            yield literal_secret(f"{plane.infiniband.path}.m_key", plane.infiniband.node.mapping["m_key"])
        for key in ("infiniband", "partitions"):
            if plane.technology == Technology.ROCE and key in plane.node.mapping:
                hint = "set `technology: infiniband`, or remove these settings"
                yield error("FG105", "a RoCE plane has no InfiniBand settings", plane, key, hint=hint)
