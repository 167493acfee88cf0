"""The counts of a fabric: switches, links, cables, ports used and spare, oversubscription, bisection bandwidth."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fabricgen.design.cables import Cable
from fabricgen.design.model import ROLES, Fabric, PlaneDesign, Switch
from fabricgen.design.subnets import split_subnets
from fabricgen.design.waste import waste
from fabricgen.vocabulary import FIBRES, LinkKind, Technology

LINK_KINDS = (LinkKind.HOST_LEAF, LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE, LinkKind.PEER, LinkKind.GLOBAL)
TIER_KINDS = LINK_KINDS[:3]


def capacity(fabric: Fabric) -> dict[str, Any]:
    """The `capacity` object of the contract, and the total of all planes."""
    cables = {cable.key: cable for cable in fabric.cables}
    planes = [_plane(plane, cables) for plane in fabric.planes]
    return {"planes": planes, "total": _total(fabric, planes)}


def _total(fabric: Fabric, planes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts of all planes. A host that is on several planes counts once. Cables are those to buy."""
    models = Counter(switch.platform.name for switch in fabric.switches)
    return {
        "switches": len(fabric.switches),
        "models": dict(sorted(models.items())),
        "hosts": len(fabric.hosts),
        "gpus": sum(host.model.gpus for host in fabric.hosts),
        "links": len(fabric.links),
        "cables": sum(optic["cables"] for plane in planes for optic in plane["optics"]),
        "transceivers": sum(optic["transceivers"] for plane in planes for optic in plane["optics"]),
        **_space(fabric.switches),
    }


def _plane(design: PlaneDesign, cables: Mapping[str, Cable]) -> dict[str, Any]:
    links = Counter(link.kind for link in design.links)
    cable_counts = Counter(link.kind for link in design.links if link.key in cables)
    kinds = [kind for kind in LINK_KINDS if links[kind] or kind in TIER_KINDS]
    roles = Counter(switch.role for switch in design.switches)
    subnets = split_subnets(design) if design.plane.technology == Technology.INFINIBAND else []
    ratios = _ratios(design)
    return {
        "name": design.plane.name,
        "technology": design.plane.technology,
        "lossless": list(design.plane.lossless.classes),
        "purpose": design.plane.purpose,
        "switches": {role: roles[role] for role in ROLES},
        "planned": dict(design.planned),
        "models": _models(design),
        "hosts": len(design.hosts),
        "gpus": sum(host.model.gpus for host in design.hosts),
        "nvlink_domains": _nvlink_domains(design),
        "endpoints": links[LinkKind.HOST_LEAF],
        "links": {kind: links[kind] for kind in kinds},
        "cables": {kind: cable_counts[kind] for kind in kinds},
        "optics": _optics(design, cables),
        "ports": _ports(design),
        "oversubscription": _worst(design, ratios),
        "rails": _rails(design, ratios),
        "injection_gbps": sum(link.speed_mbps for link in design.links if link.kind == LinkKind.HOST_LEAF) // 1000,
        "bisection_gbps": _bisection_gbps(design),
        **_space(design.switches),
        "subnets": len(subnets),
        "waste": waste(design),
        "lids": max((subnet.lids for subnet in subnets), default=None),
    }


def _optics(design: PlaneDesign, cables: Mapping[str, Cable]) -> list[dict[str, Any]]:
    """Cables by kind, length and medium, and the transceivers that they need: one for each cage, counted with the first
    of its cables, and none for cables with fixed ends."""
    counts: Counter[tuple[str, float, str]] = Counter()
    served: dict[tuple[str, str], tuple[str, float, str]] = {}
    for link in design.links:
        group = link.kind, link.cable.length_m, link.cable.medium
        counts[group] += cables[link.key].pieces if link.key in cables else 0
        if link.cable.medium in FIBRES:
            for end, port in ((link.a, link.a_port), (link.b, link.b_port)):
                served.setdefault((end.key, end.cage(port)), group)
    transceivers = Counter(served.values())
    return [
        {
            "kind": kind,
            "length_m": length_m,
            "medium": medium,
            "cables": count,
            "transceivers": transceivers[kind, length_m, medium],
        }
        for (kind, length_m, medium), count in sorted(counts.items())
    ]


