"""`fabricgen init`: an inventory that renders at once."""

import json
import re
from pathlib import Path

import click
import jinja2
import yaml

from fabricgen.allocation.lock import write_lock
from fabricgen.cli.output import print_result
from fabricgen.cli.settings import Settings, verb
from fabricgen.errors import UsageError
from fabricgen.findings import has_errors
from fabricgen.inventory.load import LOCK_NAME
from fabricgen.platforms import catalog
from fabricgen.render.plans import make_plans
from fabricgen.report.summary import Counts
from fabricgen.resources import resource
from fabricgen.units import format_speed

MODEL = "dgx-h100"
RAILS = 8
SMALL_UNIT_HOSTS = 16
FILE_NAME = "fabric.yaml"


@click.command("init")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--design", type=click.Choice(["rail-optimized"]), default="rail-optimized", show_default=True)
@click.option(
    "--hosts", type=click.IntRange(1), default=32, show_default=True, help=f"Hosts of model {MODEL}, 8 GPUs each."
)
@click.option("--platform", default="arista-7060x6-64pe", show_default=True, help="Switch model of all tiers.")
@click.option("--technology", type=click.Choice(["roce"]), default="roce", show_default=True)
@verb
def command(settings: Settings, folder: Path, design: str, hosts: int, platform: str, technology: str) -> int:
    """Write an inventory and its lock file into DIR."""
    existing = sorted(folder.glob("*.y*ml")) if folder.is_dir() else []
    if existing:
        raise UsageError(f"{folder} holds {existing[0].name} already; init starts in a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    file, lock = folder / FILE_NAME, folder / LOCK_NAME
    file.write_text(_inventory(folder, design, hosts, platform), encoding="utf-8")
    plans = make_plans(folder)
    if has_errors(plans.findings):
        file.unlink()
        print_result(settings, plans.findings, Counts(), fmt="text", output=None)
        return 1
    write_lock(lock, plans.lock)
    click.echo(f"wrote {file} and {lock}: {len(plans.fabric.switches)} switches, {hosts} hosts, {hosts * RAILS} GPUs")
    click.echo(f"Next: fabricgen check {folder}    then: fabricgen render {folder} --output build")
    return 0


def _fabric_name(folder: Path) -> str:
    """The folder's name as far as it can name a fabric, in quotes where YAML would read something else than text."""
    name = re.sub("[^A-Za-z0-9_.-]", "-", folder.resolve().name).lstrip("-_.")[:63] or "fabric"
    return name if isinstance(yaml.safe_load(name), str) else json.dumps(name)


def _inventory(folder: Path, design: str, hosts: int, platform: str) -> str:
    """The text of an inventory with room to grow: the next power of two of units, four at least."""
    model = catalog.switch_platform(platform)
    if model is None:
        raise UsageError(f"no switch platform is called {platform!r}; known: {', '.join(catalog.switch_names())}")
    if not model.serves("ethernet"):
        raise UsageError(f"{platform} is an InfiniBand switch; init starts RoCE fabrics")
    layout = next((layout for layout in model.layouts if layout.buffers), None)
    if layout is None:
        raise UsageError(f"{platform} is for counting only: no buffer facts are known, so it cannot be lossless")
    radix = len(layout.fabric_ports)
    unit_hosts = SMALL_UNIT_HOSTS if hosts <= 4 * SMALL_UNIT_HOSTS else radix // 2
    units = -(-hosts // unit_hosts)
    planned = max(4, 1 << (units - 1).bit_length())
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    template = resource("templates", "init", f"{design}.yaml.j2").read_text(encoding="utf-8")
    return environment.from_string(template).render(
        schema="inventory.schema.json",
        fabric=_fabric_name(folder),
        model=MODEL,
        hosts=hosts,
        units=units,
        unit_hosts=unit_hosts,
        planned=planned,
        platform=platform,
        core=planned * RAILS > radix,
        speed=format_speed(layout.speed_mbps),
    )
