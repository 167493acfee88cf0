"""BGP where SONiC's management framework configures it: nothing is implied, so that whatever is missing is off."""

from collections.abc import Iterator, Mapping

from fabricgen.bundle.outside import announced_prefixes, read_speaker
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import parse_interface
from fabricgen.rules.view.derived import derived
from fabricgen.rules.view.fabric import Fabric, Switch
from fabricgen.sonic.image import Neighbor, uses_frr_framework

_FAMILIES = {4: "ipv4_unicast", 6: "ipv6_unicast"}


def _framework_switches(fabric: Fabric) -> Iterator[Switch]:
    return (switch for switch in fabric.switches.values() if uses_frr_framework(switch.device.config))


@derived
def _neighbors(fabric: Fabric) -> Mapping[str, tuple[Neighbor, ...]]:
    """switch -> its neighbours as frrcfgd configures them."""
    return {one.name: read_speaker(one.device.config).neighbors for one in _framework_switches(fabric)}


@rule("FG347", Severity.ERROR, "An unnumbered session has one end only")
def one_ended_session(fabric: Fabric) -> Iterator[Defect]:
    """What: where one end of a link has an unnumbered neighbour on its port, the other end has one, too.

    Why: both ends must ask for the session. With one of them it never starts, and the link carries nothing.

    Example: leaf1 has BGP_NEIGHBOR|default|Ethernet256, spine1 has no row for the port at the other end of the cable.

    Fix: add the row.

    Source: sonic-buildimage src/sonic-frr-mgmt-framework; FRR (interface neighbours).
    """
    for pair in fabric.pairs:
        for end, far in (pair, pair[::-1]):
            rows, theirs = (one.switch.device.table("BGP_NEIGHBOR") for one in (end, far))
            key, their_key = f"default|{end.port}", f"default|{far.port}"
            if their_key in theirs and key not in rows and uses_frr_framework(end.switch.device.config):
                message = f"no session with {far.switch.name}, which has one with this port"
                related = (("the far end", far.switch.place("BGP_NEIGHBOR", their_key)),)
                yield Defect(end.switch.place("BGP_NEIGHBOR", key), message, "add the row", related)


@rule("FG348", Severity.ERROR, "A session exchanges no routes of a family")
def silent_family(fabric: Fabric) -> Iterator[Defect]:
    """What: every family that BGP_GLOBALS_AF has is active on the sessions between switches, with a route map in each
    direction, by BGP_NEIGHBOR_AF or by the peer group's BGP_PEER_GROUP_AF.

    Why: the framework writes `no bgp default ipv4-unicast`, and FRR lets no prefix of an external session pass without
    a policy. The session is up, and nothing comes over it.

    Example: BGP_NEIGHBOR_AF|default|Ethernet256|ipv4_unicast has admin_status down.

    Fix: set admin_status to up, and route_map_in and route_map_out in the peer group.

    Source: sonic-buildimage src/sonic-frr-mgmt-framework/templates/bgpd; RFC 8212.
    """
    for switch in _framework_switches(fabric):
        ends, held = fabric.ends_of[switch.name], switch.device.table("BGP_GLOBALS_AF")
        for neighbor in _neighbors(fabric)[switch.name]:
            end = ends.get(neighbor.interface)
            for version, family in _FAMILIES.items() if end and end.far and not neighbor.obstacle else ():
                if f"default|{family}" in held and not (
                    version in neighbor.terms.accepts and version in neighbor.terms.sends
                ):
                    ways = (("in", neighbor.terms.accepts), ("out", neighbor.terms.sends))
                    silent = " and ".join(word for word, families in ways if version not in families)
                    message = f"no {family} route passes {silent}: not active, or no route map"
                    place = switch.place("BGP_NEIGHBOR_AF", f"{neighbor.key}|{family}")
                    yield Defect(place, message, "activate the family and give it route maps")


