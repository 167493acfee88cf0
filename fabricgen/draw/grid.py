"""The layout of a plane of one tier: a grid by the strides of its links, or groups, in a ring if they fit."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil, cos, hypot, pi, sin, sqrt

from fabricgen.draw.names import short_name, unit_of
from fabricgen.draw.scene import LEVEL, WIDTH, Box, BoxKind, Label, Line
from fabricgen.draw.topology import Topology, strides

_ROW = 58.0  # px from row to row of a grid
_FILLED = 0.62  # of the width of a column of a grid
_MOST_COLUMNS = 16
_RING = 4  # groups, from which they are in a ring
_RING_STEP, _RING_ROW = 40.0, 40.0  # px from column to column, and row to row, of a group there
_RING_RADIUS = 290.0  # px: of a larger ring, fewer links run close to a group between their own
_TOP = 34.0


def flat_boxes(topology: Topology, members: Sequence[int]) -> tuple[list[Box], list[Label], float, bool]:
    """A grid by strides, else a card for each scalable unit, else a square; its height, and whether the cards are a
    ring."""
    steps = strides(topology, tuple(members))
    units = [list(each) for _, each in groupby(members, key=lambda index: unit_of(topology, index))]
    if len(steps) > 1:
        size = steps[2] if len(steps) > 2 else len(members)
        cards = [list(members[start : start + size]) for start in range(0, len(members), size)]
        columns = steps[1]
    else:
        cards = units if len(units) > 1 else [list(members)]
        columns = ceil(sqrt(max(map(len, cards))))
        if len(cards) >= _RING and (found := _ring(topology, cards, columns)):
            return *found, True
    across = len(cards) if len(cards) * columns <= _MOST_COLUMNS else ceil(sqrt(len(cards) * 1.5))
    wide = (WIDTH - 40) / across
    boxes: list[Box] = []
    labels: list[Label] = []
    y = _TOP
    for start in range(0, len(cards), across):
        row = cards[start : start + across]
        for number, card in enumerate(row):
            boxes += _card(topology, card, columns, 20 + number * wide, y, wide - 18, _ROW)
            if len(cards) > 1 and len(steps) < 2:
                labels.append(Label(20 + number * wide, y - 8, f"group {start + number}"))
        y = max(box.y + box.height for box in boxes) + 46
    return boxes, labels, y - 16, False


def _ring(
    topology: Topology, cards: Sequence[Sequence[int]], columns: int
) -> tuple[list[Box], list[Label], float] | None:
    """Groups in a ring, so that no link passes through a third group; None if they do not fit."""
    rows = ceil(max(map(len, cards)) / columns)
    wide, high = columns * _RING_STEP, (rows - 1) * _RING_ROW + 26
    apart = hypot(wide, high + 16) / (2 * sin(pi / len(cards)))
    radius = max(apart, min(_RING_RADIUS, hypot(wide, high) / (1 - cos(2 * pi / len(cards)))))
    if 2 * radius + wide > WIDTH - 40:
        return None
    boxes: list[Box] = []
    labels: list[Label] = []
    for number, card in enumerate(cards):
        angle = 2 * pi * number / len(cards)
        x, y = WIDTH / 2 + radius * sin(angle) - wide / 2, _TOP + radius * (1 - cos(angle))
        boxes += _card(topology, card, columns, round(x, 1), round(y, 1), wide, _RING_ROW)
        labels.append(Label(round(x, 1), round(y - 8, 1), f"group {number}"))
    return boxes, labels, _TOP + 2 * radius + high + 16


def _card(
    topology: Topology, card: Sequence[int], columns: int, x: float, y: float, wide: float, row: float
) -> Iterator[Box]:
    step = wide / columns
    width = min(92.0, step * _FILLED)
    for number, index in enumerate(card):
        left, top = x + (number % columns) * step, y + (number // columns) * row
        shift = 12 * (number // columns % 2) if columns > 2 else 0  # neighbours of other rows stay apart
        text = short_name(topology, index, width)
        yield Box(topology.switches[index].name, BoxKind.SWITCH, left + shift, top, width, 26, text)


def grid_lines(topology: Topology, boxes: Sequence[Box], place: dict[int, int], *, ring: bool) -> Iterator[Line]:
    """A line for each pair of a grid, from centre to centre; those to a box farther away pass beside the boxes, except
    between groups of a ring, where no box is in between."""
    for (a, b), links in topology.pairs.items():
        if a in place and b in place:
            (x1, y1), (x2, y2) = boxes[place[a]].middle, boxes[place[b]].middle
            apart = hypot(x2 - x1, y2 - y1)
            if apart < 1.3 * max(_ROW, boxes[place[a]].width / _FILLED):
                bow = 0.0
            elif ring and unit_of(topology, a) != unit_of(topology, b):
                bow = LEVEL
            else:
                bow = round(min(40, 8 + 0.06 * apart), 1)
            yield Line(place[a], place[b], len(links), round(x1, 1), y1, round(x2, 1), y2, bow)
