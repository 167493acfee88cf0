"""The files of a bundle in a folder of this process alone: only those that differ from before are written."""

from contextlib import suppress
from pathlib import Path

from fabricgen.atomic.file import Private
from fabricgen.atomic.relative import relative
from fabricgen.bundle.manifest import NAME, Manifest, digest


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

    def add(self, path: str, content: bytes | None) -> None:
        """Add a file; None for one that is as it was in the bundle before."""
        self._wanted[path] = self._digests[path] if content is None else self._write(path, content)

    def commit(self, fabric: str, output_version: int, inventory_digest: str, sonic_release: int | None) -> None:
        """Write the manifest, and remove the files that were not added."""
        manifest = Manifest(fabric, output_version, inventory_digest, self._wanted, sonic_release)
        self._write(NAME, manifest.dump())
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

    def _write(self, path: str, content: bytes) -> str:
        now = digest(content)
        if self._digests.get(path) != now:
            file = self.folder / relative(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Private):
                file.touch(0o600)
            file.write_bytes(content)
            self._digests[path] = now
            self._changed.add(path)
        return now
