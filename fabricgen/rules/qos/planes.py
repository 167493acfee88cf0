"""Rules on several planes: no PFC on management planes, no address on two planes."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations

from fabricgen.bundle.wiring import WiredNic
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import HeldAddress, parse_interface
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.rules.view.qos import PortClass, priorities
from fabricgen.rules.view.qos_classes import port_classes
from fabricgen.rules.view.subnets import end_addresses
from fabricgen.rules.view.switch import Switch


@rule("FG595", Severity.ERROR, "A management network is lossless")
def lossless_management(fabric: Fabric) -> Iterator[Defect]:
    """What: No port of a switch on a plane for in-band or out-of-band management has pfc_enable or pfcwd_sw_enable, a
    priority group with headroom, or a queue with the lossless profile.

    Why: A pause stops all traffic of the queue, and spreads. On these planes this is SSH, telemetry and the traffic of
    controllers: the fabric cannot be monitored or repaired when this is most needed. These planes carry no RDMA.

    Example: Ethernet0 of in-band-leaf1 has pfc_enable "3,4", copied from a compute leaf.

    Fix: Remove the fields, and bind the lossy profiles.

    Source: fabric.json (purpose of the plane); IEEE 802.1Qbb; Guo et al., SIGCOMM 2016 (how pauses spread).
    """
    for ports in port_classes(fabric):
        if not ports.qos.is_management:
            continue
        for name, found in (("pfc_enable", ports.pfc), ("pfcwd_sw_enable", ports.watchdog)):
            if found:
                message = f"{name} is {priorities(found)} on the {_purpose(ports)} management plane"
                yield from ports.defects("PORT_QOS_MAP", "", name, message, f"remove {name}")
        for table, what, numbers in (
            ("BUFFER_PG", "priority group", ports.lossless_pgs),
            ("BUFFER_QUEUE", "queue", ports.lossless_queues),
        ):
            for rest, profile in sorted({ports.profiles(table)[number] for number in numbers}):
                message = f"{what} {rest} is lossless ({profile}) on the {_purpose(ports)} management plane"
                yield from ports.defects(table, rest, "profile", message, "bind the lossy profile")


def _purpose(ports: PortClass) -> str:
    return (ports.qos.plane.purpose or "") if ports.qos.plane else ""


@dataclass(frozen=True, slots=True)
class _Row:
    """A prefix of an interface or an announcement of a switch, as numbers."""

    version: int
    first: int
    last: int
    switch: Switch
    place: Place
    text: str


@rule("FG328", Severity.ERROR, "Addresses of two planes overlap")
def overlapping_planes(fabric: Fabric) -> Iterator[Defect]:
    """What: The loopbacks, announced prefixes and link subnets of a plane do not overlap those of another plane with
    common hosts. FG317 covers interface subnets that contain each other, FG313 equal addresses.

    Why: A host on both planes has a route to each. If they overlap, the longer prefix wins on any plane: storage
    traffic leaves through a compute NIC, or answers arrive at a different NIC.

    Example: compute-leaf announces 10.64.0.0/24, and the loopback of storage-spine is 10.64.0.7.

    Fix: Give each plane separate pools.

    Source: RFC 4632 (longest match); fabric.json (planes of the hosts' NICs).
    """
    neighbors = _sharing_hosts(fabric)
    rows = sorted(_rows(fabric, neighbors), key=lambda row: (row.version, row.first, -row.last))
    around: list[_Row] = []  # rows that can contain the next one, widest first
    reported: set[tuple[Place, str]] = set()
    for row in rows:
        around = [wide for wide in around if wide.version == row.version and wide.last >= row.first]
        for wide in around:
            plane = row.switch.plane
            if (
                plane not in neighbors[wide.switch.plane]
                or (wide.place, plane) in reported
                or _is_reported_elsewhere(wide, row)
            ):
                continue
            reported.add((wide.place, plane))
            message = f"{wide.text} overlaps {row.text} of {row.switch.name} on plane {plane}"
            related = ((f"{row.switch.name} on plane {plane}", row.place),)
            yield Defect(wide.place, message, "give each plane separate pools", related)
        around.append(row)


def _is_reported_elsewhere(wide: _Row, row: _Row) -> bool:
    """Whether another rule reports the pair: FG317 on different interface subnets, FG313 on a duplicate address."""
    tables = {wide.place.table, row.place.table}
    if tables == {"INTERFACE"} and (wide.first, wide.last) != (row.first, row.last):
        return True
    return wide.text == row.text and "STATIC_ROUTE" not in tables


def _rows(fabric: Fabric, planes: Collection[str]) -> Iterator[_Row]:
    """The addresses of the switches of these planes, and the prefixes they announce by a discard route. A route with a
    next hop may cover any prefix."""
    for switch in (one for one in fabric.switches.values() if one.plane in planes):
        found = [(switch.place(held.table, held.key), held.value) for held in switch.addresses]
        for key, row in switch.device.table("STATIC_ROUTE").items():
            prefix = parse_interface(key.rpartition("|")[2])
            if prefix and row.get("blackhole") == "true":
                found.append((switch.place("STATIC_ROUTE", key), prefix))
        for place, value in found:
            network = value.network
            first, last = int(network.network_address), int(network.broadcast_address)
            yield _Row(value.version, first, last, switch, place, str(value))


def _sharing_hosts(fabric: Fabric) -> Mapping[str, set[str]]:
    """Plane -> the other planes with common hosts; planes without common hosts are left out."""
    found: dict[str, set[str]] = {}
    for planes in dict.fromkeys(frozenset(nic.plane for nic in host.nics) for host in fabric.hosts.values()):
        for plane, other in permutations(planes, 2):
            found.setdefault(plane, set()).add(other)
    return found


@rule("FG329", Severity.ERROR, "A host has the same prefix on two planes")
def host_prefix_twice(fabric: Fabric) -> Iterator[Defect]:
    """What: The switch ports of a host's NICs on two planes have subnets that do not overlap.

    Why: A host with one prefix on two NICs sends all traffic for it through one of them. The other plane gets no
    traffic, and ARP requests for its gateway go to the wrong cable.

    Example: rail0 of gpu-000 is in 10.64.0.0/31 on plane compute, and so is its storage0 on plane storage.

    Fix: Give each plane a separate pool for host links.

    Source: RFC 1122 section 3.3.4 (multihomed hosts); fabric.json (the cables of the NICs).
    """
    for host in fabric.hosts.values():
        seen: list[tuple[WiredNic, Place, HeldAddress]] = []
        for nic in host.nics if len({nic.plane for nic in host.nics}) > 1 else ():
            end = _port_of(fabric, host.name, nic)
            for held in end_addresses(end) if end else ():
                assert end
                place = end.switch.place(held.table, held.key)
                for other, at, theirs in seen:
                    if other.plane != nic.plane and theirs.value.network.overlaps(held.value.network):
                        message = f"{held.value} for {nic.name} of {host.name} overlaps {theirs.value} for its "
                        message += f"{other.name} on plane {other.plane}"
                        related = ((f"the port of {other.name}", at),)
                        yield Defect(place, message, "give each plane a separate pool for host links", related)
                seen.append((nic, place, held))


def _port_of(fabric: Fabric, host: str, nic: WiredNic) -> End | None:
    """The switch port that a NIC is cabled to."""
    link = fabric.bundle.link_at.get((host, nic.name))
    return fabric.ends_of.get(link.b[0], {}).get(link.b[1]) if link else None
