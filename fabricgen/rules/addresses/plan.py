"""The address plan: nothing held twice, nothing overlapping, nothing far from the rest."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from ipaddress import ip_address

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.addresses import HeldAddress, parse_interface
from fabricgen.rules.view.fabric import Fabric, Switch
from fabricgen.rules.view.subnets import mismatched_subnets


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
            held_by[held.ip].append((switch, held))
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
    return fabric.ends_of[switch.name].get(held.interface) in mismatched_subnets(fabric)


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
    ranges: dict[tuple[object, str, int], list[tuple[Place, int, int]]] = defaultdict(list)
    for switch in fabric.switches.values():
        for key in switch.device.table("MGMT_INTERFACE"):
            if held := parse_interface(key.partition("|")[2]):
                place = switch.place("MGMT_INTERFACE", key)
                ranges["", "management", held.version].append((place, int(held.ip), held.max_prefixlen))
        for one in switch.addresses_of.get("Loopback0", ()):
            place = switch.place(one.table, one.key)
            kind = (switch.network, "loopback", one.value.version)
            ranges[kind].append((place, int(one.ip), one.value.max_prefixlen))
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
    """What: gwaddr lies in the subnet of its MGMT_INTERFACE address and is not that address; no two switches share an
    address; management subnets are equal or apart.

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
                places = switch.place("MGMT_INTERFACE", key), other.place("MGMT_INTERFACE", theirs)
                for (one, them), name in zip((places, places[::-1]), (other.name, switch.name), strict=True):
                    message = f"{held.ip} is the management address of {name}, too"
                    yield Defect(one, message, "", ((f"{name} has it here", them),))
            elif held:
                owners[held.ip] = (switch, key)
    yield from _nested_management(fabric)


def _nested_management(fabric: Fabric) -> Iterator[Defect]:
    """Management addresses whose subnet overlaps the one that more switches use, with another prefix length."""
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
            message = f"the management subnet is {network}, other switches have {first}"
            yield Defect(switch.place("MGMT_INTERFACE", key), message, "use one prefix length")
