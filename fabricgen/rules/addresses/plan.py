"""Rules on the address plan: duplicate addresses, overlapping subnets, outliers and management addresses."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from ipaddress import ip_address

from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.addresses import HeldAddress, parse_interface
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.pairs import halves, mclag_domains
from fabricgen.rules.view.subnets import mismatched_subnets, owned_by_several
from fabricgen.rules.view.switch import Switch


@rule("FG313", Severity.ERROR, "Two interfaces have the same address", breaks=Breaks.SESSION)
def duplicate_address(fabric: Fabric) -> Iterator[Defect]:
    """What: Every address is on one interface or loopback of a VRF. Loose files whose cables form several networks may
    use it once in each, and so may links between switches that no cables connect with each other. The gateway of a
    VLAN may be on several switches if static_anycast_gateway or MC-LAG shares it. FG312 checks the two ends of a link.

    Why: Traffic to the address ends at any of the two interfaces. Two equal loopbacks give equal router IDs, and BGP
    rejects the session.

    Example: leaf1 and leaf2 both have Loopback0|10.0.0.1/32.

    Fix: Use different addresses. `fabricgen render` allocates them and stores them in the lock file.

    Source: RFC 6286 (router id); general IP addressing; sonic-buildimage sonic-vlan.yang (static_anycast_gateway),
    sonic-mclag.yang (MCLAG_UNIQUE_IP: only its VLANs have an address for each switch).
    """
    owners_of: dict[object, dict[tuple[Switch, str], HeldAddress]] = defaultdict(dict)
    several = owned_by_several(fabric)
    for switch in fabric.switches.values() if several else ():
        for held in switch.addresses:
            if held.host in several:  # an interface with rows in two tables is one interface
                for space in _spaces(fabric, switch, held):
                    owners_of[held.host, space].setdefault((switch, held.interface), held)
    reported: set[tuple[Switch, str]] = set()
    for by_interface in owners_of.values():
        owners = [(switch, held) for (switch, _), held in by_interface.items()]
        if len(owners) > 1 and not _are_ends(fabric, owners) and not _is_shared_gateway(fabric, owners):
            for switch, held in owners:
                ip = held.ip
                if _fits_its_link(fabric, switch, held) or (switch, held.key) in reported:
                    continue
                reported.add((switch, held.key))
                other, theirs = next(one for one in owners if one[1] is not held)
                related = ((f"{ip} of {other.name}", other.place(theirs.table, theirs.key)),)
                message, hint = f"{ip} is also an address of {other.name}", "use a different address on each interface"
                yield Defect(switch.place(held.table, held.key), message, hint, related)


def _spaces(fabric: Fabric, switch: Switch, held: HeldAddress) -> tuple[object, ...]:
    """Where an address is unique: with those of its VRF on all switches, for links only on those that cables connect
    with the switch. Others never see the addresses of its links."""
    vrf, network = switch.address_space(held.interface), fabric.connected[switch.name]
    if fabric.is_one_network:
        return (vrf,)
    end = fabric.ends_of[switch.name].get(held.interface)
    return ((vrf, network),) if end and end.far else (vrf, (vrf, network))


def _are_ends(fabric: Fabric, owners: list[tuple[Switch, HeldAddress]]) -> bool:
    if len(owners) != 2:
        return False
    (a, held_a), (b, held_b) = owners
    end = fabric.ends_of[a.name].get(held_a.interface)
    far = end.far if end else None
    return far is not None and (far.switch, far.port) == (b, held_b.interface)


def _is_shared_gateway(fabric: Fabric, owners: list[tuple[Switch, HeldAddress]]) -> bool:
    """Whether the interfaces are one VLAN on several switches that share its gateway."""
    if {held.table for _, held in owners} != {"VLAN_INTERFACE"} or len({held.interface for _, held in owners}) > 1:
        return False
    vlan = owners[0][1].interface
    devices = [switch.device for switch, _ in owners]
    is_anycast = all(device.text_of("VLAN_INTERFACE", vlan, "static_anycast_gateway") == "true" for device in devices)
    return is_anycast or _is_pair(fabric, [switch for switch, _ in owners], vlan)


def _is_pair(fabric: Fabric, switches: list[Switch], vlan: str) -> bool:
    """Whether the switches are the two leaves of a pair, or such leaves without their peer in the bundle, and the VLAN
    has no separate address at each."""
    domains = mclag_domains(fabric)
    own = [domains[one.name] for one in switches if one.name in domains and vlan not in domains[one.name].unique]
    if len(own) < len(switches):
        return False
    half = halves(fabric).get(switches[0].name)
    return len(own) == 2 and (half is None or half.peer is switches[1])


def _fits_its_link(fabric: Fabric, switch: Switch, held: HeldAddress) -> bool:
    """Whether the far end's address confirms this one: then the other interface has the wrong address."""
    end = fabric.ends_of[switch.name].get(held.interface)
    return bool(end and end.far) and not _is_mismatched(fabric, switch, held)


