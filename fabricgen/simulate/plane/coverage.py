"""What the routes of a plane cover: sessions that come up, and lossless links that carry a route."""

from collections.abc import Iterable, Iterator, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.findings import Finding, Place, Severity
from fabricgen.results import Covers
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.routing.routes import Routes
from fabricgen.simulate.plane.interfaces import PlaneQos
from fabricgen.simulate.plane.steering import steering, steering_findings, why_not_judged
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.image import ROUTING_MODE, InterfaceAddress, Neighbor, is_split, rows
from fabricgen.sonic.tables import channel_of, vlans_of
from fabricgen.units import listed
from fabricgen.vocabulary import DeviceState, LinkKind

PATHS = {"BGP_NEIGHBOR", "PORT"}
_LEADS_OUT = (LinkKind.HOST_LEAF, LinkKind.EXTERNAL)


def covers(bundle: Bundle, fabric: RoutedFabric, routes: Routes | None = None) -> Covers:
    """The coverage of the routes. `routes` are known ones, of all or of some destinations; those of all destinations
    are computed if the known ones do not use every lossless link.

    A link counts if PFC is enabled for a common priority at both of its ends, both ends are up and routed, and both
    switches are in service. A session or port that an override of the inventory shuts down is meant to carry nothing.
    """
    spoken = fabric.spoken
    names = set(fabric.names)
    links = [
        (link.a, link.b)
        for link in bundle.switch_links
        if link.a[0] in names and link.b[0] in names and link.a != link.b
    ]
    ends = _Ends(bundle, fabric)
    lossless = [(a, b) for a, b in links if ends.pfc(a) & ends.pfc(b) and ends.counts(a) and ends.counts(b)]
    lost = _without_routes(fabric, ends, lossless, routes) if routes else lossless
    if lost and (routes is None or len(routes.destinations) < len(fabric.destinations)):
        lost = _without_routes(fabric, ends, lost, fabric.routes())
    unknown, absent, assumed = _far_ends(bundle, names, ends)
    steered = steering(bundle, fabric)
    return Covers(
        sessions=len(spoken.sessions) + spoken.left_out,
        left_out=spoken.left_out,
        lossless_links=len(lossless),
        without_routes=len(lost),
        example=lost[0] if lost else (),
        cordoned=spoken.cordoned,
        unknown_ends=len(unknown),
        first_end=unknown[0] if unknown else None,
        absent=absent,
        hosts_assumed=assumed,
        without_links=not bundle.wiring and not bundle.links,
        dark=bundle.cabling.dark if bundle.cabling else 0,
        lists=steered.lists if steered else 0,
        unjudged_lists=why_not_judged(steered) if steered and lossless else "",
    )


def _far_ends(bundle: Bundle, names: Set[str], ends: "_Ends") -> tuple[list[Endpoint], tuple[str, ...], int]:
    """The lossless ports whose far end may be a switch and is not known, the switches without a file at the end of some
    of them, and the number of the other lossless ports without a known far end.

    With fabric.json a port without a link is meant to have none.
    """
    unknown: list[Endpoint] = []
    absent: set[str] = set()
    wired = bundle.wiring.devices if bundle.wiring else ()
    out_of_service = {device.name for device in wired if device.state != DeviceState.ACTIVE}
    for link in bundle.links if len(bundle.links) > len(bundle.switch_links) else ():
        for near, far in ((link.a, link.b), (link.b, link.a)):
            is_open = near[0] in names and far[0] not in bundle.devices and link.kind not in _LEADS_OUT
            if is_open and far[0] not in out_of_service and ends.counts(near) and ends.pfc(near):
                unknown.append(near)
                absent.add(far[0])
    if bundle.wiring:
        return unknown, tuple(sorted(absent, key=natural_key)), 0
    joined = {end[0] for link in bundle.switch_links if link.a[0] != link.b[0] for end in (link.a, link.b)}
    assumed = 0
    for name in sorted(names, key=natural_key):
        open_ends = [
            (name, port)
            for port in bundle.devices[name].table("PORT")
            if (name, port) not in bundle.link_at and ends.pfc((name, port)) and ends.counts((name, port))
        ]
        if name in joined:
            assumed += len(open_ends)
        else:
            unknown += open_ends
    return unknown, tuple(sorted(absent, key=natural_key)), assumed


def _without_routes(
    fabric: RoutedFabric, ends: "_Ends", links: Sequence[tuple[Endpoint, Endpoint]], routes: Routes
) -> list[tuple[Endpoint, Endpoint]]:
    """The links over which no packet to a destination is sent, in either direction."""
    carries: NDArray[np.bool_] = np.any(routes.nexthops, axis=1)
    carries |= carries[fabric.network.reverse]
    source, ports = fabric.network.source.tolist(), fabric.ports
    used = {(fabric.names[source[link]], ports[link]) for link in np.flatnonzero(carries).tolist()}
    return [(a, b) for a, b in links if ends.interface(a) not in used and ends.interface(b) not in used]


