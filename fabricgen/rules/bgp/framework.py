"""Rules on BGP under SONiC's management framework, which has no defaults: without a row, a function is off."""

from collections.abc import Iterator, Mapping, Sequence

from fabricgen.bundle.outside import announced_prefixes, read_speaker
from fabricgen.engine.derived import derived
from fabricgen.findings import Severity
from fabricgen.rules.bgp.hosts import listened
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import parse_interface
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import ADDRESS_TABLES, Switch
from fabricgen.sonic.frr_framework import filter_of, is_active
from fabricgen.sonic.image import Neighbor, uses_frr_framework

_OF_FAMILIES = ("BGP_NEIGHBOR_AF", "BGP_PEER_GROUP_AF")
_FAMILIES = {4: "ipv4_unicast", 6: "ipv6_unicast"}


def _framework_switches(fabric: Fabric) -> Iterator[Switch]:
    return (switch for switch in fabric.switches.values() if uses_frr_framework(switch.device.config))


@derived
def _neighbors(fabric: Fabric) -> Mapping[str, Sequence[Neighbor]]:
    """Switch name -> its neighbors as frrcfgd configures them."""
    return {one.name: read_speaker(one.device.config).neighbors for one in _framework_switches(fabric)}


@rule("FG347", Severity.ERROR, "An unnumbered session has only one end", breaks=Breaks.SESSION)
def one_ended_session(fabric: Fabric) -> Iterator[Defect]:
    """What: If one end of a link has an unnumbered neighbor on its port, the other end has one, too.

    Why: Both ends must configure the session. With only one end it does not start, and the link carries no traffic.

    Example: leaf1 has BGP_NEIGHBOR|default|Ethernet256, but spine1 has no row for the port at the other end of the
    cable.

    Fix: Add the row.

    Source: sonic-buildimage src/sonic-frr-mgmt-framework; FRR (interface neighbors).
    """
    speakers = {switch.name for switch in _framework_switches(fabric)}
    for pair in fabric.pairs if speakers else ():
        for end, far in (pair, pair[::-1]):
            rows, theirs = (one.switch.device.table("BGP_NEIGHBOR") for one in (end, far))
            key, their_key = f"default|{end.port}", f"default|{far.port}"
            if their_key in theirs and key not in rows and end.switch.name in speakers:
                message = f"the session with {far.switch.name} is missing, but {far.switch.name} has it"
                related = (("the far end", far.switch.place("BGP_NEIGHBOR", their_key)),)
                yield Defect(end.switch.place("BGP_NEIGHBOR", key), message, "add the row", related)


