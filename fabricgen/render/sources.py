"""sources.json: where each rendered value comes from.

origins: what caused a value (inventory file and path, platform source, steps). forms: one for each expansion of a
template; a row 'TABLE|key', slots as {name}, has for each field the indices of its origins. devices: for each switch
its forms, its ports by form, and the overrides that were merged last. suppressions: the findings that the inventory
accepts, if any.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabricgen.bundle.listing import dump_listing
from fabricgen.origin import Origin
from fabricgen.render.forms import Form, LineForm
from fabricgen.suppressions import Suppression

FORMAT_VERSION = "1"


@dataclass(frozen=True)
class DeviceSources:
    """Which forms and overrides made one switch."""

    name: str
    forms: Sequence[int]
    port_forms: Mapping[int, Sequence[str]]
    overrides: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LineSources:
    """The sources of a file of lines: as those of a form, its row is the file."""

    template: str
    sources: Mapping[str, Mapping[str, Sequence[int]]]


def dump_sources(
    origins: Sequence[Origin],
    forms: Sequence[Form | LineForm | LineSources],
    devices: Iterable[DeviceSources],
    suppressions: Sequence[Suppression] = (),
) -> bytes:
    """The bytes of sources.json."""
    lists: dict[str, Iterable[object]] = {
        "origins": [_compact(origin) for origin in origins],
        "forms": [{"template": form.template, "rows": form.sources} for form in forms],
        "devices": [_device(device) for device in devices],
    }
    if suppressions:
        lists["suppressions"] = [one.compact() for one in suppressions]
    return dump_listing({"format_version": FORMAT_VERSION}, lists)


def _compact(origin: Origin) -> dict[str, Any]:
    parts = {"inventory": origin.inventory, "platform": origin.platform, "steps": list(origin.steps)}
    return {name: part for name, part in parts.items() if part}


def _device(device: DeviceSources) -> dict[str, Any]:
    ports = {str(form): list(names) for form, names in sorted(device.port_forms.items())}
    row: dict[str, Any] = {"name": device.name, "forms": list(device.forms), "ports": ports}
    return {**row, "overrides": dict(sorted(device.overrides.items()))} if device.overrides else row
