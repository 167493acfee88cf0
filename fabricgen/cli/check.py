"""`fabricgen check`: the pre-merge gate."""

from pathlib import Path

import click

from fabricgen.cli.options import choice_options, inventory_arguments, layers_of, policy_of
from fabricgen.cli.output import output_options, report
from fabricgen.cli.settings import Settings, verb


@click.command("check")
@inventory_arguments()
@choice_options
@click.option("--locked", is_flag=True, help="Make it an error if the lock file would change.")
@click.option(
    "--against", metavar="BUNDLE", type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Show the growth from this bundle: new switches, new cables, and cables that move.",
)  # fmt: skip
@output_options
@verb
def command(
    settings: Settings,
    inventories: tuple[Path, ...],
    values: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    expand: bool,
    locked: bool,
    against: Path | None,
    fmt: str,
    output: Path | None,
    fail_on: str,
) -> int:
    """Check INVENTORY before a merge; write no file.

    Render it into a temporary folder, validate the files, prove them free of deadlock, and analyse congestion. Of
    InfiniBand planes, the design, the tenants, the routing engine and the LIDs are checked. Numbers that the lock file
    does not have yet are allocated in memory. Several inventories are layers: each one changes those before it.

    \b
    Examples:
      fabricgen check my-fabric
      fabricgen check my-fabric site-b.yaml --set planes.compute.mtu=9000
      fabricgen check my-fabric --against build --format sarif
    """
    from fabricgen.api.checking import check
    from fabricgen.atomic import temporary_folder
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.report.capacity import subnet_lines
    from fabricgen.report.congestion import congestion_lines, congestion_object, congestion_unjudged
    from fabricgen.report.deadlock import deadlock_lines, deadlock_object, deadlock_unjudged
    from fabricgen.report.formats import formats
    from fabricgen.report.growth import growth_lines, growth_object, lock_lines
    from fabricgen.simulate.deadlock.certificate import seals

    with temporary_folder("check") as temporary:
        bundle = temporary / "bundle"
        found = check(
            layers_of(inventories, values),
            bundle=bundle,
            select=select,
            ignore=ignore,
            jobs=settings.jobs,
            at_inventory=formats()[fmt].annotates_files,
            locked=locked,
            against=against,
            policy=policy_of(settings, expand),
            progress=TerminalProgress(settings),
        )
        own: dict[str, object] = {"infiniband": found.subnets} if found.subnets else {}
        lines = [*lock_lines(found.added), *subnet_lines(found.subnets)]
        if found.added:
            own["lock"] = {"added": found.added}
        if found.changes:
            own["against"] = growth_object(found.changes.devices, found.changes.cables)
            lines = [*growth_lines(found.changes.devices, found.changes.cables, str(against)), *lines]
        if found.is_complete:
            digests = seals(found.deadlock) if fmt == "json" else None
            own |= {
                "deadlock": deadlock_object(found.deadlock, digests),
                "congestion": congestion_object(found.congestion),
            }
            lines += [*deadlock_lines(found.deadlock), *congestion_lines(found.congestion)]
            unjudged = [*deadlock_unjudged(found.deadlock), *congestion_unjudged(found.congestion)]
        else:
            unjudged = ["the files of the switches, deadlock and congestion: errors prevent the rendering"]
        return report(
            settings, found, verb="check", fmt=fmt, output=output, fail_on=fail_on, own=own, lines=lines,
            unjudged=unjudged, shorten=f"{bundle}/",
        )  # fmt: skip
