"""A switch platform as the text of its catalog file: one form for shipped entries and imported ones."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from fabricgen.platforms.entries import CAGE_COLUMNS, HEADROOM_COLUMNS, PORT_COLUMNS
from fabricgen.platforms.model import BufferDefaults, Cage, Layout, PlatformPort, ReleaseFacts, SwitchPlatform
from fabricgen.vocabulary import Technology

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_YAML_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}


def switch_entry_text(platform: SwitchPlatform) -> str:
    """The YAML of a platform; loading it gives an equal platform."""
    return "\n".join(_switch(platform)) + "\n"


def _switch(platform: SwitchPlatform) -> Iterator[str]:
    sonic = platform.technology == Technology.ETHERNET
    keys = ["name", "vendor", *([] if sonic else ["technology"]), "asic", "asic_vendor"]
    for key in [*keys, *(["onie_platform", "buffer_model", "mmu_bytes", "cell_bytes"] if sonic else [])]:
        yield f"{key}: {_scalar(getattr(platform, key))}"
    if power := platform.power_watts:
        yield f"power_watts: {{typical: {_scalar(power.typical)}, maximum: {_scalar(power.maximum)}}}"
    if platform.rack_units is not None:
        yield f"rack_units: {platform.rack_units}"
    yield from _block("capabilities", {key: _list(words) for key, words in platform.capabilities.items()})
    yield from _block("sources", {key: _quoted(text) for key, text in platform.sources.items()})
    if platform.cages:
        yield "cages:"
        yield from _cages(platform.cages)
    yield "layouts:"
    for layout in platform.layouts:
        first, *rest = _layout(layout, sonic=sonic)
        yield f"  - {first}"
        yield from (f"    {line}" for line in rest)


def _cages(cages: Sequence[Cage]) -> Iterator[str]:
    """Neighbours with the same breakout modes together, the aliases of each mode in a column."""
    for modes, group in groupby(cages, lambda cage: tuple(cage.modes)):
        yield f"  - modes: [{', '.join(map(_quoted, modes))}]"
        yield "    rows: |"
        rows = [
            (
                cage.parent,
                ",".join(map(str, cage.indexes)),
                ",".join(map(str, cage.lanes)),
                *(",".join(names) for names in cage.modes.values()),
            )
            for cage in group
        ]
        heading = (*CAGE_COLUMNS, "aliases", *[""] * (len(modes) - 1))
        yield from (f"      {line}" for line in _table(heading, rows))


def _layout(layout: Layout, *, sonic: bool) -> Iterator[str]:
    yield f"name: {_quoted(layout.name)}"
    if sonic:
        yield f"hwsku: {_quoted(layout.hwsku)}"
    of_buffers = {f"buffers.{role}" for role in layout.buffers}  # written with the buffers
    sources = {key: _quoted(text) for key, text in layout.sources.items() if key not in of_buffers}
    yield from _block("sources", sources)
    yield "ports:"
    for (kind, speed_mbps, fec, mode), ports in groupby(layout.ports, _shared):
        yield f"  - kind: {kind}"
        yield f"    speed_mbps: {speed_mbps}"
        yield f"    fec: {_quoted(fec)}"
        yield f"    breakout_mode: {_quoted(mode)}"
        yield "    rows: |"
        rows = [
            (p.name, ",".join(map(str, p.lanes)) or None, p.alias or None, p.index, p.subport, p.parent) for p in ports
        ]
        yield from (f"      {line}" for line in _table(PORT_COLUMNS, rows))
    if not sonic:
        return
    yield from _headroom(layout) if layout.headroom else ['headroom: ""']
    yield from _buffers(layout) if layout.buffers else ["buffers: []"]
    if layout.by_release:
        yield "by_release:"
    for facts in layout.by_release:
        first, *rest = _release(facts)
        yield f"  - {first}"
        yield from (f"    {line}" for line in rest)


def _release(facts: ReleaseFacts) -> Iterator[str]:
    yield f"releases: [{', '.join(map(str, facts.releases))}]"
    if facts.lacks:
        yield f"lacks: {_list(facts.lacks)}"
    if facts.headroom:
        yield from _block("sources", {"headroom": _quoted(facts.sources["headroom"])})
        yield from _headroom(facts)
    if facts.buffers:
        yield from _buffers(facts)


def _headroom(facts: Layout | ReleaseFacts) -> Iterator[str]:
    yield "headroom: |"
    cells = [[getattr(row, column) for column in HEADROOM_COLUMNS] for row in facts.headroom]
    yield from (f"  {line}" for line in _table(HEADROOM_COLUMNS, cells))


def _buffers(facts: Layout | ReleaseFacts) -> Iterator[str]:
    yield "buffers:"
    for roles, defaults, source in _groups(facts):
        yield f"  - roles: {_list(roles)}"
        yield f"    source: {_quoted(source)}"
        for table in ("pools", "profiles"):
            rows_of = getattr(defaults, table)
            yield from (f"    {line}" for line in _block(table, {name: _flow(row) for name, row in rows_of.items()}))
        for key in ("lossless_queue_profile", "lossy_queue_profile", "lossy_pg_profile"):
            yield f"    {key}: {_scalar(getattr(defaults, key))}"
        yield f"    port_profile_lists: {_flow(defaults.port_profile_lists)}"


def _shared(port: PlatformPort) -> tuple[str, int, str, str]:
    return port.kind, port.speed_mbps, port.fec, port.breakout_mode


def _groups(facts: Layout | ReleaseFacts) -> list[tuple[list[str], BufferDefaults, str]]:
    """Roles with equal buffers from one source, together."""
    found: list[tuple[list[str], BufferDefaults, str]] = []
    for role, defaults in facts.buffers.items():
        source = facts.sources[f"buffers.{role}"]
        for roles, known, known_source in found:
            if (known, known_source) == (defaults, source):
                roles.append(role)
                break
        else:
            found.append(([role], defaults, source))
    return found


def _block(key: str, lines: Mapping[str, str]) -> list[str]:
    return [f"{key}:", *(f"  {name}: {text}" for name, text in lines.items())] if lines else [f"{key}: {{}}"]


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """A line for each row below a heading, columns aligned; - is a cell without a value."""
    cells = [["# " + columns[0], *columns[1:]], *(["-" if cell is None else str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _scalar(value: str | int | None) -> str:
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) and value.lower() not in _YAML_WORDS else _quoted(value)
    return "null" if value is None else str(value)


def _quoted(text: str) -> str:
    """A string in double quotes; JSON would write characters beyond 16 bits as surrogates, which YAML refuses."""
    return '"' + "".join(f"\\U{ord(c):08x}" if c > "\uffff" else json.dumps(c)[1:-1] for c in text) + '"'


def _list(words: Sequence[str]) -> str:
    return f"[{', '.join(map(_scalar, words))}]"


def _flow(row: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{_scalar(key)}: {_quoted(text)}" for key, text in row.items()) + "}"
