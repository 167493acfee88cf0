"""Rules on the cables that LLDP shows, compared with the planned ones."""

from collections.abc import Callable, Iterable, Iterator

from fabricgen.bundle.cables import CableFault, Miscabling, Pair, moves
from fabricgen.bundle.wiring import Endpoint
from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric

_TABLE = "DEVICE_NEIGHBOR"
_MOST_NAMED = 3


@rule("FG260", Severity.ERROR, "A planned cable is not seen by LLDP", breaks=Breaks.CABLE)
def dead_cable(fabric: Fabric) -> Iterator[Defect]:
    """What: With --lldp, a switch with a dump sees a neighbor on each port with a planned cable to another switch,
    unless the configuration shuts one of the two ports down. The plan is fabric.json; without it, the plan is each link
    on which the DEVICE_NEIGHBOR rows of both ends agree.

    Why: The cable is missing, broken or in no port, or a transceiver is. The capacity of the link is missing, and after
    one more failure hosts can be disconnected.

    Example: Neither leaf1 Ethernet256 nor spine1 Ethernet0 has a neighbor.

    Fix: Plug or replace the cable. Do not shut the port down: that only hides the fault.

    Source: IEEE 802.1AB; SONiC docker-lldp, which sends LLDP on every port that is up.
    """
    for one in _miscablings(fabric):
        if one.kind is not CableFault.MISSING:
            continue
        near, far = one.expected[0]
        message = f"LLDP does not show the planned cable from {_named(near)} to {_named(far)}"
        places = _places(fabric, (near, far))
        hint = f"plug or replace the cable, or its transceivers; `show interfaces status {near[1]}` on {near[0]}"
        for place in places[:1]:
            yield Defect(place, message, hint, tuple((other.device.name, other) for other in places[1:]))


@rule("FG261", Severity.ERROR, "A cable is plugged into another port than planned", breaks=Breaks.CABLE)
def wrong_cable(fabric: Fabric) -> Iterator[Defect]:
    """What: With --lldp, each cable that LLDP shows at a port with a planned cable is the planned one. A cable between
    two ports without a planned cable is a note if the bundle has a fabric.json.

    Why: The two ends of a wrong cable have addresses of different subnets, so no session starts. With unnumbered
    sessions routes take a path that the plan does not have, which can close a buffer cycle.

    Example: Two cables of leaf1 are exchanged: Ethernet256 leads to spine2 instead of spine1.

    Fix: Move the cable. Do not change the configuration to fit a wrong cable.

    Source: IEEE 802.1AB; `fabricgen diff` lists the same differences.
    """
    for one in _miscablings(fabric):
        if one.kind is CableFault.MISSING or (one.kind is CableFault.EXTRA and fabric.bundle.wiring is None):
            continue
        if fabric.bundle.cabling and fabric.bundle.cabling.is_by_address(one):
            continue  # FG327
        ends = (*(end for pair in one.expected for end in pair), *(end for pair in one.seen for end in pair))
        places = _places(fabric, dict.fromkeys(ends))
        related = tuple((other.device.name, other) for other in places[1:])
        found = " and ".join(map(_cable, one.seen))
        if one.kind is CableFault.EXTRA:
            for place in places[:1]:
                message, hint = (
                    f"LLDP shows a cable {found}, which is not planned",
                    "remove the cable, or add it to the inventory",
                )
                yield Defect(place, message, hint, related, Severity.NOTE)
            continue
        expected = " and ".join(map(_cable, dict.fromkeys(one.expected)))
        hint = _hint(fabric, one)
        message = f"LLDP shows the cable {found}; planned is {expected}"
        if one.kind is CableFault.SWAPPED:
            plugged = " and ".join(f"{_named(near)} is in {_named(far)}" for near, far in one.seen)
            planned = " and ".join(f"{_named(near)} – {_named(far)}" for near, far in dict.fromkeys(one.expected))
            message = f"two cables are swapped: {plugged}; planned is {planned}"
        for place in places[:1]:
            yield Defect(place, message, hint, related)


