"""`ports` of single devices: cages in another breakout mode than those of their tier.

The design gives each link a port by the modes of the tier, so a cage of one device never moves a link of another.
A cage that carries a link keeps the ports of that link, at any speed that both ends support.
"""

from collections.abc import Mapping
from dataclasses import replace

from fabricgen.design.model import Fabric, Link, Switch
from fabricgen.design.ports import configured
from fabricgen.findings import Finding
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.model import DeviceNote
from fabricgen.platforms import catalog
from fabricgen.platforms.model import Layout
from fabricgen.same import Same
from fabricgen.units import format_speed


def with_device_ports(
    fabric: Fabric, notes: Mapping[str, DeviceNote], names: Mapping[str, str]
) -> tuple[Fabric, list[Finding]]:
    """The fabric with the ports of each device; `notes` and `names` are by identity."""
    findings: list[Finding] = []
    known: dict[tuple[Same[Layout], tuple[tuple[str, str], ...]], Layout | None] = {}
    changed: dict[str, Switch] = {}
    for switch in fabric.switches:
        note = notes.get(switch.key)
        if note is None or not note.ports:
            continue
        key = Same(switch.layout), tuple(note.ports.items())
        if key not in known:
            known[key] = configured(switch.platform, [switch.layout], note, note.ports, findings)
        if layout := known[key]:
            changed[switch.key] = replace(switch, layout=layout)
    if not changed:
        return fabric, findings
    designs = []
    for design in fabric.planes:
        links = tuple(_link(link, changed, notes, names, findings) for link in design.links)
        switches = tuple(changed.get(switch.key, switch) for switch in design.switches)
        designs.append(replace(design, switches=switches, links=links))
    return Fabric(fabric.inventory, tuple(designs)), findings


def _link(
    link: Link,
    changed: Mapping[str, Switch],
    notes: Mapping[str, DeviceNote],
    names: Mapping[str, str],
    findings: list[Finding],
) -> Link:
    """The link between the changed switches; the link as it was, with a finding, where a port cannot carry it."""
    near, far = changed.get(link.a.key, link.a), changed.get(link.b.key, link.b)
    if near is link.a and far is link.b:
        return link
    speeds: dict[str, int] = {}
    for node, port in ((near, link.a_port), (far, link.b_port)):
        if not isinstance(node, Switch):
            continue
        found = node.layout.port_by_name.get(port)
        if found is None:
            message = f"`ports` removes {port} of {names[node.key]}, which carries link {link.key}"
            hint = "choose a mode with this port, or a cage without links"
            findings.append(error("FG216", message, notes[node.key], "ports", hint=hint))
            return link
        speeds[f"{names[node.key]}:{port}"] = found.speed_mbps
    if len(set(speeds.values())) > 1:
        shown = ", ".join(f"{name} {format_speed(mbps)}" for name, mbps in speeds.items())
        at = notes[next(node.key for node in (near, far) if node.key in changed)]
        hint = "give the cage at the other end the same speed, with `ports` of that device"
        findings.append(error("FG206", f"the speeds of a link differ: {shown}", at, "ports", hint=hint))
        return link
    speed_mbps = next(iter(speeds.values()))
    if refused := _refused_by_nic(link, speed_mbps):
        findings.append(
            error("FG206", refused, notes[link.b.key], "ports", hint="choose a speed that the NIC supports")
        )
        return link
    return replace(link, a=near, b=far, speed_mbps=speed_mbps)


def _refused_by_nic(link: Link, speed_mbps: int) -> str:
    """Why the NIC of a host link cannot run at a speed; "" if it can, or is unknown."""
    card = catalog.nic_model(link.nic.model) if link.nic else None
    if card is None or speed_mbps in card.ethernet_speeds_mbps:
        return ""
    return f"{link.key}: {card.name} has no port of {format_speed(speed_mbps)}"