def _ports(design: PlaneDesign) -> list[dict[str, Any]]:
    """Fabric ports of each tier: used by links, and spare."""
    used: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for switch in design.switches:
        total[switch.role] += len(switch.layout.fabric_ports)
    for link in design.links:
        for end in (link.a, link.b):
            if isinstance(end, Switch):
                used[end.role] += 1
    return [{"role": role, "used": used[role], "spare": total[role] - used[role]} for role in ROLES if total[role]]


def _ratios(design: PlaneDesign) -> dict[str, float]:
    """switch -> bandwidth below divided by bandwidth above, as cabled; only switches with links above.

    Links between groups count as above at both ends, links between switches of one tier at neither end.
    """
    down: Counter[str] = Counter()
    up: Counter[str] = Counter()
    for link in design.links:
        if link.kind == LinkKind.GLOBAL:
            up.update({link.a.key: link.speed_mbps, link.b.key: link.speed_mbps})
        elif link.kind != LinkKind.PEER:
            down[link.b.key] += link.speed_mbps
            if isinstance(link.a, Switch):
                up[link.a.key] += link.speed_mbps
    return {key: round(down[key] / mbps, 3) for key, mbps in up.items()}


def _worst(design: PlaneDesign, ratios: Mapping[str, float]) -> dict[str, float]:
    """The worst ratio of each tier."""
    worst: dict[str, float] = {}
    for switch in design.switches:
        if switch.key in ratios:
            worst[switch.role] = max(worst.get(switch.role, 0.0), ratios[switch.key])
    return worst


def _rails(design: PlaneDesign, ratios: Mapping[str, float]) -> list[dict[str, Any]]:
    """Endpoints of each rail, and the worst ratio of its leaves (None: no link above them)."""
    endpoints: Counter[int] = Counter()
    worst: dict[int, float] = {}
    for link in design.links:
        if link.nic is not None and link.rail is not None:
            endpoints[link.rail] += 1
            if link.b.key in ratios:
                worst[link.rail] = max(worst.get(link.rail, 0.0), ratios[link.b.key])
    return [
        {"rail": rail, "endpoints": count, "oversubscription": worst.get(rail)}
        for rail, count in sorted(endpoints.items())
    ]


def _nvlink_domains(design: PlaneDesign) -> int | None:
    """Racks of hosts that share NVLink, rounded up for each group; None if no domain spans hosts."""
    groups = Counter(host.group for host in design.hosts)
    models = {host.group: host.model for host in design.hosts}
    spans = {group: models[group].hosts_per_domain for group in groups}
    if all(span == 1 for span in spans.values()):
        return None
    return sum(-(-count // spans[group]) for group, count in groups.items())


def _models(design: PlaneDesign) -> dict[str, dict[str, int]]:
    """Role -> switch model -> number."""
    counts = Counter((switch.role, switch.platform.name) for switch in design.switches)
    return {
        role: {name: count for (of_role, name), count in sorted(counts.items()) if of_role == role}
        for role in ROLES
        if any(of_role == role for of_role, _ in counts)
    }


def _space(switches: Sequence[Switch]) -> dict[str, Any]:
    """The most power and the rack units of the switches together, None if a model does not state its own; and the
    models that do not."""
    platforms = {switch.platform.name: switch.platform for switch in switches}
    counts = Counter(switch.platform.name for switch in switches)
    watts = {name: each.power_watts.maximum if each.power_watts else None for name, each in platforms.items()}
    units = {name: each.rack_units for name, each in platforms.items()}

    def added(each: Mapping[str, int | None]) -> int | None:
        known = [number * counts[name] for name, number in each.items() if number is not None]
        return sum(known) if known and len(known) == len(each) else None

    return {
        "power_watts": added(watts),
        "rack_units": added(units),
        "without_rack_units": sorted(name for name, number in units.items() if number is None),
    }


def _bisection_gbps(design: PlaneDesign) -> int:
    """Bandwidth from one half of the hosts to the other: the value of the design, else half of the narrowest tier."""
    if design.bisection_gbps is not None:
        return design.bisection_gbps
    by_kind: Counter[str] = Counter()
    for link in design.links:
        by_kind[link.kind] += link.speed_mbps
    widths = [by_kind[kind] for kind in TIER_KINDS if by_kind[kind]]
    return min(widths, default=0) // 2000
