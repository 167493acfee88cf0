"""A default route, and the traffic that must not follow it."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from fabricgen.bundle.outside import announced_prefixes
from fabricgen.findings import Severity
from fabricgen.rules.bgp.external import external_sessions
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric, Network, Switch
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.image import Neighbor, discards
from fabricgen.sonic.policy import longest_wider


class WayOut(NamedTuple):
    """Where routes of one family come in that may cover hosts. `longest` gives the length of the longest one that holds
    a host prefix and is wider; None where none does."""

    border: Switch
    version: int
    place: Place
    longest: Callable[[Address], int | None]


@rule("FG389", Severity.ERROR, "A route from outside can turn a leaf into transit")
def default_route_transit(fabric: Fabric) -> Iterator[Defect]:
    """What: where a default route, or another one that covers hosts, reaches a plane with lossless priorities, every
    switch of the plane has a discard route, longer than that one, over the host prefixes of all other leaves.

    Why: a switch that loses the prefix of a leaf, after a failed link and before or without convergence, still has the
    default route. It sends the packets to a border leaf; that one may know the prefix over another spine and sends them
    up again. Such a valley is what closes a cycle of paused buffers, and a lossless class that leaves the fabric meets
    routers that do not pause. With the discard route the packets are dropped where they are: the longer prefix wins
    while it is there, the discard wins over the default route when it is not.

    Example: leaf1 takes 0.0.0.0/0 from wan1. leaf3 and leaf2 have no common live spine: leaf3 sends packets for leaf2
    to leaf1, and leaf1 to the spine that knows leaf2.

    Fix: STATIC_ROUTE|default|<host pool> with blackhole "true", advertise "false" and distance "250" on every switch;
    fabricgen renders it wherever `external:` or `static:` brings in a route that covers the pool.

    Source: RFC 7938 section 5.2.3 and 8.2; longest-prefix match; measured with FRR for the valleys.
    """
    for switches in _networks(fabric):
        ways = _ways_out(fabric, switches)
        if not ways or not _is_lossless(fabric, switches):
            continue
        prefixes = {prefix: switch for switch in switches for prefix in _hosts(switch)}
        owned: dict[Switch, set[Address]] = {}
        for prefix, switch in prefixes.items():
            owned.setdefault(switch, set()).add(prefix)
        open_to: dict[tuple[Address, ...], list[Address]] = {}
        threats = {one: threat for one in prefixes if (threat := _threat(one, ways)) is not None}
        for switch in switches:
            dropped = discards(switch.device.config)
            own = owned.get(switch, set())
            shared = tuple(one for one in dropped if one not in own)
            if shared not in open_to:
                open_to[shared] = [
                    one for one, threat in threats.items() if not any(_saves(wide, one, threat) for wide in shared)
                ]
            lost = [one for one in open_to[shared] if one not in own]
            if lost:
                yield _defect(switch, lost, prefixes[lost[0]], ways)


def _threat(prefix: Address, ways: list[WayOut]) -> int | None:
    """The length of the longest route that packets for a lost prefix would follow; None where there is none."""
    lengths = [way.longest(prefix) for way in ways if way.version == prefix.version]
    return max((length for length in lengths if length is not None), default=None)


def _saves(discard: Address, prefix: Address, threat: int) -> bool:
    return discard.length > threat and discard.covers(prefix)


def _defect(switch: Switch, lost: list[Address], owner: Switch, ways: list[WayOut]) -> Defect:
    same = [(way, length) for way in ways if way.version == lost[0].version and (length := _length(way, lost[0])) >= 0]
    own = next((one for one in same if one[0].border is switch), None)
    way, length = own or next((one for one in same if one[0].border is not owner), same[0])
    leaves = own or way.border is owner
    fate = "leave the fabric" if leaves else f"go to {way.border.name}, which can send them up again"
    count = f"{len(lost)} host prefixes" if len(lost) > 1 else "a host prefix"
    route = f"a route such as {lost[0].widened(length)}" if length else "the default route"
    message = (
        f"no discard route covers {count}, such as {lost[0]} of {owner.name}: "
        f"once it is lost, its packets follow {route} and {fate}"
    )
    hint = 'add STATIC_ROUTE|default|<host pool> with blackhole "true", advertise "false", distance "250"'
    related = ((f"{'it' if length else 'the default route'} comes in at {way.border.name}", way.place),)
    return Defect(switch.place("STATIC_ROUTE"), message, hint, related)


def _length(way: WayOut, prefix: Address) -> int:
    length = way.longest(prefix)
    return -1 if length is None else length


def _networks(fabric: Fabric) -> Iterable[list[Switch]]:
    found: dict[Network, list[Switch]] = {}
    for switch in fabric.switches.values():
        found.setdefault(switch.network, []).append(switch)
    return found.values()


def _ways_out(fabric: Fabric, switches: list[Switch]) -> list[WayOut]:
    """Sessions with the outside, and announced static routes that lead on."""
    found = []
    for end, neighbor in external_sessions(fabric):
        if end.switch in switches and not neighbor.obstacle:
            place = end.switch.place("BGP_NEIGHBOR", neighbor.key)
            found += [
                WayOut(end.switch, version, place, _taken(end.switch, neighbor, version))
                for version in sorted(neighbor.terms.accepts)
            ]
    for switch in switches:
        rows = switch.device.table("STATIC_ROUTE").items()
        on = {key: address for key, row in rows if "nexthop" in row and (address := _prefix(key))}
        announced = {entry.prefix for entry in announced_prefixes(switch.device.config)} if on else set[str]()
        for key, address in on.items():
            if str(address) in announced:
                place = switch.place("STATIC_ROUTE", key)
                found.append(WayOut(switch, address.version, place, partial(_led, address)))
    return list(dict.fromkeys(found))


def _taken(switch: Switch, neighbor: Neighbor, version: int) -> Callable[[Address], int | None]:
    """What a session takes. One that takes everything counts as one that takes the default route: FG391 tells of it."""
    if version in neighbor.terms.unfiltered:
        return partial(_led, Address(version, 0, 0))
    return partial(longest_wider, switch.device.config, dict(neighbor.terms.inbound)[version])


def _prefix(key: str) -> Address | None:
    address = parse_address(key.rpartition("|")[2])
    return address.network if address else None


def _led(route: Address, prefix: Address) -> int | None:
    return route.length if route.length < prefix.length and route.covers(prefix) else None


def _is_lossless(fabric: Fabric, switches: list[Switch]) -> bool:
    plane = switches[0].plane
    if plane in fabric.planes:
        return bool(fabric.planes[plane].lossless)
    rows = (row for switch in switches for row in switch.device.table("PORT_QOS_MAP").values())
    return any(row.get("pfc_enable") for row in rows)


def _hosts(switch: Switch) -> list[Address]:
    """The prefixes that a switch announces, its loopbacks and a default route left out."""
    rows = switch.device.table("LOOPBACK_INTERFACE")
    held = (parse_address(key.partition("|")[2]) for key in rows)
    loopbacks = {address.host for address in held if address}
    found = [parse_address(one.prefix) for one in announced_prefixes(switch.device.config) if not one.loopback]
    return [one for one in found if one is not None and one.length and one not in loopbacks]
