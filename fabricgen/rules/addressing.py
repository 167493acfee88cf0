"""Addresses: each link in one subnet, each address on one interface, hosts in their port's subnet."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from ipaddress import ip_address

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.fabric import End, Fabric, HeldAddress, Switch, parse_interface
from fabricgen.rules.registry import Basis, rule

_ROUTER_ID = ("DEVICE_METADATA", "localhost", "bgp_router_id")


@rule("FG311", Severity.ERROR, "A wired port has no address")
def wired_port_without_address(fabric: Fabric) -> Iterator[Defect]:
    """What: a wired port is a routed port with an address in INTERFACE, or a member of a VLAN or port channel, or uses
    IPv6 link-local addresses on purpose.

    Why: without an address the port forwards nothing.

    Example: INTERFACE has the row Ethernet0 but no row Ethernet0|10.128.0.0/31.

    Fix: add the address row. (An address without the base row is FG409.)

    Source: sonic-buildimage sonic-interface.yang; src/sonic-bgpcfgd waits for the interface.
    """
    for switch in fabric.switches.values():
        rows = switch.device.table("INTERFACE")
        members = {
            key.rpartition("|")[2]
            for table in ("VLAN_MEMBER", "PORTCHANNEL_MEMBER")
            for key in switch.device.table(table)
        }
        if not fabric.bundle.wiring and not rows:
            continue  # nothing tells that this switch routes on its ports
        for end in fabric.ends_of[switch.name].values():
            if end.port in members or rows.get(end.port, {}).get("ipv6_use_link_local_only") == "enable":
                continue
            if end.port not in switch.addresses_of:
                expected = _expected_address(fabric, end)
                key = f"{end.port}|{expected}" if expected else end.port
                hint = f"add the row INTERFACE|{key}" if expected else "add its address row"
                yield Defect(switch.place("INTERFACE", key), f"the port to {end.far_name} has no address", hint)


def _expected_address(fabric: Fabric, end: End) -> str:
    """The other address of the far end's /31 or /127, where it is known to have one."""
    texts = [str(held.value) for held in end_addresses(end.far)] if end.far else []
    if end.far_name in fabric.hosts:
        nics = fabric.hosts[end.far_name].nics
        texts = [text for nic in nics if nic.name == end.far_port for text in nic.addresses]
    for theirs in map(parse_interface, texts):
        if theirs and theirs.network.num_addresses == 2:
            other = next(ip for ip in theirs.network if ip != theirs.ip)
            return f"{other}/{theirs.network.prefixlen}"
    return ""


@rule("FG312", Severity.ERROR, "The two ends of a link are not in one subnet")
def link_subnet(fabric: Fabric) -> Iterator[Defect]:
    """What: the two ends of a routed link have different addresses of one subnet.

    Why: without a common subnet neither end finds the other, and the BGP session stays down.

    Example: leaf1 has 10.128.0.0/31, spine1 has 10.128.0.3/31.

    Fix: give both ends the addresses of one /31 or /127.

    Source: RFC 3021, RFC 6164.
    """
    for pair in fabric.pairs:
        for near, far in mismatched_addresses(pair):
            end, held, other_end, other = _stranger(pair, near, far)
            message = f"{held.value} shares no subnet with {other.value} of {other_end.switch.name}"
            if held.value.ip == other.value.ip:
                message = f"{held.value.ip} is the address of the far end {other_end.switch.name}, too"
            elif held.value.network.overlaps(other.value.network):
                message = f"{held.value} and {other.value} of {other_end.switch.name} are subnets of unlike length"
            related = (("the far end", other_end.switch.place(other.table, other.key)),)
            yield Defect(end.switch.place(held.table, held.key), message, "use the two addresses of one /31", related)


def mismatched_addresses(pair: tuple[End, End]) -> list[tuple[HeldAddress, HeldAddress]]:
    """The addresses of a link that do not fit, by family; empty where all fit or an end has none."""
    found = []
    for version in (4, 6):
        near, far = ([held for held in end_addresses(end) if held.value.version == version] for end in pair)
        fits = any(a.value.network == b.value.network and a.value.ip != b.value.ip for a in near for b in far)
        if near and far and not fits:
            found.append((near[0], far[0]))
    return found


def end_addresses(end: End) -> tuple[HeldAddress, ...]:
    """The addresses of a wired port itself."""
    return end.switch.addresses_of.get(end.port, ())


