"""A comparison for a pull request."""

import html
import re
from collections.abc import Iterator

from fabricgen.diff.counts import ChangeCounts, count
from fabricgen.diff.difference import Difference
from fabricgen.diff.groups import ChangeGroup, grouped
from fabricgen.report import diff_words as words
from fabricgen.report.name_runs import device_runs
from fabricgen.units import counted
from fabricgen.visible import markdown, visible

MOST_CHARACTERS = 60_000  # GitHub's limit for a comment is 65,536
_MOST_LINES = 200  # of one group
_SIGNS = {"add": "+", "remove": "-", "replace": "!"}  # the signs that a diff block colours


def diff_markdown(difference: Difference) -> str:
    """The counts, then a collapsible section for each group of devices, up to the length limit of a comment."""
    counts = count(difference)
    parts = ["\n".join(_head(difference, counts))]
    groups = grouped({device.name: device.changes for device in difference.changed})
    room = MOST_CHARACTERS - len(parts[0])
    for number, group in enumerate(groups):
        part = _details(group, difference)
        room -= len(part)
        if room < 0:
            parts.append(f"_{counted(len(groups) - number, 'more group')} left out; `fabricgen diff` shows all._")
            break
        parts.append(part)
    return "\n\n".join(parts)


def _head(difference: Difference, counts: ChangeCounts) -> Iterator[str]:
    subject = "drift" if difference.is_drift else "differences"
    yield f"**fabricgen: {'' if difference.differs else 'no '}{subject}**"
    yield ""
    yield " ".join(filter(None, (words.devices_line(counts), words.changes_line(counts))))
    lines = [*words.way_lines(difference, counts), *words.side_notes(difference, counts)]
    lines += [f"added by the switch, not drift: {line}" for line in words.made_lines(difference, markdown)]
    for what, devices in (("new", difference.added), ("removed", difference.removed)):
        if devices:
            names = words.shortened(device_runs(list(devices), difference.names))
            lines.append(f"{what}: {_code(names)} ({counted(sum(devices.values()), 'row')})")
    lines += [f"{what}: {_code(path)}" for path, what in difference.files.items()]
    if lines:
        yield ""
        yield from (f"- {line}" for line in lines)


def _details(group: ChangeGroup, difference: Difference) -> str:
    names = words.shortened(device_runs(group.devices, difference.names))
    devices = counted(len(group.devices), "device")
    lines = []
    for rows in group.rows[:_MOST_LINES]:
        place, what = words.row_words(rows)
        mark = words.cost_mark(difference, rows)
        lines.append(f"{_SIGNS[rows.change.op]} {place}  {what}".rstrip() + mark)
    if len(group.rows) > _MOST_LINES:
        lines.append(f"# {len(group.rows) - _MOST_LINES} more")
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    changes = counted(len(group.rows), "change")
    head = f"<details><summary><code>{html.escape(visible(names))}</code> ({devices}): {changes}</summary>"
    return f"{head}\n\n{fence}diff\n{text}\n{fence}\n\n</details>"


def _code(text: str) -> str:
    return f"<code>{html.escape(visible(text))}</code>"
