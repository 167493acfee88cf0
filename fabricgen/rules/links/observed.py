"""Rules on the cables that LLDP shows, compared with the planned ones."""

from collections.abc import Iterable, Iterator

from fabricgen.bundle.cables import CableFault, Miscabling, Pair, moves
from fabricgen.bundle.wiring import Endpoint
from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric

_TABLE = "DEVICE_NEIGHBOR"


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
