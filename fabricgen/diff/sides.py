"""The two sides of a comparison: a bundle, or the running configuration of switches."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabricgen.bundle.manifest import read_manifest
from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.observed.running import bundle_files, running_files
from fabricgen.sonic.frr_lines import FRR_CONF
from fabricgen.vocabulary import InputForm

# Files that repeat the tables of the switches.
_DERIVED = ("fabric.json", "sources.json")


@dataclass(frozen=True)
class Side:
    """One side. `files` are the switches' files by name, `digests` the SHA-256 of the bundle's other files.

    `release` is the SONiC release that the bundle names.
    """

    path: Path
    form: InputForm
    files: Mapping[str, Path]
    fabric: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)
    release: int | None = None


def open_side(path: Path, form: InputForm, known: Container[str] = ()) -> Side:
    """A side in the form of a bundle or a running configuration.

    `known` are the device names that a file name can be. Raises UnreadableInputError.
    """
    if not path.exists():
        raise UnreadableInputError("no such file or folder", Location(str(path)))
    if form is InputForm.RUNNING:
        return Side(path, form, running_files(path, known))
    files, manifest = bundle_files(path), read_manifest(path)
    if not files and manifest is None:
        raise UnreadableInputError(
            "is not a bundle: it contains neither manifest.json nor sonic/DEVICE/config_db.json", Location(str(path))
        )
    others = manifest.files if manifest else {}
    digests = {
        name: sha256
        for name, sha256 in others.items()
        if (not name.startswith("sonic/") or name.endswith(f"/{FRR_CONF}")) and name not in _DERIVED
    }
    if manifest is None:
        return Side(path, form, files)
    return Side(path, form, files, manifest.fabric, digests, manifest.sonic_release)


def with_old_names(old: Side, new: Side) -> Side:
    """The new side with the present names of switches that it renames: fabric.json of both bundles has the identities.

    Raises UnreadableInputError.
    """
    gone, come = old.files.keys() - new.files.keys(), new.files.keys() - old.files.keys()
    if not gone or not come or (old.form, new.form) != (InputForm.BUNDLE, InputForm.BUNDLE):
        return new
    before, after = _names(old), _names(new)
    present = {after[key]: name for key, name in before.items() if name in gone and after.get(key) in come}
    return replace(new, files={present.get(name, name): file for name, file in new.files.items()})


def _names(side: Side) -> dict[str, str]:
    """Identity -> name of each switch; empty without fabric.json."""
    wiring = open_bundle([side.path]).wiring
    return {device.identity: device.name for device in wiring.devices} if wiring else {}
