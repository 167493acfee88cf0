"""Rules on interfaces that take what belongs to others: addresses of hosts and neighbors, ports of a channel."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import HOST, HeldAddress, IpInterface, parse_interface
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.rules.view.subnets import addresses_by_port, end_addresses, owned_by_several
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.device_types import OUTSIDE_ROLE


@rule("FG321", Severity.ERROR, "An interface has the address of a host or of a neighbor", breaks=Breaks.SESSION)
def taken_address(fabric: Fabric) -> Iterator[Defect]:
    """What: No interface, VLAN, port channel or loopback of a switch has the address of a host's NIC, or that of one of
    the switch's own BGP neighbors. FG316 covers the port of the NIC, FG313 the addresses of known switches.

    Why: The switch keeps the packets for the address instead of forwarding them. The host is unreachable behind this
    switch, or the BGP session stays down, because the switch does not connect to itself.

    Example: Loopback1 of leaf1 has 10.64.0.1, the address of rail0 of gpu-000.

    Fix: Use a free address.

    Source: fabric.json (allocated addresses of the NICs); RFC 1122 section 3.3.4.2 (a host accepts packets for any of
    its addresses).
    """
    nics = _nics(fabric)
    several = owned_by_several(fabric)
    for switch in fabric.switches.values():
        neighbors = {key.removeprefix("default|") for key in switch.device.table("BGP_NEIGHBOR")}
        texts = {key.rpartition("|")[2] for key in neighbors}
        own = switch.addresses
        if texts.isdisjoint([held.text for held in own]) and nics.keys().isdisjoint(map(HOST, own)):
            continue
        for held in own:
            host = held.host
            owner = nics.get(host)
            if owner and not _leads_to(fabric, switch, held, owner):
                message = f"{held.ip} is the address of {owner[1]} of host {owner[0]}"
            elif held.text in texts and host not in several and _in_its_vrf(switch, held) in neighbors:
                message = f"{held.ip} is also the address of a BGP neighbor of the switch"
            else:
                continue
            yield Defect(switch.place(held.table, held.key), message, "use a free address")


def _in_its_vrf(switch: Switch, held: HeldAddress) -> str:
    """The key of BGP_NEIGHBOR that the address has in the VRF of its interface."""
    vrf, _ = switch.address_space(held.interface)
    return f"{vrf}|{held.text}" if vrf else held.text


def _nics(fabric: Fabric) -> Mapping[object, tuple[str, str]]:
    """Address -> host and NIC."""
    return {
        (address.version, int(address)): (host.name, nic.name)
        for host in fabric.hosts.values()
        for nic in host.nics
        for text in nic.addresses
        if (address := parse_interface(text))
    }


def _leads_to(fabric: Fabric, switch: Switch, held: HeldAddress, nic: tuple[str, str]) -> bool:
    end = fabric.ends_of[switch.name].get(held.interface)
    return bool(end and (end.far_name, end.far_port) == nic)


@rule("FG322", Severity.ERROR, "A routed port is a member of a port channel")
def routed_member(fabric: Fabric) -> Iterator[Defect]:
    """What: A port in PORTCHANNEL_MEMBER has no row in INTERFACE.

    Why: A port has either addresses or belongs to a port channel. orchagent does not add a router interface
    as a member, and the port then carries the traffic of neither. YANG checks this for VLANs only (FG409).

    Example: PORTCHANNEL_MEMBER|PortChannel1|Ethernet0 and INTERFACE|Ethernet0|10.64.0.0/31.

    Fix: Remove the member, or the rows of the port in INTERFACE.

    Source: sonic-swss orchagent/portsorch.cpp (a LAG member must not have a router interface); sonic-utilities
    config/main.py (portchannel member add).
    """
    for switch in fabric.switches.values():
        routed = {key.partition("|")[0]: key for key in switch.device.table("INTERFACE")}
        for key in switch.device.table("PORTCHANNEL_MEMBER"):
            port = key.rpartition("|")[2]
            if port in routed:
                related = (("the interface", switch.place("INTERFACE", routed[port])),)
                message = f"{port} is a member of {key.partition('|')[0]}, and also a routed port"
                hint = "remove the member, or the rows of the port in INTERFACE"
                yield Defect(switch.place("PORTCHANNEL_MEMBER", key), message, hint, related)


@rule("FG323", Severity.WARNING, "Some links have an address family that others do not have")
def missing_family(fabric: Fabric) -> Iterator[Defect]:
    """What: Either all routed links of one kind in a plane have IPv6 addresses, or none has them; the same for IPv4.
    Links to switches and links to hosts are two kinds. If most links have the family, the others are reported, else
    those that have it. FG311 reports a link where one end has the family.

    Why: Routes of the family avoid these links. Its traffic uses a part of the paths, and hosts behind the others are
    unreachable.

    Example: 16 links between leaves and spines have IPv6 addresses, two have IPv4 addresses only.

    Fix: Add the addresses to both ends.

    Source: RFC 7938 section 5 (equal paths in all planes of the topology).
    """
    kinds: dict[object, list[End]] = defaultdict(list)
    for end in fabric.ends if _families_differ(fabric) else ():
        if end_addresses(end) and end.far_role != OUTSIDE_ROLE and not _is_link_local(end):
            kinds[end.switch.network, end.far_role == "host"].append(end)
    for ends in kinds.values():
        for version in (4, 6):
            having = [end for end in ends if _of_version(end, version)]
            if not having or len(having) == len(ends):
                continue
            lacking = [end for end in ends if not _of_version(end, version) and not _has_far(fabric, end, version)]
            if not lacking:
                continue
            wrong = lacking if len(having) >= len(lacking) else having
            for end in wrong:
                count = f"{len(having)} of {len(ends)} link ends of this kind have IPv{version} addresses"
                found = "this one has none" if wrong is lacking else "this is one of them"
                hint = "add the addresses to both ends" if wrong is lacking else "give all links the family, or none"
                held = end_addresses(end)[0] if wrong is lacking else _of_version(end, version)[0]
                yield Defect(end.switch.place(held.table, held.key), f"{count}, {found}", hint)


def _families_differ(fabric: Fabric) -> bool:
    """Whether some link ends of one kind have other families than others. A fabric with the same on all is common."""
    addresses = addresses_by_port(fabric)
    found = set[tuple[Switch, bool, object]]()
    for end in fabric.ends:
        held = addresses[end.switch].get(end.port)
        if held and end.far_role != OUTSIDE_ROLE:
            families = held[0].version if len(held) == 1 else frozenset(one.version for one in held)
            found.add((end.switch, end.far_role == "host", families))
    kinds = {(switch.network, is_host, families) for switch, is_host, families in found}
    return len(kinds) > len({kind[:2] for kind in kinds})


def _of_version(end: End, version: int) -> list[HeldAddress]:
    return [held for held in end_addresses(end) if held.version == version]


def _has_far(fabric: Fabric, end: End, version: int) -> bool:
    """Whether the far end has the family: then FG311 reports this one."""
    if end.far:
        return bool(_of_version(end.far, version))
    host = fabric.hosts.get(end.far_name)
    texts = [text for nic in host.nics if nic.name == end.far_port for text in nic.addresses] if host else []
    parsed: list[IpInterface | None] = [parse_interface(text) for text in texts]
    return any(one.version == version for one in parsed if one)


def _is_link_local(end: End) -> bool:
    row = end.switch.device.row("INTERFACE", end.port)
    return row.get("ipv6_use_link_local_only") == "enable"
