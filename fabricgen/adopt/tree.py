"""The imported inventory as a YAML tree: the explicit design, without overrides."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netaddr import EUI, mac_unix_expanded, valid_mac

from fabricgen.adopt.access import ROUTED, Accesses, Attached, mclag, part_of
from fabricgen.adopt.numbers import ImportedNumbers
from fabricgen.adopt.outside import Outside, find_outside
from fabricgen.adopt.settings import bgp_sessions, cables, is_unnumbered, lossless, mtu_bytes, usual_types
from fabricgen.adopt.source import FIRST_PLANE, Hardware, ImportSource
from fabricgen.allocation.lock import Lock
from fabricgen.bundle.wiring import WiredLink
from fabricgen.inventory.plane import PURPOSE_OF_NAME
from fabricgen.inventory.profiles import NONE
from fabricgen.inventory.values import NAME
from fabricgen.sonic.device_types import DEVICE_TYPES
from fabricgen.units import format_speed
from fabricgen.vocabulary import BgpAddressing, Role

# Hosts from the neighbors without a file: groups, models and a name pattern that reproduces their names.

_NUMBERED = re.compile(r"(.*?)([-_.]?)(\d{1,18})")
_NIC = "unknown"  # the files do not contain the NIC model

Nic = tuple[int, str, Attached]  # speed in Mb/s, plane, and how it is connected


@dataclass
class Hosts:
    """Groups and models of the inventory. `keys` is host -> identity."""

    groups: dict[str, dict[str, object]] = field(default_factory=dict)
    models: dict[str, dict[str, object]] = field(default_factory=dict)
    pattern: str = ""
    keys: dict[str, str] = field(default_factory=dict)
    of_plane: dict[str, dict[str, None]] = field(default_factory=dict)  # plane -> its groups


def find_hosts(source: ImportSource, links: Iterable[WiredLink], accesses: Accesses) -> Hosts:
    """The hosts at end `a` of host links. Each NIC has the speed of its switch port. The hosts of a group are connected
    in one way."""
    nics: dict[str, dict[str, Nic]] = {}
    for link in links:
        switch = source.switches[link.b[0]]
        speed_mbps = switch.layout.port_by_name[link.b[1]].speed_mbps
        nics.setdefault(link.a[0], {})[link.a[1]] = speed_mbps, switch.plane, accesses.attached(link)
    hosts = Hosts()
    if not nics:
        return hosts
    numbered = _numbered(nics)
    hosts.pattern = numbered[0] if numbered else "{group}"
    members = numbered[1] if numbered else {name: [name] for name in sorted(nics)}
    names: dict[tuple[tuple[str, int, str], ...], str] = {}
    for group, hosts_of in members.items():
        ports = {port: nic for host in hosts_of for port, nic in nics[host].items()}
        kind = tuple(sorted((port, speed_mbps, plane) for port, (speed_mbps, plane, _) in ports.items()))
        model = names.setdefault(kind, f"server-{len(names) + 1}")
        hosts.models[model] = {"gpus": 0, "nics": [_row(*nic) for nic in kind]}
        hosts.groups[group] = {"model": model, "count": len(hosts_of)}
        for _, plane, _ in ports.values():
            hosts.of_plane.setdefault(plane, {})[group] = None
        hosts.keys |= {host: f"{group}/{number}" for number, host in enumerate(hosts_of)}
    return hosts


def _row(port: str, speed_mbps: int, plane: str) -> dict[str, object]:
    return {"name": port, "model": _NIC, "speed": format_speed(speed_mbps), "plane": plane}


def _numbered(nics: Mapping[str, Mapping[str, Nic]]) -> tuple[str, dict[str, list[str]]] | None:
    """The pattern of all names, and group -> hosts in order; None if names or NICs do not allow groups."""
    matches = {name: _NUMBERED.fullmatch(name) for name in nics}
    if not all(match and NAME.fullmatch(match[1]) for match in matches.values()):
        return None
    separators = {match[2] for match in matches.values() if match}
    widths = {len(match[3]) for match in matches.values() if match}
    is_padded = any(match[3].startswith("0") and len(match[3]) > 1 for match in matches.values() if match)
    if len(separators) > 1 or (is_padded and len(widths) > 1):
        return None
    pattern = "{group}" + separators.pop() + (f"{{number:0{widths.pop()}}}" if is_padded else "{number}")
    groups: dict[str, dict[int, str]] = {}
    for name, match in matches.items():
        if match:
            groups.setdefault(match[1], {})[int(match[3])] = name
    for members in groups.values():
        kinds = {(port, nic) for host in members.values() for port, nic in nics[host].items()}
        if sorted(members) != list(range(len(members))) or len({port for port, _ in kinds}) < len(kinds):
            return None
    return pattern, {group: [members[n] for n in sorted(members)] for group, members in sorted(groups.items())}


_LISTS = {Role.LEAF: "leaves", Role.SPINE: "spines", Role.CORE: "cores"}


def inventory_tree(
    fabric: str, source: ImportSource, links: Sequence[WiredLink], accesses: Accesses | None = None
) -> tuple[dict[str, Any], Lock, Outside]:
    """The inventory of a fabric with these links, the lock file with its numbers, and what it connects outside. Without
    `accesses` all hosts are routed."""
    accesses = accesses or Accesses()
    planes = split_planes(source, links, accesses)
    hosts = find_hosts(source, [link for link in links if link.a[0] not in source.switches], accesses)
    outside = find_outside(
        source, {link.b: f"{hosts.keys[link.a[0]]}:{link.a[1]}" for link in links if link.a[0] in hosts.keys}
    )
    numbers = ImportedNumbers(fabric, source)
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
    tree["planes"] = {
        plane.plane: _plane(plane, hosts, numbers, outside, accesses, f"bond{index}")
        for index, plane in enumerate(planes)
    }
    return tree, numbers.lock, outside


def _is_mac(text: str) -> bool:
    """Whether a text is a MAC address in the form that fabricgen renders: 00:11:22:33:44:55."""
    return valid_mac(text) and str(EUI(text, dialect=mac_unix_expanded)) == text


def _plane(
    source: ImportSource, hosts: Hosts, numbers: ImportedNumbers, outside: Outside, accesses: Accesses, bond: str
) -> dict[str, Any]:
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
    groups = {host: key.partition("/")[0] for host, key in hosts.keys.items()}
    if access := accesses.of_plane(links, groups, bond):
        plane["access"] = access | mclag(source, links, accesses)
    plane["addressing"] = numbers.addressing(source, links, accesses, numbered=not unnumbered)
    for key, entries in (("external", outside.external), ("static", outside.static)):
        if listed := [entry for name in source.switches for entry in entries.get(name, ())]:
            plane[key] = listed
    for role, key in _LISTS.items():
        members = [name for name, switch in source.switches.items() if switch.role == role]
        if members:
            plane[key] = [_switch(source, name, usual[role], numbers.pods) for name in members]
    plane["links"] = [_link(link, hosts.keys, own_cables) for link in links]
    return plane


def _speed(source: ImportSource, links: Sequence[WiredLink]) -> int:
    """The speed of most links, or of the first switch if there are no links."""
    ports = (source.switches[link.b[0]].layout.port_by_name[link.b[1]] for link in links)
    found = source.most(port.speed_mbps for port in ports)
    return int(found or next(iter(source.switches.values())).layout.speed_mbps)


def _hardware(hardware: Hardware) -> dict[str, Any]:
    platform, layout, ports = hardware
    keys: dict[str, Any] = {"platform": platform, "layout": layout}
    return {**keys, "ports": dict(ports)} if ports else keys


def _switch(source: ImportSource, name: str, usual: tuple[Hardware, str], pods: dict[str, int]) -> dict[str, object]:
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


# The planes of an imported fabric: connected switches, and all others with the same lossless settings.
#
# A plane has one set of lossless classes, and one way to connect the hosts of a group. Switches that are not connected
# may be rails of one plane, or separate planes. They are one plane if both are equal, and no host has a bond at each.


def split_planes(source: ImportSource, links: Sequence[WiredLink], accesses: Accesses) -> list[ImportSource]:
    """The planes with their switches and links, lossless planes first. Sets the `plane` of each switch."""
    of_hosts: dict[str, list[WiredLink]] = {}
    parts: dict[str, list[str]] = {}
    first_of = part_of(source, links)
    for name, first in first_of.items():
        parts.setdefault(first, []).append(name)
    for link in links:
        if link.a[0] not in source.switches:
            of_hosts.setdefault(first_of[link.b[0]], []).append(link)
    by_settings: dict[tuple[bool, str, str, int], list[str]] = {}
    bonded: dict[tuple[bool, str, str, int], set[str]] = {}
    for first, names in parts.items():
        component = ImportSource({name: source.switches[name] for name in names}, (), {})
        settings = lossless(component)
        attached = {link: accesses.attached(link) for link in of_hosts.get(first, ())}
        kinds = "; ".join(sorted({str(one) for one in attached.values() if one != ROUTED}))
        hosts = {link.a[0] for link, one in attached.items() if one.kind.has_bond}
        number = 0
        while hosts & bonded.get(key := (settings == NONE, json.dumps(settings), kinds, number), set()):
            number += 1
        by_settings.setdefault(key, []).extend(names)
        bonded.setdefault(key, set()).update(hosts)
    planes: list[ImportSource] = []
    for index, key in enumerate(sorted(by_settings)):
        usual = FIRST_PLANE if index == 0 else f"plane-{index + 1}"
        name = (_purpose(by_settings[key]) if key[2] else "") or usual
        name = usual if name in {plane.plane for plane in planes} else name
        chosen = set(by_settings[key])
        switches = {one: switch for one, switch in source.switches.items() if one in chosen}
        for switch in switches.values():
            switch.plane = name
        planes.append(
            ImportSource(switches, tuple(link for link in links if link.b[0] in chosen), source.changed, name)
        )
    _keep_a_leaf(planes)
    return planes


def _purpose(names: Sequence[str]) -> str:
    """The purpose with which the names of all switches begin: in-band for in-band-leaf-00; "" without one."""
    return next((word for word in PURPOSE_OF_NAME if all(name.startswith(f"{word}-") for name in names)), "")


def _keep_a_leaf(planes: Sequence[ImportSource]) -> None:
    """An explicit design needs leaves: in a plane without leaves, the lowest tier becomes leaves."""
    for plane in planes:
        roles = {switch.role for switch in plane.switches.values()}
        lowest = next(role for role in (Role.LEAF, Role.SPINE, Role.CORE) if role in roles)
        for switch in plane.switches.values():
            switch.role = Role.LEAF if switch.role is lowest else switch.role
