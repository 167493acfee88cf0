"""A scene as a graph of Graphviz. Its places are those of the scene: `neato -n` keeps them, `dot` makes its own."""

from collections.abc import Iterator

from fabricgen.draw.scene import Scene
from fabricgen.draw.style import box_colors, line_color, line_width
from fabricgen.report.house_style import FONT_PX, WIRE
from fabricgen.visible import visible

_PX_PER_INCH = 72


def scene_dot(scene: Scene) -> str:
    """The graph. Nodes are named by what they stand for."""
    head = [
        f"graph {quoted(scene.name or 'fabric')} {{",
        f"  label={quoted(scene.caption)};",
        f'  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize={FONT_PX}, fixedsize=true];',
        f'  edge [color="{WIRE}"];',
    ]
    return "\n".join([*head, *_nodes(scene), *_edges(scene), "}", ""])


def quoted(text: str) -> str:
    """A text of DOT."""
    plain = "\n".join(visible(line) for line in text.split("\n"))
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _nodes(scene: Scene) -> Iterator[str]:
    for number, box in enumerate(scene.boxes):
        (x, y), (fill, edge) = box.middle, box_colors(box)
        label = "\n".join(filter(None, (box.text, box.note)))
        yield (
            f'  n{number} [label={quoted(label)}, tooltip={quoted(box.name)}, pos="{x:.1f},{scene.height - y:.1f}", '
            f"width={box.width / _PX_PER_INCH:.3f}, height={box.height / _PX_PER_INCH:.3f}, "
            f'fillcolor="{fill}", color="{edge}"];'
        )


def _edges(scene: Scene) -> Iterator[str]:
    for line in scene.lines:
        text = line.text or (f"{line.links} links" if line.links > 1 else "")
        color = f', color="{line_color(line)}"' if line.state else ""
        yield f"  n{line.a} -- n{line.b} [penwidth={line_width(line.links)}, tooltip={quoted(text)}{color}];"
