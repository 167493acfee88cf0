"""A scene as SVG."""

from collections.abc import Iterator
from html import escape

from fabricgen.draw.curves import curve
from fabricgen.draw.scene import Box, BoxKind, ChangeState, Line, Scene, legend_parts
from fabricgen.draw.style import box_colors, line_color, line_opacity, line_width
from fabricgen.report.house_style import FAINT, FONT, FONT_PX, INK, PAPER, WIRE
from fabricgen.visible import visible

_HEAD = 34  # px above the scene, for its title
_LEGEND = 30  # px below it
_DASHES = ' stroke-dasharray="4 3"'
_LETTERS = ("", "L", "Q", "C")  # of a path, by the number of points after its start


def scene_svg(scene: Scene) -> str:
    """The picture with its title. Names are text: markup and control characters in them have no effect."""
    width, height = round(scene.width), round(scene.height) + _HEAD + (_LEGEND if scene.legend else 0)
    title = _text(f"{scene.name}: {scene.caption}" if scene.name else scene.caption)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="{FONT}" font-size="{FONT_PX}" role="img"><title>{title}</title>',
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
        f'<text x="16" y="24" font-size="15" font-weight="600" fill="{INK}">{title}</text>',
        f'<g transform="translate(0 {_HEAD})">',
        f'<g fill="none" stroke="{WIRE}" stroke-opacity="{line_opacity(len(scene.lines))}">',
        *map(_line, sorted(scene.lines, key=lambda line: line.state is not ChangeState.SAME)),
        "</g>",
        *(_beside(line) for line in scene.lines if line.text),
        *(part for box in scene.boxes for part in _box(box)),
        *(_words(label.x, label.y, label.text, label.anchor) for label in scene.labels),
        *_legend(scene),
    ]
    return "\n".join([*parts, "</g>", "</svg>", ""])


def _text(text: str) -> str:
    return escape(visible(text))


def _beside(line: Line) -> str:
    """The text of a line: above a level one, to the right of others."""
    x, y = (line.x1 + line.x2) / 2, (line.y1 + line.y2) / 2
    return _words(x, y - 7, line.text, "middle") if line.y1 == line.y2 else _words(x + 6, y, line.text, "start")


def _words(x: float, y: float, text: str, anchor: str, color: str = FAINT) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{_text(text)}</text>'


def _line(line: Line) -> str:
    state = ""
    if line.state is not ChangeState.SAME:
        dashes = _DASHES if line.state is ChangeState.REMOVED else ""
        state = f' stroke="{line_color(line)}" stroke-opacity="0.9"{dashes}'
    return f'<path d="{_path(line)}" stroke-width="{line_width(line.links)}"{state}/>'


def _legend(scene: Scene) -> Iterator[str]:
    for box, label in legend_parts(scene):
        fill, edge = box_colors(box)
        dashes = _DASHES if box.state is ChangeState.REMOVED else ""
        yield (
            f'<rect x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{box.height:.0f}" rx="2" '
            f'fill="{fill}" stroke="{edge}"{dashes}/>'
        )
        yield _words(label.x, label.y, label.text, label.anchor, INK)


def _path(line: Line) -> str:
    start, *others = [f"{round(x, 1):g} {round(y, 1):g}" for x, y in curve(line)]
    return f"M{start}{_LETTERS[len(others)]}{' '.join(others)}"


def _box(box: Box) -> Iterator[str]:
    fill, edge = box_colors(box)
    dash = _DASHES if box.kind is BoxKind.FREE or box.state is ChangeState.REMOVED else ""
    notes = box.note.split("\n") if box.note else []
    title = ", ".join(filter(None, [box.name, box.state, *notes]))
    yield (
        f'<g fill="{fill}" stroke="{edge}"><title>{_text(title)}</title>'
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="{min(4.0, box.height / 5):.1f}"{dash}/></g>'
    )
    middle, below = box.middle
    top = below + 4 - 6.5 * len(notes) if box.height > 16 else below + 3
    if box.text:
        yield _words(middle, top, box.text, "middle", INK)
    for number, note in enumerate(notes, 1):
        yield _words(middle, top + 14 * number, note, "middle")