def _stranger(pair: tuple[End, End], near: HeldAddress, far: HeldAddress) -> tuple[End, HeldAddress, End, HeldAddress]:
    """Of two addresses that do not fit, the one that the other end does not expect as a BGP peer first."""
    a, b = pair
    a_is_known = _is_peer(b.switch, near)
    b_is_known = _is_peer(a.switch, far)
    unusual_length = far.value.network.prefixlen < near.value.network.prefixlen
    if (a_is_known and not b_is_known) or (a_is_known == b_is_known and unusual_length):
        return b, far, a, near
    return a, near, b, far


def _is_peer(switch: Switch, held: HeldAddress) -> bool:
    return any(key.rpartition("|")[2] == str(held.value.ip) for key in switch.device.table("BGP_NEIGHBOR"))


@rule("FG313", Severity.ERROR, "One address is held twice")
def duplicate_address(fabric: Fabric) -> Iterator[Defect]:
    """What: no two interfaces or loopbacks of the fabric hold one address. The two ends of a link are FG312's.

    Why: traffic for the address ends at either holder. Two equal loopbacks give equal router ids, and BGP refuses
    the session.

    Example: leaf1 and leaf2 both have Loopback0|10.0.0.1/32.

    Fix: give each its own; `fabricgen render` allocates them from the lock file.

    Source: RFC 6286 (router id); general IP addressing.
    """
    held_by: dict[object, list[tuple[Switch, HeldAddress]]] = defaultdict(list)
    for switch in fabric.switches.values():
        for held in switch.addresses:
            held_by[held.value.ip].append((switch, held))
    for ip, holders in held_by.items():
        if len(holders) > 1 and not _are_ends(fabric, holders):
            for switch, held in holders:
                if _fits_its_link(fabric, switch, held):
                    continue
                other, theirs = next(one for one in holders if one[1] is not held)
                related = ((f"held by {other.name}", other.place(theirs.table, theirs.key)),)
                yield Defect(switch.place(held.table, held.key), f"{ip} is held by {other.name}, too", "", related)


def _are_ends(fabric: Fabric, holders: list[tuple[Switch, HeldAddress]]) -> bool:
    (a, held_a), (b, held_b) = holders[:2]
    end = fabric.ends_of[a.name].get(held_a.interface)
    far = end.far if end else None
    return len(holders) == 2 and far is not None and (far.switch, far.port) == (b, held_b.interface)


def _fits_its_link(fabric: Fabric, switch: Switch, held: HeldAddress) -> bool:
    """Whether the far end's address confirms this one: then the other holder is the wrong one."""
    end = fabric.ends_of[switch.name].get(held.interface)
    return bool(end and end.far) and not _is_unfit(fabric, switch, held)


@rule("FG314", Severity.ERROR, "Loopback0 is missing or no host address")
def loopback(fabric: Fabric) -> Iterator[Defect]:
    """What: every BGP speaker has a Loopback0 with an address of full length.

    Why: bgpcfgd starts no session before Loopback0's base row exists, and takes the router id from its IPv4 address.
    SONiC announces a /32 whatever the length is, so a shorter one promises addresses that are not reachable.

    Example: LOOPBACK_INTERFACE is empty, or has Loopback0|10.0.0.1/24.

    Fix: have the rows Loopback0 and Loopback0|<address>/32.

    Source: sonic-buildimage src/sonic-bgpcfgd managers_bgp.py, bgpd.main.conf.j2.
    """
    for switch in fabric.switches.values():
        if not switch.asn:
            continue
        held = switch.addresses_of.get("Loopback0", ())
        router_id = switch.device.text_of(*_ROUTER_ID)
        if not any(one.value.version == 4 for one in held) and not (held and router_id):
            message = "Loopback0 has no IPv4 address to take the router id from"
            place = switch.place("LOOPBACK_INTERFACE", f"Loopback0|{router_id or '<address>'}/32")
            yield Defect(place, message, "add the row Loopback0|<address>/32")
        for one in held:
            if one.value.network.num_addresses > 1:
                message = f"Loopback0 has {one.value}, a loopback is a single address"
                hint = f"use {one.value.ip}/{one.value.max_prefixlen}"
                yield Defect(switch.place(one.table, one.key), message, hint, (), Severity.WARNING)


