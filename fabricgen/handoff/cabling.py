"""Cabling sheets: printable lists for each rack, labels for both ends of each cable, and an order list."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING

from fabricgen.errors import UsageError
from fabricgen.handoff import Handoff, Option
from fabricgen.handoff.bill import ITEMS, needed
from fabricgen.handoff.cabling_pages import Plugs, rack_pages
from fabricgen.handoff.chosen import fits
from fabricgen.handoff.headroom import HEADROOM_COLUMNS, headroom_rows
from fabricgen.units import format_length
from fabricgen.visible import cell, may_have_formulas
from fabricgen.vocabulary import FIBRES, LinkState

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle
    from fabricgen.handoff import Content
    from fabricgen.handoff.cable_ends import CableEnd, CableRun, Plant

_ROWS = 2048  # of a piece of a CSV file


def cabling_files(bundle: "Bundle", only: str | None = None) -> Iterator[tuple[str, "Content"]]:
    """(relative path, content): cables.csv, labels.csv, order.csv, headroom.csv, and racks/<rack>.html with an index.

    `only` are shell patterns for devices at either end, separated by commas. Raises UsageError if the bundle has no
    cables, no cable matches, or two racks have the same page.
    """
    if bundle.wiring is None:
        raise UsageError("fabric.json is missing, which lists the cables: render the bundle with fabricgen")
    from fabricgen.handoff.cable_ends import Plant  # it imports the catalog

    plant = Plant(bundle, bundle.wiring)
    runs = [run for run in plant.runs() if only is None or fits(run.a.device, only) or fits(run.b.device, only)]
    if not runs:
        raise UsageError(
            "the bundle has no cables" if only is None else f"--only {only}: no device at the end of a cable matches"
        )
    plugs = Plugs(runs)
    yield "headroom.csv", _table(HEADROOM_COLUMNS, _headroom(bundle, plant, plugs))
    if any(run.state is LinkState.CORDONED for run in runs):
        rows = ([*_cable_row(plant, run), str(run.state)] for run in runs)
        yield "cables.csv", _table((*_CABLE_COLUMNS, "state"), rows)
    else:
        yield "cables.csv", _table(_CABLE_COLUMNS, map(partial(_cable_row, plant), runs))
    yield "labels.csv", _table(("cable", "end", "here", "there", "cable_text"), _labels(plant, runs))
    yield "order.csv", _table(("item", "medium", "length", "speed", "count"), _order(plant, runs))
    yield from rack_pages(bundle.wiring.fabric, plant, plugs, len(runs))


def _headroom(bundle: "Bundle", plant: "Plant", plugs: Plugs) -> Iterator[list[object]]:
    """The rows of all switches. The labels of their ports are noted by the same read of their files."""
    for name in plugs:
        if device := bundle.devices.get(name):
            plant.aliases.read(name)
            yield from headroom_rows(device, {port: run for run, here, _ in plugs.of(name) for port in here.ports})


_CABLE_COLUMNS = (
    "cable", "plane", "kind",
    *(f"{end}_{column}" for end in "ab" for column in ("rack", "unit", "device", "ports", "labels")),
    "length", "medium", "speed",
)  # fmt: skip


def _cable_row(plant: "Plant", run: "CableRun") -> list[str]:
    ends = []
    for end in (run.a, run.b):
        ends += [end.rack, end.unit, end.device, " ".join(end.ports), " ".join(plant.labels(end))]
    return [run.id, run.plane, run.kind, *ends, format_length(run.length_m), run.medium, run.speed]


def _labels(plant: "Plant", runs: Iterable["CableRun"]) -> Iterator[list[str]]:
    """A label for each plug: its ports, the far end, and the kind of cable. The trunk of a breakout cable has one label
    with all legs, unless each leg is a separate fibre."""
    from fabricgen.handoff.cable_ends import CableEnd  # it imports the catalog

    trunks: dict[tuple[str, str], list[CableRun]] = {}
    for run in runs:
        if run.trunk and run.medium not in FIBRES:
            trunks.setdefault((run.id, run.trunk), []).append(run)
    for run in runs:
        text = f"{run.speed} {run.medium} {format_length(run.length_m)}"
        for name, here, there in (("a", run.a, run.b), ("b", run.b, run.a)):
            legs = trunks.get((run.id, name), [run])
            if run is legs[0]:
                ends = [(one.a, one.b) if name == "a" else (one.b, one.a) for one in legs]
                ports = tuple([port for end, _ in ends for port in end.ports])
                near = CableEnd(here.device, ports, here.rack, here.unit)
                far = "; ".join(_place(plant, end) for _, end in ends)
                yield [run.id, name, _place(plant, near), far, text]
            elif run not in legs:
                yield [run.id, name, _place(plant, here), _place(plant, there), text]


def _place(plant: "Plant", end: "CableEnd") -> str:
    """'R12 U40 leaf1 etp3a'."""
    unit = f"U{end.unit}" if end.unit.isdecimal() else end.unit
    return " ".join(filter(None, (end.rack, unit, end.device, " ".join(plant.labels(end)))))


def _order(plant: "Plant", runs: list["CableRun"]) -> Iterator[list[object]]:
    """Cables by kind, fibre splitters, and transceivers: one for each cage of fibre, for any number of cables."""
    counts: Counter[tuple[str, str, float, str]] = Counter()
    for line, count in needed(plant, {run.id for run in runs}).items():
        counts[line.item, line.medium, line.length_m, line.speed] += count
    for item, medium, length_m, speed in sorted(counts, key=lambda line: (ITEMS.index(line[0]), line)):
        length = format_length(length_m) if length_m else ""
        yield [item, medium, length, speed, counts[item, medium, length_m, speed]]


def _table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[bytes]:
    """The pieces of a CSV file."""
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    pending = iter(rows)
    while text.tell():
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
        block = list(islice(pending, _ROWS))
        table.writerows(block)
        if may_have_formulas(text.getvalue()):  # faster than a test of each cell
            text.seek(0)
            text.truncate()
            table.writerows(map(cell, row) for row in block)


HANDOFF = Handoff(
    "cabling",
    "Write cabling sheets: a page for each rack, labels for both ends of each cable, an order list, and the headroom.",
    cabling_files,
    (Option("only", "Only cables of devices whose names match; separate several patterns by commas.", metavar="GLOB"),),
    "open {output}/index.html; after plugging the cables, fabricgen diff {bundle} LLDP",
    examples=("", "--only '*-spine-*'"),
)