_ROUTED = ("INTERFACE", "VLAN_INTERFACE", "PORTCHANNEL_INTERFACE")
_Held = tuple[int, int, str, str, str]  # first address, minus the last one, switch, table, key


@rule("FG317", Severity.ERROR, "Subnets of different links overlap")
def overlapping_subnets(fabric: Fabric) -> Iterator[Defect]:
    """What: The subnet of a routed port, a VLAN or a port channel does not overlap with the subnet of another link of
    its VRF. Two switches may have one VLAN with one subnet.

    Why: The more specific of two overlapping routes wins. Packets for some addresses of one link go to the other link.

    Example: Ethernet0 of leaf1 has 10.128.0.0/24, and its Ethernet4 has 10.128.0.2/31.

    Fix: Use a separate subnet for each link.

    Source: General IP addressing.
    """
    held: dict[object, list[_Held]] = defaultdict(list)
    wrong = mismatched_subnets(fabric)
    for switch in fabric.switches.values():
        name = switch.name
        for one in switch.addresses:
            if one.table in _ROUTED and not (wrong and _is_mismatched(fabric, switch, one)):
                bits = one.host_bits
                first = one.number >> bits << bits
                for space in _spaces(fabric, switch, one):
                    last = first | ((1 << bits) - 1)
                    held[one.version, space].append((first, -last, name, one.table, one.key))
    reported: set[object] = set()
    for in_space in held.values():
        in_space.sort()
        for defect in _overlaps(fabric, in_space):
            if (key := (defect.place, defect.message)) not in reported:
                reported.add(key)
                yield defect


def _is_mismatched(fabric: Fabric, switch: Switch, held: HeldAddress) -> bool:
    """Whether FG312 reports the addresses of this link."""
    wrong = mismatched_subnets(fabric)
    return bool(wrong) and fabric.ends_of[switch.name].get(held.interface) in wrong


def _overlaps(fabric: Fabric, held: list[_Held]) -> Iterator[Defect]:
    """One defect for each subnet that contains or equals later ones. FG313 reports equal addresses."""
    wide: _Held | None = None
    reported = None
    for one in held:
        if wide and one[0] <= -wide[1]:
            if reported == wide or _share_link(fabric, wide, one):
                continue
            if one[:2] != wide[:2] or _are_two_links(fabric, wide, one):
                reported = wide
                other = fabric.switches[one[2]]
                verb = "contains" if one[:2] != wide[:2] else "is also that of"
                message = f"the subnet of {wide[4].partition('|')[2]} {verb} {one[2]} {one[4].replace('|', ' ')}"
                related = (("the other port", other.place(one[3], one[4])),)
                hint = "use a separate subnet for each link"
                yield Defect(fabric.switches[wide[2]].place(wide[3], wide[4]), message, hint, related)
        else:
            wide = one


def _share_link(fabric: Fabric, a: _Held, b: _Held) -> bool:
    end = fabric.ends_of[a[2]].get(a[4].partition("|")[0])
    return bool(end and (end.far_name, end.far_port) == (b[2], b[4].partition("|")[0]))


def _are_two_links(fabric: Fabric, a: _Held, b: _Held) -> bool:
    """Whether interfaces with equal subnets and different addresses are on two links: two interfaces of one switch, or
    ports with known cables."""
    if a[4].partition("|")[2] == b[4].partition("|")[2]:
        return False  # FG313
    names = [one[4].partition("|")[0] for one in (a, b)]
    return a[2] == b[2] or all(name in fabric.ends_of[one[2]] for one, name in zip((a, b), names, strict=True))


