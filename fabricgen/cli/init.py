"""`fabricgen init`: a first inventory that can be rendered."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import click
import jinja2
import yaml

from fabricgen.atomic import temporary_folder
from fabricgen.atomic.folder import create_files
from fabricgen.cli.output import EXIT_FINDINGS, print_findings
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import write
from fabricgen.design.first_layout import NoLayoutError
from fabricgen.design.registry import designs
from fabricgen.errors import UsageError
from fabricgen.findings import has_errors
from fabricgen.inventory.load import LOCK_NAME
from fabricgen.platforms import catalog
from fabricgen.platforms.model import Layout
from fabricgen.render.explicit import links_csv, switches_csv
from fabricgen.render.plans import make_plans
from fabricgen.report.summary import Counts
from fabricgen.resources import resource
from fabricgen.units import format_speed
from fabricgen.vocabulary import Technology

TWO_PORT_MODEL = "dgx-b300"
MODEL = "dgx-h100"
FILE_NAME = "fabric.yaml"
DEFAULT_PLATFORM = {Technology.ROCE: "arista-7060x6-64pe", Technology.INFINIBAND: "nvidia-qm9700"}
_LISTED, _LISTED_AS = "explicit", "rail-optimized"  # a list of links is made from a design that has a first layout
_SERVED = {Technology.ROCE: Technology.ETHERNET, Technology.INFINIBAND: Technology.INFINIBAND}


@click.command("init")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--design",
    type=click.Choice([name for name, design in designs().items() if design.first_layout or name == _LISTED]),
    default="rail-optimized",
    show_default=True,
    help="Topology of the fabric.",
)
@click.option("--hosts", type=click.IntRange(1), default=32, show_default=True, help="Hosts with 8 GPUs each.")
@click.option("--platform", help="Switch platform of all tiers.  [default: by technology]")
@click.option(
    "--technology", type=click.Choice([word.value for word in DEFAULT_PLATFORM]),
    help="Technology of the fabric.  [default: roce; infiniband for the designs that can deadlock with RoCE: "
    + ", ".join(name for name, design in designs().items() if design.cyclic) + "]",
)  # fmt: skip
@verb
def command(
    settings: Settings, folder: Path, design: str, hosts: int, platform: str | None, technology: str | None
) -> int:
    """Write a first inventory and its lock file into the new folder DIR."""
    existing = sorted(folder.glob("*.y*ml")) if folder.is_dir() else []
    if existing:
        raise UsageError(f"{folder} already contains {existing[0].name}; init needs a new folder")
    cyclic = designs()[design].cyclic
    default = Technology.INFINIBAND if cyclic else Technology.ROCE
    chosen = Technology(technology) if technology else default
    if chosen == Technology.ROCE and cyclic:
        raise UsageError(
            f"RoCE on a {design} can deadlock: one lossless class forms cycles; use --technology infiniband, "
            "or --design dragonfly-plus, fat-tree or rail-optimized"
        )
    start = _Start(folder, design, hosts, platform or DEFAULT_PLATFORM[chosen], chosen)
    files = start.files()
    with temporary_folder("init") as aside:
        create_files(aside / "new", {name: text.encode() for name, text in files.items()})
        plans = make_plans(aside / "new")
        if has_errors(plans.findings):
            print_findings(settings, plans.findings, Counts(), shorten=f"{aside / 'new'}/")
            return EXIT_FINDINGS
    create_files(
        folder, {**{name: text.encode() for name, text in files.items()}, LOCK_NAME: plans.lock.dump().encode()}
    )
    written = ", ".join(str(folder / name) for name in files)
    gpus = sum(host.model.gpus for host in plans.fabric.hosts)
    write(
        f"wrote {written} and {folder / LOCK_NAME}: {len(plans.fabric.switches)} switches, {hosts} hosts, {gpus} GPUs"
    )
    write(f"Next: fabricgen check {folder}    then: fabricgen render {folder} --output build")
    return 0


@dataclass(frozen=True)
class _Start:
    """The options of a new inventory."""

    folder: Path
    design: str
    hosts: int
    platform: str
    technology: Technology

    def files(self) -> dict[str, str]:
        """name -> text of each file of the inventory. Raises UsageError if the options do not fit together."""
        if self.design != _LISTED:
            return {FILE_NAME: self._inventory(self.design)}
        with temporary_folder("init") as aside:
            (aside / FILE_NAME).write_text(self._inventory(_LISTED_AS), encoding="utf-8")
            plans = make_plans(aside)
        (laid_out,) = plans.fabric.planes
        return {
            FILE_NAME: self._inventory(_LISTED),
            "switches.csv": switches_csv(laid_out, plans.allocation),
            "links.csv": links_csv(laid_out, plans.allocation),
        }

    def _inventory(self, design: str) -> str:
        model = TWO_PORT_MODEL if designs()[design].nic_ports > 1 else MODEL
        layout = self._layout(model)
        first_layout = designs()[_LISTED_AS if design == _LISTED else design].first_layout
        assert first_layout, "the choices of --design have a first layout"
        try:
            first = first_layout(self.hosts, len(layout.fabric_ports))
        except NoLayoutError as problem:
            raise UsageError(f"{problem}; choose another --design, --hosts or --platform") from None
        environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
        template = resource("templates", "init", "fabric.yaml.j2").read_text(encoding="utf-8")
        return environment.from_string(template).render(
            fabric=_fabric_name(self.folder),
            model=model,
            hosts=self.hosts,
            design=design,
            technology=self.technology,
            platform=self.platform,
            speed=format_speed(layout.speed_mbps),
            first=first,
        )

    def _layout(self, model: str) -> Layout:
        """The layout whose ports have the speed of the NICs of the hosts. Raises UsageError."""
        platform, host = catalog.switch_platform(self.platform), catalog.host_model(model)
        assert host is not None, "the catalog has the models of this module"
        if platform is None:
            known = ", ".join(catalog.switch_names())
            raise UsageError(f"unknown switch platform {self.platform!r}; known: {known}")
        if not platform.serves(_SERVED[self.technology]):
            kind = "an InfiniBand" if self.technology == Technology.ROCE else "an Ethernet"
            raise UsageError(f"{self.platform} is {kind} switch, and --technology is {self.technology}")
        speed_mbps = host.nics[0].speed_mbps
        fitting = [layout for layout in platform.layouts if layout.speed_mbps == speed_mbps]
        if not fitting:
            raise UsageError(
                f"{self.platform} has no layout of {format_speed(speed_mbps)}, the speed of {model}'s NICs"
            )
        lossless = [layout for layout in fitting if layout.buffers or self.technology == Technology.INFINIBAND]
        if not lossless:
            raise UsageError(
                f"{self.platform} can only be counted: its buffers are not known, so it cannot be lossless"
            )
        return lossless[0]


def _fabric_name(folder: Path) -> str:
    """The name of the folder as the name of a fabric, in quotes if YAML would not read it as text."""
    name = re.sub("[^A-Za-z0-9_.-]", "-", folder.resolve().name).lstrip("-_.")[:63] or "fabric"
    return name if isinstance(yaml.safe_load(name), str) else json.dumps(name)
