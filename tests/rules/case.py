"""One kind of bad case for all rules: something clean, one change of it, and the finding that the change must cause.

A case names the finding completely: where it is, how severe, what it says and what it advises.
"""

import dataclasses
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.findings import Finding, Severity
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.rules.run import run
from tests.opensm.small import TREE, rendered
from tests.render.hosts.rendered import files_of
from tests.rules.clean import CleanFabric, Config, clean_fabric

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
Configs = dict[str, Config]  # device -> table -> key -> field -> value


class Clean(Protocol):
    """Something that has no finding before the change."""

    def broken(self, change: Callable[[Any], object], folder: Path) -> Bundle:
        """The bundle after the change, with its files below `folder`."""


@dataclass(frozen=True)
class Switches:
    """A small fabric of switches (clean.py); the change gets the tables of all of them.

    `model` is traditional, dynamic, or planes. `plug` adds a cable or changes the wiring before the change.
    `watchdog_actions` and `asic` are those of the platforms, if not those of the catalog, `acl_tables` and `acl_rules`
    the size of their TCAM, which the catalog does not have.
    """

    model: str = "traditional"
    plug: Callable[[CleanFabric], None] | None = None
    watchdog_actions: tuple[str, ...] = ()
    asic: str = ""
    acl_tables: int | None = None
    acl_rules: int | None = None

    def broken(self, change: Callable[[Configs], object], folder: Path) -> Bundle:
        """The fabric as `open_bundle` reads it."""
        fabric = clean_fabric(self.model)
        if self.plug:
            self.plug(fabric)
        change(fabric.configs)
        return fabric.bundle(folder / "sonic")

    def layout(self, hwsku: str) -> tuple[SwitchPlatform, Layout] | None:
        """The platform and layout of a hwsku."""
        found = layout_by_hwsku(hwsku)
        if found is None:
            return None
        size = {"acl_tables": self.acl_tables, "acl_rules": self.acl_rules}
        platform = dataclasses.replace(found[0], asic=self.asic or found[0].asic, **size)  # type: ignore[arg-type]
        if self.watchdog_actions:
            capabilities = {**platform.capabilities, "watchdog_actions": self.watchdog_actions}
            platform = dataclasses.replace(platform, capabilities=capabilities)
        return platform, found[1]


@dataclass(frozen=True)
class HostFiles:
    """The files of the hosts of a small bundle; the change gets the folder of the group `gpu`."""

    inventory: str

    def broken(self, change: Callable[[Path], object], folder: Path) -> Bundle:
        """The bundle as `open_bundle` reads it. Only files of switches that the change writes are parsed again."""
        root, clean = folder / "bundle", _opened(self.inventory)
        assert clean.root
        shutil.copytree(clean.root, root, copy_function=shutil.copyfile)
        change(root / "hosts" / "gpu")
        opened = open_bundle([root])
        kept = {
            name: dataclasses.replace(device, content=clean.devices[name].content)
            for name, device in opened.devices.items()
            if device.text == clean.devices[name].text
        }
        return dataclasses.replace(opened, devices={**opened.devices, **kept})


@dataclass(frozen=True)
class SubnetFiles:
    """The files of a subnet manager in a small bundle; the change gets the folder of the plane."""

    bundle: str = TREE
    plane: str = "compute"

    def broken(self, change: Callable[[Path], object], folder: Path) -> Bundle:
        """The bundle as `open_bundle` reads it."""
        root = shutil.copytree(_rendered(self.bundle), folder / self.bundle, copy_function=shutil.copyfile)
        change(root / "infiniband" / self.plane)
        return open_bundle([root])


_FOLDER = tempfile.TemporaryDirectory(prefix="fabricgen-cases-")


@cache
def _rendered(name: str) -> Path:
    return rendered(Path(_FOLDER.name), name)


@cache
def _opened(inventory: str) -> Bundle:
    """The clean bundle of an inventory."""
    root = Path(tempfile.mkdtemp(dir=_FOLDER.name))
    for path, content in files_of(inventory).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return open_bundle([root])


SWITCHES = Switches()


@dataclass(frozen=True)
class Case:
    """One bad case of a rule.

    `path` is DEVICE:TABLE|key|field, for files DEVICE:FILE|setting. `at` is text of the line at the finding's location;
    `related` is the path of a switch's value that the finding must show, too.
    Apart from this finding there may be others of the codes in `also`, and the same one on the devices in `also_at`. A
    `lenient` case changes so much that other rules rightly report, too. `pitfalls` are the numbers in docs/pitfalls*.md
    that the case is an example of.
    """

    code: str
    change: Callable[[Any], object]
    path: str
    severity: Severity
    message: str
    hint: str
    clean: Clean = SWITCHES
    at: str = ""
    related: str = ""
    also: tuple[str, ...] = ()
    also_at: tuple[str, ...] = ()
    lenient: bool = False
    pitfalls: tuple[int, ...] = ()

    def findings(self, folder: Path, select: tuple[str, ...] = ()) -> list[Finding]:
        """All findings after the change, or those of some rules, notes included."""
        layout = self.clean.layout if isinstance(self.clean, Switches) else None
        return run(self.clean.broken(self.change, folder), select, layout_lookup=layout)

    def found(self, findings: list[Finding]) -> Finding:
        """The finding at the place of this case, with its message if several are there. Fails if none is."""
        there = [one for one in findings if one.code == self.code and f"{one.device}:{one.path}" == self.path]
        assert there, [f"{one.code} {one.device}:{one.path} {one.message}" for one in findings]
        return next((one for one in there if one.message == self.message), there[0])


@dataclass(frozen=True)
class GoodCase:
    """A change that the rule `code` must accept; findings of the codes in `also` are allowed."""

    code: str
    change: Callable[[Any], object]
    clean: Clean = field(default_factory=Switches)
    also: tuple[str, ...] = ()
