"""The way of a line: a Bézier curve of two, three or four points."""

from math import hypot

from fabricgen.draw.scene import Line

Point = tuple[float, float]

_CURVED = 100  # px between two tiers, from which lines are curves


def curve(line: Line) -> tuple[Point, ...]:
    """The points of a line, in pixels: two of a straight one, three of a bowed one, four of one between tiers."""
    start, end = (line.x1, line.y1), (line.x2, line.y2)
    middle = (line.x1 + line.x2) / 2, (line.y1 + line.y2) / 2
    if line.bow:
        length = hypot(line.x2 - line.x1, line.y2 - line.y1) or 1.0
        aside = (line.y1 - line.y2) / length * line.bow * 2, (line.x2 - line.x1) / length * line.bow * 2
        return start, (middle[0] + aside[0], middle[1] + aside[1]), end
    if abs(line.y2 - line.y1) > _CURVED:
        return start, (line.x1, middle[1]), (line.x2, middle[1]), end
    return start, end


def cubic(line: Line) -> tuple[Point, Point, Point, Point]:
    """The same way with four points."""
    points = curve(line)
    if len(points) == 4:
        return points
    start, end = points[0], points[-1]
    inner = [points[1]] * 2 if len(points) == 3 else [end, start]
    first, second = (
        tuple(corner[axis] + (toward[axis] - corner[axis]) * (2 / 3 if len(points) == 3 else 1 / 3) for axis in (0, 1))
        for corner, toward in zip((start, end), inner, strict=True)
    )
    return start, (first[0], first[1]), (second[0], second[1]), end
