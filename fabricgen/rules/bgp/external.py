"""Rules on sessions with routers outside the fabric, and on next hops of static routes."""

from collections.abc import Iterator

from fabricgen.bundle.outside import outside_sessions, read_speaker
from fabricgen.engine.derived import derived
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import parse_interface
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.rules.view.subnets import end_addresses
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.device_types import OUTSIDE_ROLE
from fabricgen.sonic.image import Neighbor
from fabricgen.vocabulary import Role


def external_ends(fabric: Fabric) -> tuple[End, ...]:
    """Every switch port with a cable to an external router."""
    return tuple(end for end in fabric.ends if end.far_role == OUTSIDE_ROLE)


@derived
def external_sessions(fabric: Fabric) -> tuple[tuple[End, Neighbor], ...]:
    """(port, neighbor) of every BGP session with an external router."""
    return tuple(_sessions(fabric))


def _sessions(fabric: Fabric) -> Iterator[tuple[End, Neighbor]]:
    for switch in dict.fromkeys(end.switch for end in external_ends(fabric)):
        ends = fabric.ends_of[switch.name]
        for port, neighbor in outside_sessions(fabric.bundle, switch.name, read_speaker(switch.device.config)):
            yield ends[port], neighbor


@rule("FG390", Severity.ERROR, "An external session does not match the inventory")
def agreed_session(fabric: Fabric) -> Iterator[Defect]:
    """What: A port to an external router is in the subnet of the router's address, and the switch has a BGP_NEIGHBOR
    row for this address with the router's ASN.

    Why: The configuration of the far end is not in the bundle. fabric.json has the address and ASN that its owner
    agreed to. With other values the session stays down, and the fabric loses one external connection.

    Example: wan1 has the address 192.0.2.0 and AS 64900, but its BGP_NEIGHBOR row has asn 64901.

    Fix: Use the agreed address and ASN, or correct `external:` in the inventory.

    Source: RFC 4271 section 6.2; fabric.json (externals).
    """
    agreed = {(one.name, one.port): one for one in (fabric.bundle.wiring.externals if fabric.bundle.wiring else ())}
    for end in external_ends(fabric):
        far = agreed.get((end.far_name, end.far_port))
        for text in far.addresses if far else ():
            theirs = parse_interface(text)
            held = [one for one in end_addresses(end) if theirs and one.value.version == theirs.version]
            if far is None or theirs is None or not held:
                continue  # FG311 reports a missing address
            if not any(theirs.ip in one.value.network and theirs.ip != one.ip for one in held):
                place = end.switch.place(held[0].table, held[0].key)
                message = f"{held[0].value} is not in the subnet of {far.name}, which has {text}"
                yield Defect(place, message, f"use another address of {theirs.network}")
            elif far.asn is not None:
                yield from _row_defects(end, str(theirs.ip), far.asn)


def _row_defects(end: End, address: str, asn: int) -> Iterator[Defect]:
    table = end.switch.device.table("BGP_NEIGHBOR")
    key = next((key for key in table if key.rpartition("|")[2] == address), None)
    if key is None:
        message = f"there is no BGP session with {end.far_name}, which has the address {address}"
        hint = f"add the row BGP_NEIGHBOR|{address} with asn {asn}"
        yield Defect(end.switch.place("BGP_NEIGHBOR", address), message, hint)
    elif table[key].get("asn") != str(asn):
        message = f"asn of {end.far_name} is {table[key].get('asn', 'missing')}, expected {asn}"
        yield Defect(end.switch.place("BGP_NEIGHBOR", key, "asn"), message, f"set asn to {asn}")


@rule("FG391", Severity.WARNING, "An external session accepts every prefix")
def unfiltered_session(fabric: Fabric) -> Iterator[Defect]:
    """What: Routes from an external router pass a policy that lists prefixes.

    Why: A full routing table does not fit into the hardware of a leaf. A router with sessions to two border leaves
    announces to each of them the fabric's own prefixes from the other one. After a failure, traffic between hosts
    follows these routes over routers that do not pause. SONiC's default mode (bgpcfgd) has one policy for all neighbors
    and accepts every prefix.

    Example: BGP_NEIGHBOR_AF of the session has route_map_in PASS.

    Fix: Use the management framework (`bgp: unnumbered`, with `in:` at the session) and set a route map with
    match_prefix_set for this neighbor.

    Source: RFC 8212; sonic-buildimage dockers/docker-fpm-frr/frr/bgpd/templates/general/policies.conf.j2.
    """
    for end, neighbor in external_sessions(fabric):
        if neighbor.terms.unfiltered and not neighbor.obstacle:
            message = f"the session accepts every prefix that {end.far_name} announces"
            yield Defect(end.switch.place("BGP_NEIGHBOR", neighbor.key), message, "filter incoming routes by prefix")


