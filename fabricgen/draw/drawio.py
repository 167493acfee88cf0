"""A scene as a file of draw.io, for people who edit it further: boxes are shapes, lines stay connected to them."""

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import quoteattr

from fabricgen.draw.curves import curve
from fabricgen.draw.scene import LEVEL, Box, BoxKind, ChangeState, Label, Scene, legend_parts
from fabricgen.draw.style import box_colors, line_color, line_width
from fabricgen.report.house_style import FONT_PX, INK
from fabricgen.visible import visible

_LINE_TEXT = f"verticalAlign=bottom;fontSize={FONT_PX};fontColor={INK};"
_NARROW = 60  # px of a box, below which its name does not fit


def scene_drawio(scene: Scene) -> str:
    """The picture as uncompressed XML of draw.io."""
    legend = list(legend_parts(scene))
    labels = [*scene.labels, *(label for _, label in legend)]
    # lines first: draw.io draws what follows over them
    cells = [*_lines(scene), *_boxes([*scene.boxes, *(box for box, _ in legend)]), *_labels(labels)]
    head = [f"<mxfile><diagram name={_attribute(scene.name or 'fabric')}><mxGraphModel><root>", '<mxCell id="0"/>']
    tail = ["</root></mxGraphModel></diagram></mxfile>", ""]
    return "\n".join([*head, '<mxCell id="1" parent="0"/>', *cells, *tail])


def _attribute(text: str) -> str:
    return quoteattr("".join(each if each == "\n" else visible(each) for each in text), {"\n": "&#10;"})


def _boxes(boxes: Iterable[Box]) -> Iterator[str]:
    for number, box in enumerate(boxes):
        fill, edge = box_colors(box)
        dashes = "dashed=1;" if box.kind is BoxKind.FREE or box.state is ChangeState.REMOVED else ""
        # html=0: names are text, and draw.io does not read markup in them
        style = (
            f"rounded=1;html=0;whiteSpace=wrap;fontSize={FONT_PX};fillColor={fill};strokeColor={edge};fontColor={INK};"
            f"{dashes}"
        )
        yield (
            f'<mxCell id="box-{number}" value={_attribute(_value(box))} style="{style}" vertex="1" parent="1">'
            f"{_geometry(box.x, box.y, box.width, box.height)}</mxCell>"
        )


def _value(box: Box) -> str:
    name = "" if box.kind is BoxKind.FREE or box.width < _NARROW else box.name
    return "\n".join(filter(None, (box.text or name, box.note)))


def _lines(scene: Scene) -> Iterator[str]:
    for number, line in enumerate(scene.lines):
        ends = ((scene.boxes[line.a], line.x1, line.y1, "exit"), (scene.boxes[line.b], line.x2, line.y2, "entry"))
        at = "".join(
            f"{name}X={(x - box.x) / box.width:.3f};{name}Y={(y - box.y) / box.height:.3f};"
            for box, x, y, name in ends
            if abs(y - box.middle[1]) > 1 or abs(x - box.middle[0]) > box.width / 2 - 1  # from the middle: anywhere
        )
        corners = (
            curve(line)[1:-1] if abs(line.bow) > LEVEL else ()
        )  # a corner stays where it is if a person moves a box
        points = "".join(f'<mxPoint x="{x:.1f}" y="{y:.1f}"/>' for x, y in corners)
        way = f'><Array as="points">{points}</Array></mxGeometry>' if points else "/>"
        style = (
            f"endArrow=none;html=0;curved=1;strokeColor={line_color(line)};strokeWidth={line_width(line.links)};"
            f"opacity={100 if line.state else 60};{at}{_LINE_TEXT if line.text else ''}"
            f"{'dashed=1;' if line.state is ChangeState.REMOVED else ''}"
        )
        yield (
            f'<mxCell id="line-{number}" value={_attribute(line.text)} style="{style}" edge="1" parent="1" '
            f'source="box-{line.a}" target="box-{line.b}"><mxGeometry relative="1" as="geometry"{way}</mxCell>'
        )


def _labels(labels: Iterable[Label]) -> Iterator[str]:
    for number, label in enumerate(labels):
        width = 7 * len(label.text) + 10
        left = {"start": 0, "middle": width / 2, "end": width}[label.anchor]
        align = {"start": "left", "middle": "center", "end": "right"}[label.anchor]
        style = (
            f"text;html=0;strokeColor=none;fillColor=none;align={align};verticalAlign=middle;spacing=0;"
            f"fontSize={FONT_PX};fontColor={INK};"
        )
        yield (
            f'<mxCell id="label-{number}" value={_attribute(label.text)} style="{style}" vertex="1" parent="1">'
            f"{_geometry(label.x - left, label.y - 12, width, 16)}</mxCell>"
        )


def _geometry(x: float, y: float, width: float, height: float) -> str:
    return f'<mxGeometry x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" as="geometry"/>'
