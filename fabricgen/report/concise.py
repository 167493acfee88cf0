"""One line a finding, for editors and grep."""

from collections.abc import Sequence

from fabricgen.findings import Finding, Severity

_ANSI = {Severity.ERROR: "\x1b[31m", Severity.WARNING: "\x1b[33m", Severity.NOTE: "\x1b[36m"}


def painted(text: str, severity: Severity, color: bool) -> str:
    """The text in the colour of a severity, or as it is."""
    return f"{_ANSI[severity]}{text}\x1b[0m" if color else text


def places(finding: Finding) -> str:
    """' (12 places)' where the same defect occurs more than once."""
    return f" ({finding.count} places)" if finding.count > 1 else ""


def concise_report(findings: Sequence[Finding], color: bool = False) -> str:
    """file:line:column: severity CODE device message, each ended by a newline."""
    lines = []
    for finding in findings:
        where = f"{finding.location}: " if finding.location else ""
        severity = painted(finding.severity.value, finding.severity, color)
        device = f"{finding.device} " if finding.device else ""
        lines.append(f"{where}{severity} {finding.code} {device}{finding.message}{places(finding)}\n")
    return "".join(lines)
