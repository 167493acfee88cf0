"""The rule on links, neighbors and sessions that connect two planes."""

from collections.abc import Iterator

from fabricgen.bundle.wiring import WiredLink
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch

_SEPARATE = "separate the planes: only hosts are on several planes"


@rule("FG596", Severity.ERROR, "A link, a neighbor or a session connects two planes")
def joined_planes(fabric: Fabric) -> Iterator[Defect]:
    """What: The ends of every link, every neighbor in DEVICE_NEIGHBOR and every BGP neighbor of a switch are on the
    switch's own plane.

    Why: Planes are separate PFC domains and separate routing domains. With one link between them, congestion in storage
    pauses compute, each plane learns the other's routes, and the verdicts on the planes are invalid.

    Example: Ethernet256 of storage-leaf1 leads to compute-spine-00.

    Fix: Separate the cables and the configuration of the planes.

    Source: fabric.json (planes of the devices and of the hosts' NICs); IEEE 802.1Qbb.
    """
    if len(fabric.planes) < 2:
        return
    holders = {str(held.ip): switch for switch in fabric.switches.values() for held in switch.addresses}
    for switch in fabric.switches.values():
        ends = fabric.ends_of[switch.name]
        for port, end in ends.items():
            far = _plane_at(fabric, end.link, end.far_name, end.far_port)
            if far and far != switch.plane:
                message = (
                    f"the cable leads to {end.far_name} on plane {far}, but this switch is on plane {switch.plane}"
                )
                yield Defect(switch.place("DEVICE_NEIGHBOR", port), message, _SEPARATE)
        for port, row in switch.device.table("DEVICE_NEIGHBOR").items():
            other = fabric.switches.get(str(row.get("name")))
            if (
                other
                and _on_different_planes(switch, other)
                and not (port in ends and ends[port].far_name == other.name)
            ):
                message = (
                    f"the neighbor {other.name} is on plane {other.plane}, but this switch is on plane {switch.plane}"
                )
                yield Defect(switch.place("DEVICE_NEIGHBOR", port, "name"), message, _SEPARATE)
        for key, row in switch.device.table("BGP_NEIGHBOR").items():
            named, held = fabric.switches.get(str(row.get("name"))), holders.get(key.rpartition("|")[2])
            for other in dict.fromkeys(one for one in (held, named) if one and _on_different_planes(switch, one)):
                message = f"the peer {other.name} is on plane {other.plane}, but this switch is on plane {switch.plane}"
                yield Defect(switch.place("BGP_NEIGHBOR", key), message, _SEPARATE)


def _plane_at(fabric: Fabric, link: WiredLink, name: str, port: str) -> str:
    """The plane of the far end of a link: of the switch or of the host's NIC, else of the link."""
    if name in fabric.switches:
        return fabric.switches[name].plane
    host = fabric.hosts.get(name)
    planes = [nic.plane for nic in host.nics if nic.name == port] if host else []
    return next((plane for plane in planes if plane != link.plane), link.plane)


def _on_different_planes(switch: Switch, other: Switch) -> bool:
    return bool(switch.plane and other.plane and switch.plane != other.plane)
