"""The files of a bundle, compared with its manifest."""

import hashlib
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fabricgen.bundle.manifest import NAME, Manifest, read_manifest
from fabricgen.bundle.read import CONFIG_NAME, Bundle
from fabricgen.engine.derived import derived
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes
from fabricgen.rules.defects import Place
from fabricgen.rules.view.fabric import Fabric

FOLDERS = ("sonic", "hosts", "infiniband")
_BLOCK_BYTES = 1 << 16  # there are tens of thousands of files, and most are smaller
_STANDBY = re.compile(r"standby-\d+|mlnx-sm-5")


@dataclass(frozen=True, slots=True)
class Listed:
    """The owner of a file: a switch, a subnet, a group of hosts, or "" for the bundle. It has the name under which
    other rules report the owner's files, so that a file is not reported twice.
    """

    name: str
    path: str  # of the file, below the bundle
    root: Path

    def locate(self, *_: str) -> Location:
        """The file; if it is missing, its line in the manifest, or without one that of the device in fabric.json."""
        if (self.root / self.path).exists():
            return Location(str(self.root / self.path), 0)
        listing, word = self.root / NAME, self.path
        if not listing.is_file():
            listing, word = self.root / "fabric.json", self.name
        before = read_bytes(listing).partition(f'"{word}"'.encode())[0]
        return Location(str(listing), before.count(b"\n") + 1, 1)


@dataclass(frozen=True, slots=True)
class RenderedFiles:
    """The paths of files that differ from the manifest, each sorted."""

    manifest: Manifest
    missing: tuple[str, ...]
    changed: tuple[str, ...]
    unlisted: tuple[str, ...]


@derived
def rendered_files(fabric: Fabric) -> RenderedFiles | None:
    """The comparison; None without a bundle or without a manifest."""
    return compare(fabric.bundle)


def compare(bundle: Bundle) -> RenderedFiles | None:
    """The comparison of the files on disk. The files of switches that the bundle does not judge are left out."""
    root = bundle.root
    manifest = read_manifest(root) if root else None
    if root is None or manifest is None:
        return None
    listed = _below(root)
    missing = [path for path in manifest.files if not listed.get(path) and not (root / path).is_file()]
    present = [path for path in sorted(manifest.files.keys() - set(missing)) if _is_judged(bundle, path)]
    changed = [path for path in present if _digest(bundle, root, path) != manifest.files[path]]
    unlisted = [path for path in listed if path not in manifest.files]
    return RenderedFiles(manifest, tuple(sorted(missing)), tuple(changed), tuple(sorted(unlisted)))


def _is_judged(bundle: Bundle, path: str) -> bool:
    folder, *rest = path.split("/")
    return folder != "sonic" or not rest or rest[0] in bundle.devices


def _digest(bundle: Bundle, root: Path, path: str) -> str:
    folder, *rest = path.split("/")
    if folder == "sonic" and rest[1:] == [CONFIG_NAME]:
        return bundle.devices[rest[0]].signs.digest  # the rules have read this file
    found = hashlib.sha256()
    try:
        with (root / path).open("rb", buffering=0) as stream:
            while block := stream.read(_BLOCK_BYTES):
                found.update(block)
    except OSError:
        return ""
    return found.hexdigest()


def _below(root: Path) -> Mapping[str, bool]:
    """The files in the folders that `render` writes, and whether each is a regular file. A symbolic link counts as a
    file, even if it leads to a folder or to nothing."""
    found: dict[str, bool] = {}
    folders = [*FOLDERS]
    for folder in folders:  # grows
        with suppress(OSError), os.scandir(root / folder) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                else:
                    found[path] = entry.is_file(follow_symlinks=False)
    return found


def place_of(root: Path, path: str) -> Place:
    """The place of a file, in the form in which other rules report its owner."""
    folder, *rest = path.split("/")
    if folder == "hosts" and len(rest) > 1:
        return Place(Listed(f"hosts/{rest[0]}", path, root), "/".join(rest[1:]))
    if folder == "infiniband" and len(rest) > 1:
        depth = len(rest) - 1 - bool(_STANDBY.fullmatch(rest[-2]))
        return Place(Listed("/".join(rest[:depth]), path, root), "/".join(rest[depth:]))
    return Place(Listed(rest[0] if len(rest) > 1 else "", path, root), path)
