"""What `validate`, `simulate` and `check` do with a bundle."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.findings import Finding
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.model import SwitchPlatform
from fabricgen.report.deadlock import deadlock_lines, deadlock_object
from fabricgen.report.summary import Counts
from fabricgen.results import DeadlockResult

if TYPE_CHECKING:
    from fabricgen.sonic.yang import Models


@dataclass
class Verdicts:
    """What the judges said so far. `own` are JSON keys, `lines` the same for people."""

    bundle: Bundle
    findings: list[Finding] = field(default_factory=list)
    own: dict[str, object] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    rules: int = 0

    @property
    def counts(self) -> Counts:
        """What was looked at."""
        return Counts(devices=len(self.bundle.devices), links=len(self.bundle.links), rules=self.rules)


def open_verdicts(paths: Sequence[Path], links: Path | None = None) -> Verdicts:
    """Open what is to be judged."""
    return Verdicts(open_bundle(paths, links))


def validate(
    verdicts: Verdicts,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    platforms: Iterable[SwitchPlatform] = (),
) -> None:
    """Every rule that is chosen; `platforms` are known besides those of the catalog, and before them."""
    from fabricgen.rules.registry import chosen_rules, run

    own = {layout.hwsku: (platform, layout) for platform in platforms for layout in platform.layouts}
    verdicts.findings += run(verdicts.bundle, select, ignore, lambda hwsku: own.get(hwsku) or layout_by_hwsku(hwsku))
    verdicts.rules = len(chosen_rules(select, ignore))


def ask_libyang(verdicts: Verdicts, models: "Models", select: Sequence[str] = (), ignore: Sequence[str] = ()) -> None:
    """What libyang says with a person's YANG models, merged with what the rules found."""
    from fabricgen.rules.yang import with_yang

    verdicts.findings = with_yang(verdicts.findings, verdicts.bundle, models, select, ignore)


def simulate_deadlock(verdicts: Verdicts, plane: str | None = None, lfts: Path | None = None) -> None:
    """The channel dependency graph of the base state; with `lfts` on dumped tables in place of InfiniBand planes."""
    from fabricgen.simulate.deadlock import analyse_deadlock, deadlock_findings, from_worst

    results: list[DeadlockResult] = []
    root = verdicts.bundle.root
    if lfts is not None or (root and (root / "infiniband").is_dir()):
        from fabricgen.simulate.deadlock.infiniband import analyse_dumps, analyse_subnets
        from fabricgen.simulate.deadlock.infiniband_findings import subnet_findings

        results += analyse_dumps(lfts, root, plane) if lfts else analyse_subnets(root, plane) if root else []
        verdicts.findings += subnet_findings(results)
    if not (plane and results):
        results += analyse_deadlock(verdicts.bundle, plane)
    results.sort(key=from_worst)
    verdicts.findings += deadlock_findings(verdicts.bundle, results)
    verdicts.own["deadlock"] = deadlock_object(results)
    verdicts.lines += deadlock_lines(results)
