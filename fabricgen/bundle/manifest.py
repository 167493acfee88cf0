"""manifest.json: the files that fabricgen rendered into a bundle, their digests, and the digest of the inventory."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from fabricgen.bundle.wiring import dump_listing
from fabricgen.errors import UnreadableInputError
from fabricgen.inputs import read_bytes

FORMAT_VERSION = "1"
NAME = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """The content of manifest.json. `files` has the sha256 of every rendered file except this one."""

    fabric: str
    output_version: int
    inventory_digest: str
    files: Mapping[str, str]

    def dump(self) -> bytes:
        """The bytes of the file."""
        head = {
            "format_version": FORMAT_VERSION,
            "fabric": self.fabric,
            "output_version": self.output_version,
            "inventory": self.inventory_digest,
        }
        rows = [{"path": path, "sha256": digest} for path, digest in sorted(self.files.items())]
        return dump_listing(head, {"files": rows})


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a bundle; None if it is missing or cannot be read."""
    try:
        raw = orjson.loads(read_bytes(folder / NAME))
        files = {row["path"]: row["sha256"] for row in raw["files"]}
        return Manifest(raw["fabric"], raw["output_version"], raw["inventory"], files)
    except (UnreadableInputError, ValueError, KeyError, TypeError):
        return None


def digest(content: bytes) -> str:
    """sha256 in hex."""
    return hashlib.sha256(content).hexdigest()
