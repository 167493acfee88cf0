"""Rules on settings of FRR that frrcfgd writes: what ends a session, hides routes, or switches loop prevention off."""

from collections.abc import Iterator
from typing import NamedTuple

from fabricgen.bundle.outside import announced_prefixes
from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.image import uses_frr_framework
from fabricgen.units import whole_number

_GROUPS, _PEERS = ("BGP_PEER_GROUP", "BGP_NEIGHBOR"), "BGP_NEIGHBOR"
_UNUSABLE = 255  # the distance that zebra never installs
_LATE_S = {"min_adv_interval": 30, "conn_retry": 120}  # FRR's own defaults: 0 (eBGP in data centers) and 120
_WAITS_S = 300
_NEAR_PERCENT = 90  # of a limit of prefixes


def _once(defects: Iterator[Defect]) -> Iterator[Defect]:
    """The first defect at each place: a peer group has one setting for many sessions."""
    seen = set()
    for defect in defects:
        at = (defect.place.device.name, defect.place.table, defect.place.key, defect.place.field)
        if at not in seen:
            seen.add(at)
            yield defect


class _Setting(NamedTuple):
    """A field of a neighbor, of one of its families, or of its peer group, and where it is."""

    value: str
    place: Place


def _switches(fabric: Fabric) -> Iterator[Switch]:
    return (one for one in fabric.switches.values() if uses_frr_framework(one.device.config))


def _sessions(fabric: Fabric) -> Iterator[tuple[End, str]]:
    """The ports with unnumbered neighbors that are switches of the fabric, and the keys of the neighbors."""
    for switch in _switches(fabric):
        for port, end in fabric.ends_of[switch.name].items():
            key = f"default|{port}"
            if end.far and key in switch.device.table(_PEERS):
                yield end, key


def _setting(switch: Switch, key: str, field: str, family: str = "") -> _Setting:
    """A field of a neighbor; its own row goes before that of its peer group."""
    suffix, tail = ("_AF", f"|{family}") if family else ("", "")
    group = f"default|{switch.device.text_of(_PEERS, key, 'peer_group_name')}"
    for table, row_key in ((f"{_PEERS}{suffix}", f"{key}{tail}"), (f"BGP_PEER_GROUP{suffix}", f"{group}{tail}")):
        if value := switch.device.text_of(table, row_key, field):
            return _Setting(value, switch.place(table, row_key, field))
    return _Setting("", switch.place(_PEERS, key, field))


_FAMILIES = ("ipv4_unicast", "ipv6_unicast")


@rule("FG419", Severity.ERROR, "The settings of both ends keep a session down", breaks=Breaks.SESSION)
def both_ends(fabric: Fabric) -> Iterator[Defect]:
    """What: At most one end of a session is passive, and ttl_security_hops is set at both ends or at none.

    Why: A passive end waits for the other one. If both wait, no session starts. An end with TTL security drops packets
    with a low TTL, and an external neighbor without it sends a TTL of 1.

    Example: passive_mode is true in BGP_PEER_GROUP|default|FABRIC of all switches.

    Fix: Remove passive_mode, and set ttl_security_hops at both ends.

    Source: sonic-buildimage src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py (neighbor passive, ttl-security hops); FRR
    bgpd/bgp_fsm.c (PEER_FLAG_PASSIVE), bgpd/bgp_network.c (bgp_set_socket_ttl); RFC 5082.
    """
    yield from _once(_both_ends(fabric))


def _both_ends(fabric: Fabric) -> Iterator[Defect]:
    for end, key in _sessions(fabric):
        far, far_key = end.far, f"default|{end.far_port}"
        if far is None or far_key not in far.switch.device.table(_PEERS):
            continue
        own, other = (_setting(*each, "passive_mode") for each in ((end.switch, key), (far.switch, far_key)))
        if own.value == other.value == "true" and end.switch.name < far.switch.name:
            related = ((f"the far end, {far.switch.name}", other.place),)
            message = f"both ends of the session with {far.switch.name} are passive: it never starts"
            yield Defect(own.place, message, "remove passive_mode", related)
        own, other = (_setting(*each, "ttl_security_hops") for each in ((end.switch, key), (far.switch, far_key)))
        if own.value and not other.value:
            related = ((f"the far end, {far.switch.name}", other.place),)
            message = f"ttl_security_hops is {own.value}, but {far.switch.name} does not set it and sends a TTL of 1"
            yield Defect(own.place, message, "set it at both ends, or remove it", related)


