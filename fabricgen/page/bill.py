"""The bill of the report, counted from the wiring: switches, hosts, cables, transceivers, ports, racks."""

from collections import Counter
from typing import Any

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint, WiredDevice, Wiring
from fabricgen.handoff.cable_ends import Plant
from fabricgen.platforms.catalog import switch_platform
from fabricgen.sonic.canonical import natural_key
from fabricgen.vocabulary import FIBRES, LinkKind

Kind = tuple[str, str, float, str]  # plane, kind of link, length, medium


def bill_object(bundle: Bundle) -> dict[str, Any] | None:
    """Counts by plane and in total; None for loose files, whose cables and hosts are not known."""
    wiring = bundle.wiring
    if wiring is None:
        return None
    models = {model.name: model.gpus for model in wiring.host_models}
    cables = _cables(bundle, wiring)
    return {
        "switches": len(wiring.devices),
        "models": dict(sorted(Counter(device.platform for device in wiring.devices).items())),
        "hosts": len(wiring.hosts),
        "gpus": sum(models.get(host.model, 0) for host in wiring.hosts),
        "links": sum(link.kind != LinkKind.EXTERNAL for link in wiring.links),
        "cables": sum(row["cables"] for row in cables),
        "transceivers": sum(row["transceivers"] for row in cables),
        "planes": [_plane(wiring, plane.name) for plane in wiring.planes],
        "optics": cables,
        "racks": _racks(wiring),
    }


def _plane(wiring: Wiring, plane: str) -> dict[str, Any]:
    devices = [device for device in wiring.devices if device.plane == plane]
    links = [link for link in wiring.links if link.plane == plane]
    names = {device.name: device.role for device in devices}
    used = Counter(names[end[0]] for link in links for end in (link.a, link.b) if end[0] in names)
    total: Counter[str] = Counter()
    for device in devices:
        total[device.role] += _ports(device)
    roles = Counter(device.role for device in devices)
    return {
        "name": plane,
        "switches": dict(roles),
        "links": dict(Counter(link.kind for link in links)),
        "ports": [
            {"role": role, "used": used[role], "spare": total[role] - used[role] if total[role] else None}
            for role in roles
        ],
    }


def _ports(device: WiredDevice) -> int:
    """The fabric ports of a switch by the catalog; 0 for a platform that it does not have."""
    platform = switch_platform(device.platform)
    layout = next((each for each in platform.layouts if each.name == device.layout), None) if platform else None
    return len(layout.fabric_ports) if layout else 0


def _cables(bundle: Bundle, wiring: Wiring) -> list[dict[str, Any]]:
    """Cables to buy by plane, kind, length and medium: each leg of fibre is one.

    A cage has one transceiver, counted with the first of its cables.
    """
    plant = Plant(bundle, wiring)
    counts: Counter[Kind] = Counter()
    served: dict[Endpoint, Kind] = {}
    for cable in wiring.cables:
        links = plant.links_of(cable)
        kind = (links[0].plane, links[0].kind, cable.length_m, cable.medium)
        counts[kind] += len(cable.arms) if cable.medium in FIBRES else 1
        if cable.medium in FIBRES:
            for link in links:
                for end in (link.a, link.b):
                    served.setdefault(plant.cage(end), kind)
    ends = Counter(served.values())
    return [
        {"plane": plane, "kind": kind, "length_m": length_m, "medium": medium, "cables": count,
         "transceivers": ends[plane, kind, length_m, medium]}
        for (plane, kind, length_m, medium), count in sorted(counts.items())
    ]  # fmt: skip


def _racks(wiring: Wiring) -> dict[str, list[list[str]]]:
    """Rack -> [unit, name, what it is], from the top; only where the inventory names racks."""
    found: dict[str, list[list[str]]] = {}
    for device in wiring.devices:
        if device.rack:
            found.setdefault(device.rack, []).append([device.unit, device.name, device.role])
    for host in wiring.hosts:
        if host.rack:
            found.setdefault(host.rack, []).append([host.unit, host.name, "host"])
    return {
        rack: sorted(found[rack], key=lambda row: (natural_key(row[0]), natural_key(row[1])), reverse=True)
        for rack in sorted(found, key=natural_key)
    }
