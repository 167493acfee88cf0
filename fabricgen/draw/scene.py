"""A picture before it is written: boxes, lines and labels with their places in pixels. Every writer reads this."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

WIDTH = 880
LEVEL = 0.1  # px: the bow of a line that is straight, however far its ends are apart
LETTER = 6.4  # px of one letter of a label, at 11 px


class BoxKind(StrEnum):
    """What a box stands for; writers choose its colours by this."""

    SWITCH = "switch"
    HOST = "host"
    OUTSIDE = "outside"  # a device outside the fabric, such as a router
    POD = "pod"
    PORT = "port"
    BAND = "band"  # all links between two tiers, or those of a rail or a pod
    FREE = "free"  # an empty port, or an empty unit of a rack


class ChangeState(StrEnum):
    """What a change does to a box or a line."""

    SAME = ""
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with a text, and a second line below it. `name` is what it stands for: a switch, a pod, a port."""

    name: str
    kind: BoxKind
    x: float
    y: float
    width: float
    height: float
    text: str = ""
    note: str = ""
    state: ChangeState = ChangeState.SAME

    @property
    def middle(self) -> tuple[float, float]:
        """The centre."""
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Line:
    """A line from one box to another, by their indices, that stands for `links` links; `text` is written beside it.
    `bow` moves the middle of the line sideways, so that it does not run through other boxes; without one, a line
    between distant rows is a curve."""

    a: int
    b: int
    links: int
    x1: float
    y1: float
    x2: float
    y2: float
    bow: float = 0.0
    text: str = ""
    state: ChangeState = ChangeState.SAME


@dataclass(frozen=True, slots=True)
class Label:
    """A text. `anchor` is start, middle or end."""

    x: float
    y: float
    text: str
    anchor: str = "start"


@dataclass(frozen=True)
class Scene:
    """A picture in pixels. `caption` is the sentence that a screen reader reads. `legend` explains the states below the
    picture."""

    name: str
    caption: str
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...] = ()
    labels: tuple[Label, ...] = ()
    legend: tuple[tuple[ChangeState, str], ...] = ()
    width: float = WIDTH


def legend_parts(scene: Scene) -> Iterator[tuple[Box, Label]]:
    """A small box in the colours of each state, with what it means beside it, in a row below the picture."""
    x, y = 16.0, scene.height + 10
    for state, text in scene.legend:
        yield Box(text, BoxKind.SWITCH, x, y, 14, 10, state=state), Label(x + 20, y + 9, text)
        x += 44 + LETTER * len(text)
