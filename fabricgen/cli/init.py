"""`fabricgen init`: a first inventory that can be rendered."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricgen.cli.names import OneOf, names_of
from fabricgen.cli.output import EXIT_FINDINGS, print_findings
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import as_words, write
from fabricgen.errors import UsageError
from fabricgen.units import counted
from fabricgen.vocabulary import Purpose, Technology

if TYPE_CHECKING:
    from fabricgen.api.starting import Started

_LISTED = "explicit"
_DEFAULT_HOSTS = 32


def _designs() -> dict[str, str]:
    """The designs that `init` starts, with their summaries."""
    from fabricgen.design.registry import designs

    return {name: design.summary for name, design in designs().items() if design.first_layout or name == _LISTED}


def _design_names() -> list[str]:
    from fabricgen.extensions import DESIGNS, member_names

    return member_names("fabricgen.design", "DESIGN", DESIGNS)


def _purposes(ctx: click.Context, parameter: click.Parameter, given: str) -> tuple[Purpose, ...]:
    """The planes of a comma-separated list, each once."""
    try:
        return tuple(dict.fromkeys(Purpose(word.strip()) for word in given.split(",")))
    except ValueError as problem:
        known = ", ".join(Purpose)
        raise click.BadParameter(f"{problem}; the planes are: {known}".replace("Purpose", "plane")) from None


@click.command("init")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--name", help="Name of the fabric.  [default: the name of DIR]")
@click.option(
    "--design",
    type=OneOf(_designs, _design_names),
    metavar="DESIGN",
    default="rail-optimized",
    show_default=True,
    help="Topology of the compute plane; --list describes all.",
)
@click.option(
    "--host-model", metavar="MODEL", default="", shell_complete=names_of("hosts"),
    help="Model of the hosts, for example mi355x; `fabricgen list hosts` lists them.  [default: by design]",
)  # fmt: skip
@click.option("--hosts", type=click.IntRange(1), help=f"Hosts.  [default: {_DEFAULT_HOSTS}]")
@click.option("--gpus", type=click.IntRange(1), help="GPUs, instead of --hosts.")
@click.option(
    "--planned-hosts", type=click.IntRange(1), metavar="N",
    help="Hosts that the layout has ports for, so that growth moves no cable.  [default: as many as --hosts]",
)  # fmt: skip
@click.option(
    "--planes", default=Purpose.COMPUTE.value, show_default=True, metavar="PLANES", callback=_purposes,
    help=f"Networks, separated by commas: {', '.join(Purpose)}.",
)  # fmt: skip
@click.option(
    "--platform", shell_complete=names_of("platforms"), help="Switch platform of all tiers.  [default: by technology]"
)
@click.option(
    "--technology", type=click.Choice([Technology.ROCE.value, Technology.INFINIBAND.value]),
    help="Technology of the fabric.  [default: roce; infiniband for the designs that can deadlock with RoCE]",
)  # fmt: skip
@click.option("--example", metavar="NAME", help="Copy a shipped example instead; --list names them.")
@click.option("--list", "show", is_flag=True, help="List the designs and the examples, and write nothing.")
@verb
@click.pass_context
def command(
    ctx: click.Context,
    settings: Settings,
    folder: Path | None,
    name: str | None,
    design: str,
    host_model: str,
    hosts: int | None,
    gpus: int | None,
    planned_hosts: int | None,
    planes: tuple[Purpose, ...],
    platform: str | None,
    technology: str | None,
    example: str | None,
    show: bool,
) -> int:
    """Write a first inventory, its lock file and its JSON Schema into the new folder DIR.

    A Clos has the fewest switches that its design allows for the hosts.

    \b
    Examples:
      fabricgen init my-fabric --hosts 64 --planned-hosts 128
      fabricgen init my-amd --host-model mi355x --hosts 16
      fabricgen init my-superpod --example superpod
    """
    from fabricgen.api.starting import fabric_name, start, start_from_example
    from fabricgen.design.first_planes import Start, gpus_of_host
    from fabricgen.design.registry import designs

    if show:
        write("\n".join(_listed()), wraps=True)
        return 0
    if folder is None:
        raise UsageError("DIR is missing: name the new folder")
    if example is not None:
        _refuse_others(ctx, "example", "folder")
        return _finish(settings, folder, start_from_example(folder, example))
    if hosts and gpus:
        raise UsageError("give --hosts or --gpus, not both")
    cyclic = designs()[design].cyclic
    default = Technology.INFINIBAND if cyclic else Technology.ROCE
    chosen = Technology(technology) if technology else default
    if chosen == Technology.ROCE and cyclic:
        raise UsageError(
            f"RoCE on a {design} can deadlock: one lossless class forms cycles; use --technology infiniband, "
            "or --design dragonfly-plus, fat-tree or rail-optimized"
        )
    count = -(-gpus // gpus_of_host(design, host_model)) if gpus else hosts or _DEFAULT_HOSTS
    if planned_hosts and planned_hosts < count:
        raise UsageError(f"--planned-hosts {planned_hosts} is less than the {counted(count, 'host')} of the start")
    options = Start(
        name=name or fabric_name(folder), design=design, hosts=count, planned_hosts=planned_hosts or 0,
        platform=platform, technology=chosen, purposes=planes, host_model=host_model,
    )  # fmt: skip
    return _finish(settings, folder, start(folder, options))


def _finish(settings: Settings, folder: Path, started: "Started") -> int:
    if started.findings:
        from fabricgen.report.summary import Counts

        print_findings(settings, started.findings, Counts())
        return EXIT_FINDINGS
    written = ", ".join(str(folder / name) for name in started.files)
    counts = f"{counted(started.switches, 'switch')}, {counted(started.hosts, 'host')}"
    write(f"wrote {written}: {counts}, {started.gpus} GPUs", wraps=True)
    name = as_words(folder)
    steps = f"Next: fabricgen check {name}, then: fabricgen render {name} -o build"
    write("\n".join([*started.growth, steps]), wraps=True)
    return 0


def _refuse_others(ctx: click.Context, *used: str) -> None:
    """Raises UsageError for an option beside --example: an example is copied as it is."""
    own = {parameter.name for parameter in command.params} & set(ctx.params)
    common = {"verbose", "quiet", "color", "jobs", "debug"}
    for given in sorted(own - common - set(used)):
        if ctx.get_parameter_source(given) is click.core.ParameterSource.COMMANDLINE:
            raise UsageError(f"--example copies an inventory as it is: remove --{given.replace('_', '-')}")


def _listed() -> Iterable[str]:
    """The designs and the examples, a line for each."""
    from fabricgen.api.starting import examples

    for title, rows in (("Designs (--design)", _designs()), ("Examples (--example)", examples())):
        width = max(map(len, rows))
        yield f"{title}:"
        yield from (f"  {name:<{width}}  {text}".rstrip() for name, text in rows.items())
