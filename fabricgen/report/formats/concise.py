"""One line for each finding, for editors and grep."""

from collections.abc import Sequence

from fabricgen.findings import Finding
from fabricgen.report.formats import Format
from fabricgen.report.phrases import by_place, painted, places
from fabricgen.report.run import Run


def concise_report(findings: Sequence[Finding], color: bool = False, folder: str = "") -> str:
    """file:line:column: severity CODE device message, each with a newline, in the order of their places."""
    lines = []
    for finding in by_place(findings, folder):
        where = f"{finding.location}: " if finding.location else ""
        severity = painted(finding.severity.value, finding.severity, color)
        device = f"{finding.device} " if finding.device else ""
        lines.append(f"{where}{severity} {finding.code} {device}{finding.message}{places(finding)}\n")
    return "".join(lines)


def _write(run: Run) -> str:
    return concise_report(run.findings, run.color, run.folder)


FORMAT = Format("concise", "one line for each finding", _write, for_people=True)
