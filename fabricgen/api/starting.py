"""First inventories: of any design for a number of hosts, and the shipped examples."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.atomic import temporary_folder
from fabricgen.atomic.folder import create_files
from fabricgen.design.first_planes import PlaneStart, Start, first_planes, unnamed_nics
from fabricgen.errors import UsageError
from fabricgen.findings import Finding, has_errors
from fabricgen.resources import resource

if TYPE_CHECKING:
    from fabricgen.render.plans import Plans

FILE_NAME, SCHEMA_NAME = "fabric.yaml", "inventory.schema.json"
_EXAMPLES, _SCHEMA_OF_EXAMPLES = "inventories", "../../schemas/inventory.schema.json"
_LISTED, _LISTED_AS = "explicit", "rail-optimized"  # a list of links is made from a design that has a first layout


@dataclass(frozen=True)
class Started:
    """What was written, or the findings that prevented it. `growth` describes the room of each plane, in words,
    and what the hosts still need."""

    files: tuple[str, ...] = ()
    switches: int = 0
    hosts: int = 0
    gpus: int = 0
    growth: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def start(folder: Path, options: Start) -> Started:
    """Write a first inventory, its lock file and the JSON Schema into a new folder.

    Raises UsageError if the options do not fit together, and if the folder has an inventory.
    """
    from fabricgen.inventory.values import NAME

    if not NAME.fullmatch(options.name):
        raise UsageError(f"{options.name!r} is not a name: use letters, digits, - _ . with a letter or digit first")
    _require_new(folder)
    texts, growth = inventory_texts(options)
    return _write(folder, {**texts, SCHEMA_NAME: schema_text()}, growth)


def start_from_example(folder: Path, name: str) -> Started:
    """Copy a shipped example, its lock file and the JSON Schema into a new folder. Raises UsageError."""
    _require_new(folder)
    shipped = examples()
    if name not in shipped:
        raise UsageError(f"no example is called {name!r}; the examples are: {', '.join(shipped)}")
    texts = {
        file.name: file.read_text(encoding="utf-8").replace(_SCHEMA_OF_EXAMPLES, SCHEMA_NAME)
        for file in sorted(resource(_EXAMPLES, name).iterdir())
    }
    return _write(folder, {**texts, SCHEMA_NAME: schema_text()}, ())


def examples() -> Mapping[str, str]:
    """Name -> the comment at the head of each shipped example; "" without a comment."""
    folders = sorted(file.parent for file in resource(_EXAMPLES).glob(f"*/{FILE_NAME}"))
    return {folder.name: _head(folder / FILE_NAME) for folder in folders}


def schema_text() -> str:
    """The JSON Schema of an inventory with the names of all designs."""
    from fabricgen.design.registry import schema_for_editors

    return json.dumps(schema_for_editors(), indent=2) + "\n"


def _head(file: Path) -> str:
    """The comments at the head of a file, without the line for editors, as one line."""
    lines = file.read_text(encoding="utf-8").splitlines()
    end = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    return " ".join(line.removeprefix("#").strip() for line in lines[:end] if "$schema=" not in line)


def _require_new(folder: Path) -> None:
    existing = sorted(folder.glob("*.y*ml")) if folder.is_dir() else []
    if existing:
        raise UsageError(f"{folder} already contains {existing[0].name}; init needs a new folder")


def _write(folder: Path, texts: Mapping[str, str], growth: tuple[str, ...]) -> Started:
    from fabricgen.inventory.load import LOCK_NAME

    with temporary_folder("init") as aside:
        plans = _planned(aside / "new", texts)
        if has_errors(plans.findings):
            name, shown = f"{aside / 'new'}/", plans.findings
            return Started(findings=tuple(_without(name, one) for one in shown))
    create_files(folder, {name: text.encode() for name, text in {LOCK_NAME: plans.lock.dump(), **texts}.items()})
    hosts = plans.fabric.hosts
    return Started(
        tuple(sorted({*texts, LOCK_NAME})), len(plans.fabric.switches), len(hosts),
        sum(host.model.gpus for host in hosts), growth,
    )  # fmt: skip


def _planned(folder: Path, texts: Mapping[str, str]) -> "Plans":
    from fabricgen.render.plans import make_plans

    create_files(folder, {name: text.encode() for name, text in texts.items()})
    return make_plans(folder)


def _without(prefix: str, one: Finding) -> Finding:
    place = one.location and replace(one.location, file=one.location.file.removeprefix(prefix))
    return replace(one, location=place)


def inventory_texts(options: Start) -> tuple[dict[str, str], tuple[str, ...]]:
    """(name -> text of each file of the inventory, the room of each plane in words). Raises UsageError."""
    from fabricgen.render.explicit import links_csv, switches_csv

    if options.design != _LISTED:
        planes = first_planes(options)
        hints = (*(plane.growth for plane in planes), unnamed_nics(options))
        return {FILE_NAME: _fabric_yaml(options, planes)}, tuple(text for text in hints if text)
    if len(options.purposes) > 1 or options.planned_hosts:
        raise UsageError(
            "the design explicit lists the switches of one plane: use neither --planes nor --planned-hosts"
        )
    laid_out = replace(options, design=_LISTED_AS)
    planes = first_planes(laid_out)
    with temporary_folder("init") as aside:
        plans = _planned(aside / "listed", {FILE_NAME: _fabric_yaml(laid_out, planes)})
    (plane,) = plans.fabric.planes
    return {
        FILE_NAME: _fabric_yaml(options, [replace(planes[0], design=_LISTED)]),
        "switches.csv": switches_csv(plane, plans.allocation),
        "links.csv": links_csv(plane, plans.allocation),
    }, ()


def _fabric_yaml(options: Start, planes: list[PlaneStart]) -> str:
    import jinja2

    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    template = resource("templates", "init", "fabric.yaml.j2").read_text(encoding="utf-8")
    return environment.from_string(template).render(
        schema=SCHEMA_NAME, fabric=_as_yaml(options.name), model=options.model, hosts=options.hosts, planes=planes
    )


def fabric_name(folder: Path) -> str:
    """The name of a folder as the name of a fabric."""
    return re.sub("[^A-Za-z0-9_.-]", "-", folder.resolve().name).lstrip("-_.")[:63] or "fabric"


def _as_yaml(name: str) -> str:
    """The name, in quotes if YAML would not read it as text."""
    import yaml

    return name if isinstance(yaml.safe_load(name), str) else json.dumps(name)
