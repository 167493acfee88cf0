"""Parts that several others have: pools of addresses, cables."""

from fabricgen.inventory.nodes import Node
from fabricgen.inventory.plane import CableSpec, PoolSpec
from fabricgen.units import parse_length_m


def build_pool(node: Node, path: str) -> PoolSpec:
    prefixes = node.mapping.get("prefixes", node)
    texts = [item.value for item in prefixes.items] or [prefixes.value]
    return PoolSpec(node=node, path=path, prefixes=tuple(str(text) for text in texts), reserve=node.texts("reserve"))


def build_cable(node: Node, path: str) -> CableSpec:
    length_m = parse_length_m(str(node.mapping["length"].value if node.mapping else node.value))
    medium = node.scalar("medium", medium_for(length_m))
    training = node.scalar("link_training")
    return CableSpec(node=node, path=path, length_m=length_m, medium=medium, link_training=training)


def medium_for(length_m: float) -> str:
    """Copper to 3 m, multi-mode to 50 m, single mode beyond: the reach of 400G optics."""
    return "dac" if length_m <= 3 else "mmf" if length_m <= 50 else "smf"
