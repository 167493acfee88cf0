"""A folder of entries, each a file with a checksum that is written atomically."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import fabricgen
from fabricgen import OUTPUT_VERSION, __version__
from fabricgen.atomic.file import write_atomically
from fabricgen.atomic.private import private_folder
from fabricgen.resources import resource

MOST_BYTES = 256 << 20
_KEPT = 0.75  # of the bytes, when entries are removed
_MAGIC = b"fabricgen-cache 1 "


@dataclass
class Store:
    """Entries by kind and key. Several processes can use one folder: an entry is complete or absent.

    Keys contain the installation, so no version finds an entry of another one. Nothing raises: what cannot be read is
    None, and what cannot be written is not stored.
    """

    folder: Path
    most_bytes: int = MOST_BYTES
    _written: bool = field(default=False, init=False)

    def get(self, kind: str, key: bytes) -> bytes | None:
        """The content of an entry; None if it is missing or damaged."""
        file = self._file(kind, key)
        try:
            head, _, content = file.read_bytes().partition(b"\n")
            os.utime(file)  # entries used last are kept longest
        except OSError:
            return None
        return content if head == _head(content) else None

    def put(self, kind: str, key: bytes, content: bytes) -> None:
        """Store an entry, or replace it."""
        file = self._file(kind, key)
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, _head(content) + b"\n" + content)
            self._written = True

    def shrink(self) -> None:
        """Remove the entries that were not used for the longest time, if this run stored one and they are too many."""
        found = sorted(self._entries(), reverse=True) if self._written else []
        self._written = False
        if sum(size for _, size, _ in found) <= self.most_bytes:
            return
        kept = 0
        for _, size, file in found:
            kept += size
            if kept > _KEPT * self.most_bytes:
                with suppress(OSError):
                    file.unlink()

    def _entries(self) -> Iterator[tuple[int, int, Path]]:
        """(time of the last use, size, file) of all entries."""
        for file in self.folder.glob("*/*"):
            with suppress(OSError):
                about = file.stat()
                yield about.st_mtime_ns, about.st_size, file

    def _file(self, kind: str, key: bytes) -> Path:
        return self.folder / kind / sha256(b"\0".join([installation(), kind.encode(), key])).hexdigest()


def _head(content: bytes) -> bytes:
    return _MAGIC + sha256(content).hexdigest().encode()


def open_store(folder: Path) -> Store | None:
    """The store in `folder`, which is made if it is missing.

    None if another user can change what is in it, because what it contains is believed.
    """
    with suppress(OSError):
        folder.parent.mkdir(parents=True, exist_ok=True)
        if private := private_folder(folder):
            return Store(private)
    return None


# What is installed: results of other code are not found.

_LIBRARIES = ("numpy", "orjson", "netaddr", "pyyaml")  # those that results depend on
_EXTENSIONS = "fabricgen."  # the groups of entry points of installed packages


@cache
def installation() -> bytes:
    """A digest of the version, Python, the libraries, and the files of fabricgen and of installed extensions by their
    sizes and times."""
    digest = sha256(f"{__version__} {OUTPUT_VERSION} {sys.version}".encode())
    for name in _LIBRARIES:
        digest.update(f" {name} {metadata.version(name)}".encode())
    for root in (Path(fabricgen.__file__).parent, resource("templates"), resource("schemas"), *_extensions()):
        for file in [root, *sorted(root.rglob("*"))]:
            if file.suffix != ".pyc" and file.is_file():
                about = file.stat()
                digest.update(f"\n{file} {about.st_size} {about.st_mtime_ns}".encode())
    return digest.digest()


def _extensions() -> Iterator[Path]:
    """The folders of the packages that extend fabricgen."""
    groups = sorted(group for group in metadata.entry_points().groups if group.startswith(_EXTENSIONS))
    for entry in (entry for group in groups for entry in metadata.entry_points(group=group)):
        spec = find_spec(entry.module.partition(".")[0])
        yield from map(Path, spec.submodule_search_locations or () if spec else ())
        if spec and spec.origin:
            yield Path(spec.origin)
