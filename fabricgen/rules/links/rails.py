"""Rules on the wiring: NICs on the leaf of their rail, and leaves with as many uplinks as the others."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from statistics import median

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.vocabulary import Role

_FABRIC_KINDS = ("leaf", "spine", "core")
_MUCH_WORSE = 1.25  # times the usual oversubscription


@rule("FG251", Severity.ERROR, "A NIC is cabled to a leaf of another rail")
def rail_wiring(fabric: Fabric) -> Iterator[Defect]:
    """What: In a plane whose leaves have rails, the NIC of rail r is cabled to a leaf of rail r. If leaves serve groups
    of rails, the leaf's rail is the first of its group.

    Why: Collectives send between equal ranks, and NCCL expects equal ranks to be one hop apart. Every message of a NIC
    on the wrong leaf crosses the spines, and the NIC uses the port of another NIC.

    Example: The cable of rail5 of gpu3 ends at su0-rail4-leaf.

    Fix: Move the cable, or correct the inventory.

    Source: fabric.json (rails of leaves and NICs); NVIDIA DGX SuperPOD reference architecture (rail-optimized).
    """
    rails = _rails(fabric)
    if not rails:
        return
    nics = {(host.name, nic.name): nic.rail for host in fabric.hosts.values() for nic in host.nics}
    for end in fabric.ends:
        wired, rail = end.switch.device.wired, nics.get((end.far_name, end.far_port))
        if wired is None or wired.rail is None or rail is None:
            continue
        expected = max((first for first in rails[wired.plane] if first <= rail), default=wired.rail)
        if wired.rail != expected:
            message = f"the NIC is on rail {rail}, but the leaf serves rail {wired.rail}"
            yield Defect(end.place("DEVICE_NEIGHBOR"), message, f"move the cable to a leaf of rail {expected}")


def _rails(fabric: Fabric) -> Mapping[str, set[int]]:
    """Plane -> the rails of its leaves; planes with a leaf without a rail are left out."""
    found: dict[str, set[int | None]] = defaultdict(set)
    for switch in fabric.switches.values():
        if switch.device.wired and switch.role == Role.LEAF:
            found[switch.plane].add(switch.device.wired.rail)
    return {plane: {rail for rail in rails if rail is not None} for plane, rails in found.items() if None not in rails}


@rule("FG252", Severity.WARNING, "A leaf has a much higher oversubscription than its peers")
def oversubscription(fabric: Fabric) -> Iterator[Defect]:
    """What: The bandwidth of a leaf's host ports over that of its uplinks is at most 1.25 times the median of the
    leaves of its plane and platform, of which there are at least three.

    Why: Hosts below such a leaf get less bandwidth. In a collective all hosts wait for them, and their congestion
    pauses the others.

    Example: Fifteen leaves have 16 uplinks for 16 hosts, leaf7 has 8.

    Fix: Add the missing uplinks, or move hosts to other leaves.

    Source: Derived from the wiring; Gangidi et al., SIGCOMM 2024 (spine capacity and pauses).
    """
    groups: dict[tuple[str, str], list[tuple[Switch, float]]] = defaultdict(list)
    for switch in fabric.switches.values():
        down, up = _bandwidth(fabric, switch, ("host",)), _bandwidth(fabric, switch, _FABRIC_KINDS)
        if switch.role == Role.LEAF and down and up:
            groups[switch.plane, switch.hwsku].append((switch, down / up))
    for members in groups.values():
        usual = median(ratio for _, ratio in members)
        for switch, ratio in members if len(members) >= 3 else ():
            if ratio > max(1.0, usual) * _MUCH_WORSE:
                message = f"hosts have {ratio:.2g} times the bandwidth of the uplinks, the median of the leaves is "
                yield Defect(switch.place("DEVICE_NEIGHBOR"), f"{message}{usual:.2g}", "add uplinks")


def _bandwidth(fabric: Fabric, switch: Switch, far_roles: tuple[str, ...]) -> int:
    """Mb/s of the ports that lead to such devices."""
    return sum(_speed(end) for end in fabric.ends_of[switch.name].values() if end.far_role in far_roles)


def _speed(end: End) -> int:
    return end.link.speed_mbps or end.switch.speed_mbps(end.port) or 0


@rule("FG253", Severity.WARNING, "The uplinks of a leaf are spread unevenly over the spines")
def uneven_striping(fabric: Fabric) -> Iterator[Defect]:
    """What: A leaf has as many links to one spine as to another, give or take one, if most leaves of its plane do.

    Why: ECMP gives each link the same share. A spine with fewer links to one leaf gets the same traffic for it as the
    others, and queues.

    Example: leaf3 has three links to spine1 and one to spine2, all other leaves two and two.

    Fix: Move a cable.

    Source: Derived from the wiring; Gangidi et al., SIGCOMM 2024.
    """
    planes: dict[str, list[tuple[Switch, int]]] = defaultdict(list)
    for switch in fabric.switches.values():
        ends = fabric.ends_of[switch.name].values()
        links = Counter(end.far_name for end in ends if end.far_role == Role.SPINE)
        if switch.role == Role.LEAF and links:
            planes[switch.plane].append((switch, max(links.values()) - min(links.values())))
    for leaves in planes.values():
        even = [switch for switch, spread in leaves if spread <= 1]
        for switch, spread in leaves if len(leaves) >= 3 and 2 * len(even) > len(leaves) else ():
            if spread > 1:
                message = (
                    f"one spine has {spread} more links to this leaf than another, but most leaves spread them evenly"
                )
                yield Defect(switch.place("DEVICE_NEIGHBOR"), message, "distribute the cables evenly over the spines")
