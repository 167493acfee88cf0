"""Contexts of devices outside the fabric: links, sessions with their policies, static and discard routes."""

from collections.abc import Iterable, Sequence
from ipaddress import ip_address, ip_network

from fabricgen.control_plane.bgp import HostSessions
from fabricgen.control_plane.outside import OutsideLink, StaticRoute
from fabricgen.inventory.part import Part
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.prefixes import Network, contains, networks
from fabricgen.origin import value
from fabricgen.render.contexts import (
    DiscardRoute,
    OutsideContext,
    OutsideSession,
    Policy,
    PrefixRange,
    StaticRouteContext,
)
from fabricgen.sonic.device_types import OUTSIDE_TYPE
from fabricgen.vocabulary import BgpAddressing

_BITS = {4: 32, 6: 128}
_EVERYTHING = {4: ip_network("0.0.0.0/0"), 6: ip_network("::/0")}


def discard_routes(plane: Plane, prefixes: Sequence[str]) -> tuple[DiscardRoute, ...]:
    """The discard routes of a plane's switches."""
    origin = plane.addressing.hosts.source() if plane.addressing else ""
    step = "a route from outside may cover it: what no leaf announces is dropped"
    return tuple(DiscardRoute(value(prefix, step, inventory=origin)) for prefix in prefixes)


def static_routes(routes: Sequence[StaticRoute]) -> tuple[StaticRouteContext, ...]:
    """The static routes of one switch, the next hops of a prefix together."""
    found = []
    for prefix in dict.fromkeys(route.prefix for route in routes):
        hops = [route for route in routes if route.prefix == prefix]
        origin = hops[0].spec.source("prefix")
        found.append(
            StaticRouteContext(
                prefix=value(prefix, inventory=origin),
                family=_family(ip_network(prefix).version),
                next_hops=value(",".join(hop.next_hop for hop in hops), "the far end of the port", inventory=origin),
                ports=value(",".join(hop.port for hop in hops), inventory=origin),
                advertise=value(",".join("true" for _ in hops), "once for each next hop", inventory=origin),
            )
        )
    return tuple(found)


def outside_context(link: OutsideLink, plane: Plane, *, drained: str) -> OutsideContext:
    """The context of one link to the outside. `drained` is the source of the state of a drained switch, which announces
    nothing there."""
    device = link.device
    own = plane.addressing.pools.values() if plane.addressing else ()
    pools = networks(text for pool in own for text in pool.prefixes)
    sessions = []
    for local, length, peer in link.addresses:
        version = ip_address(local).version
        policies: tuple[Policy, ...] = ()
        if plane.bgp == BgpAddressing.UNNUMBERED and device.asn is not None:
            start = f"{device.name}-{link.port}"
            policies = (
                _policy(device, "in", f"{start}-in-ipv{version}", device.accepts, version, pools),
                _policy(device, "out", f"{start}-out-ipv{version}", () if drained else device.announces, version, ()),
            )
        sessions.append(
            OutsideSession(
                local=value(local, inventory=device.source("address")),
                length=value(length, inventory=device.source("address")),
                peer=value(peer, "the other address of the link", inventory=device.source("address")),
                asn=value(device.asn, inventory=device.source("asn")) if device.asn is not None else None,
                family=_family(version),
                policies=policies,
            )
        )
    return OutsideContext(
        peer=value(device.name, inventory=device.source("name")),
        peer_port=value(device.peer_port, inventory=device.source("peer_port")),
        peer_type=value(OUTSIDE_TYPE),
        sessions=tuple(sessions),
    )


def host_policies(sessions: HostSessions) -> tuple[Policy, ...]:
    """What a leaf accepts from its hosts, for each family of their subnets: parts of the prefixes. The prefix itself is
    a route of every host, by which it reaches the others."""
    spec = sessions.spec
    origin = spec.source("prefixes")
    found = []
    for version in sorted({network.version for network in sessions.ranges}):
        listed = [network for network in networks(spec.prefixes) if network.version == version]
        everything = [PrefixRange(value(_EVERYTHING[version], inventory=origin), _lengths(_EVERYTHING[version]))]
        parts = [PrefixRange(value(network, inventory=origin), _longer(network)) for network in listed]
        name = value(f"{sessions.name}-in-ipv{version}", "one policy for each family", inventory=origin)
        permitted = tuple(parts if spec.filtered else everything)
        found.append(Policy(name=name, field="route_map_in", mode=f"IPv{version}", refused=(), permitted=permitted))
    return tuple(found)


def _longer(network: Network) -> str:
    """The lengths of the parts of a prefix; that of a single address has none."""
    bits = _BITS[network.version]
    return "exact" if network.prefixlen == bits else f"{network.prefixlen + 1}..{bits}"


def _policy(
    part: Part, key: str, name: str, texts: Sequence[str] | None, version: int, own: Iterable[Network]
) -> Policy:
    """The policy for a list of prefixes; the plane's own prefixes never pass.

    A default route matches exactly, any other prefix also all longer ones within it.
    """
    origin = part.source(key)
    listed = [network for network in networks(texts or ()) if network.version == version]
    permitted = [
        PrefixRange(value(network, inventory=origin), _lengths(network) if network.prefixlen else "exact")
        for network in listed
    ]
    wide = [network for network in listed if network.prefixlen]
    if texts is None:
        everything = _EVERYTHING[version]
        permitted, wide = [PrefixRange(value(everything, inventory=origin), _lengths(everything))], [everything]
    refused = [pool for pool in own if any(contains(network, pool) or contains(pool, network) for network in wide)]
    return Policy(
        name=value(name, "one policy for each neighbour, direction and family", inventory=origin),
        field=f"route_map_{key}",
        mode=f"IPv{version}",
        refused=tuple(PrefixRange(value(pool, "a pool of our own"), _lengths(pool)) for pool in refused),
        permitted=tuple(permitted),
    )


def _lengths(network: Network) -> str:
    return f"{network.prefixlen}..{_BITS[network.version]}"


def _family(version: int) -> str:
    return f"ipv{version}_unicast"
