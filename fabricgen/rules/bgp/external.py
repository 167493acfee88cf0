"""Sessions with routers outside the fabric, and static routes to what lies behind a port."""

from collections.abc import Iterator

from fabricgen.bundle.outside import outside_sessions, read_speaker
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import parse_interface
from fabricgen.rules.view.derived import derived
from fabricgen.rules.view.fabric import End, Fabric, Switch
from fabricgen.rules.view.subnets import end_addresses
from fabricgen.sonic.device_types import OUTSIDE_ROLE
from fabricgen.sonic.image import Neighbor


def external_ends(fabric: Fabric) -> tuple[End, ...]:
    """Every switch port whose cable leads out of the fabric."""
    return tuple(end for end in fabric.ends if end.far_role == OUTSIDE_ROLE)


@derived
def external_sessions(fabric: Fabric) -> tuple[tuple[End, Neighbor], ...]:
    """Every BGP neighbour beyond such a port."""
    return tuple(_sessions(fabric))


def _sessions(fabric: Fabric) -> Iterator[tuple[End, Neighbor]]:
    for switch in dict.fromkeys(end.switch for end in external_ends(fabric)):
        ends = fabric.ends_of[switch.name]
        for port, neighbor in outside_sessions(fabric.bundle, switch.name, read_speaker(switch.device.config)):
            yield ends[port], neighbor


@rule("FG390", Severity.ERROR, "A session with the outside is not as it was agreed")
def agreed_session(fabric: Fabric) -> Iterator[Defect]:
    """What: a port to an external router shares a subnet with the router's address, and the switch has a BGP_NEIGHBOR
    row for that address with the router's ASN.

    Why: nobody here can see the far end. What was agreed with its owner stands in fabric.json; with anything else the
    session stays down, and the fabric has one way out less.

    Example: wan1 is 192.0.2.0 of AS 64900, the row for it says 64901.

    Fix: use the agreed address and ASN, or correct `external:` in the inventory.

    Source: RFC 4271 section 6.2; fabric.json (externals).
    """
    agreed = {(one.name, one.port): one for one in (fabric.bundle.wiring.externals if fabric.bundle.wiring else ())}
    for end in external_ends(fabric):
        far = agreed.get((end.far_name, end.far_port))
        for text in far.addresses if far else ():
            theirs = parse_interface(text)
            held = [one for one in end_addresses(end) if theirs and one.value.version == theirs.version]
            if far is None or theirs is None or not held:
                continue  # FG311 tells of a missing address
            if not any(theirs.ip in one.value.network and theirs.ip != one.ip for one in held):
                place = end.switch.place(held[0].table, held[0].key)
                yield Defect(place, f"{held[0].value} shares no subnet with {text} of {far.name}", "use its subnet")
            elif far.asn is not None:
                yield from _row_defects(end, str(theirs.ip), far.asn)


def _row_defects(end: End, address: str, asn: int) -> Iterator[Defect]:
    table = end.switch.device.table("BGP_NEIGHBOR")
    key = next((key for key in table if key.rpartition("|")[2] == address), None)
    if key is None:
        message = f"no BGP session with {end.far_name}, whose address is {address}"
        yield Defect(end.switch.place("BGP_NEIGHBOR", address), message, "add the row")
    elif table[key].get("asn") != str(asn):
        message = f"asn of {end.far_name} is {table[key].get('asn', 'missing')}, AS {asn} was agreed"
        yield Defect(end.switch.place("BGP_NEIGHBOR", key, "asn"), message, f"set asn to {asn}")


