"""Findings as the JSON object that pipelines read; `schemas/findings.schema.json` is its schema."""

from collections.abc import Iterable
from typing import Any

import orjson

from fabricgen.findings import Finding, Location, in_order
from fabricgen.report.formats import Format
from fabricgen.report.run import Run
from fabricgen.report.summary import Counts, summary

FORMAT_VERSION = "1"


def json_object(tool_version: str, findings: Iterable[Finding], counts: Counts, **own: object) -> dict[str, Any]:
    """format_version, tool, summary and findings, followed by a verb's own keys (deadlock=…, congestion=…)."""
    ordered = in_order(findings)
    return {
        "format_version": FORMAT_VERSION,
        "tool": {"name": "fabricgen", "version": tool_version},
        "summary": summary(ordered, counts),
        "findings": [finding_object(finding) for finding in ordered],
        **own,
    }


def finding_object(finding: Finding) -> dict[str, Any]:
    """One finding, as in the list `findings`."""
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
        **({"caused_by": list(finding.caused_by)} if finding.caused_by else {}),
    }


def _location(location: Location) -> dict[str, Any]:
    return {"file": location.file, "line": location.line, "column": location.column}


def as_json(content: object) -> str:
    """The content as indented JSON with a final newline."""
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _write(run: Run) -> str:
    return as_json(json_object(run.version, run.findings, run.counts, not_judged=list(run.unjudged), **run.own))


FORMAT = Format("json", "for programs, by schemas/findings.schema.json", _write)
