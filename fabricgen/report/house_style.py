"""The look of all pictures: colours, font, heads, legends, and axes with SI units and round numbers.

The colours of lines differ for people with each kind of colour blindness (palette of Okabe and Ito, 2008, with a darker
yellow). Every four lines have other dashes.
"""

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, floor, log10

from fabricgen.visible import visible

INK, FAINT, WIRE, GRID, PAPER = "#191a1d", "#666a73", "#777b86", "#e5e5e1", "#ffffff"
ERROR, ACCENT, ADDED, CHANGED = "#c0271b", "#2a5bd7", "#0b7a6f", "#7038c9"
CYCLE, PAUSED_FILL, PAUSED_EDGE = "#d55e00", "#fdf0dc", "#d9a441"
FONT = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
FONT_PX, LETTER_PX, TITLE_PX = 11, 6.4, 15
SERIES = ("#0072b2", "#d55e00", "#009e73", "#b8578f", "#3d9bd1", "#9a7400", "#7038c9", "#777b86")
_DASHES = ("", ' stroke-dasharray="9 2"', ' stroke-dasharray="2 3"')
BYTES, TIME, RATE = ("B", "kB", "MB", "GB"), ("ns", "µs", "ms", "s"), ("Gb/s", "Tb/s")


def text(value: str) -> str:
    """A name as text of SVG: neither markup nor control characters."""
    return escape(visible(value))


def opening(width: float, height: float, title: str) -> str:
    """The first elements of a picture: paper, and its title, which screen readers read."""
    shown = text(title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{FONT}" font-size="{FONT_PX}" role="img">'
        f'<title>{shown}</title>\n<rect width="{width:.0f}" height="{height:.0f}" fill="{PAPER}"/>\n'
        f'<text x="16" y="24" font-size="{TITLE_PX}" font-weight="600" fill="{INK}">{shown}</text>'
    )


def words(x: float, y: float, value: str, anchor: str = "start", color: str = FAINT) -> str:
    """A text at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{text(value)}</text>'


def stroke(number: int) -> str:
    """The attributes of the line of this number."""
    dashes = _DASHES[number // 4 % len(_DASHES)]
    return f'stroke="{SERIES[number % len(SERIES)]}" stroke-width="1.8"{dashes}'


def ticks(high: float, count: int) -> list[float]:
    """0 and about `count` multiples of 1, 2 or 5 times a power of ten, the last of which is at least `high`."""
    if high <= 0:
        return [0.0, 1.0]
    power = 10.0 ** floor(log10(high / count))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= high / count * 0.9999)
    return [number * step for number in range(ceil(high / step - 1e-9) + 1)]


def labels(values: Sequence[float], units: Sequence[str]) -> Iterator[str]:
    """Each value with the unit (each is 1000 times the one before) in which the largest is at least 1."""
    largest, unit = max(values, default=0.0), 0
    while largest >= 1000 and unit < len(units) - 1:
        largest, unit = largest / 1000, unit + 1
    yield from (f"{round(value / 1000**unit, 6):g} {units[unit]}" if value else "0" for value in values)
