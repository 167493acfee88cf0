"""One run of a verb that judges files, as report formats read it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from fabricgen.findings import Finding, Severity
from fabricgen.report.summary import Counts


@dataclass(frozen=True)
class Run:
    """What a verb found.

    `findings` are the reported ones, worst first; `suppressed` are those that a suppression accepts. `codes` are those
    of the rules that ran. `threshold` is the least severity that fails the run. `own` are the JSON keys of the verb,
    such as deadlock; `lines` are the same results as text. `color`: the output is a terminal that shows colours.
    """

    version: str
    verb: str
    findings: Sequence[Finding]
    suppressed: Sequence[Finding] = ()
    counts: Counts = field(default_factory=Counts)
    codes: Collection[str] = ()
    threshold: Severity = Severity.ERROR
    exit_code: int = 0
    own: Mapping[str, object] = field(default_factory=dict)
    lines: Sequence[str] = ()
    color: bool = False

    @property
    def all_codes(self) -> list[str]:
        """Codes of all rules that ran and of all findings, in order."""
        return sorted({*self.codes, *(one.code for one in (*self.findings, *self.suppressed))})

    def fails(self, finding: Finding) -> bool:
        """Whether a finding is at least as severe as the threshold."""
        return finding.severity.rank <= self.threshold.rank
