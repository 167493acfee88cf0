"""Parts that several others contain: pools of addresses, cables."""

from fabricgen.inventory.nodes import Node
from fabricgen.inventory.plane import CableSpec, PoolSpec
from fabricgen.units import parse_length_m
from fabricgen.vocabulary import Medium


def build_pool(node: Node, path: str) -> PoolSpec:
    prefixes = node.mapping.get("prefixes", node)
    texts = [item.value for item in prefixes.items] or [prefixes.value]
    return PoolSpec(node=node, path=path, prefixes=tuple(str(text) for text in texts), reserve=node.texts("reserve"))


_TWISTED_PAIR_MBPS, _TWISTED_PAIR_M = 1000, 100  # 1000BASE-T: the RJ45 ports of out-of-band networks


def build_cable(node: Node, path: str, speed_mbps: int | None = None) -> CableSpec:
    length_m = parse_length_m(str(node.mapping["length"].value if node.mapping else node.value))
    medium = Medium(node.scalar("medium", medium_for(length_m, speed_mbps)))
    training = node.scalar("link_training")
    return CableSpec(node=node, path=path, length_m=length_m, medium=medium, link_training=training)


def medium_for(length_m: float, speed_mbps: int | None = None) -> Medium:
    """Copper to 3 m, multi-mode to 50 m, then single mode: the reach of 400G optics. Twisted pair to 100 m at 1G."""
    if speed_mbps is not None and speed_mbps <= _TWISTED_PAIR_MBPS and length_m <= _TWISTED_PAIR_M:
        return Medium.UTP
    return Medium.DAC if length_m <= 3 else Medium.MMF if length_m <= 50 else Medium.SMF