@rule("FG391", Severity.WARNING, "Everything is taken from the outside")
def unfiltered_session(fabric: Fabric) -> Iterator[Defect]:
    """What: routes from an external router pass a policy that lists prefixes.

    Why: a full table does not fit into a leaf's hardware. A router on two border leaves tells each of them the fabric's
    own prefixes as it heard them at the other: after a failure traffic between hosts takes that way, over routers that
    do not pause. SONiC's default mode (bgpcfgd) has one policy for all neighbours and lets everything pass.

    Example: BGP_NEIGHBOR_AF of the session has route_map_in PASS.

    Fix: a route map with match_prefix_set for this neighbour, in the management framework (`bgp: unnumbered`, with
    `in:` at the session).

    Source: RFC 8212; sonic-buildimage dockers/docker-fpm-frr/frr/bgpd/templates/general/policies.conf.j2.
    """
    for end, neighbor in external_sessions(fabric):
        if neighbor.terms.unfiltered and not neighbor.obstacle:
            message = f"every prefix that {end.far_name} announces is taken"
            yield Defect(end.switch.place("BGP_NEIGHBOR", neighbor.key), message, "filter by prefix what comes in")


@rule("FG392", Severity.ERROR, "A router outside has an ASN of the fabric")
def external_asn(fabric: Fabric) -> Iterator[Defect]:
    """What: the ASN of an external neighbour is none that a switch of the fabric has.

    Why: BGP refuses a path that holds its own ASN. The switch with that number hears nothing of what lies beyond the
    router; if it is the border leaf itself, the session is internal and passes on nothing.

    Example: wan1 is in AS 4200000003, so is leaf3.

    Fix: number one of the two otherwise.

    Source: RFC 4271 section 9.1.2.
    """
    owner: dict[str, Switch] = {}
    for switch in fabric.switches.values():
        owner.setdefault(_asn(switch), switch)
    for end, neighbor in external_sessions(fabric):
        own = owner.get(str(neighbor.asn))
        if own is not None and neighbor.asn is not None:
            message = f"{end.far_name} is in AS {neighbor.asn}, which {own.name} has"
            place = end.switch.place("BGP_NEIGHBOR", neighbor.key, "asn")
            yield Defect(place, message, "the ASN must be another one than any of the fabric's")


def _asn(switch: Switch) -> str:
    return switch.asn or switch.device.text_of("BGP_GLOBALS", "default", "local_asn")


@rule("FG393", Severity.WARNING, "The way out begins at a switch that is no leaf")
def external_on_spine(fabric: Fabric) -> Iterator[Defect]:
    """What: external routers are plugged into leaves.

    Why: spines are equal, and BGP and the deadlock proof count on that. A spine with a way out draws all traffic for
    the outside, and takes it along when it is drained; a border leaf is reached over every spine.

    Example: wan1 is cabled to spine1.

    Fix: use two leaves as border leaves.

    Source: RFC 7938 section 5.2.
    """
    for end in external_ends(fabric):
        if end.switch.role not in ("leaf", ""):
            message = f"{end.far_name} is plugged into a {end.switch.role}"
            yield Defect(end.place("DEVICE_NEIGHBOR"), message, "plug it into a leaf")


@rule("FG394", Severity.ERROR, "A static route leads to nobody")
def static_next_hop(fabric: Fabric) -> Iterator[Defect]:
    """What: every next hop of a static route is an address beyond the port that stands with it.

    Why: staticd installs the route once it can resolve the next hop. Until then nothing is announced, and nothing says
    so; over another port the packets go astray.

    Example: nexthop 10.64.0.9 and ifname Ethernet0, which has 10.64.0.0/31.

    Fix: write the address of the host, and the port it is plugged into.

    Source: FRR staticd; sonic-buildimage src/sonic-bgpcfgd managers_static_rt.py.
    """
    for switch in fabric.switches.values():
        for key, row in switch.device.table("STATIC_ROUTE").items():
            vrf = key.rpartition("|")[0]
            hops, ports = (str(row[field]).split(",") if row.get(field) else [] for field in ("nexthop", "ifname"))
            if vrf not in ("", "default") or not hops:
                continue
            for index, text in enumerate(hops):
                port = ports[index] if index < len(ports) else ""
                hop = parse_interface(text)
                held = switch.addresses_of.get(port, ()) if port else switch.addresses
                if hop and not any(hop.ip in one.value.network and hop.ip != one.ip for one in held):
                    where = f"beyond {port}" if port else "in a subnet of the switch"
                    yield Defect(switch.place("STATIC_ROUTE", key, "nexthop"), f"next hop {text} is not {where}")
