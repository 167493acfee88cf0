"""SARIF 2.1.0, for GitHub code scanning, Azure DevOps and editors."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from fabricgen.findings import Finding, Location, Severity
from fabricgen.report.formats import Format
from fabricgen.report.formats.json import as_json
from fabricgen.report.pages import page
from fabricgen.report.phrases import from_here, sentence
from fabricgen.report.run import Run

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "fabricgen/v1"
_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def sarif_object(run: Run) -> dict[str, Any]:
    """The log of one run. It has suppressed findings, too, each with the reason of its suppression. Rules without a
    finding have their title and address only: GitHub takes files of 10 MB, and their pages alone are 1 MB."""
    codes = run.all_codes
    index = {code: number for number, code in enumerate(codes)}
    findings = [*run.findings, *run.suppressed]
    found = {one.code for one in findings}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "fabricgen",
                        "version": run.version,
                        "semanticVersion": run.version,
                        "rules": [_rule(code, run.version, in_full=code in found) for code in codes],
                    }
                },
                "automationDetails": {"id": f"fabricgen/{run.verb}/"},
                "invocations": [{"executionSuccessful": True, "exitCode": run.exit_code}],
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, index[one.code]) for one in findings],
                "properties": dict(run.own),
            }
        ],
    }


def _rule(code: str, version: str, *, in_full: bool) -> dict[str, Any]:
    known = page(code)
    rule: dict[str, Any] = {"id": code, "shortDescription": {"text": known.title}}
    if in_full:
        rule["fullDescription"] = {"text": known.what}
        rule["help"] = {"text": known.text, "markdown": known.markdown}
    if url := known.url(version):
        rule["helpUri"] = url
    if known.severity:
        rule["defaultConfiguration"] = {"level": _LEVEL[known.severity]}
    return rule


def _result(one: Finding, index: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": one.code,
        "ruleIndex": index,
        "level": _LEVEL[one.severity],
        "message": {"text": sentence(one)},
        "locations": _locations(one),
        "occurrenceCount": one.count,
        "partialFingerprints": {FINGERPRINT: one.fingerprint},
        "properties": {"confidence": one.confidence.value, "device": one.device, "path": one.path},
    }
    if one.caused_by:
        result["properties"]["caused_by"] = list(one.caused_by)
    if one.devices:
        result["properties"]["devices"] = list(one.devices)
    if one.related:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": each.message}, "physicalLocation": _physical(each.location)}
            for number, each in enumerate(one.related)
        ]
    if one.suppression:
        kind = "inSource" if one.suppression.inline else "external"
        result["suppressions"] = [{"kind": kind, "status": "accepted", "justification": one.suppression.reason}]
    return result


def _locations(one: Finding) -> list[Mapping[str, Any]]:
    location: dict[str, Any] = {"physicalLocation": _physical(one.location)} if one.location else {}
    name = ":".join(filter(None, (one.device, one.path)))
    if name:
        location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "member"}]
    return [location] if location else []


def _physical(place: Location) -> dict[str, Any]:
    found: dict[str, Any] = {"artifactLocation": {"uri": _uri(place.file)}}
    if place.line:
        found["region"] = {"startLine": place.line, **({"startColumn": place.column} if place.column else {})}
    return found


def _uri(file: str) -> str:
    named = from_here(file)
    return PurePath(named).as_uri() if named.startswith("/") else quote(named)


def _write(run: Run) -> str:
    return as_json(sarif_object(run))


FORMAT = Format("sarif", "SARIF 2.1.0", _write, annotates_files=True)
