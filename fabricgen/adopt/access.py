"""How the hosts of the files are connected: `access` of the inventory, from VLANs, port channels and sessions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from fabricgen.adopt.source import ImportSource, Interface, SourceSwitch
from fabricgen.allocation.pools import FIRST_HOST, GATEWAY, subnet_size
from fabricgen.bundle.wiring import WiredLink
from fabricgen.findings import Finding, Severity
from fabricgen.inventory.prefixes import Network, contains, networks
from fabricgen.inventory.routing import MaxPrefixes
from fabricgen.joined import joined
from fabricgen.sonic.addresses import is_ipv4
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.tables import channel_of, split_key, vlan_name, vlans_of
from fabricgen.units import counted, whole_number
from fabricgen.vocabulary import AccessKind

KEPT, WITHOUT_NEIGHBOR, TO_ADD = "FG871", "FG872", "FG869"
_VLANS = range(2, 4095)


@dataclass(frozen=True)
class Speakers:
    """The BGP of hosts with their leaf, as `access.bgp` has it."""

    asn: int
    prefixes: tuple[str, ...]
    limit: int | None
    warning_percent: int | None

    def written(self) -> dict[str, object]:
        found: dict[str, object] = {"asn": self.asn, "prefixes": _one_or_list(self.prefixes)}
        if self.limit is not None:
            usual = self.warning_percent in (None, MaxPrefixes.warning_percent)
            most = {"limit": self.limit, "warning_percent": self.warning_percent}
            found["max_prefixes"] = self.limit if usual else most
        return found


@dataclass(frozen=True)
class Attached:
    """How a host is connected on one plane; the default is that of a plane without `access`."""

    kind: AccessKind = AccessKind.ROUTED
    vlan: int | None = None
    tagged: tuple[int, ...] = ()
    dhcp: tuple[str, ...] = ()
    falls_back: bool = False
    is_dual: bool = False  # the bond ends at two leaves
    bgp: Speakers | None = None

    def written(self, bond: str) -> dict[str, object]:
        """The keys of `access`; `bond` is the name of the bond on the host."""
        found: dict[str, object] = {"kind": self.kind}
        found |= {"bond": bond} if self.kind.has_bond else {}
        found |= {"vlan": self.vlan} if self.vlan is not None else {}
        found |= {"tagged": list(self.tagged)} if self.tagged else {}
        found |= {"dhcp": list(self.dhcp)} if self.dhcp else {}
        if self.kind.has_bond and self.falls_back != bool(self.dhcp):
            found["fallback"] = self.falls_back
        return found | ({"bgp": self.bgp.written()} if self.bgp else {})


ROUTED = Attached()


@dataclass
class Accesses:
    """Link of a host -> how it is connected. `findings` says what stays an override, and what no file has."""

    of: dict[str, Attached] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def __bool__(self) -> bool:
        return any(one != ROUTED for one in self.of.values())

    def attached(self, link: WiredLink) -> Attached:
        """That of a link; routed where the inventory cannot have what the files have."""
        return self.of.get(link.id, ROUTED)

    def of_plane(self, links: Iterable[WiredLink], groups: Mapping[str, str], bond: str) -> dict[str, object]:
        """`access` of a plane, {} if all its hosts are routed. `groups` is host -> its group."""
        found = {groups[link.a[0]]: self.attached(link) for link in links if link.a[0] in groups}
        if all(one == ROUTED for one in found.values()):
            return {}
        counts = Counter(self.attached(link) for link in links if link.a[0] in groups)
        usual = min(counts, key=lambda one: (-counts[one], str(one)))
        others = {group: one.written(bond) for group, one in sorted(found.items()) if one != usual}
        return usual.written(bond) | ({"groups": others} if others else {})


def find_access(source: ImportSource, links: Sequence[WiredLink]) -> Accesses:
    """How the hosts at end `a` of the links are connected. What an inventory cannot have is routed, with a finding."""
    found = Accesses()
    switches = {name: _Ports(switch) for name, switch in source.switches.items()}
    kept: dict[str, list[str]] = {}  # reason -> hosts
    for (host, _), own in _links_by_host(source, links).items():
        attached, reason = _attached(own, switches, links)
        found.of |= {link.id: attached for link in own}
        if reason:
            kept.setdefault(reason, []).append(host)
    for reason, hosts in kept.items():
        message = f"the VLANs and port channels of {hosts[0]} stay overrides: {reason}"
        hint = "compare the host with its netplan file, or change the switch so that `access` can describe it"
        found.findings.append(Finding(KEPT, Severity.NOTE, message, hint=hint, count=len(hosts)))
    found.findings += _gateways(source, links, found)
    found.findings += _without_neighbor(source, links, switches)
    found.findings += _to_add(source, found)
    return found


def vlan_blocks(plane: ImportSource, links: Sequence[WiredLink], accesses: Accesses) -> dict[str, list[str]]:
    """Block of the lock file -> the subnets of a VLAN on one switch; [] where a host cannot get an address by its port.

    The two leaves of a pair share the block of the first.
    """
    found: dict[str, list[str]] = {}
    taken: set[Network] = set()
    for name, number, ports in sorted(_vlans(plane, links, accesses), key=lambda one: (natural_key(one[0]), one[1])):
        switch = plane.switches[name]
        gateways = switch.addresses("VLAN_INTERFACE", vlan_name(number))
        if gateways and all(one.network in taken for one in gateways):
            continue
        usable = [one for one in gateways if _serves(one, ports) and one.network not in taken]
        taken |= {one.network for one in usable}
        found[f"{switch.key}/hosts/vlan{number}"] = [str(one.network) for one in usable]
    return found


def _vlans(plane: ImportSource, links: Sequence[WiredLink], accesses: Accesses) -> Iterator[tuple[str, int, int]]:
    """(switch, number, host ports of the switch) of each VLAN of hosts."""
    ports = Counter(link.b[0] for link in links if link.a[0] not in plane.switches)
    found: dict[tuple[str, int], None] = {}
    for link in links:
        one = accesses.attached(link)
        if link.a[0] not in plane.switches and one.vlan is not None:
            found |= dict.fromkeys((link.b[0], number) for number in (one.vlan, *one.tagged))
    for name, number in found:
        yield name, number, ports[name]


def _is_first(gateway: Interface) -> bool:
    return int(gateway.ip) == int(gateway.network.network_address) + GATEWAY


def _serves(gateway: Interface, ports: int) -> bool:
    """Whether a subnet gives an address to each port: the gateway is its first address, and it has room."""
    return _is_first(gateway) and gateway.network.num_addresses >= subnet_size(ports + FIRST_HOST)


class _Ports:
    """The VLANs, port channels and sessions of a switch, by port."""

    def __init__(self, switch: SourceSwitch) -> None:
        self.switch = switch
        self.channels = channel_of(switch.tables.get("PORTCHANNEL_MEMBER", {}))
        self.untagged: dict[str, list[int]] = {}
        self.tagged: dict[str, list[int]] = {}
        for member, vlans in vlans_of(switch.tables.get("VLAN_MEMBER", {})).items():
            for name, mode in vlans.items():
                number = whole_number(name.removeprefix("Vlan"))
                if number is not None:
                    numbers = self.tagged if mode == "tagged" else self.untagged
                    numbers.setdefault(member, []).append(number)

    @cached_property
    def domain(self) -> str:
        """The MCLAG domain; "" without."""
        return next(iter(self.switch.tables.get("MCLAG_DOMAIN", {})), "")

    def member(self, port: str) -> str:
        """The port channel of a port, or the port itself."""
        return self.channels.get(port, port)

    def has(self, port: str) -> bool:
        """Whether a port is in a VLAN or in a port channel."""
        member = self.member(port)
        return port in self.channels or member in self.untagged or member in self.tagged

    def attached(self, port: str) -> Attached | str:
        """How a host at a port is connected, or why an inventory cannot have it."""
        member = self.member(port)
        untagged, tagged = self.untagged.get(member, []), sorted(self.tagged.get(member, []))
        is_bond = port in self.channels
        if not untagged and not tagged:
            kind = AccessKind.ROUTED_BOND if is_bond else AccessKind.ROUTED
            table = "PORTCHANNEL_INTERFACE" if is_bond else "INTERFACE"
            falls_back = is_bond and self.switch.text("PORTCHANNEL", member, "fallback") == "true"
            addresses = self.switch.addresses(table, member)
            if is_bond and not addresses:
                return f"{member} has neither a VLAN nor an address"
            return Attached(kind, falls_back=falls_back, bgp=self._speakers(addresses))
        if len(untagged) != 1:
            return f"{member} is untagged in {counted(len(untagged), 'VLAN')}, and the ports of `access` in one"
        if outside := [number for number in (*untagged, *tagged) if number not in _VLANS]:
            return f"{member} is in VLAN {outside[0]}, and `access` has VLANs from 2 to 4094"
        vlan = vlan_name(untagged[0])
        return Attached(
            AccessKind.BOND if is_bond else AccessKind.VLAN,
            untagged[0],
            tuple(tagged),
            tuple(one for one in self._servers(vlan) if is_ipv4(one)),
            is_bond and self.switch.text("PORTCHANNEL", member, "fallback") == "true",
            bgp=self._speakers(self.switch.addresses("VLAN_INTERFACE", vlan)),
        )

    def _servers(self, vlan: str) -> Iterator[str]:
        """The DHCP servers of a VLAN, for the relay of all releases or for the later one."""
        for table, name in (("VLAN", "dhcp_servers"), ("DHCPV4_RELAY", "dhcpv4_servers")):
            if texts := self.switch.row(table, vlan).get(name):
                yield from [texts] if isinstance(texts, str) else texts
                return

    def _speakers(self, addresses: Sequence[Interface]) -> Speakers | None:
        """The BGP of the hosts in the subnets of these addresses, if the switch filters what they announce: without
        filters, no file has their prefixes."""
        for group in self._groups:
            ranges = group[0]
            if addresses and all(any(contains(wide, one.network) for wide in ranges) for one in addresses):
                return group[1]
        return None

    @cached_property
    def _groups(self) -> list[tuple[tuple[Network, ...], Speakers]]:
        """(ranges, BGP) of each peer group that listens."""
        ranges: dict[str, list[str]] = {}
        for key, row in self.switch.tables.get("BGP_GLOBALS_LISTEN_PREFIX", {}).items():
            vrf, _, prefix = key.partition("|")
            ranges.setdefault(f"{vrf}|{row.get('peer_group')}", []).append(prefix)
        found = []
        for name, texts in ranges.items():
            asn = whole_number(self.switch.text("BGP_PEER_GROUP", name, "asn"))
            families = self.switch.tables.get("BGP_PEER_GROUP_AF", {})
            policies = [row for key, row in families.items() if key.startswith(f"{name}|")]
            sets = {each for row in policies for each in self._sets(row.get("route_map_in"))}
            keys = map(split_key, self.switch.tables.get("PREFIX", {}))
            prefixes = [key[-2] for key in keys if len(key) >= 3 and key[0] in sets]
            limits = [row for row in policies if "max_prefix_limit" in row]
            limit, percent = (
                whole_number(str(limits[0].get(key, ""))) if limits else None
                for key in ("max_prefix_limit", "max_prefix_warning_threshold")
            )
            if asn and prefixes:
                found.append((networks(texts), Speakers(asn, tuple(dict.fromkeys(prefixes)), limit, percent)))
        return found

    def _sets(self, policies: object) -> Iterator[str]:
        """The prefix sets that route maps permit."""
        names = [policies] if isinstance(policies, str) else policies if isinstance(policies, list) else []
        for key, row in self.switch.tables.get("ROUTE_MAP", {}).items():
            if split_key(key)[0] in names and row.get("route_operation") == "permit":
                yield str(row.get("match_prefix_set", ""))


def _links_by_host(source: ImportSource, links: Sequence[WiredLink]) -> dict[tuple[str, str], list[WiredLink]]:
    """(host, first of the connected switches) -> its links: those of one plane."""
    parts = part_of(source, links)
    found: dict[tuple[str, str], list[WiredLink]] = {}
    for link in links:
        if link.a[0] not in source.switches:
            found.setdefault((link.a[0], parts[link.b[0]]), []).append(link)
    return found


def part_of(source: ImportSource, links: Sequence[WiredLink]) -> dict[str, str]:
    """Switch -> the first switch of those that links connect with it."""
    pairs = ((link.a[0], link.b[0]) for link in links if link.a[0] in source.switches)
    return {name: names[0] for names in joined(source.switches, pairs) for name in names}


def _attached(
    own: Sequence[WiredLink], switches: Mapping[str, _Ports], links: Sequence[WiredLink]
) -> tuple[Attached, str]:
    """How a host with these links is connected on one plane, and why this is not what the files have, or ""."""
    each = [switches[link.b[0]].attached(link.b[1]) for link in own]
    if reasons := [one for one in each if isinstance(one, str)]:
        return ROUTED, reasons[0]
    kinds = {one for one in each if isinstance(one, Attached)}
    if len(kinds) > 1:
        return ROUTED, "its ports are connected in different ways, and `access` has one for the ports of a plane"
    attached = kinds.pop()
    if not attached.kind.has_bond:
        return attached, ""
    ends = dict.fromkeys((link.b[0], switches[link.b[0]].member(link.b[1])) for link in own)
    leaves = {name for name, _ in ends}
    if len(ends) > len(leaves):
        return ROUTED, "it has several bonds, and `access` has one bond of all ports of a plane"
    if len(leaves) == 1:
        return attached, ""
    is_pair = len(leaves) == 2 and all(switches[name].domain for name in leaves)
    if attached.kind is not AccessKind.BOND or not is_pair:
        return ROUTED, "its bond ends at several switches that are not a pair (MCLAG)"
    if not any({link.a[0], link.b[0]} == leaves for link in links):
        return ROUTED, f"no link between {' and '.join(sorted(leaves))} is known, which are a pair (MCLAG)"
    return replace(attached, is_dual=True), ""


def _gateways(source: ImportSource, links: Sequence[WiredLink], found: Accesses) -> Iterator[Finding]:
    """A finding for VLANs from whose subnet a host cannot get an address by its port."""
    wrong: list[str] = []
    for name, number, ports in _vlans(source, links, found):
        vlan = f"{vlan_name(number)} of {name}"
        gateways = source.switches[name].addresses("VLAN_INTERFACE", vlan_name(number))
        wrong += [] if gateways else [f"{vlan} has no address"]
        for one in gateways:
            if not _is_first(one):
                wrong.append(f"{one} of {vlan} is not the first address of its subnet")
            elif not _serves(one, ports):
                wrong.append(f"the subnet {one.network} of {vlan} has too few addresses for {ports} host ports")
    if wrong:
        message = f"{wrong[0]}: the inventory gives its hosts another subnet"
        hint = "make the gateway the first address of a subnet for all ports, or correct the files of the hosts"
        yield Finding(KEPT, Severity.NOTE, message, hint=hint, count=len(wrong))


def _without_neighbor(
    source: ImportSource, links: Sequence[WiredLink], switches: Mapping[str, _Ports]
) -> Iterator[Finding]:
    """A finding for ports in VLANs and port channels whose far end no file names."""
    known = {end for link in links for end in (link.a, link.b)}
    left = [
        (name, port)
        for name, switch in source.switches.items()
        for port in switch.layout.port_by_name
        if (name, port) not in known and switches[name].has(port)
    ]
    if left:
        name, port = left[0]
        message = f"{port} is in a VLAN or port channel, and no file names its neighbor: its host is not imported"
        hint = "give the cables with --lldp or --links, or add DEVICE_NEIGHBOR rows, then repeat the import"
        yield Finding(WITHOUT_NEIGHBOR, Severity.NOTE, message, name, hint=hint, count=len(left))


def _to_add(source: ImportSource, found: Accesses) -> Iterator[Finding]:
    """What no file of a switch has about hosts in VLANs and bonds."""
    kinds = {one.kind for one in found.of.values()}
    if any(kind.has_vlan for kind in kinds):
        message = "the files do not have the addresses of hosts in VLANs: the inventory numbers hosts by port"
        yield Finding(TO_ADD, Severity.NOTE, message, hint="compare hosts/GROUP/netplan with the hosts")
    if any(kind.has_bond for kind in kinds):
        message = "the files do not have the names of bonds on the hosts: the inventory has bond0, bond1, ..."
        yield Finding(TO_ADD, Severity.NOTE, message, hint="set `bond` of `access` to the name on the hosts")
    if any("BGP_PEER_RANGE" in switch.tables for switch in source.switches.values()):
        message = "BGP_PEER_RANGE accepts any prefix, so the files do not have the prefixes of hosts that speak BGP"
        yield Finding(TO_ADD, Severity.NOTE, message, hint="set `bgp` of `access`, and remove the rows from base/")


def mclag(plane: ImportSource, links: Sequence[WiredLink], accesses: Accesses) -> dict[str, Any]:
    """`mclag` of the plane's access, {} if no bond ends at two leaves."""
    if not any(accesses.attached(link).is_dual for link in links):
        return {}
    domain = plane.most(next(iter(switch.tables.get("MCLAG_DOMAIN", {})), "") for switch in plane.switches.values())
    number = whole_number(str(domain))
    return {"mclag": {"domain": number} if number and number > 1 else {}}


def _one_or_list(texts: Sequence[str]) -> object:
    return texts[0] if len(texts) == 1 else list(texts)
