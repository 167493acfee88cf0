"""Where hosts are: the switch behind which each address is, and the announced prefix that leads there."""

from collections.abc import Iterator
from dataclasses import dataclass

from fabricgen.bundle.read import Bundle
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.vocabulary import DeviceState, Isolation, LinkKind

NOT_ANNOUNCED = -1


@dataclass(frozen=True, slots=True)
class Target:
    """Addresses behind one switch that share a destination. `column` is the destination, NOT_ANNOUNCED if the switch
    announces no prefix around them; `prefix` is this prefix. `vrf` is the (interface, VRF) of ports that are not in the
    default VRF."""

    switch: int
    column: int
    family: int
    addresses: tuple[Address, ...]
    names: tuple[str, ...]
    prefix: Address | None
    vrf: tuple[str, str] = ("", "")


def find_targets(bundle: Bundle, fabric: RoutedFabric) -> list[Target]:
    """The hosts of a plane by switch. Without fabric.json these are the prefixes that the switches announce.

    Hosts behind a switch that is drained, planned or failed are left out, and NICs on cordoned links. A host in a VRF
    with an L3 VNI is behind the VTEP of its switch. Hosts of a plane that separates tenants by VRFs count only there.
    """
    number = {name: index for index, name in enumerate(fabric.names)}
    announced: dict[int, list[tuple[Address, int]]] = {}
    for column, destination in enumerate(fabric.destinations):
        prefixes = [prefix for prefix in map(parse_address, destination.prefixes) if prefix and prefix.length]
        for switch in destination.origins:
            announced.setdefault(switch, []).extend((prefix, column) for prefix in prefixes)
    for found in announced.values():
        found.sort(key=lambda entry: -entry[0].length)
    groups: dict[tuple[int, int, int, Address | None, tuple[str, str]], tuple[list[Address], list[str]]] = {}
    for name, port, address, label in _hosts(bundle, fabric) if bundle.wiring else _announced_hosts(bundle, fabric):
        switch = number[name]
        prefix, column = next(
            ((one, place) for one, place in announced.get(switch, ()) if one.covers(address)), (None, NOT_ANNOUNCED)
        )
        vrf = ("", "") if fabric.vtep(name, port) else _vrf_of(fabric, name, port)
        key = (switch, column, address.version, prefix, vrf)
        addresses, names = groups.setdefault(key, ([], []))
        addresses.append(address)
        names.append(label)
    return [
        Target(switch, column, family, tuple(addresses), tuple(names), prefix, vrf)
        for (switch, column, family, prefix, vrf), (addresses, names) in groups.items()
    ]


def is_active(bundle: Bundle, name: str) -> bool:
    """Whether a switch is meant to carry traffic."""
    wired = bundle.devices[name].wired
    return wired is None or wired.state == DeviceState.ACTIVE


def _hosts(bundle: Bundle, fabric: RoutedFabric) -> Iterator[tuple[str, str, Address, str]]:
    """(switch, port, address, name) of each address of the plane's hosts."""
    inside = set(fabric.names)
    hosts = bundle.wiring.hosts if bundle.wiring else ()
    nics = {(host.name, nic.name): nic.addresses for host in hosts for nic in host.nics}
    planes = bundle.wiring.planes if bundle.wiring else ()
    in_vrfs = {plane.name for plane in planes if plane.isolation not in (None, Isolation.ACL)}
    for link in bundle.host_links:
        switch, port = link.b
        vtep = fabric.vtep(switch, port)
        if link.plane in in_vrfs and vtep is None:
            continue
        if switch in inside and is_active(bundle, switch) and link.b not in bundle.cordoned:
            for text in nics.get(link.a, ()):
                if address := parse_address(text):
                    yield switch, port, vtep or address.host, " ".join(link.a)


def _announced_hosts(bundle: Bundle, fabric: RoutedFabric) -> Iterator[tuple[str, str, Address, str]]:
    """The prefixes that loose files announce, other than loopbacks, routes to other devices, and links between
    switches."""
    for name in fabric.names:
        speaker = fabric.spoken.speakers[name]
        loopbacks = {one.network for one in speaker.addresses if one.table == "LOOPBACK_INTERFACE"}
        links = {
            entry.network
            for entry in speaker.addresses
            if (link := bundle.link_at.get((name, entry.interface))) and link.kind != LinkKind.HOST_LEAF
        }
        forwarded = {one.prefix for one in speaker.statics if not one.is_blackhole}
        for entry in speaker.announcements:
            prefix = parse_address(entry.prefix)
            if prefix is None or not prefix.length or entry.loopback or prefix in loopbacks | links | forwarded:
                continue
            if not any(one.covers(prefix) for one in loopbacks):
                yield name, "", prefix, entry.prefix


def _vrf_of(fabric: RoutedFabric, name: str, port: str) -> tuple[str, str]:
    return fabric.vrfs.get((name, port), ("", ""))
