"""The index of the shipped switches: what look-ups and lists need of an entry, without reading its file.

A line for each layout: platform, technology, chip, layout, hwsku, roles that it serves on lossless planes. - stands
for a missing value. scripts/make_catalog.py writes the file.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fabricgen.platforms.entries import load_switch_platform
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.units import format_speed
from fabricgen.vocabulary import Technology

INDEX = Path(__file__).with_name("catalog") / "switches.index"
_NONE = "-"


@dataclass(frozen=True, slots=True)
class IndexedLayout:
    """One layout of a shipped switch. `lossless`: the roles that have buffers for lossless classes."""

    platform: str
    technology: str
    asic: str
    layout: str
    hwsku: str
    lossless: tuple[str, ...]


def rows_of(platform: SwitchPlatform) -> tuple[IndexedLayout, ...]:
    """The rows of one entry."""
    found = []
    for layout in platform.layouts:
        lossy = lossy_roles(platform, layout) if platform.technology == Technology.ETHERNET else ROLES
        lossless = tuple(role for role in ROLES if role not in lossy)
        cells = platform.name, platform.technology, platform.asic or "", layout.name, layout.hwsku
        found.append(IndexedLayout(*cells, lossless))
    return tuple(found)


def index_text(switches: Path) -> str:
    """The index of all entries in a folder."""
    rows = [row for file in sorted(switches.glob("*.yaml")) for row in rows_of(load_switch_platform(file))]
    return "".join(f"{' '.join(_cells(row))}\n" for row in rows)


def _cells(row: IndexedLayout) -> list[str]:
    cells = row.platform, row.technology, row.asic, row.layout, row.hwsku, ",".join(row.lossless)
    return [cell or _NONE for cell in cells]


@functools.cache
def indexed() -> Mapping[str, tuple[IndexedLayout, ...]]:
    """Platform -> its layouts, in the order of the entry."""
    found: dict[str, list[IndexedLayout]] = {}
    for line in INDEX.read_text(encoding="ascii").splitlines():
        cells = ["" if cell == _NONE else cell for cell in line.split(" ")]
        platform, technology, asic, layout, hwsku, roles = cells
        lossless = tuple(roles.split(",")) if roles else ()
        found.setdefault(platform, []).append(IndexedLayout(platform, technology, asic, layout, hwsku, lossless))
    return {name: tuple(layouts) for name, layouts in found.items()}


# Which roles a layout serves on a lossless plane, and why not the others.

ROLES = ("leaf", "spine", "core")
_UNKNOWN = "its source does not say why"


def lossy_roles(platform: SwitchPlatform, layout: Layout) -> Mapping[str, str]:
    """Role -> what its SKU's files lack for lossless planes. Empty if all roles are served."""
    if platform.buffer_model != "dynamic":
        if not layout.headroom:
            return dict.fromkeys(ROLES, _reason(layout, "headroom"))
        rows = {row.speed_mbps for row in layout.headroom}
        if without := [format_speed(speed) for speed in layout.speeds_mbps if speed not in rows]:
            return dict.fromkeys(ROLES, f"it has no headroom rows for {', '.join(without)}")
    missing = (role for role in ROLES if role not in layout.buffers)
    return {role: _reason(layout, f"buffers.{role}", "buffers") for role in missing}


def _reason(layout: Layout, *blocks: str) -> str:
    """The problem that the source of a block states after the file."""
    stated = (layout.sources[block].partition(": ")[2] for block in blocks if block in layout.sources)
    return next(stated, "") or _UNKNOWN
