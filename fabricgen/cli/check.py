"""`fabricgen check`: the pre-merge gate."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricgen.cli.options import cache_options, choice_options, inventory_arguments, layers_of, policy_of, store_of
from fabricgen.cli.output import output_options, report
from fabricgen.cli.settings import Settings, verb
from fabricgen.errors import UsageError

if TYPE_CHECKING:
    from fabricgen.api.checking import Check
    from fabricgen.api.resident import Resident


@click.command("check")
@inventory_arguments()
@choice_options
@click.option("--locked", is_flag=True, help="Make it an error if the lock file would change.")
@click.option(
    "--against", metavar="BUNDLE", type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Show the growth from this bundle: new switches, new cables, and cables that move.",
)  # fmt: skip
@click.option("--watch", is_flag=True, help="Check again after each change of a file, and show what differs.")
@cache_options
@output_options
@verb
def command(
    settings: Settings,
    inventories: tuple[Path, ...],
    values: tuple[str, ...],
    templates: Path | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    expand: bool,
    locked: bool,
    against: Path | None,
    watch: bool,
    cache: Path | None,
    no_cache: bool,
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
      fabricgen check my-fabric --watch
    """
    from fabricgen.api.checking import check
    from fabricgen.atomic import temporary_folder
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.report.formats import formats

    if watch and (fmt != "text" or output):
        raise UsageError("--watch shows differences as text: leave out --format and --output")
    if against is not None:  # with --watch, an error of a check is shown, and the next one is awaited
        from fabricgen.api.against import require_bundle

        require_bundle(against)
    store = store_of(cache, no_cache=no_cache)

    def judged(bundle: Path | None, resident: "Resident | None" = None) -> "Check":
        return check(
            layers_of(inventories, values, templates),
            bundle=bundle,
            select=select,
            ignore=ignore,
            jobs=settings.jobs,
            at_inventory=formats()[fmt].annotates_files,
            locked=locked,
            against=against,
            cache=store,
            resident=resident,
            seals=fmt == "json",
            policy=policy_of(settings, expand),
            progress=TerminalProgress(settings),
        )

    def shown(found: "Check", bundle: Path) -> int:
        return _report(settings, found, fmt, output, fail_on, against, f"{bundle}/")

    if watch:
        from fabricgen.api.resident import Resident
        from fabricgen.cli.watching import watch_inventories

        with temporary_folder("check") as temporary:
            resident = Resident(temporary / "bundle")
            watch_inventories(settings, inventories, temporary / "bundle", lambda: judged(None, resident), shown)
    with temporary_folder("check") as temporary:
        return shown(judged(temporary / "bundle"), temporary / "bundle")


def _report(
    settings: Settings, found: "Check", fmt: str, output: Path | None, fail_on: str, against: Path | None, shorten: str
) -> int:
    from fabricgen.report.capacity import subnet_lines
    from fabricgen.report.congestion import congestion_lines, congestion_object, congestion_unjudged
    from fabricgen.report.deadlock import deadlock_lines, deadlock_object, deadlock_unjudged
    from fabricgen.report.growth import growth_lines, growth_object, lock_lines

    own: dict[str, object] = {"infiniband": found.subnets} if found.subnets else {}
    lines = [*lock_lines(found.added), *subnet_lines(found.subnets)]
    if found.added:
        own["lock"] = {"added": found.added}
    if found.changes:
        own["against"] = growth_object(found.changes.devices, found.changes.cables)
        lines = [*growth_lines(found.changes.devices, found.changes.cables, str(against)), *lines]
    if found.is_complete:
        digests = found.seals if fmt == "json" else None
        own |= {"deadlock": deadlock_object(found.deadlock, digests), "congestion": congestion_object(found.congestion)}
        lines += [*deadlock_lines(found.deadlock), *congestion_lines(found.congestion)]
        unjudged = [*deadlock_unjudged(found.deadlock), *congestion_unjudged(found.congestion)]
    else:
        unjudged = ["the files of the switches, deadlock and congestion: errors prevent the rendering"]
    return report(
        settings, found, verb="check", fmt=fmt, output=output, fail_on=fail_on, own=own, lines=lines,
        unjudged=unjudged, shorten=shorten,
    )  # fmt: skip
