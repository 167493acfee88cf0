"""manifest.json: the files that fabricgen rendered into a bundle, their digests, and the digest of the inventory."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from fabricgen.bundle.listing import dump_listing
from fabricgen.errors import UnreadableInputError
from fabricgen.inputs import read_bytes
from fabricgen.sonic.releases import MASTER, MASTER_WORD

FORMAT_VERSION = "1"
NAME = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """The content of manifest.json. `files` has the sha256 of every rendered file except this one.

    `sonic_release` is None in manifests of earlier versions.
    """

    fabric: str
    output_version: int
    inventory_digest: str
    files: Mapping[str, str]
    sonic_release: int | None = None

    def dump(self) -> bytes:
        """The bytes of the file."""
        head: dict[str, Any] = {
            "format_version": FORMAT_VERSION,
            "fabric": self.fabric,
            "output_version": self.output_version,
            "inventory": self.inventory_digest,
        }
        if self.sonic_release is not None:
            head["sonic_release"] = MASTER_WORD if self.sonic_release == MASTER else self.sonic_release
        rows = [{"path": path, "sha256": digest} for path, digest in sorted(self.files.items())]
        return dump_listing(head, {"files": rows})


def load_manifest(folder: Path) -> Manifest:
    """The manifest of a bundle. Raises UnreadableInputError, or ValueError if the file is not a manifest."""
    raw = orjson.loads(read_bytes(folder / NAME))
    if not isinstance(raw, dict):
        raise ValueError("not a JSON object")
    if raw.get("format_version") != FORMAT_VERSION:
        raise ValueError(f"format_version is {raw.get('format_version')!r}, this fabricgen reads {FORMAT_VERSION!r}")
    if missing := [name for name in ("fabric", "output_version", "inventory", "files") if name not in raw]:
        raise ValueError(f"{missing[0]} is missing")
    if not isinstance(raw["files"], list) or not all(map(_is_row, raw["files"])):
        raise ValueError("files must be a list of path, below the bundle, and sha256")
    files = {row["path"]: row["sha256"] for row in raw["files"]}
    release = raw.get("sonic_release")
    if release not in (None, MASTER_WORD) and not isinstance(release, int):
        raise ValueError("sonic_release must be a number such as 202505, or master")
    release = MASTER if release == MASTER_WORD else release
    return Manifest(raw["fabric"], raw["output_version"], raw["inventory"], files, release)


def _is_row(row: Any) -> bool:
    if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in ("path", "sha256")):
        return False
    path = PurePosixPath(row["path"])
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in row["path"]


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a bundle; None if it is missing, cannot be read, or has another format."""
    try:
        return load_manifest(folder)
    except (UnreadableInputError, ValueError):
        return None


def digest(content: bytes) -> str:
    """sha256 in hex."""
    return hashlib.sha256(content).hexdigest()
