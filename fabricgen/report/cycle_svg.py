"""A cyclic buffer dependency as a picture: tiers as rows, the cycle as arrows, failures dashed and crossed."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fabricgen.bundle.read import Bundle
from fabricgen.report import house_style
from fabricgen.resources import resource
from fabricgen.results import Cycle, DeadlockResult
from fabricgen.simulate.deadlock.analysis import PlaneDeadlock
from fabricgen.simulate.deadlock.core.tiers import tiers
from fabricgen.simulate.deadlock.failures.named_links import Wire, failed_links

_ROW_PX, _TOP_PX, _GAP_PX, _MARGIN_PX, _LEGEND_PX = 150, 90, 60, 40, 19
_LETTER_PX = 8
_LABEL_PX = 130  # left of the tiers
_APART_PX = 9  # between the two directions of one cable


@dataclass(frozen=True)
class Row:
    """A tier."""

    y: int
    label: str


@dataclass(frozen=True)
class CycleBox:
    """A switch of the cycle, or at the end of a failed link."""

    name: str
    x: int
    y: int
    width: int
    is_waiting: bool
    has_failed: bool


@dataclass(frozen=True)
class CycleLine:
    """A line from one switch to another; x and y are the position of its number or cross."""

    x1: int
    y1: int
    x2: int
    y2: int
    x: int
    y: int


@dataclass(frozen=True)
class Note:
    """A line of the legend."""

    text: str
    is_failure: bool = False


@dataclass(frozen=True)
class Picture:
    """The contents of the picture, in pixels."""

    title: str
    width: int
    height: int
    legend_y: int
    rows: tuple[Row, ...]
    switches: tuple[CycleBox, ...]
    hops: tuple[CycleLine, ...]
    failed: tuple[CycleLine, ...]
    legend: tuple[Note, ...]


def cycle_pictures(bundle: Bundle, results: Sequence[DeadlockResult]) -> dict[str, str]:
    """File name -> SVG of each cycle; priorities with the same cycle share a picture."""
    templates = resource("templates", "report")
    environment = Environment(
        loader=FileSystemLoader(templates), undefined=StrictUndefined, autoescape=True, trim_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    template = environment.get_template("cycle.svg.j2")
    found = {}
    for result in results:
        priorities: dict[tuple[object, ...], list[Cycle]] = {}
        for cycle in result.cycles:
            priorities.setdefault((cycle.hops, cycle.failed_links), []).append(cycle)
        for number, cycles in enumerate(priorities.values(), 1):
            picture = draw(bundle, result, cycles)
            found[f"{result.name.replace('/', '-') or 'fabric'}-cycle-{number}.svg"] = template.render(
                picture=picture, style=house_style
            )
    return found


def draw(bundle: Bundle, result: DeadlockResult, cycles: Sequence[Cycle]) -> Picture:
    """The picture of one cycle of one or more priorities."""
    cycle = cycles[0]
    waiting = list(dict.fromkeys(switch for switch, _ in cycle.hops))
    wires = [wire for name in cycle.failed_links for wire in failed_links(bundle, name)]
    failed = {name.removeprefix("switch ") for name in cycle.failed_links if name.startswith("switch ")}
    others = sorted((failed | {switch for wire in wires for switch, _ in wire}) - set(waiting))
    level = _levels(result, [*waiting, *others])
    width_of = {name: max(90, _LETTER_PX * len(name) + 24) for name in level}
    place, size = _ring(waiting, width_of) if _is_flat(level) else _tiers(level, width_of)
    boxes = tuple(
        CycleBox(name, *place[name], width_of[name], name in waiting, name in failed) for name in [*waiting, *others]
    )
    pairs = [(a[0], b[0]) for a, b in pairwise((*cycle.hops, cycle.hops[0]))]
    heights = sorted({place[name][1] for name in place}, reverse=True)
    rows = () if _is_flat(level) else tuple(
        Row(y, "switches with hosts" if number == 0 else f"tier {number + 1}") for number, y in enumerate(heights)
    )  # fmt: skip
    legend = _legend(bundle, cycle, wires)
    word = "lane" if result.model in ("opensm", "lfts") else "priority" if len(cycles) == 1 else "priorities"
    numbers = ", ".join(str(one.priority) for one in cycles)
    plane = f"plane {result.name}: " if result.name else ""
    title = f"{plane}cyclic buffer dependency on {word} {numbers}"
    widest = max([len(title) * 9, *(len(note.text) * 7 for note in legend)])
    return Picture(
        title=title,
        width=max(size[0], widest + 40),
        height=size[1] + _LEGEND_PX * len(legend) + 20,
        legend_y=size[1],
        rows=rows,
        switches=boxes,
        hops=tuple(_line(place[a], place[b], _APART_PX if (b, a) in pairs else 0) for a, b in pairs),
        failed=tuple(_line(place[a[0]], place[b[0]], -_APART_PX) for a, b in wires),
        legend=legend,
    )


def _levels(result: DeadlockResult, names: Sequence[str]) -> dict[str, int]:
    """The number of links to the nearest switch with hosts; 0 for all switches without routes."""
    if not isinstance(result, PlaneDeadlock):
        return dict.fromkeys(names, 0)
    evidence = result.evidence
    level = dict(
        zip(evidence.fabric.names, tiers(evidence.fabric.network, evidence.traffic.sources).tolist(), strict=True)
    )
    return {name: level[name] for name in names}


def _is_flat(level: Mapping[str, int]) -> bool:
    return len(set(level.values())) == 1


def _tiers(level: Mapping[str, int], width_of: Mapping[str, int]) -> tuple[dict[str, tuple[int, int]], tuple[int, int]]:
    """The position of each switch, and the size of the drawing. A tier has the order of the cycle, others last."""
    floors = sorted(set(level.values()), reverse=True)
    row_of = {floor: [name for name in level if level[name] == floor] for floor in floors}
    wide = max(sum(width_of[name] + _GAP_PX for name in row) for row in row_of.values()) + _MARGIN_PX
    place = {}
    for number, floor in enumerate(floors):
        row = row_of[floor]
        left = _LABEL_PX + (wide - sum(width_of[name] + _GAP_PX for name in row) + _GAP_PX) // 2
        for name in row:
            place[name] = (left + width_of[name] // 2, _TOP_PX + number * _ROW_PX)
            left += width_of[name] + _GAP_PX
    return place, (_LABEL_PX + wide, _TOP_PX + (len(floors) - 1) * _ROW_PX + 60)


def _ring(waiting: Sequence[str], width_of: Mapping[str, int]) -> tuple[dict[str, tuple[int, int]], tuple[int, int]]:
    """The same for switches of one tier: the cycle as a ring, the others inside."""
    others = [name for name in width_of if name not in waiting]
    radius = max(110, (max(width_of.values()) + _GAP_PX) * len(waiting) // 6)
    middle = radius + max(width_of.values()) // 2 + _MARGIN_PX
    top = _TOP_PX + radius
    place = {}
    for number, name in enumerate(waiting):
        angle = 2 * math.pi * number / len(waiting) - math.pi / 2
        place[name] = (round(middle + radius * math.cos(angle)), round(top + radius * math.sin(angle)))
    for number, name in enumerate(others):
        place[name] = (middle, top + 50 * number - 25 * (len(others) - 1))
    return place, (2 * middle, top + radius + 60)


def _line(start: tuple[int, int], end: tuple[int, int], aside: int) -> CycleLine:
    """A line from box to box, moved to its right by `aside`, with the number at about a third of its length."""
    length = math.hypot(end[0] - start[0], end[1] - start[1]) or 1.0
    x, y = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    cut = min(length / 3, 20 / max(abs(y), 0.25))
    x1, y1 = start[0] + x * cut - y * aside, start[1] + y * cut + x * aside
    x2, y2 = end[0] - x * cut - y * aside, end[1] - y * cut + x * aside
    part = 0.36 if aside >= 0 else 0.5
    at = x1 + (x2 - x1) * part, y1 + (y2 - y1) * part
    return CycleLine(round(x1), round(y1), round(x2), round(y2), round(at[0]), round(at[1]))


def _legend(bundle: Bundle, cycle: Cycle, wires: Sequence[Wire]) -> tuple[Note, ...]:
    notes = []
    for number, (here, there) in enumerate(pairwise((*cycle.hops, cycle.hops[0]))):
        link = bundle.link_at.get(here)
        far = link and (link.b if link.a == here else link.a)
        port = f" {far[1]}" if far and far[0] == there[0] else ""
        witness = f", with packets to {cycle.witnesses[number]}" if number < len(cycle.witnesses) else ""
        notes.append(Note(f"{number + 1}  {here[0]} {here[1]} -> {there[0]}{port}{witness}"))
    notes += [Note(f"failed: {' '.join(a)} to {' '.join(b)}", is_failure=True) for a, b in wires]
    notes += [Note(f"failed: {name}", True) for name in cycle.failed_links if name.startswith("switch ")]
    return tuple(notes)
