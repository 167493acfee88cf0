"""Time series of a packet run as JSON and as pictures: queue depths, pauses, rates."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

import orjson

from fabricgen.results import Series

Point = tuple[float, float]

_WIDTH, _HEIGHT, _LEFT, _TOP, _LETTER = 960, 420, 70, 40, 6.5
_ROW, _MOST_ROWS = 16, 60
_COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")
_LIMITS = {"Kmin": "#27ae60", "Kmax": "#16a085", "XOFF of a group": "#c0392b"}
_PAUSED = "#c0392b"


def series_files(series: Series) -> Iterator[tuple[str, bytes]]:
    """(file name, content) of the files that --series writes."""
    yield "series.json", orjson.dumps(series, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    yield "queues.svg", queues_svg(series).encode()
    yield "pauses.svg", pauses_svg(series).encode()
    yield "rates.svg", rates_svg(series).encode()


def queues_svg(series: Series) -> str:
    """Depths of the fullest queues in kB, with the thresholds of the fullest queue that marks."""
    lines = {queue.name: _scaled(queue.bytes) for queue in series.queues}
    limits: dict[str, list[float]] = {}
    if series.queues:
        marking = [queue for queue in series.queues if queue.kmin_bytes is not None]
        first, count = (marking or series.queues)[0], len(series.times_ns)
        for name, value in (("Kmin", first.kmin_bytes), ("Kmax", first.kmax_bytes)):
            if value is not None:
                limits[name] = [value / 1000] * count
        if series.xoff_bytes:
            limits["XOFF of a group"] = _scaled(series.xoff_bytes)
    return _chart(f"{series.name}: queues, kB", series.times_ns, lines, limits)


def rates_svg(series: Series) -> str:
    """Rates of the first flows in Gb/s."""
    return _chart(f"{series.name}: payload acknowledged, Gb/s", series.times_ns, series.rates, {})


def pauses_svg(series: Series) -> str:
    """The pauses of each port; the port with the longest pauses is on top."""
    totals = {name: sum(end - begin for begin, end in spans) for name, spans in series.pauses.items()}
    names = sorted(totals, key=lambda name: (-totals[name], name))[:_MOST_ROWS]
    last = max([*series.times_ns, *(end for spans in series.pauses.values() for _, end in spans), 1])
    height = _TOP + _ROW * (len(names) + 3)
    more = len(totals) - len(names)
    title = f"{series.name}: paused ports" + (f", {more} more not shown" if more > 0 else "")
    parts = [_head(height, title, names)]
    for row, name in enumerate(names):
        y = _TOP + row * _ROW
        parts.append(f'<text x="{_WIDTH + 8}" y="{y + 11}">{escape(name)}</text>')
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{y + 7}" y2="{y + 7}" stroke="#ddd"/>')
        for begin, end in series.pauses[name]:
            x, width = _x(begin, last), max(0.5, _x(end, last) - _x(begin, last))
            parts.append(f'<rect x="{x:.1f}" y="{y + 2}" width="{width:.1f}" height="10" fill="{_PAUSED}"/>')
    return "\n".join([*parts, *_time_axis(last, _TOP + _ROW * len(names) + 12), "</svg>", ""])


def _chart(
    title: str, times_ns: Sequence[int], lines: Mapping[str, Sequence[float]], limits: Mapping[str, Sequence[float]]
) -> str:
    last = max([*times_ns, 1])
    top = max([1e-9, *(value for values in (*lines.values(), *_within(lines, limits)) for value in values)]) * 1.05
    bottom = _HEIGHT - 30
    parts = [_head(_HEIGHT, title, [*lines, *limits])]
    for part in range(5):
        y = bottom - (bottom - _TOP) * part / 4
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.0f}" y2="{y:.0f}" stroke="#eee"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.0f}" text-anchor="end">{_plain(top * part / 4)}</text>')

    def curve(values: Sequence[float], style: str) -> str:
        points = (
            f"{_x(time, last):.1f},{bottom - (bottom - _TOP) * min(value / top, 1):.1f}"
            for time, value in zip(times_ns, values, strict=True)
        )
        return f'<polyline fill="none" {style} points="{" ".join(points)}"/>'

    entries = [
        *(
            (name, values, f'stroke="{_COLORS[place % len(_COLORS)]}"')
            for place, (name, values) in enumerate(lines.items())
        ),
        *((name, values, f'stroke="{_LIMITS[name]}" stroke-dasharray="5 4"') for name, values in limits.items()),
    ]
    for row, (name, values, style) in enumerate(entries):
        y = _TOP + row * _ROW
        parts.append(curve(values, style))
        parts.append(f'<line x1="{_WIDTH + 8}" x2="{_WIDTH + 28}" y1="{y}" y2="{y}" {style}/>')
        shown = f"{name} (above)" if name in limits and min(values, default=0) > top else name
        parts.append(f'<text x="{_WIDTH + 34}" y="{y + 4}">{escape(shown)}</text>')
    return "\n".join([*parts, *_time_axis(last, bottom + 16), "</svg>", ""])


def _within(lines: Mapping[str, Sequence[float]], limits: Mapping[str, Sequence[float]]) -> list[Sequence[float]]:
    """The limits within four times the highest line."""
    highest = max((value for values in lines.values() for value in values), default=0.0)
    return [values for values in limits.values() if max(values, default=0.0) < 4 * highest]


def _head(height: int, title: str, names: Sequence[str]) -> str:
    """The beginning of a picture, with room for names on the right."""
    width = round(_WIDTH + 80 + _LETTER * max(map(len, names), default=0))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        f'font-size="11" role="img"><title>{escape(title)}</title>\n<rect width="{width}" height="{height}" '
        f'fill="white"/>\n<text x="{_LEFT}" y="22" font-size="14" font-weight="bold">{escape(title)}</text>'
    )


def _time_axis(last: int, y: int) -> list[str]:
    return [
        f'<text x="{_x(last * part / 8, last):.0f}" y="{y}" text-anchor="middle">{_plain(last * part / 8000)} us</text>'
        for part in range(9)
    ]


def _plain(value: float) -> str:
    """Four digits, without an exponent."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _x(time: float, last: int) -> float:
    return _LEFT + (_WIDTH - _LEFT) * time / last


def _scaled(values: Sequence[int]) -> list[float]:
    return [value / 1000 for value in values]
