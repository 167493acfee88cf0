"""Congestion trees as pictures: the root on the left, the ports that wait for it in columns on the right."""

from collections.abc import Iterator, Sequence
from html import escape

from fabricgen.results import CongestionResult, CongestionTree
from fabricgen.units import counted

Port = tuple[str, str]

_COLUMN, _ROW, _BOX, _MARGIN = 300, 34, (250, 24), 16
_COLORS = {"incast": "#c0392b", "collision": "#d35400", "slow-receiver": "#8e44ad", "unfair-share": "#7f8c8d"}
_PAUSED = "#f5d76e"


def tree_pictures(results: Sequence[CongestionResult]) -> Iterator[tuple[str, str]]:
    """(file name, SVG) of each tree in the results."""
    for result in results:
        for number, tree in enumerate(result.trees, 1):
            plane = f"{result.name}-" if result.name else ""
            yield f"congestion-{plane}{number:02}.svg", tree_svg(tree)


def tree_svg(tree: CongestionTree) -> str:
    """One tree. Ports are boxes; a line connects each paused port with the port that it waits for."""
    columns = _columns(tree)
    place = {
        port: (_MARGIN + column * _COLUMN, 2 * _ROW + row * _ROW)
        for column, ports in enumerate(columns)
        for row, port in enumerate(ports)
    }
    width = len(columns) * _COLUMN + _MARGIN
    height = (max(len(ports) for ports in columns) + 2) * _ROW + _MARGIN
    title = f"{tree.kind} at {' '.join(tree.root)}: pauses {counted(tree.channels, 'port')}, "
    title += counted(tree.victims, "victim")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        f'font-size="12" role="img"><title>{escape(title)}</title>',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{_MARGIN}" y="{_ROW - 8}" font-weight="bold">{escape(title)}</text>',
        f'<text x="{_MARGIN}" y="{_ROW + 10}" fill="#555">lines connect paused ports to the awaited ports</text>',
        *(_line(place[port], place[awaited]) for port, awaited in tree.links),
        *(_box(port, at, _COLORS[tree.kind] if port == tree.root else _PAUSED) for port, at in place.items()),
    ]
    if len(place) - 1 < tree.channels:
        left = tree.channels - len(place) + 1
        parts.append(f'<text x="{_MARGIN}" y="{height - _MARGIN}">and {left} more paused ports</text>')
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
    return f'<line x1="{x1}" y1="{y1 + middle}" x2="{x2 + _BOX[0]}" y2="{y2 + middle}" stroke="#888"/>'


def _box(port: Port, at: tuple[int, int], color: str) -> str:
    x, y = at
    text = escape(" ".join(port))
    return (
        f'<rect x="{x}" y="{y}" width="{_BOX[0]}" height="{_BOX[1]}" rx="4" fill="{color}"/>'
        f'<text x="{x + 6}" y="{y + 16}" fill="{"white" if color != _PAUSED else "black"}">{text}</text>'
    )
