"""Planes together: management never pauses, nothing joins two planes, and no address belongs to two."""

from collections.abc import Iterable, Iterator, Mapping

from fabricgen.bundle.wiring import WiredLink, WiredNic
from fabricgen.findings import Severity
from fabricgen.rules.addresses import IpInterface, parse_interface
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.fabric import Fabric, Switch
from fabricgen.rules.qos import PortQos, priorities
from fabricgen.rules.qos_classes import port_classes
from fabricgen.rules.registry import rule

_SEPARATE = "cable and configure each plane by itself; hosts are what planes share"


@rule("FG595", Severity.ERROR, "A management network is lossless")
def lossless_management(fabric: Fabric) -> Iterator[Defect]:
    """What: no port of a switch on a plane for in-band or out-of-band management has pfc_enable or pfcwd_sw_enable, a
    priority group with headroom, or a queue with the lossless profile.

    Why: a pause stops whatever shares the queue, and spreads. On these planes that is SSH, telemetry and the traffic of
    controllers: the fabric can no longer be seen or repaired when it is most needed. Nothing there is RDMA.

    Example: Ethernet0 of in-band-leaf1 has pfc_enable "3,4", copied from a compute leaf.

    Fix: remove the fields, and bind the lossy profiles.

    Source: fabric.json (purpose of the plane); IEEE 802.1Qbb; Guo et al., SIGCOMM 2016 (what a pause takes along).
    """
    for ports in port_classes(fabric):
        if not ports.qos.is_management:
            continue
        for name, found in (("pfc_enable", ports.pfc), ("pfcwd_sw_enable", ports.watchdog)):
            if found:
                message = f"{name} is {priorities(found)} on a plane for {_purpose(ports)} management"
                yield from ports.defects("PORT_QOS_MAP", "", name, message, f"remove {name}")
        for table, what, numbers in (
            ("BUFFER_PG", "priority group", ports.lossless_pgs),
            ("BUFFER_QUEUE", "queue", ports.lossless_queues),
        ):
            for number in sorted(numbers):
                rest, profile = ports.profiles(table)[number]
                message = f"{what} {number} is lossless ({profile}) on a plane for {_purpose(ports)} management"
                yield from ports.defects(table, rest, "profile", message, "bind the lossy profile")


def _purpose(ports: PortQos) -> str:
    return ports.qos.plane.purpose if ports.qos.plane else ""


@rule("FG596", Severity.ERROR, "A link, a neighbour or a session joins two planes")
def joined_planes(fabric: Fabric) -> Iterator[Defect]:
    """What: the ends of every link, every neighbour in DEVICE_NEIGHBOR and every BGP neighbour of a switch are on the
    switch's own plane.

    Why: planes are separate PFC domains and separate routing domains. Over one link between them the congestion of
    storage pauses compute, each plane learns the other's routes, and the proofs for each plane hold for neither.

    Example: Ethernet256 of storage-leaf1 leads to compute-spine-00.

    Fix: cable and configure each plane by itself.

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
                message = f"the cable leads to {end.far_name} on plane {far}, this is plane {switch.plane}"
                yield Defect(switch.place("DEVICE_NEIGHBOR", port), message, _SEPARATE)
        for port, row in switch.device.table("DEVICE_NEIGHBOR").items():
            other = fabric.switches.get(str(row.get("name")))
            if other and _apart(switch, other) and not (port in ends and ends[port].far_name == other.name):
                message = f"the neighbour {other.name} is on plane {other.plane}, this is plane {switch.plane}"
                yield Defect(switch.place("DEVICE_NEIGHBOR", port, "name"), message, _SEPARATE)
        for key, row in switch.device.table("BGP_NEIGHBOR").items():
            named, held = fabric.switches.get(str(row.get("name"))), holders.get(key.rpartition("|")[2])
            for other in dict.fromkeys(one for one in (held, named) if one and _apart(switch, one)):
                message = f"a session with {other.name} on plane {other.plane}, this is plane {switch.plane}"
                yield Defect(switch.place("BGP_NEIGHBOR", key), message, _SEPARATE)


def _plane_at(fabric: Fabric, link: WiredLink, name: str, port: str) -> str:
    """The plane of what is at the far end of a link: of the switch, of the host's NIC, else of the link itself."""
    if name in fabric.switches:
        return fabric.switches[name].plane
    host = fabric.hosts.get(name)
    planes = [nic.plane for nic in host.nics if nic.name == port] if host else []
    return next((plane for plane in planes if plane != link.plane), link.plane)


def _apart(switch: Switch, other: Switch) -> bool:
    return bool(switch.plane and other.plane and switch.plane != other.plane)