class _Ends:
    """The ends of cables: their interface, their PFC, and whether they are meant to carry routes."""

    def __init__(self, bundle: Bundle, fabric: RoutedFabric) -> None:
        self._bundle, self._fabric = bundle, fabric
        qos = PlaneQos()
        self._qos = {name: qos.of(fabric.spoken.tables[name]) for name in fabric.names}
        self._channel: dict[tuple[str, str], str] = {}
        self._switched: set[tuple[str, str]] = set()
        for name in fabric.names:
            tables = fabric.spoken.tables[name]
            members = channel_of(rows(tables, "PORTCHANNEL_MEMBER"))
            self._channel |= {(name, port): channel for port, channel in members.items()}
            self._switched |= {(name, member) for member in vlans_of(rows(tables, "VLAN_MEMBER"))}
        self._meant_down = {(name, port) for name in fabric.names for port in self._overridden(name)}

    def interface(self, end: tuple[str, str]) -> tuple[str, str]:
        """The routed interface of a port: its port channel, or itself."""
        return end[0], self._channel.get(end, end[1])

    def pfc(self, end: tuple[str, str]) -> frozenset[int]:
        """The lossless priorities of a port."""
        return frozenset(self._qos[end[0]].of(end[1]).pfc)

    def counts(self, end: tuple[str, str]) -> bool:
        """Whether the end is up and routed, and its switch is in service."""
        wired = self._bundle.devices[end[0]].wired
        interface = self.interface(end)
        is_down = end in self._fabric.spoken.down or interface in self._fabric.spoken.down
        is_switched = end in self._switched or interface in self._switched
        in_service = wired is None or wired.state == DeviceState.ACTIVE
        return in_service and not is_down and not is_switched and interface not in self._meant_down

    def _overridden(self, name: str) -> Iterator[str]:
        """The interfaces whose port an override of the inventory removes or shuts down, or whose session it sets. An
        override of a description, as imports have many, does not say that the link is meant to be down."""
        asked = self._bundle.sources.overridden(name, PATHS) if self._bundle.sources else ()
        if not asked:
            return
        speaker = self._fabric.spoken.speakers[name]
        addresses, neighbors = list(speaker.addresses), list(speaker.neighbors)
        for path in asked:
            table, _, key = path.partition("|")
            port, _, field = key.partition("|")
            if table == "PORT" and field in ("", "admin_status"):
                yield port
            for neighbor in neighbors if table == "BGP_NEIGHBOR" and key else ():
                if key == neighbor.key or key.startswith(f"{neighbor.key}|"):
                    yield from _towards(neighbor, addresses)


def _towards(neighbor: Neighbor, addresses: Iterable[InterfaceAddress]) -> Iterator[str]:
    """The interfaces of a switch over which it reaches a neighbor."""
    if neighbor.interface:
        yield neighbor.interface
    for entry in addresses if neighbor.peer else ():
        if neighbor.peer and entry.network.covers(neighbor.peer):
            yield entry.interface


OF_FRR = (
    "routes of FRR's own files are not judged: judge a copy of the files that has the sessions in BGP_NEIGHBOR, with "
    f"{ROUTING_MODE} separated"
)


def coverage_findings(bundle: Bundle, fabric: RoutedFabric, found: Covers) -> Iterator[Finding]:
    """What a verdict about routes does not cover. FG610: lossless links without a route, sessions that cannot come up.
    FG614: lossless ports that may lead to a switch that is not known. FG708 and FG749: lists of uSIDs."""
    if steered := steering(bundle, fabric):
        yield from steering_findings(bundle, steered)
    if not found.is_wired:
        yield _unknown_ends(bundle, fabric, found)
    if found.is_routed:
        return
    spoken, device = fabric.spoken, bundle.devices[fabric.names[0]]
    row: tuple[str, ...] = ("BGP_NEIGHBOR",)
    first = next((one for one in spoken.absent if one.inside and not one.follows and not one.is_cordoned), None)
    if found.left_out and first and first.cause[0]:
        device, row = bundle.devices[first.cause[0]], first.cause[1]
    elif found.example:
        device = bundle.devices[found.example[0][0]]
    hint = "correct the sessions and route maps of these links; `fabricgen validate` names the rows"
    if is_split(device.config):
        hint = OF_FRR
    yield Finding(
        code="FG610",
        severity=Severity.ERROR,
        message=f"{described(found)}: {_example(found) or 'nothing was judged'}",
        device=device.name,
        place=Place(*row),
        location=device.locate(*row),
        hint=hint,
        count=max(found.without_routes, 1),
    )


def _unknown_ends(bundle: Bundle, fabric: RoutedFabric, found: Covers) -> Finding:
    device = bundle.devices[fabric.names[0]]
    row: tuple[str, ...] = ("PORT",)
    if found.first_end:
        device, row = bundle.devices[found.first_end[0]], ("PORT", found.first_end[1])
    hint = "give --links or --lldp"
    if found.absent:
        hint = f"give the config_db.json of {listed(found.absent, 3)}, too"
        if len(found.absent) < found.unknown_ends and not bundle.wiring:
            hint += ", and --links or --lldp if ports stay without a known far end"
    return Finding(
        code="FG614",
        severity=Severity.ERROR,
        message=f"{found.unwired}: not judged",
        device=device.name,
        place=Place(*row),
        location=device.locate(*row),
        hint=hint,
        count=max(found.unknown_ends, 1),
    )


def described(found: Covers) -> str:
    """'12 of 12 sessions left out' and '24 of 24 lossless links between switches carry no route'."""
    parts = [f"{found.left_out} of {found.sessions} sessions left out"] if found.left_out else []
    if not found.sessions:
        parts.append("there is no BGP session between switches")
    if found.without_routes:
        parts.append(f"{found.without_routes} of {found.lossless_links} lossless links between switches carry no route")
    return ", ".join(parts)


def _example(found: Covers) -> str:
    if not found.example or found.without_routes == found.lossless_links:
        return ""
    return "not judged is, for example, " + " to ".join(" ".join(end) for end in found.example)
