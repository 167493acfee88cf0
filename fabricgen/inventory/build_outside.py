"""External devices of a plane and the prefixes behind them, as the typed model."""

from fabricgen.inventory.build_parts import build_cable, medium_for
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.plane import CableSpec, OutsideDevice, StaticSpec
from fabricgen.units import parse_speed_mbps

OUTSIDE_CABLE_M = 40.0
OUTSIDE_PORT = "outside"  # the port of an external device that names none
ALL = "all"  # instead of a list of prefixes


def build_outside(node: Node, path: str, peer: str) -> OutsideDevice:
    """An external device. `peer` is the key of the device's addresses."""
    speed, cable = node.scalar("speed"), node.mapping.get("cable")
    default = CableSpec(node=node, path=path, length_m=OUTSIDE_CABLE_M, medium=medium_for(OUTSIDE_CABLE_M))
    return OutsideDevice(
        node=node,
        path=path,
        asn=node.scalar("asn"),
        **{key: node.scalar(key) for key in ("name", "switch", "port")},
        peer_port=node.scalar("peer_port", OUTSIDE_PORT),
        addresses=_one_or_more(node, "address"),
        peers=_one_or_more(node, peer),
        accepts=_filter(node, "in"),
        announces=_filter(node, "out"),
        cable=build_cable(cable, f"{path}.cable") if cable else default,
        speed_mbps=parse_speed_mbps(speed) if speed else None,
    )


def build_static(node: Node, path: str) -> StaticSpec:
    whole = {"name", "switch", "port", "address"} <= node.mapping.keys()
    return StaticSpec(
        node=node,
        path=path,
        prefixes=_one_or_more(node, "prefix"),
        via=node.scalar("via"),
        device=build_outside(node, path, "next_hop") if whole else None,
    )


def _filter(node: Node, key: str) -> tuple[str, ...] | None:
    found = _one_or_more(node, key)
    return None if found == (ALL,) else found


def _one_or_more(node: Node, key: str) -> tuple[str, ...]:
    """A text, or a list of texts."""
    if key not in node.mapping:
        return ()
    return node.texts(key) or (str(node.mapping[key].value),)
