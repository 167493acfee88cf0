"""The files of a bundle in a folder of this process alone: only those that differ from before are written."""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from fabricgen.atomic.file import Private
from fabricgen.atomic.relative import relative
from fabricgen.bundle.manifest import NAME, Manifest, digest


class Written(NamedTuple):
    """A file that is in the folder: its digest, and whether it differs from the one before."""

    digest: str
    is_new: bool


class ScratchFolder:
    """A folder that is rendered into, once or again and again. Nobody reads it meanwhile, so nothing is atomic."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._digests: dict[str, str] = {}  # of the files that are there
        self._wanted: dict[str, str] = {}
        self._changed: set[str] = set()

    def begin(self) -> None:
        """Begin a bundle, of which no file is known yet."""
        self._wanted = {}

    def add(self, path: str, content: bytes | Written | None) -> None:
        """Add a file, also one that `write` has written; None for one that is as it was in the bundle before."""
        if content is not None:
            self._note(path, content if isinstance(content, Written) else self.write(path, content))
        self._wanted[path] = self._digests[path]

    def write(self, path: str, content: bytes) -> Written:
        """Write a file if it differs from the one before. A process that was forked from this one can write, too; this
        one adds what it answers. Raises OSError with the name of the file or of the folder."""
        now = digest(content)
        if self._digests.get(path) == now:
            return Written(now, False)
        file = self.folder / relative(path)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Private):
                file.touch(0o600)
            file.write_bytes(content)
        except OSError as error:
            error.filename = error.filename or str(self.folder)  # that of a write has none, as to a full file system
            raise
        return Written(now, True)

    def commit(self, fabric: str, output_version: int, inventory_digest: str, sonic_release: int | None) -> None:
        """Write the manifest, and remove the files that were not added."""
        manifest = Manifest(fabric, output_version, inventory_digest, self._wanted, sonic_release)
        self._note(NAME, self.write(NAME, manifest.dump()))
        for path in sorted(self._digests.keys() - self._wanted.keys() - {NAME}):
            self._remove(path)

    def changed(self) -> frozenset[str]:
        """The files that were written or removed since the last call."""
        found, self._changed = frozenset(self._changed), set()
        return found

    def _remove(self, path: str) -> None:
        """Remove a file, and the folders that are empty then."""
        file = self.folder / path
        file.unlink()
        for parent in file.relative_to(self.folder).parents[:-1]:
            with suppress(OSError):
                (self.folder / parent).rmdir()
        del self._digests[path]
        self._changed.add(path)

    def _note(self, path: str, written: Written) -> None:
        if written.is_new:
            self._digests[path] = written.digest
            self._changed.add(path)
