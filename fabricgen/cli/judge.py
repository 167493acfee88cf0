"""What `validate`, `simulate` and `check` do with a bundle."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.errors import UsageError
from fabricgen.findings import Finding
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.model import SwitchPlatform
from fabricgen.report.deadlock import deadlock_lines, deadlock_object
from fabricgen.report.summary import Counts

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


def open_verdicts(paths: Sequence[Path], links: Path | None = None, lldp: Path | None = None) -> Verdicts:
    """Open what is to be judged."""
    return Verdicts(open_observed(paths, links, lldp))


def open_observed(paths: Sequence[Path], links: Path | None = None, lldp: Path | None = None) -> Bundle:
    """The files with the links of a links file, of LLDP, or of their own."""
    if lldp is None:
        return open_bundle(paths, links)
    if links is not None:
        raise UsageError("--links and --lldp both say what the links are; give one of them")
    from fabricgen.observed.lldp import with_lldp

    return with_lldp(open_bundle(paths), lldp)


def link_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """--links, --lldp: on every verb that reads config_db.json files."""
    options = [
        click.option(
            "--links",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Links as JSON, instead of those of the files.",
        ),
        click.option(
            "--lldp",
            type=click.Path(path_type=Path),
            metavar="PATH",
            help="Links as LLDP saw them: lldpctl JSON, `show lldp table` or LLDP_ENTRY_TABLE, a file or a folder.",
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


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


def simulate_deadlock(verdicts: Verdicts, plane: str | None = None) -> None:
    """The channel dependency graph of the base state."""
    from fabricgen.simulate.deadlock import analyse_deadlock, deadlock_findings

    results = analyse_deadlock(verdicts.bundle, plane)
    verdicts.findings += deadlock_findings(verdicts.bundle, results)
    verdicts.own["deadlock"] = deadlock_object(results)
    verdicts.lines += deadlock_lines(results)
