"""The pages of cabling sheets: a row for each plug in a rack."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from fabricgen.errors import UsageError
from fabricgen.handoff.templates import filled, pieces
from fabricgen.sonic.canonical import natural_key
from fabricgen.units import format_length
from fabricgen.visible import visible
from fabricgen.vocabulary import LinkState

if TYPE_CHECKING:
    from markupsafe import Markup

    from fabricgen.handoff import Content
    from fabricgen.handoff.cable_ends import CableEnd, CableRun, Plant

NO_RACK = "no rack"
_FIRST = ' class="first"'
_TEXTS_KEPT = 1 << 16
_PLAIN = re.compile(r"[A-Za-z0-9 _./:-]*")

Plug = tuple["CableRun", "CableEnd", "CableEnd"]  # the cable, this end, the far end


class Plugs:
    """The plugs of each device, in the order of the cables."""

    def __init__(self, runs: Iterable["CableRun"]) -> None:
        self._runs: dict[str, list[CableRun]] = {}
        for run in runs:
            self._runs.setdefault(run.a.device, []).append(run)
            if run.b.device != run.a.device:
                self._runs.setdefault(run.b.device, []).append(run)

    def __iter__(self) -> Iterator[str]:
        """The devices."""
        return iter(self._runs)

    def of(self, device: str) -> list[Plug]:
        """The plugs of a device, made for each use: a large fabric has half a million."""
        found: list[Plug] = []
        for run in self._runs[device]:
            if run.a.device == device:
                found.append((run, run.a, run.b))
            if run.b.device == device:
                found.append((run, run.b, run.a))
        return found


def rack_pages(fabric: str, plant: "Plant", plugs: Plugs, cables: int) -> Iterator[tuple[str, "Content"]]:
    """(relative path, content): racks/<rack>.html, and an index. Raises UsageError if two racks have the same page."""
    racks: dict[str, list[str]] = {}
    counts: Counter[str] = Counter()
    for device in plugs:
        own = plugs.of(device)
        rack = own[0][1].rack or NO_RACK
        racks.setdefault(rack, []).append(device)
        counts[rack] += len(own)
    pages: dict[str, str] = {}
    for rack in sorted(racks, key=natural_key):
        page = f"racks/{re.sub(r'[^A-Za-z0-9._-]', '_', rack).lstrip('.') or '_'}.html"
        if other := next((name for name, path in pages.items() if path.lower() == page.lower()), None):
            raise UsageError(f"racks {other!r} and {rack!r} have the same page {page}: rename one of them")
        pages[rack] = page
    for rack, page in pages.items():
        rows = _rows(plant, map(plugs.of, sorted(racks[rack], key=natural_key)))
        yield page, pieces("cabling", "rack.html", fabric=fabric, rack=rack, plugs=counts[rack], rows=rows)
    listed = [(rack, page, counts[rack]) for rack, page in pages.items()]
    yield "index.html", filled("cabling", "index.html", fabric=fabric, racks=listed, cables=cables)


def _rows(plant: "Plant", devices: Iterable[list[Plug]]) -> Iterator["Markup"]:
    """The rows of each device, by the order of its ports."""
    from markupsafe import Markup  # of Jinja

    for own in devices:
        ordered = sorted(own, key=lambda plug: natural_key(plug[1].ports[0]))
        yield Markup("\n".join(_row(plant, plug, is_first=plug is ordered[0]) for plug in ordered))


def _row(plant: "Plant", plug: Plug, *, is_first: bool) -> str:
    """A row of the table. A template takes four times as long for half a million of them."""
    run, here, there = plug
    labels, far = plant.labels(here), plant.labels(there)
    ports = f" <small>({_html(' '.join(here.ports))})</small>" if labels != here.ports else ""
    unit = f" {_html(there.unit)}" if there.unit else ""
    place = f" <small>{_html(there.rack)}{unit}</small>" if there.rack else ""
    cordoned = " <strong>cordoned</strong>" if run.state == LinkState.CORDONED else ""
    return (
        f'<tr{_FIRST if is_first else ""}><td class="tick"></td>'
        f"<td>{_html(here.unit)}</td><td>{_html(here.device)}</td>\n"
        f"<td>{_html(' '.join(labels))}{ports}</td>\n"
        f"<td>{_html(there.device)}{place}</td>\n"
        f"<td>{_html(' '.join(far))}</td>\n"
        f"<td>{_html(run.speed)} {_html(run.medium)} <small>{_as_html(run.id)}</small>{cordoned}</td>"
        f"<td>{_length(run.length_m)}</td></tr>"
    )


def _as_html(text: str) -> str:
    """A text as HTML, as Jinja writes it."""
    if _PLAIN.fullmatch(text):
        return text
    from markupsafe import escape

    return str(escape(visible(text)))


_html = lru_cache(_TEXTS_KEPT)(_as_html)  # for texts that occur more than once

_length = lru_cache(format_length)
