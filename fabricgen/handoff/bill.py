"""The bill: what to buy for a fabric, by supplier line and by rack, in lengths that are sold, with spares.

Fibre has a cable for each connector, a transceiver in each cage, and a splitter where several cables share a connector.
Copper and active cables have their plugs; one with several legs is a breakout cable.
"""

import csv
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import StringIO
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from fabricgen.errors import UsageError
from fabricgen.handoff import Handoff, Option
from fabricgen.handoff.chosen import fits
from fabricgen.units import format_length, format_speeds, parse_length_m, whole_number
from fabricgen.visible import cell
from fabricgen.vocabulary import FIBRES, Medium

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import WiredCable
    from fabricgen.handoff.cable_ends import Plant

CABLE, BREAKOUT, SPLITTER, TRANSCEIVER = "cable", "breakout cable", "fibre splitter", "transceiver"
ITEMS = (CABLE, BREAKOUT, SPLITTER, TRANSCEIVER)
_DR_M, _FR_M = 500, 2000  # reach of DR and FR modules
_SLOW_LANE_MBPS = 25_000  # up to it single-mode modules are PSM4 and LR, from 50 Gb/s on DR and FR
# Lengths in metres that several makers list: NVIDIA LinkX, Arista and FS product tables of 100G to 800G.
_COPPER_M = (0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 7)
_ACTIVE_M = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
_FIBRE_M = (1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200, 300, 500)
_SOLD_M: Mapping[str, Sequence[float]] = {
    Medium.DAC: _COPPER_M,
    Medium.AEC: _COPPER_M,
    Medium.AOC: _ACTIVE_M,
    Medium.UTP: _FIBRE_M,
    Medium.MMF: _FIBRE_M,
    Medium.SMF: _FIBRE_M,
}
# Of a cage: medium of the first cable, longest cable in metres, speed in Mb/s, links, optical lanes of a link.
_Served = tuple[str, float, int, int, int]


class BillLine(NamedTuple):
    """One kind of thing to buy in one rack."""

    rack: str
    item: str
    medium: str
    length_m: float  # of a transceiver, that of its longest cable
    speed: str
    optics: str = ""  # of a transceiver, as IEEE 802.3 names it without the speed: 2xDR4


def needed(plant: "Plant", wanted: Collection[str]) -> Counter[BillLine]:
    """What the cables with these ids need. A cable is in the rack of its upper end, other things in that of
    its cage."""
    found: Counter[BillLine] = Counter()
    fibres = []
    for cable in plant.cables:
        if cable.id not in wanted:
            continue
        links, is_fibre = plant.links_of(cable), cable.medium in FIBRES
        rack = plant.end(links[0].b[0], ()).rack
        item = BREAKOUT if cable.legs and not is_fibre else CABLE
        for arm in cable.arms if is_fibre else (cable.links,):
            found[BillLine(rack, item, cable.medium, cable.length_m, format_speeds(len(arm), links[0].speed_mbps))] += 1
        if is_fibre:
            fibres.append(cable)
    return found + _transceivers(plant, fibres) + _splitters(plant, fibres)


def _transceivers(plant: "Plant", fibres: Sequence["WiredCable"]) -> Counter[BillLine]:
    """One for each cage."""
    plugged: dict[str, dict[str, _Served]] = {}  # device -> cage
    one: dict[_Served, _Served] = {}  # few are different
    for cable in fibres:
        for link in plant.links_of(cable):
            optical = min(filter(None, map(plant.lane_count, (link.a, link.b))), default=0)
            new = (str(cable.medium), 0.0, link.speed_mbps, 0, optical)
            for device, cage in {plant.cage(link.a), plant.cage(link.b)}:
                cages = plugged.setdefault(device, {})
                medium, length_m, speed_mbps, count, number = cages.get(cage, new)
                served = (medium, max(length_m, cable.length_m), speed_mbps, count + 1, number)
                cages[cage] = one.setdefault(served, served)
    found: Counter[BillLine] = Counter()
    for device, cages in plugged.items():
        rack = plant.end(device, ()).rack
        for medium, length_m, speed_mbps, count, number in cages.values():
            kind = f"{count}x" * (count > 1) + optics(medium, length_m, speed_mbps, number)
            found[BillLine(rack, TRANSCEIVER, medium, length_m, format_speeds(count, speed_mbps), kind)] += 1
    return found


