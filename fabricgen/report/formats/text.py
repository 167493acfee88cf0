"""Findings for people: the verdict first, then each place with its source line, related places, and the hint.

At a terminal, findings are grouped by file, and source lines are cropped at its width. In a pipe or a file, the first
line of a finding has its place, code and message, so that grep finds them together.

What does not fit on a screen is shortened: findings have two lines, else one; else the most severe are shown.
"""

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from textwrap import indent
from typing import NamedTuple

from fabricgen.findings import Finding, Location, Severity
from fabricgen.report.causes import cause_lines, causes
from fabricgen.report.formats import Format
from fabricgen.report.grouping import alike
from fabricgen.report.pages import page
from fabricgen.report.phrases import by_place, painted, places
from fabricgen.report.planes import has_verdict
from fabricgen.report.run import Run
from fabricgen.report.summary import Counts, headline, summary_line
from fabricgen.sonic.secrets import is_secret_path, masked
from fabricgen.units import counted, listed

_LONGEST_SOURCE_LINE = 160  # in a pipe or a file
_LONGEST_READ = 4096  # characters of a line: a whole file in one line has nothing to show, and takes long to mask
_MOST_ALIKE = 3  # places of findings like another one; --expand and the other formats have all
_SCREEN_LINES = 40
_LEAST_LINES = 12  # of findings, where the verdicts fill the screen
_AHEAD = 12  # characters of a source line that are shown before the token, if the line is cropped
_MARGIN = "   "
_INDENT = "  "  # below the name of a file
_SIMULATED = ("deadlock", "congestion", "packets")  # keys of verbs
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,:\[\]{}]+')

SourceLines = Callable[[str], tuple[str, ...]]


def text_report(
    findings: Sequence[Finding],
    counts: Counts,
    color: bool = False,
    width: int = 0,
    *,
    expand: bool = False,
    above: int = 0,
    folder: str = "",
) -> str:
    """The findings in the order of their places; the last line is the summary. `width` is that of a terminal, or 0.
    `folder` as for `Run`.
    Without `expand`, the findings like another one, and those that it explains, are lines below it, and all of them
    fit on a screen, below the `above` lines of the verdicts."""
    most = max(_SCREEN_LINES - above - 1, _LEAST_LINES)  # the summary has a line
    read_lines = functools.lru_cache(maxsize=64)(_read_lines)
    folded = [_Folded(one) for one in by_place(findings, folder)]
    if not expand:
        below = {cause.finding.fingerprint: cause.explains for cause in causes(findings)}
        roots = by_place((one for one in findings if one.fingerprint in below), folder)
        folded = [_Folded(one, others, below[one.fingerprint]) for one, others in alike(roots)]
    if not width:
        blocks = [_block(one, str(one.finding.location or ""), read_lines, color) for one in folded]
    else:
        blocks = list(_grouped(folded, read_lines, color, width))
    if not expand and sum(block.count("\n") + 1 for block in blocks) > most:
        blocks = ["\n".join(_shortened(folded, color, most - 2)) + "\n"]
    return "\n".join([*blocks, summary_line(findings, counts) + "\n"])


class _Folded(NamedTuple):
    """A finding, those like it, and those that it explains."""

    finding: Finding
    others: Sequence[Finding] = ()
    explains: Sequence[Finding] = ()


def _shortened(folded: Sequence[_Folded], color: bool, most: int) -> list[str]:
    """A line for each finding and one for its hint, at most so many; else the most severe findings."""
    heads = [_short(one, others, color) for one, others, _ in folded]
    hints = [[f"{_MARGIN}help: {one.hint}"] if one.hint else [] for one, *_ in folded]
    if len(heads) + sum(map(len, hints)) <= most:
        lines = [line for head, hint in zip(heads, hints, strict=True) for line in (head, *hint)]
        return [*lines, "Source lines and related places: --expand"]
    if len(heads) <= most:
        return [*heads, "Source lines, related places and hints: --expand"]
    ranked = sorted(range(len(folded)), key=lambda index: folded[index][0].severity.rank)
    left = Counter(folded[index][0].severity for index in ranked[most:])
    rest = ", ".join(counted(left[severity], severity.value) for severity in Severity if left[severity])
    return [*(heads[index] for index in sorted(ranked[:most])), f"Further findings, and hints: {rest}; see --expand"]


