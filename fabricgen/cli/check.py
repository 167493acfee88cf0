"""`fabricgen check`: the pre-merge gate."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from fabricgen import OUTPUT_VERSION
from fabricgen.bundle.wiring import Checks
from fabricgen.bundle.write import BundleWriter
from fabricgen.cli.clock import Clock
from fabricgen.cli.failures import FailureChoice
from fabricgen.cli.judge import (
    codes_of,
    open_verdicts,
    simulate_congestion,
    simulate_deadlock,
    told,
    told_of_inventory,
    validate,
)
from fabricgen.cli.output import choice_options, exit_code, output_options, print_result
from fabricgen.cli.places import InventoryPlaces
from fabricgen.cli.settings import Settings, verb
from fabricgen.findings import Finding, Location, has_errors
from fabricgen.inventory.load import LOCK_NAME, inventory_files, inventory_root
from fabricgen.render.content import BundleContent
from fabricgen.render.plans import lock_would_change, make_plans
from fabricgen.render.templates import TemplateProblemError
from fabricgen.report.anchors import anchored
from fabricgen.report.capacity import subnet_lines
from fabricgen.report.formats import formats
from fabricgen.report.outcome import Outcome
from fabricgen.report.summary import Counts

_INVENTORY = ("FG1", "FG2", "FG3", "FG5")  # families of findings about an inventory


@click.command("check")
@click.argument("inventory", type=click.Path(path_type=Path))
@choice_options
@output_options
@verb
def command(
    settings: Settings,
    inventory: Path,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    expand: bool,
    fmt: str,
    output: Path | None,
    fail_on: str,
) -> int:
    """Render INVENTORY aside, validate the files, prove them free of deadlock, look at congestion. Writes nothing.

    Of InfiniBand planes the design, the tenants, the routing engine and the LIDs are checked.
    """
    clock = Clock(settings)
    plans = make_plans(inventory)
    plans.findings += lock_would_change(plans, inventory_root(inventory) / LOCK_NAME)
    subnets = [{"name": name, **subnet.choice} for name, subnet in plans.subnets.items()]
    own: dict[str, object] = {"infiniband": subnets} if subnets else {}
    places = InventoryPlaces(None, inventory, plans.fabric.inventory.node)

    def of_inventory(findings: Sequence[Finding]) -> Outcome:
        accepted = plans.fabric.inventory.suppressions
        return told_of_inventory(settings, findings, accepted, places, expand)

    outcome = of_inventory(plans.findings)
    if has_errors([*plans.findings, *outcome.findings]) or not plans.fabric.planes:
        counts = Counts(devices=len(plans.fabric.switches), links=len(plans.fabric.links))
        print_result(
            settings, outcome.findings, counts, fmt=fmt, output=output, own=own, lines=list(subnet_lines(subnets)),
            suppressed=outcome.suppressed, verb="check", codes=codes_of(*_INVENTORY), fail_on=fail_on,
        )  # fmt: skip
        return exit_code(outcome.findings, fail_on)
    with tempfile.TemporaryDirectory(prefix="fabricgen-check-") as aside:
        folder = Path(aside).resolve() / "bundle"
        try:
            with BundleWriter(folder) as writer:
                for path, data in BundleContent(plans, jobs=settings.jobs).files():
                    writer.add(path, data)
                writer.commit(plans.fabric.inventory.fabric, OUTPUT_VERSION, plans.fabric.inventory.digest)
        except TemplateProblemError as problem:
            outcome = of_inventory([problem.finding])
            print_result(settings, outcome.findings, Counts(), fmt=fmt, output=output, verb="check", fail_on=fail_on)
            return exit_code(outcome.findings, fail_on)
        clock.lap("rendered", f"{len(plans.rendered.switches)} devices, aside")
        verdicts = open_verdicts(settings, [folder])
        validate(verdicts, select, ignore, [switch.platform for switch in plans.rendered.switches])
        clock.lap("validated", f"{len(verdicts.bundle.devices)} devices by {verdicts.rules} rules")
        asked = verdicts.bundle.wiring.checks if verdicts.bundle.wiring else Checks()
        failures = FailureChoice(asked.failures, asked.switch_failures, asked.repair)
        simulate_deadlock(settings, verdicts, failures=failures)
        clock.lap("simulated", f"routes and buffer dependencies of {len(plans.fabric.switches)} devices")
        from fabricgen.simulate.congestion.analysis import MOST_FINITE_AT_GATE, Options

        simulate_congestion(verdicts, Options(most_finite=MOST_FINITE_AT_GATE), at_gate=True)
        clock.lap("simulated", f"congestion of {len(verdicts.routed)} planes")
        verdicts.codes |= codes_of(*_INVENTORY)
        outcome = told(settings, verdicts, places, expand=expand, inventory=plans.findings)
        if formats()[fmt].annotates_files:
            outcome = _anchored(outcome, folder, places, inventory)
        print_result(
            settings, outcome.findings, verdicts.counts, fmt=fmt, output=output, own={**own, **verdicts.own},
            lines=[*subnet_lines(subnets), *verdicts.lines], shorten=f"{folder}/", suppressed=outcome.suppressed,
            verb="check", codes=verdicts.codes, fail_on=fail_on,
        )  # fmt: skip
    return exit_code(outcome.findings, fail_on)


def _anchored(outcome: Outcome, folder: Path, places: InventoryPlaces, inventory: Path) -> Outcome:
    """The rendered files go away: whoever opens a place shall find the inventory."""
    whole = Location(str(inventory_files(inventory)[0]), 1, 1)
    findings, suppressed = (
        tuple(anchored(one, str(folder), places, whole) for one in those)
        for those in (outcome.findings, outcome.suppressed)
    )
    return Outcome(findings, suppressed)