@rule("FG348", Severity.ERROR, "A session exchanges no routes of a family", breaks=Breaks.SESSION)
def inactive_family(fabric: Fabric) -> Iterator[Defect]:
    """What: Every address family in BGP_GLOBALS_AF is active on the sessions between switches and has a route map in
    each direction, in BGP_NEIGHBOR_AF or in BGP_PEER_GROUP_AF of the peer group. A session with another router has at
    least one family in one direction. The peer group of a range of hosts has the family of the range, and a filter of
    what it accepts.

    Why: The framework writes `no bgp default ipv4-unicast`, and FRR exchanges no prefix over an eBGP session without a
    policy. The session is up but carries no route.

    Example: BGP_NEIGHBOR_AF|default|Ethernet256|ipv4_unicast has admin_status down.

    Fix: Set admin_status to up, and route_map_in and route_map_out in the peer group.

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
                    blocked = " and ".join(word for word, families in ways if version not in families)
                    message = f"no {family} route passes {blocked}: {family} is not active or has no route map"
                    place = switch.place("BGP_NEIGHBOR_AF", f"{neighbor.key}|{family}")
                    yield Defect(place, message, f"activate {family} and set route_map_in and route_map_out")
            is_outside = not end or not end.far
            if is_outside and not neighbor.obstacle and not neighbor.terms.accepts and not neighbor.terms.sends:
                family = _FAMILIES[neighbor.peer.version if neighbor.peer else 6]
                message = "no route passes in either direction: no family is active with a route map"
                place = switch.place("BGP_NEIGHBOR_AF", f"{neighbor.key}|{family}")
                yield Defect(place, message, f"activate {family} and set route_map_in and route_map_out")
        yield from _groups_of_hosts(fabric, switch)


def _groups_of_hosts(fabric: Fabric, switch: Switch) -> Iterator[Defect]:
    ranges = listened(fabric).get(switch.name, ())
    for group, version in dict.fromkeys((one.group, one.network.version) for one in ranges):
        family = _FAMILIES[version]
        row = switch.device.row("BGP_PEER_GROUP_AF", f"{group}|{family}")
        if not is_active(family, row, switch.device.row("BGP_GLOBALS", group.partition("|")[0])):
            why = f"{family} is not active"
        elif not any(filter_of(row, "in")):
            why = "route_map_in is missing"
        else:
            continue
        place = switch.place("BGP_PEER_GROUP_AF", f"{group}|{family}")
        yield Defect(place, f"no route of the hosts is accepted: {why}", f"activate {family} and set route_map_in")


@rule("FG349", Severity.ERROR, "BGP_GLOBALS contradicts DEVICE_METADATA or Loopback0")
def globals_row(fabric: Fabric) -> Iterator[Defect]:
    """What: In BGP_GLOBALS|default local_asn equals DEVICE_METADATA.bgp_asn and router_id is the address of Loopback0.
    Every address family of a neighbor has a row in BGP_GLOBALS_AF.

    Why: Without local_asn the framework does not start BGP. With a different one, all peers reject the switch. A
    router id that is not an address of the switch can be the router id of another switch.

    Example: local_asn is 4200000009 and bgp_asn is 4200000001.

    Fix: Set both to the same value.

    Source: sonic-buildimage src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py; RFC 4271.
    """
    for switch in _framework_switches(fabric):
        row = switch.device.row("BGP_GLOBALS", "default")
        own = [str(held.ip) for held in switch.addresses_of.get("Loopback0", ()) if held.value.version == 4]
        expected = {"local_asn": [switch.asn] if switch.asn else [], "router_id": own if "router_id" in row else []}
        for field, values in expected.items():
            if values and row.get(field) not in values and switch.device.table("BGP_NEIGHBOR"):
                source = "bgp_asn" if field == "local_asn" else "Loopback0"
                message = f"{field} is {row.get(field, 'missing')}, {source} is {values[0]}"
                place = switch.place("BGP_GLOBALS", "default", field)
                yield Defect(place, message, f"set {field} to {values[0]}")
        rows = switch.device.table("BGP_NEIGHBOR_AF")
        for family in sorted({key.rpartition("|")[2] for key in rows if key.startswith("default|")}):
            if f"default|{family}" not in switch.device.table("BGP_GLOBALS_AF"):
                message = f"neighbors use {family}, but BGP_GLOBALS_AF has no row for it"
                hint = f"add the row BGP_GLOBALS_AF|default|{family}"
                yield Defect(switch.place("BGP_GLOBALS_AF", f"default|{family}"), message, hint)


@rule("FG353", Severity.ERROR, "A prefix of the switch is not announced", breaks=Breaks.ROUTES)
def unannounced_prefix(fabric: Fabric) -> Iterator[Defect]:
    """What: Under the management framework, BGP_GLOBALS_AF_NETWORK or redistribution covers Loopback0 and every static
    route without advertise "false", in the families that a neighbor has.

    Why: The framework announces only the prefixes in these rows. Other leaves cannot reach hosts behind a route that is
    not announced.

    Example: STATIC_ROUTE|default|10.64.0.0/28 without BGP_GLOBALS_AF_NETWORK|default|ipv4_unicast|10.64.0.0/28.

    Fix: Add the row.

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
        keys = [key for table in _OF_FAMILIES for key in switch.device.table(table)]
        spoken = {key.rpartition("|")[2] for key in keys if key.startswith("default|")}
        for text, place in places.items():
            family = _FAMILIES[6 if ":" in text else 4]
            if text not in announced and (family in spoken or not spoken):
                at = switch.place("BGP_GLOBALS_AF_NETWORK", f"default|{family}|{text}")
                hint = f"add the row {at.table}|{at.key}"
                yield Defect(at, f"{text} is not announced", hint, (("the address or route", place),))


