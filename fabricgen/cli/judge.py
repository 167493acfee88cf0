"""What `validate`, `simulate` and `check` do with a bundle."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.cli import policy
from fabricgen.cli.failures import FailureChoice
from fabricgen.cli.output import exit_code, print_result
from fabricgen.cli.places import InventoryPlaces
from fabricgen.cli.settings import Settings, several
from fabricgen.codes import codes
from fabricgen.errors import UsageError
from fabricgen.findings import Finding, Location
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.report.congestion import congestion_lines, congestion_object
from fabricgen.report.deadlock import deadlock_lines, deadlock_object
from fabricgen.report.outcome import Outcome, Reporter
from fabricgen.report.summary import Counts
from fabricgen.results import CongestionResult, DeadlockResult
from fabricgen.suppressions import Suppression, Suppressions

if TYPE_CHECKING:
    from fabricgen.routing.fabric import RoutedFabric
    from fabricgen.simulate.congestion.analysis import Options
    from fabricgen.sonic.yang import Models


@dataclass
class Verdicts:
    """What the judges said so far. `own` are JSON keys, `lines` the same for people, `codes` those of the findings that
    were looked for."""

    bundle: Bundle
    suppressions: Suppressions
    findings: list[Finding] = field(default_factory=list)
    own: dict[str, object] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    rules: int = 0
    codes: set[str] = field(default_factory=set)
    routed: dict[str, "RoutedFabric"] = field(default_factory=dict)  # planes whose BGP has been read

    @property
    def counts(self) -> Counts:
        """What was looked at."""
        devices, links, wiring = len(self.bundle.devices), len(self.bundle.links), self.bundle.wiring
        if wiring is not None:  # switches without a file of their own: those that a subnet manager runs
            devices += sum(device.plane in wiring.infiniband_planes for device in wiring.devices)
            links += sum(link.plane in wiring.infiniband_planes for link in wiring.links)
        return Counts(devices=devices, links=links, rules=self.rules)


def open_observed(paths: Sequence[Path], links: Path | None = None, lldp: Path | None = None) -> Bundle:
    """The files with the links of a links file, of LLDP, or of their own."""
    if lldp is None:
        return open_bundle(paths, links)
    if links is not None:
        raise UsageError("--links and --lldp both say what the links are; give one of them")
    from fabricgen.observed.lldp import with_lldp

    return with_lldp(open_bundle(paths), lldp)


# On every verb that reads config_db.json files.
link_options = several(
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
)


def open_verdicts(
    settings: Settings, paths: Sequence[Path], links: Path | None = None, lldp: Path | None = None
) -> Verdicts:
    """Open what is to be judged, and what its inventory and the settings file accept."""
    bundle = open_observed(paths, links, lldp)
    accepted = bundle.sources.suppressions if bundle.sources else ()
    return Verdicts(bundle, Suppressions([*accepted, *policy.suppressions(settings.file)]))


def told(
    settings: Settings,
    verdicts: Verdicts,
    place_of: Callable[[str], Location],
    *,
    expand: bool = False,
    inventory: Sequence[Finding] = (),
) -> Outcome:
    """What is told of the verdicts and of the findings about the inventory."""
    telling = Reporter(verdicts.suppressions, policy.severities(settings.file), verdicts.codes, expand, place_of)
    return telling.outcome(verdicts.findings, verdicts.bundle, inventory)


def conclude(
    settings: Settings, verdicts: Verdicts, inventory: Path | None, *, verb: str, expand: bool, fmt: str,
    output: Path | None, fail_on: str,
) -> int:  # fmt: skip
    """Print what the judges said; the exit code."""
    outcome = told(settings, verdicts, InventoryPlaces(verdicts.bundle.root, inventory), expand=expand)
    print_result(
        settings, outcome.findings, verdicts.counts, fmt=fmt, output=output, own=verdicts.own, lines=verdicts.lines,
        suppressed=outcome.suppressed, verb=verb, codes=verdicts.codes, fail_on=fail_on,
    )  # fmt: skip
    return exit_code(outcome.findings, fail_on)


def told_of_inventory(
    settings: Settings,
    findings: Sequence[Finding],
    accepted: Iterable[Suppression],
    place_of: Callable[[str], Location],
    expand: bool = False,
) -> Outcome:
    """The same where there is nothing but an inventory; which suppressions are unused is then not known."""
    suppressions = Suppressions([*accepted, *policy.suppressions(settings.file)])
    telling = Reporter(suppressions, policy.severities(settings.file), expand=expand, place_of=place_of)
    return telling.outcome((), None, findings)


def codes_of(*families: str) -> set[str]:
    """The codes of some families that are no rules."""
    return {code for code in codes() if code.startswith(families)}


def validate(
    verdicts: Verdicts,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    platforms: Iterable[SwitchPlatform] = (),
) -> None:
    """Every rule that is chosen; `platforms` are known besides those of the catalog, and before them."""
    from fabricgen.rules.registry import chosen_rules
    from fabricgen.rules.run import run

    own = {layout.hwsku: (platform, layout) for platform in platforms for layout in platform.layouts}

    def layout(hwsku: str) -> tuple[SwitchPlatform, Layout] | None:
        return own.get(hwsku) or layout_by_hwsku(hwsku)

    verdicts.findings += run(verdicts.bundle, select, ignore, layout, verdicts.suppressions)
    rules = chosen_rules(select, ignore)
    verdicts.rules = len(rules)
    verdicts.codes |= {rule.code for rule in rules}


def ask_libyang(verdicts: Verdicts, models: "Models", select: Sequence[str] = (), ignore: Sequence[str] = ()) -> None:
    """What libyang says with a person's YANG models, merged with what the rules found."""
    from fabricgen.rules.schema.yang import with_yang

    verdicts.findings = with_yang(verdicts.findings, verdicts.bundle, models, select, ignore)
    verdicts.codes |= codes_of("FG49")


