"""Look-ups in the shipped catalog: one YAML file per model below `catalog/`, read when it is first used.

Bare switches (`generic`) have no file.
"""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

from fabricgen.errors import UsageError
from fabricgen.extensions import PLATFORMS, extensions
from fabricgen.platforms.catalog_index import IndexedLayout, indexed, rows_of
from fabricgen.platforms.entries import load_host_model, load_nic_model, load_switch_platform
from fabricgen.platforms.generic import generic_switch
from fabricgen.platforms.model import HostModel, Layout, NicModel, Reordering, SwitchPlatform
from fabricgen.vocabulary import Recovery

__all__ = [
    "host_model", "host_names", "layout_by_hwsku", "load_switch_platform", "nic_model", "nic_names", "reordering",
    "switch_names", "switch_platform", "switch_rows", "switches_with",
]  # fmt: skip

_ASSUMED = Reordering(Recovery.GO_BACK_N, "assumed: the catalog does not state it")
_CATALOG = Path(__file__).with_name("catalog")


@functools.cache
def _files(kind: str) -> dict[str, Path]:
    """Model -> file, those of extensions included. Raises UsageError for a model that two catalogs have."""
    found: dict[str, Path] = {}
    for folder in [_CATALOG, *(Path(str(folder)) for folder in extensions(PLATFORMS).values())]:
        for file in sorted((folder / kind).glob("*.yaml")):
            if found.setdefault(file.stem, file) != file:
                raise UsageError(f"two catalogs have {file.stem}: {found[file.stem]} and {file}")
    return dict(sorted(found.items()))


def catalog_file(kind: str, name: str) -> Path | None:
    """The file of a model; None where the catalog has none. `kind` is switches, hosts or nics."""
    return _files(kind).get(name)


def switch_names() -> tuple[str, ...]:
    """Names of all switch models that have a file, in alphabetical order."""
    return tuple(_files("switches"))


def switch_rows() -> Mapping[str, Sequence[IndexedLayout]]:
    """What the index says of each switch model; of extensions, what their files say."""
    shipped = indexed()
    return {name: shipped.get(name) or rows_of(load_switch_platform(file)) for name, file in _files("switches").items()}


def host_names() -> tuple[str, ...]:
    """Names of all host models, in alphabetical order."""
    return tuple(_files("hosts"))


def nic_names() -> tuple[str, ...]:
    """Names of all NIC models, in alphabetical order of their files."""
    return tuple(model.name for file in _files("nics") if (model := nic_model(file)))


@functools.cache
def switch_platform(name: str) -> SwitchPlatform | None:
    """The switch model of this name, None where the catalog has none."""
    file = _files("switches").get(name)
    return load_switch_platform(file) if file else generic_switch(name)


def switches_with(asic: str) -> tuple[SwitchPlatform, ...]:
    """The switch models with a chip. Files are searched as text first, so that only those are parsed."""
    line = f"\nasic: {asic}\n"
    names = [name for name, file in _files("switches").items() if line in file.read_text("utf-8")]
    return tuple(platform for name in names if (platform := switch_platform(name)))


@functools.cache
def host_model(name: str) -> HostModel | None:
    """The host model of this name, None where the catalog has none."""
    file = _files("hosts").get(name)
    return load_host_model(file) if file else None


@functools.cache
def nic_model(name: str) -> NicModel | None:
    """The NIC model of this name, in any case of letters; None where the catalog has none."""
    file = _files("nics").get(name.lower())
    return load_nic_model(file) if file else None


def nic_connector(model: HostModel, port: str) -> str:
    """Where a cable ends at a NIC port: ports of a NIC with one cage share it, any other port is its own."""
    nic = model.nic_by_name.get(port)
    card = nic_model(nic.model) if nic else None
    shared = nic and card and card.ports_per_cage > 1 and nic.rail is not None
    return f"{nic.plane}/{nic.rail}" if nic and shared else port


def nic_cage(model: HostModel, port: str) -> str:
    """The cage of a NIC port. NICs of a twin-port cage share one, too."""
    return model.cage_by_nic.get(port) or nic_connector(model, port)


def reordering(name: str) -> Reordering:
    """What NICs of this name do with RoCE packets out of order; go-back-N is assumed where no file states it."""
    model = nic_model(name)
    return (model.reordering if model else None) or _ASSUMED


@functools.cache
def layout_by_hwsku(hwsku: str) -> tuple[SwitchPlatform, Layout] | None:
    """The platform and layout that DEVICE_METADATA's hwsku names, None for an unknown one.

    The index has the file of a shipped one. Files of extensions are searched as text, so that only the right one is
    parsed.
    """
    bare = generic_switch(hwsku)
    if bare and bare.layouts[0].hwsku == hwsku:
        return bare, bare.layouts[0]
    for name, file in _files("switches").items() if hwsku else ():
        shipped = indexed().get(name)
        if hwsku in ([each.hwsku for each in shipped] if shipped else file.read_text("utf-8")):
            platform = switch_platform(name)
            for layout in platform.layouts if platform else ():
                if platform and layout.hwsku == hwsku:
                    return platform, layout
    return None
