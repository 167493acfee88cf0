"""The result of a comparison of two SONiC releases."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fabricgen.diff.difference import Difference
from fabricgen.findings import Finding


@dataclass(frozen=True)
class Upgrade:
    """The files of one release, and of another. `whole` has all changes, and `phases` the same in two parts: `before`
    is what the new release does not know, removed by the old one; `after` are the other changes, by the new one.

    `findings` say what a release cannot do. If the inventory has an error for one of the releases, `whole` is None.
    """

    source: Path
    releases: tuple[int, int]
    findings: tuple[Finding, ...]
    whole: Difference | None = None
    phases: Mapping[str, Difference] = field(default_factory=dict)
