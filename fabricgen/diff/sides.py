"""The two sides of a comparison: a bundle, or what runs on switches."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fabricgen.bundle.manifest import read_manifest
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.observed.running import bundle_files, running_files

# What a bundle makes of its wiring: the switches' own tables say the same.
_DERIVED = ("fabric.json", "sources.json")


@dataclass(frozen=True)
class Side:
    """One side. `files` are those of the switches, `digests` those of the bundle's other files."""

    path: Path
    form: str  # bundle | running
    files: Mapping[str, Path]
    fabric: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)


def open_side(path: Path, form: str, known: Container[str] = ()) -> Side:
    """A side in the given form; `known` are device names that a file may be called by. Raises UnreadableInputError."""
    if not path.exists():
        raise UnreadableInputError("no such file or folder", Location(str(path)))
    if form == "running":
        return Side(path, form, running_files(path, known))
    files, manifest = bundle_files(path), read_manifest(path)
    if not files and manifest is None:
        raise UnreadableInputError(
            "no bundle: it holds neither manifest.json nor sonic/DEVICE/config_db.json", Location(str(path))
        )
    others = manifest.files if manifest else {}
    digests = {
        name: sha256 for name, sha256 in others.items() if not name.startswith("sonic/") and name not in _DERIVED
    }
    return Side(path, form, files, manifest.fabric if manifest else "", digests)
