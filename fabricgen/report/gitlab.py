"""GitLab code quality: the list of issues that a merge request compares with its target."""

from typing import Any

from fabricgen.findings import Finding, Severity
from fabricgen.report.run import Run, from_here, sentence

_SEVERITY = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.NOTE: "info"}
_NOWHERE = "fabricgen"  # an issue needs a path; of a finding about no file, nothing is annotated


def gitlab_list(run: Run) -> list[dict[str, Any]]:
    """An issue for each finding; fingerprints are unique in it."""
    return [_issue(one) for one in run.findings]


def _issue(one: Finding) -> dict[str, Any]:
    place = one.location
    told = f"{one.code} {one.device} {one.path}: {sentence(one)}" if one.device else f"{one.code} {sentence(one)}"
    return {
        "description": " ".join(told.split()),
        "check_name": one.code,
        "fingerprint": one.fingerprint,
        "severity": _SEVERITY[one.severity],
        "location": {
            "path": from_here(place.file) if place else _NOWHERE,
            "lines": {"begin": max(place.line, 1) if place else 1},
        },
    }