@rule("FG327", Severity.ERROR, "A host answers at another port than planned", breaks=Breaks.CABLE)
def wrong_host(fabric: Fabric) -> Iterator[Defect]:
    """What: With --neighbors, the planned address of a NIC answers at its planned port of the switch, where an address
    table shows it. A table of MAC addresses counts for addresses whose MAC is in an ARP or neighbor table.

    Why: The port has the subnet and the gateway of another NIC, so the NIC reaches nothing beyond its leaf, and a
    collective of the host does not start. Where ports share a VLAN the host works, and its traffic takes another rail.

    Example: 10.64.0.3 of gpu-001 rail0 is in the ARP table at leaf1 Ethernet0, which is the port of gpu-000.

    Fix: Move the cable. Do not change the addresses to fit a wrong cable.

    Source: RFC 826; RFC 4861; sonic-utilities scripts/nbrshow and scripts/fdbshow; Linux net/ipv4/arp.c, which learns
    the sender of a request at the port where it arrives.
    """
    cabling = fabric.bundle.cabling
    for one in _miscablings(fabric):
        if cabling is None or not cabling.is_by_address(one):
            continue
        ends = (*(end for pair in one.expected for end in pair), *(end for pair in one.seen for end in pair))
        places = _places(fabric, dict.fromkeys(ends))
        found = " and ".join(
            f"{_named(host)} answers at {_named(port)}" for host, port in map(_host_first(fabric), one.seen)
        )
        planned = " and ".join(
            f"{_named(host)} at {_named(port)}" for host, port in map(_host_first(fabric), dict.fromkeys(one.expected))
        )
        for place in places[:1]:
            related = tuple((other.device.name, other) for other in places[1:])
            yield Defect(place, f"{found}; planned is {planned}", _hint(fabric, one), related)


@rule("FG330", Severity.NOTE, "Ports of hosts that the address tables do not show")
def silent_hosts(fabric: Fabric) -> Iterator[Defect]:
    """What: With --neighbors, each planned port of a host has an entry in an address table, or LLDP shows it.

    Why: A host that is off, or that sends nothing, has no entry, and neither has one whose cable is missing or in a
    wrong port. The cables of these ports are not judged.

    Example: 126 of 128 ports of hosts are judged by addresses; 2 have no entry.

    Fix: Ping the gateway from each NIC of these hosts, and read the tables again.

    Source: RFC 826; RFC 4861, section 7.3 (entries expire); sonic-swss neighsyncd/neighsync.cpp.
    """
    cabling = fabric.bundle.cabling
    places = _places(fabric, cabling.silent) if cabling else []
    if cabling and places:
        near = ", ".join(_named(end) for end in cabling.silent[:_MOST_NAMED])
        more = f" and {len(places) - _MOST_NAMED} more" if len(places) > _MOST_NAMED else ""
        verb = "port of a host has" if len(places) == 1 else "ports of hosts have"
        message = f"{len(places)} {verb} no entry, so the cables are not judged: {near}{more}"
        yield Defect(places[0], message, "ping the gateways from these hosts, and read the tables again")


def _host_first(fabric: Fabric) -> Callable[[Pair], Pair]:
    """A pair with the end that is not a judged switch first."""
    return lambda pair: pair if pair[0][0] not in fabric.switches else (pair[1], pair[0])


def _miscablings(fabric: Fabric) -> tuple[Miscabling, ...]:
    return fabric.bundle.cabling.miscablings if fabric.bundle.cabling else ()


def _places(fabric: Fabric, ends: Iterable[Endpoint]) -> list[Place]:
    return [fabric.switches[name].place(_TABLE, port) for name, port in ends if name in fabric.switches]


def _hint(fabric: Fabric, one: Miscabling) -> str:
    steps = [
        f"{_named(each.now)} to {_named(each.planned)}"
        for each in moves(one, fabric.bundle.link_at)
        if each.now and each.planned
    ]
    if len(steps) == 1:
        return f"move the end of the cable from {steps[0]}"
    return f"move the cable at {', and the cable at '.join(steps)}"


def _cable(pair: Pair) -> str:
    return f"from {_named(pair[0])} to {_named(pair[1])}"


def _named(end: Endpoint) -> str:
    return " ".join(end)
