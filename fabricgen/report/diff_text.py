"""A comparison for the terminal."""

from collections.abc import Iterator

from fabricgen.diff.counts import count
from fabricgen.diff.difference import Difference
from fabricgen.diff.groups import grouped
from fabricgen.report import diff_words as words
from fabricgen.report.name_runs import device_runs
from fabricgen.units import counted
from fabricgen.visible import visible


def diff_text(difference: Difference, color: bool = False) -> str:
    """Groups of devices with their changes, then the counts."""
    return "\n".join([*_body(difference, color), *_tail(difference)])


def _body(difference: Difference, color: bool) -> Iterator[str]:
    for sign, devices, what in (("+", difference.added, "new device"), ("-", difference.removed, "removed device")):
        for name, rows in devices.items():
            yield words.painted(sign, f"{sign} {visible(name)}  {what}, {counted(rows, 'row')}", color)
        if devices:
            yield ""
    for path, what in difference.files.items():
        yield words.painted("~", f"~ {visible(path)}  {what}", color)
    if difference.files:
        yield ""
    yield from _groups(difference, color)
    if made := list(words.made_lines(difference)):
        yield from ("Added by the switch, not drift:", *(f"  {line}" for line in made), "")


def _groups(difference: Difference, color: bool) -> Iterator[str]:
    for group in grouped({device.name: device.changes for device in difference.changed}):
        runs = device_runs(group.devices, difference.names)
        number = f" ({len(group.devices)})" if len(group.devices) > 1 else ""
        title = f"{visible(words.shortened(runs))}{number}"
        yield f"{words.BOLD}{title}{words.PLAIN}" if color else title
        for rows in group.rows:
            sign = words.SIGNS[rows.change.op]
            place, what = words.row_words(rows)
            mark = words.cost_mark(difference, rows)
            yield words.painted(sign, f"  {sign} {place}  {what}".rstrip() + mark, color)
        yield ""


def _tail(difference: Difference) -> Iterator[str]:
    counts = count(difference)
    if not difference.differs:
        yield "No drift." if difference.is_drift else "No differences."
    yield " ".join(filter(None, (words.devices_line(counts), words.changes_line(counts))))
    yield from words.way_lines(difference, counts)
    yield from words.move_lines(difference)
    yield from words.side_notes(difference, counts)
