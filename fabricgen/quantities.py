"""Times, rates and shares for people, in SI units with three digits."""


def scaled(value: float, units: tuple[str, ...]) -> tuple[float, str]:
    """The value in the largest of `units` (each 1000 times the one before) in which it is at least 1."""
    for unit in units[:-1]:
        if abs(value) < 999.5:
            return value, unit
        value /= 1000
    return value, units[-1]


def digits(value: float) -> str:
    """'0.69', '12.3', '489'."""
    return f"{value:.2f}" if abs(value) < 9.995 else f"{value:.1f}" if abs(value) < 99.95 else f"{value:.0f}"


def count_text(count: int) -> str:
    """8128 to '8128', 4996448768 to '5.00G'."""
    if count < 100_000:
        return f"{count}"
    value, unit = scaled(count, ("", "k", "M", "G", "T", "P"))
    return f"{digits(value)}{unit}"


def time_text(nanoseconds: float) -> str:
    """1369536 to '1.37 ms'."""
    value, unit = scaled(nanoseconds, ("ns", "us", "ms", "s"))
    return f"{digits(value)} {unit}"


def size_text(size: float) -> str:
    """25_800_000 to '25.8 MB'."""
    if abs(size) < 1000:
        return f"{size:.0f} B"
    value, unit = scaled(size, ("B", "kB", "MB", "GB", "TB"))
    return f"{digits(value)} {unit}"


def rate_text(gbytes: float) -> str:
    """489.4 to '489 GB/s'."""
    value, unit = scaled(gbytes, ("GB/s", "TB/s"))
    return f"{digits(value)} {unit}"


def share_text(share: float) -> str:
    """0.5 to '50 %'."""
    return f"{100 * share:.0f} %"