@rule("FG420", Severity.ERROR, "A limit of prefixes ends a session", breaks=Breaks.SESSION)
def prefix_limit(fabric: Fabric) -> Iterator[Defect]:
    """What: max_prefix_limit of a session, or of its peer group, is at least the number of prefixes that the neighbor
    announces: its own, and those of its other neighbors with another ASN than this switch. More than 90 % of the limit
    is a warning. With max_prefix_warning_only the session stays, and nothing is reported.

    Why: FRR ends the session when the neighbor announces more, and starts it again only after
    max_prefix_restart_interval, or never. A spine announces the same prefixes to all leaves, so all sessions end at
    once.

    Example: max_prefix_limit is 10, and the spine passes on 32 prefixes of the other leaves.

    Fix: Set a limit of at least twice the number of prefixes, or remove it.

    Source: sonic-buildimage src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py (neighbor maximum-prefix); FRR
    bgpd/bgp_route.c bgp_maximum_prefix_overflow.
    """
    yield from _once(_limits(fabric))


def _limits(fabric: Fabric) -> Iterator[Defect]:
    for end, key in _sessions(fabric):
        for family in _FAMILIES:
            limit = _setting(end.switch, key, "max_prefix_limit", family)
            most = whole_number(limit.value) if limit.value else None
            if most is None or _setting(end.switch, key, "max_prefix_warning_only", family).value == "true":
                continue
            count = len(_passed_on(fabric, end, version=6 if family == "ipv6_unicast" else 4))
            hint = f"set max_prefix_limit to {2 * count} or more, or remove it"
            if count > most:
                message = f"the limit is {most}, and {end.far_name} announces at least {count} prefixes of {family}"
                yield Defect(limit.place, message, hint)
            elif 100 * count > _NEAR_PERCENT * most:
                message = f"{end.far_name} announces {count} of {most} prefixes of {family}: growth ends the session"
                yield Defect(limit.place, message, hint, severity=Severity.WARNING)


def _passed_on(fabric: Fabric, end: End, version: int) -> set[str]:
    """The prefixes that the far end of a link announces by itself or from its other neighbors."""
    if end.far is None:
        return set()
    names = {end.far.switch.name}
    for beyond in fabric.ends_of[end.far.switch.name].values():
        other = beyond.far.switch if beyond.far else None
        if other is not None and other is not end.switch and other.asn != end.switch.asn:
            names.add(other.name)
    found = (one.prefix for name in names for one in announced_prefixes(fabric.switches[name].device.config))
    return {prefix for prefix in found if (":" in prefix) == (version == 6)}


@rule("FG421", Severity.WARNING, "A leaf hides the ASN of the spines, so routes can loop")
def hidden_asn(fabric: Fabric) -> Iterator[Defect]:
    """What: as_override is not true for sessions from a switch to switches of the tier above.

    Why: The switch writes its own ASN in place of the neighbor's. A spine then takes routes of another spine from a
    leaf, and packets go down and up again. The verdicts on routes and deadlock do not count as_override.

    Example: as_override is true in BGP_PEER_GROUP_AF|default|FABRIC|ipv4_unicast of a leaf.

    Fix: Remove as_override on leaves. Spines may have it for leaves with a common ASN.

    Source: sonic-buildimage src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py (neighbor as-override); FRR
    bgpd/bgp_route.c bgp_peer_as_override; RFC 7938, section 5.2.
    """
    yield from _once(_hidden(fabric))


def _hidden(fabric: Fabric) -> Iterator[Defect]:
    for end, key in _sessions(fabric):
        if (end.switch.role, end.far_role) in (("leaf", "spine"), ("spine", "core"), ("leaf", "core")):
            for family in _FAMILIES:
                found = _setting(end.switch, key, "as_override", family)
                if found.value == "true":
                    message = f"as_override is true towards {end.far_name}: spines take each other's routes from here"
                    yield Defect(found.place, message, "remove as_override")


@rule("FG422", Severity.ERROR, "Routes of BGP are not installed", breaks=Breaks.ROUTES)
def uninstalled(fabric: Fabric) -> Iterator[Defect]:
    """What: ebgp_route_distance of BGP_GLOBALS_AF is below 255, and the route map of route_download_filter permits a
    prefix.

    Why: zebra never installs a route with distance 255. The filter decides which routes bgpd gives to zebra. In both
    cases `show bgp` has all routes, and the switch forwards nothing.

    Example: route_download_filter names a route map with one entry, deny.

    Fix: Remove the field.

    Source: sonic-buildimage src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py (distance bgp, table-map); FRR
    zebra/zebra_rib.c (DISTANCE_INFINITY), bgpd/bgp_zebra.c bgp_table_map_apply.
    """
    for switch in _switches(fabric):
        for key, row in switch.device.table("BGP_GLOBALS_AF").items():
            distance = whole_number(row.get("ebgp_route_distance", ""))
            if distance is not None and distance >= _UNUSABLE and key.startswith("default|"):
                message = f"ebgp_route_distance is {distance}: no route of BGP enters the routing table"
                place = switch.place("BGP_GLOBALS_AF", key, "ebgp_route_distance")
                yield Defect(place, message, "remove it: the default is 20")
            name = str(row.get("route_download_filter", ""))
            entries = [entry for at, entry in switch.device.table("ROUTE_MAP").items() if at.rpartition("|")[0] == name]
            if name and entries and all(entry.get("route_operation") != "permit" for entry in entries):
                message = f"route map {name} permits nothing: bgpd gives no route to zebra"
                place = switch.place("BGP_GLOBALS_AF", key, "route_download_filter")
                yield Defect(place, message, "remove route_download_filter")


