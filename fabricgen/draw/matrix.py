"""Large planes as matrices: a tier is a block of cells, rails (or pods) by scalable units, with titles, and bands with
the number of links between tiers. A plane of one tier is drawn as slabs of a torus or as groups. No scene has lines."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from math import ceil, sqrt

from fabricgen.draw.names import unit_of
from fabricgen.draw.scene import LETTER, WIDTH, Box, BoxKind, Label, Scene
from fabricgen.draw.topology import RANK, Topology, strides
from fabricgen.units import format_speed

MATRIX = 64  # switches of a tier, from which lines for each pair would cover each other
_LEFT, _RIGHT = 112, 24
_SPACE = WIDTH - _LEFT - _RIGHT
_TITLE, _COLUMNS = 34.0, 14.0  # px of the title of a tier, and of the names of its columns
_ROW, _GAP = 14.0, 3.0
_BAND = 48.0  # px between tiers
_MOST_ACROSS = 64  # cells of a row; a longer one continues in another block
_WIDEST = 92.0
_MOST_BANDS = 8
_LEAST_STEP, _MOST_STEP = 14.0, 46.0  # px from cell to cell of a slab or a group

_PLURALS = {"leaf": "leaves", "switch": "switches"}
_Row = tuple[str, list[int]]  # its name, and its switches


def is_matrix(topology: Topology, members: Sequence[int]) -> bool:
    """Whether a tier of these switches is so large that the picture is a matrix."""
    return max(Counter(topology.switches[index].role for index in members).values()) >= MATRIX


def matrix_scene(topology: Topology, name: str, members: Sequence[int]) -> Scene:
    """The scene of the switches `members` of a plane, or of one of its pods."""
    roles = {topology.switches[index].role for index in members}
    tiers = sorted(roles, key=lambda role: -RANK.get(role, 0))
    hosts, links = topology.hosts_of(tuple(members))
    caption = topology.caption(tuple(members))
    boxes: list[Box] = []
    labels: list[Label] = []
    if len(tiers) == 1:
        y = _flat(topology, members, boxes, labels)
        return Scene(name, caption, y, tuple(boxes), (), tuple(labels))
    y = 16.0
    above: Sequence[int] = ()
    for role in tiers:
        tier = [index for index in members if topology.switches[index].role == role]
        if above:
            y = _bands(topology, above, tier, y, boxes, labels)
        y = _tier(topology, role or "switch", tier, y, boxes, labels)
        above = tier
    if hosts:
        text = f"{hosts:,} hosts, {links:,} links"
        boxes.append(Box(text, BoxKind.HOST, _LEFT, y + 8, _SPACE, 26, text))
        labels.append(Label(_LEFT - 10, y + 25, "hosts", "end"))
        y += 42
    return Scene(name, caption, y, tuple(boxes), (), tuple(labels))


def _tier(topology: Topology, role: str, tier: Sequence[int], y: float, boxes: list[Box], labels: list[Label]) -> float:
    """Add the title, the names of columns and the cells of a tier; its lower edge."""
    rows, what = _rows(topology, tier)
    across = min(_MOST_ACROSS, max(len(row) for _, row in rows))
    step = min(_WIDEST, _SPACE / across)
    number = f"{len(tier):,} {role if len(tier) == 1 else _PLURALS.get(role, role + 's')}"
    labels += [Label(_LEFT, y + 10, number), Label(_LEFT, y + 24, what)]
    y += _TITLE
    for start in range(0, max(len(row) for _, row in rows), across):
        block = [(name, row[start : start + across]) for name, row in rows if len(row) > start]
        names = _column_names(topology, [row for _, row in block], start)
        every = max(1, ceil((max(map(len, names)) * LETTER + 6) / step)) if names else 1
        labels += [
            Label(_LEFT + number * step, y + 8, text) for number, text in enumerate(names) if number % every == 0
        ]
        y += _COLUMNS
        for name, row in block:
            labels.append(Label(_LEFT - 10, y + 11, name, "end"))
            for column, index in enumerate(row):
                boxes.append(_cell(topology, index, _LEFT + column * step, y, step))
            y += _ROW + _GAP
    return y


def _cell(topology: Topology, index: int, x: float, y: float, step: float) -> Box:
    return Box(topology.switches[index].name, BoxKind.SWITCH, x, y, step - min(_GAP, step * 0.2), _ROW)


def _rows(topology: Topology, tier: Sequence[int]) -> tuple[list[_Row], str]:
    """The rows with their names, and what a row and a column are."""
    switches = topology.switches
    places: dict[str, Sequence[int | None]] = {
        "rail": [switches[index].rail for index in tier],
        "pod": [topology.pods[index] for index in tier],
        "subplane": [switches[index].subplane for index in tier],
    }
    for word, keys in places.items():
        groups: dict[int | None, list[int]] = {}
        for index, place in zip(tier, keys, strict=True):
            groups.setdefault(place, []).append(index)
        if len(groups) > 1 and None not in groups:
            column = (
                "scalable unit" if len({unit_of(topology, index) for index in tier}) > 1 else f"number in the {word}"
            )
            return [
                (f"r{key}" if word == "rail" else f"{word} {key}", groups[key])
                for key in sorted(groups, key=lambda key: key or 0)
            ], (f"row: {word} · column: {column}")
    most = 32 if len(tier) <= 512 else _MOST_ACROSS
    each = ceil(len(tier) / ceil(len(tier) / most))
    starts = range(0, len(tier), each)
    return [(f"{start}", list(tier[start : start + each])) for start in starts], "by number"


def _column_names(topology: Topology, rows: Sequence[Sequence[int]], first: int) -> list[str]:
    """The scalable unit of each column if all its switches have one; else its number."""
    names = []
    for column in range(max(map(len, rows))):
        units = {topology.switches[row[column]].su for row in rows if column < len(row)}
        unit = units.pop() if len(units) == 1 else None
        names.append(f"{first + column}" if unit is None else f"SU {unit}")
    return names


def _bands(
    topology: Topology, above: Sequence[int], below: Sequence[int], y: float, boxes: list[Box], labels: list[Label]
) -> float:
    """Add the bands of the links between two tiers: one for each rail or pod that both ends, or the lower one, has."""
    upper, lower = set(above), set(below)
    groups: Counter[str] = Counter()
    down: Counter[str] = Counter()
    speeds: set[int] = set()
    for pair, links in topology.pairs.items():
        for one, other in (pair, pair[::-1]):
            if one in upper and other in lower:
                groups[_band_name(topology, other)] += len(links)
                speeds |= {link.speed_mbps for link in links}
    for (one, other), number in topology.down.items():
        if one in upper and other in lower:
            down[_band_name(topology, other)] += number
    if not groups:
        return y + 12
    if len(groups) > _MOST_BANDS:
        groups, down = Counter({"": groups.total()}), Counter({"": down.total()})
    speed = f" of {format_speed(speeds.pop())}" if len(speeds) == 1 else ""
    labels += [
        Label(16, y + 28, _counted_links(groups.total())),
        *([Label(16, y + 42, speed.strip())] if speed else []),
    ]
    step = _SPACE / len(groups)
    for number, name in enumerate(sorted(groups, key=lambda text: (len(text), text))):
        x = _LEFT + number * step
        text = f"{name}: {groups[name]:,}" if name else f"{groups[name]:,}"
        text += f", {down[name]:,} down" if down[name] else ""
        boxes.append(Box(text, BoxKind.BAND, x, y + 12, 8, _BAND - 8, text))
    return y + _BAND + 22


def _counted_links(number: int) -> str:
    return f"{number:,} {'link' if number == 1 else 'links'}"


def _band_name(topology: Topology, index: int) -> str:
    switch = topology.switches[index]
    if switch.rail is not None:
        return f"rail {switch.rail}"
    pod = topology.pods[index]
    return "" if pod is None else f"pod {pod}"


def _flat(topology: Topology, members: Sequence[int], boxes: list[Box], labels: list[Label]) -> float:
    """Add the slabs of a torus or mesh, the groups of a dragonfly, or one square; the lower edge."""
    cards, columns, word = _cards(topology, members)
    rows = max(ceil(len(card) / columns) for card in cards)
    space = WIDTH - 40
    across = max(1, min(len(cards), int(space // (columns * _LEAST_STEP + 18))))
    step = min(_MOST_STEP, (space / across - 18) / columns)
    wide, high = columns * step + 18, rows * step + 34
    cell = step * 0.62  # arrows between cells need room
    for number, card in enumerate(cards):
        left, top = 20 + number % across * wide, 30 + number // across * high
        labels.append(Label(left, top - 6, f"{word} {number}" if word else f"{len(card):,} switches"))
        for place, index in enumerate(card):
            x, y = left + place % columns * step, top + place // columns * step
            boxes.append(Box(topology.switches[index].name, BoxKind.SWITCH, x, y, cell, cell))
    return 30 + ceil(len(cards) / across) * high


def _cards(topology: Topology, members: Sequence[int]) -> tuple[list[list[int]], int, str]:
    """The cards, the columns of each, and what a card is."""
    steps = strides(topology, tuple(members))
    if len(steps) > 2:
        cards = [list(members[start : start + steps[2]]) for start in range(0, len(members), steps[2])]
        return cards, steps[1], "slab"
    if len(steps) > 1:
        return [list(members)], steps[1], ""
    cards = [list(each) for _, each in groupby(members, key=lambda index: unit_of(topology, index))]
    return cards, ceil(sqrt(max(map(len, cards)))), "group" if len(cards) > 1 else ""