@rule("FG364", Severity.ERROR, "The source address of a session is not an address of the switch", breaks=Breaks.SESSION)
def source_address(fabric: Fabric) -> Iterator[Defect]:
    """What: Under the management framework, an address in local_addr of BGP_NEIGHBOR or BGP_PEER_GROUP is an address of
    an interface of the switch.

    Why: frrcfgd writes it as the update-source of the neighbor. FRR cannot bind to an address that the switch does not
    have, so it never connects. If the far end has the same mistake, the session does not start.

    Example: local_addr is 192.0.2.1, and no interface has this address.

    Fix: Remove local_addr, or set it to an address of the switch.

    Source: sonic-buildimage src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py; FRR bgpd (neighbor update-source).
    """
    for switch in _framework_switches(fabric):
        held = {one.ip for one in switch.addresses} | set(_misspelt(switch))
        for table in ("BGP_NEIGHBOR", "BGP_PEER_GROUP"):
            for key, row in switch.device.table(table).items():
                address = parse_interface(str(row.get("local_addr", "")))
                if address is not None and address.ip not in held and key.startswith("default|"):
                    message = f"no interface of the switch has the local_addr {address.ip}"
                    hint = "remove local_addr, or set it to an address of the switch"
                    yield Defect(switch.place(table, key, "local_addr"), message, hint)


def _misspelt(switch: Switch) -> Iterator[object]:
    """The addresses in keys with blanks, which FG404 reports."""
    for table in ADDRESS_TABLES:
        for key in switch.device.table(table):
            if key != key.strip() and (found := parse_interface(key.rpartition("|")[2].strip())):
                yield found.ip


@rule("FG365", Severity.WARNING, "Traffic-shift-away has no effect")
def ignored_isolation(fabric: Fabric) -> Iterator[Defect]:
    """What: Under the management framework, BGP_DEVICE_GLOBAL|STATE has no tsa_enabled "true".

    Why: Only bgpcfgd reads the field, and the image starts frrcfgd instead of it. The switch still announces its
    prefixes, and it carries traffic when a person pulls its cables.

    Example: tsa_enabled is true on a switch with unnumbered sessions.

    Fix: Remove the field, set the state of the switch to drained in the inventory, and render. The route map that is
    rendered then announces only the loopback.

    Source: sonic-buildimage dockers/docker-fpm-frr/frr/supervisord; src/sonic-bgpcfgd managers_device_global.py.
    """
    for switch in _framework_switches(fabric):
        if switch.device.text_of("BGP_DEVICE_GLOBAL", "STATE", "tsa_enabled") == "true":
            place = switch.place("BGP_DEVICE_GLOBAL", "STATE", "tsa_enabled")
            message = "tsa_enabled is true, but frrcfgd does not read it: the switch still carries traffic"
            hint = "set its state to drained in `devices` of the inventory, and render: a route map then drains it"
            yield Defect(place, message, hint)


@rule("FG354", Severity.ERROR, "An announced prefix is not a route of the switch")
def missing_route(fabric: Fabric) -> Iterator[Defect]:
    """What: Every prefix in BGP_GLOBALS_AF_NETWORK is the prefix of an interface, a loopback or a static route of the
    switch.

    Why: FRR announces a network only if its routing table contains it. The row has no effect, and usually the correct
    row is missing.

    Example: The row has 10.64.0.0/27, but the static route is for 10.64.0.0/28.

    Fix: Correct the prefix, or add the route.

    Source: FRR bgpd (bgp network import-check).
    """
    for switch in _framework_switches(fabric):
        routes = (parse_interface(key.rpartition("|")[2]) for key in switch.device.table("STATIC_ROUTE"))
        held = {one.network for one in routes if one} | {one.value.network for one in switch.addresses}
        for key in switch.device.table("BGP_GLOBALS_AF_NETWORK"):
            prefix = parse_interface(key.rpartition("|")[2])
            if prefix and key.startswith("default|") and prefix.network not in held:
                message = f"{prefix.network} is not a route of the switch"
                hint = "correct the prefix, or add the route"
                yield Defect(switch.place("BGP_GLOBALS_AF_NETWORK", key), message, hint)