@rule("FG315", Severity.ERROR, "The router id is not the loopback, or is used twice")
def router_id(fabric: Fabric) -> Iterator[Defect]:
    """What: DEVICE_METADATA.bgp_router_id, where given, is the IPv4 address of Loopback0, and no other switch's.

    Why: two BGP speakers with one router id refuse each other. A router id that nothing holds misleads everyone who
    reads a routing table.

    Example: bgp_router_id 10.0.0.9, Loopback0 has 10.0.0.1.

    Fix: set it to Loopback0's address, or leave it out.

    Source: RFC 4271; sonic-buildimage src/sonic-bgpcfgd managers_bgp.py.
    """
    for switch in fabric.switches.values():
        found = switch.device.text_of(*_ROUTER_ID)
        own = [str(held.value.ip) for held in switch.addresses_of.get("Loopback0", ()) if held.value.version == 4]
        if found and own and found not in own:
            related = (("Loopback0", switch.place("LOOPBACK_INTERFACE", f"Loopback0|{own[0]}/32")),)
            message = f"bgp_router_id is {found}, Loopback0 is {own[0]}"
            yield Defect(switch.place(*_ROUTER_ID), message, "use one address for both", related)


@rule("FG316", Severity.ERROR, "A host is not in the subnet of its port")
def host_subnet(fabric: Fabric) -> Iterator[Defect]:
    """What: the switch port of a host link has an address in the subnet of the host's NIC, and another one than it.

    Why: the NIC finds its gateway only inside its own subnet.

    Example: nic0 of gpu1 has 10.64.0.1/31, its port has 10.64.0.4/31.

    Fix: give the port the other address of the NIC's /31.

    Source: fabric.json (addresses of the NICs as they were allocated).
    """
    nics = {(host.name, nic.name): nic.addresses for host in fabric.hosts.values() for nic in host.nics}
    for end in fabric.ends:
        held = end_addresses(end)
        for text in nics.get((end.far_name, end.far_port), ()):
            nic = parse_interface(text)
            mine = [one for one in held if nic and one.value.version == nic.version]
            if nic and mine and not any(nic.ip in one.value.network and nic.ip != one.value.ip for one in mine):
                message = f"{mine[0].value} is no gateway for {end.far_name} {end.far_port}, which has {text}"
                yield Defect(end.switch.place(mine[0].table, mine[0].key), message, "use the NIC's subnet")


@rule("FG317", Severity.ERROR, "Subnets of different links overlap")
def overlapping_subnets(fabric: Fabric) -> Iterator[Defect]:
    """What: the subnet of a routed port overlaps no subnet of another link.

    Why: of two overlapping routes the more specific one wins: part of one link's addresses is reached over the other.

    Example: leaf1 Ethernet0 has 10.128.0.0/24, its Ethernet4 has 10.128.0.2/31.

    Fix: give each link a subnet of its own.

    Source: general IP addressing.
    """
    for version in (4, 6):
        held = sorted(
            (
                (
                    int(one.value.network.network_address),
                    -int(one.value.network.broadcast_address),
                    switch.name,
                    one.key,
                )
                for switch in fabric.switches.values()
                for one in switch.addresses
                if one.value.version == version and one.table == "INTERFACE" and not _is_unfit(fabric, switch, one)
            ),
        )
        yield from _overlaps(fabric, held)


def _is_unfit(fabric: Fabric, switch: Switch, held: HeldAddress) -> bool:
    """Whether FG312 already doubts the addresses of this link."""
    end = fabric.ends_of[switch.name].get(held.interface)
    return bool(end and end.far and mismatched_addresses((end, end.far)))


def _overlaps(fabric: Fabric, held: list[tuple[int, int, str, str]]) -> Iterator[Defect]:
    """The subnets that reach into the following ones, widest first; equal ones belong to FG312 and FG313."""
    wide: tuple[int, int, str, str] | None = None
    told = None
    for one in held:
        if wide and one[0] <= -wide[1]:
            if one[:2] != wide[:2] and told != wide and not _share_link(fabric, wide[2:], one[2:]):
                told = wide
                other = fabric.switches[one[2]]
                message = f"the subnet of {wide[3].partition('|')[2]} holds that of {one[2]} {one[3].replace('|', ' ')}"
                related = (("the other port", other.place("INTERFACE", one[3])),)
                yield Defect(fabric.switches[wide[2]].place("INTERFACE", wide[3]), message, "", related)
        else:
            wide = one


