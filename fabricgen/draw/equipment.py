"""Scenes of equipment: the front panel of a switch, a rack, a cable with both ends."""

import re
from collections.abc import Iterable, Sequence

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredDevice, WiredLink, Wiring
from fabricgen.draw.scene import WIDTH, Box, BoxKind, Label, Line, Scene
from fabricgen.errors import UsageError
from fabricgen.handoff.cable_ends import CableEnd, Plant
from fabricgen.platforms.catalog import switch_platform
from fabricgen.sonic.canonical import natural_key
from fabricgen.units import counted, format_speed

_CAGE, _ROWS, _COLUMNS = 24.0, 2, 3
_UNIT_PX, _UNITS = 22, 42
_LINE = 15


def panel_scene(bundle: Bundle, name: str) -> Scene:
    """The front panel of a switch: two rows of cages, and each used port with its speed and its far end."""
    wiring = wiring_of(bundle)
    device = next((each for each in wiring.devices if each.name == name), None)
    if device is None:
        raise UsageError(f"the bundle has no switch {name!r}{_such_as([each.name for each in wiring.devices])}")
    far = {end: (link, other) for link in wiring.links for end, other in ((link.a, link.b), (link.b, link.a))}
    used = {port: found for (switch, port), found in far.items() if switch == name}
    cages: dict[str, list[str]] = {}
    for port, cage in _cages(device, sorted(used, key=natural_key)).items():
        cages.setdefault(cage, []).append(port)
    step = min(_CAGE + 4, (WIDTH - 32) / -(-len(cages) // _ROWS))
    boxes = []
    for number, (cage, members) in enumerate(cages.items()):
        peers = [f"{port}: {_peer(*used[port])}" for port in members if port in used]
        kind = BoxKind.PORT if peers else BoxKind.FREE
        x, y = 16 + number // _ROWS * step, 16 + number % _ROWS * (_CAGE + 4)
        text = cage if len(cage) < 4 else ""
        boxes.append(Box(f"cage {cage}: {'; '.join(peers) or 'free'}", kind, x, y, step - 4, _CAGE, text))
    listed = [f"{port}  {_peer(*used[port])}" for port in sorted(used, key=natural_key)]
    top, rows = 16 + _ROWS * (_CAGE + 4) + 26, -(-len(listed) // _COLUMNS)
    wide = (WIDTH - 32) / _COLUMNS
    labels = [
        Label(16 + number // rows * wide, top + number % rows * _LINE, text) for number, text in enumerate(listed)
    ]
    caption = f"{device.platform}, {counted(len(used), 'port')} of {sum(map(len, cages.values()))} used"
    return Scene(name, caption, top + rows * _LINE + 8, tuple(boxes), (), tuple(labels))


def _cages(device: WiredDevice, used: Sequence[str]) -> dict[str, str]:
    """Port -> its cage; of a platform that the catalog does not have, each used port is its own cage."""
    platform = switch_platform(device.platform)
    layout = next((each for each in platform.layouts if each.name == device.layout), None) if platform else None
    return {port.name: str(port.index) for port in layout.fabric_ports} if layout else {port: port for port in used}


def _peer(link: WiredLink, far: tuple[str, str]) -> str:
    return f"{format_speed(link.speed_mbps)}  {far[0]} {far[1]}"


def rack_scene(bundle: Bundle, rack: str) -> Scene:
    """A rack with its switches and hosts at their units; those without a unit are beside it."""
    wiring = wiring_of(bundle)
    members = [(each.name, each.unit, each.role.value) for each in wiring.devices if each.rack == rack]
    members += [(each.name, each.unit, each.model) for each in wiring.hosts if each.rack == rack]
    if not members:
        racks = [*(each.rack for each in wiring.devices), *(each.rack for each in wiring.hosts)]
        known = _such_as(filter(None, racks)) or ": the inventory names no racks (`racks` of the hosts and switches)"
        raise UsageError(f"no device is in rack {rack!r}{known}")
    units = {name: int(found[1]) for name, unit, _ in members if (found := re.fullmatch(r"\D*(\d{1,3})", unit))}
    most = max([_UNITS, *units.values()])
    top = 24.0
    labels = [Label(64, top + (most - unit) * _UNIT_PX + 15, str(unit), "end") for unit in range(1, most + 1)]
    boxes = [
        Box(f"unit {unit}", BoxKind.FREE, 72, top + (most - unit) * _UNIT_PX, 360, _UNIT_PX - 2)
        for unit in range(1, most + 1)
        if unit not in units.values()
    ]
    aside = 0
    for name, _, what in sorted(members, key=lambda each: natural_key(each[0])):
        kind = BoxKind.SWITCH if name in {each.name for each in wiring.devices} else BoxKind.HOST
        if name in units:
            boxes.append(
                Box(f"{name}, {what}", kind, 72, top + (most - units[name]) * _UNIT_PX, 360, _UNIT_PX - 2, name)
            )
        else:
            boxes.append(Box(f"{name}, {what}", kind, 470, top + aside * (_UNIT_PX + 2), 360, _UNIT_PX - 2, name))
            aside += 1
    height = top + max(most, aside) * (_UNIT_PX + 2)
    return Scene(f"rack {rack}", counted(len(members), "device"), height, tuple(boxes), (), tuple(labels))


def cable_scene(bundle: Bundle, cable: str) -> Scene:
    """A cable: both ends with device, rack and ports, and its length, medium and speed. A breakout has several arms."""
    plant = Plant(bundle, wiring_of(bundle))
    runs = [run for run in plant.runs() if run.id == cable]
    if not runs:
        raise UsageError(f"the bundle has no cable {cable!r}{_such_as(each.id for each in plant.cables)}")
    boxes: list[Box] = []
    lines: list[Line] = []
    for number, run in enumerate(runs):
        y = 24.0 + number * 90
        boxes += [_end(run.a, plant, 16, y), _end(run.b, plant, WIDTH - 316, y)]
        middle = y + 32
        text = f"{run.speed}, {run.medium}, {run.length_m:g} m"
        lines.append(Line(2 * number, 2 * number + 1, len(run.a.ports), 316, middle, WIDTH - 316, middle, text=text))
    caption = f"{runs[0].kind} of plane {runs[0].plane}"
    return Scene(f"cable {cable}", caption, 24 + 90 * len(runs), tuple(boxes), tuple(lines))


def _end(end: CableEnd, plant: Plant, x: float, y: float) -> Box:
    place = " ".join(filter(None, (f"rack {end.rack}" if end.rack else "", f"unit {end.unit}" if end.unit else "")))
    labelled = zip(end.ports, plant.labels(end), strict=True)
    names = [port if port == label else f"{port} ({label})" for port, label in labelled]
    note = "\n".join(filter(None, (", ".join(names), place)))
    return Box(end.device, BoxKind.SWITCH, x, y, 300, 64, end.device, note)


def wiring_of(bundle: Bundle) -> Wiring:
    """The wiring. Raises UsageError for files without fabric.json."""
    if bundle.wiring is None:
        raise UsageError("these files are not a bundle: without fabric.json, panels, racks and cables are not known")
    return bundle.wiring


def _such_as(names: Iterable[str]) -> str:
    """A few of the names that exist."""
    found = sorted(set(names), key=natural_key)
    return f"; it has {', '.join(found[:3])}{' …' if len(found) > 3 else ''}" if found else ""
