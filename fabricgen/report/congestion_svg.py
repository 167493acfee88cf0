"""Congestion trees as pictures: the root on the left, the ports that wait for it in columns on the right."""

from collections.abc import Iterator, Sequence

from fabricgen.report.house_style import (
    INK,
    LETTER_PX,
    PAPER,
    PAUSED_EDGE,
    PAUSED_FILL,
    WIRE,
    opening,
    words,
)
from fabricgen.results import CongestionResult, CongestionTree
from fabricgen.units import counted

Port = tuple[str, str]

_COLUMN, _ROW, _BOX, _MARGIN = 300, 34, (250, 24), 16
_COLORS = {"incast": "#c04f00", "collision": "#0072b2", "slow-receiver": "#7038c9", "unfair-share": "#54575f"}


def tree_pictures(results: Sequence[CongestionResult]) -> Iterator[tuple[str, str]]:
    """(file name, SVG) of each tree in the results in which a port waits for another."""
    for result in results:
        for number, tree in enumerate(result.trees, 1):
            plane = f"{result.name}-" if result.name else ""
            if not tree.links:
                continue
            yield f"congestion-{plane}{number:02}.svg", tree_svg(tree)


def tree_svg(tree: CongestionTree) -> str:
    """One tree. Ports are boxes; a line connects each paused port with the port that it waits for."""
    columns = _columns(tree)
    place = {
        port: (_MARGIN + column * _COLUMN, 2 * _ROW + row * _ROW)
        for column, ports in enumerate(columns)
        for row, port in enumerate(ports)
    }
    title = f"{tree.kind} at {' '.join(tree.root)}: pauses {counted(tree.channels, 'port')}, "
    title += counted(tree.victims, "victim")
    legend = ((f"root: {tree.kind}", _COLORS[tree.kind], _COLORS[tree.kind]), ("paused port", PAUSED_FILL, PAUSED_EDGE))
    width = max(len(columns) * _COLUMN + _MARGIN, 32 + 8.6 * len(title))
    height = (max(len(ports) for ports in columns) + 3) * _ROW + _MARGIN
    parts = [
        opening(width, height, title),
        words(_MARGIN, _ROW + 10, "lines connect paused ports to the awaited ports"),
        *(_line(place[port], place[awaited]) for port, awaited in tree.links),
        *(_box(port, at, _COLORS[tree.kind] if port == tree.root else "") for port, at in place.items()),
    ]
    left, x = tree.channels - len(place) + 1, float(_MARGIN)
    for name, fill, edge in legend:
        y = height - _MARGIN
        parts.append(f'<rect x="{x:.0f}" y="{y - 9}" width="14" height="10" rx="2" fill="{fill}" stroke="{edge}"/>')
        parts.append(words(x + 20, y, name, color=INK))
        x += 44 + LETTER_PX * len(name)
    if left > 0:
        parts.append(words(x, height - _MARGIN, f"and {left} more paused ports"))
    return "\n".join([*parts, "</svg>", ""])


def _columns(tree: CongestionTree) -> list[list[Port]]:
    """Ports by their distance from the root."""
    columns, seen = [[tree.root]], {tree.root}
    while True:
        onward = dict.fromkeys(port for port, awaited in tree.links if awaited in columns[-1] and port not in seen)
        if not onward:
            return columns
        columns.append(list(onward))
        seen.update(onward)


def _line(start: tuple[int, int], end: tuple[int, int]) -> str:
    (x1, y1), (x2, y2) = start, end
    middle = _BOX[1] // 2
    return f'<line x1="{x1}" y1="{y1 + middle}" x2="{x2 + _BOX[0]}" y2="{y2 + middle}" stroke="{WIRE}"/>'


def _box(port: Port, at: tuple[int, int], root: str) -> str:
    """A port; `root` is the colour of a root, "" for others."""
    x, y = at
    fill, edge = (root, root) if root else (PAUSED_FILL, PAUSED_EDGE)
    name = " ".join(port)
    most = int((_BOX[0] - 12) / LETTER_PX)
    shown = name if len(name) <= most else f"…{name[1 - most :]}"
    return (
        f'<rect x="{x}" y="{y}" width="{_BOX[0]}" height="{_BOX[1]}" rx="4" fill="{fill}" stroke="{edge}"/>'
        f"{words(x + 6, y + 16, shown, color=PAPER if root else INK)}"
    )
