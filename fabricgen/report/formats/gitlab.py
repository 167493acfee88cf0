"""GitLab code quality: the list of issues that a merge request compares with its target."""

from typing import Any

from fabricgen.findings import Finding, Severity
from fabricgen.report.formats import Format
from fabricgen.report.formats.json import as_json
from fabricgen.report.phrases import from_here, sentence
from fabricgen.report.run import Run

_SEVERITY = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.NOTE: "info"}
_NOWHERE = "fabricgen"  # an issue needs a path; a finding without a file annotates nothing


def gitlab_list(run: Run) -> list[dict[str, Any]]:
    """An issue for each finding, with unique fingerprints."""
    return [_issue(one) for one in run.findings]


def _issue(one: Finding) -> dict[str, Any]:
    place = one.location
    text = f"{one.code} {one.device} {one.path}: {sentence(one)}" if one.device else f"{one.code} {sentence(one)}"
    return {
        "description": " ".join(text.split()),
        "check_name": one.code,
        "fingerprint": one.fingerprint,
        "severity": _SEVERITY[one.severity],
        "location": {
            "path": from_here(place.file) if place else _NOWHERE,
            "lines": {"begin": max(place.line, 1) if place else 1},
        },
    }


def _write(run: Run) -> str:
    return as_json(gitlab_list(run))


FORMAT = Format("gitlab", "GitLab code quality", _write, annotates_files=True)