@rule("FG328", Severity.ERROR, "Addresses of two planes overlap")
def overlapping_planes(fabric: Fabric) -> Iterator[Defect]:
    """What: loopbacks, announced host prefixes and link subnets of a plane overlap none of another plane that has hosts
    in common with it. Interface subnets that lie in each other are FG317's, equal addresses FG313's.

    Why: a host on both planes has a route to each. Where they overlap the longer prefix wins, whatever plane was meant:
    storage traffic leaves by a compute NIC, or answers come back by another NIC than the question.

    Example: compute-leaf announces 10.64.0.0/24, and the loopback of storage-spine is 10.64.0.7.

    Fix: give each plane pools of its own.

    Source: RFC 4632 (longest match); fabric.json (planes of the hosts' NICs).
    """
    neighbours = _sharing_hosts(fabric)
    rows = sorted(_prefixes(fabric, neighbours.keys()), key=lambda one: (one[0], -one[1]))
    open_rows: list[tuple[tuple[int, int], int, Switch, Place, str]] = []
    told: set[tuple[str, str]] = set()
    for row in rows:
        (version, first), _, switch, place, text = row
        open_rows = [one for one in open_rows if one[0][0] == version and one[1] >= first]
        for other in open_rows:
            pair = (switch.name, other[2].plane)
            if other[2].plane in neighbours[switch.plane] and not _is_told_elsewhere(row, other) and pair not in told:
                told.add(pair)
                message = f"{text} overlaps {other[4]} of {other[2].name} on plane {other[2].plane}"
                related = ((f"{other[2].name} on plane {other[2].plane}", other[3]),)
                yield Defect(place, message, "give each plane pools of its own", related)
        open_rows.append(row)


_Row = tuple[tuple[int, int], int, Switch, Place, str]


def _is_told_elsewhere(a: _Row, b: _Row) -> bool:
    """Whether another rule has the pair: two unlike interface subnets (FG317), or one and the same address (FG313)."""
    if a[3].table == b[3].table == "INTERFACE":
        return a[:2] != b[:2] or a[4] == b[4]
    return a[4] == b[4] and "STATIC_ROUTE" not in (a[3].table, b[3].table)


def _prefixes(fabric: Fabric, planes: Iterable[str]) -> Iterator[_Row]:
    """((family, first address), last address, switch, place, text) of what a plane's switches hold and announce."""
    chosen = set(planes)
    for switch in (one for one in fabric.switches.values() if one.plane in chosen):
        for held in switch.addresses:
            yield _row(switch, switch.place(held.table, held.key), held.value)
        for key in switch.device.table("STATIC_ROUTE"):
            prefix = parse_interface(key.rpartition("|")[2])
            if prefix and prefix.network.prefixlen:
                yield _row(switch, switch.place("STATIC_ROUTE", key), prefix)


def _row(switch: Switch, place: Place, value: IpInterface) -> _Row:
    network = value.network
    first, last = int(network.network_address), int(network.broadcast_address)
    return (value.version, first), last, switch, place, str(value)


def _sharing_hosts(fabric: Fabric) -> Mapping[str, set[str]]:
    """plane -> the other planes that some host is on, too; planes without such hosts are left out."""
    found: dict[str, set[str]] = {}
    for planes in {frozenset(nic.plane for nic in host.nics) for host in fabric.hosts.values()}:
        for plane in planes:
            if others := planes - {plane}:
                found.setdefault(plane, set()).update(others)
    return found


@rule("FG329", Severity.ERROR, "A host has one prefix on two planes")
def host_prefix_twice(fabric: Fabric) -> Iterator[Defect]:
    """What: the subnets of a host's NICs on two planes do not overlap, as fabric.json gives them.

    Why: a host with one prefix on two NICs sends everything for it through one of them: the other plane is dark, and
    its gateway is asked for on the wrong cable.

    Example: rail0 of gpu-000 has 10.64.0.1/31 on compute, its storage0 has 10.64.0.0/31.

    Fix: give each plane a pool of its own for host links.

    Source: RFC 1122 section 3.3.4 (multihomed hosts); fabric.json (addresses of the NICs).
    """
    for host in fabric.hosts.values():
        seen: list[tuple[WiredNic, IpInterface]] = []
        for nic in host.nics:
            own = [value for text in nic.addresses if (value := parse_interface(text))]
            for value in own:
                others = (one for one in seen if one[0].plane != nic.plane and one[1].network.overlaps(value.network))
                place = _port_of(fabric, host.name, nic)
                if place and (clash := next(others, None)):
                    other, theirs = clash
                    message = f"{host.name} has {value} at {nic.name}, and {theirs} at {other.name} on {other.plane}"
                    yield Defect(place, message, "give each plane a pool of its own for host links")
            seen += [(nic, value) for value in own]


def _port_of(fabric: Fabric, host: str, nic: WiredNic) -> Place | None:
    """The address row, or the port, of the switch that a NIC is plugged into."""
    link = fabric.bundle.link_at.get((host, nic.name))
    switch = fabric.switches.get(link.b[0]) if link else None
    if link is None or switch is None:
        return None
    held = switch.addresses_of.get(link.b[1], ())
    return switch.place("INTERFACE", held[0].key if held else link.b[1])
