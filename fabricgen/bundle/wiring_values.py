"""The values of fabric.json beyond their types: addresses, GUIDs, priorities, DSCP values, speeds and lengths."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from fabricgen.sonic.addresses import read_address

if TYPE_CHECKING:
    from fabricgen.bundle.wiring import WiredDevice, WiredExternal, WiredHost, WiredPlane, Wiring

_GUID = re.compile(r"(0x[0-9a-fA-F]{1,16})?")
_LONGEST_CABLE_M = 1_000_000
_FASTEST_LINK_MBPS = 1_000_000_000
_PRIORITIES, _DSCPS = range(8), range(64)


def check_values(wiring: "Wiring") -> None:
    """Raises ValueError with the item and field of a value that no file of a fabric can have."""
    for plane in wiring.planes:
        _check_plane(plane)
    for device in wiring.devices:
        _check_device(device)
    for host in wiring.hosts:
        _check_host(host)
    for link in wiring.links:
        _check_speed(link.speed_mbps, f"link {link.id}")
    links = {link.id for link in wiring.links}
    for cable in wiring.cables:
        for name in cable.links:
            if name not in links:
                raise ValueError(f"cable {cable.id}: {name!r} is not a link of the fabric")
        if not 0 <= cable.length_m <= _LONGEST_CABLE_M:
            raise ValueError(f"cable {cable.id}: length_m is {cable.length_m}, expected 0 to {_LONGEST_CABLE_M}")
    for name in wiring.cordoned:
        if name not in links:
            raise ValueError(f"cordoned: {name!r} is not a link of the fabric")
    for external in wiring.externals:
        _check_external(external)


def _check_plane(plane: "WiredPlane") -> None:
    owner = f"plane {plane.name}"
    _check_numbers(plane.lossless, _PRIORITIES, f"{owner}: lossless")
    classes: Mapping[str, tuple[int, ...]] = plane.roce_dscp or {}
    for priority, values in classes.items():
        if priority not in map(str, _PRIORITIES):
            raise ValueError(f"{owner}: roce_dscp has the priority {priority!r}, expected 0 to {_PRIORITIES[-1]}")
        _check_numbers(values, _DSCPS, f"{owner}: roce_dscp of priority {priority}")
    _check_numbers([] if plane.cnp_dscp is None else [plane.cnp_dscp], _DSCPS, f"{owner}: cnp_dscp")
    _check_addresses(plane.host_prefixes, f"{owner}: host_prefixes")


def _check_device(device: "WiredDevice") -> None:
    owner = f"device {device.name}"
    _check_addresses(device.loopbacks, f"{owner}: loopbacks")
    _check_addresses(device.management, f"{owner}: management")
    _check_guid(device.node_guid, f"{owner}: node_guid")


def _check_host(host: "WiredHost") -> None:
    for nic in host.nics:
        owner = f"NIC {nic.name} of {host.name}"
        _check_speed(nic.speed_mbps, owner)
        _check_addresses(nic.addresses, f"{owner}: addresses")
        _check_guid(nic.node_guid, f"{owner}: node_guid")
        _check_guid(nic.port_guid, f"{owner}: port_guid")


def _check_external(external: "WiredExternal") -> None:
    owner = f"external {external.name}"
    _check_addresses(external.addresses, f"{owner}: addresses")
    if external.asn is not None and not 0 < external.asn < 1 << 32:
        raise ValueError(f"{owner}: asn is {external.asn}, expected 1 to {(1 << 32) - 1}")


def _check_numbers(values: Iterable[int], allowed: range, place: str) -> None:
    for value in values:
        if value not in allowed:
            raise ValueError(f"{place} has {value}, expected {allowed[0]} to {allowed[-1]}")


def _check_speed(speed_mbps: int, owner: str) -> None:
    if not 0 < speed_mbps <= _FASTEST_LINK_MBPS:
        raise ValueError(f"{owner}: speed_mbps is {speed_mbps}, expected 1 to {_FASTEST_LINK_MBPS}")


def _check_addresses(texts: Iterable[str], place: str) -> None:
    for text in texts:
        if read_address(text) is None:
            raise ValueError(f"{place} has {text[:40]!r}, expected an IP address")


def _check_guid(text: str, place: str) -> None:
    if not _GUID.fullmatch(text):
        raise ValueError(f"{place} is {text[:40]!r}, expected 0x and up to 16 hexadecimal digits")
