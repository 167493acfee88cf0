"""What a fabric takes: switches, links, cables, ports used and spare, oversubscription, bisection bandwidth."""

from collections import Counter
from typing import Any

from fabricgen.design.model import ROLES, Fabric, PlaneDesign, Switch

LINK_KINDS = ("host-leaf", "leaf-spine", "spine-core", "peer")


def capacity(fabric: Fabric) -> dict[str, Any]:
    """The `capacity` object of the contract."""
    cables = Counter((cable.kind, cable.id) for cable in fabric.cables)
    return {"planes": [_plane(plane, cables) for plane in fabric.planes]}


def _plane(design: PlaneDesign, cables: Counter[tuple[str, str]]) -> dict[str, Any]:
    links = Counter(link.kind for link in design.links)
    own = {link.id for link in design.links}
    cable_counts = Counter(kind for kind, first in cables if first in own)
    kinds = [kind for kind in LINK_KINDS if links[kind] or kind != "peer"]
    roles = Counter(switch.role for switch in design.switches)
    endpoints = links["host-leaf"]
    infiniband = design.plane.technology == "infiniband"
    return {
        "name": design.plane.name,
        "technology": design.plane.technology,
        "purpose": design.plane.purpose,
        "switches": {role: roles[role] for role in ROLES},
        "planned": dict(design.planned),
        "hosts": len(design.hosts),
        "endpoints": endpoints,
        "links": {kind: links[kind] for kind in kinds},
        "cables": {kind: cable_counts[kind] for kind in kinds},
        "optics": _optics(design, cables),
        "ports": _ports(design),
        "oversubscription": _oversubscription(design),
        "bisection_gbps": _bisection_gbps(design),
        "lids": endpoints + len(design.switches) if infiniband else None,
    }


def _optics(design: PlaneDesign, cables: Counter[tuple[str, str]]) -> list[dict[str, Any]]:
    """Cables by kind, length and medium."""
    counts = Counter(
        (link.kind, link.cable.length_m, link.cable.medium) for link in design.links if (link.kind, link.id) in cables
    )
    return [
        {"kind": kind, "length_m": length_m, "medium": medium, "cables": count}
        for (kind, length_m, medium), count in sorted(counts.items())
    ]


def _ports(design: PlaneDesign) -> list[dict[str, Any]]:
    """Fabric ports of a tier in all: used by links, and spare."""
    used: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for switch in design.switches:
        total[switch.role] += len(switch.layout.fabric_ports)
    for link in design.links:
        for end in (link.a, link.b):
            if isinstance(end, Switch):
                used[end.role] += 1
    return [{"role": role, "used": used[role], "spare": total[role] - used[role]} for role in ROLES if total[role]]


def _oversubscription(design: PlaneDesign) -> dict[str, float]:
    """Bandwidth below over bandwidth above, as cabled: the worst switch of each tier that has one above it."""
    down: Counter[str] = Counter()
    up: Counter[str] = Counter()
    for link in design.links:
        down[link.b.key] += link.speed_mbps
        if isinstance(link.a, Switch):
            up[link.a.key] += link.speed_mbps
    worst: dict[str, float] = {}
    for switch in design.switches:
        if up[switch.key]:
            ratio = round(down[switch.key] / up[switch.key], 3)
            worst[switch.role] = max(worst.get(switch.role, 0.0), ratio)
    return worst


def _bisection_gbps(design: PlaneDesign) -> int:
    """What one half of the hosts can send to the other: half of the narrowest tier."""
    by_kind: Counter[str] = Counter()
    for link in design.links:
        by_kind[link.kind] += link.speed_mbps
    widths = [by_kind[kind] for kind in LINK_KINDS[:3] if by_kind[kind]]
    return min(widths, default=0) // 2000
