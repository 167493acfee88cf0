"""Findings for people: the place with its source line, related places, and the hint."""

import functools
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from fabricgen.findings import Finding, Location
from fabricgen.report.formats import Format
from fabricgen.report.phrases import painted, places
from fabricgen.report.run import Run
from fabricgen.report.summary import Counts, summary_line
from fabricgen.sonic.secrets import is_secret_path, masked

_WIDTH = 160
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,:\[\]{}]+')

SourceLines = Callable[[str], tuple[str, ...]]


def text_report(findings: Sequence[Finding], counts: Counts, color: bool = False) -> str:
    """The report; its last line is the summary."""
    read_lines = functools.lru_cache(maxsize=64)(_read_lines)
    blocks = [_block(finding, read_lines, color) for finding in findings]
    return "\n".join([*blocks, summary_line(findings, counts) + "\n"])


def _block(finding: Finding, read_lines: SourceLines, color: bool) -> str:
    severity = painted(f"{finding.severity} {finding.code}", finding.severity, color)
    head = "  ".join(filter(None, [str(finding.location or ""), severity, finding.message + places(finding)]))
    lines = [head]
    where = " ".join(filter(None, (finding.device, finding.path)))
    if where:
        lines.append(f"   in {where}")
    if finding.location and not is_secret_path(finding.path):
        lines += _excerpt(finding.location, read_lines(finding.location.file))
    lines += [f"   see {related.location}: {related.message}" for related in finding.related]
    if finding.hint:
        lines.append(f"   help: {finding.hint}")
    return "\n".join(lines) + "\n"


def _excerpt(location: Location, source: tuple[str, ...]) -> list[str]:
    """The source line with a caret below the token; nothing if the file does not have the line."""
    if not 1 <= location.line <= len(source):
        return []
    line, start = source[location.line - 1][:_WIDTH], max(location.column - 1, 0)
    token = _TOKEN.match(line, start)
    gutter = len(str(location.line))
    caret = " " * start + "^" * (len(token[0]) if token else 1)
    return [f"   {location.line} | {masked(line)}", f"   {' ' * gutter} | {caret}"]


def _read_lines(file: str) -> tuple[str, ...]:
    try:
        return tuple(Path(file).read_text("utf-8", "replace").splitlines())
    except OSError:
        return ()  # the message is useful without the line


def _write(run: Run) -> str:
    report = text_report(run.findings, run.counts, run.color)
    return "\n".join([*run.lines, report])


FORMAT = Format("text", "for people", _write)
