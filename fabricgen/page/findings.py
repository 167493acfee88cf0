"""The findings of the report: as in JSON, with the lines around their place and the title of their code."""

import functools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, Location
from fabricgen.inputs import read_bytes
from fabricgen.report.formats.json import finding_object
from fabricgen.report.pages import page
from fabricgen.report.run import visible_finding
from fabricgen.sonic.secrets import is_secret_path, masked

_AROUND, _WIDTH = 2, 160
_WITH_LINES = 40  # findings of a code


def findings_object(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Each finding as in the JSON of all verbs, with `lines` ([number, text] around its place), and `suppression`: why
    it is accepted, and until when."""
    read = functools.lru_cache(maxsize=64)(_lines)
    seen: Counter[str] = Counter()
    found = []
    for one in findings:
        seen[one.code] += 1
        shown = one.location and seen[one.code] <= _WITH_LINES and not is_secret_path(one.path)
        lines = _excerpt(one.location, read(one.location.file)) if shown and one.location else []
        accepted = one.suppression
        found.append(
            {
                **finding_object(visible_finding(one)),
                "lines": lines,
                "suppression": {"reason": accepted.reason, "expires": accepted.expires} if accepted else None,
            }
        )
    return found


def titles(findings: Sequence[Finding]) -> dict[str, str]:
    """Code -> the title of its page."""
    return {code: page(code).title for code in sorted({one.code for one in findings})}


def _excerpt(place: Location, source: Sequence[str]) -> list[list[Any]]:
    first = max(1, place.line - _AROUND) if place.line else 0
    return [[number, masked(source[number - 1][:_WIDTH].rstrip())]
            for number in range(first, min(len(source), place.line + _AROUND) + 1) if first]  # fmt: skip


def _lines(file: str) -> tuple[str, ...]:
    """The lines of a file; () if it cannot be read: the finding is useful without them."""
    try:
        return tuple(read_bytes(Path(file)).decode("utf-8", "replace").splitlines())
    except (OSError, UnreadableInputError):
        return ()
