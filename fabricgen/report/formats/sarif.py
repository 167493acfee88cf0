"""SARIF 2.1.0, for GitHub code scanning, Azure DevOps and editors."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

import orjson

from fabricgen.findings import Finding, Location, Severity
from fabricgen.report.formats import Format
from fabricgen.report.pages import page
from fabricgen.report.phrases import from_here, sentence
from fabricgen.report.run import Run
from fabricgen.units import counted

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "fabricgen/v1"
_MOST_BYTES = 1_000_000  # of a log: GitHub takes 10 MB when compressed, and code review reads it on every push
_MOST_OF_CODE = (
    1000,
    300,
    100,
    30,
    10,
    3,
    1,
)  # results of one code, the first number with which the log is short enough
_MOST_NAMES = 20  # devices of a result, which its message has as ranges
_MOST_CAUSES = 5
_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def sarif_object(run: Run) -> dict[str, Any]:
    """The log of one run. It has suppressed findings, too, each with the reason of its suppression. Rules without a
    finding have their title and address only: their pages alone are 1 MB.

    A log is at most 1 MB, so a code with many findings has the first ones, and a notification with the number of the
    others. The exit code and the counts are those of all.
    """
    codes = run.all_codes
    index = {code: number for number, code in enumerate(codes)}
    findings = [*run.findings, *run.suppressed]
    results = [_result(one, index[one.code]) for one in findings]
    log = _log(run, codes, {one.code for one in findings})
    kept, left = _short_enough(results, _MOST_BYTES - len(orjson.dumps(log)))
    log["runs"][0]["results"] = kept
    if left:
        log["runs"][0]["invocations"][0]["toolExecutionNotifications"] = list(_notes(left, index))
    return log


def _short_enough(results: Sequence[dict[str, Any]], most_bytes: int) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The results that fit, in their order, and the number of those of each code that are left out."""
    sizes = [len(orjson.dumps(one)) + 1 for one in results]
    for most in _MOST_OF_CODE:
        seen: dict[str, int] = {}
        kept, size = [], 0
        for one, own in zip(results, sizes, strict=True):
            code = one["ruleId"]
            seen[code] = seen.get(code, 0) + 1
            if seen[code] <= most:
                kept.append(one)
                size += own
        if size <= most_bytes:
            break
    return kept, {code: number - most for code, number in seen.items() if number > most}


def _notes(left: Mapping[str, int], index: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    for code, number in left.items():
        text = f"{counted(number, 'more finding')} of {code}: --format json has all of them"
        yield {
            "level": "note",
            "message": {"text": text},
            "associatedRule": {"id": code, "index": index[code]},
        }


def _log(run: Run, codes: Sequence[str], found: set[str]) -> dict[str, Any]:
    """The log without results."""
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
                "results": [],
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
        result["properties"]["caused_by"] = list(one.caused_by[:_MOST_CAUSES])
    if one.devices:
        result["properties"] |= {"devices": list(one.devices[:_MOST_NAMES]), "deviceCount": len(one.devices)}
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
    return orjson.dumps(sarif_object(run), option=orjson.OPT_APPEND_NEWLINE).decode()


FORMAT = Format("sarif", "SARIF 2.1.0", _write, annotates_files=True)
