"""Options that several verbs have."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricgen.cli.names import names_of
from fabricgen.cli.settings import Settings, several
from fabricgen.cli.streams import write
from fabricgen.errors import UsageError
from fabricgen.units import parse_bytes, whole_number
from fabricgen.vocabulary import BalanceMode, HashModel

if TYPE_CHECKING:
    from fabricgen.api.judgement import Policy
    from fabricgen.api.requests import SimulationRequest
    from fabricgen.api.subnets import SubnetOptions
    from fabricgen.engine.store import Store
    from fabricgen.inventory.read_files import InventorySource

FILE = click.Path(path_type=Path, dir_okay=False)  # to read or to write
FOLDER = click.Path(path_type=Path, file_okay=False)


def _codes(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Codes and prefixes of repeated or comma-separated options."""
    found = tuple(code for text in given for code in text.replace(",", " ").split())
    if not found:
        return ()
    from fabricgen.report.pages import pages

    for code in found:
        if not code.upper().startswith("FG") or not code[2:].isalnum():
            raise click.BadParameter(f"{code!r} is not a code such as FG512, or a prefix such as FG5", ctx, parameter)
        if not any(known.startswith(code.upper()) for known in pages()):
            raise click.BadParameter(
                f"no finding has the code {code!r}; `fabricgen explain --list` shows all codes", ctx, parameter
            )
    return found


def _inventory(path: Path | None) -> Path | None:
    """The inventory. Raises UnreadableInputError for a folder without a YAML file: its lines would be missing."""
    if path is not None:
        from fabricgen.inventory.read_files import inventory_files

        inventory_files(path)
    return path


def _templates(path: Path | None) -> Path | None:
    """The folder of templates. Raises UsageError for one whose files replace none; an empty one is for later."""
    if path is not None and any(path.rglob("*.j2")):
        from fabricgen.resources import resource

        for room in ("sonic", "infiniband", "hosts"):
            shipped = resource("templates", room)
            for file in (one for one in shipped.rglob("*") if one.is_file()):
                name = file.relative_to(shipped)
                if (path / name).is_file() or (path / room / name).is_file():
                    return path
        raise UsageError(f"--templates {path}: no file has the name of a template, for example sonic/port.json.j2")
    return path


expand_option = click.option(
    "--expand", is_flag=True, help="Report each device by itself. By default, equal findings of devices are one."
)
inventory_option = click.option(
    "--inventory",
    type=click.Path(path_type=Path, exists=True),
    callback=lambda *given: _inventory(given[2]),
    help="Inventory of the bundle, for the line numbers of its values. By default, it is searched near the bundle.",
)


templates_option = click.option(
    "--templates",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    callback=lambda *given: _templates(given[2]),
    metavar="DIR",
    help="Folder with templates that replace those of fabricgen. Give all verbs the same: set it in fabricgen.toml.",
)


def inventory_arguments(metavar: str = "INVENTORY...") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """One or more inventories, --set and --templates, the arguments of `layers_of`, for every verb that renders."""
    return several(planned_inventory(metavar), templates_option)


def planned_inventory(metavar: str = "INVENTORY...") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """One or more inventories and --set, for a verb that plans a fabric and renders no file."""
    return several(
        click.argument("inventories", nargs=-1, required=True, metavar=metavar, type=click.Path(path_type=Path)),
        click.option(
            "--set", "values", multiple=True, metavar="PATH=VALUE",
            help="Set a value, for example planes.compute.cables.leaf-spine=60m. The option can be repeated.",
        ),
    )  # fmt: skip


scheduler_option = click.option(
    "--scheduler", metavar="URL", help="Use the workers of the Dask scheduler at tcp://HOST:PORT."
)
cache_options = several(
    click.option(
        "--cache", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
        help="Keep results in this folder, and find them again for equal inputs. [default: in the user's cache folder]",
    ),
    click.option("--no-cache", is_flag=True, help="Neither find results of earlier runs nor keep any."),
)  # fmt: skip


def store_of(cache: Path | None, *, no_cache: bool) -> "Store | None":
    """The store of earlier results, by default in the user's cache folder; None without one. Raises UsageError if
    another user can change what is in the folder `cache`; a default folder of this kind is not used."""
    from fabricgen.atomic.private import user_cache
    from fabricgen.engine.store import open_store

    if cache is None:
        return None if no_cache else open_store(user_cache() / "results")
    store = open_store(cache)
    if store is None:
        raise UsageError(
            f"--cache {cache}: another user can change what is in it; choose a folder that only you can write"
        )
    return store


