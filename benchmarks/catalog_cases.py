"""The fabrics of `benchmarks.catalog`: a layout with all cages in one breakout mode, at one speed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from fabricgen.lossless.headroom import find_headroom
from fabricgen.platforms.catalog import switch_platform, switch_rows
from fabricgen.platforms.catalog_index import IndexedLayout
from fabricgen.platforms.model import Layout
from fabricgen.platforms.port_modes import PortModes
from fabricgen.units import format_speed
from fabricgen.vocabulary import BufferModel

TIERS = ("leaf", "spine")
LEAST_PORTS = 2  # between a switch and the two of the other tier


@dataclass(frozen=True)
class Case:
    """The switch of both tiers. `mode` is "" for a layout as it is; `layout` has the ports that the mode makes."""

    row: IndexedLayout
    mode: str
    layout: Layout
    speed_mbps: int

    @property
    def name(self) -> str:
        """For people: platform, layout, mode and speed."""
        mode = f" in {self.mode}" if self.mode else ""
        return f"{self.row.platform} {self.row.layout} ({self.row.hwsku}){mode} at {format_speed(self.speed_mbps)}"


def cases(row: IndexedLayout, *, modes: bool) -> Iterator[Case]:
    """The layout as it is, at the highest speed of enough ports; then in each mode and at each speed of it."""
    platform = switch_platform(row.platform)
    assert platform
    layout = layout_of(row)
    yield Case(row, "", layout, next(mbps for mbps in layout.speeds_mbps if len(layout.ports_at(mbps)) >= LEAST_PORTS))
    known = PortModes(platform, layout)
    cages = [parent for number in known.numbers.values() for parent in number]
    names = dict.fromkeys(mode.name for cage in cages for mode in known.cages[cage]) if modes else {}
    for name in filter(None, names):
        chosen = {cage: mode for cage in cages if (mode := known.mode(cage, name))}
        speeds = {port.speed_mbps for mode in chosen.values() for port in mode.ports}
        speeds |= {speed for mode in chosen.values() for others in mode.others for speed in others}
        for speed_mbps in sorted(speeds, reverse=True):
            made = known.with_modes({cage: mode.at(speed_mbps) or mode for cage, mode in chosen.items()})
            if made is not layout and len(made.ports_at(speed_mbps)) >= LEAST_PORTS:
                yield Case(row, name, made, speed_mbps)


def layout_of(row: IndexedLayout) -> Layout:
    """The layout of a row of the catalog."""
    platform = switch_platform(row.platform)
    assert platform
    return next(layout for layout in platform.layouts if layout.hwsku == row.hwsku)


def has_headroom(case: Case) -> bool:
    """Whether the switch has headroom for the case's speed: it computes it, or its SKU has rows."""
    platform = switch_platform(case.row.platform)
    assert platform
    rows = {row.speed_mbps for row in case.layout.headroom}
    return platform.buffer_model == BufferModel.DYNAMIC or case.speed_mbps in rows


def cable_m(case: Case) -> int:
    """The shortest cable of 5 m or more that the SKU has a row for."""
    lengths = {row.cable_m for row in case.layout.headroom if row.speed_mbps == case.speed_mbps and row.cable_m >= 5}
    return min(lengths, default=5)


def helper(case: Case, tier: str) -> IndexedLayout | None:
    """Another layout of the case's speed, which serves a tier of a lossless plane."""
    speed = format_speed(case.speed_mbps).lower()
    rows = [row for rows in switch_rows().values() for row in rows if tier in row.lossless]
    length, lanes = cable_m(case), {len(port.lanes) for port in case.layout.ports_at(case.speed_mbps)}
    fitting = (
        row
        for row in rows
        if row.layout.partition("x")[2] == speed
        and {len(port.lanes) for port in layout_of(row).ports_at(case.speed_mbps)} == lanes
        and find_headroom(layout_of(row), case.speed_mbps, length)
    )
    return min(fitting, key=lambda row: row.platform != case.row.platform, default=None)


def inventory(case: Case, tiers: Mapping[str, IndexedLayout], *, lossless: bool) -> str:
    """Two leaves and two spines, joined at the case's speed by cables of a length that the SKU has rows for."""
    platform = switch_platform(case.row.platform)
    assert platform
    written = PortModes(platform, layout_of(case.row)).written(case.layout) if case.mode else {}
    stated = "".join(
        f", ports: {{{', '.join(f'{key!r}: {mode!r}' for key, mode in written.items())}}}" if written else ""
    )
    ports = {
        tier: [port.name for port in (case.layout if row is case.row else layout_of(row)).ports_at(case.speed_mbps)]
        for tier, row in tiers.items()
    }
    links = [f"leaf{a}:{ports['leaf'][b]}, spine{b}:{ports['spine'][a]}" for a, b in product((0, 1), (0, 1))]
    platforms = "\n".join(
        f"    {tier}: {{platform: {row.platform}, layout: {row.layout}{stated if row is case.row else ''}}}"
        for tier, row in tiers.items()
    )
    ends = "\n".join(f"      - [{link}]" for link in links)
    return f"""\
fabricgen: 1
fabric: catalog
hosts: {{gpu: {{model: hgx-h100, count: 1}}}}
planes:
  compute:
    design: explicit
    hosts: [gpu]
{platforms}
    speed: {format_speed(case.speed_mbps)}
    cables: {{leaf-spine: {cable_m(case)}m}}
    lossless: {"roce-lossless" if lossless else "none"}
    addressing: {{loopbacks: 10.0.0.0/24, links: 10.0.1.0/24, hosts: 10.0.2.0/24}}
    leaves: [{{name: leaf0}}, {{name: leaf1}}]
    spines: [{{name: spine0}}, {{name: spine1}}]
    links:
{ends}
management: {{addresses: 10.255.0.0/24, gateway: 10.255.0.1, ntp: [10.255.0.9], syslog: [10.255.0.8]}}
"""
