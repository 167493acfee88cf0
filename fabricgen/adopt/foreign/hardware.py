"""The hardware of described switches in the catalog, and their ports by cage and lane of the front panel."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabricgen.adopt.foreign.described import DescribedPort, DescribedSwitch
from fabricgen.platforms.catalog import layout_by_hwsku, switch_names, switch_platform
from fabricgen.platforms.model import Layout, PlatformPort, SwitchPlatform
from fabricgen.platforms.port_modes import Mode, PortModes
from fabricgen.vocabulary import Technology

# Hedgehog's profile -> the platform that it names; githedgehog/fabric 143b240, pkg/ctrl/switchprofile.
_PROFILES = {"celestica-ds4000": "celestica-silverstone", "dell-z9332f-on": "dell-z9332f-d1508"}
_AFFIXES = re.compile(r"^(dcs|arista|dell|dellemc|nvidia|mellanox|celestica|edgecore|accton)-|-(on|[fr])$")


@dataclass(frozen=True)
class Fitted:
    """A switch in the catalog: its layout with the ports in use, that of the SKU, and its ports: their name -> port.

    `layouts` are all of the platform, to fit the switch again.
    """

    layouts: Sequence[PortModes]
    platform: SwitchPlatform
    base: Layout
    layout: Layout
    ports: Mapping[str, PlatformPort]


def platform_of(model: str, chosen: Mapping[str, str]) -> SwitchPlatform | None:
    """The platform of a model: the one that is chosen for it, else the only one of the catalog with this name."""
    name = chosen.get(model) or _PROFILES.get(model.lower(), model)
    found = switch_platform(name.lower())
    if found is None and (by_sku := layout_by_hwsku(name)):
        found = by_sku[0]
    if found is None:
        alike = [each for each in switch_names() if _bare(each) == _bare(name)]
        found = switch_platform(alike[0]) if len(alike) == 1 else None
    return found if found and found.serves(Technology.ETHERNET) else None


def _bare(model: str) -> str:
    """'DCS-7060X6-64PE-F' and 'arista-7060x6-64pe' to '7060x6-64pe'."""
    text = model.lower().replace("_", "-").replace(" ", "-")
    while (shorter := _AFFIXES.sub("", text)) != text:
        text = shorter
    return text


def port_modes(platform: SwitchPlatform) -> tuple[PortModes, ...]:
    """The modes of all layouts of a platform, for all of its switches: they take long to work out."""
    return tuple(PortModes(platform, layout) for layout in platform.layouts)


def fit(switch: DescribedSwitch, layouts: Sequence[PortModes]) -> Fitted:
    """The layout of a platform that has most ports of a switch at their speeds, with its cages split as described.

    Ports that no mode of their cage has are missing.
    """
    if by_sku := [each for each in layouts if each.layout.hwsku == switch.model]:
        layouts = by_sku[:1]
    return max((_fitted(switch, modes, layouts) for modes in layouts), key=lambda fitted: _quality(switch, fitted))


def _quality(switch: DescribedSwitch, fitted: Fitted) -> tuple[int, int, int]:
    """Ports that are found, ports at their stated speed, and ports that need no other mode than that of the SKU."""
    stated = sum(port.speed_mbps == switch.ports[name].speed_mbps for name, port in fitted.ports.items())
    own = sum(fitted.base.port_by_name.get(port.name) == port for port in fitted.ports.values())
    return len(fitted.ports), stated, own


def _fitted(switch: DescribedSwitch, modes: PortModes, layouts: Sequence[PortModes]) -> Fitted:
    wanted: dict[str, dict[str, DescribedPort]] = {}
    for name, port in switch.ports.items():
        parent = _parent(modes, port) if port.cage else modes.cage_of_port.get(name)
        if parent:
            wanted.setdefault(parent, {})[name] = port
    stated = {
        parent: mode
        for cage, text in switch.modes.items()
        for parent in modes.numbers.get(cage, ())
        if (mode := modes.mode(parent, text))
    }
    chosen = dict(stated)
    found: dict[str, PlatformPort] = {}
    for parent, ports in wanted.items():
        candidates = [stated[parent]] if parent in stated else _candidates(modes.cages[parent], ports)
        mode = max(candidates, key=lambda mode: _suits(mode, ports))
        placed = _placed(mode, ports)
        if placed:
            chosen[parent] = mode
            found |= placed
    return Fitted(layouts, modes.platform, modes.layout, modes.with_modes(chosen), found)


def _parent(modes: PortModes, port: DescribedPort) -> str | None:
    """The connector of a cage; with two connectors in a cage, the first half of the lanes is in the first one."""
    parents = modes.numbers.get(port.cage, ())
    if len(parents) < 2:
        return parents[0] if parents else None
    lanes = [len(_lanes(modes.cages[parent][0])) for parent in parents]
    second = port.lane > lanes[0] if port.lane else port.part > 1
    return parents[1] if second else parents[0]


def _candidates(known: Sequence[Mode], ports: Mapping[str, DescribedPort]) -> list[Mode]:
    """The modes of a cage, each also at the stated speeds."""
    speeds = sorted({port.speed_mbps for port in ports.values() if port.speed_mbps})
    return [*known, *(slower for mode in known for speed in speeds if (slower := mode.at(speed)))]


def _suits(mode: Mode, ports: Mapping[str, DescribedPort]) -> tuple[int, int, int]:
    """Ports that the mode has, ports at their stated speed, and the fewest further ports."""
    placed = _placed(mode, ports)
    at_speed = sum(port.speed_mbps == ports[name].speed_mbps for name, port in placed.items())
    return len(placed), at_speed, -len(mode.ports)


def _placed(mode: Mode, ports: Mapping[str, DescribedPort]) -> dict[str, PlatformPort]:
    """Name in the files -> port of the mode."""
    placed = {name: found for name, port in ports.items() if (found := _port(mode, name, port))}
    return placed if len({port.name for port in placed.values()}) == len(placed) else {}


def _port(mode: Mode, name: str, port: DescribedPort) -> PlatformPort | None:
    if not port.cage:
        return next((each for each in mode.ports if name in (each.name, each.alias)), None)
    if port.lane:
        lanes = _lanes(mode)
        first = lanes[(port.lane - 1) % len(lanes)]
        return next((each for each in mode.ports if min(each.lanes) == first), None)
    return mode.ports[(port.part or 1) - 1] if (port.part or 1) <= len(mode.ports) else None


def _lanes(mode: Mode) -> list[int]:
    return sorted(lane for port in mode.ports for lane in port.lanes)
