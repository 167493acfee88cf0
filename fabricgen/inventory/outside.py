"""What an inventory says of the world outside: addresses of sessions, filters, prefixes of static routes."""

import ipaddress
from collections.abc import Iterator
from typing import NamedTuple

from fabricgen.findings import Finding
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.part import Part
from fabricgen.inventory.plane import OutsideDevice, Plane, StaticSpec
from fabricgen.inventory.prefixes import Network, contains, networks, read_prefix
from fabricgen.inventory.references import error

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressPair(NamedTuple):
    """One family of the link to a device outside."""

    local: str
    length: int
    peer: str


def address_pairs(device: OutsideDevice) -> tuple[AddressPair, ...]:
    """The addresses of the link, one pair for each family. Raises ValueError with the reason when they do not fit."""
    pairs: dict[int, AddressPair] = {}
    peers = {peer.version: peer for peer in map(ipaddress.ip_address, device.peers)}
    for text in device.addresses:
        local = ipaddress.ip_interface(text)
        version, network = local.version, local.network
        if "/" not in text or network.num_addresses < 2:
            raise ValueError(f"{text} needs the length of the link's prefix, such as /{local.max_prefixlen - 1}")
        if version in pairs:
            raise ValueError(f"{text} is a second IPv{version} address")
        peer = peers.pop(version, None)
        if peer is None and network.num_addresses == 2:
            peer = next(one for one in network if one != local.ip)
        if peer is None:
            raise ValueError(f"{network} is no pair, so the far address must be told")
        if peer not in network or peer == local.ip:
            raise ValueError(f"{peer} is no other address of {network}")
        if unusable := next((one for one in (local.ip, peer) if not _is_usable(one, network)), None):
            raise ValueError(f"{unusable} is no address that a router can have on {network}")
        pairs[version] = AddressPair(str(local.ip), network.prefixlen, str(peer))
    if peers:
        raise ValueError(f"no address of this side fits {', '.join(map(str, peers.values()))}")
    return tuple(pairs.values())


def _is_usable(address: Address, network: Network) -> bool:
    """Whether an interface can have the address, and another router reach it there."""
    ends = (network.network_address, network.broadcast_address) if network.version == 4 else ()
    special = address.is_multicast or address.is_loopback or address.is_unspecified or address.is_link_local
    return not special and (network.num_addresses == 2 or address not in ends)


def discards(plane: Plane) -> tuple[Network, ...]:
    """The host pools and static prefixes that a route from outside may cover, the default route above all.

    A leaf's own prefix lies in its pool, and the pool is longer than the default route. With a discard route for the
    pool, packets to a leaf whose prefix is lost are dropped where they are. Without one they follow the default route
    to a border leaf, which may know the prefix over another spine and sends them up again.
    """
    static = networks(text for one in plane.static for text in one.prefixes)
    own = [*(networks(plane.addressing.hosts.prefixes) if plane.addressing else ()), *static]
    unfiltered = any(one.accepts is None for one in plane.external)
    outside = [*networks(text for one in plane.external for text in one.accepts or ()), *static]
    return tuple(
        prefix
        for prefix in dict.fromkeys(own)
        if prefix.prefixlen
        and (unfiltered or any(contains(network, prefix) and network != prefix for network in outside))
    )


def check_outside(inventory: Inventory) -> Iterator[Finding]:
    """Every mistake that the inventory alone can show."""
    for plane in inventory.planes.values():
        if plane.technology != "roce" and (plane.external or plane.static):
            key = "external" if plane.external else "static"
            message = f"plane {plane.name} is InfiniBand: its switches run no BGP and route no prefix"
            yield error("FG118", message, plane, key, hint="give the way out to a RoCE or management plane")
            continue
        for device in plane.external:
            yield from _check_addresses(device, "peer")
            yield from _check_filters(plane, device)
        for static in plane.static:
            yield from _check_static(static)
        yield from _check_twice(plane)


def _check_addresses(device: OutsideDevice, far: str) -> Iterator[Finding]:
    try:
        address_pairs(device)
    except ValueError as problem:
        hint = f"such as `address: 192.0.2.1/31`; with a longer prefix add `{far}:`"
        yield error("FG116", f"{device.name}: {problem}", device, "address", hint=hint)


def _check_filters(plane: Plane, device: OutsideDevice) -> Iterator[Finding]:
    for key, texts in (("in", device.accepts), ("out", device.announces)):
        if texts is None:
            continue
        yield from _check_prefixes(device, key, texts)
        if plane.bgp == "numbered":
            reason = "SONiC's bgpcfgd has one policy for all neighbours, and it lets every prefix pass"
            hint = f"`bgp: unnumbered` for the plane, whose sessions have policies of their own; or `{key}: all`"
            message = f"{device.name}: `{key}` cannot be kept to: {reason}"
            yield error("FG117", message, device, key, hint=hint)


def _check_static(static: StaticSpec) -> Iterator[Finding]:
    yield from _check_prefixes(static, "prefix", static.prefixes)
    if static.device:
        yield from _check_addresses(static.device, "next_hop")
    if bool(static.via) == bool(static.device):
        hint = "`via: group/number:nic`, or `name`, `switch`, `port` and `address`"
        yield error("FG106", "a static route needs the NIC of a host, or a device on a port", static, hint=hint)


def _check_prefixes(part: Part, key: str, texts: tuple[str, ...]) -> Iterator[Finding]:
    seen: set[Network] = set()
    for index, text in enumerate(texts):
        network = read_prefix(text)
        if not isinstance(network, Network):
            yield error("FG105", f"{text!r} is no prefix: {network}", part, key, index)
        elif network.is_multicast:
            yield error("FG105", f"{text} is a multicast prefix: no unicast route leads there", part, key, index)
        elif network in seen:
            yield error("FG102", f"{text} is given twice", part, key, index, hint="remove one of the two")
        else:
            seen.add(network)


def _check_twice(plane: Plane) -> Iterator[Finding]:
    """One far port is plugged in once; one router has one ASN."""
    first: dict[tuple[str, str], OutsideDevice] = {}
    named: dict[str, OutsideDevice] = {}
    for device in plane.outside:
        place = (device.name, device.peer_port)
        other = first.setdefault(place, device)
        if (device.switch, device.port) != (other.switch, other.port):
            hint = "tell its ports apart with `peer_port:`, or give it another name"
            yield error("FG119", f"{device.name} {device.peer_port} is plugged in twice", device, "name", hint=hint)
        same = named.setdefault(device.name, device)
        if device.asn != same.asn:
            message = f"{device.name} has ASN {device.asn or 'none'} here and {same.asn or 'none'} at {same.at('asn')}"
            yield error("FG119", message, device, "asn", hint="one router has one ASN; name two routers apart")
