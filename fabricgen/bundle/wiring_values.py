"""The values of fabric.json beyond their types: addresses, GUIDs, priorities, DSCP values, speeds and lengths."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from fabricgen.sonic.addresses import read_address
from fabricgen.vocabulary import Technology

if TYPE_CHECKING:
    from fabricgen.bundle.wiring import (
        WiredCable,
        WiredDevice,
        WiredExternal,
        WiredHost,
        WiredLink,
        WiredNic,
        WiredPlane,
        Wiring,
    )

T = TypeVar("T")

_GUID = re.compile(r"(0x[0-9a-fA-F]{1,16})?")
_LONGEST_CABLE_M = 1_000_000
_FASTEST_LINK_MBPS = 1_000_000_000
_PRIORITIES, _DSCPS = range(8), range(64)
_TECHNOLOGIES = (Technology.ROCE, Technology.INFINIBAND)


def check_values(wiring: "Wiring") -> None:
    """Raises ValueError with the item and field of a value that no file of a fabric can have."""
    _check_each(wiring.planes, _check_plane, lambda plane: f"plane {plane.name}")
    _check_each(wiring.devices, _check_device, lambda device: f"device {device.name}")
    for host in wiring.hosts:
        _check_each(host.nics, _check_nic, partial(_nic_of, host))
    _check_each(wiring.links, _check_speed, lambda link: f"link {link.id}")
    links = {link.id for link in wiring.links}
    _check_each(wiring.cables, partial(_check_cable, links), lambda cable: f"cable {cable.id}")
    for name in wiring.cordoned:
        if name not in links:
            raise ValueError(f"cordoned: {name!r} is not a link of the fabric")
    _check_tenants(wiring)
    for speaker in wiring.speakers:
        _check_addresses(speaker.prefixes, f"speakers of {speaker.group}")
    _check_each(wiring.externals, _check_external, lambda external: f"external {external.name}")


def _check_tenants(wiring: "Wiring") -> None:
    nics = {(host.name, nic.name) for host in wiring.hosts for nic in host.nics} if wiring.tenants else set()
    owners: dict[tuple[str, str], str] = {}
    for tenant in wiring.tenants:
        for end in tenant.nics:
            if end not in nics:
                raise ValueError(f"tenant {tenant.name}: {list(end)} is not a NIC of the fabric")
            if owners.setdefault(end, tenant.name) != tenant.name:
                raise ValueError(f"tenant {tenant.name}: {list(end)} is a NIC of tenant {owners[end]} already")


def _check_each(items: Iterable[T], check: Callable[[T], None], owner: Callable[[T], str]) -> None:
    """Adds the owner to a problem: files have hundreds of thousands of items, and few problems."""
    for item in items:
        try:
            check(item)
        except ValueError as error:
            raise ValueError(f"{owner(item)}: {error}") from error


def _check_technology(technology: Technology) -> None:
    """No rule judges a plane or a switch of another technology."""
    if technology not in _TECHNOLOGIES:
        raise ValueError(f"technology is {str(technology)!r}, expected one of {', '.join(_TECHNOLOGIES)}")


def _check_plane(plane: "WiredPlane") -> None:
    _check_technology(plane.technology)
    _check_numbers(plane.lossless, _PRIORITIES, "lossless")
    classes: Mapping[str, tuple[int, ...]] = plane.roce_dscp or {}
    for priority, values in classes.items():
        if priority not in map(str, _PRIORITIES):
            raise ValueError(f"roce_dscp has the priority {priority!r}, expected 0 to {_PRIORITIES[-1]}")
        _check_numbers(values, _DSCPS, f"roce_dscp of priority {priority}")
    _check_numbers([] if plane.cnp_dscp is None else [plane.cnp_dscp], _DSCPS, "cnp_dscp")
    _check_addresses(plane.host_prefixes, "host_prefixes")


def _check_device(device: "WiredDevice") -> None:
    _check_technology(device.technology)
    _check_addresses(device.loopbacks, "loopbacks")
    _check_addresses(device.management, "management")
    _check_guid(device.node_guid, "node_guid")


def _nic_of(host: "WiredHost", nic: "WiredNic") -> str:
    return f"NIC {nic.name} of {host.name}"


def _check_nic(nic: "WiredNic") -> None:
    _check_speed(nic)
    _check_addresses(nic.addresses, "addresses")
    if nic.node_guid or nic.port_guid:
        _check_guid(nic.node_guid, "node_guid")
        _check_guid(nic.port_guid, "port_guid")


def _check_cable(links: Collection[str], cable: "WiredCable") -> None:
    for name in cable.links:
        if name not in links:
            raise ValueError(f"{name!r} is not a link of the fabric")
    if cable.legs and sorted(name for leg in cable.legs for name in leg) != sorted(cable.links):
        raise ValueError("the legs do not have the links of the cable, each once")
    if not 0 <= cable.length_m <= _LONGEST_CABLE_M:
        raise ValueError(f"length_m is {cable.length_m}, expected 0 to {_LONGEST_CABLE_M}")


def _check_external(external: "WiredExternal") -> None:
    _check_addresses(external.addresses, "addresses")
    if external.asn is not None and not 0 < external.asn < 1 << 32:
        raise ValueError(f"asn is {external.asn}, expected 1 to {(1 << 32) - 1}")


def _check_numbers(values: Iterable[int], allowed: range, place: str) -> None:
    for value in values:
        if value not in allowed:
            raise ValueError(f"{place} has {value}, expected {allowed[0]} to {allowed[-1]}")


def _check_speed(item: "WiredLink | WiredNic") -> None:
    if not 0 < item.speed_mbps <= _FASTEST_LINK_MBPS:
        raise ValueError(f"speed_mbps is {item.speed_mbps}, expected 1 to {_FASTEST_LINK_MBPS}")


def _check_addresses(texts: Iterable[str], place: str) -> None:
    for text in texts:
        if read_address(text) is None:
            raise ValueError(f"{place} has {text[:40]!r}, expected an IP address")


def _check_guid(text: str, place: str) -> None:
    if not _GUID.fullmatch(text):
        raise ValueError(f"{place} is {text[:40]!r}, expected 0x and up to 16 hexadecimal digits")
