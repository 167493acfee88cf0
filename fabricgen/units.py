"""Speeds, lengths and byte counts: text to numbers whose unit is in the name, and back."""

import re
from collections.abc import Sequence
from functools import cache

_MOST_DIGITS = 18
_SPEED = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)\s*([MGT])(?:b?ps|bit/s|b/s)?", re.IGNORECASE)
_LENGTH = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)\s*(cm|km|m)")
_BYTES = re.compile(r"(\d{1,18})\s*(B|kB|KB|KiB|MB|MiB|GB|GiB)?")

_SPEED_MBPS = {"M": 1, "G": 1_000, "T": 1_000_000}
_LENGTH_M = {"cm": 0.01, "m": 1.0, "km": 1000.0}
_BYTE_UNITS = {
    "B": 1, "kB": 1000, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3,
}  # fmt: skip


def whole_number(text: object) -> int | None:
    """The number in a text of 1 to 18 ASCII digits, which 64 bits can hold; None for anything else."""
    is_number = isinstance(text, str) and 0 < len(text) <= _MOST_DIGITS and text.isascii() and text.isdecimal()
    return int(str(text)) if is_number else None


def signed_number(text: object) -> int | None:
    """The number in a text as for `whole_number`, with or without a minus sign; None for anything else."""
    if not isinstance(text, str) or not text.startswith("-"):
        return whole_number(text)
    number = whole_number(text[1:])
    return None if number is None else -number


def parse_speed_mbps(text: str) -> int:
    """'400G' to 400000. Raises ValueError for other texts and for less than 1 Mb/s."""
    match = _SPEED.fullmatch(text.strip())
    mbps = round(float(match[1]) * _SPEED_MBPS[match[2].upper()]) if match else 0
    if mbps < 1:
        raise ValueError(f"{text!r} is not a speed such as 400G")
    return mbps


def format_speed(mbps: int) -> str:
    """400000 to '400G'."""
    for unit, size in (("T", 1_000_000), ("G", 1_000)):
        if mbps % size == 0 and (unit != "T" or mbps >= 10 * size):
            return f"{mbps // size}{unit}"
    return f"{mbps}M"


@cache
def format_speeds(count: int, mbps: int) -> str:
    """'2x400G' of two links, '400G' of one."""
    return f"{count}x{format_speed(mbps)}" if count > 1 else format_speed(mbps)


def parse_length_m(text: str) -> float:
    """'40m' or '50cm' to metres. Raises ValueError for a text that is not a length."""
    match = _LENGTH.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is not a length such as 40m")
    return float(match[1]) * _LENGTH_M[match[2]]


def format_length(metres: float) -> str:
    """40.0 to '40m', 0.5 to '0.5m'."""
    return f"{metres:g}m"


def parse_bytes(text: str) -> int:
    """'256KiB' or '262144' to bytes. Raises ValueError for a text that is not a byte count."""
    match = _BYTES.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is not a byte count such as 256KiB")
    return int(match[1]) * _BYTE_UNITS[match[2] or "B"]


_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(ns|us|ms|s)")
_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


def parse_time_ns(text: str) -> int:
    """20_000 for '20us', in whole nanoseconds. Raises ValueError for a text without a number and ns, us, ms or s."""
    found = _TIME.fullmatch(text.strip())
    if found is None or len(found[1]) > _MOST_DIGITS:
        raise ValueError(f"{text!r} is not a time, for example 20us or 1.5ms")
    return round(float(found[1]) * _NS[found[2]])


_SPAN = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(s|min|h|d)")
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86_400}


def parse_span_s(text: str) -> float:
    """14_400 for '4h', in seconds. Raises ValueError for a text without a number and s, min, h or d."""
    found = _SPAN.fullmatch(text.strip())
    if found is None or len(found[1]) > _MOST_DIGITS:
        raise ValueError(f"{text!r} is not a span of time, for example 10min or 4h")
    return float(found[1]) * _SECONDS[found[2]]


def format_bytes(size: int) -> str:
    """262144 to '256KiB': in the largest unit of which it is a multiple."""
    for unit in ("GiB", "MiB", "KiB"):
        if size % _BYTE_UNITS[unit] == 0:
            return f"{size // _BYTE_UNITS[unit]}{unit}"
    return f"{size}B"


def counted(number: int, noun: str, many: str = "") -> str:
    """'1 device', '2 switches', '3 leaves'; `many` is for nouns whose last word is not the one that changes."""
    return f"{number} {noun if number == 1 else many or _plural(noun)}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """The first names, and the number of the others: 'leaf1, leaf2 and 14 more'."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _plural(noun: str) -> str:
    if noun.endswith(("ch", "sh", "s", "x")):
        return f"{noun}es"
    if noun.endswith("leaf"):
        return f"{noun.removesuffix('f')}ves"
    return f"{noun.removesuffix('y')}ies" if noun.endswith(("ry", "ty", "cy")) else f"{noun}s"