platform_option = click.option(
    "--platform",
    "platform_files",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Platform entry that is not in the catalog. The option can be repeated.",
)
choice_options = several(
    click.option(
        "--select", multiple=True, shell_complete=names_of("codes"), callback=_codes, metavar="CODES",
        help="Run only rules with these codes or prefixes of codes, separated by commas.",
    ),
    click.option(
        "--ignore", multiple=True, shell_complete=names_of("codes"), callback=_codes, metavar="CODES",
        help="Skip rules with these codes or prefixes of codes, separated by commas.",
    ),
    expand_option,
)  # fmt: skip
link_options = several(
    click.option(
        "--links",
        type=click.Path(path_type=Path, dir_okay=False),
        help="JSON file with the links, which replace the links of the files.",
    ),
    click.option(
        "--lldp",
        type=click.Path(path_type=Path),
        metavar="PATH",
        help="LLDP neighbors, which replace the links of the files: a file or a folder with the output of lldpctl "
        "(JSON) or `show lldp table`, or with LLDP_ENTRY_TABLE.",
    ),
)
observed_options = several(
    link_options,
    click.option(
        "--neighbors",
        type=click.Path(path_type=Path),
        metavar="PATH",
        help="Address tables of switches, for hosts without LLDP: a file or a folder with the output of `show arp`, "
        "`show ndp`, `ip neigh` or `show mac`, or with NEIGH_TABLE or FDB_TABLE.",
    ),
)
work_order_option = click.option(
    "--work-order", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="Also write which end of which cable to plug where, with the labels of both ends: CSV if FILE ends with .csv, "
    "otherwise text to print.",
)  # fmt: skip
traffic_options = several(
    click.option(
        "--pattern",
        metavar="NAME",
        shell_complete=names_of("patterns"),
        help="Traffic pattern; `list` prints all.  [default: ring-all-reduce]",
    ),
    click.option(
        "--scenario",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Scenario file to simulate instead of PATHS.",
    ),
)

jobs_options = several(
    click.option(
        "--jobs-file",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="YAML or JSON file with jobs that run at the same time; `fabricgen schema jobs` is its JSON Schema.",
    ),
)

nccl_option = click.option(
    "--nccl",
    metavar="VERSION",
    help="Let two NICs have as many connections as the channels of this version of NCCL, or of RCCL on hosts with "
    "GPUs of AMD, for example 2.30, instead of one.",
)

hash_options = several(
    click.option(
        "--queue-pairs",
        type=click.IntRange(1, 64),
        help="Queue pairs of a connection. Each is hashed by itself.  [default: NCCL_IB_QPS_PER_CONNECTION of the "
        "files of hosts, else 1]",
    ),
    nccl_option,
    click.option(
        "--hash",
        "hash_model",
        type=click.Choice([word.value for word in HashModel]),
        callback=lambda *given: HashModel(given[2] or HashModel.DEPLOYED),
        help="What switches compute: the linear hash of their files, as in chips, or an ideal one.  "
        "[default: deployed]",
    ),
)

balance_option = click.option(
    "--balance",
    type=click.Choice([word.value for word in BalanceMode]),
    callback=lambda *given: BalanceMode(given[2]) if given[2] else None,
    help="How the switches of RoCE planes spread packets.  [default: as the files say]",
)


def size_option(default: str) -> Callable[..., Any]:
    """--size, which reaches the verb in bytes."""
    return click.option(
        "--size",
        "size_bytes",
        metavar="BYTES",
        callback=lambda *given: None if given[2] is None else message_bytes(given[2]),
        help=f"Buffer of one rank, for example 64MB or {default}.  [default: {default}]",
    )


subnet_options = several(
    click.option(
        "--lfts",
        type=click.Path(path_type=Path, file_okay=False),
        help="InfiniBand: folder with dumps of OpenSM or ibdiagnet, which replace a run of OpenSM.",
    ),
    click.option(
        "--vl-buffer",
        metavar="BYTES",
        help="InfiniBand: buffer of each virtual lane of a port, for example 64KiB.  [default: 128KiB, the most that "
        "flow control can grant]",
    ),
    click.option(
        "--adaptive-routing",
        is_flag=True,
        help="InfiniBand trees: each message takes the shortest path with the least load, not that of the tables.",
    ),
)


