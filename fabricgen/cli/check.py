"""`fabricgen check`: the pre-merge gate."""

import tempfile
from pathlib import Path

import click

from fabricgen import OUTPUT_VERSION
from fabricgen.bundle.write import BundleWriter
from fabricgen.cli.clock import Clock
from fabricgen.cli.judge import open_verdicts, simulate_deadlock, validate
from fabricgen.cli.output import exit_code, output_options, print_result
from fabricgen.cli.settings import Settings, verb
from fabricgen.findings import has_errors
from fabricgen.inventory.load import LOCK_NAME, inventory_root
from fabricgen.render.content import BundleContent
from fabricgen.render.plans import lock_would_change, make_plans
from fabricgen.render.templates import TemplateProblemError
from fabricgen.report.capacity import subnet_lines
from fabricgen.report.summary import Counts


@click.command("check")
@click.argument("inventory", type=click.Path(path_type=Path))
@output_options
@verb
def command(settings: Settings, inventory: Path, fmt: str, output: Path | None, fail_on: str) -> int:
    """Render INVENTORY aside, then validate the files and prove them free of deadlock. Writes nothing.

    Of InfiniBand planes the design, the tenants, the routing engine and the LIDs are checked.
    """
    clock = Clock(settings)
    plans = make_plans(inventory)
    plans.findings += lock_would_change(plans, inventory_root(inventory) / LOCK_NAME)
    subnets = [{"name": name, **subnet.choice} for name, subnet in plans.subnets.items()]
    own: dict[str, object] = {"infiniband": subnets} if subnets else {}
    if has_errors(plans.findings) or not plans.fabric.planes:
        counts = Counts(devices=len(plans.fabric.switches), links=len(plans.fabric.links))
        lines = list(subnet_lines(subnets))
        print_result(settings, plans.findings, counts, fmt=fmt, output=output, own=own, lines=lines)
        return exit_code(plans.findings, fail_on)
    with tempfile.TemporaryDirectory(prefix="fabricgen-check-") as aside:
        folder = Path(aside).resolve() / "bundle"
        try:
            with BundleWriter(folder) as writer:
                for path, data in BundleContent(plans, jobs=settings.jobs).files():
                    writer.add(path, data)
                writer.commit(plans.fabric.inventory.fabric, OUTPUT_VERSION, plans.fabric.inventory.digest)
        except TemplateProblemError as problem:
            print_result(settings, [problem.finding], Counts(), fmt=fmt, output=output)
            return exit_code([problem.finding], fail_on)
        clock.lap("rendered", f"{len(plans.rendered.switches)} devices, aside")
        verdicts = open_verdicts([folder])
        validate(verdicts, platforms=[switch.platform for switch in plans.rendered.switches])
        clock.lap("validated", f"{len(verdicts.bundle.devices)} devices by {verdicts.rules} rules")
        if plans.rendered.planes:
            simulate_deadlock(verdicts)
            clock.lap("simulated", f"routes and buffer dependencies of {len(verdicts.bundle.devices)} devices")
        findings = [*plans.findings, *verdicts.findings]
        print_result(
            settings, findings, verdicts.counts, fmt=fmt, output=output, own={**own, **verdicts.own},
            lines=[*subnet_lines(subnets), *verdicts.lines], shorten=f"{folder}/",
        )  # fmt: skip
    return exit_code(findings, fail_on)
