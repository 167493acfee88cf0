"""Rules on announced prefixes: hosts on routed ports are reachable only if their leaf announces their subnet."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network

from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import HeldAddress, parse_interface
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.bgpcfgd import IDF_TYPES, IDF_WITHDRAWS
from fabricgen.sonic.image import uses_frr_framework
from fabricgen.sonic.releases import release_name
from fabricgen.sonic.tables import Row
from fabricgen.vocabulary import Isolation, Role

Network = IPv4Network | IPv6Network
_STATIC_BFD_MENDED = 202505
_SWITCHES = frozenset({Role.LEAF, Role.SPINE, Role.CORE})


def _static_routes(switch: Switch) -> list[tuple[str, Row, Network]]:
    """(key, row, prefix) of each STATIC_ROUTE row in the default VRF."""
    found = []
    for key, row in switch.device.table("STATIC_ROUTE").items():
        vrf, _, prefix = key.rpartition("|")
        if vrf in ("", "default") and (held := parse_interface(prefix)):
            found.append((key, row, held.network))
    return found


def _is_installed(row: Row) -> bool:
    """Whether staticd can install the route: it is a discard route, or it has a next hop or an interface."""
    return row.get("blackhole") == "true" or bool(row.get("nexthop")) or bool(row.get("ifname"))


def _announced(switch: Switch) -> list[tuple[str, Network]]:
    """(STATIC_ROUTE key, prefix) of each announced static route."""
    return [
        (key, network)
        for key, row, network in _static_routes(switch)
        if _is_installed(row) and row.get("advertise") != "false"
    ]


def _host_subnets(fabric: Fabric, switch: Switch) -> list[HeldAddress]:
    """The address of each routed host port, whose subnet is that of the host."""
    addresses = switch.addresses_of
    return [
        held
        for end in fabric.ends_of[switch.name].values()
        if end.far_role == Role.HOST
        for held in addresses.get(end.port, ())
    ]


def _contains(wide: Network, narrow: Network) -> bool:
    return wide.version == narrow.version and narrow.subnet_of(wide)  # type: ignore[arg-type]


@rule("FG341", Severity.ERROR, "Host addresses are not announced", breaks=Breaks.ROUTES)
def unannounced_hosts(fabric: Fabric) -> Iterator[Defect]:
    """What: The subnet of every routed host port is inside a prefix that the switch announces.

    Why: SONiC announces Loopback0, VLAN subnets and static routes, but not the subnets of routed ports. A host behind
    a routed port cannot be reached from other leaves although its link and all BGP sessions are up.

    Example: INTERFACE of leaf1 has 32 host ports with addresses in 10.64.0.0/26, and STATIC_ROUTE is empty.

    Fix: Add STATIC_ROUTE|default|10.64.0.0/26 with blackhole "true" and without advertise "false". The connected /31
    subnets are more specific and carry the traffic. A plane that separates tenants by VRFs announces none: FG648 judges
    who reaches whom there.

    Source: sonic-buildimage bgpd.main.conf.j2 (redistribute static route-map STATIC_ROUTE_FILTER), staticroutebgp.
    """
    for switch in fabric.switches.values():
        if switch.device.metadata.get("frr_mgmt_framework_config") == "true" or not switch.asn:
            continue
        plane = fabric.planes.get(switch.plane)
        if plane and plane.isolation not in (None, Isolation.ACL):
            continue
        announced = [network for _, network in _announced(switch)]
        missing = [one for one in _host_subnets(fabric, switch) if not any(map(one.is_inside, announced))]
        if not missing:
            continue
        key, network = missing[0].key, missing[0].value.network
        related = (("a host port", switch.place("INTERFACE", key)),)
        unused = next(((k, row) for k, row, wide in _static_routes(switch) if _contains(wide, network)), None)
        found = f"{len(missing)} host subnets, for example {network}, are" if len(missing) > 1 else f"{network} is"
        message = f"{found} not in an announced prefix"
        if unused is None:
            hint = 'add STATIC_ROUTE|default|<host prefix> with blackhole "true"'
            yield Defect(switch.place("STATIC_ROUTE"), message, hint, related)
        else:
            field = "advertise" if unused[1].get("advertise") == "false" else "blackhole"
            why = "is not announced" if field == "advertise" else "is not installed"
            hint = "remove advertise" if field == "advertise" else 'set blackhole to "true"'
            message = f"{message}: the route that contains it {why}"
            yield Defect(switch.place("STATIC_ROUTE", unused[0], field), message, hint, related)


@rule("FG342", Severity.ERROR, "Two switches announce overlapping host prefixes", breaks=Breaks.ROUTES)
def overlapping_announcements(fabric: Fabric) -> Iterator[Defect]:
    """What: The prefixes that different switches announce do not overlap. A route with a next hop, for example a
    default route, may contain longer prefixes, and several switches may announce the same one.

    Why: Traffic to the overlapping addresses goes to the switch with the longer prefix, or to both switches. The wrong
    switch discards it with its own blackhole route.

    Example: leaf1 announces 10.64.0.0/24 and leaf2 announces 10.64.0.128/25.

    Fix: Announce one prefix per leaf that contains only its own host subnets.

    Source: Derived from longest-prefix match.
    """
    found = [
        _Announced(switch.name, key, network, bool(switch.device.row("STATIC_ROUTE", key).get("nexthop")))
        for switch in fabric.switches.values()
        for key, network in _announced(switch)
    ]
    containing: list[_Announced] = []  # the prefixes that can contain the next one, widest first
    reported: set[_Announced] = set()  # a prefix that is too wide is reported once, with the first one inside it
    for inner in sorted(found, key=_Announced.order):
        containing = [wide for wide in containing if _contains(wide.network, inner.network)]
        outer = next((wide for wide in reversed(containing) if _conflicts(wide, inner)), None)
        containing.append(inner)
        if outer in reported:
            continue
        for mine, theirs in ((outer, inner), (inner, outer)):
            if mine is None or theirs is None:
                continue
            if _is_own(fabric, mine.switch, mine.network) and not _is_own(fabric, theirs.switch, theirs.network):
                continue  # only the other switch announces a prefix that does not fit its own hosts
            reported.add(mine)
            place = fabric.switches[theirs.switch].place("STATIC_ROUTE", theirs.key)
            message = f"{mine.network} overlaps with {theirs.network}, which {theirs.switch} announces"
            related = ((f"announced by {theirs.switch}", place),)
            hint = "announce a prefix that contains only the switch's own host subnets"
            yield Defect(fabric.switches[mine.switch].place("STATIC_ROUTE", mine.key), message, hint, related)


@dataclass(frozen=True, slots=True)
class _Announced:
    """A static route that a switch announces."""

    switch: str
    key: str
    network: Network
    has_next_hop: bool

    def order(self) -> tuple[int, int, int, str]:
        """The sort key: a prefix comes after the prefixes that contain it."""
        return self.network.version, int(self.network.network_address), self.network.prefixlen, self.switch


def _conflicts(wide: _Announced, inner: _Announced) -> bool:
    is_allowed = wide.has_next_hop and (inner.has_next_hop or wide.network != inner.network)
    return wide.switch != inner.switch and not is_allowed


def _is_own(fabric: Fabric, name: str, network: Network) -> bool:
    """Whether the announced prefix contains the subnets of all host ports of the switch."""
    subnets = [one for one in _host_subnets(fabric, fabric.switches[name]) if one.version == network.version]
    return bool(subnets) and all(one.is_inside(network) for one in subnets)


@rule("FG343", Severity.WARNING, "An announced prefix contains no host")
def empty_announcement(fabric: Fabric) -> Iterator[Defect]:
    """What: Each announced blackhole route of a leaf contains the subnet of at least one of its host ports.

    Why: The route attracts traffic that the switch can only discard. Usually the prefix is mistyped, and the correct
    prefix is missing.

    Example: The hosts of leaf1 are in 10.64.0.0/26, but its route is for 10.46.0.0/26.

    Fix: Correct the prefix, or remove the route.

    Source: Derived from longest-prefix match; hosts from fabric.json or DEVICE_NEIGHBOR.
    """
    for switch in fabric.switches.values():
        subnets = _host_subnets(fabric, switch)
        for key, row, network in _static_routes(switch):
            is_announced = row.get("blackhole") == "true" and row.get("advertise") != "false"
            if subnets and is_announced and not any(subnet.is_inside(network) for subnet in subnets):
                message = f"{network} is announced and discarded, but contains no host port of the switch"
                yield Defect(switch.place("STATIC_ROUTE", key), message, "correct the prefix, or remove the route")


@rule("FG344", Severity.WARNING, "The prefix of a static route has host bits")
def host_bits(fabric: Fabric) -> Iterator[Defect]:
    """What: The prefix of a STATIC_ROUTE key is a network address: all bits after the prefix length are zero.

    Why: staticd masks the prefix and installs a different one than the file has. No running route matches the row, and
    a reader easily mistakes the row for another route.

    Example: STATIC_ROUTE|default|10.64.0.164/27, which is a route for 10.64.0.160/27.

    Fix: Write the network address.

    Source: FRR staticd (apply_mask); sonic-buildimage src/sonic-bgpcfgd managers_static_rt.py.
    """
    for switch in fabric.switches.values():
        for key, _, network in _static_routes(switch):
            if key.rpartition("|")[2].partition("/")[0] != str(network.network_address):
                message = f"the prefix has host bits, the installed route is {network}"
                yield Defect(switch.place("STATIC_ROUTE", key), message, f"write {network}")


@rule("FG280", Severity.ERROR, "The aggregate of a leaf's hosts has a next hop", breaks=Breaks.ROUTES)
def aggregate_with_next_hop(fabric: Fabric) -> Iterator[Defect]:
    """What: A static route that is announced, and that contains the subnets of hosts of the switch, is a blackhole,
    unless a longer blackhole contains them. A next hop that is not a switch is a warning. Default routes are not
    aggregates.

    Why: Packets to addresses of the prefix that no host has, or whose port is down, go to the other switch, which has
    the announced route back. They loop until their TTL ends, and fill lossless queues in both directions.

    Example: STATIC_ROUTE|default|10.64.0.0/27 of leaf1 has nexthop 10.128.0.1, an address of spine1.

    Fix: Remove nexthop and ifname, and set blackhole to "true".

    Source: Derived from longest-prefix match; RFC 4632 section 5.1 (discard route of an aggregate).
    """
    for switch in fabric.switches.values():
        with_hop = [
            (key, row, network)
            for key, row, network in _static_routes(switch)
            if row.get("blackhole") != "true" and row.get("advertise") != "false" and network.prefixlen
        ]
        discards = [one for _, row, one in _static_routes(switch) if row.get("blackhole") == "true"]
        own = _host_subnets(fabric, switch) if with_hop else []
        ends = fabric.ends_of[switch.name]
        for key, row, network in with_hop:
            longer = [one for one in discards if one.prefixlen > network.prefixlen]
            hosts = [one for one in own if one.is_inside(network) and one.length > network.prefixlen]
            if not any(not any(map(one.is_inside, longer)) for one in hosts):
                continue
            hops = [parse_interface(hop) for hop in str(row.get("nexthop", "")).split(",")]
            ports = {name for name in str(row.get("ifname", "")).split(",") if name in ends}
            ports |= {
                port
                for port in ends
                for held in switch.addresses_of.get(port, ())
                if any(hop and hop.version == held.version and hop.ip in held.value.network for hop in hops)
            }
            inner = {ends[port].far_name for port in ports if ends[port].far or ends[port].far_role in _SWITCHES}
            if ports:
                names = ", ".join(sorted(inner or {ends[port].far_name for port in ports}))
                message = f"packets to absent hosts of the prefix go to {names}"
                message += ", which has the announced route back" if inner else ""
                hint = 'remove nexthop and ifname, and set blackhole to "true"'
                severity = None if inner else Severity.WARNING
                yield Defect(switch.place("STATIC_ROUTE", key, "nexthop"), message, hint, severity=severity)


@rule("FG279", Severity.WARNING, "A switch withdraws its routes by idf_isolation_state", breaks=Breaks.ROUTES)
def isolated_downstream(fabric: Fabric) -> Iterator[Defect]:
    """What: idf_isolation_state of BGP_DEVICE_GLOBAL|STATE is missing or unisolated.

    Why: isolated_withdraw_all makes a spine announce only its loopbacks, as TSA does, and isolated_no_export keeps its
    routes from being passed on. The links stay up and carry nothing. On other types bgpcfgd applies it only to
    neighbors that are configured later, so the effect changes with the order of a restart.

    Example: BGP_DEVICE_GLOBAL|STATE has idf_isolation_state isolated_withdraw_all since the last maintenance.

    Fix: Remove the field, or set it to unisolated.

    Source: sonic-buildimage src/sonic-bgpcfgd managers_device_global.py, bgpd/idf_isolate; SONiC IDF isolation design.
    """
    for switch in fabric.switches.values():
        found = switch.device.text_of("BGP_DEVICE_GLOBAL", "STATE", "idf_isolation_state")
        if found not in ("", "unisolated"):
            effect = "announces only its loopbacks" if found == IDF_WITHDRAWS else "announces its routes with no-export"
            if switch.type not in IDF_TYPES:
                effect = f"{effect} to neighbors that are configured after it"
            message = f"idf_isolation_state is {found}: the switch {effect}"
            place = switch.place("BGP_DEVICE_GLOBAL", "STATE", "idf_isolation_state")
            yield Defect(place, message, "remove idf_isolation_state")


@rule("FG286", Severity.WARNING, "A blackhole without a next hop stops staticroutebfd")
def blackhole_without_next_hop(fabric: Fabric) -> Iterator[Defect]:
    """What: Before release 202505, a row of STATIC_ROUTE has a next hop, also if blackhole is "true"; 0.0.0.0 or ::
    does. It is an error if another static route uses BFD.

    Why: staticroutebfd takes the length of the list of next hops before it looks at blackhole, and ends with an
    exception. supervisord starts it again, and it reads the same row again: it never runs, and static routes with
    BFD are not made.

    Example: STATIC_ROUTE|default|10.64.0.0/27 has only blackhole "true" and advertise "true".

    Fix: Add nexthop "0.0.0.0", for IPv6 "::". bgpcfgd still makes a blackhole of it.

    Source: sonic-buildimage src/sonic-bgpcfgd/staticroutebfd/main.py, static_route_set_handler (202405, 202411:
    `len(nh_list)` where nexthop is missing; later: `nh_list is not None`); bgpcfgd/managers_static_rt.py,
    IpNextHop.
    """
    for switch in fabric.switches.values():
        if switch.device.release >= _STATIC_BFD_MENDED or uses_frr_framework(switch.device.config):
            continue
        with_bfd = any(row.get("bfd") == "true" for row in switch.device.table("STATIC_ROUTE").values())
        severity = Severity.ERROR if with_bfd else Severity.WARNING
        for key, row, network in _static_routes(switch):
            if not row.get("nexthop") and not row.get("nexthop-vrf"):
                zero = "::" if network.version == 6 else "0.0.0.0"
                message = f"the row has no nexthop: staticroutebfd of {release_name(switch.device.release)} exits"
                yield Defect(
                    switch.place("STATIC_ROUTE", key, "nexthop"), message, f'set nexthop to "{zero}"', (), severity
                )