def check_deployable(
    verdicts: Verdicts, paths: Sequence[Path], select: Sequence[str] = (), ignore: Sequence[str] = ()
) -> None:
    """What must not be deployed, unless its code is not chosen."""
    from fabricgen.rules.opensm.deployable import not_deployable

    wanted, unwanted = tuple(map(str.upper, select)) or ("",), tuple(map(str.upper, ignore))
    verdicts.findings += [
        finding
        for finding in not_deployable(paths, verdicts.bundle.wiring)
        if finding.code.startswith(wanted) and not finding.code.startswith(unwanted)
    ]
    verdicts.codes |= codes_of("FG84")


def simulate_deadlock(
    settings: Settings,
    verdicts: Verdicts,
    plane: str | None = None,
    lfts: Path | None = None,
    failures: FailureChoice = FailureChoice(),  # noqa: B008 (a frozen value)
) -> list[DeadlockResult]:
    """The channel dependency graph of the base state and after failures; with `lfts` on dumped tables in place of
    InfiniBand planes."""
    from fabricgen.simulate.deadlock import analyse_deadlock, deadlock_findings, from_worst

    results: list[DeadlockResult] = []
    root, subnet_roots = verdicts.bundle.root, verdicts.bundle.subnet_roots
    if lfts is not None or subnet_roots:
        from fabricgen.simulate.deadlock.infiniband.analysis import analyse_dumps, analyse_subnets
        from fabricgen.simulate.deadlock.infiniband.findings import subnet_findings

        if lfts is not None:
            results += analyse_dumps(lfts, root, plane)
        else:
            results += [result for folder in subnet_roots for result in analyse_subnets(folder, plane)]
        verdicts.findings += subnet_findings(results)
        verdicts.codes |= codes_of("FG80")
    if not (plane and results):
        planes = analyse_deadlock(verdicts.bundle, plane, failures.chosen(settings))
        verdicts.routed |= {one.name: one.evidence.fabric for one in planes}
        results += planes
    results.sort(key=from_worst)
    verdicts.findings += deadlock_findings(verdicts.bundle, results)
    verdicts.own["deadlock"] = deadlock_object(results)
    verdicts.lines += deadlock_lines(results)
    verdicts.codes |= codes_of("FG6")
    return results


def simulate_congestion(
    verdicts: Verdicts, options: "Options", plane: str | None = None, *, at_gate: bool = False
) -> list[CongestionResult]:
    """A traffic pattern on every plane that it is for. Of planes that cannot be simulated the gate has no findings."""
    from fabricgen.simulate.congestion.analysis import analyse_congestion
    from fabricgen.simulate.congestion.findings import congestion_findings

    results = analyse_congestion(verdicts.bundle, options, plane, verdicts.routed)
    judged = [result for result in results if result.model != "skipped" or not at_gate]
    verdicts.findings += congestion_findings(verdicts.bundle, judged)
    verdicts.own["congestion"] = congestion_object(results)
    verdicts.lines += congestion_lines(results)
    verdicts.codes |= codes_of("FG7")
    return results
