"""A default route, and the traffic that must not follow it."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fabricgen.bundle.outside import announced_prefixes
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.fabric import Fabric, Network, Switch
from fabricgen.rules.outside import external_sessions
from fabricgen.rules.registry import rule
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.image import discards


class WayOut(NamedTuple):
    """Where a default route of one family comes in."""

    border: Switch
    version: int
    place: Place


@rule("FG389", Severity.ERROR, "A default route can turn a leaf into transit")
def default_route_transit(fabric: Fabric) -> Iterator[Defect]:
    """What: where a default route reaches a plane with lossless priorities, every switch of the plane has a discard
    route, longer than the default one, over the host prefixes of all other leaves.

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
        versions = {way.version for way in ways}
        for switch in switches:
            dropped = discards(switch.device.config)
            own = owned.get(switch, set())
            shared = tuple(one for one in dropped if one.length and one not in own)
            if shared not in open_to:
                open_to[shared] = [
                    one for one in prefixes if one.version in versions and not any(wide.covers(one) for wide in shared)
                ]
            lost = [one for one in open_to[shared] if one not in own]
            if lost:
                yield _defect(switch, lost, prefixes[lost[0]], ways)


def _defect(switch: Switch, lost: list[Address], owner: Switch, ways: list[WayOut]) -> Defect:
    same = [way for way in ways if way.version == lost[0].version]
    own = next((one for one in same if one.border is switch), None)
    way = own or next((one for one in same if one.border is not owner), same[0])
    leaves = own or way.border is owner
    fate = "leave the fabric" if leaves else f"go to {way.border.name}, which can send them up again"
    count = f"{len(lost)} host prefixes" if len(lost) > 1 else "a host prefix"
    message = (
        f"no discard route covers {count}, such as {lost[0]} of {owner.name}: "
        f"once it is lost, its packets follow the default route and {fate}"
    )
    hint = 'add STATIC_ROUTE|default|<host pool> with blackhole "true", advertise "false", distance "250"'
    related = ((f"the default route comes in at {way.border.name}", way.place),)
    return Defect(switch.place("STATIC_ROUTE"), message, hint, related)


def _networks(fabric: Fabric) -> Iterable[list[Switch]]:
    found: dict[Network, list[Switch]] = {}
    for switch in fabric.switches.values():
        found.setdefault(switch.network, []).append(switch)
    return found.values()


def _ways_out(fabric: Fabric, switches: list[Switch]) -> list[WayOut]:
    """Sessions that take a default route, and announced static ones."""
    found = []
    for end, neighbor in external_sessions(fabric):
        if end.switch in switches and not neighbor.obstacle:
            place = end.switch.place("BGP_NEIGHBOR", neighbor.key)
            found += [WayOut(end.switch, version, place) for version in sorted(neighbor.defaults)]
    for switch in switches:
        rows = switch.device.table("STATIC_ROUTE")
        for key in (key for key in rows if key.endswith("/0") and rows[key].get("blackhole") != "true"):
            for entry in announced_prefixes(switch.device.config):
                address = parse_address(entry.prefix)
                if address and not address.length and key.endswith(entry.prefix):
                    found.append(WayOut(switch, address.version, switch.place("STATIC_ROUTE", key)))
    return list(dict.fromkeys(found))


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
