"""The pictures of docs/how-lossless-works.md, as SVG in docs/figures.

python docs/make_figures.py

The numbers in them are computed by fabricgen, not typed: bytes in flight, the dynamic threshold, and a cycle.
"""

import math
import sys
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

FOLDER = Path(__file__).with_name("figures")
sys.path.insert(0, str(FOLDER.parents[1]))

from fabricgen.physics import (  # noqa: E402
    PFC_FRAME_BYTES,
    bytes_in_flight,
    dynamic_threshold_bytes,
    headroom_floor_bytes,
    peer_response_bytes,
)
from fabricgen.units import format_speed  # noqa: E402

_INK, _BLUE, _RED, _GREEN, _GREY = "#1f2933", "#1f6feb", "#c62828", "#2e7d32", "#9aa5b1"


class Drawing:
    """Shapes with a white background, readable on light and dark pages."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'font-family="sans-serif" font-size="14">',
            f"<title>{title}</title>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        ]

    def box(self, x: float, y: float, width: float, height: float, fill: str, line: str = _INK) -> None:
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" stroke="{line}"/>'
        )

    def text(self, x: float, y: float, words: str, *, color: str = _INK, anchor: str = "start") -> None:
        self.parts.append(f'<text x="{x:g}" y="{y:g}" fill="{color}" text-anchor="{anchor}">{words}</text>')

    def line(self, *points: tuple[float, float], color: str = _INK, width: float = 1.5, dash: str = "") -> None:
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width:g}"{dashed}/>')

    def arrow(self, start: tuple[float, float], end: tuple[float, float], color: str = _INK) -> None:
        self.line(start, end, color=color, width=2)
        angle = math.atan2(end[1] - start[1], end[0] - start[0])
        tips = [(end[0] - 10 * math.cos(angle + side), end[1] - 10 * math.sin(angle + side)) for side in (0.4, -0.4)]
        shape = " ".join(f"{x:.1f},{y:.1f}" for x, y in (end, *tips))
        self.parts.append(f'<polygon points="{shape}" fill="{color}"/>')

    def dump(self) -> str:
        return "\n".join([*self.parts, "</svg>"]) + "\n"


_SPEED_MBPS, _CABLE_M, _MTU_BYTES = 400_000, 40.0, 9100
_WIDTH = 720


def headroom() -> str:
    """What still arrives after the decision to pause, as a bar of bytes."""
    drawing = Drawing(_WIDTH, 250, "Bytes that arrive after the decision to pause")
    flight, response = bytes_in_flight(_SPEED_MBPS, _CABLE_M), peer_response_bytes(_SPEED_MBPS) or 0
    pieces = [
        ("cable, there", flight, _BLUE),
        ("frame being sent, and pause frame", _MTU_BYTES + PFC_FRAME_BYTES, _GREY),
        ("reaction of the peer", response, _RED),
        ("frame that the peer has started", _MTU_BYTES, _GREY),
        ("cable, back", flight, _BLUE),
    ]
    total = sum(size for _, size, _ in pieces)
    drawing.text(20, 28, f"After XOFF: {format_speed(_SPEED_MBPS)}, {_CABLE_M:g} m of cable, MTU {_MTU_BYTES}")
    x = 20.0
    for number, (name, size, color) in enumerate(pieces, 1):
        width = size / total * (_WIDTH - 40)
        drawing.box(x, 50, width, 46, color)
        drawing.text(x + width / 2, 78, str(number), color="#ffffff", anchor="middle")
        drawing.text(30, 106 + 20 * number, f"{number}  {name}: {size:,.0f} B")
        x += width
    least = headroom_floor_bytes(_SPEED_MBPS, _CABLE_M, _MTU_BYTES)
    drawing.text(390, 146, f"together {total:,.0f} B")
    drawing.text(390, 166, f"without 3: {least:,} B, the floor of every switch")
    drawing.text(390, 186, "a chip adds its pipeline and whole cells,")
    drawing.text(390, 206, "so the row of the SKU counts")
    return drawing.dump()


def thresholds() -> str:
    """The marks of a filling queue: Kmin, Kmax, XOFF, the end of the headroom."""
    drawing = Drawing(_WIDTH, 250, "ECN acts first, then PFC, then the headroom ends")
    drawing.line((40, 200), (_WIDTH - 20, 200))
    marks = [(150, "Kmin", _GREEN), (280, "Kmax", _GREEN), (430, "XOFF", _BLUE), (620, "headroom full", _RED)]
    drawing.line((40, 200), (150, 200), (280, 150), (280, 60), (_WIDTH - 20, 60), color=_GREEN, width=2.5)
    for x, name, color in marks:
        drawing.line((x, 40), (x, 208), color=color, dash="5 4")
        drawing.text(x, 226, name, color=color, anchor="middle")
    drawing.text(40, 28, "probability of a mark", color=_GREEN)
    drawing.text(215, 130, "ECN", color=_GREEN, anchor="middle")
    drawing.text(355, 100, "every packet", color=_GREEN, anchor="middle")
    drawing.text(355, 118, "is marked", color=_GREEN, anchor="middle")
    drawing.text(525, 110, "paused:", color=_BLUE, anchor="middle")
    drawing.text(525, 128, "the rest of the cable", color=_BLUE, anchor="middle")
    drawing.text(525, 146, "is absorbed", color=_BLUE, anchor="middle")
    drawing.text(665, 120, "packets", color=_RED, anchor="middle")
    drawing.text(665, 138, "are lost", color=_RED, anchor="middle")
    drawing.text(_WIDTH - 20, 246, "bytes in the queue", anchor="end")
    return drawing.dump()


def sharing() -> str:
    """The limit of one queue falls with the number of busy queues."""
    pool, alphas, most = 100.0, ((0, _BLUE), (-2, _RED)), 16
    drawing = Drawing(_WIDTH, 270, "Share of the pool of one busy queue, by the number of busy queues")
    left, bottom, scale = 70, 220, 1.7

    def place(queues: float, share: float) -> tuple[float, float]:
        return left + (queues - 1) / (most - 1) * (_WIDTH - left - 60), bottom - share * scale

    drawing.line((left, 40), (left, bottom), (_WIDTH - 40, bottom))
    for share in (0, 25, 50, 75, 100):
        drawing.text(left - 8, place(1, share)[1] + 5, f"{share} %", anchor="end")
    for queues in (1, 4, 8, 12, 16):
        drawing.text(place(queues, 0)[0], bottom + 20, str(queues), anchor="middle")
    for exponent, color in alphas:
        points = [
            place(count, dynamic_threshold_bytes(int(pool * 1000), exponent, count) / 1000)
            for count in range(1, most + 1)
        ]
        drawing.line(*points, color=color, width=2.5)
        height = 60 if exponent == 0 else 84
        drawing.line((330, height - 5), (360, height - 5), color=color, width=2.5)
        drawing.text(370, height, f"alpha = 2^{exponent}, dynamic_th {exponent}", color=color)
    drawing.text(left, 28, "largest share of one queue")
    drawing.text(_WIDTH - 40, bottom + 40, "busy queues", anchor="end")
    return drawing.dump()


def cycle() -> str:
    """Four buffers, each waiting for the next, and the same four switches with valley-free paths."""
    drawing = Drawing(_WIDTH, 300, "A cycle of waiting buffers, and paths without one")
    for offset, title, color in ((10, "paths that go down and up again", _RED), (370, "paths up, then down", _GREEN)):
        spots = {
            "leaf1": (offset + 60, 180), "leaf2": (offset + 250, 180),
            "spine1": (offset + 60, 70), "spine2": (offset + 250, 70),
        }  # fmt: skip
        drawing.text(offset + 155, 28, title, anchor="middle", color=color)
        if offset == 10:
            order = ["leaf1", "spine1", "leaf2", "spine2", "leaf1"]
            for start, end in pairwise(order):
                drawing.arrow(_towards(spots[start], spots[end]), _towards(spots[end], spots[start]), color)
        else:
            for leaf, spine in (("leaf1", "spine1"), ("leaf2", "spine2")):
                drawing.arrow(_towards(spots[leaf], spots[spine]), _towards(spots[spine], spots[leaf]), color)
            for spine, leaf in (("spine1", "leaf2"), ("spine2", "leaf1")):
                drawing.arrow(_towards(spots[spine], spots[leaf]), _towards(spots[leaf], spots[spine]), _BLUE)
            for x, y in (spots["leaf1"], spots["leaf2"]):
                drawing.arrow((x, y + 20), (x, y + 52), _BLUE)
                drawing.text(x, y + 68, "hosts", anchor="middle")
        for name, (x, y) in spots.items():
            drawing.box(x - 40, y - 18, 80, 36, "#ffffff")
            drawing.text(x, y + 5, name, anchor="middle")
    drawing.text(165, 285, "each buffer waits for the next one", anchor="middle")
    drawing.text(530, 285, "what goes down ends at hosts, which always drain", anchor="middle")
    return drawing.dump()


def _towards(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    """A point outside the box around `start`, on the way to `end`."""
    length = math.dist(start, end)
    return start[0] + (end[0] - start[0]) / length * 46, start[1] + (end[1] - start[1]) / length * 30


FIGURES: Mapping[str, Callable[[], str]] = {each.__name__: each for each in (headroom, thresholds, sharing, cycle)}


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    for name, draw in FIGURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
