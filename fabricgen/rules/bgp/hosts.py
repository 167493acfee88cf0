"""Rules on BGP sessions that hosts open: who may open them, with which ASN, and what they may announce."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network

from fabricgen.bundle.wiring import WiredSpeaker
from fabricgen.engine.derived import derived
from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import HeldAddress, IpInterface, parse_interface
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch, number
from fabricgen.sonic.addresses import Address
from fabricgen.sonic.frr_framework import DEFAULTS, FAMILIES, LISTEN_LIMIT, filter_of, is_active
from fabricgen.sonic.image import uses_frr_framework
from fabricgen.sonic.policy import TABLES, Policies
from fabricgen.units import counted
from fabricgen.vocabulary import Role

IpNetwork = IPv4Network | IPv6Network

_RANGES, _PREFIXES, _GROUPS = "BGP_PEER_RANGE", "BGP_GLOBALS_LISTEN_PREFIX", "BGP_PEER_GROUP"


@dataclass(frozen=True, slots=True)
class Listened:
    """A subnet from which a switch accepts sessions. `group` is the key of the row with their ASN."""

    network: IpInterface
    place: Place
    table: str  # of the row with the ASN
    group: str
    field: str  # with the ASN
    asn: str

    @property
    def vrf(self) -> str:
        """The VRF of the sessions. bgpcfgd knows only the default one."""
        return self.group.partition("|")[0] if self.table == _GROUPS else "default"


@derived
def listened(fabric: Fabric) -> dict[str, tuple[Listened, ...]]:
    """Switch -> the subnets from which it accepts sessions, in the mode that its file selects."""
    return {name: own for name, switch in fabric.switches.items() if (own := tuple(_listened(switch)))}


def _listened(switch: Switch) -> Iterator[Listened]:
    device = switch.device
    if uses_frr_framework(device.config):
        for key, row in device.table(_PREFIXES).items():
            vrf, _, text = key.partition("|")
            group = f"{vrf}|{row.get('peer_group', '')}"
            if found := parse_interface(text):
                asn = device.text_of(_GROUPS, group, "asn")
                yield Listened(found, switch.place(_PREFIXES, key), _GROUPS, group, "asn", asn)
        return
    for key, row in device.table(_RANGES).items():
        given = row.get("ip_range", ())
        for text in given.split(",") if isinstance(given, str) else given:
            if found := parse_interface(str(text)):
                place = switch.place(_RANGES, key, "ip_range")
                yield Listened(found, place, _RANGES, key, "peer_asn", str(row.get("peer_asn", "")))


def _speakers(fabric: Fabric) -> Iterator[tuple[Switch, WiredSpeaker, str, IpInterface]]:
    """(leaf, speaker, host, address) of each host with BGP at each of its leaves."""
    wiring = fabric.bundle.wiring
    known = {(one.group, one.plane): one for one in (wiring.speakers if wiring else ())}
    if not known:
        return
    leaf_of = {(end.far_name, end.far_port): end.switch for end in fabric.ends if end.far_role == Role.HOST}
    for host in fabric.hosts.values():
        for nic in host.nics:
            speaker, switch = known.get((host.group, nic.plane)), leaf_of.get((host.name, nic.name))
            for text in nic.addresses if speaker and switch else ():
                address = parse_interface(text)
                if address and speaker and switch:
                    yield switch, speaker, host.name, address


@rule("FG694", Severity.ERROR, "A leaf does not accept the BGP session of a host", breaks=Breaks.SESSION)
def accepted_session(fabric: Fabric) -> Iterator[Defect]:
    """What: the address of each host that speaks BGP is in a range of its leaf (BGP_GLOBALS_LISTEN_PREFIX, or
    BGP_PEER_RANGE with bgpcfgd), and the ASN of the range is that of the host. No switch has this ASN.

    Why: FRR refuses a session from another address, and ends one with another ASN (Bad Peer AS). A switch with the ASN
    of the hosts accepts none of their routes.

    Example: gpu-000 has AS 64600, and peer_asn is 64601.

    Fix: set the ASN of fabric.json, which the hosts have, or render again.

    Source: RFC 4271, section 6.2; FRR bgpd (bgp listen range); sonic-frr-mgmt-framework frrcfgd.py
    (listen_prefix_key_map); sonic-bgpcfgd bgpd/templates/dynamic/instance.conf.j2.
    """
    seen = set[tuple[str, str, str]]()
    owners = {asn: switch.name for switch in fabric.switches.values() if (asn := _asn(switch))}
    for switch, speaker, host, address in _speakers(fabric):
        ranges = listened(fabric).get(switch.name, ())
        found = next((one for one in ranges if address in one.network.network), None)
        what = (switch.name, speaker.group, found.group if found else "")
        if what in seen:
            continue
        seen.add(what)
        if found is None:
            table = _PREFIXES if uses_frr_framework(switch.device.config) else _RANGES
            message = f"{host} opens a BGP session from {address.ip}, which is in no range of the leaf"
            yield Defect(switch.place(table), message, f"add the subnet of {speaker.group} to the ranges")
        elif found.asn != str(speaker.asn):
            message = f"{found.field} is {found.asn or 'missing'}, but hosts of {speaker.group} have AS {speaker.asn}"
            place = switch.place(found.table, found.group, found.field)
            yield Defect(place, message, f"set {found.field} to {speaker.asn}")
        elif found.asn in owners:
            message = f"hosts of {speaker.group} have AS {speaker.asn}, the same as {owners[found.asn]}"
            yield Defect(switch.place(found.table, found.group, found.field), message, "use another ASN for hosts")


@rule("FG695", Severity.ERROR, "A leaf accepts a default route or other prefixes from hosts")
def filtered_hosts(fabric: Fabric) -> Iterator[Defect]:
    """What: what a leaf accepts from sessions of its ranges is limited to prefixes: no default route, no address of the
    fabric, and in a bundle only prefixes of fabric.json. With bgpcfgd, which has no filter for them, this is a note.

    Why: one host with a wrong configuration can attract the traffic of the plane, or of another host: its route is
    as good as that of a leaf, and a longer prefix is better.

    Example: route_map_in of the peer group is PASS.

    Fix: use a route map with match_prefix_set for the prefixes of pods and services.

    Source: RFC 7454, section 6; sonic-bgpcfgd bgpd/templates/dynamic/policies.conf.j2 (FROM_BGP_SPEAKER permit 10);
    sonic-frr-mgmt-framework frrcfgd.py (nbr_af_key_map, route_map_in).
    """
    wiring = fabric.bundle.wiring
    speakers = wiring.speakers if wiring else ()
    for name, ranges in listened(fabric).items():
        switch = fabric.switches[name]
        for group in dict.fromkeys(one.group for one in ranges):
            own = [one for one in ranges if one.group == group]
            if own[0].table == _RANGES:
                message = "bgpcfgd accepts every prefix from these hosts, also a default route"
                hint = "set `bgp: unnumbered` on the plane, or limit the hosts"
                yield Defect(switch.place(_RANGES, group), message, hint, severity=Severity.NOTE)
                continue
            hosts = {one.network.network for one in own}
            allowed = {text for one in speakers if one.plane == switch.plane for text in one.prefixes}
            yield from _unfiltered(switch, group, {network.version for network in hosts}, allowed)


def _unfiltered(switch: Switch, group: str, versions: set[int], allowed: set[str]) -> Iterator[Defect]:
    """What the peer group accepts beyond its prefixes, in the families of its subnets."""
    policies = Policies({name: switch.device.table(name) for name in TABLES})
    for version in sorted(versions):
        key = f"{group}|{FAMILIES[version]}"
        row = switch.device.table("BGP_PEER_GROUP_AF").get(key, {})
        one = filter_of(row, "in")
        instance = switch.device.row("BGP_GLOBALS", group.partition("|")[0])
        if not (any(one) and is_active(FAMILIES[version], row, instance)):
            continue  # FRR accepts nothing without a policy; FG348 reports both
        place = switch.place("BGP_PEER_GROUP_AF", key, "route_map_in")
        hint = "use a route map with match_prefix_set"
        if policies.permits(one, DEFAULTS[version]):
            yield Defect(place, f"hosts can announce a default route to {switch.name}", hint)
            continue
        loopbacks = [held.value for held in switch.addresses if held.table == "LOOPBACK_INTERFACE"]
        for held in (held for held in loopbacks if held.version == version):
            if policies.permits(one, Address(version, int(held.network.network_address), held.network.prefixlen)):
                yield Defect(place, f"hosts can announce {held.network}, the loopback of {switch.name}", hint)
                return
        for text in sorted(_permitted(switch, one.maps) - allowed) if allowed else ():
            message = f"hosts can announce {text}, which fabric.json does not have as a prefix of hosts"
            yield Defect(place, message, "remove the prefix from the set, or add it to `prefixes`")


def _permitted(switch: Switch, maps: tuple[str, ...]) -> set[str]:
    """The prefixes that the sets of the permitting entries of route maps list."""
    device = switch.device
    sets = {
        str(row.get("match_prefix_set"))
        for key, row in device.table("ROUTE_MAP").items()
        if key.partition("|")[0] in maps and row.get("route_operation") == "permit"
    }
    parts = (key.split("|") for key, row in device.table("PREFIX").items() if row.get("action", "permit") == "permit")
    return {part[-2] for part in parts if len(part) > 2 and part[0] in sets}


@rule("FG696", Severity.WARNING, "More hosts with BGP than a leaf accepts")
def listen_limit(fabric: Fabric) -> Iterator[Defect]:
    """What: a leaf has at most as many hosts with BGP as FRR accepts sessions from ranges: 100, or
    max_dynamic_neighbors of BGP_GLOBALS with the management framework. Each address family is a session.

    Why: FRR refuses the sessions beyond the limit, in the order in which hosts connect: after each start others are
    missing.

    Example: a leaf with numbered BGP has 60 hosts with addresses of both families.

    Fix: set max_dynamic_neighbors, or use one family or fewer hosts at a leaf with numbered BGP.

    Source: FRR bgpd/bgpd.h (BGP_DYNAMIC_NEIGHBORS_LIMIT_DEFAULT), bgpd/bgpd.c (peer_lookup_dynamic_neighbor);
    sonic-frr-mgmt-framework frrcfgd.py (max_dynamic_neighbors).
    """
    counts: dict[str, int] = {}
    for switch, *_ in _speakers(fabric):
        counts[switch.name] = counts.get(switch.name, 0) + 1
    for name, count in counts.items():
        switch = fabric.switches[name]
        framework = uses_frr_framework(switch.device.config)
        given = number(switch.device.text_of("BGP_GLOBALS", "default", "max_dynamic_neighbors")) if framework else None
        limit = given or LISTEN_LIMIT
        if count > limit:
            sessions = counted(count, "session of hosts", "sessions of hosts")
            place = (
                switch.place("BGP_GLOBALS", "default", "max_dynamic_neighbors") if framework else switch.place(_RANGES)
            )
            hint = f"set max_dynamic_neighbors to {count}" if framework else "use fewer hosts at this leaf"
            yield Defect(place, f"{name} has {sessions}, and FRR accepts {limit}", hint)


@rule("FG698", Severity.ERROR, "A leaf accepts BGP sessions from outside the subnet of its hosts")
def narrow_ranges(fabric: Fabric) -> Iterator[Defect]:
    """What: at a leaf with hosts that speak BGP, each range of BGP_GLOBALS_LISTEN_PREFIX or BGP_PEER_RANGE that has the
    address of a host is within a subnet of the leaf in the same VRF, or within the prefix that it announces for the
    subnets of its ports, by a route that discards.

    Why: FRR compares only the range and the ASN. Each machine with an address of the range can open a session and
    announce the prefixes of the hosts: hosts of other VLANs, and with bgpcfgd (ebgp-multihop 255) of other leaves.

    Example: Vlan110 of the leaf has 10.224.0.0/29, and the range is 10.224.0.0/24.

    Fix: Set the range to the subnet of the VLAN, or remove it.

    Source: FRR bgpd/bgpd.c (peer_lookup_dynamic_neighbor); sonic-bgpcfgd bgpd/templates/dynamic/instance.conf.j2.
    """
    speaking = {switch.name for switch, *_ in _speakers(fabric)}
    texts = {text for host in fabric.hosts.values() for nic in host.nics for text in nic.addresses} if speaking else ()
    hosts = [address for text in texts if (address := parse_interface(text))]
    for name in sorted(speaking):
        switch = fabric.switches[name]
        for one in listened(fabric).get(name, ()):
            network = one.network.network
            own = [held.value.network for held in switch.addresses if _has_hosts(switch, held, one)]
            own += [prefix.network for prefix in _announced(switch, one.vrf)]
            if any(_is_within(network, subnet) for subnet in own) or not any(each in network for each in hosts):
                continue
            inside = [subnet for subnet in own if _is_within(subnet, network)]
            if inside:
                widest = min(inside, key=lambda subnet: (subnet.prefixlen, str(subnet)))
                message = f"the range {network} is wider than {widest}, the subnet of the hosts"
                yield Defect(one.place, message, f"set the range to {widest}")
            else:
                message = f"the range {network} is in no subnet of the leaf: hosts of others can open a session"
                yield Defect(one.place, message, "remove the range, or set it to the subnet of the hosts")


def _has_hosts(switch: Switch, held: HeldAddress, one: Listened) -> bool:
    """Whether the subnet of an address is one from which a range accepts sessions: of a VLAN or port in its VRF."""
    vrf = switch.address_space(held.interface)[0] or "default"
    return held.table != "LOOPBACK_INTERFACE" and vrf == one.vrf


def _announced(switch: Switch, vrf: str) -> Iterator[IpInterface]:
    """The prefixes that a switch announces by routes that discard (ADR 0005): those of its ports together."""
    for key, row in switch.device.table("STATIC_ROUTE").items():
        own, _, text = key.rpartition("|")
        if row.get("blackhole") == "true" and (own or "default") == vrf and (prefix := parse_interface(text)):
            yield prefix


def _is_within(inner: IpNetwork, outer: IpNetwork) -> bool:
    """Whether a network is another one or a part of it."""
    if inner.version != outer.version or inner.prefixlen < outer.prefixlen:
        return False
    return inner.network_address in outer


def _asn(switch: Switch) -> str:
    return switch.asn or switch.device.text_of("BGP_GLOBALS", "default", "local_asn")