@rule("FG392", Severity.ERROR, "An external router has an ASN of the fabric")
def external_asn(fabric: Fabric) -> Iterator[Defect]:
    """What: The ASN of an external neighbor differs from the ASN of every switch in the fabric.

    Why: BGP rejects a path that contains its own ASN. The switch with the same ASN accepts no route from the router. If
    it is the border leaf itself, the session is internal and does not pass on its routes.

    Example: wan1 and leaf3 are both in AS 4200000003.

    Fix: Change one of the two ASNs.

    Source: RFC 4271 section 9.1.2.
    """
    owner: dict[str, Switch] = {}
    for switch in fabric.switches.values():
        owner.setdefault(_asn(switch), switch)
    for end, neighbor in external_sessions(fabric):
        own = owner.get(str(neighbor.asn))
        if own is not None and neighbor.asn is not None:
            message = f"{end.far_name} has AS {neighbor.asn}, the same as {own.name}"
            place = end.switch.place("BGP_NEIGHBOR", neighbor.key, "asn")
            yield Defect(place, message, "use an ASN that no switch of the fabric has")


def _asn(switch: Switch) -> str:
    return switch.asn or switch.device.text_of("BGP_GLOBALS", "default", "local_asn")


@rule("FG393", Severity.WARNING, "An external router is connected to a switch above the leaves")
def external_on_spine(fabric: Fabric) -> Iterator[Defect]:
    """What: External routers are connected to leaves.

    Why: BGP and the proof of freedom from deadlock rely on equal spines. A spine with an external router attracts all
    external traffic, and draining this spine disconnects the fabric. A border leaf can be reached over every spine.

    Example: wan1 is connected to spine1.

    Fix: Connect the router to two leaves as border leaves.

    Source: RFC 7938 section 5.2.
    """
    for end in external_ends(fabric):
        if end.switch.role not in (Role.LEAF, Role.UNKNOWN):
            message = f"{end.far_name} is connected to a {end.switch.role}"
            yield Defect(end.place("DEVICE_NEIGHBOR"), message, f"connect {end.far_name} to a leaf")


@rule("FG394", Severity.ERROR, "A next hop of a static route is not in the port's subnet")
def static_next_hop(fabric: Fabric) -> Iterator[Defect]:
    """What: Every next hop of a static route is another address in the subnet of the port that the route names.

    Why: staticd installs the route only after it can resolve the next hop. Until then the switch announces no route and
    logs no error. If another port can resolve the next hop, packets go to the wrong host.

    Example: nexthop is 10.64.0.9 and ifname is Ethernet0, which has 10.64.0.0/31.

    Fix: Write the address of the host and the port that it is connected to.

    Source: FRR staticd; sonic-buildimage src/sonic-bgpcfgd managers_static_rt.py.
    """
    for switch in fabric.switches.values():
        for key, row in switch.device.table("STATIC_ROUTE").items():
            vrf = key.rpartition("|")[0]
            hops, ports = (str(row[field]).split(",") if row.get(field) else [] for field in ("nexthop", "ifname"))
            if vrf not in ("", "default") or not hops or row.get("blackhole") == "true":
                continue
            for index, text in enumerate(hops):
                port = ports[index] if index < len(ports) else ""
                hop = parse_interface(text)
                held = switch.addresses_of.get(port, ()) if port else switch.addresses
                if hop and not any(hop.ip in one.value.network and hop.ip != one.ip for one in held):
                    where = f"the subnet of {port}" if port else "a subnet of the switch"
                    message = f"next hop {text} is not another address in {where}"
                    hint = "use the address of the host and the port that it is connected to"
                    yield Defect(switch.place("STATIC_ROUTE", key, "nexthop"), message, hint)
