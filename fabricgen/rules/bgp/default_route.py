"""The rule on default routes: packets for a lost host prefix must not follow them."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from fabricgen.bundle.outside import announced_prefixes
from fabricgen.findings import Severity
from fabricgen.rules.bgp.external import external_sessions
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Network, Switch
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.image import Neighbor, discards
from fabricgen.sonic.policy import longest_wider


class WayOut(NamedTuple):
    """A session or static route that brings routes of one family from outside.

    `longest` returns the length of the longest route that is wider than a host prefix and contains it, or None.
    """

    border: Switch
    version: int
    place: Place
    longest: Callable[[Address], int | None]


@rule("FG389", Severity.ERROR, "A route from outside can make a leaf a transit switch")
def default_route_transit(fabric: Fabric) -> Iterator[Defect]:
    """What: A plane with lossless priorities that accepts a default route, or another route that covers hosts, has
    discard routes. On each switch a longer discard route covers the host prefixes of all other leaves.

    Why: A switch that loses the prefix of a leaf after a link failure still has the default route. It sends the packets
    to a border leaf. The border leaf can know the prefix over another spine and sends the packets up again. This valley
    can close a cycle of paused buffers. A lossless class that leaves the fabric crosses routers that do not pause. With
    the discard route the switch drops the packets: the host prefix is longer and wins while it exists, and otherwise
    the discard route wins over the default route.

    Example: leaf1 accepts 0.0.0.0/0 from wan1. leaf3 and leaf2 have no common live spine: leaf3 sends packets for leaf2
    to leaf1, and leaf1 sends them to the spine that knows leaf2.

    Fix: Add STATIC_ROUTE|default|<host pool> with blackhole "true", advertise "false" and distance "250" on every
    switch. fabricgen renders this route if `external:` or `static:` brings in a route that covers the pool.

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
        unprotected: dict[tuple[Address, ...], list[Address]] = {}
        threats = {one: threat for one in prefixes if (threat := _threat(one, ways)) is not None}
        for switch in switches:
            dropped = discards(switch.device.config)
            own = owned.get(switch, set())
            shared = tuple(one for one in dropped if one not in own)
            if shared not in unprotected:
                unprotected[shared] = [
                    one for one, threat in threats.items() if not any(_protects(wide, one, threat) for wide in shared)
                ]
            missing = [one for one in unprotected[shared] if one not in own]
            if missing:
                yield _defect(switch, missing, prefixes[missing[0]], ways)


def _threat(prefix: Address, ways: list[WayOut]) -> int | None:
    """The length of the longest route that packets for a lost prefix follow, or None."""
    lengths = [way.longest(prefix) for way in ways if way.version == prefix.version]
    return max((length for length in lengths if length is not None), default=None)


def _protects(discard: Address, prefix: Address, threat: int) -> bool:
    return discard.length > threat and discard.covers(prefix)


def _defect(switch: Switch, prefixes: list[Address], owner: Switch, ways: list[WayOut]) -> Defect:
    first = prefixes[0]
    same = [(way, length) for way in ways if way.version == first.version and (length := _length(way, first)) >= 0]
    own = next((one for one in same if one[0].border is switch), None)
    way, length = own or next((one for one in same if one[0].border is not owner), same[0])
    leaves = own or way.border is owner
    fate = "leave the fabric" if leaves else f"go to {way.border.name}, which can send them up again"
    count = f"{len(prefixes)} host prefixes, for example" if len(prefixes) > 1 else "the host prefix"
    route = f"a route such as {first.widened(length)}" if length else "the default route"
    message = (
        f"no discard route covers {count} {first} of {owner.name}: "
        f"if its route is lost, its packets follow {route} and {fate}"
    )
    hint = 'add STATIC_ROUTE|default|<host pool> with blackhole "true", advertise "false", distance "250"'
    related = ((f"{'the route' if length else 'the default route'} enters at {way.border.name}", way.place),)
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
    """Sessions with external routers, and announced static routes with a next hop."""
    found = []
    for end, neighbor in external_sessions(fabric):
        if end.switch in switches and not neighbor.obstacle:
            place = end.switch.place("BGP_NEIGHBOR", neighbor.key)
            found += [
                WayOut(end.switch, version, place, _accepted(end.switch, neighbor, version))
                for version in sorted(neighbor.terms.accepts)
            ]
    for switch in switches:
        rows = switch.device.table("STATIC_ROUTE").items()
        forwarding = {key: address for key, row in rows if "nexthop" in row and (address := _prefix(key))}
        announced = {entry.prefix for entry in announced_prefixes(switch.device.config)} if forwarding else set[str]()
        for key, address in forwarding.items():
            if str(address) in announced:
                place = switch.place("STATIC_ROUTE", key)
                found.append(WayOut(switch, address.version, place, partial(_length_if_wider, address)))
    return list(dict.fromkeys(found))


def _accepted(switch: Switch, neighbor: Neighbor, version: int) -> Callable[[Address], int | None]:
    """`WayOut.longest` of a session. One that accepts every prefix, which FG391 reports, accepts the default route."""
    if version in neighbor.terms.unfiltered:
        return partial(_length_if_wider, Address(version, 0, 0))
    return partial(longest_wider, switch.device.config, dict(neighbor.terms.inbound)[version])


def _prefix(key: str) -> Address | None:
    address = parse_address(key.rpartition("|")[2])
    return address.network if address else None


def _length_if_wider(route: Address, prefix: Address) -> int | None:
    return route.length if route.length < prefix.length and route.covers(prefix) else None


def _is_lossless(fabric: Fabric, switches: list[Switch]) -> bool:
    plane = switches[0].plane
    if plane in fabric.planes:
        return bool(fabric.planes[plane].lossless)
    rows = (row for switch in switches for row in switch.device.table("PORT_QOS_MAP").values())
    return any(row.get("pfc_enable") for row in rows)


def _hosts(switch: Switch) -> list[Address]:
    """The prefixes that a switch announces, except its loopbacks and a default route."""
    rows = switch.device.table("LOOPBACK_INTERFACE")
    held = (parse_address(key.partition("|")[2]) for key in rows)
    loopbacks = {address.host for address in held if address}
    found = [parse_address(one.prefix) for one in announced_prefixes(switch.device.config) if not one.loopback]
    return [one for one in found if one is not None and one.length and one not in loopbacks]
