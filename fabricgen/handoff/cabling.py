"""Cabling sheets: printable lists for each rack, labels for both ends of each cable, and an order list."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING

from fabricgen.errors import UsageError
from fabricgen.handoff import Handoff, Option
from fabricgen.handoff.chosen import fits
from fabricgen.handoff.headroom import HEADROOM_COLUMNS, headroom_rows
from fabricgen.handoff.templates import filled
from fabricgen.sonic.canonical import natural_key
from fabricgen.units import format_length
from fabricgen.visible import cell
from fabricgen.vocabulary import LinkState

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import Endpoint
    from fabricgen.handoff.cable_ends import CableEnd, CableRun, Plant

NO_RACK = "no rack"


def cabling_files(bundle: "Bundle", only: str | None = None) -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes): cables.csv, labels.csv, order.csv, headroom.csv, and racks/<rack>.html with an index.

    `only` are shell patterns for devices at either end, separated by commas. Raises UsageError if the bundle has no
    cables, no cable matches, or two racks have the same page.
    """
    if bundle.wiring is None:
        raise UsageError("fabric.json is missing, which lists the cables: render the bundle with fabricgen")
    from fabricgen.handoff.cable_ends import Plant  # it imports the catalog

    plant = Plant(bundle, bundle.wiring)
    runs = [run for run in plant.runs() if fits(run.a.device, only) or fits(run.b.device, only)]
    if not runs:
        raise UsageError(
            "the bundle has no cables" if only is None else f"--only {only}: no device at the end of a cable matches"
        )
    fabric = bundle.wiring.fabric
    if any(run.state is LinkState.CORDONED for run in runs):
        rows = ([*_cable_row(run), str(run.state)] for run in runs)
        yield "cables.csv", _table((*_CABLE_COLUMNS, "state"), rows)
    else:
        yield "cables.csv", _table(_CABLE_COLUMNS, map(_cable_row, runs))
    yield "labels.csv", _table(("cable", "end", "here", "there", "cable_text"), _labels(runs))
    yield "order.csv", _table(("item", "medium", "length", "speed", "count"), _order(plant, runs))
    yield "headroom.csv", _table(HEADROOM_COLUMNS, headroom_rows(bundle, runs))
    racks: dict[str, list[tuple[CableRun, CableEnd, CableEnd]]] = {}
    for run in runs:
        for here, there in ((run.a, run.b), (run.b, run.a)):
            racks.setdefault(here.rack or NO_RACK, []).append((run, here, there))
    pages: dict[str, str] = {}
    for rack in sorted(racks, key=natural_key):
        page = f"racks/{re.sub(r'[^A-Za-z0-9._-]', '_', rack).lstrip('.') or '_'}.html"
        if other := next((name for name, path in pages.items() if path.lower() == page.lower()), None):
            raise UsageError(f"racks {other!r} and {rack!r} have the same page {page}: rename one of them")
        pages[rack] = page
        plugs = sorted(racks[rack], key=lambda plug: [natural_key(text) for text in (plug[1].device, plug[1].ports[0])])
        yield page, filled("cabling", "rack.html", fabric=fabric, rack=rack, plugs=plugs, length=format_length)
    counts = [(rack, page, len(racks[rack])) for rack, page in pages.items()]
    yield "index.html", filled("cabling", "index.html", fabric=fabric, racks=counts, cables=len(runs))


_CABLE_COLUMNS = (
    "cable", "plane", "kind",
    *(f"{end}_{column}" for end in "ab" for column in ("rack", "unit", "device", "ports", "labels")),
    "length", "medium", "speed",
)  # fmt: skip


def _cable_row(run: "CableRun") -> list[str]:
    ends = [text for end in (run.a, run.b) for text in (end.rack, end.unit, end.device, *_ports(end))]
    return [run.id, run.plane, run.kind, *ends, format_length(run.length_m), run.medium, run.speed]


def _ports(end: "CableEnd") -> tuple[str, str]:
    return " ".join(end.ports), " ".join(end.labels)


def _labels(runs: Iterable["CableRun"]) -> Iterator[list[str]]:
    """Two labels for each cable: the port at this end, the far end, and the kind of cable."""
    for run in runs:
        text = f"{run.speed} {run.medium} {format_length(run.length_m)}"
        for name, here, there in (("a", run.a, run.b), ("b", run.b, run.a)):
            yield [run.id, name, _place(here), _place(there), text]


def _place(end: "CableEnd") -> str:
    """'R12 U40 leaf1 etp3a'."""
    unit = f"U{end.unit}" if end.unit.isdecimal() else end.unit
    return " ".join(filter(None, (end.rack, unit, end.device, " ".join(end.labels))))


def _order(plant: "Plant", runs: list["CableRun"]) -> Iterator[list[object]]:
    """Cables by kind, and transceivers: one for each cage of fibre, for any number of cables."""
    from fabricgen.handoff.cable_ends import PLUGGED, lanes

    wanted = {run.id for run in runs}
    cables: Counter[tuple[str, float, str]] = Counter()
    plugged: dict[Endpoint, list[tuple[str, float, int]]] = {}
    for cable in plant.cables:
        if cable.id not in wanted:
            continue
        links = plant.links_of(cable)
        cables[cable.medium, cable.length_m, lanes(len(links), links[0].speed_mbps)] += 1
        for link in links if cable.medium in PLUGGED else ():
            for end in {plant.cage(link.a), plant.cage(link.b)}:
                plugged.setdefault(end, []).append((cable.medium, cable.length_m, link.speed_mbps))
    transceivers: Counter[tuple[str, float, str]] = Counter()
    for served in plugged.values():
        medium, _, speed_mbps = served[0]
        transceivers[medium, max(length for _, length, _ in served), lanes(len(served), speed_mbps)] += 1
    for item, counts in (("cable", cables), ("transceiver", transceivers)):
        for (medium, length_m, speed), count in sorted(counts.items()):
            yield [item, medium, format_length(length_m), speed, count]


def _table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> bytes:
    content = BytesIO()  # a StringIO has four bytes for each character
    text = TextIOWrapper(content, encoding="utf-8", newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    table.writerows(map(cell, row) for row in rows)
    text.flush()
    return content.getvalue()


HANDOFF = Handoff(
    "cabling",
    "Write cabling sheets: a page for each rack, labels for both ends of each cable, an order list, and the headroom.",
    cabling_files,
    (Option("only", "Only cables of devices whose names match; separate several patterns by commas.", metavar="GLOB"),),
    "open {output}/index.html; after plugging the cables, fabricgen diff {bundle} LLDP",
    examples=("", "--only '*-spine-*'"),
)