def _splitters(plant: "Plant", fibres: Sequence["WiredCable"]) -> Counter[BillLine]:
    """One for each connector with several cables: a cage that breaks out."""
    ends: dict[str, dict[str, tuple[int, str, int]]] = {}  # device -> connector: cables, medium, speed of one in Mb/s
    for cable in fibres:
        links = {link.id: link for link in plant.links_of(cable)}
        for arm in cable.arms:
            carried = [links[name] for name in arm]
            at = dict.fromkeys(plant.connector(end) for link in carried for end in (link.a, link.b))
            for device, connector in at:
                connectors = ends.setdefault(device, {})
                number, _, _ = connectors.get(connector, (0, "", 0))
                connectors[connector] = number + 1, str(cable.medium), carried[0].speed_mbps * len(carried)
    return Counter(
        BillLine(plant.end(device, ()).rack, SPLITTER, medium, 0.0, format_speeds(number, speed_mbps))
        for device, connectors in ends.items()
        for number, medium, speed_mbps in connectors.values()
        if number > 1
    )


def optics(medium: str, length_m: float, speed_mbps: int, lane_count: int) -> str:
    """The kind of a transceiver by medium, reach and lanes: SR4, DR4, FR4. Without a known number of lanes, SR or DR.

    Both ends of a link have the same number of optical lanes, the smaller one of its ports. Source: IEEE 802.3-2022
    clauses 52, 86, 95, 112, 114, 121, 124, 138 and 140, 802.3db and 802.3df; the MSA of 100G PSM4.
    """
    number = str(lane_count) if lane_count > 1 else ""
    if medium == Medium.MMF:
        return f"SR{number}"
    if lane_count and speed_mbps <= _SLOW_LANE_MBPS * lane_count:
        return "PSM4" if lane_count > 1 and length_m <= _DR_M else f"LR{number}"
    return f"{'DR' if length_m <= _DR_M else 'FR' if length_m <= _FR_M else 'LR'}{number}"


