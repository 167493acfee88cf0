"""Hosts from the neighbors without a file: groups, models and a name pattern that reproduces their names."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fabricgen.adopt.source import Source
from fabricgen.bundle.wiring import WiredLink
from fabricgen.inventory.values import NAME
from fabricgen.units import format_speed

_NUMBERED = re.compile(r"(.*?)([-_.]?)(\d{1,18})")
_NIC = "unknown"  # the files do not contain the NIC model

Nic = tuple[int, str]  # speed in Mb/s, plane


@dataclass
class Hosts:
    """Groups and models of the inventory. `keys` is host -> identity."""

    groups: dict[str, dict[str, object]] = field(default_factory=dict)
    models: dict[str, dict[str, object]] = field(default_factory=dict)
    pattern: str = ""
    keys: dict[str, str] = field(default_factory=dict)
    of_plane: dict[str, dict[str, None]] = field(default_factory=dict)  # plane -> its groups


def find_hosts(source: Source, links: Iterable[WiredLink]) -> Hosts:
    """The hosts at end `a` of host links. Each NIC has the speed of its switch port."""
    nics: dict[str, dict[str, Nic]] = {}
    for link in links:
        switch = source.switches[link.b[0]]
        nics.setdefault(link.a[0], {})[link.a[1]] = switch.layout.port_by_name[link.b[1]].speed_mbps, switch.plane
    hosts = Hosts()
    if not nics:
        return hosts
    numbered = _numbered(nics)
    hosts.pattern = numbered[0] if numbered else "{group}"
    members = numbered[1] if numbered else {name: [name] for name in sorted(nics)}
    names: dict[tuple[tuple[str, Nic], ...], str] = {}
    for group, hosts_of in members.items():
        ports = {port: nic for host in hosts_of for port, nic in nics[host].items()}
        kind = tuple(sorted(ports.items()))
        model = names.setdefault(kind, f"server-{len(names) + 1}")
        hosts.models[model] = {"gpus": 0, "nics": [_row(port, *nic) for port, nic in sorted(ports.items())]}
        hosts.groups[group] = {"model": model, "count": len(hosts_of)}
        for _, plane in ports.values():
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