def subnets_of(lfts: Path | None, vl_buffer: str | None, adaptive: bool) -> "SubnetOptions":
    """The options of InfiniBand planes. Raises UsageError for a buffer that is not a size or too small for a packet."""
    from fabricgen.api.subnets import DEFAULT_SUBNETS, SubnetOptions
    from fabricgen.physics import DEFAULT_ROCE_MTU_BYTES, INFINIBAND_WIRE_BYTES

    if adaptive and lfts is not None:
        raise UsageError("--adaptive-routing does not use forwarding tables: give it or --lfts")
    size = DEFAULT_SUBNETS.buffer_bytes if vl_buffer is None else message_bytes(vl_buffer, "--vl-buffer")
    packet = DEFAULT_ROCE_MTU_BYTES + INFINIBAND_WIRE_BYTES
    if size < packet:
        raise UsageError(f"--vl-buffer: {size} bytes do not hold a packet of {packet} bytes")
    return SubnetOptions(lfts, size, adaptive)


def layers_of(
    inventories: tuple[Path, ...], values: tuple[str, ...] = (), templates: Path | None = None
) -> "InventorySource":
    """The inventory of the arguments: later ones are layers over the first, and `values` are set on top."""
    from fabricgen.inventory.read_files import Layers

    return Layers(inventories, values, templates) if inventories[1:] or values or templates else inventories[0]


def policy_of(settings: Settings, expand: bool = False) -> "Policy":
    """The policy of the settings file. Raises UsageError for a mistake in it."""
    from fabricgen.api.judgement import Policy
    from fabricgen.cli import policy

    return Policy(policy.severities(settings.file), tuple(policy.suppressions(settings.file)), expand)


def print_patterns(pattern: str | None) -> bool:
    """Print the names of the patterns if `pattern` is list; returns whether it is."""
    if pattern != "list":
        return False
    from fabricgen.vocabulary import PATTERNS

    write("\n".join(PATTERNS))
    return True


def require_one_source(request: "SimulationRequest", scenario: Path | None, *of_scenarios: str) -> None:
    """Raises UsageError unless there are either paths or a scenario, and for options that a scenario does not use:
    those of other fields of the request than `of_scenarios`."""
    if bool(request.paths) == (scenario is not None):
        raise UsageError("give a bundle or config_db files, or one scenario with --scenario")
    if scenario is None:
        return
    names = {
        "size_bytes": "--size",
        "hash_model": "--hash",
        "failed": "--fail",
        "subnets": "--lfts, --vl-buffer or --adaptive-routing",
    }
    given = [
        names.get(one.name, f"--{one.name.replace('_', '-')}")
        for one in fields(request)
        if one.name not in ("paths", "inventory", *of_scenarios) and getattr(request, one.name) != one.default
    ]
    if given:
        raise UsageError(f"a scenario has its own links, routes and flows: {', '.join(given)}: for bundles only")


def message_bytes(text: str, option: str = "--size") -> int:
    """The value of an option in bytes. Raises UsageError if it is not a size, or zero."""
    try:
        size = parse_bytes(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error
    if not size:
        raise UsageError(f"{option}: expected at least one byte")
    return size


def sizes_of(text: str) -> tuple[int, ...]:
    """The sizes in bytes of FROM:TO[:FACTOR], by default each twice the one before. Raises UsageError for other texts,
    for a last size below the first, and for a factor below 2."""
    words = text.split(":")
    factor = whole_number(words[2]) if len(words) == 3 else 2
    if len(words) not in (2, 3) or factor is None or factor < 2:
        raise UsageError(
            f"--sizes takes FROM:TO or FROM:TO:FACTOR with a factor from 2 on, as 1KiB:16GiB; not {text!r}"
        )
    first, last = (message_bytes(word, "--sizes") for word in words[:2])
    if last < first:
        raise UsageError(f"--sizes: {words[1]} is less than {words[0]}")
    found = [first]
    while found[-1] * factor <= last:
        found.append(found[-1] * factor)
    return tuple(found)