def _short(finding: Finding, others: Sequence[Finding], color: bool) -> str:
    """The place, code and message. Findings like it are counted."""
    severity = painted(f"{finding.severity} {finding.code}", finding.severity, color)
    path = "" if finding.message.startswith(finding.path) else finding.path  # many messages begin with the path
    where = " ".join(filter(None, (finding.device, path)))
    alike_too = f"; {len(others)} more like this" if others else ""
    message = f"{where}: {finding.message}" if where else finding.message
    place = str(finding.location or "")
    return "  ".join(filter(None, [place, severity, f"{message}{places(finding)}{alike_too}"]))


def _grouped(folded: Sequence[_Folded], read_lines: SourceLines, color: bool, width: int) -> Iterator[str]:
    """A block for each finding; the first one of a file begins with the name of the file."""
    for file, members in groupby(folded, key=lambda each: each[0].location.file if each[0].location else ""):
        title = f"{_BOLD}{file}{_PLAIN}\n" if color and file else f"{file}\n" if file else ""
        for one in members:
            place = str(one.finding.location).removeprefix(file).strip(":")
            block = _block(one, place if file else "", read_lines, color, width - len(_INDENT))
            yield title + (indent(block, _INDENT) if file else block)
            title = ""


def _block(
    folded: _Folded,
    place: str,
    read_lines: SourceLines,
    color: bool,
    width: int = _LONGEST_SOURCE_LINE,
) -> str:
    finding, others, explains = folded
    severity = painted(f"{finding.severity} {finding.code}", finding.severity, color)
    lines = ["  ".join(filter(None, [place, severity, finding.message + places(finding)]))]
    where = " ".join(filter(None, (finding.device, finding.path)))
    if where:
        lines.append(f"{_MARGIN}in {where}")
    if finding.location and not is_secret_path(finding.path):
        lines += _excerpt(finding.location, read_lines(finding.location.file), width)
    lines += [f"{_MARGIN}see {related.location}: {related.message}" for related in finding.related]
    if finding.hint:
        lines.append(f"{_MARGIN}help: {finding.hint}")
    if others:
        where = listed([" ".join(filter(None, (one.device, one.path))) or one.message for one in others], _MOST_ALIKE)
        lines.append(f"{_MARGIN}{len(others)} more like this: {where}")
    if explains:
        codes = Counter[str]()
        for one in explains:
            codes[one.code] += one.count
        named = ", ".join(
            f"{code} {page(code).title[:1].lower()}{page(code).title[1:]} ({count})"
            for code, count in sorted(codes.items())
        )
        lines.append(f"{_MARGIN}explains {counted(codes.total(), 'place')}: {named}")
    return "\n".join(lines) + "\n"


def _excerpt(location: Location, source: tuple[str, ...], width: int) -> list[str]:
    """The source line with a caret below the token, cropped; nothing if the file does not have the line, or if it is
    longer than a person reads."""
    if not 1 <= location.line <= len(source) or len(source[location.line - 1]) > _LONGEST_READ:
        return []
    line, start = masked(source[location.line - 1]).expandtabs(1), max(location.column - 1, 0)
    token = _TOKEN.match(source[location.line - 1], start)
    gutter = len(str(location.line))
    shown = max(width - len(_MARGIN) - gutter - len(" | "), _AHEAD)
    skipped = max(0, start - _AHEAD) if start + _AHEAD > shown else 0
    marks = min(len(token[0]) if token else 1, max(1, shown - (start - skipped)))
    caret = " " * (start - skipped) + "^" * marks
    cropped = line[skipped : skipped + shown].rstrip()
    return [f"{_MARGIN}{location.line} | {cropped}", f"{_MARGIN}{' ' * gutter} | {caret}"]


def _read_lines(file: str) -> tuple[str, ...]:
    try:
        return tuple(Path(file).read_text("utf-8", "replace").splitlines())
    except OSError:
        return ()  # the message is useful without the line


def _write(run: Run) -> str:
    head = _head(run)
    if run.findings:
        head.append("")
    text = text_report(
        run.findings, run.counts, run.color, run.width, expand=run.expand, above=len(head), folder=run.folder
    )
    return "\n".join([*head, text])


def _head(run: Run) -> list[str]:
    """The verdict, what has none, and the results of the verb; nothing if the summary says it all."""
    if not (run.findings or run.lines or run.unjudged):
        return []
    simulated = [name for name in _SIMULATED if name in run.own and has_verdict(run.own[name])]
    verdict = headline(run.findings, run.counts, simulated, failed=bool(run.exit_code), verdicts=run.verdicts)
    if run.color:
        name, colon, rest = verdict.partition(":")
        verdict = f"{_BOLD}{name}{_PLAIN}{colon}{rest}"
    return [verdict, *cause_lines(run.findings), *(f"not judged: {each}" for each in run.unjudged), *run.lines]


FORMAT = Format("text", "for people", _write, for_people=True)
