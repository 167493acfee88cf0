"""A scene as a graph of Graphviz. `neato -n2` keeps the places of the scene; `dot` makes its own, by tiers."""

from collections.abc import Iterator

from fabricgen.draw.curves import cubic
from fabricgen.draw.scene import LETTER, BoxKind, ChangeState, Scene, legend_parts
from fabricgen.draw.style import box_colors, line_color, line_width
from fabricgen.report.house_style import FONT_PX, WIRE
from fabricgen.visible import visible

_FONT = "Helvetica"
_PX_PER_INCH = 72


def scene_dot(scene: Scene) -> str:
    """The graph. Nodes are named by what they stand for."""
    title = f"{scene.name}: {scene.caption}" if scene.name else scene.caption
    head = [
        f"graph {quoted(scene.name or 'fabric')} {{",
        f'  graph [label={quoted(title)}, labelloc=t, fontname="{_FONT}", outputorder=edgesfirst, ranksep=1.5];',
        f'  node [shape=box, style="rounded,filled", fontname="{_FONT}", fontsize={FONT_PX}, fixedsize=true];',
        f'  edge [color="{WIRE}99"];',
    ]
    parts = [*_nodes(scene), *_labels(scene), *_tiers(scene), *_edges(scene)]
    return "\n".join([*head, *parts, "}", ""])


def quoted(text: str) -> str:
    """A text of DOT."""
    plain = "\n".join(visible(line) for line in text.split("\n"))
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _nodes(scene: Scene) -> Iterator[str]:
    for number, box in enumerate((*scene.boxes, *(box for box, _ in legend_parts(scene)))):
        fill, edge = box_colors(box)
        label = "\n".join(filter(None, (box.text, box.note)))
        dashes = (
            ', style="rounded,filled,dashed"' if box.kind is BoxKind.FREE or box.state is ChangeState.REMOVED else ""
        )
        yield (
            f"  n{number} [label={quoted(label)}, tooltip={quoted(box.name)}, pos={_at(scene, *box.middle)}, "
            f"width={box.width / _PX_PER_INCH:.3f}, height={box.height / _PX_PER_INCH:.3f}, "
            f'fillcolor="{fill}", color="{edge}"{dashes}];'
        )


def _labels(scene: Scene) -> Iterator[str]:
    """Texts, where `dot` does not scatter them: in pictures without lines. The meaning of colours is in each."""
    labels = [label for _, label in legend_parts(scene)]
    for number, label in enumerate([*(scene.labels if not scene.lines else ()), *labels]):
        width = LETTER * len(label.text) + 6
        x = label.x + {"start": width / 2, "middle": 0, "end": -width / 2}[label.anchor]
        place = f"pos={_at(scene, x, label.y - 4)}, width={width / _PX_PER_INCH:.3f}, height=0.2, margin=0"
        yield f"  t{number} [label={quoted(label.text)}, shape=plaintext, style=solid, {place}];"


def _tiers(scene: Scene) -> Iterator[str]:
    """The boxes of each tier, which `dot` then keeps in a row; a grid has links inside its rows and none of these."""
    rows: dict[float, list[str]] = {}
    for number, box in enumerate(scene.boxes):
        rows.setdefault(box.y, []).append(f"n{number}")
    if scene.lines and all(scene.boxes[line.a].y != scene.boxes[line.b].y for line in scene.lines):
        yield from (f"  {{ rank=same; {'; '.join(row)} }}" for row in rows.values())


def _edges(scene: Scene) -> Iterator[str]:
    for line in scene.lines:
        text = line.text or (f"{line.links} links" if line.links > 1 else "")
        color = f', color="{line_color(line)}"' if line.state else ""
        dashes = ", style=dashed" if line.state is ChangeState.REMOVED else ""
        shown = f", label={quoted(line.text)}, fontname={quoted(_FONT)}, fontsize={FONT_PX}" if line.text else ""
        a, b, way = line.a, line.b, cubic(line)
        if scene.boxes[a].y > scene.boxes[b].y:  # `dot` puts the first one above
            a, b, way = b, a, way[::-1]
        places = " ".join(_place(scene, x, y) for x, y in way)
        shape = f'pos="{places}", penwidth={line_width(line.links)}, tooltip={quoted(text)}'
        yield f"  n{a} -- n{b} [{shape}{color}{dashes}{shown}];"


def _at(scene: Scene, x: float, y: float) -> str:
    return f'"{_place(scene, x, y)}"'


def _place(scene: Scene, x: float, y: float) -> str:
    """Graphviz counts upwards, in points."""
    return f"{x:.1f},{scene.height - y:.1f}"