@rule("FG318", Severity.WARNING, "A loopback or management address is far from all others", Basis.PEERS)
def address_outlier(fabric: Fabric) -> Iterator[Defect]:
    """What: The loopbacks of one plane are in one range, and so are the management addresses. An address is reported if
    the range without it is at least 16 times smaller.

    Why: Prefix lists, firewalls and monitoring contain the range. They block or miss an address outside it. Usually the
    address is a typing error.

    Example: 19 switches have loopbacks in 10.0.0.0/27, but leaf3 has 10.9.0.3.

    Fix: Use an address of the pool.

    Source: Derived from the bundle itself.
    """
    ranges: dict[tuple[object, str, int], list[tuple[Place, int, int]]] = defaultdict(list)
    for switch in fabric.switches.values():
        for key in switch.device.table("MGMT_INTERFACE"):
            if held := parse_interface(key.partition("|")[2]):
                place = switch.place("MGMT_INTERFACE", key)
                ranges["", "management", held.version].append((place, int(held.ip), held.max_prefixlen))
        for one in switch.addresses_of.get("Loopback0", ()):
            place = switch.place(one.table, one.key)
            kind = (switch.network, "loopback", one.version)
            ranges[kind].append((place, one.number, one.length + one.host_bits))
    for (_, what, _), held_at in ranges.items():
        for place, ip, _ in _outliers(held_at):
            text = place.key.partition("|")[2]
            common = ip_range(held_at, ip)
            message = f"{what} address {text} is outside the range of all others, {common}"
            yield Defect(place, message, f"use a free address near {common}")


_OUTLIER_BITS = 4


def _outliers(held_at: list[tuple[Place, int, int]]) -> Iterator[tuple[Place, int, int]]:
    """The lowest or the highest of at least four addresses, if the range is much smaller without it."""
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
    """The range of all addresses except one, for example '10.0.0.1 to 10.0.0.20'."""
    numbers = sorted(ip for _, ip, _ in held_at if ip != without)
    return f"{ip_address(numbers[0])} to {ip_address(numbers[-1])}"


@rule("FG319", Severity.ERROR, "The management gateway or address is wrong")
def management(fabric: Fabric) -> Iterator[Defect]:
    """What: gwaddr is another address in the subnet of its MGMT_INTERFACE row. Each switch has a unique management
    address. Management subnets do not overlap unless they are equal.

    Why: Operators cannot repair a switch that they cannot reach.

    Example: eth0|10.255.0.10/24 with gwaddr 10.255.1.1.

    Fix: Correct the gateway or the prefix length.

    Source: sonic-buildimage sonic-mgmt_interface.yang.
    """
    owners: dict[object, tuple[Switch, str]] = {}
    for switch in fabric.switches.values():
        for key, row in switch.device.table("MGMT_INTERFACE").items():
            held = parse_interface(key.partition("|")[2])
            gateway = parse_interface(str(row.get("gwaddr", "")))
            if held and gateway and (gateway.ip not in held.network or gateway.ip == held.ip):
                message = f"gateway {gateway.ip} is not another address in {held.network}"
                hint = "correct the gateway or the prefix length"
                yield Defect(switch.place("MGMT_INTERFACE", key, "gwaddr"), message, hint)
            if held and held.ip in owners:
                other, theirs = owners[held.ip]
                places = switch.place("MGMT_INTERFACE", key), other.place("MGMT_INTERFACE", theirs)
                for (one, them), name in zip((places, places[::-1]), (other.name, switch.name), strict=True):
                    message = f"{name} has the same management address {held.ip}"
                    yield Defect(one, message, "use a different address on each switch", ((f"eth0 of {name}", them),))
            elif held:
                owners[held.ip] = (switch, key)
    yield from _nested_management(fabric)


def _nested_management(fabric: Fabric) -> Iterator[Defect]:
    """Management addresses whose subnet overlaps with a more frequent one but has another prefix length."""
    held_by = [
        (switch, key, held.network)
        for switch in fabric.switches.values()
        for key in switch.device.table("MGMT_INTERFACE")
        if (held := parse_interface(key.partition("|")[2]))
    ]
    common = [network for network, _ in Counter(network for _, _, network in held_by).most_common()]
    for switch, key, network in held_by if len(common) > 1 else ():
        first = next(other for other in common if other.version == network.version and other.overlaps(network))
        if first != network:
            message = f"the management subnet is {network}, but other switches have {first}"
            yield Defect(switch.place("MGMT_INTERFACE", key), message, f"use the prefix length of {first}")
