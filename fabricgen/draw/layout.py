"""The layout of a plane by arithmetic: a tier is a row, the order is subplane, pod, scalable unit, rail.

`grid` has the layout of planes of one tier.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from math import ceil

from fabricgen.draw.grid import flat_boxes, grid_lines
from fabricgen.draw.names import short_name, unit_of
from fabricgen.draw.scene import LETTER, WIDTH, Box, BoxKind, Label, Line, Scene
from fabricgen.draw.topology import RANK, Topology
from fabricgen.units import counted

LEFT, RIGHT, TOP = 96, 24, 34
_SPACE = WIDTH - LEFT - RIGHT
_MOST_HOST_BOXES = 12
_FAN = 0.86  # of a box's width, from which its lines leave: in one point they would look like one
_TIER_GAP = 170
_OUTSIDE_GAP = 96  # from the row of devices outside the fabric to the first tier
_WIDEST_OUTSIDE = 120.0
_NAMED = 30  # px of a box with a number, and its gap
_MOST_BOW = 60.0  # px
_MANY = 600  # switches of a tier, above which boxes are as small as they can be selected


def plane_scene(topology: Topology, plane: str) -> Scene:
    """A plane with every switch, and a line for each two switches with links."""
    members = topology.planes[plane]
    roles = {topology.switches[index].role for index in members}
    tiers = sorted(roles, key=lambda role: -RANK.get(role, 0))
    if len(tiers) > 1:
        boxes, labels, height = _tiers(topology, members, tiers)
        place = _places(topology, boxes)
        lines = [
            *_outside_lines(topology, boxes, place),
            *_lines(topology, boxes, place),
            *_host_lines(topology, boxes, place),
        ]
    else:
        boxes, labels, height, ring = flat_boxes(topology, members)
        lines = list(grid_lines(topology, boxes, _places(topology, boxes), ring=ring))
    return Scene(plane, topology.caption(members), height, tuple(boxes), tuple(lines), tuple(labels))


def _places(topology: Topology, boxes: Sequence[Box]) -> dict[int, int]:
    """Switch -> its box."""
    return {topology.index[box.name]: number for number, box in enumerate(boxes) if box.kind is BoxKind.SWITCH}


def _tiers(topology: Topology, members: Sequence[int], tiers: Sequence[str]) -> tuple[list[Box], list[Label], float]:
    boxes: list[Box] = []
    labels: list[Label] = []
    first = {index for index in members if topology.switches[index].role == tiers[0]}
    outside = topology.outside_of(members)
    has_bows = any(a in first and b in first for a, b in topology.pairs)
    y = TOP + (_OUTSIDE_GAP if outside else 0.0) + (_MOST_BOW if has_bows else 0.0)
    for role in tiers:
        row = [index for index in members if topology.switches[index].role == role]
        placed = list(place_tier(topology, row, y))
        labels += [Label(16, y + 12, role or "switch"), Label(16, y + 26, f"{len(row):,}")]
        boxes += placed
        y = max(box.y + box.height for box in placed) + (_TIER_GAP if role != tiers[-1] else 44)
    if outside:
        labels.append(Label(16, TOP + 18, "outside"))
        boxes += _outside_boxes(outside, {topology.index[box.name]: box for box in boxes})
    found = list(
        _host_boxes(
            topology, [box for box in placed if topology.switches[topology.index[box.name]].role == tiers[-1]], y
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
    units = [unit_of(topology, index) for index in line]
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


def _host_boxes(topology: Topology, leaves: Sequence[Box], y: float) -> Iterator[Box]:
    """A box for the hosts of each scalable unit, or of each pod, or of each copy of the plane: as few as fit."""
    groups: dict[tuple[object, ...], list[Box]] = {}
    for depth in (3, 2, 1):
        groups.clear()
        for box in leaves:
            if topology.index[box.name] in topology.hosts:
                groups.setdefault(unit_of(topology, topology.index[box.name])[:depth], []).append(box)
        if len(groups) <= _MOST_HOST_BOXES:
            break
    for group, members in groups.items():
        start, end = min(box.x for box in members), max(box.x + box.width for box in members)
        hosts, links = topology.hosts_of(tuple(topology.index[box.name] for box in members))
        names = [f"{word} {at}" for word, at in zip(("subplane", "pod", "SU"), group, strict=False) if at is not None]
        of = ", ".join(names if group[0] is not None else names[-1:])  # the hosts of an SU are on all subplanes
        text = f"{of}: {counted(hosts, 'host')}" if of else counted(hosts, "host")
        if LETTER * len(text) + 8 > end - start:
            text = counted(hosts, "host")
        yield Box(text, BoxKind.HOST, start, y, end - start, 34, text, counted(links, "link"))


def _outside_boxes(outside: Mapping[str, Sequence[int]], switches: Mapping[int, Box]) -> Iterator[Box]:
    """A box for each device outside the fabric in a row above all tiers, as far as they fit above its switches."""
    middle = {name: sum(switches[one].middle[0] for one in ends) / len(ends) for name, ends in outside.items()}
    step = min(_WIDEST_OUTSIDE, _SPACE / len(outside))
    left = float(LEFT)
    for left_over, name in zip(range(len(outside), 0, -1), sorted(outside, key=lambda one: middle[one]), strict=True):
        left = min(max(left, middle[name] - step / 2), LEFT + _SPACE - left_over * step)
        yield Box(name, BoxKind.OUTSIDE, left + 3, TOP, step - 6, 27, name if LETTER * len(name) < step else "")
        left += step


def _outside_lines(topology: Topology, boxes: Sequence[Box], place: dict[int, int]) -> Iterator[Line]:
    above = {box.name: number for number, box in enumerate(boxes) if box.kind is BoxKind.OUTSIDE}
    for name, switches in topology.outside_of(place).items():
        number, box = above[name], boxes[above[name]]
        for index, links in Counter(switches).items():
            switch = boxes[place[index]]
            yield Line(number, place[index], links, box.middle[0], box.y + box.height, switch.middle[0], switch.y)


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
        bow = 0.0 if (a, b) in rank else _bow(boxes[place[a]], boxes[place[b]], boxes[min(place.values())].y)
        yield Line(place[a], place[b], len(topology.pairs[a, b]), *ends[0], *ends[1], bow)


def _end(box: Box, rank: tuple[int, int, bool] | None) -> tuple[float, float]:
    if rank is None:
        return box.middle
    number, count, below = rank
    share = 0.5 if count < 2 else (1 - _FAN) / 2 + _FAN * number / (count - 1)
    return round(box.x + box.width * share, 1), box.y + box.height if below else box.y


def _bow(a: Box, b: Box, top: float) -> float:
    """Sideways for a line of one row that passes other boxes: above the first row, below the others."""
    apart = abs(a.middle[0] - b.middle[0])
    if apart < 1.6 * a.width:
        return 0.0
    down = 1 if b.x > a.x else -1
    return round(min(_MOST_BOW, 10 + apart * 0.12), 1) * (-down if a.y == top else down)
