"""The layout of a plane by arithmetic: a tier is a row, the order is subplane, pod, scalable unit, rail.

Planes of one tier are a grid, by the strides of their links, or cards of groups.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from math import ceil, hypot, sqrt

from fabricgen.draw.scene import WIDTH, Box, BoxKind, Label, Line, Scene
from fabricgen.draw.topology import RANK, Topology, strides
from fabricgen.units import counted

LEFT, RIGHT, TOP = 96, 24, 34
_SPACE = WIDTH - LEFT - RIGHT
_LETTER = 6.4  # px of one letter of a label, at 11 px
_MOST_HOST_BOXES = 12
_FAN = 0.86  # of a box's width, from which its lines leave: in one point they would look like one
_TIER_GAP = 170
_ROW = 58.0  # px from row to row of a grid
_FILLED = 0.62  # of the width of a column of a grid
_MOST_COLUMNS = 16
_NAMED = 30  # px of a box with a number, and its gap
_MANY = 600  # switches of a tier, above which boxes are as small as they can be selected


def plane_scene(topology: Topology, plane: str) -> Scene:
    """A plane with every switch, and a line for each two switches with links."""
    members = topology.planes[plane]
    roles = {topology.switches[index].role for index in members}
    tiers = sorted(roles, key=lambda role: -RANK.get(role, 0))
    boxes, labels, height = _tiers(topology, members, tiers) if len(tiers) > 1 else _flat(topology, members)
    place = {topology.index[box.name]: number for number, box in enumerate(boxes) if box.kind is BoxKind.SWITCH}
    between = _lines if len(tiers) > 1 else _straight
    lines = [*between(topology, boxes, place), *_host_lines(topology, boxes, place)]
    hosts, _ = topology.hosts_of(members)
    caption = f"{counted(len(members), 'switch', 'switches')} and {counted(hosts, 'host')}"
    return Scene(plane, caption, height, tuple(boxes), tuple(lines), tuple(labels))


def _tiers(topology: Topology, members: Sequence[int], tiers: Sequence[str]) -> tuple[list[Box], list[Label], float]:
    boxes: list[Box] = []
    labels: list[Label] = []
    y = float(TOP)
    for role in tiers:
        row = [index for index in members if topology.switches[index].role == role]
        placed = list(place_tier(topology, row, y))
        labels += [Label(16, y + 12, role or "switch"), Label(16, y + 26, f"{len(row):,}")]
        boxes += placed
        y = max(box.y + box.height for box in placed) + (_TIER_GAP if role != tiers[-1] else 44)
    found = list(
        _host_boxes(
            topology, [box for box in boxes if topology.switches[topology.index[box.name]].role == tiers[-1]], y
        )
    )
    if found:
        labels.append(Label(16, y + 20, "hosts"))
    return [*boxes, *found], labels, y + (54 if found else 0)


def place_tier(topology: Topology, row: Sequence[int], y: float, *, named: bool = False) -> Iterator[Box]:
    """The boxes of one tier: in one line if they fit, else by rails, else in equal lines; `named` ones have room for
    a number."""
    most = _SPACE // (_NAMED if named else 15) if len(row) <= _MANY else _SPACE // 6
    by_rail = [
        list(each)
        for _, each in groupby(
            sorted(row, key=lambda index: _rail(topology, index)), key=lambda index: _rail(topology, index)
        )
    ]
    if len(row) <= most:
        lines = [list(row)]
    elif len(by_rail) > 1 and max(map(len, by_rail)) <= 4 * most:
        lines = by_rail
    else:
        each = ceil(len(row) / ceil(len(row) / most))
        lines = [list(row[start : start + each]) for start in range(0, len(row), each)]
    small = 7.0 if len(row) > _MANY and lines is not by_rail else 20.5 if named else 14.0
    height = 27.0 if len(lines) == 1 else small
    for number, line in enumerate(lines):
        yield from _line_of_boxes(topology, line, y + number * (height + 3), height)


def _line_of_boxes(topology: Topology, line: Sequence[int], y: float, height: float) -> Iterator[Box]:
    units = [_unit(topology, index) for index in line]
    breaks = sum(one != other for one, other in pairwise(units))
    gap = 14.0 if 0 < breaks <= 24 and breaks < len(line) - 1 else 0.0
    step = (_SPACE - gap * breaks) / len(line)
    width = min(92.0, step - min(6.0, step * 0.15))
    alone = Counter(units)
    x = float(LEFT)
    for number, index in enumerate(line):
        if number and units[number] != units[number - 1]:
            x += gap
        unit = topology.switches[index].su if alone[units[number]] == 1 else None
        text = short_name(topology, index, width, unit) if height > 20 else ""
        yield Box(topology.switches[index].name, BoxKind.SWITCH, x + (step - width) / 2, y, width, height, text)
        x += step


def _rail(topology: Topology, index: int) -> int:
    rail = topology.switches[index].rail
    return -1 if rail is None else rail


def _unit(topology: Topology, index: int) -> tuple[object, ...]:
    """What the gaps of a tier separate: subplane, pod and scalable unit."""
    switch = topology.switches[index]
    return switch.subplane, topology.pods[index], switch.su


def short_name(topology: Topology, index: int, width: float, unit: int | None = None) -> str:
    """The longest name of a switch that fits into a box: its name, its role and number, its rail, its number. Of the
    only switch of a scalable `unit` the number is that of the unit."""
    switch = topology.switches[index]
    number = switch.name[len(switch.name.rstrip("0123456789")) :].lstrip("0") or "0"
    number = number if switch.name[-1:].isdigit() else ""
    number = number if unit is None else f"{unit}"
    rail = "" if switch.rail is None else f"r{switch.rail}"
    names = (switch.name, f"{switch.role} {number}" if number and not rail else "", f"{rail} {number}".strip(), rail)
    fitting = (name for name in (*names, number) if name and _LETTER * len(name) + 6 <= width)
    return next(fitting, "")


def _host_boxes(topology: Topology, leaves: Sequence[Box], y: float) -> Iterator[Box]:
    """A box for the hosts of each scalable unit, or of each pod, or of each copy of the plane: as few as fit."""
    groups: dict[tuple[object, ...], list[Box]] = {}
    for depth in (3, 2, 1):
        groups.clear()
        for box in leaves:
            if topology.index[box.name] in topology.hosts:
                groups.setdefault(_unit(topology, topology.index[box.name])[:depth], []).append(box)
        if len(groups) <= _MOST_HOST_BOXES:
            break
    for group, members in groups.items():
        start, end = min(box.x for box in members), max(box.x + box.width for box in members)
        hosts, links = topology.hosts_of(tuple(topology.index[box.name] for box in members))
        names = [f"{word} {at}: " for word, at in zip(("copy", "pod", "SU"), group, strict=False) if at is not None]
        text = f"{''.join(names[-1:])}{counted(hosts, 'host')}"
        if _LETTER * len(text) + 8 > end - start:
            text = counted(hosts, "host")
        yield Box(text, BoxKind.HOST, start, y, end - start, 34, text, counted(links, "link"))


def _host_lines(topology: Topology, boxes: Sequence[Box], place: dict[int, int]) -> Iterator[Line]:
    below = [(number, box) for number, box in enumerate(boxes) if box.kind is BoxKind.HOST]
    for index, number in place.items():
        links, box = topology.hosts.get(index), boxes[number]
        x = box.middle[0]
        under = next((one for one in below if one[1].x <= x <= one[1].x + one[1].width), None)
        if links and under:
            yield Line(number, under[0], len(links), x, box.y + box.height, x, under[1].y)


def _lines(topology: Topology, boxes: Sequence[Box], place: dict[int, int]) -> Iterator[Line]:
    """A line for each pair. It leaves a box at the rank of its peer among all peers on that side."""
    drawn = [(a, b) for a, b in topology.pairs if a in place and b in place]
    sides: dict[tuple[int, bool], list[int]] = {}
    for a, b in drawn:
        for one, other in ((a, b), (b, a)):
            here, there = boxes[place[one]], boxes[place[other]]
            if abs(here.y - there.y) > here.height:
                sides.setdefault((one, there.y > here.y), []).append(other)
    rank: dict[tuple[int, int], tuple[int, int, bool]] = {}
    for (one, below), others in sides.items():
        others.sort(key=lambda other: (boxes[place[other]].x, boxes[place[other]].y))
        rank |= {(one, other): (number, len(others), below) for number, other in enumerate(others)}
    for a, b in drawn:
        ends = [_end(boxes[place[one]], rank.get((one, other))) for one, other in ((a, b), (b, a))]
        bow = 0.0 if (a, b) in rank else _bow(boxes[place[a]], boxes[place[b]])
        yield Line(place[a], place[b], len(topology.pairs[a, b]), *ends[0], *ends[1], bow)


def _straight(topology: Topology, boxes: Sequence[Box], place: dict[int, int]) -> Iterator[Line]:
    """A line for each pair of a grid, from centre to centre; those to a box farther away pass beside the boxes."""
    for (a, b), links in topology.pairs.items():
        if a in place and b in place:
            (x1, y1), (x2, y2) = boxes[place[a]].middle, boxes[place[b]].middle
            apart = hypot(x2 - x1, y2 - y1)
            bow = (
                0.0 if apart < 1.3 * max(_ROW, boxes[place[a]].width / _FILLED) else round(min(40, 8 + 0.06 * apart), 1)
            )
            yield Line(place[a], place[b], len(links), round(x1, 1), y1, round(x2, 1), y2, bow)


def _end(box: Box, rank: tuple[int, int, bool] | None) -> tuple[float, float]:
    if rank is None:
        return box.middle
    number, count, below = rank
    share = 0.5 if count < 2 else (1 - _FAN) / 2 + _FAN * number / (count - 1)
    return round(box.x + box.width * share, 1), box.y + box.height if below else box.y


def _bow(a: Box, b: Box) -> float:
    """Sideways for a line between boxes of one row that are not next to each other."""
    apart = abs(a.middle[0] - b.middle[0])
    return 0.0 if apart < 1.6 * a.width else round(min(60.0, 10 + apart * 0.12), 1)


def _flat(topology: Topology, members: Sequence[int]) -> tuple[list[Box], list[Label], float]:
    """One tier: a grid by strides, else a card for each scalable unit, else a square."""
    steps = strides(topology, tuple(members))
    units = [list(each) for _, each in groupby(members, key=lambda index: _unit(topology, index))]
    if len(steps) > 1:
        size = steps[2] if len(steps) > 2 else len(members)
        cards = [list(members[start : start + size]) for start in range(0, len(members), size)]
        columns = steps[1]
    else:
        cards = units if len(units) > 1 else [list(members)]
        columns = ceil(sqrt(max(map(len, cards))))
    across = len(cards) if len(cards) * columns <= _MOST_COLUMNS else ceil(sqrt(len(cards) * 1.5))
    wide = (WIDTH - 40) / across
    boxes, labels, y = [], [], float(TOP)
    for start in range(0, len(cards), across):
        row = cards[start : start + across]
        for number, card in enumerate(row):
            boxes += list(_card(topology, card, columns, 20 + number * wide, y, wide - 18))
            if len(units) > 1 and len(steps) < 2:
                labels.append(Label(20 + number * wide, y - 8, f"group {start + number}"))
        y = max(box.y + box.height for box in boxes) + 46
    return boxes, labels, y - 16


def _card(topology: Topology, card: Sequence[int], columns: int, x: float, y: float, wide: float) -> Iterator[Box]:
    step = wide / columns
    width = min(92.0, step * _FILLED)
    for number, index in enumerate(card):
        left, top = x + (number % columns) * step, y + (number // columns) * _ROW
        shift = 12 * (number // columns % 2) if columns > 2 else 0  # neighbours of other rows stay apart
        text = short_name(topology, index, width)
        yield Box(topology.switches[index].name, BoxKind.SWITCH, left + shift, top, width, 26, text)