def bill_files(
    bundle: "Bundle", only: str | None = None, spares: str = "5", lengths: str | None = None
) -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes): bill.csv and bill.md by supplier line, racks.csv by rack.

    `spares` is a percentage, rounded up for each line. `lengths` replaces the lengths that are sold. Raises UsageError
    for other values, a bundle without cables, and a cable that is longer than all lengths.
    """
    percent = whole_number(spares)
    if percent is None:
        raise UsageError(f"--spares {spares}: not a whole number of percent")
    if bundle.wiring is None or not bundle.wiring.cables:
        raise UsageError("fabric.json is missing or has no cables: render the bundle with fabricgen")
    from fabricgen.handoff.cable_ends import Plant

    plant = Plant(bundle, bundle.wiring)
    wanted = {run.id for run in plant.runs() if only is None or fits(run.a.device, only) or fits(run.b.device, only)}
    sold = _sold(lengths)
    exact = needed(plant, wanted)
    in_steps: Counter[BillLine] = Counter()
    for line, count in exact.items():
        is_cable = line.item in (CABLE, BREAKOUT)
        in_steps[line._replace(length_m=_step(line, sold) if is_cable else 0.0)] += count
    switches = Counter(
        (device.rack, device.platform) for device in bundle.wiring.devices if only is None or fits(device.name, only)
    )
    totals: Counter[BillLine] = Counter()
    for line, count in in_steps.items():
        totals[line._replace(rack="")] += count
    models: Counter[str] = Counter()
    for (_, platform), count in switches.items():
        models[platform] += count
    rows = [["switch", platform, "", "", "", str(count), "0", str(count)] for platform, count in sorted(models.items())]
    rows += [_row(line, count, percent) for line, count in _ordered(totals)]
    head = ["item", "kind", "length", "speed", "optics", "needed", "spares", "to buy"]
    yield "bill.csv", _csv([head, *rows])
    yield "bill.md", _markdown(bundle.wiring.fabric, percent, head, rows).encode()
    by_rack = [
        [rack, "switch", platform, "", "", "", str(count)] for (rack, platform), count in sorted(switches.items())
    ]
    by_rack += [[line.rack, *_row(line, count, 0)[:6]] for line, count in _ordered(in_steps)]
    yield "racks.csv", _csv([["rack", *head[:6]], *sorted(by_rack, key=lambda row: row[0])])


def _sold(lengths: str | None) -> Mapping[str, Sequence[float]]:
    if lengths is None:
        return _SOLD_M
    try:
        steps = sorted(parse_length_m(text.strip()) for text in lengths.split(","))
    except ValueError as error:
        raise UsageError(f"--lengths {lengths}: write lengths with commas, for example 1m,3m,5m,10m") from error
    return dict.fromkeys(_SOLD_M, steps)


def _step(line: BillLine, sold: Mapping[str, Sequence[float]]) -> float:
    """The shortest length that is sold and long enough."""
    steps = sold.get(line.medium, _FIBRE_M)
    longer = [step for step in steps if step >= line.length_m]
    if not longer:
        most = format_length(steps[-1])
        raise UsageError(
            f"a cable of {line.medium} has {format_length(line.length_m)}, the longest that is sold {most}: use "
            "another medium, or give --lengths"
        )
    return longer[0]


def _ordered(lines: Mapping[BillLine, int]) -> list[tuple[BillLine, int]]:
    return sorted(lines.items(), key=lambda one: (ITEMS.index(one[0].item), one[0][2:], one[0].rack))


def _row(line: BillLine, count: int, percent: int) -> list[str]:
    spares = ceil(count * percent / 100)
    length = format_length(line.length_m) if line.length_m else ""
    return [line.item, line.medium, length, line.speed, line.optics, str(count), str(spares), str(count + spares)]


def _csv(rows: Sequence[Sequence[str]]) -> bytes:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows([[cell(item) for item in row] for row in rows])
    return text.getvalue().encode()


def _markdown(fabric: str, percent: int, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]
    words = f"Spares are {percent} % of each line, rounded up. Lengths are those that are sold."
    trunks = {row[3]: None for row in rows if row[0] == CABLE and row[1] in FIBRES and "x" in row[3]}
    if trunks:
        singles = " or ".join(text.replace("x", " of ") for text in trunks)
        words += (
            f"\n\nA fibre of {' or '.join(trunks)} is a trunk: one cable for all its links, between modules with one "
            f"connector. Between modules with a connector for each link (twin-port OSFP), buy {singles} in its place."
        )
    if any(row[0] == SPLITTER for row in rows):
        words += (
            "\n\nA fibre splitter joins the cables of one connector. Modules with a connector for each link (twin-port "
            "OSFP) do not need it."
        )
    return "\n".join([f"# Bill of {fabric}", "", words, "", *lines, ""])


HANDOFF = Handoff(
    "bill",
    "Write a bill of switches, cables, breakout cables and transceivers, with spares, by supplier line and by rack.",
    bill_files,
    (
        Option("only", "Only devices whose names match, and their cables; separate several patterns by commas.",
               metavar="GLOB"),
        Option("spares", "Percent of spares, rounded up for each line; switches have none.", "5"),
        Option("lengths", "Lengths that are sold, with commas, in place of those of common products.", metavar="LIST"),
    ),
    "give {output}/bill.csv to the supplier, and racks.csv to the people who unpack it",
    examples=("", "--spares 3 --lengths 3m,10m,50m"),
)  # fmt: skip