def _share_link(fabric: Fabric, a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    end = fabric.ends_of[a[0]].get(a[1].partition("|")[0])
    return bool(end and (end.far_name, end.far_port) == (b[0], b[1].partition("|")[0]))


@rule("FG318", Severity.WARNING, "A loopback or management address lies far from all others", Basis.PEERS)
def address_outlier(fabric: Fabric) -> Iterator[Defect]:
    """What: the loopbacks of one plane, and the management addresses, come from one range. An address is told when the
    range of all others is at least 16 times smaller without it.

    Why: prefix lists, firewalls and monitoring are written for the range. An address outside it is reachable by
    nobody who counts on them, and usually a slip of the keyboard.

    Example: 19 switches have loopbacks in 10.0.0.0/27, leaf3 has 10.9.0.3.

    Fix: take the address from the pool.

    Source: derived from the bundle itself.
    """
    ranges: dict[tuple[str, str, int], list[tuple[Place, int, int]]] = defaultdict(list)
    for switch in fabric.switches.values():
        for key in switch.device.table("MGMT_INTERFACE"):
            if held := parse_interface(key.partition("|")[2]):
                place = switch.place("MGMT_INTERFACE", key)
                ranges["", "management", held.version].append((place, int(held.ip), held.max_prefixlen))
        for one in switch.addresses_of.get("Loopback0", ()):
            place = switch.place(one.table, one.key)
            kind = (switch.plane, "loopback", one.value.version)
            ranges[kind].append((place, int(one.value.ip), one.value.max_prefixlen))
    for (_, what, _), held_at in ranges.items():
        for place, ip, _ in _outliers(held_at):
            text = place.key.partition("|")[2]
            yield Defect(place, f"{what} address {text} lies outside the range of all others ({ip_range(held_at, ip)})")


_OUTLIER_BITS = 4


def _outliers(held_at: list[tuple[Place, int, int]]) -> Iterator[tuple[Place, int, int]]:
    """The lowest or highest address, where it alone widens the common range of at least four."""
    if len(held_at) < 4:
        return
    ordered = sorted(held_at, key=lambda one: one[1])
    whole = _bits(ordered)
    for index, rest in ((0, ordered[1:]), (-1, ordered[:-1])):
        if whole - max(_bits(rest), (len(rest) - 1).bit_length()) >= _OUTLIER_BITS:
            yield ordered[index]


def _bits(ordered: list[tuple[Place, int, int]]) -> int:
    return (ordered[0][1] ^ ordered[-1][1]).bit_length()


def ip_range(held_at: Iterable[tuple[Place, int, int]], without: int) -> str:
    """'10.0.0.1 to 10.0.0.20', all but one."""
    numbers = sorted(ip for _, ip, _ in held_at if ip != without)
    return f"{ip_address(numbers[0])} to {ip_address(numbers[-1])}"


@rule("FG319", Severity.ERROR, "The management gateway or address does not fit")
def management(fabric: Fabric) -> Iterator[Defect]:
    """What: gwaddr lies in the subnet of its MGMT_INTERFACE address and is not that address; no two switches share one.

    Why: a switch that cannot be reached cannot be repaired.

    Example: eth0|10.255.0.10/24 with gwaddr 10.255.1.1.

    Fix: correct the gateway or the prefix length.

    Source: sonic-buildimage sonic-mgmt_interface.yang.
    """
    owners: dict[object, tuple[Switch, str]] = {}
    for switch in fabric.switches.values():
        for key, row in switch.device.table("MGMT_INTERFACE").items():
            held = parse_interface(key.partition("|")[2])
            gateway = parse_interface(str(row.get("gwaddr", "")))
            if held and gateway and (gateway.ip not in held.network or gateway.ip == held.ip):
                message = f"gateway {gateway.ip} is not another address of {held.network}"
                yield Defect(switch.place("MGMT_INTERFACE", key, "gwaddr"), message)
            if held and held.ip in owners:
                other, theirs = owners[held.ip]
                for one, mine, them in ((switch, key, other), (other, theirs, switch)):
                    message = f"{held.ip} is the management address of {them.name}, too"
                    yield Defect(one.place("MGMT_INTERFACE", mine), message)
            elif held:
                owners[held.ip] = (switch, key)
