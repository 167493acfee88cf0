"""One run of a verb that judges files, as report formats read it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from fabricgen.findings import Finding, Location, Severity
from fabricgen.report.summary import Counts
from fabricgen.sonic.secrets import without_forms
from fabricgen.visible import visible


@dataclass(frozen=True)
class Run:
    """What a verb found.

    `findings` are the reported ones, worst first; `suppressed` are those that a suppression accepts. `codes` are those
    of the rules that ran. `threshold` is the least severity that fails the run. `own` are the JSON keys of the verb,
    such as deadlock; `lines` are the same results as text, `unjudged` what has no verdict, and `verdicts` those of the
    headline. `color`: the output is a terminal that shows colours; `width` are its columns, and 0 if it is not a
    terminal. With `expand`, text has each finding by itself. `folder` is the begin of the names of temporary files.

    Names and values of files are foreign text: here their control characters become escapes, for every format.
    """

    version: str
    verb: str
    findings: Sequence[Finding]
    suppressed: Sequence[Finding] = ()
    counts: Counts = field(default_factory=Counts)
    codes: Collection[str] = ()
    threshold: Severity = Severity.ERROR
    exit_code: int = 0
    own: Mapping[str, Any] = field(default_factory=dict)
    lines: Sequence[str] = ()
    unjudged: Sequence[str] = ()
    verdicts: Sequence[str] = ()
    color: bool = False
    width: int = 0
    expand: bool = False
    folder: str = ""

    def __post_init__(self) -> None:
        for name in ("findings", "suppressed"):
            object.__setattr__(self, name, [visible_finding(one) for one in getattr(self, name)])
        for name in ("lines", "unjudged", "verdicts"):
            object.__setattr__(self, name, list(map(_shown, getattr(self, name))))

    @property
    def all_codes(self) -> list[str]:
        """Codes of all rules that ran and of all findings, in order."""
        return sorted({*self.codes, *(one.code for one in (*self.findings, *self.suppressed))})

    def fails(self, finding: Finding) -> bool:
        """Whether a finding is at least as severe as the threshold."""
        return finding.severity.rank <= self.threshold.rank


def visible_finding(one: Finding) -> Finding:
    """The finding with its texts on one line each, without control characters, private keys and hashes of passwords."""
    places = [place for place in (one.location, *(each.location for each in one.related)) if place]
    texts = (one.message, one.hint, one.device, one.path, *one.devices, *(each.message for each in one.related))
    if all(_shown(text) == text for text in (*texts, *(place.file for place in places))):
        return one
    return replace(
        one,
        message=_shown(one.message),
        hint=_shown(one.hint),
        device=_shown(one.device),
        devices=tuple(map(_shown, one.devices)),
        place=None,  # it would set the path again
        path=_shown(one.path),
        location=_visible_place(one.location) if one.location else None,
        related=tuple(
            replace(each, message=_shown(each.message), location=_visible_place(each.location)) for each in one.related
        ),
    )


@lru_cache(maxsize=1 << 16)  # a finding lists up to all switches
def _shown(text: str) -> str:
    return visible(without_forms(text))


def _visible_place(place: Location) -> Location:
    return replace(place, file=visible(place.file))
