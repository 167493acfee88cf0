"""Time series of a packet run as JSON and as pictures: queue depths, pauses, rates."""

from collections.abc import Iterator, Mapping, Sequence

import orjson

from fabricgen.report.house_style import (
    ADDED,
    BYTES,
    CHANGED,
    ERROR,
    FAINT,
    GRID,
    INK,
    LETTER_PX,
    RATE,
    TIME,
    labels,
    opening,
    stroke,
    ticks,
    words,
)
from fabricgen.results import Series

PICTURES = ("queues.svg", "pauses.svg", "rates.svg")
_WIDTH, _HEIGHT, _LEFT, _TOP = 960, 420, 74, 48
_ROW, _MOST_ROWS = 18, 60
_LIMITS = {"Kmin": ADDED, "Kmax": CHANGED, "XOFF of a group": ERROR}

Lines = Mapping[str, Sequence[float]]


def series_files(series: Series) -> Iterator[tuple[str, bytes]]:
    """(file name, content) of the files that --series writes; a picture without content is not one of them."""
    yield "series.json", orjson.dumps(series, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    for name, has, draw in zip(
        PICTURES, (series.queues, series.pauses, series.rates), (queues_svg, pauses_svg, rates_svg), strict=True
    ):
        if has:
            yield name, draw(series).encode()


def queues_svg(series: Series) -> str:
    """Depths of the fullest queues, with the thresholds of the fullest queue that marks."""
    limits: dict[str, Sequence[float]] = {}
    marking = next((queue for queue in series.queues if queue.kmin_bytes is not None), None)
    if marking is not None:
        for name, value in (("Kmin", marking.kmin_bytes), ("Kmax", marking.kmax_bytes)):
            if value is not None:
                limits[name] = [value] * len(series.times_ns)
    if series.xoff_bytes:
        limits["XOFF of a group"] = series.xoff_bytes
    title = f"{series.name}: bytes in the fullest queues"
    return _chart(title, series.times_ns, {queue.name: queue.bytes for queue in series.queues}, limits, BYTES)


def rates_svg(series: Series) -> str:
    """Rates of the first flows."""
    return _chart(f"{series.name}: payload acknowledged", series.times_ns, series.rates, {}, RATE)


def pauses_svg(series: Series) -> str:
    """The pauses of each port; the port with the longest pauses is on top."""
    totals = {name: sum(end - begin for begin, end in spans) for name, spans in series.pauses.items()}
    names = sorted(totals, key=lambda name: (-totals[name], name))[:_MOST_ROWS]
    last = max([*series.times_ns, *(end for spans in series.pauses.values() for _, end in spans), 1])
    height, more = _TOP + _ROW * (len(names) + 2), len(totals) - len(names)
    title = f"{series.name}: paused ports, the longest first" + (f", {more} more not shown" if more > 0 else "")
    parts = [opening(_width(names), height, title)]
    for row, name in enumerate(names):
        y = _TOP + row * _ROW
        parts.append(words(_WIDTH + 8, y + 11, name, color=INK))
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{y + 7}" y2="{y + 7}" stroke="{GRID}"/>')
        for begin, end in series.pauses[name]:
            x, width = _x(begin, last), max(0.5, _x(end, last) - _x(begin, last))
            parts.append(f'<rect x="{x:.1f}" y="{y + 2}" width="{width:.1f}" height="10" fill="{ERROR}"/>')
    return "\n".join([*parts, *_time_axis(last, _TOP + _ROW * len(names) + 12), "</svg>", ""])


def _chart(title: str, times_ns: Sequence[int], lines: Lines, limits: Lines, units: Sequence[str]) -> str:
    """Lines over time with a legend. A limit far above the lines is in the legend only."""
    last, bottom = max([*times_ns, 1]), _HEIGHT - 34
    highest = max((value for values in lines.values() for value in values), default=0.0)
    drawn = {name: values for name, values in limits.items() if min(values, default=0) < 4 * highest}
    marks = ticks(max([highest, *(min(max(values), 4 * highest) for values in drawn.values())]), 5)
    parts = [opening(_width([*lines, *(f"{name}, above the picture" for name in limits)]), _HEIGHT, title)]
    for value, label in zip(marks, labels(marks, units), strict=True):
        y = bottom - (bottom - _TOP) * value / marks[-1]
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GRID}"/>')
        parts.append(words(_LEFT - 8, y + 4, label, "end"))

    def curve(values: Sequence[float], style: str) -> str:
        points = (
            f"{_x(time, last):.1f},{bottom - (bottom - _TOP) * min(value / marks[-1], 1):.1f}"
            for time, value in zip(times_ns, values, strict=True)
        )
        return f'<polyline fill="none" {style} points="{" ".join(points)}"/>'

    styles = [(name, values, stroke(number)) for number, (name, values) in enumerate(lines.items())]
    styles += [
        (name, values, f'stroke="{_LIMITS[name]}" stroke-width="1.4" stroke-dasharray="5 4"')
        for name, values in limits.items()
    ]
    for row, (name, values, style) in enumerate(styles):
        y = _TOP + row * _ROW
        if name in lines or name in drawn:
            parts.append(curve(values, style))
        parts.append(f'<line x1="{_WIDTH + 8}" x2="{_WIDTH + 28}" y1="{y}" y2="{y}" {style}/>')
        is_above = name in limits and name not in drawn
        parts.append(words(_WIDTH + 34, y + 4, f"{name}, above the picture" if is_above else name, color=INK))
    return "\n".join([*parts, *_time_axis(last, bottom + 16), "</svg>", ""])


def _width(names: Sequence[str]) -> float:
    """Of a picture with names on the right."""
    return _WIDTH + 60 + LETTER_PX * max(map(len, names), default=0)


def _time_axis(last: int, y: float) -> Iterator[str]:
    marks = [value for value in ticks(last, 8) if value <= last]
    for value, label in zip(marks, labels(marks, TIME), strict=True):
        yield words(_x(value, last), y, label, "middle", FAINT)


def _x(time: float, last: int) -> float:
    return _LEFT + (_WIDTH - _LEFT) * time / last
