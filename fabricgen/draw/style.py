"""The colours of boxes and lines. Fills differ in lightness as well, for people who do not see all hues."""

from collections.abc import Mapping

from fabricgen.draw.scene import Box, BoxKind, ChangeState, Line
from fabricgen.report.house_style import ADDED, CHANGED, ERROR, WIRE

FILLS: Mapping[BoxKind, tuple[str, str]] = {  # fill, edge
    BoxKind.SWITCH: ("#e3e6ee", "#9aa0ae"),
    BoxKind.HOST: ("#ffffff", "#b9bcc4"),
    BoxKind.OUTSIDE: ("#ffffff", "#9aa0ae"),
    BoxKind.POD: ("#ffffff", "#9aa0ae"),
    BoxKind.BAND: ("#c9ccd4", "#c9ccd4"),
    BoxKind.PORT: ("#dbe6ff", "#2a5bd7"),
    BoxKind.FREE: ("#ffffff", "#d3d3ce"),
}

STATES: Mapping[
    ChangeState, tuple[str, str]
] = {  # fill, edge; dashes mark what is removed, so that colour is not needed
    ChangeState.ADDED: ("#d7efec", ADDED),
    ChangeState.CHANGED: ("#ece2fa", CHANGED),
    ChangeState.REMOVED: ("#ffffff", ERROR),
}


def box_colors(box: Box) -> tuple[str, str]:
    """The fill and the edge of a box."""
    return STATES.get(box.state) or FILLS[box.kind]


def line_color(line: Line) -> str:
    """The colour of a line."""
    return STATES[line.state][1] if line.state in STATES else WIRE


def line_width(links: int) -> float:
    """Wider for more links, slowly."""
    return round(min(3.0, 0.7 + 0.35 * (max(links, 1)).bit_length()), 2)


def line_opacity(lines: int) -> float:
    """Fainter for more lines, so that many remain readable."""
    return round(max(0.14, min(0.6, 80 / max(lines, 1) + 0.08)), 2)
