"""The external links of an inventory: addresses of sessions, filters, prefixes of static routes."""

import ipaddress
from collections.abc import Iterator
from typing import NamedTuple

from fabricgen.findings import Finding
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.part import Part
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.prefixes import Network, contains, networks, read_prefix
from fabricgen.inventory.routing import OutsideDevice, StaticSpec
from fabricgen.vocabulary import BgpAddressing, Technology

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressPair(NamedTuple):
    """The addresses of one family on the link to an external device."""

    local: str
    length: int
    peer: str


def address_pairs(device: OutsideDevice) -> tuple[AddressPair, ...]:
    """The addresses of the link, one pair for each family. Raises ValueError with the reason if they do not match."""
    pairs: dict[int, AddressPair] = {}
    peers = {peer.version: peer for peer in map(ipaddress.ip_address, device.peers)}
    for text in device.addresses:
        local = ipaddress.ip_interface(text)
        version, network = local.version, local.network
        if "/" not in text or network.num_addresses < 2:
            raise ValueError(f"{text} needs the length of the link's prefix, for example /{local.max_prefixlen - 1}")
        if version in pairs:
            raise ValueError(f"{text} is a second IPv{version} address")
        peer = peers.pop(version, None)
        if peer is None and network.num_addresses == 2:
            peer = next(one for one in network if one != local.ip)
        if peer is None:
            raise ValueError(f"{network} has more than two addresses, so the far address must be given")
        if peer not in network or peer == local.ip:
            raise ValueError(f"{peer} is not another address of {network}")
        if unusable := next((one for one in (local.ip, peer) if not _is_usable(one, network)), None):
            raise ValueError(f"a router cannot use {unusable} on {network}")
        pairs[version] = AddressPair(str(local.ip), network.prefixlen, str(peer))
    if peers:
        raise ValueError(f"the near end has no address for {', '.join(map(str, peers.values()))}")
    return tuple(pairs.values())


def _is_usable(address: Address, network: Network) -> bool:
    """Whether an interface can have the address and another router can reach it."""
    ends = (network.network_address, network.broadcast_address) if network.version == 4 else ()
    special = address.is_multicast or address.is_loopback or address.is_unspecified or address.is_link_local
    return not special and (network.num_addresses == 2 or address not in ends)


def discards(plane: Plane) -> tuple[Network, ...]:
    """The host pools and static prefixes that an external route may contain, in particular the default route.

    The prefix of a leaf lies in a pool, and the pool is longer than the default route. With a discard route for the
    pool, a switch drops packets to a leaf whose prefix is withdrawn. Without it, the packets follow the default route
    to a border leaf, which may have the prefix from another spine and sends the packets up again.
    """
    static = networks(text for one in plane.static for text in one.prefixes)
    of_hosts = [*(plane.addressing.hosts.prefixes if plane.addressing else ()), *plane.announced_by_hosts]
    own = [*networks(of_hosts), *static]
    unfiltered = any(one.accepts is None for one in plane.external)
    outside = [*networks(text for one in plane.external for text in one.accepts or ()), *static]
    return tuple(
        prefix
        for prefix in dict.fromkeys(own)
        if prefix.prefixlen
        and (unfiltered or any(contains(network, prefix) and network != prefix for network in outside))
    )


def check_outside(inventory: Inventory) -> Iterator[Finding]:
    """All mistakes that are visible in the inventory alone."""
    for plane in inventory.planes.values():
        if plane.technology != Technology.ROCE and (plane.external or plane.static):
            key = "external" if plane.external else "static"
            message = f"plane {plane.name} is InfiniBand: its switches do not run BGP and do not route prefixes"
            yield error("FG118", message, plane, key, hint="connect external devices to a RoCE or management plane")
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
        hint = f"write for example `address: 192.0.2.1/31`; with a longer prefix add `{far}:`"
        yield error("FG116", f"{device.name}: {problem}", device, "address", hint=hint)


def _check_filters(plane: Plane, device: OutsideDevice) -> Iterator[Finding]:
    for key, texts in (("in", device.accepts), ("out", device.announces)):
        if texts is None:
            continue
        yield from _check_prefixes(device, key, texts)
        if plane.bgp == BgpAddressing.NUMBERED:
            reason = "SONiC's bgpcfgd has one policy for all neighbors, which permits every prefix"
            hint = f"set `bgp: unnumbered` on the plane, where each session has its own policy, or `{key}: all`"
            message = f"{device.name}: `{key}` cannot be applied: {reason}"
            yield error("FG117", message, device, key, hint=hint)


def _check_static(static: StaticSpec) -> Iterator[Finding]:
    yield from _check_prefixes(static, "prefix", static.prefixes)
    if static.device:
        yield from _check_addresses(static.device, "next_hop")
    if bool(static.via) == bool(static.device):
        hint = "give `via: group/number:nic`, or `name`, `switch`, `port` and `address`"
        yield error("FG106", "a static route needs the NIC of a host, or a device on a port", static, hint=hint)


def _check_prefixes(part: Part, key: str, texts: tuple[str, ...]) -> Iterator[Finding]:
    seen: set[Network] = set()
    for index, text in enumerate(texts):
        network = read_prefix(text)
        if not isinstance(network, Network):
            yield error("FG105", f"{text!r} is not a prefix: {network}", part, key, index, hint="write address/length")
        elif network.is_multicast:
            yield error(
                "FG105",
                f"{text} is a multicast prefix, which cannot have unicast routes",
                part,
                key,
                index,
                hint="remove it",
            )
        elif network in seen:
            yield error("FG102", f"{text} is given twice", part, key, index, hint="remove one of the two")
        else:
            seen.add(network)


def _check_twice(plane: Plane) -> Iterator[Finding]:
    """A far port has one cable, and a router has one ASN."""
    first: dict[tuple[str, str], OutsideDevice] = {}
    named: dict[str, OutsideDevice] = {}
    for device in plane.outside:
        place = (device.name, device.peer_port)
        other = first.setdefault(place, device)
        if (device.switch, device.port) != (other.switch, other.port):
            hint = "give its ports different names with `peer_port:`, or give the device another name"
            yield error("FG119", f"{device.name} {device.peer_port} is connected twice", device, "name", hint=hint)
        same = named.setdefault(device.name, device)
        if device.asn != same.asn:
            message = f"{device.name} has ASN {device.asn or 'none'} here and {same.asn or 'none'} at {same.at('asn')}"
            yield error(
                "FG119", message, device, "asn", hint="use one ASN for one router, and different names for two routers"
            )
