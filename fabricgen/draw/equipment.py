"""Scenes of equipment: the front panel of a switch, a rack, a cable with both ends."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredDevice, WiredLink, Wiring
from fabricgen.draw.scene import LETTER, WIDTH, Box, BoxKind, Label, Line, Scene
from fabricgen.errors import UsageError
from fabricgen.handoff.cable_ends import CableEnd, Plant
from fabricgen.platforms.catalog import switch_platform
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.tables import Table, channel_of, vlans_of
from fabricgen.units import counted, format_speed

_CAGE, _ROWS, _COLUMNS = 24.0, 2, 3
_UNIT_PX, _UNITS = 22, 42
_RACK_PX = 360.0
_LINE = 15
_FEW = 6  # VLANs of a port that a panel lists
_GAP = 12  # px between two columns of a list


def panel_scene(bundle: Bundle, name: str) -> Scene:
    """The front panel of a switch: two rows of cages, and each used port with its speed, far end, port channel and
    VLANs."""
    wiring = wiring_of(bundle)
    device = next((each for each in wiring.devices if each.name == name), None)
    if device is None:
        raise UsageError(f"the bundle has no switch {name!r}{_such_as([each.name for each in wiring.devices])}")
    far = {end: (link, other) for link in wiring.links for end, other in ((link.a, link.b), (link.b, link.a))}
    used = {port: found for (switch, port), found in far.items() if switch == name}
    observed = bundle.devices.get(name)
    access = layer_2(observed.content.peek() if observed else {}, used)
    texts = {port: f"{_peer(*found)}{access[port]}" for port, found in used.items()}
    cages: dict[str, list[str]] = {}
    for port, cage in _cages(device, sorted(used, key=natural_key)).items():
        cages.setdefault(cage, []).append(port)
    step = min(_CAGE + 4, (WIDTH - 32) / -(-len(cages) // _ROWS))
    boxes = []
    for number, (cage, members) in enumerate(cages.items()):
        peers = [f"{port}: {texts[port]}" for port in members if port in used]
        kind = BoxKind.PORT if peers else BoxKind.FREE
        x, y = 16 + number // _ROWS * step, 16 + number % _ROWS * (_CAGE + 4)
        text = cage if len(cage) < 4 else ""
        boxes.append(Box(f"cage {cage}: {'; '.join(peers) or 'free'}", kind, x, y, step - 4, _CAGE, text))
    listed = [
        f"{port}{f' (cage {cage})' if cage != port else ''}: {texts[port]}"
        for cage, members in cages.items()
        for port in members
        if port in used
    ]
    columns = max(1, min(_COLUMNS, int((WIDTH - 32) // (LETTER * max(map(len, listed), default=1) + _GAP))))
    top, rows = 16 + _ROWS * (_CAGE + 4) + 26, -(-len(listed) // columns)
    wide = (WIDTH - 32) / columns
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


def layer_2(tables: Mapping[str, Table], ports: Iterable[str]) -> dict[str, str]:
    """Port -> for example ", PortChannel0, VLAN 110, tagged 120, MCLAG 1". A member has the VLANs of its channel."""
    channels = channel_of(tables.get("PORTCHANNEL_MEMBER", {}))
    vlans = vlans_of(tables.get("VLAN_MEMBER", {}))
    shared = (key.partition("|") for key in tables.get("MCLAG_INTERFACE", {}))
    domains = {interface: domain for domain, _, interface in shared}
    found: dict[str, str] = {}
    for port in ports:
        channel = channels.get(port, "")
        domain = domains.get(channel, "")
        modes = vlans.get(channel or port, {})
        native, tagged = (
            _few([vlan.removeprefix("Vlan") for vlan, mode in modes.items() if (mode == "tagged") is has_tag])
            for has_tag in (False, True)
        )
        parts = [channel, native and f"VLAN {native}", tagged and f"tagged {tagged}", domain and f"MCLAG {domain}"]
        found[port] = "".join(f", {part}" for part in parts if part)
    return found


def _few(numbers: Sequence[str]) -> str:
    return " ".join(numbers) if len(numbers) <= _FEW else f"{' '.join(numbers[:_FEW])} and {len(numbers) - _FEW} more"


def _peer(link: WiredLink, far: tuple[str, str]) -> str:
    return f"{format_speed(link.speed_mbps)} {far[0]} {far[1]}"


@dataclass(frozen=True, slots=True)
class _Member:
    """A device of a rack: the lowest of its units, None if it is not stated, and how many it has."""

    name: str
    what: str
    kind: BoxKind
    unit: int | None
    units: int


def rack_scene(bundle: Bundle, rack: str) -> Scene:
    """A rack with its switches and hosts from their lowest unit upwards, by the height of the platform; hosts have one
    unit. Devices of one unit share it, and those without a unit are beside the rack."""
    wiring = wiring_of(bundle)
    members = [
        _member(each.name, each.unit, each.platform, BoxKind.SWITCH) for each in wiring.devices if each.rack == rack
    ]
    members += [_member(each.name, each.unit, each.model, BoxKind.HOST) for each in wiring.hosts if each.rack == rack]
    if not members:
        racks = [*(each.rack for each in wiring.devices), *(each.rack for each in wiring.hosts)]
        known = _such_as(filter(None, racks)) or "; the inventory states no rack (`rack` of `devices`)"
        raise UsageError(f"no device is in rack {rack!r}{known}")
    placed = sorted((each for each in members if each.unit), key=lambda each: (each.unit, natural_key(each.name)))
    aside = sorted((each for each in members if not each.unit), key=lambda each: natural_key(each.name))
    taken: dict[int, list[_Member]] = {}
    for each in placed:
        for unit in range(each.unit or 0, (each.unit or 0) + each.units):
            taken.setdefault(unit, []).append(each)
    most = max([_UNITS, *taken])
    top = 24.0
    labels = [Label(64, top + (most - unit) * _UNIT_PX + 15, str(unit), "end") for unit in range(1, most + 1)]
    boxes = [
        Box(f"unit {unit}", BoxKind.FREE, 72, top + (most - unit) * _UNIT_PX, _RACK_PX, _UNIT_PX - 2)
        for unit in range(most, 0, -1)
        if unit not in taken
    ]
    columns = _columns(placed, taken)
    for each in placed:
        column, count = columns[each.name]
        x, y = 72 + column * _RACK_PX / count, top + (most - (each.unit or 0) - each.units + 1) * _UNIT_PX
        boxes.append(_box(each, x, y, _RACK_PX / count - (2 if count > 1 else 0), each.units * _UNIT_PX - 2))
    if aside:
        labels.append(Label(470, top - 6, "without a unit"))
    boxes += [_box(each, 470, top + number * _UNIT_PX, _RACK_PX, _UNIT_PX - 2) for number, each in enumerate(aside)]
    height = top + max(most, len(aside)) * _UNIT_PX + 8
    caption = counted(len(members), "device")
    if any(each.kind is BoxKind.HOST for each in placed):
        caption += "; hosts are one unit high here, as their height is not known"
    return Scene(f"rack {rack}", caption, height, tuple(boxes), (), tuple(labels))


def _member(name: str, unit: str, what: str, kind: BoxKind) -> _Member:
    found = re.fullmatch(r"\D*(\d{1,3})", unit)
    platform = switch_platform(what) if kind is BoxKind.SWITCH else None
    units = (platform.rack_units if platform else None) or 1
    return _Member(name, what, kind, int(found[1]) or None if found else None, units)


def _columns(placed: Sequence[_Member], taken: Mapping[int, Sequence[_Member]]) -> dict[str, tuple[int, int]]:
    """Device -> its column, and the columns of its units: one, unless devices overlap."""
    found: dict[str, tuple[int, int]] = {}
    for each in placed:
        units = range(each.unit or 0, (each.unit or 0) + each.units)
        beside = {other.name for unit in units for other in taken[unit]}
        used = {found[name][0] for name in beside if name in found}
        found[each.name] = next(number for number in range(len(placed)) if number not in used), len(beside)
    widest = {name: max(column + 1, count) for name, (column, count) in found.items()}
    for each in placed:
        units = range(each.unit or 0, (each.unit or 0) + each.units)
        beside = {other.name for unit in units for other in taken[unit]}
        found[each.name] = found[each.name][0], max(widest[name] for name in beside)
    return found


def _box(each: _Member, x: float, y: float, width: float, height: float) -> Box:
    text = f"{each.name}, {each.what}" if LETTER * len(f"{each.name}, {each.what}") < width else each.name
    return Box(f"{each.name}, {each.what}", each.kind, x, y, width, height, text)


def cable_scene(bundle: Bundle, cable: str) -> Scene:
    """A cable: both ends with device, rack and ports, and its length, medium and speed. A breakout has several arms."""
    plant = Plant(bundle, wiring_of(bundle))
    runs = [run for run in plant.runs() if run.id == cable]
    if not runs:
        raise UsageError(f"the bundle has no cable {cable!r}{_such_as(each.id for each in plant.cables)}")
    hosts = {host.name for host in wiring_of(bundle).hosts}
    boxes: list[Box] = []
    lines: list[Line] = []
    for number, run in enumerate(runs):
        y = 24.0 + number * 90
        boxes += [_end(run.a, plant, hosts, 16, y), _end(run.b, plant, hosts, WIDTH - 316, y)]
        middle = y + 32
        text = f"{run.speed}, {run.medium}, {run.length_m:g} m"
        lines.append(Line(2 * number, 2 * number + 1, len(run.a.ports), 316, middle, WIDTH - 316, middle, text=text))
    caption = f"{runs[0].kind} of plane {runs[0].plane}"
    return Scene(f"cable {cable}", caption, 24 + 90 * len(runs), tuple(boxes), tuple(lines))


def _end(end: CableEnd, plant: Plant, hosts: Container[str], x: float, y: float) -> Box:
    place = " ".join(filter(None, (f"rack {end.rack}" if end.rack else "", f"unit {end.unit}" if end.unit else "")))
    labelled = zip(end.ports, plant.labels(end), strict=True)
    names = [port if port == label else f"{port} ({label})" for port, label in labelled]
    ports = ", ".join(f"port {name}" if name.isdigit() else name for name in names)
    kind = BoxKind.HOST if end.device in hosts else BoxKind.SWITCH
    return Box(end.device, kind, x, y, 300, 64, end.device, "\n".join(filter(None, (ports, place))))


def wiring_of(bundle: Bundle) -> Wiring:
    """The wiring. Raises UsageError for files without fabric.json."""
    if bundle.wiring is None:
        raise UsageError("these files are not a bundle: without fabric.json, panels, racks and cables are not known")
    return bundle.wiring


def _such_as(names: Iterable[str]) -> str:
    """A few of the names that exist."""
    found = sorted(set(names), key=natural_key)
    return f"; it has {', '.join(found[:3])}{' …' if len(found) > 3 else ''}" if found else ""
