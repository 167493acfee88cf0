"""The shape of a plane, from its wiring: oversubscription, bisection bandwidth, networks without a common switch."""

from collections import Counter
from collections.abc import Mapping

from fabricgen.bundle.wiring import WiredLink, Wiring
from fabricgen.vocabulary import LinkKind

_TIERS = (LinkKind.HOST_LEAF, LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE)


def plane_links(wiring: Wiring, plane: str) -> list[WiredLink]:
    """The links of a plane without those to devices outside the fabric."""
    return [link for link in wiring.links if link.plane == plane and link.kind != LinkKind.EXTERNAL]


def oversubscription(wiring: Wiring, plane: str) -> Mapping[str, float]:
    """Role -> bandwidth below over bandwidth above, of the switch with the worst ratio; only roles with links above.

    Links between groups count as above at both ends, links between switches of one tier at neither end.
    """
    roles = {device.name: device.role for device in wiring.devices}
    down: Counter[str] = Counter()
    up: Counter[str] = Counter()
    for link in plane_links(wiring, plane):
        (near, _), (far, _) = link.a, link.b
        if link.kind == LinkKind.GLOBAL:
            up.update({near: link.speed_mbps, far: link.speed_mbps})
        elif link.kind != LinkKind.PEER:
            down[far] += link.speed_mbps
            if near in roles:
                up[near] += link.speed_mbps
    worst: dict[str, float] = {}
    for name, mbps in up.items():
        worst[roles[name]] = max(worst.get(roles[name], 0.0), round(down[name] / mbps, 3))
    return worst


def bisection_gbps(wiring: Wiring, plane: str) -> int | None:
    """The bandwidth from one half of the hosts to the other in Gb/s: half of the narrowest tier.

    None for a plane with other links than those between tiers: its wiring does not say where its narrowest half is.
    """
    by_kind: Counter[str] = Counter()
    for link in plane_links(wiring, plane):
        by_kind[link.kind] += link.speed_mbps
    if not by_kind or set(by_kind) - set(_TIERS):
        return None
    return min(by_kind.values()) // 2000


def networks(wiring: Wiring, plane: str) -> int:
    """The number of parts of a plane that no link joins: traffic from one to another needs the hosts (NVLink)."""
    names = [device.name for device in wiring.devices if device.plane == plane]
    above = {name: name for name in names}
    for link in plane_links(wiring, plane):
        if link.a[0] in above and link.b[0] in above:
            above[_root(above, link.a[0])] = _root(above, link.b[0])
    return len({_root(above, name) for name in names})


def _root(above: dict[str, str], name: str) -> str:
    while above[name] != name:
        above[name] = above[above[name]]
        name = above[name]
    return name
