"""A bundle is written completely or not at all, and `render` owns what the manifest of the same fabric lists.

The new folder is completed beside the old one, then the two are exchanged in one step: see `fabricgen.atomic`.
"""

import re
from pathlib import Path

from fabricgen.atomic.folder import FolderWriter, has_content
from fabricgen.atomic.journal import INSIDE
from fabricgen.bundle.manifest import NAME, Manifest, digest, read_manifest
from fabricgen.bundle.scratch import Written
from fabricgen.errors import UsageError

# Files that fabricgen renders. A manifest with other paths does not make them ours.
_RENDERED = re.compile(
    r"(fabric|sources|manifest)\.json|cabling\.csv|sonic/[^/]+/(config_db\.json|frr\.conf)|(hosts|infiniband)/.+"
)
_REMEDY = "choose another folder, or add --adopt-folder to replace only the files that render writes"


class BundleWriter(FolderWriter):
    """Collects the files of a bundle of `fabric`. Use it as a context: without `commit`, nothing is changed.

    With `adopt`, the folder may be of another kind, or the bundle of another fabric. `digests` are those of the files
    for the manifest; `edited` the files that were changed by hand since the last render, and are replaced or removed.
    """

    def __init__(self, folder: Path, fabric: str, *, adopt: bool = False) -> None:
        super().__init__(folder)
        if self.folder.is_dir() and Path.cwd().is_relative_to(self.folder):
            raise UsageError(f"{folder} contains the working directory; --output must be another folder")
        self.fabric = fabric
        self.digests: dict[str, str] = {}
        self.edited: list[str] = []
        self._adopt = adopt
        self._own: dict[str, str] = {}

    def __enter__(self) -> "BundleWriter":
        self.recover()
        self._own = self._owned_files()
        super().__enter__()
        return self

    def add(self, path: str, content: bytes | Written) -> None:
        """Add a file, also one that `write` has written. If the old bundle has it with the same bytes, it is a hard
        link to that file."""
        written = content if isinstance(content, Written) else self.write(path, content)
        self.note(path, is_new=written.is_new)
        self.digests[path] = written.digest
        if path in self.changed:
            self._note_edit(path)

    def write(self, path: str, content: bytes) -> Written:
        """Write a file. A process that was forked from this one can write those that are not private; this one adds
        what it answers."""
        return Written(digest(content), self.stage(path, content))

    def keep(self, path: str) -> None:
        """Keep a file of the old bundle, with its digest in the old manifest. Other files are kept anyway."""
        if path in self._own and (self.folder / path).is_file():
            super().keep(path)
            self.digests[path] = self._own[path]

    def prepare(self, output_version: int, inventory_digest: str, sonic_release: int | None = None) -> list[str]:
        """Add the manifest; returns the files to remove.

        Raises UsageError if files of other people are in the place of rendered ones.
        """
        self._own = self._owned_files()  # another run may have replaced the bundle meanwhile
        gone = sorted(path for path in self._own if path not in self.digests and (self.folder / path).is_file())
        for path in gone:
            self._note_edit(path)
        manifest = Manifest(self.fabric, output_version, inventory_digest, self.digests, sonic_release)
        super().add(NAME, manifest.dump())
        if not self._adopt:
            self.refuse_to_replace({*self._own, NAME}, _REMEDY)
        self.refuse_misfits()
        return gone

    def commit(self, output_version: int, inventory_digest: str, sonic_release: int | None = None) -> list[str]:
        """Write the manifest and replace the old folder; returns the files that are removed."""
        gone = self.prepare(output_version, inventory_digest, sonic_release)
        self.put_in_place(gone)
        return gone

    def _owned_files(self) -> dict[str, str]:
        """path -> sha256 of the files that fabricgen wrote. Raises UsageError for a folder of other people."""
        if not self.folder.is_dir() or all(each.name.startswith(INSIDE) for each in self.folder.iterdir()):
            return {}
        known = read_manifest(self.folder)
        if known is None:
            if not self._adopt:
                has_manifest = (self.folder / NAME).exists()
                kind = f"has a {NAME} that cannot be read" if has_manifest else "is not empty and not a bundle"
                raise UsageError(f"{self.given} {kind}: {_REMEDY}")
            return {}
        if known.fabric != self.fabric and not self._adopt:
            raise UsageError(
                f"{self.given} is the bundle of fabric {known.fabric!r}, this inventory is {self.fabric!r}: choose "
                "another folder, or add --adopt-folder to replace that bundle"
            )
        return {path: sha256 for path, sha256 in known.files.items() if _is_rendered(path)}

    def _note_edit(self, path: str) -> None:
        old = self.folder / path
        if path in self._own and old.is_file() and digest(old.read_bytes()) != self._own[path]:
            self.edited.append(path)


def compare(folder: Path, path: str, content: bytes) -> bool:
    """Whether a bundle has a file with these bytes."""
    return has_content(folder / path, content)


def _is_rendered(path: str) -> bool:
    return bool(_RENDERED.fullmatch(path)) and not {"", ".", ".."} & set(path.split("/"))