@rule("FG423", Severity.WARNING, "BGP converges late")
def late(fabric: Fabric) -> Iterator[Defect]:
    """What: max_delay of BGP_GLOBALS is at most 300 s, min_adv_interval of a session at most 30 s, and conn_retry at
    most 120 s.

    Why: After a restart the switch announces nothing before max_delay, or before all neighbors are there: one that is
    down for maintenance holds it up. With a long interval a failed link attracts traffic for as long.

    Example: min_adv_interval is 600.

    Fix: Remove the field: FRR announces changes at once.

    Source: sonic-buildimage src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py (update-delay, advertisement-interval,
    timers connect); FRR doc/user/bgp.rst.
    """
    for switch in _switches(fabric):
        delay = whole_number(switch.device.text_of("BGP_GLOBALS", "default", "max_delay"))
        if delay is not None and delay > _WAITS_S:
            message = f"after a restart BGP announces nothing for up to {delay} s"
            yield Defect(switch.place("BGP_GLOBALS", "default", "max_delay"), message, "remove max_delay")
        for table in _GROUPS:
            for key, row in switch.device.table(table).items():
                for field, most in _LATE_S.items():
                    found = whole_number(row.get(field, ""))
                    if found is not None and found > most:
                        message = f"{field} is {found} s, more than {most} s"
                        yield Defect(switch.place(table, key, field), message, f"remove {field}")


@rule("FG424", Severity.WARNING, "A switch offers its routes as the last choice")
def graceful_shutdown(fabric: Fabric) -> Iterator[Defect]:
    """What: graceful_shutdown of BGP_GLOBALS is not true on a switch whose state is active.

    Why: Neighbors then prefer every other way, as around a drained switch. The setting stays after a reboot. On all
    switches at once it has no effect but to hide a real one.

    Example: graceful_shutdown is true since the last maintenance.

    Fix: Remove it. For maintenance, set `state: drained`, which the verdicts count.

    Source: sonic-buildimage src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py (bgp graceful-shutdown); RFC 8326.
    """
    for switch in _switches(fabric):
        if switch.device.text_of("BGP_GLOBALS", "default", "graceful_shutdown") == "true" and not switch.is_drained:
            message = "graceful_shutdown is true: neighbors use the routes of this switch only without others"
            place = switch.place("BGP_GLOBALS", "default", "graceful_shutdown")
            yield Defect(place, message, "remove it; for maintenance, set `state: drained` in the inventory")


@rule("FG425", Severity.WARNING, "A switch announces a default route to the fabric")
def originated_default(fabric: Fabric) -> Iterator[Defect]:
    """What: send_default_route is not true for sessions with switches of the fabric, unless the switch has a default
    route: a static one, or a session with an external router.

    Why: FRR announces it without a check. Packets to unknown addresses go to the switch, which sends them back by its
    own default route, and they loop until their TTL ends.

    Example: send_default_route is true in BGP_PEER_GROUP_AF|default|FABRIC|ipv4_unicast.

    Fix: Remove it, or announce the default route on border switches only.

    Source: sonic-buildimage src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py (neighbor default-originate); FRR
    bgpd/bgp_route.c subgroup_default_originate.
    """
    yield from _once(_defaults(fabric))


def _defaults(fabric: Fabric) -> Iterator[Defect]:
    for end, key in _sessions(fabric):
        routes = {prefix.rpartition("|")[2] for prefix in end.switch.device.table("STATIC_ROUTE")}
        outside = any(one.far_role == "external" for one in fabric.ends_of[end.switch.name].values())
        for family, default in zip(_FAMILIES, ("0.0.0.0/0", "::/0"), strict=True):
            found = _setting(end.switch, key, "send_default_route", family)
            if found.value == "true" and default not in routes and not outside:
                message = f"the switch announces {default} to {end.far_name} and does not have such a route"
                yield Defect(found.place, message, "remove send_default_route")
