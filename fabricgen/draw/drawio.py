"""A scene as a file of draw.io, for people who edit it further: boxes are shapes, lines stay connected to them."""

from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

from fabricgen.draw.scene import Box, Scene
from fabricgen.draw.style import box_colors, line_color, line_width
from fabricgen.report.house_style import FONT_PX, INK
from fabricgen.visible import visible


def scene_drawio(scene: Scene) -> str:
    """The picture as uncompressed XML of draw.io."""
    cells = [*_boxes(scene), *_lines(scene), *_labels(scene)]
    head = [f"<mxfile><diagram name={_attribute(scene.name or 'fabric')}><mxGraphModel><root>", '<mxCell id="0"/>']
    tail = ["</root></mxGraphModel></diagram></mxfile>", ""]
    return "\n".join([*head, '<mxCell id="1" parent="0"/>', *cells, *tail])


def _attribute(text: str) -> str:
    return quoteattr("".join(each if each == "\n" else visible(each) for each in text), {"\n": "&#10;"})


def _boxes(scene: Scene) -> Iterator[str]:
    for number, box in enumerate(scene.boxes):
        fill, edge = box_colors(box)
        # html=0: names are text, and draw.io does not read markup in them
        style = (
            f"rounded=1;html=0;whiteSpace=wrap;fontSize={FONT_PX};fillColor={fill};strokeColor={edge};fontColor={INK};"
        )
        yield (
            f'<mxCell id="box-{number}" value={_attribute(_value(box))} style="{style}" vertex="1" parent="1">'
            f"{_geometry(box.x, box.y, box.width, box.height)}</mxCell>"
        )


def _value(box: Box) -> str:
    return "\n".join(filter(None, (box.text or box.name, box.note)))


def _lines(scene: Scene) -> Iterator[str]:
    for number, line in enumerate(scene.lines):
        ends = ((scene.boxes[line.a], line.x1, line.y1, "exit"), (scene.boxes[line.b], line.x2, line.y2, "entry"))
        at = "".join(
            f"{name}X={(x - box.x) / box.width:.3f};{name}Y={(y - box.y) / box.height:.3f};" for box, x, y, name in ends
        )
        style = f"endArrow=none;html=0;strokeColor={line_color(line)};strokeWidth={line_width(line.links)};{at}"
        yield (
            f'<mxCell id="line-{number}" value={_attribute(line.text)} style="{style}" edge="1" parent="1" '
            f'source="box-{line.a}" target="box-{line.b}"><mxGeometry relative="1" as="geometry"/></mxCell>'
        )


def _labels(scene: Scene) -> Iterator[str]:
    style = f"text;html=0;align=left;fontSize={FONT_PX};fontColor={INK};"
    for number, label in enumerate(scene.labels):
        yield (
            f'<mxCell id="label-{number}" value={_attribute(label.text)} style="{style}" vertex="1" parent="1">'
            f"{_geometry(label.x, label.y - 12, 7 * len(label.text) + 10, 16)}</mxCell>"
        )


def _geometry(x: float, y: float, width: float, height: float) -> str:
    return f'<mxGeometry x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" as="geometry"/>'
