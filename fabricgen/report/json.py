"""Findings as the JSON object that pipelines read; `schemas/findings.schema.json` is its schema."""

from collections.abc import Iterable, Sequence
from typing import Any

from fabricgen.findings import Finding, Location, in_order
from fabricgen.report.summary import Counts, summary

FORMAT_VERSION = "1"


def json_object(tool_version: str, findings: Iterable[Finding], counts: Counts, **own: object) -> dict[str, Any]:
    """format_version, tool, summary and findings, followed by a verb's own keys (deadlock=…, congestion=…)."""
    ordered = in_order(findings)
    return {
        "format_version": FORMAT_VERSION,
        "tool": {"name": "fabricgen", "version": tool_version},
        "summary": summary(ordered, counts),
        "findings": [_finding(finding) for finding in ordered],
        **own,
    }


def of_planes(objects: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A verb's own object: the first plane's, which is the worst, without its name, and with several planes all of them
    under `planes`."""
    if not objects:
        return {}
    worst = {key: content for key, content in objects[0].items() if key != "name"}
    return {**worst, "planes": objects} if len(objects) > 1 else worst


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": finding.message,
        "device": finding.device,
        "devices": list(finding.devices or filter(None, [finding.device])),
        "path": finding.path,
        "count": finding.count,
        "location": _location(finding.location) if finding.location else None,
        "related": [{"message": item.message, "location": _location(item.location)} for item in finding.related],
        "hint": finding.hint,
        "fingerprint": finding.fingerprint,
    }


def _location(location: Location) -> dict[str, Any]:
    return {"file": location.file, "line": location.line, "column": location.column}