@rule("FG349", Severity.ERROR, "BGP_GLOBALS is not what DEVICE_METADATA and Loopback0 say")
def globals_row(fabric: Fabric) -> Iterator[Defect]:
    """What: BGP_GLOBALS|default has the local_asn of DEVICE_METADATA.bgp_asn and the router_id of Loopback0; every
    family that neighbours have is in BGP_GLOBALS_AF.

    Why: without local_asn the framework starts no BGP; with another one all peers refuse the switch. A router id that
    nothing holds may be another switch's.

    Example: local_asn 4200000009, bgp_asn 4200000001.

    Fix: make them equal.

    Source: sonic-buildimage src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py; RFC 4271.
    """
    for switch in _framework_switches(fabric):
        row = switch.device.row("BGP_GLOBALS", "default")
        own = [str(held.ip) for held in switch.addresses_of.get("Loopback0", ()) if held.value.version == 4]
        expected = {"local_asn": [switch.asn] if switch.asn else [], "router_id": own if "router_id" in row else []}
        for field, values in expected.items():
            if values and row.get(field) not in values and switch.device.table("BGP_NEIGHBOR"):
                message = f"{field} is {row.get(field, 'missing')}, elsewhere it is {values[0]}"
                place = switch.place("BGP_GLOBALS", "default", field)
                yield Defect(place, message, f"set {field} to {values[0]}")
        rows = switch.device.table("BGP_NEIGHBOR_AF")
        for family in sorted({key.rpartition("|")[2] for key in rows if key.startswith("default|")}):
            if f"default|{family}" not in switch.device.table("BGP_GLOBALS_AF"):
                message = f"neighbours have {family}, BGP_GLOBALS_AF has no row for it"
                yield Defect(switch.place("BGP_GLOBALS_AF", f"default|{family}"), message, "add the row")


@rule("FG353", Severity.ERROR, "A prefix of the switch is announced to nobody")
def unannounced_prefix(fabric: Fabric) -> Iterator[Defect]:
    """What: under the management framework Loopback0 and every static route that is not kept back (advertise false) are
    in BGP_GLOBALS_AF_NETWORK, or redistributed.

    Why: the framework announces what these rows name and nothing else: the hosts behind the route are unreachable from
    every other leaf.

    Example: STATIC_ROUTE|default|10.64.0.0/28 without BGP_GLOBALS_AF_NETWORK|default|ipv4_unicast|10.64.0.0/28.

    Fix: add the row.

    Source: sonic-buildimage src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py.
    """
    for switch in _framework_switches(fabric):
        if not switch.device.table("BGP_NEIGHBOR"):
            continue
        announced = {one.prefix for one in announced_prefixes(switch.device.config)}
        wanted = {str(held.value.network): held.key for held in switch.addresses_of.get("Loopback0", ())}
        places = {prefix: switch.place("LOOPBACK_INTERFACE", key) for prefix, key in wanted.items()}
        for key, row in switch.device.table("STATIC_ROUTE").items():
            prefix = parse_interface(key.rpartition("|")[2])
            if prefix and key.startswith("default|") and row.get("advertise") != "false":
                places[str(prefix.network)] = switch.place("STATIC_ROUTE", key)
        for text, place in places.items():
            if text not in announced:
                family = _FAMILIES[6 if ":" in text else 4]
                at = switch.place("BGP_GLOBALS_AF_NETWORK", f"default|{family}|{text}")
                yield Defect(at, f"{text} is not announced", "add the row", (("what holds it", place),))


@rule("FG354", Severity.ERROR, "A prefix is announced that the switch does not have")
def unheld_prefix(fabric: Fabric) -> Iterator[Defect]:
    """What: every prefix in BGP_GLOBALS_AF_NETWORK is that of an interface, a loopback or a static route of the switch.

    Why: FRR announces a network only while its own routing table has it: the row has no effect, and usually the right
    one is missing.

    Example: the row has 10.64.0.0/27, the static route is for 10.64.0.0/28.

    Fix: correct the prefix, or add the route.

    Source: FRR bgpd (bgp network import-check).
    """
    for switch in _framework_switches(fabric):
        routes = (parse_interface(key.rpartition("|")[2]) for key in switch.device.table("STATIC_ROUTE"))
        held = {one.network for one in routes if one} | {one.value.network for one in switch.addresses}
        for key in switch.device.table("BGP_GLOBALS_AF_NETWORK"):
            prefix = parse_interface(key.rpartition("|")[2])
            if prefix and key.startswith("default|") and prefix.network not in held:
                message = f"{prefix.network} is no route of the switch"
                yield Defect(switch.place("BGP_GLOBALS_AF_NETWORK", key), message, "correct the prefix")
