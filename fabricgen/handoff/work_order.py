"""The work order for cables that differ from the plan: which end to plug where, with the labels on the panels."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING

from fabricgen.atomic import write_atomically
from fabricgen.bundle.cables import CableFault, Miscabling, Move, moves
from fabricgen.bundle.wiring import Wiring
from fabricgen.handoff.cable_ends import Plant
from fabricgen.units import counted, format_length
from fabricgen.visible import cell, visible

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import Endpoint, WiredCable, WiredLink

_ACTIONS = {
    CableFault.SWAPPED: "Swap two cables",
    CableFault.MISPLACED: "Move one end of a cable",
    CableFault.MISSING: "Plug or replace a cable",
    CableFault.EXTRA: "Remove a cable, or plan it",
}


@dataclass(frozen=True, slots=True)
class Plug:
    """The ports of a cable at one device, with their labels on the front panel, the cage, and where the device is."""

    device: str
    ports: tuple[str, ...]
    labels: tuple[str, ...]
    cage: str
    rack: str
    unit: str


@dataclass(frozen=True, slots=True)
class CableStep:
    """One cable: `fixed` stays, the other end goes from `now` to `planned`. `now` is None if the cable is not seen,
    `planned` if it is not planned. `cable` is the planned cable, whose length is in metres; "" and None without one."""

    cable: str
    fixed: Plug
    now: Plug | None
    planned: Plug | None
    length_m: float | None
    medium: str


@dataclass(frozen=True, slots=True)
class Order:
    """The cables to correct together. Links that one cable carries are one step."""

    name: str  # A, B, …, Z, AA
    kind: CableFault
    steps: tuple[CableStep, ...]

    @property
    def action(self) -> str:
        """What to do, in words."""
        return _ACTIONS[self.kind]


def work_orders(bundle: "Bundle", found: Sequence[Miscabling]) -> tuple[Order, ...]:
    """The orders in the order of severity: swapped, misplaced, missing and extra cables.

    Without a fabric.json, cables have no name and length, and each link is a step.
    """
    plan = _Plan(bundle)
    groups: dict[tuple[object, ...], list[list[Move]]] = {}
    for one in sorted(found, key=lambda each: list(_ACTIONS).index(each.kind)):
        steps = moves(one, plan.link_at)
        key = (one.kind, *map(plan.cable_key, steps))
        lists = groups.setdefault(key, [[] for _ in steps])
        for many, step in zip(lists, steps, strict=True):
            many.append(step)
    return tuple(
        Order(_letters(number), kind, tuple(plan.step(many) for many in lists))
        for number, ((kind, *_), lists) in enumerate(groups.items())
        if isinstance(kind, CableFault)
    )


class _Plan:
    """The planned links and cables of a bundle, and the plugs of their ends."""

    def __init__(self, bundle: "Bundle") -> None:
        links = bundle.wiring.links if bundle.wiring else bundle.cabling.links if bundle.cabling else bundle.links
        self._cables = {cable.id: cable for cable in (bundle.wiring.cables if bundle.wiring else ())}
        self._plant = Plant(bundle, bundle.wiring or Wiring("", (), (), (), (), ()))
        self.link_at: dict[Endpoint, WiredLink] = {end: link for link in links for end in (link.a, link.b)}

    def cable_key(self, step: Move) -> object:
        """What links of one cable, or of one leg of it, have in common; the port for a link without a planned cable."""
        cable = self._cable(step)
        devices = [end[0] for end in (step.fixed, step.now, step.planned) if end]
        return (cable.id, *devices) if cable else step.fixed

    def step(self, many: Sequence[Move]) -> CableStep:
        """The step of links that one cable carries."""
        cable = self._cable(many[0])
        now, planned = ([end for each in many if (end := end_of(each))] for end_of in (_now, _planned))
        return CableStep(
            cable.id if cable else "",
            self._plug([each.fixed for each in many]),
            self._plug(now) if now else None,
            self._plug(planned) if planned else None,
            cable.length_m if cable else None,
            cable.medium if cable else "",
        )

    def _cable(self, step: Move) -> "WiredCable | None":
        link = self.link_at.get(step.fixed) if step.planned else None
        return self._cables.get(link.cable) if link else None

    def _plug(self, ends: "Sequence[Endpoint]") -> Plug:
        name = ends[0][0]
        end = self._plant.end(name, ends)
        cages = dict.fromkeys(self._plant.cage(each)[1] for each in ends)
        return Plug(name, end.ports, self._plant.labels(end), " ".join(cages), end.rack, end.unit)


def _now(step: Move) -> "Endpoint | None":
    return step.now


def _planned(step: Move) -> "Endpoint | None":
    return step.planned


def _letters(number: int) -> str:
    """A to Z, then AA, AB, …"""
    more, last = divmod(number, len(ascii_uppercase))
    return (_letters(more - 1) if more else "") + ascii_uppercase[last]


def write_work_order(file: Path, bundle: "Bundle", found: Sequence[Miscabling]) -> None:
    """Write the orders as CSV or as text, by the suffix of the file. Without a fault, the file has no order."""
    orders = work_orders(bundle, found)
    text = work_order_csv(orders) if file.suffix == ".csv" else work_order_text(orders)
    write_atomically(file, text.encode())


def work_order_text(orders: Sequence[Order]) -> str:
    """The orders as plain text, to print or to paste into a ticket."""
    lines = [] if orders else ["No cable to correct."]
    for order in orders:
        lines.append(f"{order.name}  {order.action}")
        for step in order.steps:
            cable = " ".join(filter(None, (step.medium, format_length(step.length_m) if step.length_m else "")))
            lines.append(f"   [ ] {visible(_sentence(step))}")
            if step.cable:
                lines.append(f"       cable {visible(step.cable)}, {cable}")
        lines.append("")
    return "\n".join(lines)


def _sentence(step: CableStep) -> str:
    if step.planned is None:
        return f"between {_place(step.fixed)} and {_place(step.now)}"
    if step.now is None:
        return f"from {_place(step.fixed)} to {_place(step.planned)}"
    moved = f"at {_place(step.now)}: unplug, and plug into {_place(step.planned)}"
    return f"{moved}; the other end stays in {_place(step.fixed)}"


def _place(plug: Plug | None) -> str:
    """'R12 U40 leaf1 Ethernet0 (etp1)'."""
    if plug is None:
        return ""
    unit = f"U{plug.unit}" if plug.unit.isdecimal() else plug.unit
    labels = f" ({' '.join(plug.labels)})" if plug.labels != plug.ports else ""
    return " ".join(filter(None, (plug.rack, unit, plug.device, " ".join(plug.ports)))) + labels


_ENDS = ("fixed", "now", "planned")
_OF_END = ("rack", "unit", "device", "ports", "labels", "cage")
_COLUMNS = (
    "order", "action", "cable", "medium", "length", *(f"{end}_{column}" for end in _ENDS for column in _OF_END)
)  # fmt: skip


def work_order_csv(orders: Sequence[Order]) -> str:
    """The orders as CSV, a row for each cable. Lines end with a newline; no text is a formula in a spreadsheet."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for order in orders:
        writer.writerows(map(cell, _row(order, step)) for step in order.steps)
    return out.getvalue()


def _row(order: Order, step: CableStep) -> Iterator[str]:
    yield from (order.name, order.action, step.cable, step.medium)
    yield format_length(step.length_m) if step.length_m else ""
    for plug in (step.fixed, step.now, step.planned):
        if plug is None:
            yield from ("",) * 6
        else:
            yield from (plug.rack, plug.unit, plug.device, " ".join(plug.ports), " ".join(plug.labels), plug.cage)


def orders_words(orders: Sequence[Order]) -> str:
    """'2 cables swapped, 1 not seen'."""
    kinds = {
        CableFault.SWAPPED: "swapped",
        CableFault.MISPLACED: "misplaced",
        CableFault.MISSING: "not seen",
        CableFault.EXTRA: "not planned",
    }
    counts = {kind: sum(len(order.steps) for order in orders if order.kind is kind) for kind in kinds}
    present = [(counts[kind], word) for kind, word in kinds.items() if counts[kind]]
    return ", ".join(
        f"{counted(count, 'cable') if number == 0 else count} {word}" for number, (count, word) in enumerate(present)
    )
