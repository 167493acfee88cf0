"""The imported inventory as a YAML tree: the explicit design, without overrides."""

from collections.abc import Sequence
from typing import Any

from netaddr import EUI, mac_unix_expanded, valid_mac

from fabricgen.adopt.hosts import Hosts, find_hosts
from fabricgen.adopt.numbers import Numbers
from fabricgen.adopt.outside import Outside, find_outside
from fabricgen.adopt.planes import split_planes
from fabricgen.adopt.settings import bgp_sessions, cables, is_unnumbered, lossless, mtu_bytes, usual_types
from fabricgen.adopt.source import Hardware, Source
from fabricgen.allocation.lock import Lock
from fabricgen.bundle.wiring import WiredLink
from fabricgen.sonic.device_types import DEVICE_TYPES
from fabricgen.units import format_speed
from fabricgen.vocabulary import BgpAddressing, Role

_LISTS = {Role.LEAF: "leaves", Role.SPINE: "spines", Role.CORE: "cores"}


def inventory_tree(fabric: str, source: Source, links: Sequence[WiredLink]) -> tuple[dict[str, Any], Lock, Outside]:
    """The inventory of a fabric with these links, the lock file with its numbers, and what it connects outside."""
    planes = split_planes(source, links)
    hosts = find_hosts(source, [link for link in links if link.a[0] not in source.switches])
    outside = find_outside(
        source, {link.b: f"{hosts.keys[link.a[0]]}:{link.a[1]}" for link in links if link.a[0] in hosts.keys}
    )
    numbers = Numbers(fabric, source)
    tree: dict[str, Any] = {"fabricgen": 1, "fabric": fabric}
    if hosts.groups:
        tree |= {"host_models": hosts.models, "hosts": hosts.groups, "names": {"host": hosts.pattern}}
    if numbers.management:
        tree["management"] = numbers.management
    devices = [
        {"name": name, "mac": mac}
        for name, switch in source.switches.items()
        if _is_mac(mac := switch.text("DEVICE_METADATA", "localhost", "mac"))
    ]
    if devices:
        tree["devices"] = devices
    tree["planes"] = {plane.plane: _plane(plane, hosts, numbers, outside) for plane in planes}
    return tree, numbers.lock, outside


def _is_mac(text: str) -> bool:
    """Whether a text is a MAC address in the form that fabricgen renders: 00:11:22:33:44:55."""
    return valid_mac(text) and str(EUI(text, dialect=mac_unix_expanded)) == text


def _plane(source: Source, hosts: Hosts, numbers: Numbers, outside: Outside) -> dict[str, Any]:
    usual = usual_types(source)
    links = source.links
    plane: dict[str, Any] = {"design": "explicit", "speed": format_speed(_speed(source, links))}
    if source.plane in hosts.of_plane:
        plane["hosts"] = list(hosts.of_plane[source.plane])
    for role, facts in usual.items():
        if facts:
            hardware, kind = facts
            plane[role] = _hardware(hardware)
            if kind and kind != DEVICE_TYPES[role]:
                plane[role]["type"] = kind
    unnumbered = is_unnumbered(source)
    plane["mtu"] = mtu_bytes(source)
    plane["lossless"] = lossless(source)
    usual_cables, own_cables = cables(source, links)
    if usual_cables:
        plane["cables"] = usual_cables
    if unnumbered:
        plane["bgp"] = BgpAddressing.UNNUMBERED
    plane |= bgp_sessions(source)
    plane["addressing"] = numbers.addressing(source, links, numbered=not unnumbered)
    for key, entries in (("external", outside.external), ("static", outside.static)):
        if listed := [entry for name in source.switches for entry in entries.get(name, ())]:
            plane[key] = listed
    for role, key in _LISTS.items():
        members = [name for name, switch in source.switches.items() if switch.role == role]
        if members:
            plane[key] = [_switch(source, name, usual[role], numbers.pods) for name in members]
    plane["links"] = [_link(link, hosts.keys, own_cables) for link in links]
    return plane


def _speed(source: Source, links: Sequence[WiredLink]) -> int:
    """The speed of most links, or of the first switch if there are no links."""
    ports = (source.switches[link.b[0]].layout.port_by_name[link.b[1]] for link in links)
    found = source.most(port.speed_mbps for port in ports)
    return int(found or next(iter(source.switches.values())).layout.speed_mbps)


def _hardware(hardware: Hardware) -> dict[str, Any]:
    platform, layout, ports = hardware
    keys: dict[str, Any] = {"platform": platform, "layout": layout}
    return {**keys, "ports": dict(ports)} if ports else keys


def _switch(source: Source, name: str, usual: tuple[Hardware, str], pods: dict[str, int]) -> dict[str, object]:
    switch = source.switches[name]
    listed: dict[str, object] = {"name": name}
    if switch.hardware != usual[0]:
        listed |= _hardware(switch.hardware)
    if name in pods:
        listed["pod"] = pods[name]
    return listed


def _link(link: WiredLink, hosts: dict[str, str], own_cables: dict[str, object]) -> object:
    ends = [f"{hosts.get(name, name)}:{port}" for name, port in (link.a, link.b)]
    return {"ends": ends, "cable": own_cables[link.id]} if link.id in own_cables else ends
