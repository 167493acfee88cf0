"""`fabricgen simulate`: the behavior of a fabric, from its rendered files."""

from pathlib import Path

import click

from fabricgen.cli import simulate_packets
from fabricgen.cli.names import names_in
from fabricgen.cli.options import (
    balance_of,
    balance_option,
    expand_option,
    hash_of,
    hash_options,
    inventory_option,
    jobs_options,
    link_options,
    message_bytes,
    policy_of,
    print_patterns,
    require_one_source,
    sizes_of,
    subnet_options,
    subnets_of,
    traffic_options,
)
from fabricgen.cli.output import output_options, report
from fabricgen.cli.settings import FullGroup, Settings, verb
from fabricgen.errors import UsageError
from fabricgen.inputs import read_text
from fabricgen.vocabulary import Repair

_FILE = click.Path(path_type=Path, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.group("simulate", cls=FullGroup)
def command() -> None:
    """Prove or simulate the behavior of a fabric, from its rendered files.

    \b
    Examples:
      fabricgen simulate deadlock build --failures 1
      fabricgen simulate congestion build --pattern all-to-all
    """


@command.command("deadlock")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@link_options
@click.option(
    "--failures",
    type=click.IntRange(0, 3),
    help="Prove every set of up to this many links that fail at the same time.  [default: 0; 1 with "
    "--switch-failures or --repair local]",
)
@click.option("--switch-failures", is_flag=True, help="Let switches fail as well as links.")
@click.option(
    "--repair",
    type=click.Choice([word.value for word in Repair]),
    default=Repair.NONE.value,
    show_default=True,
    help="local: a switch next to a failure sends packets to another neighbor at once (fast reroute).",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed for samples of failure sets.")
@click.option("--scheduler", metavar="URL", help="Use the workers of the Dask scheduler at tcp://HOST:PORT.")
@click.option("--plane", shell_complete=names_in("planes"), help="Prove only this plane.")
@click.option(
    "--lfts",
    type=_FOLDER,
    help="Folder with dumps of OpenSM or ibdiagnet, which replace a run of OpenSM.",
)
@click.option("--demonstrate", is_flag=True, help="Run flows around a cycle packet by packet, and show the freeze.")
@click.option(
    "--certificate",
    type=_FILE,
    metavar="FILE",
    help="Write the proof to this file: the order of channels, and the tables of InfiniBand planes.",
)
@click.option(
    "--routes",
    type=_FILE,
    metavar="FILE",
    help="Write the next hops to this file, as JSON by switch and prefix, or by InfiniBand port GUID.",
)
@click.option("--svg", type=_FOLDER, metavar="DIR", help="Write a picture of each cycle into this folder.")
@expand_option
@inventory_option
@output_options
@verb
def deadlock(
    settings: Settings,
    paths: tuple[Path, ...],
    links: Path | None,
    lldp: Path | None,
    failures: int | None,
    switch_failures: bool,
    repair: str,
    seed: int,
    scheduler: str | None,
    plane: str | None,
    expand: bool,
    inventory: Path | None,
    lfts: Path | None,
    demonstrate: bool,
    certificate: Path | None,
    routes: Path | None,
    svg: Path | None,
    fmt: str,
    output: Path | None,
    fail_on: str,
) -> int:
    """Prove that no cyclic buffer dependency can exist, or show a cycle that can freeze the fabric.

    InfiniBand planes are proved with OpenSM and ibsim if both are installed, otherwise by their wiring.

    \b
    Examples:
      fabricgen simulate deadlock build --failures 2 --switch-failures
      fabricgen simulate deadlock build --certificate proof.json
    """
    from fabricgen.api.deadlock import FailureOptions, simulate_deadlock
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.report.deadlock import deadlock_lines, deadlock_object, deadlock_unjudged
    from fabricgen.report.packets import packets_lines, packets_object
    from fabricgen.simulate.deadlock.certificate import seals

    found = simulate_deadlock(
        paths,
        links=links,
        lldp=lldp,
        plane=plane,
        failures=FailureOptions(failures, switch_failures, Repair(repair), seed, scheduler, settings.jobs),
        lfts=lfts,
        demonstrate=demonstrate,
        certificate=certificate,
        routes=routes,
        svg=svg,
        inventory=inventory,
        policy=policy_of(settings, expand),
        progress=TerminalProgress(settings),
    )
    own: dict[str, object] = {"deadlock": deadlock_object(found.planes, seals(found.planes) if fmt == "json" else None)}
    lines = [*deadlock_lines(found.planes)]
    if found.packets is not None:
        own["packets"] = packets_object(found.packets)
        lines += packets_lines(found.packets)
    return report(
        settings, found, verb="simulate deadlock", fmt=fmt, output=output, fail_on=fail_on, own=own, lines=lines,
        unjudged=[*deadlock_unjudged(found.planes)],
    )  # fmt: skip


@command.command("congestion")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@link_options
@traffic_options
@subnet_options
@click.option("--size", metavar="BYTES", help="Buffer of one rank, for example 64MB or 256MiB.  [default: 256MiB]")
@click.option(
    "--placement",
    default="aligned",
    show_default=True,
    metavar="HOW",
    help="Hosts of the ranks: aligned, fragmented, a file with one host per line in the order of ranks, or search: "
    "propose a better placement of the jobs.",
)
@jobs_options
@click.option(
    "--save-jobs",
    type=_FILE,
    metavar="FILE",
    help="Write the placement that --placement search proposes to this jobs file.",
)
@hash_options
@balance_option
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed for hashes, shuffles and permutations."
)
@click.option(
    "--draws", type=click.IntRange(1), default=1, show_default=True, help="Number of hashes drawn for the link loads."
)
@click.option(
    "--failures",
    type=click.IntRange(0, 2),
    help="Bandwidth after every set of up to this many failed links between switches.  [default: 0; 1 with "
    "--switch-failures]",
)
@click.option("--switch-failures", is_flag=True, help="Let switches fail as well as links.")
@click.option(
    "--sizes",
    metavar="FROM:TO[:FACTOR]",
    help="Print algorithm and bus bandwidth by buffer size, as nccl-tests does, for example 1KiB:16GiB or "
    "1MiB:1GiB:4; of all collectives, or of --pattern.",
)
@click.option("--plane", shell_complete=names_in("planes"), help="Simulate only this plane.")
@click.option("--svg", type=_FOLDER, help="Write pictures of the congestion trees into this folder.")
@expand_option
@inventory_option
@output_options
@verb
def congestion(
    settings: Settings,
    paths: tuple[Path, ...],
    links: Path | None,
    lldp: Path | None,
    pattern: str | None,
    scenario: Path | None,
    size: str | None,
    lfts: Path | None,
    vl_buffer: str | None,
    adaptive_routing: bool,
    placement: str,
    jobs_file: Path | None,
    save_jobs: Path | None,
    queue_pairs: int | None,
    hash: str | None,  # noqa: A002 (the name of the option)
    balance: str | None,
    seed: int,
    draws: int,
    failures: int | None,
    switch_failures: bool,
    sizes: str | None,
    plane: str | None,
    svg: Path | None,
    expand: bool,
    inventory: Path | None,
    fmt: str,
    output: Path | None,
    fail_on: str,
) -> int:
    """Compute which flows delay which: link loads, fair rates, congestion trees and victims under PFC.

    \b
    Examples:
      fabricgen simulate congestion build --pattern all-to-all --size 64MB
      fabricgen simulate congestion build --failures 1 --switch-failures
      fabricgen simulate congestion build --sizes 1KiB:16GiB --draws 20
      fabricgen simulate congestion build --jobs-file jobs.yaml --placement search
    """
    from fabricgen.api.congestion import simulate_congestion, simulate_congestion_of_scenario
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.report.congestion import congestion_lines, congestion_object, congestion_unjudged

    if print_patterns(pattern):
        return 0
    require_one_source(
        paths, scenario, pattern=pattern, size=size, plane=plane, lfts=lfts, vl_buffer=vl_buffer,
        adaptive_routing=adaptive_routing or None, queue_pairs=queue_pairs, hash=hash, balance=balance,
        failures=failures, switch_failures=switch_failures or None, sizes=sizes, jobs_file=jobs_file,
        save_jobs=save_jobs, links=links, lldp=lldp, placement=None if placement == "aligned" else placement,
        seed=seed or None, draws=None if draws == 1 else draws,
    )  # fmt: skip
    if save_jobs is not None and placement != "search":
        raise UsageError("--save-jobs is for --placement search")
    if scenario is not None:
        found = simulate_congestion_of_scenario(scenario, svg=svg)
    else:
        found = simulate_congestion(
            paths,
            links=links,
            lldp=lldp,
            pattern=pattern,
            size_bytes=None if size is None else message_bytes(size),
            placement=_placement(placement),
            queue_pairs=queue_pairs,
            hash_model=hash_of(hash),
            balance=balance_of(balance),
            seed=seed,
            draws=draws,
            plane=plane,
            subnets=subnets_of(lfts, vl_buffer, adaptive_routing),
            failures=int(switch_failures) if failures is None else failures,
            switch_failures=switch_failures,
            sizes=() if sizes is None else sizes_of(sizes),
            jobs_file=jobs_file,
            save_jobs=save_jobs,
            svg=svg,
            inventory=inventory,
            policy=policy_of(settings, expand),
            progress=TerminalProgress(settings),
        )
    has_verdict = bool(found.planes) or (scenario is None and jobs_file is None)
    own = {"congestion": congestion_object(found.planes)} if has_verdict else {}
    return report(
        settings, found, verb="simulate congestion", fmt=fmt, output=output, fail_on=fail_on, own=own,
        lines=[*congestion_lines(found.planes)], unjudged=[*congestion_unjudged(found.planes)],
    )  # fmt: skip


def _placement(text: str) -> str | tuple[str, ...]:
    if text in ("aligned", "fragmented", "search"):
        return text
    if not Path(text).is_file():
        raise UsageError(
            f"--placement: the file {text!r} does not exist; give a file of hosts, or aligned, fragmented or search"
        )
    return tuple(filter(None, map(str.strip, read_text(Path(text)).splitlines())))


command.add_command(simulate_packets.command)
